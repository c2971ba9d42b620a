import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { instanceKey, makeInstanceKey, readKeys } from '../../../src/server/keys/instance-key';
import { Keyring, Links } from '../../../src/server/keys/keyring';
import { recordPassphrase, seal, unseal } from '../../../src/server/keys/primitives';
import { reseal, Vault } from '../../../src/server/keys/vault';
import { ServiceRefusal } from '../../../src/server/service-errors';
import { folders } from '../../helpers/memory';
import { QUICK } from '../../helpers/service';

const key = randomBytes(32);
const links = new Links([{ number: 1, bytes: Buffer.alloc(32, 8) }]);
const vaultOf = (bytes: Buffer) => new Vault(new Keyring(instanceKey(bytes), links));
const vault = vaultOf(key);
const push = { url_token: 'token', owner_id: 1, expires_at: 12_345, expire_after_views: 5 };
const secret = { push, payload: 'hunter2', note: 'third floor', passphrase: '' };

const newFolder = folders();

test('a key file that another process has just made is not replaced', async () => {
  const path = join(await newFolder(), 'key');
  const { id } = makeInstanceKey(path);
  expect(makeInstanceKey(path).id).toBe(id);
  expect(readKeys(path).map((one) => one.id)).toEqual([id]);
});

test.each([
  ['all', 32, undefined],
  ['one client', 4, '192.0.2.1'],
])('two passphrases are checked at a time, and of %s at most %i wait', async (_, most, client) => {
  const all = Array.from({ length: 2 + most + 1 }, () => recordPassphrase('x', QUICK, { client }));
  const ended = await Promise.allSettled(all);
  expect(ended.map(({ status }) => status).indexOf('rejected')).toBe(2 + most);
});

describe('seal', () => {
  test('opens with the same key and context only', () => {
    const sealed = seal(key, 'text', 'a');
    expect(unseal(key, sealed, 'a').toString()).toBe('text');
    expect(() => unseal(key, sealed, 'b')).toThrow();
    expect(() => unseal(randomBytes(32), sealed, 'a')).toThrow();
  });

  test('never gives the same twice, nor does a link to a file', () => {
    expect(seal(key, 'text', 'a').equals(seal(key, 'text', 'a'))).toBe(false);
    const link = { urlToken: 'token', position: 3, until: 12_345, key };
    expect(vault.sealLink(link)).not.toBe(vault.sealLink(link));
  });
});

describe('a push without a passphrase', () => {
  test('opens with the instance key, under its own token', async () => {
    const row = await vault.seal(secret);
    const other = { ...push, url_token: 'other' };
    const opened = vaultOf(key).openKey(push, row);
    expect(vault.openPayload('token', row.payload, opened)).toBe('hunter2');
    expect(vault.openNote(push, row)).toBe('third floor');
    expect(() => vault.openKey(other, row)).toThrow();
    expect(() => vault.openPayload('other', row.payload, opened)).toThrow();
    expect(() => vault.openNote(other, row)).toThrow();
    expect(() => vaultOf(randomBytes(32)).openKey(push, row)).toThrow();
    expect([row.salt, row.cost, row.verifier]).toEqual([null, null, null]);
  });

  test('does not open with the data key of another', async () => {
    const [one, two] = [await vault.seal(secret), await vault.seal({ ...secret, payload: 'other' })];
    const key = vault.openKey(push, { ...one, data_key: two.data_key });
    expect(() => vault.openPayload('token', one.payload, key)).toThrow();
  });

  test('an empty note is no note', async () => {
    const row = await vault.seal({ ...secret, note: '' });
    expect([row.note_key, row.note, vault.openNote(push, row)]).toEqual([null, null, '']);
  });
});

