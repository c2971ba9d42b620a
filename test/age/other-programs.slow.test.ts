import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { armor, Decrypter, Encrypter, identityToRecipient } from 'age-encryption';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  decryptStream,
  decryptText,
  type Identity,
  passphraseIdentity,
  passphraseRecipient,
  type Recipient,
} from '../../src/age/age';
import { newLinkKey, newWords } from '../../src/age/key';
import { newKeyPair, parseIdentities, parseRecipients } from '../../src/age/key-files';
import { wordList } from '../../src/age/words';
import { encryptStream, encryptText, expectSame, joined, lengths, pieces } from '../helpers/age';
import { needsPrograms } from '../helpers/needs';
import { person } from '../helpers/program';
import { onTerminal } from '../helpers/pty';

const WORDS = newWords(await wordList());

async function encrypted(plain: Uint8Array, recipients: readonly Recipient[]): Promise<Buffer> {
  const { bytes, sizeOf } = await encryptStream(pieces(plain), recipients);
  const file = await joined(bytes);
  expect(file.length).toBe(sizeOf(plain.length));
  return file;
}

const decrypted = async (file: Uint8Array, identities: readonly Identity[]) =>
  joined(await decryptStream(pieces(file), identities));

test.each(lengths)('age-encryption opens ours, and we its: %i bytes', async (length) => {
  const plain = randomBytes(length);
  const passphrase = newLinkKey();
  const { identity, recipient } = newKeyPair();
  expect(await identityToRecipient(identity)).toBe(recipient);
  const [toKey, toPassphrase] = [new Encrypter(), new Encrypter()];
  toKey.addRecipient(recipient);
  toPassphrase.setPassphrase(passphrase);
  toPassphrase.setScryptWorkFactor(10);
  const opener = new Decrypter();
  opener.addIdentity(identity);
  opener.addPassphrase(passphrase);
  for (const [theirs, recipients, identities] of [
    [toKey, parseRecipients(recipient), parseIdentities(identity)],
    [toPassphrase, [passphraseRecipient(passphrase, 10)], [passphraseIdentity(passphrase)]],
  ] as const) {
    expectSame(await decrypted(await theirs.encrypt(plain), identities), plain);
    expectSame(Buffer.from(await opener.decrypt(await encrypted(plain, recipients))), plain);
    const text = await encryptText(plain, recipients);
    expectSame(Buffer.from(await opener.decrypt(armor.decode(text))), plain);
    expect(armor.encode(armor.decode(text))).toBe(text);
  }
});

describe('age (needs age, ssh-keygen)', needsPrograms('age', 'age-keygen', 'ssh-keygen'), () => {
  const { folder, env } = person();
  const path = (name: string) => join(folder, name);
  const text = (name: string) => readFileSync(path(name), 'utf8');

  function run(program: string, ...words: string[]): SpawnSyncReturns<Buffer> {
    const ended = spawnSync(program, words, { cwd: folder, env });
    if (ended.status !== 0) throw new Error(`${program} ${words}: ${ended.stderr}`);
    return ended;
  }

  const keygen = (name: string, passphrase: string, ...words: string[]) =>
    run('ssh-keygen', '-q', '-N', passphrase, '-C', 'a comment', '-f', path(name), ...words);
  beforeAll(() => {
    run('age-keygen', '-o', path('x25519'));
    writeFileSync(path('x25519.pub'), run('age-keygen', '-y', path('x25519')).stdout);
    keygen('ed25519', '', '-t', 'ed25519');
  });

  const names = ['x25519', 'ed25519'];

  test.each(names)('to a key: %s', async (name) => {
    for (const length of [0, 100_000]) {
      const plain = randomBytes(length);
      writeFileSync(path('ours.age'), await encrypted(plain, parseRecipients(text(`${name}.pub`))));
      expectSame(run('age', '-d', '-i', path(name), path('ours.age')).stdout, plain);
      writeFileSync(path('plain'), plain);
      const theirs = run('age', '-R', path(`${name}.pub`), path('plain')).stdout;
      expectSame(await decrypted(theirs, parseIdentities(text(name))), plain);
    }
  });

  /** Runs age on a terminal, where alone it takes a passphrase. */
  async function onTheTerminal(line: string, passphrase: string, prompts: readonly string[]) {
    const terminal = onTerminal(`cd ${folder} && ${line}`, env);
    for (const prompt of prompts) {
      await terminal.shows(prompt);
      terminal.type(`${passphrase}\r`);
    }
    expect(await terminal.ended, terminal.screen()).toBe(0);
  }

  test.each([
    ['a link key', newLinkKey(), 10],
    ['words', WORDS, 16],
  ])('it opens what has %s as its passphrase', async (_, key, work) => {
    writeFileSync(path('ours.txt'), await encryptText('by us', [passphraseRecipient(key, work)]));
    await onTheTerminal('age -d -o opened ours.txt', key, ['Enter passphrase']);
    expect(text('opened')).toBe('by us');
  });

  test('a private key with a passphrase', async () => {
    keygen('openssh', 'hunter2hunter2', '-t', 'ed25519');
    expect(() => parseIdentities(text('openssh'))).toThrow('a private key with a passphrase cannot be read');
    run('ssh-keygen', '-q', '-p', '-P', 'hunter2hunter2', '-N', '', '-f', path('openssh'));
    const armored = await encryptText('secret', parseRecipients(text('openssh.pub')));
    expect(`${await decryptText(armored, parseIdentities(text('openssh')))}`).toBe('secret');
  });

  test('keys of RSA are refused, as what age makes with them cannot be opened', () => {
    keygen('rsa', 'hunter2hunter2', '-t', 'rsa', '-b', '2048');
    expect(() => parseRecipients(text('rsa.pub'))).toThrow('ssh-rsa are not supported');
    expect(() => parseIdentities(text('rsa'))).toThrow('ssh-rsa are not supported');
  });
});
