import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { deferred } from '../helpers/deferred';
import { answerJson, rawServer } from '../helpers/listen';
import { partOf } from '../helpers/long';
import { alsoBinary, makePerson, type Person, person, pushed, pwpush, serving, shell } from '../helpers/program';
import { linesOf, onTerminal, type Terminal } from '../helpers/pty';
import { offering } from '../helpers/transfer';

// A real terminal: what is typed is not shown, keys do what they do elsewhere, what comes from others does nothing,
// progress is wiped, and in the end all is as it was. What is asked, and said of the answers, is told by transcripts (`tty$`).

const owner = person();
const service = serving(owner.env);
let newcomer: Person;
beforeEach(() => {
  newcomer = makePerson();
});

const ENTER = '\r';
const ALT_ENTER = '\u001b\r';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_U = '\u0015';
const CTRL_W = '\u0017';
const CTRL_Z = '\u001a';
const SHOW_CURSOR = '\u001b[?25h';
const HIDE_CURSOR = '\u001b[?25l';
const MARK_PASTED = '\u001b[?2004h';
const MARK_NOTHING = '\u001b[?2004l';
/** With the cursor at the beginning of the next line, as inquirer makes sure. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: of a terminal
const LINE_END = /\r\n(\u001b\[G)?$/;
/** As terminals send pasted text once they are asked to mark it (xterm's mode 2004). */
const paste = (text: string) => `\u001b[200~${text.replaceAll('\n', '\r')}\u001b[201~`;

const LOG_IN = 'log in to an instance and push there';
const ADDRESS = 'Address of the instance, such as https://eu.pwpush.com:';
const TOKEN = 'API token (pwpush serve token add, or ask who runs it):';
const PASSPHRASE = 'Passphrase:';
const AGAIN = 'Passphrase again:';

type Answers = readonly (readonly [question: string, keys: string])[];

async function answer(terminal: Terminal, answers: Answers): Promise<void> {
  for (const [question, keys] of answers) {
    await terminal.shows(question);
    terminal.type(keys);
  }
}

