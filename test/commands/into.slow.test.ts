import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { eachInstance } from '../helpers/instance';
import { VERSION } from '../helpers/reference';
import { place } from '../helpers/run';
import { json, wire } from '../helpers/wire';

// What is said and refused: test/cases/push-into*.txt.

const here = eachInstance({ env: { PATH: process.env.PATH } });

const into = ['push', '--generate', '--into'];
const posts = () => here.asked.filter((one) => one.startsWith('POST')).length;
const get = async (link: string) => (await here.run('get', link.trim())).stdout;
const written = (name: string) => readFileSync(here.file(name), 'utf8');
const started = () => existsSync(here.file('started'));
/** The words of a line of sh that finds the folder of the test in `$DIR`. */
const sh = (line: string) => ['--', 'sh', '-c', `DIR='${here.folder}'; ${line}`];

describe('the command gets the secret', () => {
  test('on standard input alone, none of our own secrets, and it is what is pushed', async () => {
    const look = 'env >"$DIR/env"; tr "\\0" "\\n" </proc/$$/cmdline >"$DIR/words"; cat >"$DIR/got"';
    const env = { ...here.admin, PWPUSH_KEY: 'k', PWPUSH_PASSPHRASE: 'open sesame' };
    const { code, stdout } = await here.under({ env }).run(...into, ...sh(look));
    const value = written('got');
    expect([code, value.length]).toEqual([0, 24]);
    const opened = await here.under({ env: { ...env, PWPUSH_KEY: '' } }).run('get', stdout.trim());
    expect(opened.stdout).toBe(value);
    expect(written('env') + written('words')).not.toContain(value);
    expect(written('env')).not.toMatch(/^PWPUSH_(TOKEN|KEY|PASSPHRASE)=/m);
  });

  test('in the named variable alone, beside our own standard input, and in clear if it is encrypted', async () => {
    const line = 'cat >"$DIR/in"; printf %s "$NEW" >"$DIR/got"';
    const words = [...into, '--encrypt', '--as', 'NEW', ...sh(line)];
    const { stdout } = await here.under({ stdin: 'ours' }).run(...words);
    expect([written('in'), await get(stdout)]).toEqual(['ours', written('got')]);
  });
});

test.each([[[]], [['--json']], [['--debug']]])(
  'nothing prints the secret with %j, also what the command prints of it',
  async (more) => {
    const print = 'tee "$DIR/got"; cat "$DIR/got" >&2; base64 <"$DIR/got"; printf "%s " a b';
    const shown = here.under({ terminals: ['stdout', 'stderr'] });
    const { code, stdout, stderr } = await shown.run(...into, ...more, ...sh(print));
    expect([code, stdout.trim().split('\n').length]).toEqual([0, 1]);
    const value = written('got');
    for (const one of [value, Buffer.from(value).toString('base64').slice(0, 20)])
      expect(`${stdout}${stderr}`).not.toContain(one);
    expect([stderr.includes('***'), stderr.includes('a b ')]).toEqual([true, true]);
    // Whichever of its two pipes was read last, what follows begins on a line of its own.
    expect(stderr).toMatch(/(?:\*\*\*|a b )\n/);
  },
);

describe('the command', () => {
  test.each([
    ['closes its input early and succeeds', 'exec <&-; exit 0', 0],
    ['reads nothing and succeeds', 'exit 0', 0],
    ['closes its input early and fails', 'exec <&-; exit 3', 1],
    ['is killed', 'cat >"$DIR/got"; kill -KILL $$', 1],
    ['fails after it printed the secret', 'tee "$DIR/got"; exit 1', 1],
  ])('%s: its secret is pushed, or rescued', async (_, line, code) => {
    const outcome = await here.run('push', '--generate', '1024', '--into', ...sh(line));
    const values = Object.values(here.rescued());
    expect([outcome.code, posts(), values.length]).toEqual([code, 1 - code, code]);
    if (!existsSync(here.file('got'))) return;
    expect(values).toEqual([written('got')]);
    expect(outcome.stderr).not.toContain(written('got'));
  });

  test('cannot be started: no file is left', async () => {
    const [program, interpreter] = [here.file('program'), here.file('interpreter')];
    writeFileSync(program, `#!${interpreter}\n`, { mode: 0o755 });
    writeFileSync(interpreter, '#!/no/such/interpreter\n', { mode: 0o755 });
    const { code } = await here.run(...into, '--', program);
    expect([code, here.rescued(), posts()]).toEqual([1, {}, 0]);
  });

  test('is not run in a run that was interrupted before', async () => {
    const interrupted = here.under({ signal: AbortSignal.abort('SIGTERM') });
    const { code } = await interrupted.run(...into, ...sh('touch "$DIR/started"'));
    expect([code, started(), posts()]).toEqual([143, false, 0]);
  });

  test('is not run before profile, limits, passphrase and files are read', async () => {
    const missing = here.file('missing');
    for (const words of [
      ['--url', 'ftp://pw.test'],
      ['--expire', '10s'],
      ['--passphrase-file', missing],
      ['--token-file', missing],
      ['--to', 'nonsense'],
    ]) {
      const { code } = await here.run(...into, ...words, ...sh('touch "$DIR/started"'));
      expect([words, code, started()]).toEqual([words, 2, false]);
    }
    expect([posts(), here.rescued()]).toEqual([0, {}]);
  });
});

describe('where nothing can be saved', () => {
  test('after the command succeeded, its secret is said to be lost', async () => {
    const cut = place({
      env: { PATH: process.env.PATH, PWPUSH_URL: 'https://pw.test', PWPUSH_EDITION: 'oss' },
      send: wire([json(200, VERSION), json(422, '{}')]).send,
    });
    const PWPUSH_STATE_DIR = cut.file('safe');
    const line = `rm -r '${PWPUSH_STATE_DIR}'; touch '${PWPUSH_STATE_DIR}'`;
    const unsafe = cut.under({ env: { PWPUSH_STATE_DIR, TMPDIR: '/proc/nowhere' } });
    const { code, stderr } = await unsafe.run(...into, '--', 'sh', '-c', line);
    expect(code).toBe(8);
    expect(stderr).toContain('the new value is LOST');
  });

  test('no command is started, and the check leaves no file', async () => {
    const nowhere = { PWPUSH_STATE_DIR: '/proc/nowhere', TMPDIR: '/proc/nowhere' };
    const words = [...into, ...sh('touch "$DIR/started"')];
    const { code } = await here.under({ env: nowhere }).run(...words);
    expect([code, started()]).toEqual([1, false]);
    mkdirSync(here.file('tmp'));
    const env = { ...nowhere, TMPDIR: here.file('tmp') };
    expect((await here.under({ env }).run(...into, '--', 'true')).code).toBe(0);
    expect(readdirSync(here.file('tmp'))).toEqual([]);
  });
});
