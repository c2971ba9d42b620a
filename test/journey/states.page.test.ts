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
import { create, createWithFiles, filePart } from '../helpers/service';

// Each page a recipient may meet, in a real browser, as a judge of accessibility and the browser itself see it.

const built = serving(person().env, ['--anonymous-files', '--contact', 'it@acme.example']);
const service = () => serviceAt(built.url, built.token);
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
  const token = await create(service(), { retrieval_step: false, ...push });
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
  const token = await createWithFiles(
    service(),
    ...names.map((name, index) => filePart(name, Buffer.alloc(10 ** (index % 5)))),
    { name: 'push[retrieval_step]', value: 'false' },
    { name: 'push[payload]', value: payload },
  );
  await page.goto(`${built.url}/p/${token}`);
}

const KEY = 'TDwSkAO2ZmVrJkGOCxCbJg';

async function openEncrypted(page: Page, fragment: string, kind = 'text'): Promise<void> {
  const payload = await encryptText('hunter2', passphraseRecipient(KEY, 10));
  const token = await create(service(), { payload, kind, retrieval_step: false });
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
  const token = await create(service(), { payload: 'x' });
  await page.goto('about:blank');
  await page.setContent(`<form method="post" action="${built.url}/p/${token}"><button>`);
  await page.click('button');
}

const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

async function openRequest(page: Page, fields: object): Promise<void> {
  const asked = { request: 'Which password?', ...fields };
  const { json } = await built.ask('POST', '/requests', { request: asked });
  await page.goto(`${built.url}/r/${json.url_token}#${RECIPIENT}`);
}

async function answerRequest(page: Page): Promise<void> {
  await openRequest(page, {});
  await page.fill('textarea', 'hunter2');
  await page.click('.primary');
  await page.locator('form.respond').waitFor({ state: 'detached' });
}

const words = 'w'.repeat(3000);
const names = Array.from({ length: 10 }, (_, index) => `${index}${'ш'.repeat(250)}.txt`);

const states: Record<string, { heading: string; visit: (page: Page) => Promise<unknown> }> = {
  'the address itself': {
    heading: 'Share a secret as a link that expires',
    visit: (page) => page.goto(built.url),
  },
  'a new link': { heading: 'Your link is ready', visit: (page) => fillForm(page, 'hunter2') },
  'a form with a problem': {
    heading: 'Share a secret as a link that expires',
    visit: (page) => fillForm(page, ' '),
  },
  'the step': {
    heading: 'A secret was shared with you',
    visit: (page) => open(page, { payload: 'x', retrieval_step: true }),
  },
  'the passphrase': {
    heading: 'A secret was shared with you',
    visit: (page) => open(page, { payload: 'x', passphrase: 'right' }),
  },
  'a wrong passphrase': {
    heading: 'A secret was shared with you',
    visit: (page) => tryPassphrase(page),
  },
  'too many passphrases': {
    heading: 'A secret was shared with you',
    visit: (page) => tryPassphrase(page, 5),
  },
  'a text': { heading: 'The secret', visit: (page) => open(page, { payload: 'hunter2' }) },
  'a long word': {
    heading: 'The secret',
    visit: (page) => open(page, { payload: words, expire_after_views: 1 }),
  },
  'a link': {
    heading: 'The secret',
    visit: (page) => open(page, { kind: 'url', payload: `http://a:b@аррӏе.example/${words}` }),
  },
  'a QR code': {
    heading: 'The secret',
    visit: (page) => open(page, { kind: 'qr', payload: 'WIFI:T:WPA;S:Büro;P:x;;' }),
  },
  'an encrypted text': { heading: 'The secret', visit: (page) => openEncrypted(page, `#${KEY}`) },
  'an encrypted text without its key': {
    heading: 'The secret',
    visit: (page) => openEncrypted(page, ''),
  },
  'an encrypted QR code': {
    heading: 'The secret',
    visit: (page) => openEncrypted(page, `#${KEY}`, 'qr'),
  },
  'the page that decrypts': {
    heading: 'Open an encrypted secret',
    visit: (page) => page.goto(`${built.url}/open`),
  },
  'files and a message': {
    heading: '10 files were shared with you',
    visit: (page) => openFiles(page, names, 'The codes you asked for.'),
  },
  'a request': {
    heading: 'Someone is asking you for a secret',
    visit: (page) => openRequest(page, { include_requestor: true, public_key: RECIPIENT }),
  },
  'a request for files, of long words': {
    heading: 'Someone is asking you for a secret',
    visit: (page) => openRequest(page, { request: words, response_file_attachments: true }),
  },
  'a request with a passphrase': {
    heading: 'Someone is asking you for a secret',
    visit: (page) => openRequest(page, { passphrase: 'sesame' }),
  },
  'an answer that was sent': { heading: 'Your answer was sent', visit: answerRequest },
  'a request that was answered': {
    heading: 'This request was already answered',
    visit: async (page) => {
      await answerRequest(page);
      await page.goto(page.url().replace(/#.*/, ''));
    },
  },
  'no such push': {
    heading: 'This link is no longer available',
    visit: (page) => page.goto(`${built.url}/p/neverwas`),
  },
  'a push that was deleted': { heading: 'The secret is deleted', visit: remove },
  'a form from elsewhere': { heading: 'This is not allowed', visit: sendFromElsewhere },
};

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
  test.each(partOf(Object.entries(states), 0, 6))('%s', async (_, { heading, visit }) => {
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
  const everywhere = Object.entries(states)
    .flatMap(([name, { visit }]) => locales.map((locale) => ({ name, locale, visit })))
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

async function meet(
  { page, troubles }: Watched,
  heading: string,
  visit: (page: Page) => Promise<unknown>,
): Promise<void> {
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
