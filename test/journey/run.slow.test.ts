import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { contents } from '../helpers/contents';
import { partOf } from '../helpers/long';
import { needsFile, needsPrograms, skipWithout } from '../helpers/needs';
import {
  alsoBinary,
  makePerson,
  type Person,
  person,
  program,
  pushed,
  pwpush,
  rescued,
  running,
  serving,
  shell,
  start,
} from '../helpers/program';
import { onTerminal } from '../helpers/pty';

// The commands that `run` and `push --into` start: their signals, terminal, output and files.

const somebody = person();
const service = serving(somebody.env);
const { env, folder } = somebody;
const push = (payload: string) => pushed(service, payload);
const quoted = (words: readonly string[]) => words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');

/** Words that run a script of sh with the secret as `$A`, and masked. */
const masking = async (script: string) => {
  const words = ['run', await push('hunter2'), '--as', 'A', '--mask', '--quiet'];
  return [...words, '--', 'sh', '-c', script];
};

describe.each([[], ['--mask']])('signals of a command that is run %s', (...mask) => {
  /** Names each signal that it hears, and ends on SIGTERM with 9. */
  const LISTENER = `
    for (const name of ['SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGTERM'])
      process.on(name, () => {
        process.stdout.write(name + '\\n');
        if (name === 'SIGTERM') process.exit(9);
      });
    setInterval(() => {}, 1000);
    process.stdout.write('ready ' + process.env.A + '\\n');`;

  test('reach it once each, and its exit code comes back', alsoBinary, async () => {
    const words = ['run', await push('hunter2'), '--as', 'A', ...mask];
    const all = [...program.slice(1), ...words, '--', process.execPath, '-e', LISTENER];
    const { child, ended, says } = running(spawn(program[0], all, { env, detached: true }));
    let wanted = mask.length === 0 ? 'ready hunter2\n' : 'ready ***\n';
    await says(wanted);
    const names = ['SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGINT'];
    for (const name of names) {
      child.kill(name as NodeJS.Signals);
      wanted += `${name}\n`;
      await says(wanted);
    }
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 9, signal: null, stdout: `${wanted}SIGTERM\n` });
  });

  test('ends the run, if it comes before it has started', alsoBinary, async () => {
    const words = ['run', await push('A=hunter2'), ...mask, '--', 'sleep', '1000'];
    const { child, ended, says } = start(words, { env });
    await says('variables set: A', 'stderr');
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
  });

  test.each(partOf(['SIGTERM', 'SIGKILL', 'SIGINT'] as const, 0))(
    'that end it, such as %s, are 128 and their number',
    alsoBinary,
    async (name) => {
      const ended = ['--', 'sh', '-c', `kill -${name.slice(3)} $$`];
      const words = ['run', await push('A=1'), ...mask, ...ended];
      expect((await pwpush(words, { env })).code).toBe(128 + constants.signals[name]);
    },
  );

  test('on a terminal: Control-C reaches it once, and it may go on', alsoBinary, async () => {
    const SCRIPT = `
      process.on('SIGINT', () => console.log('heard'));
      process.stdin.on('data', (word) => console.log('got ' + word)).on('end', () => process.exit(5));
      console.log('ready');`;
    const words = ['run', await push('A=1'), ...mask, '--', process.execPath, '-e', SCRIPT];
    const terminal = onTerminal(`exec $PWPUSH ${quoted(words)}`, env);
    await terminal.shows('ready');
    terminal.type('\u0003');
    await terminal.shows('heard');
    terminal.type('more\r');
    await terminal.shows('got more');
    terminal.type('\u0004');
    expect(await terminal.ended).toBe(5);
    expect(terminal.screen().match(/heard/g)).toHaveLength(1);
  });
});

test.each([
  ['of a person is its own, in size and input', {}, '24 80'],
  ['that a coding agent reads is not', { AI_AGENT: 'x' }, 'no terminal'],
])('the terminal of a command that is run, %s', async (_, more, wanted) => {
  const line = 'test -t 0 && test -t 1 && test -t 2 && stty size || echo no terminal';
  const words = ['run', await push('A=1'), '--', 'sh', '-c', line];
  const terminal = onTerminal(`$PWPUSH ${quoted(words)}`, { ...env, ...more });
  expect(await terminal.ended).toBe(0);
  expect(terminal.screen()).toContain(wanted);
});

