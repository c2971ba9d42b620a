import { createServer } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needsBrowser, pages, press, serviceAt } from '../helpers/browser';
import { type Listens, listen, relay } from '../helpers/listen';
import { person, serving } from '../helpers/program';

// A secret that is shown once, to a person whose connection, mouse or habit asks for it twice.

const SECRET = 'correct horse battery';

const built = serving(person().env);
let proxy: Listens;
/** After how many bytes the response to the next form is cut. */
let cutAt: number | undefined;
// What is cut and what is gone is told on the console.
const visit = pages(() => proxy.url, { except: /ERR_|404|Unrecognized Content-Security-Policy|Failed to load/ });

beforeAll(async () => {
  proxy = await listen(
    createServer((client) => {
      const upstream = relay(client, Number(new URL(built.url).port));
      let left: number | undefined;
      client.on('data', (data: Buffer) => {
        if (data.includes('POST /p/')) [left, cutAt] = [cutAt, undefined];
        upstream.write(data);
      });
      upstream.on('data', (data: Buffer) => {
        if (left === undefined) return void client.write(data);
        client.write(data.subarray(0, left), () => client.destroy());
        left = 0;
      });
    }),
  );
});

afterAll(() => proxy.close());

const service = () => serviceAt(built);

async function opened(views: number, options = {}): Promise<{ page: Page; token: string }> {
  const token = await service().createOwn({ payload: SECRET, expire_after_views: views });
  return { token, page: await visit(`/p/${token}/r`, options) };
}
const show = (page: Page) => press(page, 'Show the secret');
const seen = (page: Page) => page.getByText(SECRET).waitFor();

const oneView = async (token: string) => expect(await service().views(token)).toBe(1);

describe('a secret that is shown once (needs Chromium)', needsBrowser, () => {
  test.each([0, 10, 300, 3000])('comes again after a cut at byte %s, in one view', async (at) => {
    const { page, token } = await opened(1);
    cutAt = at;
    await show(page).catch(() => undefined);
    await expect.poll(() => cutAt, { message: 'the form was sent' }).toBeUndefined();
    // Chromium refuses it while a page about the error takes the place of this one.
    await expect.poll(() => page.reload().catch(() => undefined), { message: 'the page is loaded again' }).toBeTruthy();
    await seen(page);
    await oneView(token);
  });

  test.each([1, 5])('comes again when the page is reloaded, of %s views', async (count) => {
    const { page, token } = await opened(count);
    await show(page);
    await seen(page);
    await page.reload();
    await seen(page);
    await oneView(token);
  });

  test('comes once after a double click, also without script', async () => {
    for (const javaScriptEnabled of [true, false]) {
      const { page, token } = await opened(1, javaScriptEnabled ? {} : { javaScriptEnabled });
      await page.getByRole('button', { name: 'Show the secret' }).dblclick();
      await seen(page);
      await oneView(token);
    }
  });

  test('does not come again once it was hidden', async () => {
    const { page, token } = await opened(1);
    await show(page);
    await seen(page);
    const hidden = page.waitForResponse((response) => response.request().method() === 'POST');
    await press(page, 'Hide');
    expect((await hidden).status()).toBe(200);
    await page.reload();
    await page.getByText('This link is no longer available').waitFor();
    await oneView(token);
  });

  test('does not come again for the form of another page', async () => {
    const { page } = await opened(1);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await show(page);
    await seen(page);
    await show(other);
    await other.getByText('This link is no longer available').waitFor();
  });
});
