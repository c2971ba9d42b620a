import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encryptText, passphraseRecipient } from '../../src/server/page/browser/age-passphrase';
import {
  needsBrowser,
  openBrowser,
  serviceAt,
  type Watched,
  watchedPage,
} from '../helpers/browser';
import { partOf, upTo } from '../helpers/long';
import { person, serving } from '../helpers/program';
import { seed } from '../helpers/seed';
import { filePart } from '../helpers/service';

// Each page a recipient may meet, in a real browser, as a judge of accessibility and the browser itself see it.

const built = serving(person().env, ['--anonymous-files', '--contact', 'it@acme.example']);
const service = () => serviceAt(built);
let browser: Browser;
/** With script and without, for all states: opening a page takes longer than looking at it. */
let scripted: Watched;
let unscripted: Watched;

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

beforeAll(async () => {
  browser = await openBrowser();
  scripted = await watchedPage(await browser.newContext(), built.url);
  const smallest = { viewport: SMALLEST, javaScriptEnabled: false };
  unscripted = await watchedPage(await browser.newContext(smallest), built.url);
});

afterAll(() => browser.close());

async function open(page: Page, push: Record<string, unknown>): Promise<void> {
  const token = await service().create({ retrieval_step: false, ...push });
  await page.goto(`${built.url}/p/${token}`);
}

/** Tries a wrong passphrase, so often before. */
async function tryPassphrase(page: Page, before = 0): Promise<void> {
  await open(page, { payload: 'x', passphrase: 'right' });
  const body = new URLSearchParams({ passphrase: 'wrong' });
  const tries = upTo(before).map(() => fetch(page.url(), { method: 'POST', body }));
  await Promise.all(tries);
  await page.fill('input', 'wrong');
  await page.click('.primary');
  await page.waitForSelector('.problem');
}

async function openFiles(page: Page, names: string[], payload: string): Promise<void> {
  const token = await service().createWithFiles(
    ...names.map((name, index) => filePart(name, Buffer.alloc(10 ** (index % 5)))),
    { name: 'push[retrieval_step]', value: 'false' },
    { name: 'push[payload]', value: payload },
  );
  await page.goto(`${built.url}/p/${token}`);
}

const KEY = 'TDwSkAO2ZmVrJkGOCxCbJg';

async function openEncrypted(page: Page, fragment: string, kind = 'text'): Promise<void> {
  const payload = await encryptText('hunter2', passphraseRecipient(KEY, 10));
  const token = await service().create({ payload, kind, retrieval_step: false });
  await page.goto(`${built.url}/p/${token}${fragment}`);
  if (fragment) await page.locator('.opened .secret, .unscripted:visible').first().waitFor();
}

async function remove(page: Page): Promise<void> {
  await open(page, { payload: 'x' });
  await page.click('.delete summary');
  await page.click('.delete button');
}

async function fillForm(page: Page, text: string): Promise<void> {
  await page.goto(built.url);
  await page.fill('textarea', text);
  await page.fill('#passphrase', 'sesame');
  await page.click('.primary');
  await page.waitForSelector('.made, .wrong');
}

/** Has another site send the form. */
async function sendFromElsewhere(page: Page): Promise<void> {
  const token = await service().create({ payload: 'x' });
  await page.goto('about:blank');
  await page.setContent(`<form method="post" action="${built.url}/p/${token}"><button>`);
  await page.click('button');
}

const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

async function openRequest(page: Page, fields: object): Promise<void> {
  const token = await service().createRequest({ request: 'Which password?', ...fields });
  await page.goto(`${built.url}/r/${token}#${RECIPIENT}`);
}

async function answerRequest(page: Page): Promise<void> {
  await openRequest(page, {});
  await page.fill('textarea', 'hunter2');
  await page.click('.primary');
  await page.locator('form.respond').waitFor({ state: 'detached' });
}

const words = 'w'.repeat(3000);
const names = Array.from({ length: 10 }, (_, index) => `${index}${'ш'.repeat(250)}.txt`);

type Visit = (page: Page) => Promise<unknown>;

