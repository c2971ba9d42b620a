import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { needsFile } from '../helpers/needs';
import { alsoBinary, person, pushed, pwpush, serving, shell, start } from '../helpers/program';
import { onTerminal } from '../helpers/pty';

const somebody = person();
const service = serving(somebody.env);
const { env } = somebody;

/** Words that run a script of sh with `$A`, masked. */
async function masking(script: string, secret = 'hunter2'): Promise<readonly string[]> {
  return [
    'run',
    await pushed(service, secret),
    '--as',
    'A',
    '--mask',
    '--quiet',
    '--',
    'sh',
    '-c',
    script,
  ];
}

/** The same as a line for a shell. */
async function line(script: string): Promise<string> {
  const words = await masking(script);
  return `$PWPUSH ${words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')}`;
}

/** Starts it, and waits for what it prints. */
async function running(script: string) {
  const { child, ended } = start(await masking(script), { env });
  let said = '';
  const says = (text: string) =>
    new Promise<void>((resolve) => {
      const check = () => said.endsWith(text) && resolve();
      child.stdout?.on('data', check);
      check();
    });
  child.stdout?.on('data', (chunk: string) => {
    said += chunk;
  });
  return { child, ended, says };
}

describe('output', () => {
  test('is replaced on both streams, however it is cut', async () => {
    const script =
      'for part in hun ter2 ", " "$A" " $A"; do printf %s "$part"; done; echo "$A" >&2';
    const { code, stdout, stderr } = await pwpush(await masking(script), { env });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '***, *** ***', stderr: '***\n' });
  });

  test('that may begin the secret is not held back for long', async () => {
    const { child, ended, says } = await running('printf hun; read -r line; printf "ter2\\n"');
    await says('hun');
    child.stdin?.write('\n');
    await says('hun***\n');
    expect(await ended).toMatchObject({ code: 0 });
  });

  test('of bytes arrives as it is, all of it', alsoBinary, async () => {
    const copy = join(somebody.folder, 'copy');
    const script = `head -c 30000000 /dev/urandom | tee '${copy}'`;
    const { code, stderr } = await shell(
      `${await line(script)} | cat >'${copy}.out'; cmp '${copy}' '${copy}.out'`,
      { env },
    );
    expect({ code, stderr, size: statSync(copy).size }).toEqual({
      code: 0,
      stderr: '',
      size: 30_000_000,
    });
  });

  test('can be written to by name', needsFile('/dev/stderr'), async () => {
    const script = 'echo "$A" >/dev/stdout; echo "err $A" >/dev/stderr';
    const { stdout, stderr } = await pwpush(await masking(script), { env });
    expect({ stdout, stderr }).toEqual({ stdout: '***\n', stderr: 'err ***\n' });
  });

  test('goes through sockets where there are no programs for pipes', alsoBinary, async () => {
    const words = (await masking('echo "$A"')).map((word) => (word === 'sh' ? '/bin/sh' : word));
    const ended = await pwpush(words, { env: { ...env, PATH: '/nonexistent' } });
    expect(ended).toMatchObject({ code: 0, stdout: '***\n', stderr: '' });
  });

  test('that nobody reads any more ends the command as a pipe does', alsoBinary, async () => {
    const script = `{ ${await line('exec yes')}; echo "status $?" >&2; } | head -n 1`;
    const { stdout, stderr } = await shell(script, { env });
    expect({ stdout, stderr }).toEqual({ stdout: 'y\n', stderr: 'status 141\n' });
  });

  test('that cannot be written is an error', needsFile('/dev/full'), async () => {
    const { code, stderr } = await shell(`${await line('echo x')} >/dev/full`, { env });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'pwpush: cannot write to standard output (the disk is full)\n',
    });
  });

  test('of what the command left behind is not waited for', async () => {
    const { code, stdout } = await pwpush(await masking('sleep 1000 & echo "$A" $!; exit 4'), {
      env,
    });
    const [, sleeper] = stdout.split(' ');
    // It runs on.
    process.kill(Number(sleeper), 'SIGTERM');
    expect({ code, stdout }).toEqual({ code: 4, stdout: `*** ${sleeper}` });
  });
});

describe('signals', () => {
  test('reach the program, and its exit code comes back', async () => {
    const { child, ended, says } = await running(
      'trap "echo hup" HUP; trap "echo term; exit 9" TERM; echo ready; while :; do sleep 0.1; done',
    );
    await says('ready\n');
    child.kill('SIGHUP');
    await says('hup\n');
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 9, stdout: 'ready\nhup\nterm\n' });
  });

  test('that end it are 128 and their number', async () => {
    expect((await pwpush(await masking('kill -KILL $$'), { env })).code).toBe(137);
  });
});

describe('on a terminal', () => {
  test('the program reads from it, and hears Ctrl-C once', async () => {
    const script =
      'trap "echo heard" INT; test -t 0 && echo ready; until read -r line; do :; done; echo "got $line $A"; exit 5';
    const terminal = onTerminal(`exec ${await line(script)}`, env);
    await terminal.shows('ready');
    terminal.type('\u0003');
    await terminal.shows('heard');
    terminal.type('more\r');
    await terminal.shows('got more ***');
    expect(await terminal.ended).toBe(5);
    expect(terminal.screen().match(/heard/g)).toHaveLength(1);
  });

  test.each([
    ['of a person is its own', {}, 'yes'],
    ['that a coding agent reads is not', { AI_AGENT: 'x' }, 'no'],
  ])('%s', async (_, more, wanted) => {
    const words = `run ${await pushed(service, 'A=1')} -- sh -c 'test -t 1 && echo yes || echo no'`;
    const terminal = onTerminal(`$PWPUSH ${words}`, { ...env, ...more });
    await terminal.ended;
    expect(terminal.screen()).toContain(wanted);
  });
});
