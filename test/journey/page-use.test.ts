import { readFileSync } from 'node:fs';
import jsqr from 'jsqr';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { noBrowser, openBrowser, serviceAt, type Watched, watchedPage } from '../helpers/browser';
import { times } from '../helpers/long';
import { person, serveBuilt } from '../helpers/program';
import { create, createWithFiles, filePart } from '../helpers/service';

// What a recipient does with a page, in a real browser: look, copy, save, delete; by mouse, by keyboard, on paper.

const somebody = person();
let browser: Browser;
let built: Awaited<ReturnType<typeof serveBuilt>>;
let service: ReturnType<typeof serviceAt>;
let watched: Watched | undefined;

beforeAll(async () => {
  if (noBrowser) return;
  // Which lets requests name any host, as those over plain http do.
  built = await serveBuilt(somebody.env, ['--trust-proxy']);
  service = serviceAt(built.url, built.token);
  browser = await openBrowser();
});

afterEach(async () => {
  const { page, troubles } = watched ?? {};
  watched = undefined;
  await page?.context().close();
  expect(troubles ?? []).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  await built?.stop();
});

interface OpenOptions extends BrowserContextOptions {
  /** Where the page is opened, when not at the service's own address. */
  readonly origin?: string;
  /** Run before the page's own script. */
  readonly before?: string;
}

async function open(push: Record<string, unknown>, options: OpenOptions = {}): Promise<Page> {
  return visit(await create(service, { retrieval_step: false, ...push }), options);
}

async function visit(token: string, options: OpenOptions = {}): Promise<Page> {
  const { origin = built.url, before, ...rest } = options;
  const context = await browser.newContext({
    permissions: ['clipboard-read', 'clipboard-write'],
    ...rest,
  });
  if (before) await context.addInitScript(before);
  watched = await watchedPage(context, origin);
  await watched.page.goto(`${origin}/p/${token}`);
  return watched.page;
}

/** What the clipboard holds, as a page sees it that may read it. */
async function clipboard(page: Page): Promise<string> {
  const reader = await page.context().newPage();
  await reader.goto(`${built.url}/up`);
  const text = await reader.evaluate('navigator.clipboard.readText()');
  await reader.close();
  return text as string;
}

const focused = (page: Page) =>
  page.evaluate(
    'document.activeElement.getAttribute("aria-label") ?? document.activeElement.innerText',
  );

const NO_COMMAND = 'document.execCommand = () => false';

const SECRET = '  π = "3.14"\r\n\t<b>&amp;</b> 🔑\n\n';

