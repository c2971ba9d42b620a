import { describe, expect, test } from 'vitest';
import { width } from '../../../src/cli/terminal/text-width';
import {
  meter,
  meterFor,
  type Progress,
  progressLines,
  progressSummary,
} from '../../../src/cli/terminal/transfer-meter';
import { size } from '../../../src/contract/byte-size';

const MIB = 1024 * 1024;
const standing = (change: Partial<Progress> = {}): Progress => ({
  name: 'report.pdf',
  moved: 30 * MIB,
  length: 120 * MIB,
  file: 1,
  files: 1,
  movedInAll: 30 * MIB,
  lengthInAll: 120 * MIB,
  elapsedMs: 3000,
  ...change,
});

describe('progress', () => {
  test('of one file is one line', () => {
    expect(progressLines(standing(), 80)).toEqual([
      'report.pdf    [==>        ]   25%  30.0 MiB of 120.0 MiB  10.0 MiB/s  0:09 left',
    ]);
  });

  test('of several files has a line for all of them', () => {
    const all = { file: 2, files: 3, movedInAll: 60 * MIB, lengthInAll: 240 * MIB };
    expect(progressLines(standing(all), 100)).toEqual([
      expect.stringMatching(
        /^report\.pdf +\[=+> +\] +25% {2}30\.0 MiB of 120\.0 MiB .* 0:05 left$/,
      ),
      expect.stringMatching(
        /^2 of 3 files +\[=+> +\] +25% {2}60\.0 MiB of 240\.0 MiB .* 0:09 left$/,
      ),
    ]);
  });

  test('of an unknown length has neither bar nor end', () => {
    expect(progressLines(standing({ length: undefined }), 60)[0]).toMatch(
      /^report\.pdf +30\.0 MiB {2}10\.0 MiB\/s$/,
    );
  });

  test.each([20, 30, 40, 60, 80, 200])('fits %d columns, whatever the name', (columns) => {
    for (const name of ['x'.repeat(300), '漢'.repeat(100), 'a\u001b[2J\u202eb', '']) {
      for (const length of [120 * MIB, 0, undefined]) {
        for (const line of progressLines(standing({ name, length, files: 2 }), columns)) {
          expect(width(line)).toBeLessThan(columns);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be there
          expect(line).not.toMatch(/[\u0000-\u001f\u202e]/);
        }
      }
    }
  });

  test('over the announced length, and before anything moved, is no nonsense', () => {
    expect(progressLines(standing({ moved: 130 * MIB }), 80)[0]).toContain('100%');
    const none = progressLines(standing({ moved: 0, movedInAll: 0, elapsedMs: 0 }), 80)[0];
    expect(none).toContain('  0%  0 B of 120.0 MiB  0 B/s');
    expect(none).not.toMatch(/NaN|Infinity|left/);
  });

  test('long times are told in hours', () => {
    const line = progressLines(standing({ length: 40_000 * MIB, elapsedMs: 3000 }), 80)[0];
    expect(line).toMatch(/1:06:37 left$/);
  });

  test('ends with a summary', () => {
    expect(progressSummary(3, 1200 * MIB, 12_345)).toBe('3 files, 1.2 GiB in 12 s, 97.2 MiB/s');
    expect(progressSummary(1, 3 * MIB, 1500)).toBe('1 file, 3.0 MiB in 1.5 s, 2.0 MiB/s');
  });

  test.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [1024 * 1024 - 1, '1.0 MiB'],
    [1.5 * 1024 ** 3, '1.5 GiB'],
    [9 * 1024 ** 5, '9216.0 TiB'],
  ])('%d bytes are %s', (bytes, text) => expect(size(bytes)).toBe(text));
});