/** How each page is met, by its heading. */
const headings: Record<string, Record<string, Visit>> = {
  'Share a secret as a link that expires': {
    'the address itself': (page) => page.goto(built.url),
    'a form with a problem': (page) => fillForm(page, ' '),
  },
  'Your link is ready': { 'a new link': (page) => fillForm(page, 'hunter2') },
  'A secret was shared with you': {
    'the step': (page) => open(page, { payload: 'x', retrieval_step: true }),
    'the passphrase': (page) => open(page, { payload: 'x', passphrase: 'right' }),
    'a wrong passphrase': (page) => tryPassphrase(page),
    'too many passphrases': (page) => tryPassphrase(page, 5),
  },
  'The secret': {
    'a text': (page) => open(page, { payload: 'hunter2' }),
    'a long word': (page) => open(page, { payload: words, expire_after_views: 1 }),
    'a link': (page) => open(page, { kind: 'url', payload: `http://a:b@аррӏе.example/${words}` }),
    'a QR code': (page) => open(page, { kind: 'qr', payload: 'WIFI:T:WPA;S:Büro;P:x;;' }),
    'an encrypted text': (page) => openEncrypted(page, `#${KEY}`),
    'an encrypted text without its key': (page) => openEncrypted(page, ''),
    'an encrypted QR code': (page) => openEncrypted(page, `#${KEY}`, 'qr'),
  },
  'Open an encrypted secret': {
    'the page that decrypts': (page) => page.goto(`${built.url}/open`),
  },
  '10 files were shared with you': {
    'files and a message': (page) => openFiles(page, names, 'The codes you asked for.'),
  },
  'Someone is asking you for a secret': {
    'a request': (page) => openRequest(page, { include_requestor: true, public_key: RECIPIENT }),
    'a request for files, of long words': (page) =>
      openRequest(page, { request: words, response_file_attachments: true }),
    'a request with a passphrase': (page) => openRequest(page, { passphrase: 'sesame' }),
  },
  'Your answer was sent': { 'an answer that was sent': answerRequest },
  'This request was already answered': {
    'a request that was answered': async (page) => {
      await answerRequest(page);
      await page.goto(page.url().replace(/#.*/, ''));
    },
  },
  'This link is no longer available': {
    'no such push': (page) => page.goto(`${built.url}/p/neverwas`),
  },
  'The secret is deleted': { 'a push that was deleted': remove },
  'This is not allowed': { 'a form from elsewhere': sendFromElsewhere },
};
const states = Object.entries(headings).flatMap(([heading, visits]) =>
  Object.entries(visits).map(([name, visit]) => ({ name, heading, visit })),
);

const locales = readdirSync(new URL('../../src/server/page/locales', import.meta.url)).map((name) =>
  name.replace('.json', ''),
);

const SMALLEST = { width: 320, height: 640 };
const DESKTOP: Look = { viewport: { width: 1280, height: 900 }, colorScheme: 'light' };
const PHONE: Look = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' };

interface Look {
  readonly viewport: { readonly width: number; readonly height: number };
  readonly colorScheme: 'light' | 'dark';
}

describe('pages in a browser (needs Chromium)', needsBrowser, () => {
  test.each(partOf(states, 0, 6))('$name', async ({ heading, visit }) => {
    const { page } = scripted;
    await look(page, DESKTOP);
    await meet(scripted, heading, visit);
    expect(await judged(page)).toEqual([]);
    expect(await widthTooMuch(page)).toBe(0);
    expect(scripted.troubles).toEqual([]);
    await meet(unscripted, heading, visit);
    expect(await widthTooMuch(unscripted.page)).toBe(0);
    expect(unscripted.troubles).toEqual([]);
  });

  // Too many for one run: others each time.
  const everywhere = states
    .flatMap((state) => locales.map((locale) => ({ ...state, locale })))
    .filter((_, at) => (at + seed) % 401 === 0);
  test.each(everywhere)('$name, in $locale, on the smallest phone', async ({ locale, visit }) => {
    const context = await browser.newContext({ viewport: SMALLEST, locale });
    const { page, troubles } = await watchedPage(context, built.url);
    await visit(page);
    expect(await page.locator('html').getAttribute('lang')).toBe(locale);
    expect(await widthTooMuch(page)).toBe(0);
    expect(troubles).toEqual([]);
    await context.close();
  });

  test('what breaks the policy, or a reader of pictures, does not go unseen', async () => {
    const { page, troubles } = await watchedPage(await browser.newContext(), built.url);
    await page.route('**/*', async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace('<h1>', '<h1 style="color:red"><img>');
      await route.fulfill({ response, body });
    });
    await page.goto(built.url);
    expect(await judged(page)).toHaveLength(1);
    expect(troubles.join()).toMatch(/^console: .*Content Security Policy/);
  });
});

async function meet({ page, troubles }: Watched, heading: string, visit: Visit): Promise<void> {
  // Of the state before, whose requests end with its page.
  page.once('framenavigated', () => troubles.splice(0));
  await visit(page);
  expect(await page.locator('h1').allInnerTexts()).toEqual([heading]);
  expect(await widthTooMuch(page)).toBe(0);
}

async function look(page: Page, { viewport, colorScheme }: Look): Promise<void> {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  // Colours of before would pass over into those of now.
  await page.evaluate('document.getAnimations().forEach((one) => one.finish())');
}

/** Pixels by which the page is wider than the window, whose scroll bar has room reserved. */
function widthTooMuch(page: Page): Promise<number> {
  return page.evaluate('document.body.scrollWidth - document.body.clientWidth');
}

/** What axe-core finds that is serious or worse, on a light desktop and a dark phone, veil and details open and closed. */
async function judged(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await judge(page);
  await look(page, PHONE);
  found.push(...(await judge(page, byLook)));
  expect(await widthTooMuch(page)).toBe(0);
  const covers = [...(await page.locator('.veil').all()), ...(await page.locator('summary').all())];
  if (covers.length === 0) return found;
  for (const cover of covers) await cover.click();
  found.push(...(await judge(page)));
  expect(await widthTooMuch(page)).toBe(0);
  await look(page, DESKTOP);
  return [...found, ...(await judge(page, byLook))];
}

/** The rules that colours and the size of the window decide; all others say the same of a page in any look. */
const byLook = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable'];

function judge(page: Page, rules?: string[]): Promise<string[]> {
  const options = {
    resultTypes: ['violations'],
    ...(rules && { runOnly: { type: 'rule', values: rules } }),
  };
  return page.evaluate(`axe.run(${JSON.stringify(options)}).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join()))`);
}