/** What the link on the screen opens, on which nothing secret was shown. */
async function opened(terminal: Terminal, passphrase = ''): Promise<string> {
  expect(terminal.screen()).not.toContain('MARKER');
  const [link = ''] = /http:\/\/[\w.:]+\/p\/[a-z0-9_-]+\/r(#[\w-]+)?/.exec(terminal.screen()) ?? [];
  const env = { ...newcomer.env, PWPUSH_PASSPHRASE: passphrase };
  return (await pwpush(['get', link], { env })).stdout;
}

/** Runs a line and tells its status, and that the terminal is as it was. */
const around = (line: string) =>
  `before=$(stty -g); ${line}; echo "status $?"; [ "$before" = "$(stty -g)" ] && echo restored`;

async function endsWith(terminal: Terminal, status: number, said: string): Promise<void> {
  await terminal.shows('restored');
  await terminal.ended;
  const screen = terminal.screen();
  expect(screen).toContain(`${said}\r\nstatus ${status}\r\nrestored`);
  expect(screen.lastIndexOf(SHOW_CURSOR)).toBeGreaterThanOrEqual(screen.lastIndexOf(HIDE_CURSOR));
}

test('push asks for all that it needs, again where it was wrong, with no tick before', async () => {
  const terminal = onTerminal(around('$PWPUSH push -p'), newcomer.env);
  await answer(terminal, [
    [LOG_IN, ENTER],
    [ADDRESS, `${service.url}${ENTER}`],
    [TOKEN, `MARKER-wrong${ENTER}`],
    ['Try again:', `${service.token}${ENTER}`],
    ['Secret:', `MARKER${ENTER}`],
    [PASSPHRASE, `MARKER-1${ENTER}`],
    [AGAIN, `MARKER-2${ENTER}`],
    ["They don't match, try again:", `MARKER-3${ENTER}`],
  ]);
  await terminal.shows(AGAIN, 2);
  const [, asked = ''] = terminal.screen().split('Secret:');
  expect(asked).not.toContain('✔');
  terminal.type(`MARKER-3${ENTER}`);
  await terminal.shows('restored');
  expect(await opened(terminal, 'MARKER-3')).toBe('MARKER');
  expect(terminal.screen()).not.toContain(service.token);
});

test('what is typed ahead, while an instance is asked, is shown at no time', async () => {
  const asked = deferred<Socket>();
  const slow = await rawServer((socket) => asked.resolve(socket));
  const terminal = onTerminal(around('$PWPUSH login'), newcomer.env);
  await answer(terminal, [[ADDRESS, `${slow.url}${ENTER}`]]);
  const socket = await asked.promise;
  terminal.type(`MARKER-one${ENTER}MARKER-two`);
  answerJson(socket, '{"api_version":"2.1"}');
  await answer(terminal, [['API token (on your account page, under API):', CTRL_C]]);
  await endsWith(terminal, 130, 'pwpush: interrupted');
  expect(terminal.screen()).not.toContain('MARKER');
});

test('Ctrl-Z at a question stops, the terminal as it was; fg goes on', alsoBinary, async () => {
  const line = `set -m; before=$(stty -g); $PWPUSH push --here; [ "$before" = "$(stty -g)" ] && echo stopped; fg; echo "status $?"; [ "$before" = "$(stty -g)" ] && echo restored`;
  const terminal = onTerminal(line, newcomer.env);
  await answer(terminal, [['Secret:', `MARKER-${CTRL_Z}`]]);
  await terminal.shows('stopped');
  const [before = ''] = terminal.screen().split('stopped');
  expect(before.lastIndexOf(SHOW_CURSOR)).toBeGreaterThan(before.lastIndexOf(HIDE_CURSOR));
  // Drawn anew, it reads again.
  await terminal.shows('Secret:', before.split('Secret:').length);
  terminal.type(`secret${ENTER}`);
  await terminal.shows('Ctrl-C expires the push');
  expect(await opened(terminal)).toBe('MARKER-secret');
  await terminal.shows('restored');
});

describe('each question, left without an answer, leaves all as it was', () => {
  /** What is asked, and typed for it, on the way to the question. */
  const questions: [what: string, line: string, way: Answers, question: string, said: string][] = [
    ['what push offers', '$PWPUSH push', [], 'navigate', ''],
    ['the token', '$PWPUSH login $URL', [], TOKEN, ''],
    [
      ...(['the passphrase', '$PWPUSH push --here -p'] as const),
      ...([[['Secret:', `MARKER${ENTER}`]], PASSPHRASE, '; nothing was sent'] as const),
    ],
  ];
  const cases = questions.flatMap(([what, ...question]) => [
    [what, 'Ctrl-C', CTRL_C, ...question] as const,
    [what, 'Ctrl-D', CTRL_D, ...question] as const,
  ]);

  test.each(partOf(cases, 0, 3))('%s, by %s', alsoBinary, async (_what, _key, key, line, way, question, said) => {
    const terminal = onTerminal(around(line), { ...newcomer.env, URL: service.url });
    await answer(terminal, [...way, [question, key]]);
    await endsWith(terminal, 130, `pwpush: interrupted${said}`);
    // On a line of its own, below all of the question.
    const [shown = ''] = terminal.screen().split('pwpush: interrupted');
    expect(shown.replace(MARK_NOTHING, '').replaceAll(SHOW_CURSOR, '')).toMatch(LINE_END);
    // A tick would stand before answers that are refused after it.
    expect(terminal.screen()).not.toMatch(/MARKER|✔/);
    expect(existsSync(newcomer.env.PWPUSH_CONFIG_DIR ?? '')).toBe(false);
  });
});

describe('a secret of several lines', () => {
  const KEY = '-----BEGIN KEY-----\nMARKER\tü\n-----END KEY-----\n';

  // After a pause within it, Escape could not be told from the key.
  const [first, second, ...pieces] = `${paste(KEY)}${ENTER}`;
  test.each([
    ['pasted text in whatever pieces it arrives', [`${first}${second}`, ...pieces], KEY],
    ['one pasted line, which loses its line end', [paste('MARKER\n'), ENTER], 'MARKER'],
    [
      'keys that do what they do elsewhere',
      [`no${CTRL_U}MARKER1${ALT_ENTER}`, `two no${CTRL_W}words${ENTER}`],
      'MARKER1\ntwo words',
    ],
  ])('may be %s', alsoBinary, async (_how, keys, secret) => {
    const terminal = onTerminal('$PWPUSH push', owner.env);
    await terminal.shows('Secret:');
    for (const one of keys) terminal.type(one);
    expect(await terminal.ended).toBe(0);
    expect(await opened(terminal)).toBe(secret);
    const screen = terminal.screen();
    expect(screen).toContain('Alt-Enter for a new line');
    // Pasted text is marked only meanwhile.
    expect(screen.indexOf(MARK_PASTED)).toBeLessThan(screen.indexOf('Secret:'));
    expect(screen.indexOf(MARK_NOTHING)).toBeGreaterThan(screen.indexOf('Secret:'));
  });

  test('is refused where pasted text is not marked, and not cut to the first line', async () => {
    const terminal = onTerminal('$PWPUSH push; cat >/dev/null', owner.env);
    await answer(terminal, [
      ['Secret:', KEY.replaceAll('\n', '\r')],
      ['the pasted text has several lines, and the prompt accepts one', CTRL_D],
    ]);
    await terminal.ended;
    expect(terminal.screen()).not.toMatch(/MARKER|\/p\//);
  });

  test('may be typed up to Ctrl-D', alsoBinary, async () => {
    const terminal = onTerminal('$PWPUSH push --from -', owner.env);
    const keys = `MARKER one${ENTER}no\u007f\u007ftwo${ENTER}${CTRL_D}`;
    await answer(terminal, [['Type the secret, then Ctrl-D:', keys]]);
    expect(await terminal.ended).toBe(0);
    expect(await opened(terminal)).toBe('MARKER one\ntwo\n');
  });
});

test('what others wrote does nothing; a pipe and a file have every byte', alsoBinary, async () => {
  const attack =
    '\u001b]0;owned\u0007\u001b]8;;https://evil.test\u0007x\u001b]52;c;eA==\u0007\u009b2J\u202efdp.exe\u200b\rend';
  const text = `${attack}\nof two lines\n`;
  const link = await pushed(service, text, { name: attack, expire_after_views: 50 });
  // Headers carry no controls, but all the rest of Latin-1, in which C1 controls are.
  await fetch(link.replace(/\/r$/, '.json'), { headers: { 'user-agent': 'agent\u009b31m\u0090' } });
  for (const line of ['list', `audit ${link}`, `get ${link}`, `get ${link} --json`]) {
    const terminal = onTerminal(`NO_COLOR=1 $PWPUSH ${line}`, owner.env);
    expect(await terminal.ended).toBe(0);
    const screen = terminal.screen().replaceAll('\r\n', '\n');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
    expect(screen).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202e]/);
    expect(screen).toMatch(/\\x1b|\\u001b|\\x9b|\\u009b/);
  }
  const line = `$PWPUSH get ${link} | cat && $PWPUSH get ${link} >"$HOME/got"`;
  const { stdout } = await shell(line, { env: owner.env });
  expect([stdout, readFileSync(join(owner.folder, 'got'), 'utf8')]).toEqual([text, text]);
});

