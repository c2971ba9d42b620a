import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  alsoFirefox,
  createLink,
  downloads,
  headed,
  needsBrowser,
  onChromium,
  type PageOptions,
  pages,
  press,
  qrIn,
  SECRET,
  serviceAt,
} from '../helpers/browser';
import { person, serving } from '../helpers/program';
import { filePart } from '../helpers/service';

// What a recipient does with a page, in a real browser: look, copy, save, delete; by mouse and by keyboard.

// Which lets requests name any host, as those over plain http do.
const built = serving(person().env, ['--trust-proxy', '--anonymous-files']);
const visit = pages(() => built.url, { permissions: ['clipboard-read', 'clipboard-write'] });

const service = () => serviceAt(built);

async function open(push: Record<string, unknown>, options?: PageOptions): Promise<Page> {
  return visit(`/p/${await service().create({ retrieval_step: false, ...push })}`, options);
}

/** What the clipboard holds, as a page sees it that may read it. */
async function clipboard(page: Page): Promise<string> {
  const reader = await page.context().newPage();
  await reader.goto(`${built.url}/up`);
  const text = await reader.evaluate('navigator.clipboard.readText()');
  await reader.close();
  return text as string;
}

async function copied(page: Page): Promise<string> {
  await press(page, 'Copy');
  await page.getByRole('status').getByText('Copied to the clipboard.').waitFor();
  return clipboard(page);
}

const focused = (page: Page) =>
  page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.innerText');

