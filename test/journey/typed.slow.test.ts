import { mkdirSync, readdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { needsPrograms, onLinux } from '../helpers/needs';
import { alsoBinary, person, pwpush, serving } from '../helpers/program';
import { onTerminal, type Terminal } from '../helpers/pty';

// Secrets of several lines: pasted, typed up to Ctrl-D, or written in an editor.

const sender = person();
const service = serving(sender.env);

const ENTER = '\r';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_U = '\u0015';
const CTRL_W = '\u0017';
const ALT_ENTER = '\u001b\r';
/** As terminals send pasted text once they are asked to mark it (xterm's mode 2004). */
const paste = (text: string) => `\u001b[200~${text.replaceAll('\n', '\r')}\u001b[201~`;

const KEY = '-----BEGIN KEY-----\nMARKER\tü\n-----END KEY-----\n';

async function noPassphrase(terminal: Terminal): Promise<void> {
  await terminal.shows('Passphrase (Enter for none):');
  terminal.type(ENTER);
}

async function pushed(terminal: Terminal): Promise<string> {
  expect(await terminal.ended).toBe(0);
  expect(terminal.screen()).not.toContain('MARKER');
  const link = new RegExp(`${service.url}/p/[a-z0-9_-]+/r`).exec(terminal.screen())?.[0] ?? '';
  return (await pwpush(['get', link], { env: sender.env })).stdout;
}

describe('at the prompt', () => {
  /** Types at the question for the secret, and lets the one for the passphrase go by. */
  async function typed(...keys: string[]): Promise<Terminal> {
    const terminal = onTerminal('$PWPUSH push', sender.env);
    await terminal.shows('Secret:');
    for (const one of keys) terminal.type(one);
    await noPassphrase(terminal);
    return terminal;
  }

  test('pasted lines are one secret, and the terminal marks pasted text only meanwhile', async () => {
    const terminal = onTerminal('$PWPUSH push', sender.env);
    await terminal.shows('Secret:');
    terminal.type(paste(KEY));
    await terminal.shows('3 lines');
    terminal.type(ENTER);
    await noPassphrase(terminal);
    expect(await pushed(terminal)).toBe(KEY);
    const screen = terminal.screen();
    expect(screen).toContain('paste, or Alt-Enter, for several lines');
    expect(screen.indexOf('\u001b[?2004h')).toBeLessThan(screen.indexOf('Secret:'));
    expect(screen.indexOf('\u001b[?2004l')).toBeGreaterThan(screen.indexOf('Secret:'));
  });

  test('pasted text is a secret in whatever pieces it arrives', alsoBinary, async () => {
    // After a pause here, Escape could not be told from the key.
    const [first, ...pieces] = `${paste(KEY)}${ENTER}`;
    const terminal = await typed(`${first}${pieces.shift()}`, ...pieces);
    expect(await pushed(terminal)).toBe(KEY);
  });

  test('one pasted line loses its line end', async () => {
    expect(await pushed(await typed(paste('MARKER\n'), ENTER))).toBe('MARKER');
  });

  test('Alt-Enter, Ctrl-W and Ctrl-U do what they do elsewhere', async () => {
    const keys = [`no${CTRL_U}MARKER1${ALT_ENTER}`, `two no${CTRL_W}words${ENTER}`];
    expect(await pushed(await typed(...keys))).toBe('MARKER1\ntwo words');
  });

  test('Enter alone asks again', async () => {
    const terminal = onTerminal('$PWPUSH push', sender.env);
    await terminal.shows('Secret:');
    terminal.type(ENTER);
    await terminal.shows('Nothing was typed');
    terminal.type(`MARKER${ENTER}`);
    await noPassphrase(terminal);
    expect(await pushed(terminal)).toBe('MARKER');
  });

  test('an answer that is refused gets no tick', async () => {
    const terminal = onTerminal('$PWPUSH push -p', sender.env);
    for (const [question, answer] of [
      ['Secret:', 'MARKER'],
      ['Passphrase:', 'one'],
      ['Passphrase again:', 'two'],
    ] as const) {
      await terminal.shows(question);
      terminal.type(`${answer}${ENTER}`);
    }
    await terminal.shows("They don't match");
    terminal.type(CTRL_C);
    await terminal.ended;
    expect(terminal.screen()).not.toContain('✔');
  });
});

describe('--from - on a terminal', () => {
  test('says how to end it, and shows nothing', alsoBinary, async () => {
    const terminal = onTerminal('$PWPUSH push --from -', sender.env);
    await terminal.shows('Type the secret, then Ctrl-D:');
    terminal.type(`MARKER one${ENTER}no\u007f\u007ftwo${ENTER}${CTRL_D}`);
    expect(await pushed(terminal)).toBe('MARKER one\ntwo\n');
  });

  test('loses the line end of one line, and takes what was pasted', async () => {
    const terminal = onTerminal('$PWPUSH push -', sender.env);
    await terminal.shows('Type the secret, then Ctrl-D:');
    terminal.type(`${paste('MARKER\n')}${CTRL_D}`);
    expect(await pushed(terminal)).toBe('MARKER');
  });

  test('also for a passphrase, beside a piped secret being impossible', async () => {
    const terminal = onTerminal('$PWPUSH push MARK --passphrase-file -', sender.env);
    await terminal.shows('Type the passphrase, then Ctrl-D:');
    terminal.type(`MARKER${ENTER}${CTRL_D}`);
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).toContain('passphrase required');
    expect(terminal.screen()).not.toContain('MARKER');
  });
});

