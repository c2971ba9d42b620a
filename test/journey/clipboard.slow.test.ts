import { spawn, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needsPrograms } from '../helpers/needs';
import { alsoBinary, person, program, pushed as pushedTo, pwpush, serving } from '../helpers/program';

const sender = person();
const recipient = person();
const service = serving(sender.env);

// The clipboard of a terminal: test/cases/get-copy-over-ssh.txt.

const SECRET = 'MARKER pässwörd\n\u001b';

const pushed = () => pushedTo(service, SECRET);

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

  test('the secret is on the clipboard when the command has ended', alsoBinary, async () => {
    const got = await pwpush(['get', '--copy', await pushed()], { env });
    expect(got).toMatchObject({ code: 0, stdout: '' });
    // xclip takes the selection a moment after it has gone to the background.
    const board = () => spawnSync('xsel', ['--clipboard', '--output'], { env, encoding: 'utf8' });
    await expect.poll(() => board().stdout, { message: 'what the clipboard has' }).toBe(SECRET);
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

  test.each<[how: string, path: string, settings: string[]]>([
    ['by its program', '', []],
    [
      'by OSC 52, where its program is not to be had',
      'PATH=/nonexistent; export PATH;',
      ['set', '-s', 'set-clipboard', 'on', ';'],
    ],
  ])('the secret is in its newest buffer, %s', async (_, path, settings) => {
    const get = `${path} ${program.join(' ')} get --copy ${await pushed()}`;
    const line = `P=$PATH; ${get}; PATH=$P; tmux -S ${socket} wait-for -S done`;
    const session = ['new-session', '-d', '-x', '80', '-y', '24', line];
    tmux(...settings, ...session, ';', 'set', '-g', 'remain-on-exit', 'on');
    tmux('wait-for', 'done');
    expect(tmux('show-buffer')).toBe(SECRET);
  });
});
