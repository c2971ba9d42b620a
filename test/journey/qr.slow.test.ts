import { spawnSync } from 'node:child_process';
import { afterAll, describe, expect, test } from 'vitest';
import { needsPrograms } from '../helpers/needs';
import { alsoBinary, person, program, serving } from '../helpers/program';
import { read } from '../helpers/qr';

const sender = person();
serving(sender.env);

describe('on the screen of a terminal (needs tmux)', needsPrograms('tmux'), () => {
  const socket = `${sender.folder}/tmux`;
  const tmux = (...words: string[]) =>
    spawnSync('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...words], {
      env: { ...sender.env, LANG: 'C.UTF-8' },
      encoding: 'utf8',
    }).stdout;
  afterAll(() => tmux('kill-server'));

  /** What stands on a screen of so many columns when a line of sh has run, colours and trailing space included. */
  function screen(columns: number, line: string): string {
    const script = `PWPUSH="${program.join(' ')}"; ${line}; tmux -S ${socket} wait-for -S done; cat`;
    tmux('new-session', '-d', '-s', 'qr', '-x', `${columns}`, '-y', '24', script);
    tmux('wait-for', 'done');
    const shown = tmux('capture-pane', '-p', '-e', '-N', '-t', 'qr');
    tmux('kill-session', '-t', 'qr');
    return shown;
  }

  /** The rows of the drawing: those that have its ground, which goes on from row to row. */
  const drawn = (shown: string) => shown.split('\n').filter((line) => /[█▀▄]{2}/.test(line));
  const links = /http:\/\/127\.0\.0\.1:\d+\/p\/[a-z0-9_-]+\/r/;

  function readOff(shown: string): string | undefined {
    const [top = ''] = drawn(shown);
    const at = shown.split('\n').indexOf(top);
    // The first two rows of half blocks are the quiet zone.
    const rows = shown.split('\n').slice(at - 2, at + drawn(shown).length + 2);
    return read(rows.join('\n'));
  }

  test('a link can be read from 24 lines of 80 columns', () => {
    const shown = screen(80, 'echo s | $PWPUSH push --qr');
    const link = links.exec(shown)?.[0];
    expect(link).toBeDefined();
    expect(readOff(shown)).toBe(link);
    expect(shown).toContain('48;5;231');
  });

  test('a link with a key can be read, and opens the push', alsoBinary, () => {
    const shown = screen(80, 'printf MARKER | $PWPUSH push --encrypt --qr');
    const link = readOff(shown) ?? '';
    expect(link).toMatch(/#[\w-]{22}$/);
    expect(shown).toContain(link);
    expect(readOff(screen(80, `$PWPUSH get --qr '${link}'`))).toBe('MARKER');
  });

  test('prints the link and the reason if the terminal is too narrow', () => {
    // The terminal breaks lines within words.
    const shown = screen(36, 'echo s | $PWPUSH push --qr').replaceAll(/\s+/g, '');
    expect(shown).toContain('theterminalistoonarrowfortheQRcode');
    expect(shown).toMatch(/expiresafter5views/);
  });
});