describe('--edit', onLinux, () => {
  /** An editor that notes what it was given, and then does more. */
  function editor(name: string, more: string): string {
    const path = `${sender.folder}/${name}`;
    const script = `#!/bin/sh
      echo "$@" >'${path}.words'; for file; do :; done
      stat -c '%a %F' "$file" "$(dirname "$file")" >'${path}.stat'; env >'${path}.env'
      tty <&0 >'${path}.tty'; [ -t 1 ] && [ -t 2 ] && echo all >>'${path}.tty'
      ${more}`;
    writeFileSync(path, script, { mode: 0o755 });
    return path;
  }
  const noted = (path: string, what: string) => readFileSync(`${path}.${what}`, 'utf8');
  const fileOf = (path: string) => noted(path, 'words').trim().split(' ').at(-1) ?? '';
  const left = (path: string) =>
    readdirSync(fileOf(path).replace(/\/pwpush-.*/, '')).filter((one) =>
      fileOf(path).includes(one),
    );
  const run = (path: string, line = '$PWPUSH push --edit', env = {}) =>
    onTerminal(line, { ...sender.env, EDITOR: `'${path}' --wait`, PWPUSH_X: 'x', ...env });

  test('is a file in memory that nobody else can read, and nothing is left of it', async () => {
    const path = editor(
      'writes',
      `printf '%s' "${KEY}" >"$file"; cp "$file" "$file~"; mkdir "$(dirname "$file")/a"`,
    );
    const terminal = run(path);
    await noPassphrase(terminal);
    expect(await pushed(terminal)).toBe(KEY);
    expect(noted(path, 'words')).toMatch(/^--wait \/\S+\n$/);
    expect(noted(path, 'stat')).toBe('600 regular empty file\n700 directory\n');
    expect(noted(path, 'env')).not.toContain('PWPUSH_');
    expect(statfsSync(fileOf(path).replace(/\/pwpush-.*/, '')).type).toBe(0x01021994);
    expect(left(path)).toEqual([]);
  });

  test('$VISUAL comes first, and its end of one line is removed', async () => {
    const path = editor('visual', 'echo MARKER >"$file"');
    const terminal = run('false', undefined, { VISUAL: path });
    await noPassphrase(terminal);
    expect(await pushed(terminal)).toBe('MARKER');
  });

  test('the editor has the terminal when the link goes to a variable', alsoBinary, async () => {
    const path = editor('captured', 'echo MARKER >"$file"');
    const terminal = run(
      path,
      'x=$(echo ignored | $PWPUSH push --edit 2>/dev/null); echo "link: $x"',
    );
    await noPassphrase(terminal);
    expect(await pushed(terminal)).toBe('MARKER');
    expect(noted(path, 'tty')).toMatch(/^\/dev\/\S+\nall\n$/);
  });

  test.each([
    ['fails', 'echo MARKER >"$file"; exit 3', 2, 'ended with status 3; nothing was sent'],
    ['writes nothing', ':', 2, 'nothing was written'],
    ['is ended', 'echo MARKER >"$file"; kill -TERM $PPID; sleep 60 & wait', 143, 'terminated'],
    [
      'loses its terminal',
      'echo MARKER >"$file"; kill -HUP $PPID; sleep 60 & wait',
      129,
      'hung up',
    ],
  ])('an editor that %s pushes nothing', async (name, more, status, said) => {
    const path = editor(name.replaceAll(' ', '-'), more);
    const terminal = run(path);
    expect(await terminal.ended).toBe(status);
    expect(terminal.screen()).toContain(said);
    expect(left(path)).toEqual([]);
  });

  test('vim keeps no copy in its own folders', needsPrograms('vim'), async () => {
    const home = sender.folder;
    mkdirSync(`${home}/.vim/undo`, { recursive: true });
    const settings = [
      'undofile',
      'undodir=~/.vim/undo',
      'backup',
      'backupdir=~/.vim',
      'directory=~/.vim',
    ];
    writeFileSync(`${home}/.vimrc`, settings.map((one) => `set ${one}\n`).join(''));
    const terminal = run('vim', undefined, { EDITOR: 'vim' });
    await terminal.shows('secret.txt');
    // Nothing else shows that it reads keys; what is typed before waits in the terminal.
    terminal.type('iX\u001byyGopen sesame\u001b:wq\r');
    await noPassphrase(terminal);
    expect(await pushed(terminal)).toBe('X\npen sesame\n');
    const kept = readdirSync(home, { recursive: true, encoding: 'utf8' });
    expect(kept.filter((name) => /vim|sesame/.test(name)).sort()).toEqual([
      '.vim',
      '.vim/undo',
      '.vimrc',
    ]);
  });

  test('a missing editor, no terminal and --each are refused', async () => {
    const refused = async (...words: string[]) => {
      const env = { ...sender.env, EDITOR: '/no/such/editor' };
      const { code, stderr } = await pwpush(['push', '--edit', ...words], { env, input: 'x' });
      return [code, stderr];
    };
    expect(await refused('--no-input')).toEqual([2, expect.stringContaining('terminal')]);
    expect(await refused('--each')).toEqual([2, expect.stringContaining('--each')]);
    const terminal = onTerminal('$PWPUSH push --edit', {
      ...sender.env,
      EDITOR: '/no/such/editor',
    });
    expect(await terminal.ended).toBe(2);
    expect(terminal.screen()).toContain('"/no/such/editor"');
  });
});
