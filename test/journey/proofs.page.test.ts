import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { passphraseRecipient } from '../../src/age/age';
import { newLinkKey } from '../../src/age/key';
import { keyProof, newKeySalt } from '../../src/age/key-proof';
import { node } from '../../src/age/node-primitives';
import { encryptText, proven, prover } from '../helpers/age';
import { needsBrowser, onChromium, type PageOptions, pages } from '../helpers/browser';
import { allOf } from '../helpers/needs';
import { recordedService } from '../helpers/recorded-service';
import { call, create } from '../helpers/service';

// Secrets that are shown to those only who prove their key, over plain http, and all that the browser sends.

const SECRET = 'correct horse battery';
const WORDS = 'abacus-bloated-cycling-dwindle-emperor-fidgety';
const INCOMPLETE = 'The link is incomplete: the part after # is missing.';

const secrets = [SECRET, WORDS];
const here = recordedService();
const openPage = pages();

const visit = (path: string, options?: PageOptions) => openPage(here.origin + path, options);

/** A push with a key in its link, without a step. */
async function pushed(fields: object = {}) {
  const { key, proof, payload } = await proven(SECRET);
  secrets.push(key);
  const push = { payload, key_proof: proof, retrieval_step: false, ...fields };
  const token = await create(here.service, push, here.built.token);
  return { key, token, path: `/p/${token}` };
}

async function pushedWithWords(fields: object = {}) {
  const key_salt = newKeySalt(node);
  const push = {
    payload: await encryptText(SECRET, [passphraseRecipient(WORDS, 12)]),
    key_proof: await keyProof(prover, WORDS, key_salt),
    ...{ key_salt, retrieval_step: false, ...fields },
  };
  const token = await create(here.service, push, here.built.token);
  return { token, path: `/p/${token}` };
}

async function views(token: string): Promise<number> {
  const { json } = await call(here.service, 'GET', `/api/v2/pushes/${token}/audit`, here.built);
  return json.logs.filter(({ kind }: { kind: string }) => kind === 'view').length;
}

const press = (page: Page) => page.getByRole('button', { name: 'Show the secret' }).click();
const linkField = (page: Page) => page.getByRole('textbox', { name: 'Whole link or key' });
const wordsField = (page: Page) => page.getByRole('textbox', { name: 'Key words' });
const shown = async (page: Page) => {
  await page.locator('.opened .value').getByText(SECRET).waitFor();
  expect(page.url()).not.toContain('#');
};

describe('the page of a link (needs Chromium)', needsBrowser, () => {
  test('with its key shows the secret at a click, and uses no view before', async () => {
    const { key, token, path } = await pushed();
    const page = await visit(`${path}#${key}`);
    await page.getByText('Your link contains the key.').waitFor();
    expect(await linkField(page).isVisible()).toBe(false);
    expect(await views(token)).toBe(0);
    await press(page);
    await shown(page);
    expect(await views(token)).toBe(1);
  });

  test('shows it once after a double click', async () => {
    const { key, token, path } = await pushed({ expire_after_views: 1 });
    const page = await visit(`${path}#${key}`);
    await page.getByRole('button', { name: 'Show the secret' }).dblclick();
    await shown(page);
    expect(await views(token)).toBe(1);
  });

  test('without its key says so, and takes the whole link', async () => {
    const { key, token, path } = await pushed({ expire_after_views: 1 });
    const page = await visit(path);
    await page.getByText(INCOMPLETE).waitFor();
    await linkField(page).fill(`${here.origin}${path}`);
    await press(page);
    await page.getByRole('alert').getByText('Wrong key.').waitFor();
    expect(await views(token)).toBe(0);
    await linkField(page).fill(`<${here.origin}${path}#${key}>.`);
    await press(page);
    await shown(page);
  });

  test('takes the whole link in the address bar, too', async () => {
    const { key, path } = await pushed();
    const page = await visit(path);
    await page.getByText(INCOMPLETE).waitFor();
    await page.evaluate(`location.hash = '#${key}'`);
    await page.getByText('Your link contains the key.').waitFor();
    await press(page);
    await shown(page);
  });

  test('with another key says that the link is damaged, and takes the right one', async () => {
    const { key, token, path } = await pushed({ expire_after_views: 1 });
    const other = newLinkKey();
    secrets.push(other);
    const page = await visit(`${path}#${other}`);
    await press(page);
    await page.getByRole('alert').getByText('the part after # is wrong').waitFor();
    await linkField(page).fill(other);
    await press(page);
    await page.getByRole('alert').getByText('the part after # is wrong').waitFor();
    await linkField(page).fill(key);
    await press(page);
    await shown(page);
    expect(await views(token)).toBe(1);
  });

  test('keeps the key through a wrong passphrase', async () => {
    const { key, path } = await pushed({ passphrase: 'sesame' });
    const page = await visit(`${path}#${key}`);
    for (const passphrase of ['wrong', 'sesame']) {
      await page.fill('#passphrase', passphrase);
      await press(page);
      if (passphrase === 'wrong') await page.getByText('Wrong passphrase.').waitFor();
    }
    await shown(page);
  });

  test('asks for words before a view is used, and opens with them', async () => {
    const { token, path } = await pushedWithWords({ expire_after_views: 1 });
    const page = await visit(path);
    await page.getByText('To open it you need the key words that').waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('key');
    await wordsField(page).fill('fewer than six words');
    await press(page);
    await page.getByRole('alert').getByText('Wrong key.').waitFor();
    await wordsField(page).fill(WORDS.replace('fidgety', 'fidget'));
    await press(page);
    await page.locator('[data-refused]').waitFor();
    await page.getByRole('alert').getByText('Wrong key.').waitFor();
    expect(await wordsField(page).inputValue()).toBe('');
    expect(await views(token)).toBe(0);
    await wordsField(page).fill(` ${WORDS.replaceAll('-', ' ').toUpperCase()}`);
    await press(page);
    await shown(page);
    expect(await views(token)).toBe(1);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  test('keeps the words through a wrong passphrase', async () => {
    const { path } = await pushedWithWords({ passphrase: 'sesame' });
    const page = await visit(path);
    await wordsField(page).fill(WORDS);
    for (const passphrase of ['wrong', 'sesame']) {
      await page.fill('#passphrase', passphrase);
      await press(page);
      if (passphrase === 'wrong') await page.getByText('Wrong passphrase.').waitFor();
    }
    await shown(page);
  });

  test('asks for the words again where the browser keeps nothing', async () => {
    const before = "Storage.prototype.setItem = () => { throw new Error('none'); }";
    const { path } = await pushedWithWords();
    const page = await visit(path, { before });
    await wordsField(page).fill(WORDS);
    await press(page);
    await page.getByText('Enter the key words that the sender gave you.').waitFor();
    await wordsField(page).fill(WORDS);
    await page.getByRole('button', { name: 'Decrypt' }).click();
    await shown(page);
  });

  test('says without script what opens it, and has nothing to press', onChromium, async () => {
    for (const { path, token } of [await pushed(), await pushedWithWords()]) {
      const page = await visit(path, { javaScriptEnabled: false });
      expect(await page.locator('.unscripted').textContent()).toBe(
        `Encrypted. Open it with a browser that has JavaScript, or with: pwpush get '${here.origin}${path}'`,
      );
      expect(await page.getByRole('button').count()).toBe(0);
      expect(await views(token)).toBe(0);
    }
  });
});

test('no key and no words were sent', allOf(onChromium, needsBrowser), () => {
  expect(secrets.filter((secret) => here.wire.sent().includes(secret))).toEqual([]);
});
