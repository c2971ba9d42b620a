import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { undiciTransport } from '../../src/client/transport/undici';
import type { Profile } from '../../src/profile/settings';
import { type Instance, instance } from '../helpers/instance';
import { listening } from '../helpers/listen';
import { needsPrograms } from '../helpers/needs';
import { VERSION } from '../helpers/reference';
import { type Conditions, place } from '../helpers/run';

let here: Instance;
let token: string;
beforeEach(async () => {
  here = await instance({ env: { PWPUSH_URL: 'https://pw.test', PATH: process.env.PATH } });
  token = here.service.adminToken;
});
afterEach(() => here.close());

const NONE = 'no active pushes\n';

const list = (command: string, conditions: Conditions = {}, ...more: string[]) =>
  here.under({ ...conditions, env: { ...conditions.env, PWPUSH_TOKEN_COMMAND: command } }).run('list', ...more);

describe('a token command', () => {
  test('is split into words, of which nothing is expanded', async () => {
    const out = here.file('words');
    const script = here.file('show');
    const showing = `#!/bin/sh\nfor word; do echo "<$word>"; done > '${out}'\necho ' ${token} '; echo user:ann\n`;
    writeFileSync(script, showing, { mode: 0o755 });
    const typed = String.raw`a  'b c' "d \"e\" \\ $HOME" f\ g ~ * $(id) ; | "" 'h'i`;
    // The token is the first line of what it prints.
    expect(await list(`${script} ${typed}`)).toEqual({ code: 0, stdout: '', stderr: NONE });
    expect(readFileSync(out, 'utf8')).toBe(
      '<a>\n<b c>\n<d "e" \\ $HOME>\n<f g>\n<~>\n<*>\n<$(id)>\n<;>\n<|>\n<>\n<hi>\n',
    );
  });

  test.each(["'pass", 'pass "x', 'pass \\', '  ', '""'])('is refused: %j', async (command) => {
    expect([(await list(command)).code, here.asked]).toEqual([2, []]);
  });

  test('that fails is an error, and its text is passed on without control characters', async () => {
    const line = String.raw`sh -c 'printf "locked \033[31mnow\n" >&2; exit 3'`;
    const { code, stderr } = await list(line);
    expect([code, stderr.split('\n')[0], here.asked]).toEqual([2, 'sh: locked \\x1b[31mnow', []]);
  });

  test('that prints the token to standard error too does not reveal it', async () => {
    const line = `sh -c 'echo "+ echo ${token}" >&2; echo ${token}'`;
    expect(await list(line)).toEqual({ code: 0, stdout: '', stderr: `sh: + echo ***\n${NONE}` });
    const json = await list(line, {}, '--json');
    expect(json.stderr).toBe('{"warning":{"message":"sh: + echo ***"}}\n');
  });

  test('that prints the token to a terminal is heard at once, before the token is known', async () => {
    const heard = here.file('heard');
    const line = `sh -c 'echo "+ echo ${token}" >&2; until [ -e "${heard}" ]; do sleep 0.1; done; echo ${token}'`;
    const taken = { stdout: async () => {}, stderr: async () => writeFileSync(heard, '') };
    const { code, stderr } = await list(line, { terminals: ['stderr'], taken });
    expect([code, stderr.split('\n')[0]]).toEqual([0, `sh: + echo ${token}`]);
  });

  test('has neither our variables nor our standard input', async () => {
    const out = here.file('seen');
    const line = `sh -c '{ env; cat; } > "${out}"; echo ${token}'`;
    const env = { PWPUSH_PASSPHRASE: 's3cret-word', OTHER: 'x' };
    await list(line, { env, stdin: 's3cret-input' });
    const seen = readFileSync(out, 'utf8');
    expect([seen.includes('OTHER=x'), /s3cret|PWPUSH_/.test(seen)]).toEqual([true, false]);
  });

  test('may leave an agent behind, which keeps its output open', async () => {
    const pid = here.file('pid');
    const line = `sh -c 'tail -f /dev/null & echo $! > "${pid}"; echo ${token}'`;
    expect((await list(line)).code).toBe(0);
    expect(process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL')).toBe(true);
  });

  test('runs once in a run, and not without need', async () => {
    const out = here.file('runs');
    const line = `sh -c 'echo run >> "${out}"; echo ${token}'`;
    const env = { PWPUSH_TOKEN_COMMAND: line };
    const piped = here.under({ env, stdin: 'one\ntwo\nthree\n' });
    expect((await piped.run('push', '--each')).code).toBe(0);
    expect(readFileSync(out, 'utf8')).toBe('run\n');
    for (const words of ['push --dry-run x', 'list --anonymous', 'get https://other.test/p/abc'])
      await here.under({ env }).run(...words.split(' '));
    expect(readFileSync(out, 'utf8')).toBe('run\n');
  });

  test('comes before that of the profile, unless the profile was typed', async () => {
    const out = here.file('ran');
    const say = (name: string) => `sh -c 'echo ${name} >> "${out}"; echo ${token}'`;
    const profile = { url: 'https://pw.test', 'token-command': say('profile') };
    await here.keep({ current: 'work', profiles: { work: profile } });
    const set = { PWPUSH_TOKEN_COMMAND: say('variable') };
    for (const env of [set, {}]) expect((await here.under({ env }).run('list')).code).toBe(0);
    await here.under({ env: set }).run('list', '--profile', 'work');
    expect(readFileSync(out, 'utf8')).toBe('variable\nprofile\nprofile\n');
  });

  const needed = needsPrograms('pgrep', 'setsid');
  test('that is interrupted ends with its group, and not with what left it', needed, async () => {
    const out = here.file('late');
    const started = here.file('started');
    const controller = new AbortController();
    // The group ignores SIGTERM.
    const agent = `setsid sh -c "echo \\$\\$ > ${started}; exec tail -f /dev/null"`;
    const line = `sh -c 'trap "" TERM; (sleep 60; echo late > "${out}") & ${agent} & wait; sleep 60'`;
    const running = list(line, { signal: controller.signal, terminals: ['stderr'] });
    const agentId = () => (existsSync(started) ? Number(readFileSync(started, 'utf8')) : 0);
    await expect.poll(agentId, { message: 'the agent that leaves the group' }).toBeGreaterThan(1);
    const left = agentId();
    onTestFinished(() => expect(process.kill(left, 'SIGKILL')).toBe(true));
    controller.abort('SIGINT');
    expect((await running).code).toBe(130);
    // A killed process is there for a moment yet.
    const ended = () => spawnSync('pgrep', ['-f', out]).status;
    await expect.poll(ended, { message: 'the end of the group' }).toBe(1);
  });
});

describe('the setting token-command', () => {
  const url = 'https://pw.test';
  const keep = (work: Profile) => here.keep({ current: 'work', profiles: { work } });

  test('replaces a stored token, and login replaces it', async () => {
    await keep({ url, token: 'old' });
    const command = `echo ${token}`;
    expect(await here.run('profile', 'set', '.', 'token-command', command)).toMatchObject({
      code: 0,
      stderr: 'the token that was stored in the profile was removed\n',
    });
    expect(here.kept()?.profiles.work).toEqual({ url, 'token-command': command });
    const { stdout } = await here.run('profile', 'list', '--json');
    expect(JSON.parse(stdout)).toMatchObject([{ token: true }]);
    expect((await here.run('list')).code).toBe(0);
    expect((await here.under({ stdin: token }).run('login', '--profile', 'work')).code).toBe(0);
    expect(here.kept()?.profiles.work).toEqual({ url, token, edition: 'pwpush', encrypt: 'link' });
  });

  test('is forgotten by logout and with the address', async () => {
    const kept = { url, 'token-command': 'pass show x' };
    await keep(kept);
    await here.run('logout');
    expect(here.kept()?.profiles.work).toEqual({ url });
    await keep(kept);
    await here.run('profile', 'set', '.', 'url', 'https://new.test');
    expect(here.kept()?.profiles.work).toEqual({ url: 'https://new.test' });
  });

  test('is saved by login in the place of a token', async () => {
    const command = `echo ${token}`;
    const env = { PWPUSH_TOKEN_COMMAND: command };
    expect((await here.under({ env }).run('login')).code).toBe(0);
    const saved = { url, 'token-command': command, edition: 'pwpush', encrypt: 'link' };
    expect(here.kept()?.profiles.default).toEqual(saved);
  });
});

test('while it runs the connection is opened, which the request takes', async () => {
  const there = place({ transport: undiciTransport, env: { PATH: process.env.PATH } });
  let connections = 0;
  const go = there.file('go');
  const server = await listening((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(VERSION);
  });
  server.onConnection(() => {
    connections += 1;
    writeFileSync(go, '');
  });
  // It ends only after the connection was opened.
  const command = `sh -c 'until [ -e "${go}" ]; do sleep 0.05; done; echo t0ken'`;
  const env = { PWPUSH_URL: server.url, PWPUSH_TOKEN_COMMAND: command };
  const { code } = await there.under({ env }).run('version');
  expect([code, connections, server.seen]).toEqual([0, 1, ['GET /api/v2/version']]);
});
