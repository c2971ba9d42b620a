import fc from 'fast-check';
import { expect, test } from 'vitest';
import { areObjects, linesOf, readEntry } from '../../src/send/batch-lines';

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

const objects = ['{"payload":"x"}', ' { "payload":"x"', '{"user":"x"}', '{}'];
const texts = ['hunter2', '["payload"]', '"payload"', '{payload: 1}', '{}x', 'null'];

test('the first line says how all are read: as JSON when it looks like an object', () => {
  for (const text of objects) expect(areObjects(Buffer.from(text))).toBe(true);
  for (const text of texts) expect(areObjects(Buffer.from(text))).toBe(false);
  expect(areObjects(undefined)).toBe(false);
});

test('a line of text is a secret, unless it looks like an object', () => {
  for (const text of texts) expect(readEntry(Buffer.from(text), false)).toMatchObject({ payload: text });
  const usage = expect.objectContaining({ code: 'usage' });
  for (const text of objects) expect(() => readEntry(Buffer.from(text), false)).toThrow(usage);
});

test('an object has the names of the options', () => {
  const all = {
    payload: 'x',
    kind: 'url',
    days: 1,
    views: 2,
    deletable: true,
    click: false,
    passphrase: 'sesame',
    name: 'n',
    note: 'm',
  };
  expect(readEntry(json(all), true)).toEqual({
    payload: 'x',
    passphrase: 'sesame',
    expiry: { after: 86_400 },
    limits: { kind: 'url', expire_after_views: 2, deletable_by_viewer: true, retrieval_step: false },
    details: { name: 'n', note: 'm' },
  });
});

test('an object may have the names of the API, each field once', () => {
  const same = {
    payload: 'text',
    days: 'expire_after_days',
    views: 'expire_after_views',
    deletable: 'deletable_by_viewer',
    click: 'retrieval_step',
  };
  const all = { payload: 'x', days: 1, views: 2, deletable: true, click: false };
  const named = Object.entries(all).map(([name, value]) => [same[name as keyof typeof all], value]);
  expect(readEntry(json(Object.fromEntries(named)), true)).toEqual(readEntry(json(all), true));
  for (const [name, value] of named) {
    const message = expect.stringContaining(`"${name}"`);
    const refused = expect.objectContaining({ code: 'usage', message });
    expect(() => readEntry(json({ ...all, [name as string]: value }), true)).toThrow(refused);
  }
});

const wrong = [
  ...[{ days: 0 }, { views: '3' }, { views: 1.5 }, { deletable: 'yes' }, { kind: 'file' }],
  ...[
    { passphrase: '' },
    { day: 1 },
    { retrieval_step: 'yes' },
    { expire_after_days: 1, expire: '6h' },
    { 'S3cret!': 1 },
  ],
].map((more) => ({ payload: 'x', ...more }));
test.each([...[{}, { payload: '' }, { payload: 7 }, [], 'secret'], ...wrong])(
  '%j is refused, and nothing of it quoted',
  (value) => {
    const message = expect.not.stringMatching(/S3cret|secret/);
    const refused = expect.objectContaining({ name: 'CliError', code: 'usage', message });
    expect(() => readEntry(json(value), true)).toThrow(refused);
  },
);

test('nothing is quoted of a line that cannot be read', () => {
  const message = expect.not.stringContaining('hunter2');
  const usage = expect.objectContaining({ code: 'usage', message });
  expect(() => readEntry(Buffer.from('{"payload": hunter2'), true)).toThrow(usage);
  expect(() => readEntry(Buffer.from([0xff]), false)).toThrow(usage);
  expect(() => readEntry(Buffer.from(''), false)).toThrow(usage);
});

async function lines(chunks: readonly Uint8Array[], longest = 1000) {
  const all: (string | undefined)[] = [];
  const memory = Buffer.alloc(2000);
  // One buffer for every chunk, as streams of files have it.
  async function* stream() {
    for (const chunk of chunks) {
      memory.set(chunk);
      yield memory.subarray(0, chunk.length);
    }
  }
  for await (const { number, bytes } of linesOf(stream(), longest, 'it')) {
    all.push(bytes?.toString('latin1'));
    expect(number).toBe(all.length);
  }
  return all;
}

test('lines are the same however their bytes come, and lose LF or CRLF', async () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'ü', ' ', '\t', '"', 'ab\0', 'x\ry') });
  const all = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { maxLength: 20 });
  const pieces = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(all, pieces, async (parts, sizes) => {
      const bytes = Buffer.from(parts.map(([text, stop]) => text + stop).join(''), 'latin1');
      const chunks: Uint8Array[] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const size = sizes[turn % sizes.length] as number;
        chunks.push(bytes.subarray(at, at + size));
        at += size;
      }
      expect(await lines(chunks)).toEqual(parts.map(([text]) => text));
    }),
  );
});

test('the last line may lack its end, and nothing is no line', async () => {
  expect(await lines([Buffer.from('one\ntwo')])).toEqual(['one', 'two']);
  expect(await lines([])).toEqual([]);
  expect(await lines([Buffer.from('\n\n')])).toEqual(['', '']);
});

test('of a line that is too long nothing is kept, and the next one is as it should be', async () => {
  const chunks = ['12345', '67890', '\n', 'short', '\n', '0123456789'].map((text) => Buffer.from(text));
  expect(await lines(chunks, 9)).toEqual([undefined, 'short', undefined]);
  expect(await lines(chunks, 10)).toEqual(['1234567890', 'short', '0123456789']);
});
