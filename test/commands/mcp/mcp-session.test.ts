import { expect, test } from 'vitest';
import { startedRun } from '../../../src/commands/mcp/mcp-session';
import type { Context } from '../../../src/platform/context';

const MIB = 1024 * 1024;

test('of what a run prints, the last MiB of each stream is kept', async () => {
  const startOwn: Context['startOwn'] = async ({ output }) => {
    for (let piece = 0; piece < 3 * 64; piece += 1) {
      const line = Buffer.from(`${`${piece % 10}`.repeat(MIB / 64 - 1)}\n`);
      await output.stdout(line);
      await output.stderr(line);
    }
    return 0;
  };
  const stderr = { isTTY: false, columns: 80, rows: 24, closed: false, write: async () => {} };
  const { signal } = new AbortController();
  const rules = { withheld: [], debug: false, signal };
  const ran = await startedRun({ env: {}, startOwn, stderr }, ['get'], rules);
  expect([ran.stdout.length, ran.stderr.length]).toEqual([MIB, MIB]);
  expect([ran.stdout, ran.stderr].map((text) => text.at(-2))).toEqual(['1', '1']);
});
