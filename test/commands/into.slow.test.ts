import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';
import { CREATED, VERSION } from '../helpers/reference';
import { type Place, place } from '../helpers/run';
import { broken, json, wire } from '../helpers/wire';

let here: Instance;
beforeEach(async () => {
  here = await instance({ env: { PATH: process.env.PATH } });
});
afterEach(() => here.close());

const into = ['push', '--generate', '--into'];
const posts = () => here.asked.filter((one) => one.startsWith('POST'));
/** What a command wrote to a file. */
const written = (name: string) => readFileSync(here.file(name), 'utf8');

/** The words of a line of sh that finds the folder of the test in `$DIR`. */
const sh = (line: string) => ['--', 'sh', '-c', `DIR='${here.folder}'; ${line}`];

describe('the command gets the secret', () => {
  test('on standard input alone, and it is what is pushed', async () => {
    const look = 'env >"$DIR/env"; tr "\\0" "\\n" </proc/$$/cmdline >"$DIR/words"; cat >"$DIR/got"';
    const { code, stdout, stderr } = await here.run(...into, ...sh(look));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const value = written('got');
    expect(value).toHaveLength(24);
    expect((await here.run('get', stdout.trim())).stdout).toBe(value);
    expect([written('env').includes(value), written('words').includes(value)]).toEqual([
      false,
      false,
    ]);
  });

  test('in the named variable alone, beside our own standard input', async () => {
    const words = [...into, '--as', 'NEW', ...sh('cat >"$DIR/in"; printf %s "$NEW" >"$DIR/got"')];
    const { stdout } = await here.under({ stdin: 'ours' }).run(...words);
    expect(written('in')).toBe('ours');
    expect((await here.run('get', stdout.trim())).stdout).toBe(written('got'));
  });

  test('and none of our own secrets', async () => {
    const env = { ...here.admin, PWPUSH_KEY: 'k', PWPUSH_PASSPHRASE: 'open sesame' };
    const words = [...into, ...sh('env >"$DIR/env"')];
    expect((await here.under({ env }).run(...words)).code).toBe(0);
    expect(written('env')).not.toMatch(/^PWPUSH_(TOKEN|KEY|PASSPHRASE)=/m);
  });

  test('as many characters as are asked for', async () => {
    await here.run('push', '--generate', 'hex:32', '--into', ...sh('cat >"$DIR/got"'));
    expect(written('got')).toMatch(/^[0-9a-f]{32}$/);
  });

  test('encrypted for the recipient, in clear for the command', async () => {
    const { stdout } = await here.run(...into, '--encrypt', ...sh('cat >"$DIR/got"'));
    expect((await here.run('get', stdout.trim())).stdout).toBe(written('got'));
  });
});

describe('nothing prints it', () => {
  test.each([
    ['text', []],
    ['JSON', ['--json']],
    ['debugging', ['--debug']],
  ])('as %s, also what the command prints of it', async (_, more) => {
    const print = 'tee "$DIR/got"; cat "$DIR/got" >&2; base64 <"$DIR/got"; printf "%s " a b';
    const shown = here.under({ terminals: ['stdout', 'stderr'] });
    const { code, stdout, stderr } = await shown.run(...into, ...more, ...sh(print));
    expect(code).toBe(0);
    const value = written('got');
    const spellings = [value, Buffer.from(value).toString('base64').slice(0, 20)];
    expect(spellings.filter((one) => `${stdout}${stderr}`.includes(one))).toEqual([]);
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain('***');
    expect(stderr).toContain('a b ');
    // Whichever of its two pipes was read last, what follows begins on a line of its own.
    expect(stderr).toMatch(/(?:\*\*\*|a b )\n/);
  });
});

describe('the command', () => {
  test.each([
    ['closes its input early and succeeds', 'exec <&-; exit 0', 0, 1, 0],
    ['reads nothing and succeeds', 'exit 0', 0, 1, 0],
    ['fails', 'cat >"$DIR/got"; exit 3', 1, 0, 1],
    ['closes its input early and fails', 'exec <&-; exit 3', 1, 0, 1],
    ['is killed', 'cat >"$DIR/got"; kill -KILL $$', 1, 0, 1],
    ['fails after it printed the secret', 'tee "$DIR/got"; exit 1', 1, 0, 1],
  ])('%s: exit code, pushes and rescue files', async (_, line, code, pushed, rescued) => {
    const outcome = await here.run('push', '--generate', '1024', '--into', ...sh(line));
    const values = Object.values(here.rescued());
    expect([outcome.code, posts().length, values.length]).toEqual([code, pushed, rescued]);
    if (existsSync(here.file('got'))) {
      expect(values).toEqual([written('got')]);
      expect(outcome.stderr).not.toContain(written('got'));
    }
  });

  test('cannot be started: no file is left', async () => {
    const program = here.file('program');
    const interpreter = here.file('interpreter');
    writeFileSync(program, `#!${interpreter}\n`, { mode: 0o755 });
    writeFileSync(interpreter, '#!/no/such/interpreter\n', { mode: 0o755 });
    const { code } = await here.run(...into, '--', program);
    expect({ code, rescued: here.rescued(), posts: posts() }).toEqual({
      code: 1,
      rescued: {},
      posts: [],
    });
  });

  test('is not run in a run that was interrupted before', async () => {
    const interrupted = here.under({ signal: AbortSignal.abort('SIGTERM') });
    const { code } = await interrupted.run(...into, ...sh('touch "$DIR/started"'));
    expect([code, existsSync(here.file('started')), posts()]).toEqual([143, false, []]);
  });
});

