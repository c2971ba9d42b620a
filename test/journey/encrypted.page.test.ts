import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import jsqr from 'jsqr';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { parseRecipient } from '../../src/age/key-files';
import { keyProof } from '../../src/age/key-proof';
import { encodeManifest } from '../../src/age/manifest';
import {
  encryptFile,
  encryptText,
  newLinkKey,
  passphraseRecipient,
} from '../../src/server/page/browser/age-passphrase';
import { encryptText as encryptToKeys, joined, prover } from '../helpers/age';
import {
  alsoFirefox,
  inFirefox,
  needsBrowser,
  onChromium,
  type PageOptions,
  pages,
  pixels,
} from '../helpers/browser';
import { partOf } from '../helpers/long';
import { allOf } from '../helpers/needs';
import { recordedService } from '../helpers/recorded-service';
import { create, createWithFiles, filePart } from '../helpers/service';

// Secrets that were encrypted before they were sent, in a real browser. `pw.test` is no secure context over plain http,
// and all that the browser sends is recorded on the wire.

const SECRET = '  π = "3.14"\r\n\t<b>&amp;</b> 🔑\n\n';
const PUBLIC_KEY = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
const WORDS = 'abacus-bloated-cycling-dwindle-emperor-fidgety';
/** The lowest work factor of words, as far as the page knows. */
const WORDS_WORK = 11;

const here = recordedService('--anonymous-files');
/** What must not be sent, in any test. */
const secrets: string[] = [WORDS];
/** All requests, by the DevTools protocol. */
const requests: string[] = [];
/** What may be sent, and must not be logged. */
const logged: string[] = [];
const openPage = pages({
  opened: record,
  // Chromium at times calls a small file aborted that was read to its end.
  except: /^failed: .*\/files\/.* net::ERR_ABORTED$/,
});

function newKey(): string {
  const key = newLinkKey();
  secrets.push(key);
  return key;
}

const visit = (path: string, options?: PageOptions) => openPage(here.origin + path, options);

/** Records each request as the DevTools protocol tells of it: address, headers with the referrer, body. */
async function record(page: Page): Promise<void> {
  if (inFirefox) return;
  const session = await page.context().newCDPSession(page);
  session.on('Network.requestWillBeSent', ({ request, documentURL }) => {
    // Where Chromium keeps the fragment, apart from the address.
    const { urlFragment, ...rest } = request;
    requests.push(JSON.stringify([rest, documentURL]));
  });
  session.on('Network.requestWillBeSentExtraInfo', ({ headers }) => {
    requests.push(JSON.stringify(headers));
  });
  await session.send('Network.enable');
}

/** Pushes an encrypted text, and opens its link. */
async function open(
  text: string,
  push: Record<string, unknown> = {},
  options?: PageOptions,
): Promise<Page> {
  const key = newKey();
  return visit(`/p/${await pushText(text, key, push)}#${key}`, options);
}

const pushText = async (text: string, key: string, push: Record<string, unknown> = {}, work = 10) =>
  create(here.service, {
    payload: await encryptText(text, passphraseRecipient(key, work)),
    retrieval_step: false,
    ...push,
  });

const shown = (page: Page): Locator => page.locator('.opened .value');
const problem = (page: Page) => page.getByRole('alert').textContent();

