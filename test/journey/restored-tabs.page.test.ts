import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { createLink, needsBrowser, onChromium, openProfile, press, serviceAt } from '../helpers/browser';
import { folders } from '../helpers/memory';
import { allOf } from '../helpers/needs';
import { person, serving } from '../helpers/program';

// What a browser shows of secrets when it is started again with the tabs of before, and with the Back button.

const built = serving(person().env);
const newFolder = folders();

const SECRET = 'MARKER-correct-horse';
const PASSPHRASE = 'MARKER-sesame';

const service = () => serviceAt(built);
type Push = Record<string, unknown>;

async function tab(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${built.url}${path}?locale=en`);
  return page;
}

async function shown(context: BrowserContext, push: Push): Promise<string> {
  const token = await service().create({ payload: SECRET, expire_after_views: 5, ...push });
  const page = await tab(context, `/p/${token}`);
  if (push.passphrase) await page.locator('#passphrase').fill(PASSPHRASE);
  if (push.retrieval_step !== false) await press(page, 'Show the secret');
  await page.locator('pre').getByText(SECRET).waitFor({ state: 'attached' });
  return token;
}

/** The text of all of its files. */
function onDisk(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.map((name) => join(folder, name)).filter((path) => statSync(path).isFile());
  // Also what stands there in UTF-16.
  return files.map((path) => readFileSync(path, 'latin1').replaceAll('\0', '')).join('\n');
}

/** Headings, or nothing yet. */
async function headings(context: BrowserContext): Promise<string[]> {
  const text = "document.querySelector('h1')?.innerText ?? ''";
  const all = await Promise.all(context.pages().map((page) => page.evaluate<string>(text)));
  return all.filter((one) => one !== '').sort();
}

const RESUBMIT = 'Confirm Form Resubmission';
const NO_LONGER = 'This link is no longer available';

describe('a secret (needs Chromium)', allOf(needsBrowser, onChromium), () => {
  test('is in no tab that is restored, and in no file of the browser', async () => {
    const folder = await newFolder();
    let context = await openProfile(folder);
    await shown(context, {});
    await shown(context, { passphrase: PASSPHRASE });
    await shown(context, { retrieval_step: false, expire_after_views: 1 });
    const again = await shown(context, { retrieval_step: false });
    const making = await tab(context, '/');
    await making.getByLabel('Secret text').fill(SECRET);
    const link = await createLink(making);
    const typing = await tab(context, '/');
    await typing.getByLabel('Secret text').fill(SECRET);
    await typing.getByLabel('Passphrase (optional)').fill(PASSPHRASE);
    const request = await service().createRequest({ request: 'Which password?' });
    await (await tab(context, `/r/${request}`)).getByLabel('Your answer').fill(SECRET);
    await context.close();
    const files = onDisk(folder);
    expect(files).toContain(again);
    expect(files).not.toContain('MARKER');
    expect(files).not.toContain(link.split('#')[1]);

    context = await openProfile(folder);
    // The browser would have to send again what was sent before, and asks first.
    const restored = [RESUBMIT, RESUBMIT, RESUBMIT, 'Share a secret as a link that expires'];
    const loaded = ['Someone is asking you for a secret', 'The secret', NO_LONGER];
    await expect
      .poll(() => headings(context).catch(() => []), { message: 'the tabs of before are loaded' })
      .toEqual([...restored, ...loaded]);
    for (const page of context.pages()) {
      const isShown = page.url().includes(again);
      expect((await page.content()).includes(SECRET)).toBe(isShown);
      const fields = "[...document.querySelectorAll('input, textarea')].map((one) => one.value)";
      expect(await page.evaluate<string[]>(fields)).not.toContain(SECRET);
    }
    // A page without a button shows it whenever it is loaded, which takes a view.
    expect((await service().retrieve(again)).json.views_remaining).toBe(2);
    await context.close();
  });
});
