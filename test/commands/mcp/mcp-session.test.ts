import { expect, test } from 'vitest';
import { startedRun } from '../../../src/commands/mcp/mcp-session';
import type { Context } from '../../../src/platform/context';

const MIB = 1024 * 1024;

/** What a run returns, and what of its stderr is a trace, which is written to the log of the server. */
async function runOf(startOwn: Context['startOwn'], debug = false) {
  let log = '';
  const write = async (text: string | Uint8Array) => {
    log += text;
  };
  const stderr = { isTTY: false, columns: 80, rows: 24, closed: false, write };
  const { signal } = new AbortController();
  const rules = { withheld: [], debug, signal };
  return { ran: await startedRun({ env: {}, startOwn, stderr }, ['get'], rules), log };
}

test('of what a run prints, the last MiB of each stream is kept', async () => {
  const startOwn: Context['startOwn'] = async ({ output }) => {
    for (let piece = 0; piece < 3 * 64; piece += 1) {
      const line = Buffer.from(`${`${piece % 10}`.repeat(MIB / 64 - 1)}\n`);
      await output.stdout(line);
      await output.stderr(line);
    }
    return 0;
  };
  const { ran } = await runOf(startOwn);
  expect([ran.stdout.length, ran.stderr.length]).toEqual([MIB, MIB]);
  expect([ran.stdout, ran.stderr].map((text) => text.at(-2))).toEqual(['1', '1']);
});

test.each([
  ['64 KiB that goes on is one line', 64 * 1024, ''],
  ['one byte more is passed on in parts', 64 * 1024 + 1, ' end\n'],
])('what begins a line of stderr: %s', async (_, bytes, apart) => {
  const line = 'debug: '.padEnd(bytes, 'x');
  const { ran, log } = await runOf(async ({ output }) => {
    await output.stderr(Buffer.from(line));
    await output.stderr(Buffer.from(' end\n'));
    return 0;
  }, true);
  expect([log + ran.stderr, ran.stderr]).toEqual([`${line} end\n`, apart]);
});