describe('an encrypted secret (needs Chromium)', needsBrowser, () => {
  test(
    'is decrypted with the key in the link, under a veil, over plain http',
    alsoFirefox,
    async () => {
      const page = await open(SECRET);
      await page.getByRole('button', { name: 'Show the text' }).waitFor();
      expect(await page.evaluate('isSecureContext')).toBe(false);
      expect(await shown(page).isVisible()).toBe(false);
      await page.getByRole('button', { name: 'Show the text' }).click();
      expect(await shown(page).textContent()).toBe(SECRET);
      expect(await page.locator('.sealed').isVisible()).toBe(false);
      expect(page.url()).not.toContain('#');
    },
  );

  test('is decrypted with words that were given apart, in any case', async () => {
    const page = await visit(`/p/${await pushText(SECRET, WORDS, {}, WORDS_WORK)}`);
    const input = page.getByRole('textbox', { name: 'Key words' });
    await input.waitFor();
    await page.getByText('Enter the key words that the sender gave you.').waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('key');
    await page.keyboard.type(`${WORDS.replace('fidgety', 'fidget')}\n`);
    await page.getByRole('alert').getByText('Wrong key.').waitFor();
    expect(await input.getAttribute('aria-invalid')).toBe('true');
    await input.fill(` ${WORDS.replaceAll('-', ' ').toUpperCase()}`);
    await page.getByRole('button', { name: 'Decrypt' }).click();
    // A button was pressed.
    await shown(page).waitFor();
    expect(await shown(page).textContent()).toBe(SECRET);
    expect(await page.locator('form:visible').count()).toBe(0);
  });

  test('keeps its key through the step and a wrong passphrase', async () => {
    const page = await open(SECRET, { retrieval_step: true, passphrase: 'sesame' });
    for (const passphrase of ['wrong', 'sesame']) {
      await page.fill('#passphrase', passphrase);
      await page.getByRole('button', { name: 'Show the secret' }).click();
      if (passphrase === 'wrong') await page.getByRole('alert').waitFor();
    }
    await shown(page).waitFor();
    expect(await shown(page).textContent()).toBe(SECRET);
    expect(page.url()).not.toContain('#');
  });

  test('is announced before a view is used, with what opens it', async () => {
    const key = newKey();
    const step = { retrieval_step: true };
    const path = `/p/${await pushText(SECRET, key, step)}/r`;
    const words = `/p/${await pushText(SECRET, WORDS, step, WORDS_WORK)}/r`;
    const keys = await encryptToKeys(SECRET, [parseRecipient(PUBLIC_KEY)]);
    const recipient = `/p/${await create(here.service, { payload: keys, ...step })}/r`;
    for (const [link, opens, isProblem] of [
      [`${path}#${key}`, 'Your link contains the key.', false],
      [path, 'The link is incomplete: the part after # is missing.', true],
      [`${path}#${key.slice(0, -3)}`, 'The link is damaged: the part after # is wrong.', true],
      [words, 'To open it you need the key words that the sender gave you.', false],
      [recipient, 'Open it with age: age -d -i ~/.ssh/id_ed25519', false],
    ] as const) {
      const page = await visit(link);
      await page.getByText('The secret is end-to-end encrypted: this server cannot').waitFor();
      await page.getByText(opens).waitFor();
      expect(await page.locator('.problem:visible').count()).toBe(Number(isProblem));
      expect(await page.getByText('5 views left.').isVisible()).toBe(true);
    }
  });

  test('is announced with the command that opens it, without script', onChromium, async () => {
    const path = `/p/${await pushText(SECRET, newKey(), { retrieval_step: true })}/r`;
    const page = await visit(path, { javaScriptEnabled: false });
    expect(await page.locator('.unscripted').textContent()).toBe(
      `Encrypted. Open it with a browser that has JavaScript, or with: curl -fsS -H 'Accept: text/plain' -d '' '${here.origin}${path}' | age -d`,
    );
    expect(await page.locator('#opens').isVisible()).toBe(false);
  });

  test(
    'is decrypted with a key that is gone from the address before anything is drawn',
    alsoFirefox,
    async () => {
      const key = newKey();
      const path = `/p/${await pushText(SECRET, key)}`;
      const before =
        "document.addEventListener('DOMContentLoaded', () => { window.early = location.href; })";
      const page = await visit(`${path}#${key}`, { before });
      await page.getByRole('button', { name: 'Show the text' }).waitFor();
      expect(await page.evaluate('early')).toBe(here.origin + path);
    },
  );

  test.each([1, 5])(
    'is gone from the page that the Back button shows, of %s views',
    alsoFirefox,
    async (views) => {
      const page = await open(SECRET, { expire_after_views: views }, { back: true });
      await page.getByRole('button', { name: 'Show the text' }).click();
      await page.goto(`${here.origin}/open`);
      await page.goBack({ waitUntil: 'commit' });
      const told = views === 1 ? 'This link is no longer available' : 'The link is incomplete';
      await page.getByText(told).waitFor();
      expect(await page.content()).not.toContain('3.14');
    },
  );

  test('is not opened with a key in place of the passphrase, and no key is sent', async () => {
    const key = newKey();
    const path = `/p/${await pushText(SECRET, key, { passphrase: 'sesame' })}`;
    const page = await visit(path);
    const field = page.locator('#passphrase');
    for (const wrong of [WORDS, WORDS.replaceAll('-', ' ').toUpperCase(), key, `${path}#${key}`]) {
      await field.fill(wrong);
      await field.press('Enter');
      expect(await page.evaluate("document.querySelector('#passphrase').validationMessage")).toBe(
        'This is the key of an encrypted secret, not a passphrase. It was not sent: this server must not see it.',
      );
    }
    await field.fill('sesame');
    await field.press('Enter');
    await page.getByText('The link is incomplete').waitFor();
    await page.goto(`${here.origin}/`);
    await page.getByLabel('Secret text').fill('any');
    await page.getByLabel('Passphrase (optional)').fill(WORDS);
    await page.getByRole('button', { name: 'Create link' }).click();
    expect(await page.locator(':invalid').last().getAttribute('id')).toBe('passphrase');
  });

  test('says when the key is missing from the link, and takes the whole link', async () => {
    const key = newKey();
    const path = `/p/${await pushText(SECRET, key)}`;
    const page = await visit(path);
    expect(await problem(page)).toContain('The link is incomplete: the part after # is missing.');
    await page
      .getByRole('textbox', { name: 'Key', exact: true })
      .fill(`<${here.origin}${path}#${key}>.`);
    await page.getByRole('button', { name: 'Decrypt' }).click();
    expect(await shown(page).textContent()).toBe(SECRET);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('says when the key is another one, and keeps it in the address', async () => {
    const path = `/p/${await pushText(SECRET, newKey())}`;
    const page = await visit(`${path}#${newKey()}`);
    await page.getByRole('alert').getByText('Wrong key.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Key', exact: true }).isVisible()).toBe(true);
    expect(page.url()).toContain('#');
    const damaged = await visit(`${path}#half`);
    expect(await problem(damaged)).toContain('The link is damaged: the part after # is wrong.');
  });

  test('without script is armor, and a line that says what opens it', onChromium, async () => {
    const key = newKey();
    const armor = await encryptText(SECRET, passphraseRecipient(key, 10));
    const token = await create(here.service, { payload: armor, retrieval_step: false });
    const page = await visit(`/p/${token}#${key}`, { javaScriptEnabled: false });
    expect(await page.locator('pre').textContent()).toBe(armor);
    expect(await page.locator('.unscripted').textContent()).toBe(
      'Encrypted. Open it with a browser that has JavaScript, or with: age -d',
    );
    expect(await page.locator('form:visible, button:visible, [role=alert]:visible').count()).toBe(
      0,
    );
  });

  test.each([
    ['damaged', (armor: string) => armor.replace(/.{4}\n-----END/, 'AAAA\n-----END'), 'is damaged'],
    ['cut', (armor: string) => armor.slice(0, -60), 'is damaged'],
    [
      'for keys',
      () => encryptToKeys(SECRET, [parseRecipient(PUBLIC_KEY)]),
      'Open it with age: age -d -i ~/.ssh/id_ed25519',
    ],
  ])('that is %s stays armor, and the page says so', async (_, change, told) => {
    const key = newKey();
    const armor = await change(await encryptText(SECRET, passphraseRecipient(key, 10)));
    const token = await create(here.service, { payload: armor, retrieval_step: false });
    const page = await visit(`/p/${token}#${key}`);
    await page.getByRole('alert').getByText(told).waitFor();
    expect(await page.locator('.sealed pre').isVisible()).toBe(true);
    expect(await page.locator('.sealed pre').textContent()).toBe(armor);
  });

  test('may be a link, with the host that it leads to', async () => {
    const payload = 'http://me@xn--e1awd7f.example/x?y#z';
    const page = await open(payload);
    await page.getByRole('button', { name: 'Show the link' }).click();
    expect(await shown(page).textContent()).toBe(payload);
    expect(await page.locator('.leads').textContent()).toBe(
      'This link leads to xn--e1awd7f.example',
    );
    expect(await page.locator('.note:visible').count()).toBe(3);
    expect(await page.getByRole('link', { name: 'Open in a new tab' }).getAttribute('href')).toBe(
      payload,
    );
    const plain = await visit(`/p/${await pushText('https://a.example/', WORDS, {}, WORDS_WORK)}`);
    await plain.fill('#key', WORDS);
    await plain.keyboard.press('Enter');
    await plain.locator('.leads').waitFor();
    expect(await plain.locator('.note:visible').count()).toBe(0);
  });

  test('may be a QR code', onChromium, async () => {
    const page = await open('WIFI:T:WPA;S:Büro;P:geheim;;', { kind: 'qr' });
    await page.getByRole('button', { name: 'Show the QR code' }).click();
    expect(await qrIn(page, 'QR code')).toBe('WIFI:T:WPA;S:Büro;P:geheim;;');
    await page.getByText('Text of the QR code').click();
    expect(await shown(page).textContent()).toBe('WIFI:T:WPA;S:Büro;P:geheim;;');
  });

  test('of 700 KB is there to the last character', async () => {
    const text = `${'1 <&> λ\r\n'.repeat(70_000)}x`;
    const page = await open(text);
    await page.getByRole('button', { name: 'Show the text' }).waitFor();
    expect((await shown(page).textContent()) === text).toBe(true);
  });
});

