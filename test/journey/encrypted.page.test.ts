import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterEach, describe, expect, test } from 'vitest';
import { newKeyPair, parseRecipients } from '../../src/age/key-files';
import { keyProof, newKeySalt } from '../../src/age/key-proof';
import { encodeManifest } from '../../src/age/manifest';
import { node } from '../../src/age/node-primitives';
import {
  encryptFile,
  encryptText,
  newLinkKey,
  passphraseRecipient,
} from '../../src/server/page/browser/age-passphrase';
import { encryptText as encryptTo, joined, proven, prover, shownAt } from '../helpers/age';
import {
  alerts,
  alsoFirefox,
  createLink,
  downloads,
  needsBrowser,
  onChromium,
  type PageOptions,
  pages,
  press,
  qrIn,
  SECRET,
  tooWide,
} from '../helpers/browser';
import { partOf } from '../helpers/long';
import { allOf } from '../helpers/needs';
import { recordedService } from '../helpers/recorded-service';
import { filePart, partsOf } from '../helpers/service';

// Secrets that were encrypted before they were sent, in a real browser. `pw.test` is no secure context over plain http,
// and all that the browser sends is recorded on the wire.

const WORDS = 'abacus-bloated-cycling-dwindle-emperor-fidgety';
const SPOKEN = ` ${WORDS.replaceAll('-', ' ').toUpperCase()}`;
const WRONG_WORDS = WORDS.replace('fidgety', 'fidget');
/** The lowest work factor of words, as far as the page knows. */
const WORDS_WORK = 11;
const INCOMPLETE = 'The link is incomplete: the part after # is missing.';
const DAMAGED = 'The link is damaged: the part after # is wrong.';

const here = recordedService('--anonymous-files');
/** What must not be sent, in any test. */
const secrets: string[] = [WORDS];
// After each, so that the test is named which sends one.
afterEach(() => {
  const sent = here.sent();
  expect(secrets.filter((secret) => sent.includes(secret))).toEqual([]);
});
/** What may be sent, and must not be logged. */
const logged: string[] = [];
// Chromium at times calls a small file aborted that was read to its end.
const visit = pages(() => here.origin, { except: /^failed: .*\/files\/.* net::ERR_ABORTED$/ });

function newKey(): string {
  const key = newLinkKey();
  secrets.push(key);
  return key;
}

type Push = Record<string, unknown>;
const pushed = async (payload: string, push: Push = {}) =>
  `/p/${await here.service.create({ payload, retrieval_step: false, ...push })}`;
const armored = (text: string, key: string, work = 10) => encryptText(text, passphraseRecipient(key, work));
const pushText = async (text: string, key: string, push?: Push) => pushed(await armored(text, key), push);

async function open(text: string, push: Push = {}, options?: PageOptions): Promise<Page> {
  const key = newKey();
  return visit(`${await pushText(text, key, push)}#${key}`, options);
}

const shown = (page: Page) => page.locator('.opened .value');
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
/** Expects that the page shows that text, and nothing to type in its place. */
async function shows(page: Page, text = SECRET): Promise<void> {
  await shown(page).waitFor({ state: 'attached' });
  expect(await shown(page).textContent()).toBe(text);
  expect(page.url()).not.toContain('#');
}

