import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newKeySalt } from '../../../src/age/key-proof';
import { node } from '../../../src/age/node-primitives';
import { isWebAddress } from '../../../src/contract/address';
import { validatePush } from '../../../src/server/pushes/new-push';
import { validateRequest } from '../../../src/server/requests/new-request';
import { ServiceRefusal } from '../../../src/server/service-errors';
import { type Bounds, checkSettings } from '../../../src/server/service-settings';
import { proven } from '../../helpers/age';

const bounds: Bounds = { days: { min: 1, max: 90, default: 7 }, views: { min: 1, max: 100, default: 5 } };

const settings = { host: '', port: 0, data: '', ephemeral: true, anonymous: true, trustProxy: false };

const problems = (input: object, within = bounds) => problemsOf(() => validatePush(input, within));

function problemsOf(validate: () => unknown): string[] {
  try {
    validate();
    return [];
  } catch (error) {
    if (!(error instanceof ServiceRefusal)) throw error;
    const { fields = {} } = error.details;
    for (const words of Object.values(fields)) expect(words).toEqual([expect.stringMatching(/^[A-Z].+\.$/)]);
    return Object.keys(fields);
  }
}

test('fills in what was left out or null', () => {
  const filled = {
    payload: 'x',
    kind: 'text',
    passphrase: '',
    name: '',
    note: '',
    expire_after_days: 7,
    lifetime: 7 * 86_400,
    expire_after_views: 5,
    deletable_by_viewer: true,
    retrieval_step: true,
    key_proof: null,
    key_salt: null,
  };
  expect(validatePush({ payload: 'x' }, bounds)).toEqual(filled);
  const nulls = Object.fromEntries(Object.keys(filled).map((key) => [key, null]));
  expect(validatePush({ ...nulls, files: [], payload: 'x' }, bounds)).toEqual(filled);
});

test.each<[string, object, ...string[]]>([
  ['a text of 1 MiB and a byte', { payload: 'x'.repeat(1_048_577) }, 'payload'],
  ['a text of 1 MiB', { payload: 'x'.repeat(1_048_576) }],
  ['a QR code of 1024 characters', { payload: '😀'.repeat(1024), kind: 'qr' }],
  ['one of 1025', { payload: 'x'.repeat(1025), kind: 'qr' }, 'payload'],
  ['half of a character', { payload: 'a\ud800b' }, 'payload'],
  ['the longest texts', { name: '😀'.repeat(255), note: 'n'.repeat(10_000), passphrase: '😀'.repeat(1024) }],
  ['a longer name', { name: 'n'.repeat(256) }, 'name'],
  ['a longer note', { note: 'n'.repeat(10_001) }, 'note'],
  ['a longer passphrase', { passphrase: 'p'.repeat(1025) }, 'passphrase'],
  ['NUL in a name', { name: 'a\0b' }, 'name'],
  ['a number for true', { retrieval_step: 1 }, 'retrieval_step'],
  ['white space', { payload: ' \n ' }, 'payload'],
  ['a URL of another scheme', { payload: 'ftp://example.com', kind: 'url' }, 'payload'],
  ['views', { expire_after_views: 1.5 }, 'expire_after_views'],
  ['what is no text', { passphrase: 5, name: {} }, 'passphrase', 'name'],
  ['no file where that is the kind', { kind: 'file' }, 'files'],
])('%s', (_what, input, ...refused) => {
  expect(problems({ payload: 'x', ...input }).sort()).toEqual(refused.sort());
});

const { proof: key_proof, payload: encrypted } = await proven('x');
const key_salt = newKeySalt(node);
test.each<[string, object, ...string[]]>([
  ['a proof of the key', { key_proof }],
  ['a proof and a salt', { key_proof, key_salt }],
  ['a short proof', { key_proof: key_proof.slice(0, 21) }, 'key_proof'],
  ['a long proof', { key_proof: `${key_proof}A` }, 'key_proof'],
  ['a number as proof', { key_proof: 7 }, 'key_proof'],
  ['more bits than bytes', { key_proof: `${key_proof.slice(0, 21)}B` }, 'key_proof'],
  ['a short salt', { key_proof, key_salt: key_salt.slice(0, 21) }, 'key_salt'],
  ['a salt alone', { key_salt }, 'key_salt'],
  ['a proof of a text in clear', { key_proof, payload: 'clear' }, 'key_proof'],
])('an encrypted push with %s', (_, fields, ...refused) => {
  expect(problems({ payload: encrypted, ...fields })).toEqual(refused);
});

test.each(['url', 'qr'])('an encrypted %s is not checked, as nobody here can read it', async (kind) => {
  const { payload } = await proven('x'.repeat(2000));
  expect(problems({ payload, kind })).toEqual([]);
  const damaged = payload.replace('\nYWdl', '\nAAAA');
  expect(problems({ payload: damaged, kind })).toEqual(['payload']);
});