/** Pushes files as a client does, and returns the path of the link. */
async function pushFiles(
  key: string,
  files: readonly { readonly name: string; readonly bytes: Buffer }[],
  change = (sealed: Buffer[]) => sealed,
  message = 'For Ann',
): Promise<string> {
  const encrypted = await Promise.all(files.map(({ bytes }) => encryptedBytes(bytes, key)));
  const listed = files.map(({ name, bytes }, at) => {
    const mac = encrypted[at]?.mac;
    return { name, type: 'text/plain', size: bytes.length, mac };
  });
  const payload = await encryptText(
    encodeManifest({ message: message.trim() ? message : undefined, files: listed }),
    passphraseRecipient(key, 10),
  );
  const parts = change(encrypted.map(({ sealed }) => sealed)).map((bytes, at) =>
    filePart(`${at + 1}.age`, bytes),
  );
  const fields = { payload, retrieval_step: 'false' };
  const rest = Object.entries(fields).map(([name, value]) => ({ name: `push[${name}]`, value }));
  // In another order than that of the manifest.
  return `/p/${await createWithFiles(here.service, ...parts.reverse(), ...rest)}`;
}

async function encryptedBytes(bytes: Buffer, key: string) {
  const one = async function* () {
    yield bytes;
  };
  const { chunks, mac } = await encryptFile(one(), passphraseRecipient(key, 10));
  return { sealed: await joined(chunks), mac };
}

