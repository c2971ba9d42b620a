import { randomBytes } from 'node:crypto';
import { Decrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { decryptText } from '../../src/age/age';
import { parseIdentities } from '../../src/age/key-files';
import { decodeManifest, type Manifest } from '../../src/age/manifest';
import { alerts, alsoFirefox, headed, needsBrowser, onChromium, pages, press, SECRET } from '../helpers/browser';
import { recordedService } from '../helpers/recorded-service';

// The page of a request in a real browser, over plain http; all that the browser sends is recorded.

/** What a browser sends of it: a field of text has no carriage returns. */
const TYPED = SECRET.replaceAll('\r\n', '\n');

const here = recordedService();
// Of the requests that a test aborts.
const visit = pages(() => here.origin, { except: /net::ERR_FAILED/ });

async function keyPair() {
  const identity = await generateIdentity();
  return { identity, recipient: await identityToRecipient(identity) };
}

const request = (fields = {}) => here.service.createRequest({ request: 'Which password?', ...fields });

async function asked(fields: object = {}) {
  const keys = await keyPair();
  return { ...keys, token: await request({ public_key: keys.recipient, ...fields }) };
}

const notes = (page: Page) => page.locator('.note:visible').allInnerTexts();
const answer = (page: Page) => page.getByLabel('Your answer');
async function send(page: Page): Promise<void> {
  await press(page, 'Send answer');
  await headed(page, 'Your answer was sent');
}

async function sendText(page: Page, text = SECRET): Promise<void> {
  await answer(page).fill(text);
  await send(page);
}

async function read(token: string, query = '') {
  const path = `/api/v2/requests/${token}${query}`;
  const { json } = await here.service.call('GET', path, here.service.asAdmin);
  return json as { response: string; files: { filename: string; url: string }[] };
}

const opened = async (armor: string, identity: string) =>
  (await decryptText(armor, parseIdentities(identity))).toString();

describe('the page of a request (needs Chromium)', needsBrowser, () => {
  test('encrypts to the key in the link when the server says another', alsoFirefox, async () => {
    const [asking, { token, ...server }] = [await keyPair(), await asked()];
    const page = await visit(`/r/${token}#${asking.recipient}`);
    expect(await page.evaluate('isSecureContext')).toBe(false);
    expect(await page.content()).toContain(server.recipient);
    expect(await notes(page)).toEqual([expect.stringContaining('Only the person who asked can decrypt it.')]);
    await sendText(page);
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
    const { response } = await read(token);
    expect(await opened(response, asking.identity)).toBe(TYPED);
    await expect(opened(response, server.identity)).rejects.toThrow();
    for (const text of ['3.14', asking.identity]) expect(here.sent()).not.toContain(text);
  });

  test('uses the key of the server for a link without one, and says who could read the answer', async () => {
    const { identity, token } = await asked();
    const page = await visit(`/r/${token}`);
    expect(await notes(page)).toEqual([
      'The link is incomplete: the part after # is missing. Ask for the whole link. Without that part, your answer is encrypted with the server’s own key, and the person who runs the server could read it.',
    ]);
    expect(await page.locator('.note.alarm:visible svg').count()).toBe(1);
    await sendText(page);
    expect(await opened((await read(token)).response, identity)).toBe(TYPED);
  });

  test.each([
    ['changed', (key: string) => key.replace(/.{4}$/, 'qqqq')],
    ['none', () => 'top'],
  ])('refuses a damaged key in the link: %s', async (_how, damage) => {
    const { recipient, token } = await asked();
    const page = await visit(`/r/${token}#${damage(recipient)}`);
    await alerts(page, 'The link is damaged');
    expect(await notes(page)).toEqual([]);
    expect(await page.getByRole('button', { name: 'Send answer' }).isDisabled()).toBe(true);
  });

  test('encrypts files, with their names and what shows that one was exchanged', async () => {
    const { identity, recipient, token } = await asked({ response_file_attachments: true });
    const page = await visit(`/r/${token}#${recipient}`, { own: 'page' });
    const buffer = randomBytes(3_000_000);
    const files = [
      { name: 'ключ.pem', mimeType: 'text/plain', buffer: Buffer.from('AAA') },
      { name: 'disk.img', mimeType: '', buffer },
    ];
    await page.getByLabel('Files').setInputFiles(files);
    const disabled: boolean[] = [];
    await page.route('**/r/*', async (route) => {
      // What is changed now would not be sent.
      disabled.push(await page.getByLabel('Files').isDisabled());
      await route.continue();
    });
    await sendText(page, 'both');
    expect(disabled).toEqual([true]);
    const { files: sent, response: armor } = await read(token);
    expect(sent.map(({ filename }) => filename)).toEqual(['1.age', '2.age']);
    const manifest = decodeManifest(await opened(armor, identity)) as Manifest;
    expect(manifest).toMatchObject({
      message: 'both',
      files: [
        { name: 'ключ.pem', size: 3, type: 'text/plain' },
        { name: 'disk.img', size: 3_000_000, type: 'application/octet-stream' },
      ],
    });
    for (const [at, { url }] of sent.entries()) {
      const response = await fetch(url.replace(here.origin, here.built.url));
      const bytes = new Uint8Array(await response.arrayBuffer());
      const decrypter = new Decrypter();
      decrypter.addIdentity(identity);
      const clear = Buffer.from(await decrypter.decrypt(bytes));
      expect(clear.equals(files[at]?.buffer as Buffer)).toBe(true);
      const head = Buffer.from(bytes.subarray(0, 300)).toString('latin1');
      expect(head).toContain(`--- ${manifest.files[at]?.mac}\n`);
    }
    expect(here.sent()).not.toContain('disk.img');
  });

  test('keeps the key of a link in capitals that a mail gateway changed through a wrong passphrase', async () => {
    const { identity, recipient, token } = await asked({ passphrase: 'sesame' });
    const page = await visit(`/r/${token}%23${recipient.toUpperCase()}&data=05`);
    const key = 'TDwSkAO2ZmVrJkGOCxCbJg';
    for (const passphrase of [key, 'wrong', 'sesame']) {
      await page.getByLabel('Passphrase', { exact: true }).fill(passphrase);
      await press(page, 'Show the request');
      if (passphrase === 'wrong') await page.getByRole('alert').waitFor();
    }
    expect(here.sent()).not.toContain(key);
    await sendText(page);
    expect(await opened((await read(token, '?passphrase=sesame')).response, identity)).toBe(TYPED);
  });

  test('sends it unencrypted without script, and says so', onChromium, async () => {
    const { recipient, token } = await asked({ response_file_attachments: true });
    const page = await visit(`/r/${token}#${recipient}`, { javaScriptEnabled: false });
    const warning = page.getByText('Without JavaScript the answer is sent unencrypted');
    expect(await warning.isVisible()).toBe(true);
    await sendText(page);
    expect((await read(token)).response).toBe(TYPED);
  });

  test('sends an answer without a key as it is, and says why one was not sent', async () => {
    const token = await request();
    const page = await visit(`/r/${token}`, { own: 'page' });
    expect(await notes(page)).toEqual([
      'Your answer is not encrypted in this browser. The person who runs this server can read it.',
    ]);
    await page.route('**/r/*', (route) => route.abort());
    await answer(page).fill(SECRET);
    await press(page, 'Send answer');
    await alerts(page, 'The answer was not sent.');
    expect(await answer(page).inputValue()).toBe(TYPED);
    await page.unroute('**/r/*');
    await send(page);
    expect((await read(token)).response).toBe(TYPED);
  });
});