test('a push with a passphrase opens with instance key and passphrase, not with either alone', async () => {
  const row = await vault.seal({ ...secret, passphrase: 'open sesame' });
  expect(row.cost).toBe('16384:8:5');
  expect(await vault.checkPassphrase(push, row, 'open sesam')).toBeUndefined();
  const opened = await vault.checkPassphrase(push, row, 'open sesame');
  expect(vault.openPayload('token', row.payload, vault.openKey(push, row, opened))).toBe('hunter2');
  expect(() => vault.openKey(push, row)).toThrow();
  expect(() => vault.openKey(push, row, randomBytes(32))).toThrow();
  // Pretending that it has none does not help the instance either.
  const inner = vault.openKey(push, { ...row, verifier: null });
  expect(() => vault.openPayload('token', row.payload, inner)).toThrow();
  await expect(vaultOf(randomBytes(32)).checkPassphrase(push, row, 'open sesame')).rejects.toThrow();
  expect(vault.openNote(push, row)).toBe('third floor');
});

test('equal passphrases leave nothing equal behind', async () => {
  const same = { ...secret, passphrase: 'p' };
  const [one, two] = await Promise.all([vault.seal(same), vault.seal(same)]);
  expect(one.salt).not.toEqual(two.salt);
  expect(one.verifier).not.toEqual(two.verifier);
});

const [one, two] = [8, 9].map((byte, i) => ({ number: i + 1, bytes: Buffer.alloc(32, byte) }));
const both = new Links([one, two].flatMap((key) => key ?? []));

test('a token of a link is found by a hash that stays, and opens from its own row only', () => {
  const row = both.store('token');
  expect(row).toMatchObject({ lookup: links.lookup('token'), link_key: 2 });
  expect(both.open(row)).toBe('token');
  expect(() => both.open({ ...row, lookup: links.lookup('other') })).toThrow();
  expect(both.open(links.store('token'))).toBe('token');
});

test('a token of a link does not open without the key that it was sealed with', () => {
  expect(() => links.open(both.store('token'))).toThrow(ServiceRefusal);
});

test('a link to a file opens with the instance key only, and shows nothing of what it carries', async () => {
  const link = { urlToken: 'token', position: 3, until: 12_345, key: randomBytes(32) };
  const text = vault.sealLink(link);
  expect(text).toMatch(/^[\w-]+$/);
  expect(vault.openLink(text)).toEqual(link);
  expect(vaultOf(randomBytes(32)).openLink(text)).toBeUndefined();
  for (let i = 0; i < text.length; i += 1) {
    const changed = text.slice(0, i) + (text[i] === 'A' ? 'B' : 'A') + text.slice(i + 1);
    expect(vault.openLink(changed)).toBeUndefined();
  }
  for (const other of [text.slice(1), `${text}A`, `${text}=`, 'A', '\0', 'x'.repeat(5000)])
    expect(vault.openLink(other)).toBeUndefined();
  const bytes = Buffer.from(text, 'base64url');
  expect([bytes.includes(link.key), bytes.includes('token')]).toEqual([false, false]);
  // Nothing else that the vault has sealed is one.
  const row = await vault.seal(secret);
  expect(vault.openLink(Buffer.from(row.data_key).toString('base64url'))).toBeUndefined();
});

const next = randomBytes(32);
const row = { ...secret, passphrase: 'open sesame' };

test('another instance key opens what was sealed again, and the old one does not any more', async () => {
  const old = await vault.seal(row);
  const keys = reseal(old, push, instanceKey(key), instanceKey(next));
  const again = { ...old, ...keys, key_id: instanceKey(next).id };
  const opened = await vaultOf(next).checkPassphrase(push, again, 'open sesame');
  const data = vaultOf(next).openKey(push, again, opened);
  expect(vaultOf(next).openPayload('token', again.payload, data)).toBe('hunter2');
  expect(vaultOf(next).openNote(push, again)).toBe('third floor');
  const claimed = { ...again, key_id: instanceKey(key).id };
  expect(() => vault.openKey(push, claimed, opened)).toThrow();
  expect(() => vault.openNote(push, claimed)).toThrow();
  await expect(vault.checkPassphrase(push, claimed, 'open sesame')).rejects.toThrow();
});

test('another instance key can be told from this one by an id that does not hold it', () => {
  const { id } = instanceKey(key);
  expect(instanceKey(key).id).toBe(id);
  expect(instanceKey(next).id).not.toBe(id);
  expect(id).toMatch(/^[\da-f]{32}$/);
  expect(() => vault.keys.get(instanceKey(next).id)).toThrow(ServiceRefusal);
});