describe('encrypted files (needs Chromium)', needsBrowser, () => {
  const files = [
    { name: 'Schlüssel für "Büro".txt', bytes: Buffer.from('hunter2') },
    { name: 'b.bin', bytes: randomBytes(17_000_000) },
  ];

  test(
    'are saved decrypted under their own names, one by one and all at once',
    onChromium,
    async () => {
      const key = newKey();
      const page = await visit(`${await pushFiles(key, files)}#${key}`, { own: 'page' });
      await page.getByRole('button', { name: 'Show the message' }).click();
      expect(await shown(page).textContent()).toBe('For Ann');
      const labels = page.locator('.files .name');
      expect(await labels.allInnerTexts()).toEqual(['b.bin', 'Schlüssel für "Büro".txt']);
      expect(await page.locator('.files .size').allInnerTexts()).toEqual([
        '16.2\u00a0MiB',
        '7 bytes',
      ]);
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Download Schlüssel' }).click(),
      ]);
      expect(readFileSync(await download.path(), 'utf8')).toBe('hunter2');
      expect(download.suggestedFilename()).toBe('Schlüssel für _Büro_.txt');
      const saved = new Map<string, Buffer>();
      const all = new Promise<void>((resolve) => {
        page.on('download', async (one) => {
          saved.set(one.suggestedFilename(), readFileSync(await one.path()));
          if (saved.size === 2) resolve();
        });
      });
      await page.getByRole('button', { name: 'Download all' }).click();
      await all;
      expect(saved.get('b.bin')?.equals(files[1]?.bytes ?? Buffer.alloc(0))).toBe(true);
      expect(here.wire.sent()).not.toContain('Schlüssel');
    },
  );

  test.each([
    ['exchanged', (sealed: Buffer[]) => sealed.toReversed()],
    ['cut', (sealed: Buffer[]) => sealed.map((bytes) => bytes.subarray(0, -1))],
  ])('that were %s by the instance are not saved', alsoFirefox, async (_, change) => {
    const key = newKey();
    const small = files.map(({ name }) => ({ name, bytes: Buffer.from(name) }));
    const page = await visit(`${await pushFiles(key, small, change)}#${key}`, { own: 'page' });
    const downloads: unknown[] = [];
    page.on('download', (download) => downloads.push(download));
    await page.getByRole('link', { name: 'Download b.bin' }).click();
    await page.getByRole('alert').getByText('is damaged or incomplete').waitFor();
    expect(downloads).toEqual([]);
  });

  test('that do not belong to the manifest are refused', async () => {
    const key = newKey();
    const path = await pushFiles(key, files.slice(0, 1), (sealed) => [...sealed, ...sealed]);
    const page = await visit(`${path}#${key}`, { own: 'page' });
    const downloads: unknown[] = [];
    page.on('download', (download) => downloads.push(download));
    await page.getByRole('alert').getByText('is damaged or incomplete').waitFor();
    // As they came: none of them is opened under a name of the manifest.
    const names = await page.locator('.files .name').allInnerTexts();
    expect(names.sort()).toEqual(['1.age', '2.age']);
    expect(downloads).toEqual([]);
  });
});

