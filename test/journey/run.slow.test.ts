import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { partOf } from '../helpers/long';
import { needsPrograms, skipWithout } from '../helpers/needs';
import { alsoBinary, person, program, pushed, pwpush, serving, shell } from '../helpers/program';
import { onTerminal } from '../helpers/pty';

const somebody = person();
const service = serving(somebody.env);
const push = (payload: string) => pushed(service, payload);

/** Names each signal that it hears, and ends on SIGTERM with 9. */
const LISTENER = `
  for (const name of ['SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGTERM'])
    process.on(name, () => {
      process.stdout.write(name + '\\n');
      if (name === 'SIGTERM') process.exit(9);
    });
  setInterval(() => {}, 1000);
  process.stdout.write('ready ' + process.env.A + '\\n');`;

/** Runs the listener with no terminal to belong to; `says` resolves once it has said that much. */
async function listening() {
  const words = [
    ...program.slice(1),
    'run',
    await push('A=1'),
    '--',
    process.execPath,
    '-e',
    LISTENER,
  ];
  const child = spawn(program[0], words, { env: somebody.env, detached: true });
  const ended = new Promise((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  );
  let said = '';
  child.stdout.setEncoding('utf8');
  const says = (text: string) =>
    new Promise<void>((resolve) => {
      const check = () => said.includes(text) && resolve();
      child.stdout.on('data', check);
      check();
    });
  child.stdout.on('data', (chunk: string) => {
    said += chunk;
  });
  return { child, ended, says, said: () => said };
}

describe('signals', () => {
  test('reach the program once each, and its exit code comes back', alsoBinary, async () => {
    const { child, ended, says, said } = await listening();
    await says('ready 1\n');
    const names = [
      'SIGINT',
      'SIGHUP',
      'SIGQUIT',
      'SIGUSR1',
      'SIGUSR2',
      'SIGWINCH',
      'SIGINT',
    ] as const;
    let wanted = 'ready 1\n';
    for (const name of names) {
      child.kill(name);
      wanted += `${name}\n`;
      await says(wanted);
    }
    child.kill('SIGTERM');
    expect(await ended).toEqual({ code: 9, signal: null });
    expect(said()).toBe(`${wanted}SIGTERM\n`);
  });

  test.each(partOf(['SIGTERM', 'SIGKILL', 'SIGINT'] as const, 0))(
    '%s as its end is 128 and its number',
    alsoBinary,
    async (name) => {
      const link = await push('A=1');
      const { code } = await pwpush(['run', link, '--', 'sh', '-c', `kill -${name.slice(3)} $$`], {
        env: somebody.env,
      });
      expect(code).toBe(128 + constants.signals[name]);
    },
  );
});

describe('on a terminal', () => {
  test('Control-C reaches the program once, and it may go on', alsoBinary, async () => {
    const link = await push('A=1');
    const SCRIPT = `
      process.on('SIGINT', () => console.log('heard'));
      process.stdin.on('data', (word) => console.log('got ' + word)).on('end', () => process.exit(5));
      console.log('ready');`;
    const terminal = onTerminal(`exec $PWPUSH run ${link} -- ${process.execPath} -e "$SCRIPT"`, {
      ...somebody.env,
      SCRIPT,
    });
    await terminal.shows('ready');
    terminal.type('\u0003');
    await terminal.shows('heard');
    terminal.type('more\r');
    await terminal.shows('got more');
    terminal.type('\u0004');
    expect(await terminal.ended).toBe(5);
    expect(terminal.screen().match(/heard/g)).toHaveLength(1);
  });

  test('the terminal is the program’s own, in size and input', async () => {
    const link = await push('A=1');
    const terminal = onTerminal(
      `$PWPUSH run ${link} -- sh -c 'test -t 0 && test -t 1 && test -t 2 && stty size'`,
      somebody.env,
    );
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).toContain('24 80');
  });
});

