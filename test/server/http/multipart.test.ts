import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { partsOf } from '../../../src/server/http/multipart';
import { ServiceRefusal } from '../../../src/server/service-errors';
import { BOUNDARY, FORM_TYPE, formBytes } from '../../helpers/service';

const DELIMITER = `\r\n--${BOUNDARY}`;

async function* inPieces(bytes: Uint8Array, sizes: readonly number[]) {
  for (let from = 0, i = 0; from < bytes.length; i += 1) {
    const size = sizes[i % sizes.length] as number;
    yield Buffer.from(bytes.subarray(from, from + size));
    from += size;
  }
}

async function read(body: AsyncIterable<Uint8Array>, type = FORM_TYPE) {
  const parts: { name: string; value: Buffer }[] = [];
  for await (const { name, bytes } of partsOf(body, type)) {
    const pieces = [];
    for await (const piece of bytes) {
      // A write to a disk does not complete at once.
      await new Promise((resolve) => setImmediate(resolve));
      pieces.push(Buffer.from(piece));
    }
    parts.push({ name, value: Buffer.concat(pieces) });
  }
  return parts;
}

async function problem(body: string | Buffer, sizes = [1000], type = FORM_TYPE): Promise<unknown> {
  const error = await read(inPieces(Buffer.from(body), sizes), type).catch((reason) => reason);
  return error instanceof ServiceRefusal ? [error.kind, error.message] : error;
}

test('every part comes back to the byte, however the form is cut into pieces', async () => {
  const snippet = fc.oneof(
    fc.uint8Array({ maxLength: 50 }),
    fc
      .integer({ min: 1, max: BOUNDARY.length + 4 })
      .map((length) => Buffer.from(`\r\n--${BOUNDARY}`).subarray(0, length - 1)),
    fc.constantFrom('\r', '\n', '\r\n', '\r\n\r\n', '--', `--${BOUNDARY}x`).map(Buffer.from),
    fc.integer({ min: 1, max: 40_000 }).map((length) => Buffer.alloc(length, 'a\r\n-')),
  );
  const value = fc.array(snippet, { maxLength: 6 }).map((pieces) => Buffer.concat(pieces));
  // A sender takes care that no line begins with its boundary, and the head's end is a line end.
  const plain = value.filter((bytes) => !`\r\n${bytes.toString('latin1')}`.includes(DELIMITER));
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 80 }), fc.integer({ min: 80, max: 100_000 })), {
    minLength: 1,
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(plain, { minLength: 1, maxLength: 6 }), sizes, async (values, cut) => {
      const smallest = values.reduce((sum, { length }) => sum + length, 0) / 2000;
      const form = formBytes(values.map((value, i) => ({ name: `${i}`, value })));
      const parts = await read(
        inPieces(
          form,
          cut.map((size) => Math.ceil(Math.max(size, smallest))),
        ),
      );
      expect(parts.map(({ name }) => name)).toEqual(values.map((_, i) => `${i}`));
      expect(parts.map(({ value }, i) => value.equals(values[i] as Buffer))).toEqual(values.map(() => true));
    }),
  );
});

describe('a broken form is refused', () => {
  const malformed = ['malformed', expect.any(String)];
  const whole = formBytes([
    { name: 'a', value: 'x'.repeat(100) },
    { name: 'b', filename: 'b', value: 'y'.repeat(100) },
  ]);

  test('wherever it ends too early', async () => {
    for (let length = 0; length < whole.length - 4; length += 1) {
      const answer = await problem(whole.subarray(0, length), [37]);
      expect([length, answer]).toEqual([length, malformed]);
    }
  });

  const headless = `--${BOUNDARY}\r\nContent-Disposition: form-data\r\n--${BOUNDARY}--\r\n`;
  test.each([
    ['of no boundary', whole, 'multipart/form-data'],
    ['of another one', whole, 'multipart/form-data; boundary=other'],
    ['with a part that has no head', headless, FORM_TYPE],
  ])('%s', async (_, body, type) => {
    expect(await problem(body, [1000], type)).toEqual(malformed);
  });
});

test('a form has up to a hundred parts', async () => {
  const parts = (count: number) =>
    formBytes(Array.from({ length: count }, (_, nth) => ({ name: `${nth}`, value: 'x' })));
  expect(await read(inPieces(parts(100), [1000]))).toHaveLength(100);
  expect(await problem(parts(101))).toEqual(['malformed', expect.stringContaining('100 parts')]);
});

test.each([
  [8192, 'ab'],
  [8193, 'a'],
])('of a head of %i bytes, with the line end before it, 8 KiB are read, and name the part %s', async (bytes, name) => {
  const named = '\r\nContent-Disposition: form-data; name=ab';
  const head = `${'\r\nX: '.padEnd(bytes - named.length, 'x')}${named}`;
  const form = Buffer.from(`--${BOUNDARY}${head}\r\n\r\nvalue\r\n--${BOUNDARY}--\r\n`);
  for (const sizes of [[1000], [form.length]])
    expect(await read(inPieces(form, sizes))).toEqual([{ name, value: Buffer.from('value') }]);
});

/** A form of one part, of so many pieces, which counts those that were asked for. */
function counted(count: number) {
  const taken = { given: 0 };
  async function* form() {
    yield Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\n\r\n`);
    for (; taken.given < count; taken.given += 1) yield Buffer.alloc(65_536);
    yield Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
  }
  return { taken, parts: partsOf(form(), FORM_TYPE) };
}

test('it is read no further once a part is refused', async () => {
  const { taken, parts } = counted(Number.POSITIVE_INFINITY);
  const taking = async () => {
    for await (const { bytes } of parts) {
      let size = 0;
      for await (const piece of bytes) {
        size += piece.length;
        if (size > 1_000_000) throw new ServiceRefusal('too_large', 'enough');
      }
    }
  };
  await expect(taking()).rejects.toThrow('enough');
  expect(taken.given).toBeLessThan(20);
});

test('no more is read than is taken', async () => {
  const { taken, parts } = counted(100);
  const ahead: number[] = [];
  for await (const { bytes } of parts) {
    let size = 0;
    for await (const piece of bytes) {
      for (let i = 0; i < 10; i += 1) await new Promise((resolve) => setImmediate(resolve));
      size += piece.length;
      ahead.push(taken.given - size / 65_536);
    }
  }
  expect(Math.max(...ahead)).toBeLessThanOrEqual(2);
});