/** What a QR code says. */
async function qrIn(page: Page, name: string): Promise<string> {
  const picture = await page.getByRole('img', { name }).screenshot();
  const { data, width, height } = await pixels(page, picture);
  const found = jsqr(data, width, height);
  return Buffer.from(found?.binaryData ?? []).toString();
}

describe('the page at /open (needs Chromium)', needsBrowser, () => {
  test('decrypts what is pasted, and sends nothing', alsoFirefox, async () => {
    const page = await visit('/open');
    const key = newKey();
    const before = here.wire.sent().length;
    for (const [text, secret, work] of [
      [SECRET, key, 10],
      ['https://a.example/', WORDS, WORDS_WORK],
    ] as const) {
      await page
        .getByLabel('Encrypted secret')
        .fill(await encryptText(text, passphraseRecipient(secret, work)));
      await page.getByLabel('Key', { exact: true }).fill('wrong');
      await page.getByRole('button', { name: 'Decrypt' }).click();
      await page.getByRole('alert').getByText('Wrong key.').waitFor();
      await page.getByLabel('Key', { exact: true }).fill(secret);
      await page.keyboard.press('Enter');
      await shown(page).getByText(text.trim().slice(-5)).waitFor();
      expect(await shown(page).textContent()).toBe(text);
    }
    await page.getByLabel('Encrypted secret').fill('no armor');
    await page.getByLabel('Key', { exact: true }).fill(key);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('is damaged or incomplete').waitFor();
    expect(await shown(page).count()).toBe(0);
    expect(here.wire.sent().length).toBe(before);
  });
});

