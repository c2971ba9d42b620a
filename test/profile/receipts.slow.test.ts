import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import { expect, test } from 'vitest';
import { readReceipts, saveReceipts } from '../../src/profile/receipts';
import { eachPlace } from '../helpers/run';

const here = eachPlace();
const machine = () => ({
  env: { PWPUSH_STATE_DIR: here.file('state') },
  platform: process.platform,
  home: here.folder,
  uid: process.geteuid?.(),
  now: () => new Date(),
});
const path = () => here.file('state/receipts.jsonl');
/** The lines of the file, each of which has to be whole. */
const lines = () =>
  readFileSync(path(), 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line));
const tokens = () =>
  readReceipts(machine())
    .active()
    .map(({ token }) => token);

/** Saves receipts, and expires every other push. */
const SAVING = `
const { readReceipts, saveReceipts } = require('./receipts.js');
const [, , machine, name, count] = process.argv;
const system = { ...JSON.parse(machine), now: () => new Date() };
(async () => {
  for (let at = 0; at < Number(count); at++) {
    const token = name + '-' + at;
    const base = 'https://pw.test';
    await saveReceipts(system, [{ push: {}, link: base + '/p/' + token, place: { base, token } }]);
    if (at % 2) await readReceipts(system).end([{ token, target: { base } }]);
  }
})();`;

/** Six programs at once save as many receipts each. */
async function savedAtOnce(each: number): Promise<void> {
  const input = join(import.meta.dirname, '../../src/profile/receipts.ts');
  const output = { file: here.file('receipts.js'), format: 'cjs', codeSplitting: false } as const;
  await build({ input, platform: 'node', output, logLevel: 'silent' });
  writeFileSync(here.file('saving.js'), SAVING);
  const exits = Array.from({ length: 6 }, (_, at) => {
    const words = ['saving.js', JSON.stringify(machine()), `p${at}`, String(each)];
    return once(spawn(process.execPath, words, { cwd: here.folder, stdio: 'inherit' }), 'exit');
  });
  expect(await Promise.all(exits)).toEqual(exits.map(() => [0, null]));
}

test('none is lost while many programs save and expire', async () => {
  await savedAtOnce(100);
  const left = Array.from({ length: 6 }, (_, program) =>
    Array.from({ length: 50 }, (_, at) => `p${program}-${2 * at}`),
  ).flat();
  expect(tokens().sort()).toEqual(left.sort());
});

test('the newest 1,000 are kept, by a push and by an expiry', async () => {
  const made = Array.from({ length: 5000 }, (_, at) => `a${at}`);
  const saved = (url_token: string) => ({
    push: { url_token },
    link: `https://pw.test/p/${url_token}`,
    name: 'a',
    place: { base: 'https://pw.test', token: url_token },
  });
  for (let at = 0; at < made.length; at += 10) await saveReceipts(machine(), made.slice(at, at + 10).map(saved));
  expect(tokens().slice(0, 1000)).toEqual(made.slice(-1000).reverse());
  expect(lines().length).toBeLessThan(2500);
  expect(statSync(path()).mode & 0o777).toBe(0o600);
  const target = { base: 'https://pw.test' };
  for (const token of tokens().slice(0, 900)) await readReceipts(machine()).end([{ token, target }]);
  expect(lines().length).toBeLessThan(2500);
  const last = { ended: true, receipt: { url_token: 'a4999' } };
  expect(readReceipts(machine()).last()).toMatchObject(last);
  expect(tokens().slice(0, 100)).toEqual(made.slice(-1000, -900).reverse());
});
