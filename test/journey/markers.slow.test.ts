import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { deferred } from '../helpers/deferred';
import { heldIn, marks } from '../helpers/held-in';
import { answerJson, rawServer } from '../helpers/listen';
import { partOf } from '../helpers/long';
import { allOf, needsFile } from '../helpers/needs';
import { afterScript, alsoBinary, type Ended, person, pwpush, serving, start } from '../helpers/program';
import { onTerminal } from '../helpers/pty';
import { CREATED, changed, RETRIEVED } from '../helpers/reference';

// The secrets of one person, looked for wherever a process leaves something behind. What commands say and keep:
// test/commands/markers.test.ts and receipts.test.ts.

const somebody = person();
const temporary = join(somebody.folder, 'tmp');
const memory = join(somebody.folder, 'run');
const file = (name: string) => join(somebody.folder, name);
const env = {
  ...somebody.env,
  TMPDIR: temporary,
  XDG_RUNTIME_DIR: memory,
  PWPUSH_PASSPHRASE: marks.passphrase,
};
const service = serving(somebody.env);

beforeAll(() => {
  mkdirSync(temporary);
  mkdirSync(memory);
  writeFileSync(file('secret'), `NAME=${marks.payload}\n`);
});

const found = (text: string) => heldIn(text, { ...marks, token: service.token });

const leaked = ({ stdout, stderr }: Ended) => ({ stdout: found(stdout), stderr: found(stderr) });
const nothing = { stdout: [], stderr: [] };

const onProc = allOf(needsFile('/proc/self/cmdline'), alsoBinary);
test('a secret being sent is in no temporary file, command line or core file', onProc, async () => {
  const { promise: arrived, resolve: holds } = deferred<() => void>();
  const body = changed(CREATED, { passphrase: marks.passphrase });
  const instance = await rawServer((socket) => {
    holds(() => answerJson(socket, body, '201 Created'));
  });
  const words = ['push', '--from', file('secret')];
  const running = start(words, { env: { ...env, PWPUSH_URL: instance.url }, input: '' });
  const answer = await arrived;
  const process = `/proc/${running.child.pid}`;
  expect(found(readFileSync(`${process}/cmdline`, 'latin1'))).toEqual([]);
  expect(found(readFileSync(`${process}/comm`, 'latin1'))).toEqual([]);
  // No memory of it would be in a core file (core(5)).
  expect(readFileSync(`${process}/coredump_filter`, 'utf8')).toBe('00000000\n');
  expect(readdirSync(`${process}/task/${running.child.pid}`)).toContain('children');
  expect(readFileSync(`${process}/task/${running.child.pid}/children`, 'utf8')).toBe('');
  expect([readdirSync(temporary), readdirSync(memory)]).toEqual([[], []]);
  answer();
  expect(leaked(await running.ended)).toEqual(nothing);
});

test('a command that is run has core files as usual', onProc, async () => {
  const made = await pwpush(['push'], { env, input: `NAME=${marks.payload}` });
  const ran = await pwpush(['run', made.stdout.trim(), '--', 'cat', '/proc/self/coredump_filter'], { env });
  expect(ran).toMatchObject({ code: 0, stdout: readFileSync('/proc/self/coredump_filter', 'utf8') });
});

describe('a program that breaks', () => {
  const thrown = `throw new TypeError('${marks.payload}');`;
  const crashes = [
    // It may have been the answer with the secret.
    ['in what it reads', 11, `JSON.parse = (text) => { throw new TypeError('no ' + text); };`],
    ['where nobody catches', 1, `setTimeout(() => { ${thrown} }, 1); setTimeout(() => {}, 1e6);`],
  ] as const;

  test.each(crashes)('%s tells nothing that it held: %i', alsoBinary, async (_, status, code) => {
    const body = changed(RETRIEVED, { payload: marks.payload });
    const instance = await rawServer((socket) => answerJson(socket, body));
    writeFileSync(file('break.cjs'), code);
    const broken = { ...env, PWPUSH_URL: instance.url, PWPUSH_TOKEN: service.token };
    const by = afterScript(file('break.cjs'));
    // In a short run one of them.
    for (const mode of partOf([[], ['--json'], ['--debug']], status)) {
      const ended = await pwpush(['get', 'abc', ...mode], { env: broken, by });
      expect([ended.code, leaked(ended)]).toEqual([status, nothing]);
    }
    const terminal = onTerminal(`${by.join(' ')} get abc`, broken);
    await terminal.ended;
    expect(found(terminal.screen())).toEqual([]);
  });
});

test('NODE_DEBUG makes Node tell no secret', async () => {
  const proxy = await rawServer((socket) => socket.end('HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n'));
  const address = proxy.url.replace('//', `//ann:${marks.proxy}@`);
  const debugging = { ...env, NODE_DEBUG: '*' };
  writeFileSync(file('token'), service.token);
  const far = ['list', '--url', 'https://pw.test', '--token-file', file('token')];
  const behind = { ...debugging, NO_PROXY: '', HTTPS_PROXY: address };
  const input = `NAME=${marks.payload}`;
  const made = await pwpush(['push', '--note', marks.note], { env: debugging, input });
  const ran = await pwpush(['run', made.stdout.trim(), '--', 'true'], { env: debugging });
  const refused = await pwpush(far, { env: behind });
  const commanding = {
    ...debugging,
    PWPUSH_TOKEN: '',
    PWPUSH_TOKEN_COMMAND: `cat ${file('token')}`,
  };
  const helped = await pwpush(['list'], { env: { ...commanding, PRIVATE: marks.payload } });
  expect([made, ran, refused, helped].map(({ code }) => code)).toEqual([0, 0, 9, 0]);
  expect([made, ran, refused, helped].map(leaked)).toEqual([nothing, nothing, nothing, nothing]);
});

test('the log of the service holds none of all that', async () => {
  await fetch(`${service.url}/api/v2/version`);
  const { code, stderr } = await service.stop();
  expect([code, stderr.includes('GET /api/v2/version'), found(stderr)]).toEqual([0, true, []]);
});
