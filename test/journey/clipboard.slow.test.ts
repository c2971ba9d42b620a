import { spawn, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needsPrograms } from '../helpers/needs';
import { alsoBinary, person, program, pwpush, serving } from '../helpers/program';
import { onTerminal } from '../helpers/pty';

const sender = person();
const recipient = person();
const service = serving(sender.env);

const SECRET = 'MARKER pässwörd\n\u001b';

async function pushed(...words: string[]) {
  const { stdout } = await pwpush(['push', '--raw', ...words], { env: sender.env, input: SECRET });
  return stdout.trim();
}

describe('on a terminal', () => {
  const far = { ...recipient.env, SSH_CONNECTION: '192.0.2.1 50000 192.0.2.2 22' };
  /** What the terminal was told to put on its clipboard, in order. */
  const sequences = (screen: string) =>
    screen
      .split('\u001b]52;c;')
      .slice(1)
      .map((rest) => Buffer.from(rest.split('\u0007')[0] ?? '', 'base64').toString('utf8'));

  test('reached over ssh the secret goes to its clipboard, and is shown nowhere', async () => {
    const terminal = onTerminal(`$PWPUSH get --copy ${await pushed()}`, far);
    expect(await terminal.ended).toBe(0);
    expect(sequences(terminal.screen())).toEqual([SECRET]);
    expect(terminal.screen()).not.toContain('MARKER');
    expect(terminal.screen()).toContain("sent to the terminal's clipboard (OSC 52)");
  });

  test('of push --encrypt it gets the link with its key, and of get the secret', async () => {
    const from = { ...sender.env, SSH_CONNECTION: far.SSH_CONNECTION };
    const pushing = onTerminal('printf MARKER | $PWPUSH push --encrypt --copy', from);
    expect(await pushing.ended).toBe(0);
    const [link = ''] = sequences(pushing.screen());
    expect(link).toMatch(/#[\w-]{22}$/);
    const terminal = onTerminal(`$PWPUSH get --copy '${link}'`, far);
    expect(await terminal.ended).toBe(0);
    expect(sequences(terminal.screen())).toEqual(['MARKER']);
  });

  test('asks about the last view, and prints the secret where it was not taken', async () => {
    const terminal = onTerminal(`$PWPUSH get --copy ${await pushed('--views', '1')}`, far);
    await terminal.shows('Is it on your clipboard?');
    terminal.type('n\r');
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).toContain('MARKER pässwörd\r\n\\x1b\r\n');
  });
});

describe('on X11 (needs Xvfb, xclip, xsel)', needsPrograms('Xvfb', 'xclip', 'xsel'), () => {
  let server: ReturnType<typeof spawn>;
  let env: Record<string, string>;

  beforeAll(async () => {
    server = spawn('Xvfb', ['-displayfd', '3', '-nolisten', 'tcp', '-screen', '0', '64x64x8'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    const display = await new Promise<string>((resolve, reject) => {
      server.once('error', reject);
      server.stdio[3]?.once('data', (line: Buffer) => resolve(line.toString().trim()));
    });
    env = { ...recipient.env, DISPLAY: `:${display}` };
  });
  afterAll(() => server?.kill());

  /** Looks until it holds the text: xclip takes the selection a moment after it has gone to the background. */
  async function boardHolds(text: string): Promise<void> {
    const words = ['--clipboard', '--output'];
    await expect.poll(() => spawnSync('xsel', words, { env, encoding: 'utf8' }).stdout).toBe(text);
  }

  test(
    'the secret is on the clipboard when the command has ended, which waits for nobody',
    alsoBinary,
    async () => {
      const got = await pwpush(['get', '--copy', await pushed()], { env });
      expect(got).toMatchObject({ code: 0, stdout: '' });
      await boardHolds(SECRET);
    },
  );

  test('and so is a link', async () => {
    const at = { ...env, PWPUSH_URL: service.url };
    const { stdout } = await pwpush(['push', '--copy'], { env: at, input: 's' });
    await boardHolds(stdout.trim());
  });
});

describe('in tmux (needs tmux)', needsPrograms('tmux'), () => {
  const socket = `${recipient.folder}/tmux`;
  const tmux = (...words: string[]) =>
    spawnSync('tmux', ['-S', socket, '-f', '/dev/null', ...words], {
      env: recipient.env,
      encoding: 'utf8',
    }).stdout;
  afterAll(() => tmux('kill-server'));

  /** Runs a line of sh in a window of its own, to its end; the words before it are another command of tmux. */
  function inWindow(line: string, ...before: string[]) {
    const done = `done-${Math.random()}`;
    const full = `PWPUSH="${program.join(' ')}"; ${line}; tmux -S ${socket} wait-for -S ${done}`;
    const session = ['new-session', '-d', '-x', '80', '-y', '24', full];
    tmux(...before, ...session, ...[';', 'set', '-g', 'remain-on-exit', 'on']);
    tmux('wait-for', done);
  }

  test('the secret is in its newest buffer', async () => {
    inWindow(`$PWPUSH get --copy ${await pushed()}`);
    expect(tmux('show-buffer')).toBe(SECRET);
  });

  test('told by OSC 52, where its program is not to be had', async () => {
    const without = 'P=$PATH; PATH=/nonexistent; export PATH';
    const line = `${without}; $PWPUSH get --copy ${await pushed()}; PATH=$P`;
    inWindow(line, 'set', '-s', 'set-clipboard', 'on', ';');
    expect(tmux('show-buffer')).toBe(SECRET);
  });
});
