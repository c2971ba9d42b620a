import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseRecipients } from '../../src/age/key-files';
import { encryptText, passphraseRecipient } from '../../src/server/page/browser/age-passphrase';
import { encryptText as encryptTo } from '../helpers/age';
import {
  needsBrowser,
  openBrowser,
  SMALLEST,
  serviceAt,
  type Watched,
  watchedPage,
  widthTooMuch,
} from '../helpers/browser';
import { partOf } from '../helpers/long';
import { person, serving } from '../helpers/program';
import { seed } from '../helpers/seed';
import { filePart } from '../helpers/service';

// Each page a recipient may meet, in a real browser, as a judge of accessibility and the browser itself see it.

const built = serving(person().env, ['--anonymous-files', '--contact', 'it@acme.example']);
const service = () => serviceAt(built);
let browser: Browser;
/** For all states: opening a page takes longer than looking at it. */
let watched: Watched;

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

beforeAll(async () => {
  browser = await openBrowser();
  watched = await watchedPage(await browser.newContext(), built.url);
});

afterAll(() => browser.close());

async function open(page: Page, push: Record<string, unknown>): Promise<void> {
  const token = await service().create({ retrieval_step: false, ...push });
  await page.goto(`${built.url}/p/${token}`);
}

async function tryPassphrase(page: Page): Promise<void> {
  await open(page, { payload: 'x', passphrase: 'right' });
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

async function openEncrypted(page: Page, fragment = `#${KEY}`, kind = 'text', text = 'hunter2') {
  const payload = await encryptText(text, passphraseRecipient(KEY, 10));
  const token = await service().create({ payload, kind, retrieval_step: false });
  await page.goto(`${built.url}/p/${token}${fragment}`);
  if (fragment) await page.locator('.opened .secret, .unscripted:visible').first().waitFor();
}

async function fillForm(page: Page, text: string): Promise<void> {
  await page.goto(built.url);
  await page.fill('textarea', text);
  await page.fill('#passphrase', 'sesame');
  await page.click('.primary');
  await page.waitForSelector('.made, .wrong');
}

const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

const toKey = encryptTo('hunter2', parseRecipients(RECIPIENT));

async function openRequest(page: Page, fields: object): Promise<void> {
  const token = await service().createRequest({ request: 'Which password?', ...fields });
  await page.goto(`${built.url}/r/${token}#${RECIPIENT}`);
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
    'a wrong passphrase': tryPassphrase,
    'the step of what is encrypted to a key': async (page) =>
      open(page, { payload: await toKey, retrieval_step: true }),
  },
  'The secret': {
    'a text': (page) => open(page, { payload: 'hunter2' }),
    'a long word': (page) => open(page, { payload: words, expire_after_views: 1 }),
    'a link': (page) => open(page, { kind: 'url', payload: `http://a:b@аррӏе.example/${words}` }),
    'a QR code': (page) => open(page, { kind: 'qr', payload: 'WIFI:T:WPA;S:Büro;P:x;;' }),
    'an encrypted text': (page) => openEncrypted(page),
    'an encrypted link': (page) => openEncrypted(page, undefined, 'url', `http://a:b@аррӏе.example/${words}`),
    'an encrypted QR code': (page) => openEncrypted(page, undefined, 'qr'),
    'an encrypted text without its key': (page) => openEncrypted(page, ''),
    'a text that is encrypted to a key': async (page) => open(page, { payload: await toKey }),
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
  },
  'This link is no longer available': {
    'no such push': (page) => page.goto(`${built.url}/p/neverwas`),
  },
};
const states = Object.entries(headings).flatMap(([heading, visits]) =>
  Object.entries(visits).map(([name, visit]) => ({ name, heading, visit })),
);

const locales = readdirSync(new URL('../../src/server/page/locales', import.meta.url)).map((name) =>
  name.replace('.json', ''),
);

const DESKTOP = { viewport: { width: 1280, height: 900 }, colorScheme: 'light' } as const;
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const;
type Look = typeof DESKTOP | typeof PHONE;

describe('pages in a browser (needs Chromium)', needsBrowser, () => {
  test.each(partOf(states, 0, 6))('$name', async ({ heading, visit }) => {
    const { page, troubles } = watched;
    await look(page, DESKTOP);
    await meet(watched, heading, visit);
    expect(await judged(page)).toEqual([]);
    expect(await widthTooMuch(page)).toBe(0);
    expect(troubles).toEqual([]);
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

/** What axe-core finds that is serious or worse: on a light desktop, and with all that opens open on a dark phone. */
async function judged(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await judge(page);
  const covers = [...(await page.locator('.veil').all()), ...(await page.locator('summary').all())];
  for (const cover of covers) await cover.click();
  expect(await widthTooMuch(page)).toBe(0);
  await look(page, PHONE);
  expect(await widthTooMuch(page)).toBe(0);
  return [...found, ...(await judge(page))];
}

function judge(page: Page): Promise<string[]> {
  return page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join()))`);
}
