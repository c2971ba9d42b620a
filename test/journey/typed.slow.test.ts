import { describe, expect, test } from 'vitest';
import { alsoBinary, person, pwpush, serving } from '../helpers/program';
import { onTerminal, type Terminal } from '../helpers/pty';

// Secrets of several lines: pasted, or typed up to Ctrl-D.

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