describe('after the command succeeded', () => {
  const granted = CREATED.replace(/"expire_after_views":\d+/, '"expire_after_views":90');
  test.each([
    ['is refused', [json(422, '{"errors":{"payload":["bad"]}}')], 8],
    ['cannot be sent', [broken(false)], 9],
    ['has no response', [broken(true)], 11],
    ['fails', [json(500, '{}')], 11],
    ['gets looser limits', [json(201, granted), json(200, '{}')], 8],
    ['makes no sense', [json(201, 'nonsense')], 11],
  ])('the push %s: the secret is saved, which is said first', async (_, responses, code) => {
    const cut = place({
      env: { PATH: process.env.PATH, PWPUSH_URL: 'https://pw.test', PWPUSH_EDITION: 'oss' },
      send: wire([json(200, VERSION), ...responses]).send,
    });
    const got = cut.file('got');
    const words = [...into, '--json', '--views', '1', '--', 'sh', '-c', `cat >'${got}'`];
    const outcome = await cut.run(...words);
    const { error } = JSON.parse(outcome.stderr);
    const [[name, value] = []] = Object.entries(cut.rescued());
    const saved = join(cut.folder, 'state', name ?? '');
    expect(outcome).toMatchObject({ code, stdout: '' });
    expect(value).toBe(readFileSync(got, 'utf8'));
    expect(error).toMatchObject({ saved_to: saved });
    expect(
      error.message.startsWith(`the command succeeded; the new value was saved to ${saved};`),
    ).toBe(true);
    cut.close();
  });

  const withoutSafe = (cut: Place, state: string) =>
    cut.under({
      env: {
        ...{ PATH: process.env.PATH, PWPUSH_URL: 'https://pw.test' },
        ...{ PWPUSH_STATE_DIR: state, TMPDIR: '/proc/nowhere' },
      },
    });

  test('a secret that can no longer be saved either is said to be lost', async () => {
    const cut = place({ send: wire([json(200, VERSION), json(422, '{}')]).send });
    const state = cut.file('safe');
    const words = ['--', 'sh', '-c', `rm -r '${state}'; touch '${state}'`];
    const { code, stderr } = await withoutSafe(cut, state).run(...into, ...words);
    cut.close();
    expect(code).toBe(8);
    expect(stderr).toContain('the command succeeded; the new value is LOST');
  });

  test('nothing is started that could not be saved', async () => {
    const cut = place({ send: wire([json(200, VERSION)]).send });
    const words = ['--', 'touch', cut.file('started')];
    const { code } = await withoutSafe(cut, '/proc/nowhere').run(...into, ...words);
    expect([code, existsSync(cut.file('started'))]).toEqual([1, false]);
    cut.close();
  });

  test('no file is left by the check that a rescue file can be written', async () => {
    const tmp = here.file('tmp');
    mkdirSync(tmp);
    const env = { PATH: process.env.PATH, PWPUSH_STATE_DIR: '/proc/nowhere', TMPDIR: tmp };
    expect((await here.under({ env }).run(...into, '--', 'true')).code).toBe(0);
    expect(readdirSync(tmp)).toEqual([]);
  });
});

describe('before the command is run', () => {
  test('the profile, limits, passphrase and files are read', async () => {
    const missing = here.file('missing');
    for (const words of [
      ['--url', 'ftp://pw.test'],
      ['--profile', 'none'],
      ['--expire', '10s'],
      ['--passphrase-file', missing],
      ['--token-file', missing],
      ['-R', missing],
      ['--to', 'nonsense'],
    ]) {
      const { code } = await here.run(...into, ...words, ...sh('touch "$DIR/started"'));
      expect([words, code, existsSync(here.file('started'))]).toEqual([words, 2, false]);
    }
    expect([posts(), here.rescued()]).toEqual([[], {}]);
  });

  test('an unused new file for words is not in the way of the next run', async () => {
    const file = here.file('words');
    const words = [...into, '--generate-passphrase', '--passphrase-out', file];
    expect((await here.run(...words, ...sh('exit 1'))).code).toBe(1);
    expect((await here.run(...words, ...sh('exit 0'))).code).toBe(0);
    expect((await here.run(...words, ...sh('touch "$DIR/started"'))).code).toBe(2);
    expect(existsSync(here.file('started'))).toBe(false);
  });
});

test('a program is looked for along PATH', async () => {
  const name = 'pwpush-test-setter';
  writeFileSync(here.file(name), `#!/bin/sh\ncat >'${here.file('got')}'\n`);
  chmodSync(here.file(name), 0o755);
  const { code } = await here
    .under({ env: { PATH: `${here.folder}:${process.env.PATH}` } })
    .run(...into, ...['--', name]);
  expect([code, written('got').length]).toEqual([0, 24]);
});
