import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { person, wire } from '../helpers/program';
import { onTerminal, type Terminal } from '../helpers/pty';

const ENTER = '\r';
const CTRL_C = '\u0003';
const SHOW_CURSOR = '\u001b[?25h';
const HIDE_CURSOR = '\u001b[?25l';

/** Runs a line and tells its status, and that the terminal is as it was. */
const around = (line: string) =>
  `before=$(stty -g); ${line}; echo "status $?"; [ "$before" = "$(stty -g)" ] && echo restored`;

async function endsWith(terminal: Terminal, status: number, said: string) {
  await terminal.shows('restored');
  await terminal.ended;
  const screen = terminal.screen();
  expect(screen).toContain(`${said}\r\nstatus ${status}\r\nrestored`);
  expect(screen.lastIndexOf(SHOW_CURSOR)).toBeGreaterThanOrEqual(screen.lastIndexOf(HIDE_CURSOR));
}

let newcomer: ReturnType<typeof person>;
beforeEach(() => {
  newcomer = person();
});
afterEach(() => newcomer.remove());

describe('between two prompts, while an instance is asked', () => {
  let slow: Awaited<ReturnType<typeof wire>>;
  let asked: Promise<Socket>;
  let onAsked: (socket: Socket) => void;
  beforeAll(async () => {
    slow = await wire((socket) => onAsked(socket));
  });
  beforeEach(() => {
    asked = new Promise((resolve) => {
      onAsked = resolve;
    });
  });
  afterAll(() => slow.stop());

  /** `login`, as far as the address was typed and its instance, which does not answer yet, was asked. */
  async function waiting() {
    const terminal = onTerminal(around('$PWPUSH login'), newcomer.env);
    await terminal.shows('Address of the instance:');
    terminal.type(`${slow.url}${ENTER}`);
    return { terminal, socket: await asked };
  }

  it('what is typed ahead is shown at no time', async () => {
    const { terminal, socket } = await waiting();
    terminal.type(`MARKER-one${ENTER}MARKER-two`);
    const answer = '{"api_version":"2.1"}';
    const head = `content-type: application/json\r\ncontent-length: ${answer.length}`;
    socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${answer}`);
    await terminal.shows('API token:');
    terminal.type(CTRL_C);
    await endsWith(terminal, 130, 'pwpush: interrupted');
    expect(terminal.screen()).not.toContain('MARKER');
  });

  it('Ctrl-C ends it, and all is as it was', async () => {
    const { terminal } = await waiting();
    terminal.type(CTRL_C);
    await endsWith(terminal, 130, 'pwpush: interrupted');
    expect(existsSync(newcomer.env.PWPUSH_CONFIG_DIR ?? '')).toBe(false);
  });
});