describe('the form of the front page (needs Chromium)', needsBrowser, () => {
  const payloadOf = async (link: string) => {
    const { pathname, hash } = new URL(link);
    const proof = hash && (await keyProof(prover, hash.slice(1), undefined));
    const response = await fetch(`${here.built.url}${pathname.replace(/\/r$/, '')}.json`, {
      ...(proof && { headers: { 'x-key-proof': proof } }),
    });
    return (await response.json()) as { payload: string; files: { filename: string }[] };
  };

  /** Sends the form, and returns the link that the page shows. */
  async function made(page: Page): Promise<string> {
    await page.getByRole('button', { name: 'Create link' }).click();
    await page.getByRole('heading', { name: 'Your link is ready' }).waitFor();
    const link = (await page.locator('bdo').textContent()) ?? '';
    secrets.push(link.split('#')[1] ?? 'no key');
    return link;
  }

  test('encrypts a text, and shows the link with its key', onChromium, async () => {
    const page = await visit('/', { back: true });
    secrets.push('correct horse battery');
    await page.getByLabel('Secret text').fill('correct horse battery\n');
    const link = await made(page);
    expect(link).toMatch(/#[\w-]{22}$/);
    expect(await qrIn(page, 'QR code of the link')).toBe(link);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    await page.goBack({ waitUntil: 'commit' });
    const text = page.getByLabel('Secret text');
    await expect.poll(() => text.inputValue()).toBe('');
    await text.fill('another');
    expect(await made(page)).not.toBe(link);
    await page.goto(link);
    await page.getByRole('button', { name: 'Show the secret' }).click();
    await shown(page).waitFor();
    expect(await shown(page).textContent()).toBe('correct horse battery\n');
    expect((await payloadOf(link)).payload).toMatch(/^-----BEGIN AGE ENCRYPTED FILE-----\n/);
  });

  test('encrypts files and their names', onChromium, async () => {
    const page = await visit('/');
    const [name, mimeType] = ['salaries.csv', 'text/csv'];
    secrets.push(name, 'Ann earns more');
    await page.getByLabel('Files').setInputFiles([
      { name, mimeType, buffer: Buffer.from('Ann earns more') },
      { name: 'empty', mimeType, buffer: Buffer.alloc(0) },
    ]);
    const link = await made(page);
    const names = (await payloadOf(link)).files.map(({ filename }) => filename);
    expect(names).toEqual(['1.age', '2.age']);
    await page.goto(link);
    await page.getByRole('button', { name: 'Show the secret' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: `Download ${name}` }).click(),
    ]);
    expect(readFileSync(await download.path(), 'utf8')).toBe('Ann earns more');
    expect(download.suggestedFilename()).toBe(name);
  });

  test('sends no file in clear that is chosen while it encrypts', alsoFirefox, async () => {
    const page = await visit('/');
    secrets.push('too late');
    await page.getByLabel('Secret text').fill('in time');
    await page.evaluate(`(() => {
      const picker = document.querySelector('#files');
      document.querySelector('form .primary').click();
      const chosen = new DataTransfer();
      chosen.items.add(new File(['too late'], 'late.txt'));
      picker.files = chosen.files;
      // As does one that was chosen when the form was disabled.
      picker.disabled = false;
    })()`);
    await page.getByRole('heading', { name: 'Your link is ready' }).waitFor();
    const { payload, files } = await payloadOf((await page.locator('bdo').textContent()) ?? '');
    expect(payload).toMatch(/^-----BEGIN AGE/);
    expect(files).toEqual([]);
  });

  test('that was refused has its text again, and encrypts it again', async () => {
    const page = await visit('/');
    secrets.push('tell nobody');
    await page.getByLabel('Secret text').fill('tell nobody');
    await page.getByLabel('Passphrase (optional)').fill('   ');
    await page.getByRole('button', { name: 'Create link' }).click();
    await page.getByText('This value is not valid.').waitFor();
    await expect.poll(() => page.getByLabel('Secret text').inputValue()).toBe('tell nobody');
    await page.getByLabel('Passphrase (optional)').fill('');
    await page.goto(await made(page));
    await page.getByRole('button', { name: 'Show the secret' }).click();
    await shown(page).waitFor();
    expect(await shown(page).textContent()).toBe('tell nobody');
  });

  test('shows no link without its key when the page is loaded again', onChromium, async () => {
    const page = await visit('/');
    await page.getByLabel('Secret text').fill('tell nobody');
    await made(page);
    await page.reload();
    await page.getByRole('heading', { name: 'That did not work' }).waitFor();
    expect(await page.locator('main').textContent()).not.toContain('/p/');
    await page.getByRole('link', { name: 'Create another link' }).click();
    await page.getByLabel('Secret text').waitFor();
  });

  test('shows the link of what was encrypted before', async () => {
    const page = await visit('/');
    const armor = await encryptText(SECRET, passphraseRecipient(newLinkKey(), 10));
    await page.getByLabel('Secret text').fill(armor);
    await page.getByLabel('Encrypt in the browser').uncheck();
    expect(await made(page)).toMatch(/\/p\/[\w-]+(?:\/r)?$/);
  });

  test('does not encrypt when the box is not checked', async () => {
    const page = await visit('/');
    await page.getByLabel('Secret text').fill('hunter2');
    await page.getByLabel('Encrypt in the browser').uncheck();
    await page.getByRole('button', { name: 'Create link' }).click();
    const link = (await page.locator('bdo').textContent()) ?? '';
    expect(link).not.toContain('#');
    expect((await payloadOf(link)).payload).toBe('hunter2');
  });
});

