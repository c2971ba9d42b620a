import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { passphraseRecipient } from '../../src/age/recipients';
import type { Push } from '../../src/contract/api';
import { decryptPush } from '../../src/open/decrypt';
import { newSafe } from '../../src/open/safekeeping';
import type { Safe, Taking } from '../../src/open/taking';
import { encryptText } from '../helpers/age';

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'pwpush-test-'));
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

const rescued = () => readdirSync(state).map((name) => readFileSync(join(state, name), 'utf8'));

/** Opens armor in a place where `held` is called once it is in the safe. */
function open(armor: string, signal: AbortSignal, held: () => void) {
  const uid = process.geteuid?.();
  const env = { PWPUSH_STATE_DIR: state };
  const now = () => new Date('2026-08-20T11:06:45.000Z');
  const context = { env, platform: 'linux', home: state, now, uid };
  const safe = newSafe(context);
  const hold: Safe['hold'] = async (taken) => {
    await safe.hold(taken);
    held();
  };
  const push = { url_token: 'abc', payload: armor, views_remaining: 0 } as Push;
  const taken = { link: '', push, sealed: push, answer: undefined, partial: [] };
  const taking = { context, signal, safe: { ...safe, hold }, taken } as unknown as Taking;
  const text = 'Pass phrase 1';
  const keys = { text, identities: [], decrypt: true, givenBy: 'PWPUSH_KEY', linkKey: undefined };
  return decryptPush(taking, keys);
}

test('armor that takes much memory to open is saved before, and removed after', async () => {
  const armor = await encryptText('hunter2', [passphraseRecipient('Pass phrase 1', 17)]);
  const interrupt = new AbortController();
  const ended = open(armor, interrupt.signal, () => interrupt.abort('SIGINT'));
  await expect(ended).rejects.toMatchObject({ code: 'interrupted' });
  expect(rescued()).toEqual([armor]);
  rmSync(join(state, readdirSync(state)[0] ?? ''));
  let saved: string[] = [];
  const opened = await open(armor, new AbortController().signal, () => {
    saved = rescued();
  });
  expect([opened.taken.push.payload, saved, rescued()]).toEqual(['hunter2', [armor], []]);
});