/** A terminal whose clock is moved by hand. */
function watched(files: number, total?: number) {
  let time = 0;
  const written: string[] = [];
  const stderr = {
    isTTY: true,
    columns: 80,
    closed: false,
    write: async (text: string | Uint8Array) => void written.push(String(text)),
  };
  const controller = new AbortController();
  const context = { stderr, now: () => new Date(time), signal: controller.signal };
  const advance = (milliseconds: number) => {
    time += milliseconds;
  };
  const interrupt = (name: string) => controller.abort(name);
  return { written, advance, context, interrupt, meter: meter(context, { files, total }) };
}

describe('the meter', () => {
  test('is silent for half a second, then draws ten times a second at most', async () => {
    const { meter: one, written, advance } = watched(1, 100);
    one.begins(0, 'a', 100);
    advance(499);
    one.moved(10);
    expect(written).toEqual([]);
    advance(1);
    one.moved(10);
    one.moved(10);
    advance(99);
    one.moved(10);
    expect(written).toHaveLength(1);
    advance(1);
    one.moved(10);
    expect(written).toHaveLength(2);
    expect(written[0]?.startsWith('\r\u001b[Ja  ')).toBe(true);
    expect(written[0]).toContain(' 20%  20 B of 100 B');
    expect(written[1]).toContain(' 50%  50 B of 100 B');
    expect(await one.ends()).toBe('1 file, 50 B in 0.6 s, 83 B/s');
    expect(written.at(-1)).toBe('\r\u001b[J');
  });

  test('says nothing of what was over before', async () => {
    const { meter: one, written, advance } = watched(1);
    one.begins(0, 'a', 10);
    advance(400);
    one.moved(10);
    expect(await one.ends()).toBeUndefined();
    expect(written).toEqual([]);
  });

  test('wipes both lines, and counts a file that begins anew once', async () => {
    const { meter: two, written, advance } = watched(2);
    two.begins(0, 'a', 10);
    two.moved(10);
    two.begins(1, 'b', 20);
    two.moved(5);
    two.begins(1, 'b', 20);
    advance(1000);
    two.moved(20);
    expect(written[0]).toContain('2 of 2 files');
    expect(written[0]).toContain('30 B of 30 B');
    await two.clear();
    expect(written[1]).toBe('\u001b[1A\r\u001b[J');
  });

  test('shows nothing more once it has ended', async () => {
    const { meter: one, written, advance } = watched(1);
    one.begins(0, 'a', 10);
    advance(1000);
    one.moved(5);
    await one.ends();
    advance(1000);
    one.moved(5);
    expect(written).toHaveLength(2);
    expect(written[1]).toBe('\r\u001b[J');
  });

  test.each([
    ['SIGINT', '\u001b[1A\r\u001b[J'],
    ['SIGTERM', '\r\u001b[J'],
  ])('is wiped by %s, at once, and shows nothing more', async (name, wiped) => {
    const { meter: one, written, advance, interrupt } = watched(1);
    one.begins(0, 'a', 10);
    advance(1000);
    one.moved(5);
    interrupt(name);
    expect(written[1]).toBe(wiped);
    advance(1000);
    one.moved(5);
    await one.ends();
    expect(written).toHaveLength(2);
  });

  test.each([
    ['a pipe', { isTTY: false }, {}, {}],
    ['CI', {}, { CI: 'true' }, {}],
    ['a dumb terminal', {}, { TERM: 'dumb' }, {}],
    ['--quiet', {}, {}, { quiet: true }],
    ['--json', {}, {}, { json: true }],
  ])('shows nothing in %s', async (_name, output, env, options) => {
    const { context, advance, written } = watched(1);
    const stderr = { ...context.stderr, ...output };
    const hidden = meterFor(
      { ...context, stderr, env } as never,
      { quiet: false, json: false, ...options } as never,
      { files: 1, total: 1 },
    );
    hidden.begins(0, 'a', 1);
    advance(5000);
    hidden.moved(1);
    expect(await hidden.ends()).toBeUndefined();
    expect(written).toEqual([]);
  });
});