describe('a page in use (needs Chromium)', needsBrowser, () => {
  test('the veil is lifted and put back, by keyboard and by mouse', async () => {
    const page = await open({ payload: SECRET });
    const secret = page.locator('pre');
    expect(await secret.isVisible()).toBe(false);
    expect(await page.getByRole('button', { name: 'Hide' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show the text' }).press('Enter');
    expect(await secret.isVisible()).toBe(true);
    expect(await focused(page)).toBe('Text');
    await press(page, 'Hide');
    expect(await secret.isVisible()).toBe(false);
    expect(await focused(page)).toBe('Show the text');
    await page.locator('.veil').click({ position: { x: 5, y: 5 } });
    expect(await secret.isVisible()).toBe(true);
  });

  test('copying leaves the veil where it is, and copies each character', alsoFirefox, async () => {
    const page = await open({ payload: SECRET }, { before: 'document.execCommand = () => false' });
    expect(await page.locator('pre').textContent()).toBe(SECRET);
    expect(await copied(page)).toBe(SECRET);
    expect(await page.locator('pre').isVisible()).toBe(false);
  });

  test('a page over plain http has no clipboard, and copies all the same', onChromium, async () => {
    const token = await service().create({ retrieval_step: false, payload: SECRET });
    const page = await visit(`${built.url.replace('127.0.0.1', 'pw.test')}/p/${token}`);
    expect(await page.evaluate('typeof navigator.clipboard')).toBe('undefined');
    // Over plain http, a browser does not say that it opens a tab.
    await page.getByRole('button', { name: 'Show the secret' }).click();
    expect(await copied(page)).toBe(SECRET);
  });

  test('without a mouse: passphrase, copy, look, delete', onChromium, async () => {
    const token = await service().create({ payload: 'hunter2', passphrase: 'sesame' });
    const page = await visit(`/p/${token}`);
    expect(await page.evaluate('document.activeElement.id')).toBe('passphrase');
    await page.keyboard.type('wrong\n');
    const input = page.getByRole('textbox', { name: 'Passphrase', exact: true });
    await page.getByRole('alert').waitFor();
    expect(await input.getAttribute('aria-describedby')).toBe('problem');
    await page.keyboard.type('sesame\n');
    await headed(page, 'The secret');
    const met: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      await page.keyboard.press('Tab');
      met.push(await focused(page));
    }
    expect(met).toEqual(['Hide', 'Copy', 'Text', 'Delete the secret now']);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await headed(page, 'The secret is deleted');
    expect((await fetch(`${built.url}/p/${token}`)).status).toBe(404);
  });

  test('the longest QR code reads back, in the dark too', onChromium, async () => {
    const payload = `${'é'.repeat(1023)}.`;
    const page = await open({ payload, kind: 'qr' }, { colorScheme: 'dark' });
    await page.locator('.veil').click();
    expect(await qrIn(page, 'QR code')).toBe(payload);
  });

  test('a link opens in a new tab that does not learn where it came from', async () => {
    const payload = `${built.url}/up?x=1`;
    const page = await open({ payload, kind: 'url' });
    await page.locator('.veil').click();
    expect(await page.locator('.address').textContent()).toBe(payload);
    const [tab, request] = await Promise.all([
      page.waitForEvent('popup'),
      page.context().waitForEvent('request'),
      page.getByRole('link').click(),
    ]);
    await tab.waitForLoadState();
    expect([tab.url(), (await request.allHeaders()).referer]).toEqual([payload, undefined]);
    expect(await tab.evaluate('[window.opener, document.referrer]')).toEqual([null, '']);
  });

  test('files are saved under their names, all with one press', alsoFirefox, async () => {
    const name = 'Schlüssel "für" Büro.txt';
    const files = [filePart(name.replaceAll('"', '%22'), 'hunter2'), filePart('b', 'B')];
    const step = { name: 'push[retrieval_step]', value: 'false' };
    const page = await visit(`/p/${await service().createWithFiles(...files, step)}`);
    const saved = await downloads(page, 2, () => press(page, 'Download all'));
    expect(saved).toEqual({
      [name.replaceAll('"', '_')]: Buffer.from('hunter2'),
      b: Buffer.from('B'),
    });
  });

  test('a passphrase can be shown, and is hidden again when it is sent', async () => {
    const locked = { payload: 'hunter2', passphrase: 'sesame', retrieval_step: true };
    const page = await open(locked, { own: 'page' });
    const input = page.locator('#passphrase');
    await input.fill('sesame');
    await press(page, 'Show: Passphrase');
    expect(await input.getAttribute('type')).toBe('text');
    const types: string[] = [];
    await page.exposeFunction('told', (type: string) => types.push(type));
    await page.evaluate("document.addEventListener('submit', () => told(document.querySelector('#passphrase').type))");
    await press(page, 'Show the secret');
    await page.getByText('hunter2').waitFor();
    expect(types).toEqual(['password']);
  });
});

describe('the form of the front page (needs Chromium)', needsBrowser, () => {
  test.each([true, false])('creates a push; script: %s', onChromium, async (javaScriptEnabled) => {
    const page = await visit('/', javaScriptEnabled ? {} : { javaScriptEnabled });
    // Encrypting is tried in encrypted.page.test.ts.
    if (javaScriptEnabled) await page.getByLabel('Encrypt in the browser').uncheck();
    const key = '-----BEGIN KEY-----\nλ <b>\n';
    const names = ['ä "1".txt', '2.bin'];
    const buffer = Buffer.alloc(300_000, 'x');
    const files = names.map((name) => ({ name, mimeType: 'text/plain', buffer }));
    await page.getByLabel('Secret text').fill(key);
    await page.getByLabel('Files').setInputFiles(files);
    await page.getByLabel('Views').fill('1');
    await page.getByLabel('Days').fill('2');
    await page.getByLabel('Passphrase (optional)').fill('sesame');
    const link = await createLink(page);
    expect(page.url()).toBe(`${built.url}/`);
    expect(await qrIn(page, 'QR code of the link')).toBe(link);
    if (javaScriptEnabled) expect(await copied(page)).toBe(link);
    const token = /\/p\/([\w-]+)/.exec(link)?.[1];
    const { json } = await service().retrieve(`${token}?passphrase=sesame`);
    expect(json).toMatchObject({ payload: key, files: names.map((filename) => ({ filename })) });
    await page.getByRole('link', { name: 'Create another link' }).click();
    expect(await page.getByLabel('Secret text').inputValue()).toBe('');
  });
});