describe.skipIf(noBrowser)('a page in use (needs Chromium)', () => {
  test('the veil is lifted and put back, by keyboard and by mouse', async () => {
    const page = await open({ payload: SECRET });
    const secret = page.locator('pre');
    expect(await secret.isVisible()).toBe(false);
    expect(await page.getByRole('button', { name: 'Hide' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show the text' }).press('Enter');
    expect(await secret.isVisible()).toBe(true);
    expect(await focused(page)).toBe('The text');
    await page.getByRole('button', { name: 'Hide' }).click();
    expect(await secret.isVisible()).toBe(false);
    expect(await focused(page)).toBe('Show the text');
    await page.locator('.veil').click({ position: { x: 5, y: 5 } });
    expect(await secret.isVisible()).toBe(true);
  });

  test('copying leaves the veil where it is, and copies each character', async () => {
    const page = await open({ payload: SECRET }, { before: NO_COMMAND });
    expect(await page.locator('pre').textContent()).toBe(SECRET);
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('status').getByText('Copied to the clipboard.').waitFor();
    expect(await page.locator('pre').isVisible()).toBe(false);
    expect(await clipboard(page)).toBe(SECRET);
  });

  test('a page over plain http has no clipboard, and copies all the same', async () => {
    const origin = built.url.replace('127.0.0.1', 'pw.test');
    const page = await open({ payload: SECRET }, { origin });
    expect(await page.evaluate('typeof navigator.clipboard')).toBe('undefined');
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('status').getByText('Copied to the clipboard.').waitFor();
    expect(await page.locator('pre').isVisible()).toBe(false);
    expect(await clipboard(page)).toBe(SECRET);
  });

  test('where a browser lets nothing copy, the text is selected, and the page says so', async () => {
    const origin = built.url.replace('127.0.0.1', 'pw.test');
    const page = await open({ payload: 'hunter2', kind: 'qr' }, { origin, before: NO_COMMAND });
    await page.getByRole('button', { name: 'Copy text' }).click();
    await page.getByRole('status').getByText('It is selected now').waitFor();
    expect(await page.evaluate('String(getSelection())')).toBe('hunter2');
  });

  test('without a mouse: passphrase, copy, look, delete', async () => {
    const token = await create(service, { payload: 'hunter2', passphrase: 'sesame' });
    const page = await visit(token);
    expect(await page.evaluate('document.activeElement.id')).toBe('passphrase');
    await page.keyboard.type('wrong\n');
    const input = page.getByRole('textbox', { name: 'Passphrase' });
    await page.getByRole('alert').waitFor();
    expect(await input.getAttribute('aria-describedby')).toBe('problem');
    await page.keyboard.type('sesame\n');
    await page.getByRole('heading', { name: 'The secret', exact: true }).waitFor();
    const met: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      await page.keyboard.press('Tab');
      met.push(await focused(page));
    }
    expect(met).toEqual(['Copy', 'Show the text', 'Delete the secret now']);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'The secret is deleted' }).waitFor();
    expect((await fetch(`${built.url}/p/${token}`)).status).toBe(404);
  });

  test('without script there is no veil and no button that does nothing', async () => {
    const page = await open({ payload: 'hunter2' }, { javaScriptEnabled: false });
    expect(await page.locator('pre').isVisible()).toBe(true);
    expect(await page.getByRole('button').count()).toBe(0);
    await page.locator('.delete summary').click();
    expect(await page.getByRole('button').allInnerTexts()).toEqual(['Delete it for everyone']);
    await page.getByRole('button').click();
    expect(await page.title()).toBe('Deleted · pwpush');
  });

  test('paper has the secret and no buttons, veiled or not', async () => {
    const page = await open({ payload: 'line\n'.repeat(200), kind: 'text' });
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('pre').isVisible()).toBe(true);
    expect(await page.locator('button:visible, summary:visible').count()).toBe(0);
    const cut =
      'document.querySelector("pre").scrollHeight - document.querySelector("pre").clientHeight';
    expect(await page.evaluate(cut)).toBe(0);
  });

  test.each([
    ['a network', 'WIFI:T:WPA;S:Büro;P:geheim;;', 1],
    ['what is not ASCII', 'пароль: 日本 🔑', 2],
    ['the longest', `${'é'.repeat(1023)}.`, 1],
  ])('a QR code of %s reads back, in the dark too', async (_, payload, deviceScaleFactor) => {
    const options = { colorScheme: 'dark', deviceScaleFactor } as const;
    const page = await open({ payload, kind: 'qr' }, options);
    await page.locator('.veil').click();
    const picture = page.getByRole('img', { name: 'QR code' });
    const { data, width, height } = await pixels(page, await picture.screenshot());
    const found = jsqr(data, width, height, { inversionAttempts: 'dontInvert' });
    expect(Buffer.from(found?.binaryData ?? []).toString()).toBe(payload);
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

  test('files are saved under their names', async () => {
    const name = 'Schlüssel "für" Büro.txt';
    const file = filePart(name.replaceAll('"', '%22'), 'hunter2');
    const page = await visit(
      await createWithFiles(service, file, { name: 'push[retrieval_step]', value: 'false' }),
    );
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: `Download ${name}` }).click(),
    ]);
    expect(readFileSync(await download.path(), 'utf8')).toBe('hunter2');
    expect(download.suggestedFilename()).toBe(name.replaceAll('"', '_'));
  });

  test('a text of up to 1 MiB is there to the last character', async () => {
    const lines = times(100_000);
    const payload = `${'1 <&> λ\r\n'.repeat(lines)}x`.padEnd(lines * 9.4, 'y');
    const page = await open({ payload });
    expect((await page.locator('pre').textContent()) === payload).toBe(true);
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('status').getByText('Copied to the clipboard.').waitFor();
    expect((await clipboard(page)) === payload).toBe(true);
  });

  test('no text is sent away to be translated', async () => {
    const payload = 'http://geheim.example/';
    const page = await open({ payload, kind: 'url' });
    const told = 'document.querySelectorAll("bdo, bdo strong, .leads strong")';
    expect(await page.evaluate(`[...${told}].map((one) => one.translate)`)).toEqual([
      false,
      false,
      false,
    ]);
  });

  test('a text that runs from right to left begins at the right', async () => {
    const page = await open({ payload: 'كلمة السر: Tr0ub4dor&3' });
    expect(await page.evaluate('getComputedStyle(document.querySelector("pre")).direction')).toBe(
      'rtl',
    );
  });
});

/** A screenshot as the browser decodes it. */
async function pixels(page: Page, png: Buffer) {
  const canvas = await page.context().newPage();
  const read = `(async () => {
    const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (c) => c.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes]));
    const { width, height } = image;
    const context = new OffscreenCanvas(width, height).getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    let binary = '';
    for (let i = 0; i < data.length; i += 4) binary += String.fromCharCode(data[i]);
    return { grey: btoa(binary), width, height };
  })()`;
  const { grey, width, height } = (await canvas.evaluate(read)) as {
    grey: string;
    width: number;
    height: number;
  };
  const data = new Uint8ClampedArray(width * height * 4);
  for (const [index, value] of Buffer.from(grey, 'base64').entries())
    data.fill(value, index * 4, index * 4 + 4);
  return { data, width, height };
}
