import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rawServer } from '../helpers/listen';
import { partOf } from '../helpers/long';
import { alsoBinary, makePerson, type Person, pwpush } from '../helpers/program';
import { onTerminal, type Terminal } from '../helpers/pty';

const ENTER = '\r';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_Z = '\u001a';
const SHOW_CURSOR = '\u001b[?25h';
const MARK_NOTHING = '\u001b[?2004l';
/** With the cursor at the beginning of the next line, as inquirer makes sure. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: of a terminal
const LINE_END = /\r\n(\u001b\[G)?$/;
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

/** Answers the questions of `push --here`, until the link is shown. */
async function answerAll(terminal: Terminal) {
  const answers = [
    ['Secret:', 'MARKER-secret'],
    ['Passphrase (Enter for none):', 'MARKER-passphrase'],
    ['Passphrase again:', 'MARKER-passphrase'],
  ] as const;
  for (const [question, answer] of answers) {
    await terminal.shows(question);
    terminal.type(`${answer}${ENTER}`);
  }
  await terminal.shows('Ctrl-C expires the push');
}

const linkOn = (screen: string) => /http:\/\/[\w.:]+\/p\/[a-z0-9_-]+\/r/.exec(screen)?.[0] ?? '';

let newcomer: Person;
beforeEach(() => {
  newcomer = makePerson();
});

