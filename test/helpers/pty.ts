import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { type IPty, spawn } from '@lydell/node-pty';
import { Terminal as Emulator } from '@xterm/headless';
import { program } from './program';

export type Terminal = ReturnType<typeof onTerminal>;

/** The lines that a terminal shows in the end, without trailing space. */
export async function linesOf(output: string, cols = 200): Promise<string[]> {
  const terminal = new Emulator({ cols, rows: 50, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(output, resolve));
  const { active } = terminal.buffer;
  const lines = Array.from({ length: active.length }, (_, y) => active.getLine(y));
  return lines
    .map((line) => line?.translateToString(true).trimEnd() ?? '')
    .join('\n')
    .trimEnd()
    .split('\n');
}

/** What is written last, with the status. Behind it the terminal stays open: what is read while it closes can be lost. */
const END = /\[ended: (\d+)\]/;
const ENDING = `trap : INT; sh -c "$LINE"; echo "[ended: $?]"; read -r _`;

/** Runs a command line of sh on a pseudo-terminal of 80 columns; `$PWPUSH` is the built program. */
export function onTerminal(line: string, env: Record<string, string>) {
  const PWPUSH = program.join(' ');
  // The types leave out `destroy`, which closes our end.
  const pty = spawn('sh', ['-c', ENDING], {
    cols: 80,
    rows: 24,
    env: { ...env, TERM: 'xterm-256color', PWPUSH, LINE: line },
  }) as IPty & { destroy(): void };
  let screen = '';
  const waiting = new Set<() => void>();
  const ended = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode }) => resolve(exitCode));
    pty.onData((data) => {
      screen += data;
      const end = END.exec(screen);
      if (end) {
        screen = screen.slice(0, end.index);
        resolve(Number(end[1]));
        pty.kill();
      }
      for (const check of waiting) check();
    });
  });
  /** Resolves once the screen shows the text, so often if that is said. */
  const shows = (text: string, times = 1) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        // Messages are folded at words.
        const shown = [screen, screen.replaceAll('\r\n', ' ')];
        if (shown.every((one) => one.split(text).length <= times)) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
      ended.then(() => reject(new Error(`the program ended without showing "${text}":\n${screen}`)), reject);
    });
  return {
    screen: () => screen,
    shows,
    type: (keys: string) => pty.write(keys),
    /** Takes the terminal away, as a closed window or a broken connection does. */
    hangUp: () => pty.destroy(),
    ended,
  };
}

/**
 * Makes the FIFO `$HOME/alive`, and resolves when all have ended that have it open, as `3>"$HOME/alive"` does: nobody else
 * tells that of a program whose terminal hangs up.
 */
export async function gone({ HOME }: Record<string, string>): Promise<void> {
  const alive = `${HOME}/alive`;
  execFileSync('mkfifo', [alive]);
  await once(createReadStream(alive).resume(), 'end');
}
