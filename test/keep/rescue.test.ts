import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { worded } from '../../src/cli/report-error';
import { removeRescued, rescuedFiles, rescueFolder } from '../../src/keep/rescue';
import { RescueStore, type StoreContext } from '../../src/keep/rescue-store';
import { claimFile } from '../../src/platform/claim';
import { failedError } from '../../src/platform/errors';
import { eachPlace, NOW } from '../helpers/run';

const here = eachPlace();
let context: StoreContext;
let printed = '';
beforeEach(() => {
  const { folder } = here;
  const env = { PWPUSH_STATE_DIR: here.file('state'), TMPDIR: folder };
  printed = '';
  const write = async (data: string | Uint8Array) => {
    printed += data;
  };
  const stderr = { isTTY: true, columns: 80, rows: 24, closed: false, write };
  const { signal } = new AbortController();
  const system = { env, platform: 'linux', home: folder, uid: process.geteuid?.() };
  context = { ...system, now: () => NOW, stderr, signal };
});

const mode = (path = '') => (statSync(path).mode & 0o777).toString(8);
const keep = async (where: StoreContext) => {
  const store = new RescueStore(where);
  const secret = { part: 'secret', bytes: 'hunter2' } as const;
  const failure = await store.rescue(failedError('no room'), secret);
  return { message: worded(failure).message, remains: failure.remains };
};
const brief = async () => (await rescuedFiles(context)).map(({ what }) => what).sort();

test('what is rescued is 0600 in a folder 0700, and is listed', async () => {
  const { message, remains } = await keep(context);
  const path = String(remains?.saved_to);
  expect({ message, content: readFileSync(path, 'utf8') }).toEqual({
    message: `no room; the secret was saved to ${path}`,
    content: 'hunter2',
  });
  expect([mode(path), mode(here.file('state'))]).toEqual(['600', '700']);
  expect(await brief()).toEqual(['secret']);
});

test('each kind of what is rescued is listed', async () => {
  mkdirSync(here.file('state/files-2026-08-20T11-06-45-000Z-0a1b2c3d'), { recursive: true });
  const kinds = ['download', 'key', 'link', 'response', 'secret', 'text'];
  for (const kind of kinds) writeFileSync(here.file(`state/${kind}-2026-08-20T11-06-45-000Z-0a1b2c3d`), '');
  expect((await brief()).sort()).toEqual([...kinds, 'files'].sort());
});

test('the download of a run that was killed while it went on with it is listed', async () => {
  const path = here.file('state/download-2026-08-20T11-06-45-000Z-1f2e3d4c');
  mkdirSync(here.file('state'));
  writeFileSync(path, '');
  const claim = claimFile(path, process.pid);
  expect((await rescuedFiles(context)).map(({ path }) => path)).toEqual([claim]);
});

test('without a state folder it is below TMPDIR, and is listed there', async () => {
  writeFileSync(here.file('state'), '');
  const { remains } = await keep(context);
  const path = String(remains?.saved_to);
  expect(path).toMatch(/\/pwpush-rescue-\w{6}\/secret-/);
  expect([mode(path), mode(join(path, '..'))]).toEqual(['600', '700']);
  expect(readFileSync(path, 'utf8')).toBe('hunter2');
  await rescueFolder(context);
  expect(await brief()).toEqual(['files', 'secret']);
  for (const { path } of await rescuedFiles(context)) removeRescued(path);
  expect(readdirSync(here.folder).filter((name) => name.startsWith('pwpush-rescue'))).toEqual([]);
});

test('what can be saved nowhere is printed on the terminal, if no agent reads it', async () => {
  writeFileSync(here.file('state'), '');
  const nowhere = { ...context, env: { ...context.env, TMPDIR: here.file('none') } };
  const agent = await keep({ ...nowhere, guard: async () => 'CLAUDECODE is set' });
  expect([agent.message, printed]).toEqual([expect.stringContaining('the secret is LOST'), '']);
  const { message } = await keep(nowhere);
  expect([message, printed]).toEqual([expect.stringContaining('the secret was printed to the terminal'), 'hunter2\n']);
});

test('what another user rescued is not listed', async () => {
  await keep(context);
  const other = { ...context, uid: (context.uid ?? 0) + 1 };
  expect(await rescuedFiles(other)).toEqual([]);
});

test('nothing else in those folders is listed', async () => {
  mkdirSync(here.file('state'));
  for (const name of ['config.json', 'secret-', 'link-2026-08-20', '.secret', 'pwpush.db'])
    writeFileSync(here.file(`state/${name}`), '');
  // A file of the name of a folder, and the other way round.
  writeFileSync(here.file('state/files-2026-08-20T11-06-45-000Z-0a1b2c3d'), '');
  mkdirSync(here.file('state/link-2026-08-20T11-06-45-000Z-0a1b2c3d'));
  expect(await rescuedFiles(context)).toEqual([]);
});
