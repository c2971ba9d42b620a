import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EscapedText, escapesOf, streamOf } from '../../../src/server/http/escaped-text';
import { jsonWithText } from '../../../src/server/http/responses';

/** Of all lengths, and full of what is escaped. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom('"', '\\', '\0', '\u001f', '\u007f', '\u2028', '\n', 'é', '😀', 'a'),
      fc.string({ unit: 'binary' }),
    ),
    { minLength: 1 },
  )
  .chain((parts) => fc.integer({ min: 1, max: 20_000 }).map((times) => parts.join('').repeat(times)))
  .map((long) => Buffer.from(long.slice(0, 100_000)).toString());

test('a text in JSON is what JSON.stringify makes of it, and as long as it says', async () => {
  await fc.assert(
    fc.asyncProperty(text, fc.boolean(), async (payload, files) => {
      const [head, tail] = [{ a: 'x', b: null }, files ? { files: [{ c: '"' }] } : {}];
      const response = jsonWithText(head, 'payload', payload, tail);
      const body = Buffer.from(await response.arrayBuffer());
      expect(body.toString()).toBe(JSON.stringify({ ...head, payload, ...tail }));
      expect(response.headers.get('content-length')).toBe(`${body.length}`);
    }),
    { numRuns: 100 },
  );
});

test('others have their turn between two slices', async () => {
  const escapes = escapesOf({ '"': '&quot;' });
  const reader = streamOf([new EscapedText('"'.repeat(100_000), escapes)]).getReader();
  let turns = 0;
  let slices = 0;
  let reading = true;
  const others = (async () => {
    for (; reading; turns++) await setImmediate();
  })();
  for (; !(await reader.read()).done; slices++);
  reading = false;
  await others;
  expect(slices).toBeGreaterThan(30);
  expect(turns).toBeGreaterThanOrEqual(slices);
});
