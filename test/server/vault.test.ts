import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { instanceKey, Keyring, UnknownKey } from '../../src/server/keyring';
import { seal, unseal } from '../../src/server/seal';
import { createVault, reseal } from '../../src/server/vault';

const key = randomBytes(32);
const vaultOf = (bytes: Buffer) => createVault(new Keyring([instanceKey(bytes)]));
const vault = vaultOf(key);
const secret = { urlToken: 'token', payload: 'hunter2', note: 'third floor', passphrase: '' };

describe('seal', () => {
  test('opens with the same key and context only', () => {
    const sealed = seal(key, 'text', 'a');
    expect(unseal(key, sealed, 'a').toString()).toBe('text');
    expect(() => unseal(key, sealed, 'b')).toThrow();
    expect(() => unseal(randomBytes(32), sealed, 'a')).toThrow();
  });

  test('no byte of it can be changed or left out', () => {
    const sealed = seal(key, 'text', 'a');
    for (let i = 0; i < sealed.length; i++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
      expect(() => unseal(key, changed, 'a')).toThrow();
      expect(() => unseal(key, sealed.subarray(0, i), 'a')).toThrow();
    }
  });

  test('never gives the same twice', () => {
    expect(seal(key, 'text', 'a').equals(seal(key, 'text', 'a'))).toBe(false);
  });
});

describe('a push without a passphrase', () => {
  test('opens with the instance key, under its own token', async () => {
    const row = await vault.seal(secret);
    expect(vaultOf(key).openPayload('token', row)).toBe('hunter2');
    expect(vault.openNote('token', row)).toBe('third floor');
    expect(() => vault.openPayload('other', row)).toThrow();
    expect(() => vault.openNote('other', row)).toThrow();
    expect(() => vaultOf(randomBytes(32)).openPayload('token', row)).toThrow();
    expect([row.salt, row.cost, row.verifier]).toEqual([null, null, null]);
  });

  test('does not open with the data key of another', async () => {
    const [one, two] = [
      await vault.seal(secret),
      await vault.seal({ ...secret, payload: 'other' }),
    ];
    expect(() => vault.openPayload('token', { ...one, data_key: two.data_key })).toThrow();
  });

  test('an empty note is no note', async () => {
    const row = await vault.seal({ ...secret, note: '' });
    expect([row.note_key, row.note, vault.openNote('token', row)]).toEqual([null, null, '']);
  });
});

describe('a push with a passphrase', () => {
  test('opens with instance key and passphrase, not with either alone', async () => {
    const row = await vault.seal({ ...secret, passphrase: 'open sesame' });
    expect(row.cost).toBe('16384:8:5');
    expect(await vault.checkPassphrase('token', row, 'open sesam')).toBeUndefined();
    const opened = await vault.checkPassphrase('token', row, 'open sesame');
    expect(vault.openPayload('token', row, opened)).toBe('hunter2');
    expect(() => vault.openPayload('token', row)).toThrow();
    expect(() => vault.openPayload('token', row, randomBytes(32))).toThrow();
    // Pretending that it has none does not help the instance either.
    expect(() => vault.openPayload('token', { ...row, verifier: null })).toThrow();
    await expect(
      vaultOf(randomBytes(32)).checkPassphrase('token', row, 'open sesame'),
    ).rejects.toThrow();
    expect(vault.openNote('token', row)).toBe('third floor');
  });

  test('equal passphrases leave nothing equal behind', async () => {
    const push = { ...secret, passphrase: 'p' };
    const [one, two] = await Promise.all([vault.seal(push), vault.seal(push)]);
    expect(one.salt).not.toEqual(two.salt);
    expect(one.verifier).not.toEqual(two.verifier);
  });
});

describe('a link to a file', () => {
  const link = { urlToken: 'token', position: 3, until: 12_345, key: randomBytes(32) };

  test('opens with the instance key only, and shows nothing of what it carries', () => {
    const text = vault.sealLink(link);
    expect(text).toMatch(/^[\w-]+$/);
    expect(vault.openLink(text)).toEqual(link);
    expect(vaultOf(randomBytes(32)).openLink(text)).toBeUndefined();
    const bytes = Buffer.from(text, 'base64url');
    expect([bytes.includes(link.key), bytes.includes('token')]).toEqual([false, false]);
  });

  test('is never the same twice', () => {
    expect(vault.sealLink(link)).not.toBe(vault.sealLink(link));
  });

  test('is nothing else that the vault has sealed', async () => {
    const row = await vault.seal(secret);
    expect(vault.openLink(Buffer.from(row.data_key).toString('base64url'))).toBeUndefined();
  });
});

describe('another instance key', () => {
  const next = randomBytes(32);
  const row = { ...secret, urlToken: 'token', passphrase: 'open sesame' };

  test('opens what was sealed again, and the old one does not any more', async () => {
    const old = await vault.seal(row);
    const place = { ...old, url_token: 'token', push_id: 1 };
    const keys = reseal(place, instanceKey(key), instanceKey(next));
    const again = { ...old, ...keys, key_id: instanceKey(next).id };
    const opened = await vaultOf(next).checkPassphrase('token', again, 'open sesame');
    expect(vaultOf(next).openPayload('token', again, opened)).toBe('hunter2');
    expect(vaultOf(next).openNote('token', again)).toBe('third floor');
    const claimed = { ...again, key_id: instanceKey(key).id };
    expect(() => vault.openPayload('token', claimed, opened)).toThrow();
    expect(() => vault.openNote('token', claimed)).toThrow();
    await expect(vault.checkPassphrase('token', claimed, 'open sesame')).rejects.toThrow();
  });

  test('can be told from this one by an id that does not hold it', () => {
    const { id } = instanceKey(key);
    expect(instanceKey(key).id).toBe(id);
    expect(instanceKey(next).id).not.toBe(id);
    expect(id).toMatch(/^[\da-f]{32}$/);
    expect(() => vault.keys.get(instanceKey(next).id)).toThrow(UnknownKey);
  });
});
