import { describe, expect, test } from 'vitest';
import { entryOf } from '../../../src/cli/terminal/output';
import { width } from '../../../src/cli/terminal/text-width';
import { meterFor, type Progress, progressLine } from '../../../src/cli/terminal/transfer-meter';
import { size } from '../../../src/contract/byte-size';
import type { Context } from '../../../src/platform/context';

const MIB = 1024 * 1024;
const standing = (change: Partial<Progress> = {}): Progress => ({
  name: 'report.pdf',
  number: 1,
  files: 1,
  moved: 30 * MIB,
  length: 120 * MIB,
  elapsedMs: 3000,
  ...change,
});

describe('progress', () => {
  test.each<[string, Partial<Progress>, string]>([
    ['is one line', {}, 'report.pdf  25%  30.0 MiB of 120.0 MiB  10.0 MiB/s  9 s left'],
    ['of an unknown length has no end', { length: undefined }, 'report.pdf  30.0 MiB  10.0 MiB/s'],
    ['rounds down', { moved: 119 * MIB }, 'report.pdf  99%  119.0 MiB of 120.0 MiB  39.7 MiB/s  1 s left'],
    ['over its length is no nonsense', { moved: 130 * MIB }, 'report.pdf  100%  130.0 MiB of 120.0 MiB  43.3 MiB/s'],
  ])('%s', (_what, change, line) => expect(progressLine(standing(change), 80)).toBe(line));

  test.each([20, 60, 200])('fits %d columns, whatever the name', (columns) => {
    for (const name of ['x'.repeat(300), '漢'.repeat(100), 'a\u001b[2J\u202eb', '']) {
      for (const length of [120 * MIB, 0, undefined]) {
        const line = progressLine(standing({ name, length, files: 2 }), columns);
        expect(width(line)).toBeLessThan(columns);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be there
        expect(line).not.toMatch(/[\u0000-\u001f\u202e]/);
      }
    }
  });

  test.each([
    [1023, '1023 B'],
    [1024 * 1024 - 1, '1.0 MiB'],
    [9 * 1024 ** 5, '9216.0 TiB'],
  ])('%d bytes are %s', (bytes, text) => expect(size(bytes)).toBe(text));
});

/** A terminal whose clock is moved by hand. */
function watched(files = 1, output = {}, env = {}, options = {}) {
  let time = 0;
  const written: string[] = [];
  const stderr = {
    isTTY: true,
    columns: 80,
    rows: 24,
    closed: false,
    write: async (text: string | Uint8Array) => void written.push(String(text)),
    ...output,
  };
  const controller = new AbortController();
  const context = { env, stderr, now: () => new Date(time), signal: controller.signal };
  const advance = (milliseconds: number) => {
    time += milliseconds;
  };
  const interrupt = (name: string) => controller.abort(name);
  const manner = { json: false, quiet: false, color: false, debug: false, ...options };
  const meter = meterFor(entryOf(context as unknown as Context, manner), files);
  return { written, advance, interrupt, meter };
}

const WIPED = '\r\u001b[J';

describe('the meter', () => {
  test('is silent for half a second, then draws ten times a second, until it ends', async () => {
    const { meter: one, written, advance } = watched();
    const drawnAfter = (milliseconds: number) => {
      advance(milliseconds);
      one.moved(10);
      return written.length;
    };
    one.begins(0, 'a', 100);
    expect([499, 1, 0, 99, 1].map(drawnAfter)).toEqual([0, 1, 1, 1, 2]);
    expect(written[0]).toBe(`${WIPED}a  20%  20 B of 100 B  40 B/s  2 s left`);
    expect(written[1]).toContain(' 50%  50 B of 100 B');
    await one.ends();
    drawnAfter(1000);
    expect(written.slice(2)).toEqual([WIPED]);
  });

  test('counts a file that begins anew from its beginning', async () => {
    const { meter: two, written, advance } = watched(2);
    two.begins(0, 'a', 10);
    two.moved(10);
    two.begins(1, 'b', 20);
    two.moved(5);
    two.begins(1, 'b', 20);
    advance(1000);
    two.moved(20);
    expect(written[0]).toContain('b  2 of 2 files  100%  20 B of 20 B');
    await two.clear();
    await two.clear();
    expect(written.slice(1)).toEqual([WIPED]);
  });

  test.each([
    ['SIGINT', `\u001b[1A${WIPED}`],
    ['SIGTERM', WIPED],
  ])('is wiped by %s, at once, and shows nothing more', async (name, wiped) => {
    const { meter: one, written, advance, interrupt } = watched();
    one.begins(0, 'a', 10);
    advance(1000);
    one.moved(5);
    interrupt(name);
    expect(written.slice(1)).toEqual([wiped]);
    advance(1000);
    one.moved(5);
    await one.ends();
    expect(written).toHaveLength(2);
  });

  test.each([
    ['a pipe', { isTTY: false }, {}, {}],
    ['CI', {}, { CI: 'true' }, {}],
    ['--json', {}, {}, { json: true }],
  ])('shows nothing in %s', async (_name, output, env, options) => {
    const { meter: hidden, advance, written } = watched(1, output, env, options);
    hidden.begins(0, 'a', 1);
    advance(5000);
    hidden.moved(1);
    await hidden.ends();
    expect(written).toEqual([]);
  });
});