describe('output that is masked', () => {
  test('is replaced on both streams, by name too, or cut', needsFile('/dev/stderr'), async () => {
    const parts = 'for part in hun ter2 ", " "$A" " $A"; do printf %s "$part"; done; echo "$A" >&2';
    const script = `${parts}; echo " $A" >/dev/stdout; echo "err $A" >/dev/stderr`;
    const { code, stdout, stderr } = await pwpush(await masking(script), { env });
    expect([code, stdout, stderr]).toEqual([0, '***, *** *** ***\n', '***\nerr ***\n']);
  });

  test('arrives as it is, all of it', alsoBinary, async () => {
    const copy = join(folder, 'copy');
    const words = await masking(`head -c 30000000 /dev/urandom | tee '${copy}'`);
    const line = `$PWPUSH ${quoted(words)} | cat >'${copy}.out'; cmp '${copy}' '${copy}.out'`;
    expect(await shell(line, { env })).toMatchObject({ code: 0, stderr: '' });
    expect(statSync(copy).size).toBe(30_000_000);
  });

  test('goes through sockets where there are no programs for pipes', alsoBinary, async () => {
    const words = (await masking('echo "$A"')).map((word) => (word === 'sh' ? '/bin/sh' : word));
    const ended = await pwpush(words, { env: { ...env, PATH: '/nonexistent' } });
    expect(ended).toMatchObject({ code: 0, stdout: '***\n', stderr: '' });
  });

  test('ends the command as a pipe does when nobody reads any more', alsoBinary, async () => {
    const words = quoted(await masking('exec yes'));
    const line = `{ $PWPUSH ${words}; echo "status $?" >&2; } | head -n 1`;
    const { stdout, stderr } = await shell(line, { env });
    expect({ stdout, stderr }).toEqual({ stdout: 'y\n', stderr: 'status 141\n' });
  });

  test('is an error where it cannot be written', needsFile('/dev/full'), async () => {
    const ended = await shell(`$PWPUSH ${quoted(await masking('echo x'))} >/dev/full`, { env });
    const stderr = 'pwpush: cannot write to standard output (the disk is full)\n';
    expect(ended).toMatchObject({ code: 1, stderr });
  });

  test('is not waited for if the command left it behind', async () => {
    const words = await masking('sleep 1000 & echo "$A" $!; exit 4');
    const { code, stdout } = await pwpush(words, { env });
    const [, sleeper] = stdout.split(' ');
    process.kill(Number(sleeper), 'SIGTERM');
    expect({ code, stdout }).toEqual({ code: 4, stdout: `*** ${sleeper}` });
  });
});