describe('a link that a mail gateway changed (needs Chromium)', needsBrowser, () => {
  const changes = {
    '%23': (path: string, key: string) => `${path}%23${key}`,
    '%2523 and a parameter': (path: string, key: string) => `${path}%2523${key}&utm_source=mail`,
    'a parameter before the key': (path: string, key: string) => `${path}&a=b#${key}`,
    'a parameter after the key': (path: string, key: string) => `${path}#${key}&utm_source=mail`,
    'a query': (path: string, key: string) => `${path}?utm_source=mail#${key}`,
  };
  test.each(partOf(Object.entries(changes), 0))('is repaired: %s', async (_, change) => {
    // Such a gateway has the key, and the browser sends it; the log does not.
    const key = newLinkKey();
    logged.push(key);
    const page = await visit(change(`/p/${await pushText(SECRET, key)}`, key));
    await page.getByRole('button', { name: 'Show the text' }).waitFor();
    expect(await shown(page).textContent()).toBe(SECRET);
    expect(page.url()).not.toContain(key);
  });

  const paths = ['//evil.example/r/abc', '/\\evil.example/p/abc/r', '///evil.example/p/abc'];
  test.each(partOf(paths, 0))('never leads to another site: %s', alsoFirefox, async (path) => {
    const key = newLinkKey();
    logged.push(key);
    // A request to another site is among the troubles of the page, which fail the test.
    const page = await visit(`${path},#${key}`);
    // Browsers write a backslash as a slash.
    await page.waitForURL(`${here.origin}${path.replace('\\', '/')}#${key}`);
    await page.goto(`${here.origin}${path}%23${key}`);
    await page.waitForURL(`${here.origin}${path.replace('\\', '/')}#${key}`);
  });

  test('is left alone where nothing can be repaired', async () => {
    const page = await visit('/p/abcdefghij0123456789');
    await page.getByRole('heading', { name: 'This link is no longer available' }).waitFor();
    await page.goto(`${here.origin}/nothing%23here`);
    expect(page.url()).toBe(`${here.origin}/nothing%23here`);
  });
});

test(
  'no key, and nothing that was encrypted, was sent or logged',
  allOf(onChromium, needsBrowser),
  async () => {
    // What a mail gateway makes the browser send, to see that it is recorded.
    const key = newLinkKey();
    await visit(`/p/abcdefghij%23${key}.`);
    const [sent, told] = [here.wire.sent(), requests.join('\n')];
    const { stdout, stderr } = await here.built.stop();
    const log = stdout + stderr;
    expect([sent.includes(key), told.includes(key)]).toEqual([true, true]);
    expect(log).toContain('GET /p/:token');
    expect(secrets.filter((secret) => sent.includes(secret) || told.includes(secret))).toEqual([]);
    expect([key, ...secrets, ...logged].filter((secret) => log.includes(secret))).toEqual([]);
  },
);