describe('between two prompts, while an instance is asked', () => {
  let slow: Awaited<ReturnType<typeof rawServer>>;
  let asked: Promise<Socket>;
  let onAsked: (socket: Socket) => void;
  beforeAll(async () => {
    slow = await rawServer((socket) => onAsked(socket));
  });
  beforeEach(() => {
    asked = new Promise((resolve) => {
      onAsked = resolve;
    });
  });
  afterAll(() => slow.close());

  /** `login`, as far as the address was typed and its instance, which does not answer yet, was asked. */
  async function waiting() {
    const terminal = onTerminal(around('$PWPUSH login'), newcomer.env);
    await terminal.shows('Address of the instance, such as https://eu.pwpush.com:');
    terminal.type(`${slow.url}${ENTER}`);
    return { terminal, socket: await asked };
  }

  test('what is typed ahead is shown at no time', async () => {
    const { terminal, socket } = await waiting();
    terminal.type(`MARKER-one${ENTER}MARKER-two`);
    const answer = '{"api_version":"2.1"}';
    const head = `content-type: application/json\r\ncontent-length: ${answer.length}`;
    socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${answer}`);
    await terminal.shows('API token (on your account page, under API):');
    terminal.type(CTRL_C);
    await endsWith(terminal, 130, 'pwpush: interrupted');
    expect(terminal.screen()).not.toContain('MARKER');
  });

  test('Ctrl-C ends it, and all is as it was', async () => {
    const { terminal } = await waiting();
    terminal.type(CTRL_C);
    await endsWith(terminal, 130, '^C\r\npwpush: interrupted');
    expect(existsSync(newcomer.env.PWPUSH_CONFIG_DIR ?? '')).toBe(false);
  });
});

describe('Ctrl-Z at a question', () => {
  test('stops, with the terminal as it was, and goes on with the prompt', alsoBinary, async () => {
    const line = `set -m; before=$(stty -g); $PWPUSH push --here; [ "$before" = "$(stty -g)" ] && echo stopped; fg; echo "status $?"; [ "$before" = "$(stty -g)" ] && echo restored`;
    const terminal = onTerminal(line, newcomer.env);
    await terminal.shows('Secret:');
    terminal.type('MARKER-');
    terminal.type(CTRL_Z);
    await terminal.shows('stopped');
    const [before = ''] = terminal.screen().split('stopped');
    expect(before.lastIndexOf(SHOW_CURSOR)).toBeGreaterThan(before.lastIndexOf(HIDE_CURSOR));
    // Drawn anew, it reads again.
    await terminal.shows('Secret:', before.split('Secret:').length);
    terminal.type(`secret${ENTER}`);
    await terminal.shows('Passphrase (Enter for none):');
    terminal.type(ENTER);
    await terminal.shows('Ctrl-C expires the push');
    const got = await pwpush(['get', linkOn(terminal.screen())], { env: newcomer.env });
    await terminal.shows('restored');
    expect(got).toMatchObject({ code: 0, stdout: 'MARKER-secret' });
    expect(terminal.screen()).not.toContain('MARKER');
  });

  test('does nothing where nobody would go on with it', async () => {
    const terminal = onTerminal(around('$PWPUSH push --here'), newcomer.env);
    await terminal.shows('Secret:');
    terminal.type(`${CTRL_Z}x`);
    await terminal.shows('Secret:', 2);
    terminal.type(`MARKER${ENTER}`);
    await terminal.shows('Passphrase (Enter for none):');
    terminal.type(CTRL_C);
    await endsWith(terminal, 130, 'pwpush: interrupted');
    expect(terminal.screen()).not.toContain('MARKER');
  });
});

describe('each question, left without an answer, leaves all as it was', () => {
  const LOG_IN = 'log in to an instance and push there';
  const DOWN = '\u001b[B';
  const ADDRESS = 'Address of the instance, such as https://eu.pwpush.com:';
  const PASSPHRASE = 'Passphrase (Enter for none):';
  const AGAIN = 'Passphrase again:';
  /** What is asked, and typed for it, on the way to the question. */
  const questions: [string, string, [string, string][], string][] = [
    ['what push offers', '$PWPUSH push', [], 'navigate'],
    ['the address', '$PWPUSH login', [], ADDRESS],
    ['the address that push wants', '$PWPUSH push', [[LOG_IN, ENTER]], ADDRESS],
    ['the secret', '$PWPUSH push', [[LOG_IN, `${DOWN}${ENTER}`]], 'Secret:'],
    ['the passphrase', '$PWPUSH push --here', [['Secret:', `MARKER${ENTER}`]], PASSPHRASE],
    [
      'the passphrase again',
      '$PWPUSH push --here',
      [
        ['Secret:', `MARKER${ENTER}`],
        [PASSPHRASE, `MARKER${ENTER}`],
      ],
      AGAIN,
    ],
  ];

  test.each(
    partOf(
      questions.flatMap(([what, ...question]) => [
        [what, 'Ctrl-C', CTRL_C, ...question] as const,
        [what, 'Ctrl-D', CTRL_D, ...question] as const,
      ]),
      0,
      3,
    ),
  )('%s, by %s', async (_what, _key, key, line, way, question) => {
    const terminal = onTerminal(around(line), newcomer.env);
    for (const [asked, answer] of way) {
      await terminal.shows(asked);
      terminal.type(answer);
    }
    await terminal.shows(question);
    terminal.type(key);
    await endsWith(terminal, 130, 'pwpush: interrupted');
    // On a line of its own, below all of the question.
    const [shown = ''] = terminal.screen().split('pwpush: interrupted');
    expect(shown.replace(MARK_NOTHING, '').replaceAll(SHOW_CURSOR, '')).toMatch(LINE_END);
    expect(terminal.screen()).not.toContain('MARKER');
    expect(existsSync(newcomer.env.PWPUSH_CONFIG_DIR ?? '')).toBe(false);
  });
});

describe('push that serves from this machine, with nothing configured', () => {
  test('prints a link that works, once', async () => {
    const terminal = onTerminal(around('$PWPUSH push'), newcomer.env);
    await terminal.shows('serve it from this machine until it is viewed (--here)');
    terminal.type(`\u001b[B${ENTER}`);
    await answerAll(terminal);
    const env = { ...newcomer.env, PWPUSH_PASSPHRASE: 'MARKER-passphrase' };
    const got = await pwpush(['get', linkOn(terminal.screen())], { env });
    await endsWith(terminal, 0, 'viewed it: 1 of 1');
    expect(terminal.screen()).toMatch(/share this push\?\S* \S*from this machine\S*\r\n/);
    expect(got).toMatchObject({ code: 0, stdout: 'MARKER-secret' });
    expect(terminal.screen()).not.toContain('MARKER');
    expect(existsSync(newcomer.env.PWPUSH_CONFIG_DIR ?? '')).toBe(false);
  });
});
