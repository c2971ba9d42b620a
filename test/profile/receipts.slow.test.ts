import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'rolldown';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compactReceipts, readReceipts } from '../../src/profile/receipts';
import { saveReceipts } from '../../src/profile/save-receipt';
import { long } from '../helpers/long';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pwpush-receipts-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const machine = () => ({
  env: { PWPUSH_STATE_DIR: join(root, 'state') },
  platform: process.platform,
  home: root,
  uid: process.geteuid?.(),
  now: () => new Date(),
});
const save = (token: string) => {
  const link = `https://pw.test/p/${token}`;
  saveReceipts(machine(), [{ push: { url_token: token }, link, name: undefined }], new Date());
};
const tokens = () =>
  readReceipts(machine())
    .active()
    .map(({ url_token }) => url_token);

/** Saves receipts, compacts the file after each of them, and expires every other push. */
const SAVING = `
const { compactReceipts, readReceipts, saveReceipts } = require('./receipts.js');
const [, , machine, name, count] = process.argv;
const system = { ...JSON.parse(machine), now: () => new Date() };
for (let at = 0; at < Number(count); at++) {
  const token = name + '-' + at;
  saveReceipts(system, [{ push: {}, link: 'https://pw.test/p/' + token }], system.now());
  if (at % 2) readReceipts(system).end([{ token, target: { base: 'https://pw.test' } }]);
  compactReceipts(system, system.now());
}`;

test('none is lost while many programs save, expire and compact', async () => {
  const entry = join(root, 'entry.ts');
  const source = (name: string) =>
    JSON.stringify(join(import.meta.dirname, '../../src/profile', name));
  const exported = ['receipts', 'save-receipt'].map((name) => `export * from ${source(name)};\n`);
  writeFileSync(entry, exported.join(''));
  const output = { file: join(root, 'receipts.js'), format: 'cjs' as const };
  await build({ input: entry, platform: 'node', output, logLevel: 'silent' });
  writeFileSync(join(root, 'saving.js'), SAVING);
  const [programs, each] = [6, long ? 400 : 100];
  const exits = Array.from({ length: programs }, (_, at) => {
    const words = ['saving.js', JSON.stringify(machine()), `p${at}`, String(each)];
    return once(spawn(process.execPath, words, { cwd: root, stdio: 'inherit' }), 'exit');
  });
  expect(await Promise.all(exits)).toEqual(exits.map(() => [0, null]));
  const left = Array.from({ length: programs }, (_, program) =>
    Array.from({ length: each / 2 }, (_, at) => `p${program}-${2 * at}`),
  ).flat();
  const lost = () => {
    const found = new Set(tokens());
    return left.filter((token) => !found.has(token));
  };
  expect(lost()).toEqual([]);
  compactReceipts(machine(), new Date());
  expect(lost()).toEqual([]);
  expect(readdirSync(machine().env.PWPUSH_STATE_DIR)).toEqual(['receipts.jsonl']);
});

test('a compaction that was given up does not prevent the next', () => {
  save('a');
  const path = join(root, 'state/receipts.jsonl');
  const before = readFileSync(path, 'utf8');
  const draft = `${path}.new`;
  writeFileSync(draft, 'a part');
  compactReceipts(machine(), new Date());
  expect([readFileSync(draft, 'utf8'), readFileSync(path, 'utf8')]).toEqual(['a part', before]);
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(draft, hourAgo, hourAgo);
  compactReceipts(machine(), new Date());
  expect([tokens(), readdirSync(join(root, 'state'))]).toEqual([['a'], ['receipts.jsonl']]);
  expect(readFileSync(path, 'utf8')).toContain('{"kept":');
});

test('a line that is being written stays after a compaction', () => {
  save('a');
  const path = join(root, 'state/receipts.jsonl');
  save('b');
  const whole = readFileSync(path, 'utf8');
  writeFileSync(path, whole.slice(0, -10));
  compactReceipts(machine(), new Date());
  expect(tokens()).toEqual(['a']);
  writeFileSync(path, whole.slice(-10), { flag: 'a' });
  expect(tokens()).toEqual(['b', 'a']);
});