test('with files the kind is file, and the payload a message that may be missing', () => {
  const read = (input: object) => validatePush(input, bounds, 2);
  expect(read({})).toMatchObject({ kind: 'file', payload: '' });
  expect(read({ kind: 'file', payload: ' ' })).toMatchObject({ kind: 'file', payload: ' ' });
});

test('a number of days passes exactly when it is an integer within the bounds', () => {
  const texts = fc.oneof(fc.string(), fc.integer().map(String));
  const value = fc.oneof(fc.integer(), fc.double(), texts, fc.boolean());
  fc.assert(
    fc.property(value, (days) => {
      const plain = typeof days === 'number' || (typeof days === 'string' && /^\d+$/.test(days));
      const number = plain ? Number(days) : Number.NaN;
      const good = Number.isInteger(number) && number >= 1 && number <= 90;
      expect(problems({ payload: 'x', expire_after_days: days }).length === 0).toBe(good);
    }),
  );
});

test.each([
  ['expire_after_views', 1, 100],
  ['expire_after_days', 1, 90],
  ['expire_after_duration', 0, 17],
  ['expires_in', 60, 7_776_000],
  ['close_after', 1, 7_776_000],
  ['close_after_duration', 0, 17],
])('%s is from %i to %i', (name, min, max) => {
  const validate = name.startsWith('close') ? validateRequest : validatePush;
  const input = { payload: 'x', request: 'x' };
  const refused = [min - 1, min, max, max + 1].map((count) =>
    problemsOf(() => validate({ ...input, [name]: count }, bounds)),
  );
  expect(refused).toEqual([[name], [], [], [name]]);
});

test.each([
  ['expires_in is in seconds, and days are rounded up', { expires_in: 60 }, 60, 1],
  ['more', { expires_in: '86401' }, 86_401, 2],
  ['the most', { expires_in: 7_776_000 }, 7_776_000, 90],
  ['expire_after_duration is an index', { expire_after_duration: 0 }, 900, 1],
  ['in words', { expire_after_duration: '4' }, 21_600, 1],
  ['the last', { expire_after_duration: 17 }, 7_776_000, 90],
])('expiry in other units than days %s', (_, fields, lifetime, expire_after_days) => {
  const filled = validatePush({ payload: 'x', ...fields }, bounds);
  expect(filled).toMatchObject({ lifetime, expire_after_days });
});

test.each<[object, ...string[]]>([
  [{ expires_in: 259_200 }],
  [{ expire_after_duration: 8 }],
  [{ expires_in: 259_201 }, 'expires_in'],
  [{ expires_in: 90.5 }, 'expires_in'],
  [{ expire_after_duration: 9 }, 'expire_after_duration'],
  [{ expire_after_days: 1, expires_in: 60 }, 'expires_in'],
  [{ expire_after_days: 1, expire_after_duration: 1 }, 'expire_after_duration'],
])('expiry in other units than days %j where 3 days are the most', (fields, ...refused) => {
  const within = { ...bounds, days: { min: 1, max: 3, default: 3 } };
  expect(problems({ payload: 'x', ...fields }, within)).toEqual(refused);
});

test.each<[object, ...string[]]>([
  [{}],
  [{ expire_after_days: 10 }],
  [{ expires_in: 864_000 }],
  [{ expire_after_duration: 12 }, 'expire_after_duration'],
  [{ expire_after_days: 9 }, 'expire_after_days'],
  [{ expires_in: 863_999 }, 'expires_in'],
  [{ expires_in: 60 }, 'expires_in'],
  [{ expire_after_duration: 0 }, 'expire_after_duration'],
])('expiry %j where all pushes live 10 days', (fields, ...refused) => {
  const { bounds } = checkSettings({ ...settings, minDays: 10, maxDays: 10 });
  expect(problems({ payload: 'x', ...fields }, bounds)).toEqual(refused);
  if (refused.length === 0) expect(validatePush({ payload: 'x', ...fields }, bounds).lifetime).toBe(864_000);
});

test('where a day is the least, hours are none', () => {
  const { bounds } = checkSettings({ ...settings, minDays: 1 });
  expect(() => validatePush({ payload: 'x', expires_in: 3600 }, bounds)).toThrow(
    expect.objectContaining({ details: { fields: { expires_in: ['Expires in must be at least 1 day.'] } } }),
  );
});

test.each([
  ['https://example.com', true],
  ['HTTP://example.com:8080/a?b#c', true],
  ['javascript:alert(1)', false],
  ['https://', false],
  ['https://example.com/\nx', false],
  ['https://example.com/\u202egpj.exe', false],
  ['https://exam\u200bple.com/', false],
  [' https://example.com', false],
  ['data:text/html,https://example.com', false],
])('%j is a web address: %s', (payload, expected) => {
  expect(isWebAddress(payload)).toBe(expected);
});