describe('push --into', () => {
  let owner: Person;
  let got: string;
  beforeEach(() => {
    owner = makePerson();
    Object.assign(owner.env, { PWPUSH_URL: service.url, PWPUSH_TOKEN: service.token });
    got = join(owner.folder, 'got');
  });
  const into = (line: string) => ['push', '--generate', '--into', '--', 'sh', '-c', line];
  const pushes = async () => (await service.ask('GET', '/pushes/active')).json.length;

  /** Starts it, and waits until the command has the secret and says so; resolves with what is there and saved then. */
  async function setting(line: string) {
    const count = await pushes();
    const words = into(`cat >'${got}'; ${line} echo ready; while :; do sleep 0.1; done`);
    const { child, ended, says } = start(words, { env: owner.env, input: '' });
    await says('ready\n', 'stderr');
    const saved = async () => [rescued(owner.env), (await pushes()) - count];
    return { child, ended, says, saved };
  }
  const kept = () => [[readFileSync(got, 'utf8')], 0];

  test.each([
    ['SIGTERM', 143, ''],
    ['SIGINT', 130, ''],
    ['SIGHUP', 129, ''],
    ['SIGTERM', 143, 'trap "exit 0" TERM;'],
  ] as const)('%s: nothing is pushed, and the secret is saved: %i %s', async (...row) => {
    const [signal, wanted, trap] = row;
    const { child, ended, saved } = await setting(trap);
    child.kill(signal);
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout, saved: await saved() }).toEqual({
      code: wanted,
      stdout: '',
      saved: kept(),
    });
    const [, path = ''] = /saved to (\S+)/.exec(stderr) ?? [];
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('a signal that the command ignores: the secret is saved at once, so that we may be killed', async () => {
    const trap = 'echo pid $$.; trap "echo heard" TERM;';
    const { child, ended, says, saved } = await setting(trap);
    child.kill('SIGTERM');
    await says('heard\n', 'stderr');
    child.kill('SIGKILL');
    const { stderr } = await ended;
    process.kill(Number(/pid (\d+)\./.exec(stderr)?.[1]), 'SIGKILL');
    expect(await saved()).toEqual(kept());
  });

  test('Ctrl-C ends the command and us; the secret is saved', alsoBinary, async () => {
    const words = into(`cat >'${got}'; echo ready; while :; do sleep 0.1; done`);
    const terminal = onTerminal(`exec $PWPUSH ${quoted(words)}`, owner.env);
    await terminal.shows('ready');
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(130);
    expect(rescued(owner.env)).toEqual([readFileSync(got, 'utf8')]);
  });

  test('the secret is in no argument, and in no file but that of the command', async () => {
    const seen = 'cat /proc/$PPID/cmdline /proc/$PPID/environ /proc/self/environ';
    const words = into(`cat >'${got}'; ${seen} >'${got}.seen'`);
    expect(await pwpush(words, { env: owner.env })).toMatchObject({ code: 0 });
    const secret = readFileSync(got, 'utf8');
    const holding = Object.entries(contents(owner.folder)).filter(([, text]) => text.includes(secret));
    expect(holding.map(([name]) => name)).toEqual(['got']);
  });
});

describe('a variable that takes a program over', () => {
  const mark = join(folder, 'mark');
  const touch = `touch ${mark}`;
  const config = join(folder, 'hostile');
  beforeAll(async () => {
    mkdirSync(join(config, 'git'), { recursive: true });
    writeFileSync(join(config, 'git', 'config'), `[core]\n\tfsmonitor = ${touch}\n`);
    writeFileSync(join(folder, 'x.c'), 'int main(void) { return 0; }\n');
    await shell('git init -q repository', { env, cwd: folder });
  });

  async function ran(line: string, more: Record<string, string> = {}) {
    const terminal = onTerminal(`cd ${folder}; ${line}`, { ...env, ...more });
    // less waits for somebody after a command.
    terminal.shows('(press RETURN)').then(
      () => terminal.type('\rq'),
      () => {},
    );
    const status = await terminal.ended;
    const made = existsSync(mark);
    rmSync(mark, { force: true });
    return { status, made };
  }

  const checkpoint = `--checkpoint=1 "--checkpoint-action=exec=${touch}"`;
  const attacks = [
    ['tar', 'TAR_OPTIONS', checkpoint, 'tar -cf o.tar x.c'],
    ['less', 'LESS', `+!${touch}\n`, 'less x.c'],
    ['bash', 'PS0', `$(${touch})`, 'echo true | bash --norc -i'],
    ['vim', 'VIMINIT', `silent !${touch}`, 'vim -c q'],
    ['make', 'CC', `${touch} #`, 'make x'],
    ['lua5.4', 'LUA_INIT_5_4', `os.execute("${touch}")`, 'lua5.4 -e ""'],
    ['git', 'XDG_CONFIG_HOME', config, 'git -C repository status'],
    ['git', 'GIT_TRACE', mark, 'git --version'],
    ['pip', 'PIP_LOG', mark, 'pip download --no-index nothing'],
  ] as const;
  test.for(partOf(attacks, 0, 3))('%s is not run with %s from a secret', async ([program, variable, value, line]) => {
    skipWithout(needsPrograms(program));
    // Without us it does what the attacker wants.
    expect((await ran(line, { [variable]: value })).made).toBe(true);
    const link = await push(`A=1\n${variable}='${value}'\n`);
    const words = `run ${link} -- sh -c '${line}'`;
    expect(await ran(`$PWPUSH ${words}`)).toEqual({ status: 2, made: false });
  });
});