test('the secret is neither in arguments nor on the disk', async () => {
  const link = await push('A=MARKER-1234');
  const script =
    'tr "\\0" " " </proc/$PPID/cmdline; tr "\\0" " " </proc/self/cmdline; test -n "$A"';
  const { code, stdout } = await pwpush(['run', link, '--', 'sh', '-c', script], {
    env: somebody.env,
  });
  expect({ code, told: stdout.includes('MARKER') }).toEqual({ code: 0, told: false });
  const files = readdirSync(somebody.folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.parentPath.includes('data'),
  );
  const holding = files.filter((entry) =>
    readFileSync(`${entry.parentPath}/${entry.name}`).includes('MARKER-1234'),
  );
  expect(holding).toEqual([]);
});

test('a run within a run has both secrets', async () => {
  const [first, second] = [await push('A=1'), await push('hunter2')];
  const inner = ['--', ...program, 'run', second, '--as', 'B', '--anonymous'];
  const words = ['run', first, ...inner, '--', 'sh', '-c', 'echo "$A$B"'];
  expect((await pwpush(words, { env: somebody.env })).stdout).toBe('1hunter2\n');
});

describe('a variable that takes a program over', () => {
  const mark = join(somebody.folder, 'mark');
  const touch = `touch ${mark}`;
  const config = join(somebody.folder, 'hostile');
  beforeAll(async () => {
    mkdirSync(join(config, 'git'), { recursive: true });
    writeFileSync(join(config, 'git', 'config'), `[core]\n\tfsmonitor = ${touch}\n`);
    writeFileSync(join(somebody.folder, 'x.c'), 'int main(void) { return 0; }\n');
    await shell('git init -q repository', { env: somebody.env, cwd: somebody.folder });
  });

  /** The line's end, and whether the mark was made. */
  async function ran(line: string, more: Record<string, string> = {}) {
    const terminal = onTerminal(`cd ${somebody.folder}; ${line}`, { ...somebody.env, ...more });
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

  const attacks = [
    [
      'tar',
      'TAR_OPTIONS',
      `--checkpoint=1 "--checkpoint-action=exec=${touch}"`,
      'tar -cf o.tar x.c',
    ],
    ['less', 'LESS', `+!${touch}\n`, 'less x.c'],
    ['bash', 'PS0', `$(${touch})`, 'echo true | bash --norc -i'],
    ['vim', 'VIMINIT', `silent !${touch}`, 'vim -c q'],
    ['make', 'CC', `${touch} #`, 'make x'],
    ['lua5.4', 'LUA_INIT_5_4', `os.execute("${touch}")`, 'lua5.4 -e ""'],
    ['git', 'XDG_CONFIG_HOME', config, 'git -C repository status'],
    ['git', 'GIT_TRACE', mark, 'git --version'],
    ['pip', 'PIP_LOG', mark, 'pip download --no-index nothing'],
  ] as const;
  test.for(partOf(attacks, 0, 3))(
    '%s is not run with %s from a secret',
    async ([program, variable, value, line]) => {
      skipWithout(needsPrograms(program));
      // Without us it does what the attacker wants.
      expect((await ran(line, { [variable]: value })).made).toBe(true);
      const link = await push(`A=1\n${variable}='${value}'\n`);
      const words = `run ${link} -- sh -c '${line}'`;
      expect(await ran(`$PWPUSH ${words}`)).toEqual({ status: 2, made: false });
    },
  );

  test('is left out by --only', async () => {
    const assignments = attacks.map(([, variable, value]) => `${variable}='${value}'\n`);
    const link = await push(`A=1\n${assignments.join('')}`);
    const { stdout } = await pwpush(['run', link, '--only', 'A', '--', 'env'], {
      env: somebody.env,
    });
    expect(stdout).toMatch(/^A=1$/m);
    for (const [, variable, value] of attacks) expect(stdout).not.toContain(`${variable}=${value}`);
  });

  test('and that no list names may not replace what is set', async () => {
    const env = { ...somebody.env, DEPLOY_SCRIPT: 'true' };
    const link = await push(`DEPLOY_SCRIPT='${touch}'`);
    const words = ['run', link, '--', 'sh', '-c', '$DEPLOY_SCRIPT'];
    const { code, stderr } = await pwpush(words, { env });
    expect({ code, made: existsSync(mark) }).toEqual({ code: 2, made: false });
    expect(stderr).toMatch(
      /^pwpush: the push sets DEPLOY_SCRIPT, already set to another value in the /,
    );
  });
});