describe('an encrypted secret (needs Chromium)', needsBrowser, () => {
  test('is decrypted with the key in the link, gone before it is drawn', alsoFirefox, async () => {
    const before = "document.addEventListener('DOMContentLoaded', () => { window.early = location.href; })";
    const page = await open(SECRET, {}, { before });
    await page.getByRole('button', { name: 'Show the text' }).waitFor();
    expect(await page.evaluate('isSecureContext')).toBe(false);
    expect(await page.evaluate('early')).toMatch(/\/p\/[\w-]+$/);
    expect(await shown(page).isVisible()).toBe(false);
    await press(page, 'Show the text');
    await shows(page);
    expect(await page.locator('.sealed').isVisible()).toBe(false);
  });

  test('is announced before a view is used, with what opens it', async () => {
    const key = newKey();
    const path = `${await pushText(SECRET, key, { retrieval_step: true })}/r`;
    for (const [link, opens, isProblem] of [
      [`${path}#${key}`, 'Your link contains the key.', false],
      [path, INCOMPLETE, true],
      [`${path}#${key.slice(0, -3)}`, DAMAGED, true],
    ] as const) {
      const page = await visit(link);
      await page.getByText('The secret is end-to-end encrypted: this server cannot').waitFor();
      await page.getByText(opens).waitFor();
      expect(await page.locator('.problem:visible svg:visible').count()).toBe(Number(isProblem));
      expect(await page.getByText('5 views left.').isVisible()).toBe(true);
    }
  });

  test('is not opened without script, and takes no view', onChromium, async () => {
    const { key, token, path } = await proved();
    const page = await visit(`${path}#${key}`, { javaScriptEnabled: false });
    expect(await page.locator('.unscripted').textContent()).toBe(
      `Encrypted. Open it with a browser that has JavaScript, or with: pwpush get '${here.origin}${path}'`,
    );
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await here.service.views(token)).toBe(0);
  });

  test.each([
    ['an encrypted', 5, 'The link is incomplete'],
    ['a clear', 1, 'This link is no longer available'],
  ])('is gone from the page that the Back button shows: %s', alsoFirefox, async (which, views, told) => {
    const options = { back: true };
    const push = { expire_after_views: views };
    const page =
      which === 'a clear' ? await visit(await pushed(SECRET, push), options) : await open(SECRET, push, options);
    await press(page, 'Show the text');
    expect(await page.content()).toContain('3.14');
    await page.goto(`${here.origin}/open`);
    await page.goBack({ waitUntil: 'commit' });
    await page.getByText(told).waitFor();
    expect(await page.content()).not.toContain('3.14');
  });

  test('is not opened with a key in place of the passphrase, and no key is sent', async () => {
    const key = newKey();
    const path = await pushText(SECRET, key, { passphrase: 'sesame' });
    const page = await visit(path);
    const input = page.locator('#passphrase');
    for (const wrong of [WORDS, SPOKEN, SPOKEN.replace(/ /g, ''), key, 'Zm9v-_YmFyIGJhego0MjE', `${path}#${key}`]) {
      await input.fill(wrong);
      await input.press('Enter');
      expect(await page.evaluate("document.querySelector('#passphrase').validationMessage"), wrong).toBe(
        'This looks like the key of an encrypted secret, not a passphrase. It was not sent: this server must not see it.',
      );
    }
    await page.goto(`${here.origin}/`);
    await page.getByLabel('Secret text').fill('any');
    await page.getByLabel('Passphrase (optional)').fill(WORDS);
    await press(page, 'Create link');
    expect(await page.locator(':invalid').last().getAttribute('id')).toBe('passphrase');
  });

  test('says what is wrong with its key, and takes the whole link', async () => {
    const key = newKey();
    const path = await pushText(SECRET, key);
    await alerts(await visit(`${path}#half`), DAMAGED);
    const other = await visit(`${path}#${newKey()}`);
    await alerts(other, 'Wrong key.');
    expect(other.url()).toContain('#');
    const page = await visit(path);
    await alerts(page, INCOMPLETE);
    await field(page, 'Key').fill(`<${here.origin}${path}#${key}>.`);
    await press(page, 'Decrypt');
    await shows(page);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  const long = 'x'.repeat(200);
  const kilobytes700 = `${'1 <&> λ\r\n'.repeat(70_000)}x`;
  test.each([
    ['a text that is a link', 'text', 'http://me@xn--e1awd7f.example/x?y#z', 'link'],
    ['a text with a host that is too long', 'text', `http://${'x'.repeat(64)}.example/`, 'text'],
    ['a link by its kind', 'url', `https://xn--e1awd7f.example/${long}`, 'link'],
    ['a script in place of a link', 'url', 'javascript:alert(1)', 'text'],
    ['data in place of a link', 'url', 'data:text/html,x', 'text'],
    ['a link whose host turns its direction', 'url', 'http://a\u202e.example/', 'text'],
    ['a text that comes in several pieces of base64', 'text', kilobytes700, 'text'],
    ['a text that is too long for the QR code that it should be', 'qr', 'x'.repeat(3000), 'text'],
  ])('%s is shown as what it is, and only http and https make a link', async (_, kind, payload, shownAs) => {
    const page = await open(payload, { kind });
    await press(page, `Show the ${shownAs}`);
    await shows(page, payload);
    expect(await tooWide(page)).toBe(0);
    const isLink = shownAs === 'link';
    expect(await page.locator('.encrypted a').count()).toBe(isLink ? 2 : 1);
    expect(await page.getByText('meant to be a QR code, but it is too long for one').count()).toBe(
      Number(kind === 'qr'),
    );
    if (!isLink) return;
    expect(await page.locator('.leads').textContent()).toBe('This link leads to xn--e1awd7f.example');
    const link = page.getByRole('link', { name: 'Open in a new tab' });
    expect(await link.getAttribute('href')).toBe(payload);
    expect(await link.getAttribute('rel')).toBe('noreferrer noopener');
  });

  test('may be a QR code', onChromium, async () => {
    const payload = 'WIFI:T:WPA;S:Büro;P:geheim;;';
    const page = await open(payload, { kind: 'qr' });
    await press(page, 'Show the QR code');
    expect(await qrIn(page, 'QR code')).toBe(payload);
    await page.getByText('Text of the QR code').click();
    await shows(page, payload);
    expect(await tooWide(page)).toBe(0);
  });
});

/** A push that is shown to those only who prove the key in its link, without a step. */
async function proved(fields: object = {}) {
  const { key, proof, payload } = await proven(SECRET);
  secrets.push(key);
  const push = { payload, key_proof: proof, retrieval_step: false, ...fields };
  const token = await here.service.createOwn(push);
  return { key, token, path: `/p/${token}` };
}

/** The same with words. */
async function provedByWords(fields: object = {}) {
  const key_salt = newKeySalt(node);
  const payload = await encryptText(SECRET, passphraseRecipient(WORDS, 12));
  const key_proof = await keyProof(prover, WORDS, key_salt);
  const push = { payload, key_proof, key_salt, retrieval_step: false, ...fields };
  const token = await here.service.createOwn(push);
  return { token, path: `/p/${token}` };
}

describe('a secret whose key must be proved (needs Chromium)', needsBrowser, () => {
  const show = (page: Page) => press(page, 'Show the secret');
  const link = (page: Page) => field(page, 'Whole link or key');
  const once = { expire_after_views: 1 };

  test('is shown once after a double click, and no view is used before', async () => {
    const { key, token, path } = await proved(once);
    const page = await visit(`${path}#${key}`);
    await page.getByText('Your link contains the key.').waitFor();
    expect([await link(page).isVisible(), await here.service.views(token)]).toEqual([false, 0]);
    await page.getByRole('button', { name: 'Show the secret' }).dblclick();
    await shows(page);
    expect(await here.service.views(token)).toBe(1);
  });

  test('without its key, or with another, says so, and takes the whole link', async () => {
    const { key, token, path } = await proved({ expire_after_views: 2 });
    const page = await visit(path);
    await page.getByText(INCOMPLETE).waitFor();
    await link(page).fill(`${here.origin}${path}`);
    await show(page);
    await alerts(page, 'Wrong key.');
    await link(page).fill(`<${here.origin}${path}#${key}>.`);
    await show(page);
    await shows(page);
    const last = await visit(`${path}#${newKey()}`);
    await show(last);
    await alerts(last, 'the part after # is wrong');
    expect(await here.service.views(token)).toBe(1);
    await link(last).fill(key);
    await show(last);
    await shows(last);
  });

  test('whose proof cannot be made is wrong, and can be sent again', onChromium, async () => {
    const { key, token, path } = await proved(once);
    const page = await visit(`${path}#${key}`);
    // As Safari does after a hundred calls.
    await page.evaluate("history.replaceState = () => { delete history.replaceState; throw new Error('too many'); }");
    await show(page);
    await alerts(page, 'Wrong key.');
    expect(await here.service.views(token)).toBe(0);
    await show(page);
    await shows(page);
  });

  test('by words asks for them before a view is used, and opens with them', async () => {
    const { token, path } = await provedByWords(once);
    const page = await visit(path);
    await page.getByText('To open it you need the key words that').waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('key');
    const words = field(page, 'Key words');
    await words.fill(WRONG_WORDS);
    await show(page);
    await page.locator('[data-refused]').waitFor();
    await alerts(page, 'Wrong key.');
    expect([await words.inputValue(), await here.service.views(token)]).toEqual(['', 0]);
    await words.fill(SPOKEN);
    await show(page);
    await shows(page);
    expect(await here.service.views(token)).toBe(1);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  test.each(['in the link', 'of words'])('a key %s outlives a wrong passphrase', async (which) => {
    const locked = { passphrase: 'sesame', retrieval_step: true };
    const isWords = which === 'of words';
    const { key, path } = isWords ? { ...(await provedByWords(locked)), key: '' } : await proved(locked);
    const page = await visit(`${path}#${key}`);
    if (isWords) await field(page, 'Key words').fill(WORDS);
    await page.fill('#passphrase', 'wrong');
    await show(page);
    await page.getByText('Wrong passphrase.').waitFor();
    await page.fill('#passphrase', 'sesame');
    await show(page);
    await shows(page);
  });

  test('asks for the words again where the browser keeps nothing', async () => {
    const before = "Storage.prototype.setItem = () => { throw new Error('none'); }";
    const { path } = await provedByWords();
    const page = await visit(path, { before });
    await field(page, 'Key words').fill(WORDS);
    await show(page);
    await page.getByText('Enter the key words that the sender gave you.').waitFor();
    await field(page, 'Key words').fill(WRONG_WORDS);
    await press(page, 'Decrypt');
    await alerts(page, 'Wrong key.');
    await field(page, 'Key words').fill(SPOKEN);
    await press(page, 'Decrypt');
    await shows(page);
  });
});

async function pushFiles(
  key: string,
  files: readonly { readonly name: string; readonly bytes: Buffer; readonly size?: number | undefined }[],
  change = (sealed: Buffer[]) => sealed,
): Promise<string> {
  const encrypted = await Promise.all(
    files.map(async ({ name, bytes, size = bytes.length }) => {
      const one = [bytes].values() as unknown as AsyncIterable<Uint8Array>;
      const { chunks, mac } = await encryptFile(one, passphraseRecipient(key, 10));
      const entry = { name, type: 'text/plain', size, mac };
      return { sealed: await joined(chunks), entry };
    }),
  );
  const listed = encrypted.map(({ entry }) => entry);
  const payload = await armored(encodeManifest({ message: 'For Ann', files: listed }), key);
  const parts = change(encrypted.map(({ sealed }) => sealed)).map((bytes, at) => filePart(`${at + 1}.age`, bytes));
  const rest = partsOf({ payload, retrieval_step: false });
  // In another order than that of the manifest.
  return `/p/${await here.service.createWithFiles(...parts.reverse(), ...rest)}`;
}

describe('encrypted files (needs Chromium)', needsBrowser, () => {
  const files = [
    { name: 'Schlüssel für "Büro".txt', bytes: Buffer.from('hunter2') },
    { name: 'b.bin', bytes: randomBytes(17_000_000) },
  ];
  const small = files.map(({ name }) => ({ name, bytes: Buffer.from(name) }));

  test('are saved decrypted under their names, one by one or all at once', onChromium, async () => {
    const key = newKey();
    const page = await visit(`${await pushFiles(key, files)}#${key}`, { own: 'page' });
    await press(page, 'Show the message');
    await shows(page, 'For Ann');
    const one = await downloads(page, 1, () => page.getByRole('link', { name: 'Download Schlüssel' }).click());
    expect(one).toEqual({ 'Schlüssel für _Büro_.txt': Buffer.from('hunter2') });
    const saved = await downloads(page, 2, () => press(page, 'Download all'));
    expect(saved['b.bin']?.equals(files[1]?.bytes ?? Buffer.alloc(0))).toBe(true);
    expect(here.sent()).not.toContain('Schlüssel');
  });

  test.each<[string, (sealed: Buffer[]) => Buffer[], size?: number]>([
    ['exchanged', (sealed) => sealed.toReversed()],
    ['cut', (sealed) => sealed.map((bytes) => bytes.subarray(0, -1))],
    ['added to', (sealed) => [...sealed, ...sealed]],
    ['listed with another size', (sealed) => sealed, 4],
  ])('that were %s are not saved under their names', alsoFirefox, async (how, change, size) => {
    const key = newKey();
    const listed = small.map((one) => ({ ...one, size }));
    const page = await visit(`${await pushFiles(key, listed, change)}#${key}`, { own: 'page' });
    const saves: unknown[] = [];
    page.on('download', (download) => saves.push(download));
    const added = how === 'added to';
    if (!added) await page.getByRole('link', { name: 'Download b.bin' }).click();
    await alerts(page, 'is damaged or incomplete');
    // As they came, the one whose button was pressed too.
    const names = (await page.locator('.files .name').allInnerTexts()).sort();
    const sealed = ['1.age', '2.age', '3.age', '4.age'];
    const rest = ['2.age', small[0]?.name];
    expect([saves, names]).toEqual([[], added ? sealed : rest]);
    if (added) return;
    // Firefox numbers the second download of a name.
    const [saved] = Object.values(
      await downloads(page, 1, () => page.getByRole('link', { name: 'Download 2.age' }).click()),
    );
    expect(saved?.toString('latin1')).toMatch(/^age-encryption\.org\//);
  });
});

function sshRecipient(): string {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
  const fields = [Buffer.from('ssh-ed25519'), Buffer.from(x, 'base64url')].map(field);
  return `ssh-ed25519 ${Buffer.concat(fields).toString('base64')}`;
}

const KEY_IN_LINK = newKey();
const toKey = (recipient: string) => (text: string) => encryptTo(text, parseRecipients(recipient));

const SSH_HINT = 'YOUR_KEY is the file with the private SSH key, usually ~/.ssh/id_ed25519.';

/** The ways of encryption: how each makes armor, a fragment that is the right key, and else what is said of the key. */
const seals = {
  link: { seal: (text: string) => armored(text, KEY_IN_LINK), right: KEY_IN_LINK, hint: '' },
  words: { seal: (text: string) => armored(text, WORDS, WORDS_WORK), right: WORDS, hint: '' },
  'age1…': { seal: toKey(newKeyPair().recipient), right: '', hint: 'the private key that belongs to age1…' },
  'ssh-ed25519': { seal: toKey(sshRecipient()), right: '', hint: SSH_HINT },
};
type Seal = keyof typeof seals;

/** What a page offers of the bytes that it was given: the armor, what its buttons copy, and what its links save. */
async function waysOn(page: Page) {
  const sealed = page.locator('.sealed .value');
  return {
    armor: (await sealed.isVisible()) ? await sealed.textContent() : '',
    copies: await page.locator('.sealed').getByRole('button', { name: 'Copy' }).isVisible(),
    saves: await page.evaluate(
      "[...document.querySelectorAll('a[download]')].filter((a) => a.checkVisibility()).map((a) => a.download)",
    ),
  };
}

describe('each byte that came with a view has a way (needs Chromium)', needsBrowser, () => {
  const combined = (Object.keys(seals) as Seal[]).flatMap((seal) =>
    (['a text', 'files'] as const).flatMap((content) =>
      (['no key', 'a wrong key', 'damage'] as const).flatMap((trouble) =>
        (['with', 'without'] as const).map((how) => [content, seal, trouble, how] as const),
      ),
    ),
  );

  test.each(combined)('%s for %s, %s, %s script', onChromium, async (content, seal, trouble, how) => {
    const script = how === 'with';
    const { seal: sealText, right } = seals[seal];
    const manifest = { message: 'For Ann', files: [{ name: 'a', type: 'text/plain', size: 1 }] };
    const whole = await sealText(content === 'files' ? encodeManifest(manifest) : SECRET);
    const isDamaged = trouble === 'damage';
    const payload = isDamaged ? whole.replace(/.{4}\n-----END/, 'AAAA\n-----END') : whole;
    const fields = { payload, retrieval_step: false, expire_after_views: 1 };
    const path =
      content === 'files'
        ? `/p/${await here.service.createWithFiles(filePart('1.age', 'x'), ...partsOf(fields))}`
        : await pushed(payload, fields);
    const key = { 'no key': '', 'a wrong key': newLinkKey(), damage: right }[trouble];
    const page = await visit(key === '' ? path : `${path}#${key}`, { javaScriptEnabled: script });
    const files = content === 'files' ? ['1.age'] : [];
    await expect
      .poll(() => waysOn(page), { message: 'the ways that the page offers' })
      .toEqual({ armor: payload, copies: script, saves: ['secret.age', ...files] });
    // Of public keys no page has the other half, and words are asked for: nothing is wrong.
    const isToKey = right === '';
    const isAlarm = script && !isToKey && (seal === 'link' || trouble !== 'no key');
    expect(await page.locator('.problem:visible').count()).toBe(Number(isAlarm));
    expect(await page.getByText('a browser cannot open it').count()).toBe(Number(isToKey));
    if (isToKey) await page.getByText(seals[seal].hint).waitFor();
    if (script && isDamaged && !isToKey) await page.getByText('is damaged').first().waitFor();
    const saved = await downloads(page, 1, () => page.getByRole('link', { name: 'Download secret.age' }).click());
    expect(saved).toEqual({ 'secret.age': Buffer.from(payload) });
  });

  test('the page of a push to a public key says so before its button', onChromium, async () => {
    const path = await pushed(await seals['age1…'].seal(SECRET), { retrieval_step: true });
    for (const javaScriptEnabled of [true, false]) {
      const page = await visit(path, { javaScriptEnabled });
      const text = await page.locator('main').innerText();
      expect(text).toMatch(/a browser cannot open it.*-i YOUR_KEY.*Show the secret/s);
      expect(text).not.toContain('Press the button');
    }
  });
});

test('/open decrypts what is pasted, sends nothing', allOf(needsBrowser, alsoFirefox), async () => {
  const page = await visit('/open');
  const typed = page.getByLabel('Key', { exact: true });
  const armor = page.getByLabel('Encrypted secret');
  const before = here.sent().length;
  const quoted = (await armored(SECRET, WORDS, WORDS_WORK)).replace(/^/gm, '> ');
  await armor.fill(`Hi Ann,\n\n${quoted}\n-- \nBob`);
  await typed.fill('wrong');
  await press(page, 'Decrypt');
  await alerts(page, 'Wrong key.');
  await typed.fill(WORDS);
  await page.keyboard.press('Enter');
  await shows(page);
  await armor.fill('no armor');
  await typed.fill(WORDS);
  await page.keyboard.press('Enter');
  await alerts(page, 'is damaged or incomplete');
  expect([await shown(page).count(), here.sent().length]).toEqual([0, before]);
});

describe('the form of the front page (needs Chromium)', needsBrowser, () => {
  const payloadOf = async (link: string) => {
    const { pathname, hash, origin } = new URL(link);
    const secret = hash && (await keyProof(prover, hash.slice(1), undefined));
    const proof = secret && shownAt(secret, origin);
    const response = await fetch(`${here.built.url}${pathname.replace(/\/r$/, '')}.json`, {
      ...(proof && { headers: { 'x-key-proof': proof } }),
    });
    return (await response.json()) as { payload: string; files: { filename: string }[] };
  };

  /** The front page, with a text in its form that must not be sent. */
  async function typing(text: string, options?: PageOptions): Promise<Page> {
    const page = await visit('/?locale=en', options);
    secrets.push(text);
    await page.getByLabel('Secret text').fill(`${text}\n`);
    return page;
  }

  async function made(page: Page): Promise<string> {
    const link = await createLink(page);
    secrets.push(link.split('#')[1] ?? 'no key');
    return link;
  }

  test('encrypts a text, and files and their names, and shows the link', onChromium, async () => {
    const page = await typing('correct horse battery', { back: true });
    const [name, buffer] = ['salaries.csv', Buffer.from('Ann earns more')];
    secrets.push(name, `${buffer}`);
    const mimeType = 'text/csv';
    await page.getByLabel('Files').setInputFiles([
      { name, mimeType, buffer },
      { name: 'empty', mimeType, buffer: Buffer.alloc(0) },
    ]);
    const link = await made(page);
    expect(link).toMatch(/#[\w-]{22}$/);
    expect(await qrIn(page, 'QR code of the link')).toBe(link);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    await page.goBack({ waitUntil: 'commit' });
    await expect.poll(() => page.getByLabel('Secret text').inputValue(), { message: 'the form is empty' }).toBe('');
    const { payload, files } = await payloadOf(link);
    expect(payload).toMatch(/^-----BEGIN AGE ENCRYPTED FILE-----\n/);
    expect(files.map(({ filename }) => filename)).toEqual(['1.age', '2.age']);
    await page.goto(link);
    await press(page, 'Show the secret');
    await shows(page, 'correct horse battery\n');
    const download = page.getByRole('link', { name: `Download ${name}` });
    expect(await downloads(page, 1, () => download.click())).toEqual({ [name]: buffer });
  });

  test('sends no file in clear that is chosen while it encrypts', alsoFirefox, async () => {
    const page = await typing('in time');
    secrets.push('too late');
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
    expect([payload, files]).toEqual([expect.stringMatching(/^-----BEGIN AGE/), []]);
  });

  test('that was refused has its text again, and encrypts it again', onChromium, async () => {
    const page = await typing('tell nobody');
    await page.getByLabel('Passphrase (optional)').fill('   ');
    await press(page, 'Create link');
    await page.getByText('This value is not valid.').waitFor();
    const text = page.getByLabel('Secret text');
    await expect.poll(() => text.inputValue(), { message: 'the form has the text again' }).toBe('tell nobody\n');
    await page.getByLabel('Passphrase (optional)').fill('');
    const link = await made(page);
    // Without its key there is no link.
    await page.reload();
    await page.getByRole('heading', { name: 'That did not work' }).waitFor();
    expect(await page.locator('main').textContent()).not.toContain('/p/');
    await page.goto(link);
    await press(page, 'Show the secret');
    await shows(page, 'tell nobody\n');
  });

  test('that was refused says so if its text cannot be decrypted', onChromium, async () => {
    const other = newLinkKey();
    const before = `const { setItem } = Storage.prototype;
      Storage.prototype.setItem = function (name) { setItem.call(this, name, '${other}'); };`;
    const page = await typing('told to nobody', { before });
    await page.getByLabel('Passphrase (optional)').fill('   ');
    await press(page, 'Create link');
    await page.locator('form .status', { hasText: 'This value is not valid.' }).waitFor();
    expect(await page.getByLabel('Secret text').inputValue()).toMatch(/^-----BEGIN AGE/);
  });
});

describe('a link that a mail gateway changed (needs Chromium)', needsBrowser, () => {
  const changes = {
    '%2523 and a parameter': (path: string, key: string) => `${path}%2523${key}&utm_source=mail`,
    'a slash and more before the key': (path: string, key: string) => `${path}/%E2%80%8B)#${key}`,
    'a parameter before the key': (path: string, key: string) => `${path}&a=b#${key}`,
    'a query': (path: string, key: string) => `${path}?utm_source=mail#${key}`,
  };
  /** Such a gateway has the key, and the browser sends it; the log does not. */
  function givenAway(): string {
    const key = newLinkKey();
    logged.push(key);
    return key;
  }

  test.each(partOf(Object.entries(changes), 0))('is repaired: %s', async (_, change) => {
    const key = givenAway();
    const page = await visit(change(await pushText(SECRET, key), key));
    await page.getByRole('button', { name: 'Show the text' }).waitFor();
    await shows(page);
    expect(page.url()).not.toContain(key);
  });

  const paths = ['//evil.example/r/abc', '/\\evil.example/p/abc/r', '///evil.example/p/abc'];
  test.each(partOf(paths, 0))('never leads to another site: %s', alsoFirefox, async (path) => {
    const key = givenAway();
    // Browsers write a backslash as a slash.
    const repaired = `${here.origin}${path.replace('\\', '/')}#${key}`;
    // A request to another site is among the troubles of the page, which fail the test.
    const page = await visit(`${path},#${key}`);
    await page.waitForURL(repaired);
    await page.goto(`${here.origin}${path}%23${key}`);
    await page.waitForURL(repaired);
  });
});

test('no key and no plaintext was sent or logged', allOf(onChromium, needsBrowser), async () => {
  // What a mail gateway makes the browser send, to see that it is recorded.
  const key = newLinkKey();
  await visit(`/p/abcdefghij%23${key}.`);
  expect(here.sent()).toContain(key);
  const { stdout, stderr } = await here.built.stop();
  const log = stdout + stderr;
  expect(log).toContain('GET /p/:token');
  expect([key, ...secrets, ...logged].filter((secret) => log.includes(secret))).toEqual([]);
});