const MIB = 1024 * 1024;

/** A line at home, in place of the shell, which would end by a signal in any case. */
const transfer = (words: string) => onTerminal(`cd; exec $PWPUSH ${words}`, { ...newcomer.env, NO_COLOR: '1' });

/** Answers with a file of 1 MiB, of which a part comes at once and the rest so slowly that no test sees its end. */
function dripping() {
  let finish = () => {};
  const answer = (_request: unknown, response: ServerResponse) => {
    let left = MIB;
    const drop = (bytes: number) => {
      left -= bytes;
      response.write(Buffer.alloc(bytes));
    };
    response.writeHead(200, { 'content-length': left });
    drop(64 * 1024);
    const timer = setInterval(drop, 20, 16);
    response.on('close', () => clearInterval(timer));
    finish = () => {
      clearInterval(timer);
      response.end(Buffer.alloc(left));
    };
  };
  return { answer, finish: () => finish() };
}

describe('Ctrl-C in a download of the last view', () => {
  const NOTICE = 'warning: no view is left; press Ctrl-C again to stop';

  async function downloading() {
    const { answer, finish } = dripping();
    const instance = await offering([{ filename: 'last.bin', answer }], '', 0);
    const terminal = transfer(`get ${instance.url}/p/abc`);
    await terminal.shows(' of 1.0 MiB');
    terminal.type(CTRL_C);
    await terminal.shows(NOTICE);
    return { terminal, finish };
  }

  test('goes on at the first one', async () => {
    const { terminal, finish } = await downloading();
    const before = terminal.screen().split(' of 1.0 MiB').length;
    await terminal.shows(' of 1.0 MiB', before);
    finish();
    expect(await terminal.ended).toBe(0);
    const lines = await linesOf(terminal.screen());
    expect(lines).toEqual(expect.arrayContaining([NOTICE, 'that was the last view']));
    expect(readFileSync(join(newcomer.folder, 'last.bin'))).toHaveLength(MIB);
  });

  test('stops at the second one, and says how to get the rest', async () => {
    const { terminal } = await downloading();
    terminal.type(CTRL_C);
    expect(await terminal.ended).toBe(130);
    const lines = await linesOf(terminal.screen());
    expect(lines[0]).toBe(NOTICE);
    expect(lines.join(' ')).toMatch(/no view is left, and 1 file not saved.*get --resume '/);
    expect(readdirSync(newcomer.folder)).not.toContainEqual(expect.stringContaining('last.bin'));
  });
});
