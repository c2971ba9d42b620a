import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { passphraseRecipient } from '../../src/age/age';
import { newKeyPair } from '../../src/age/key-files';
import { TransportError } from '../../src/client/transport/network-errors';
import type { HttpRequest, Transport } from '../../src/platform/context';
import { exitStatus } from '../../src/platform/errors';
import { encryptText } from '../helpers/age';
import { type Mark, marks, marksIn } from '../helpers/held-in';
import { onlyLong, partOf } from '../helpers/long';
import { AUDITED, CREATED, changed, EXPIRED, RETRIEVED, VERSION } from '../helpers/reference';
import { type Conditions, type Place, place } from '../helpers/run';
import { tableOf } from '../helpers/table';
import { answering, json } from '../helpers/wire';

// Every command, with every secret around it and before it, at everybody who may answer: where one of them turns up, there
// is a leak. commands/markers.txt has the command lines, and what each may print.

interface Line {
  readonly words: string;
  readonly stdin: string;
  readonly prompts?: Conditions['prompts'];
  /** What it may print to standard output: pwpush(1) says so. */
  readonly prints: readonly Mark[];
  /** The same with `--json`: the instance's object with its unknown fields, but never `passphrase`. */
  readonly printsJson: readonly Mark[];
}

const printed: Readonly<Record<string, Pick<Line, 'prints' | 'printsJson'>>> = {
  '': { prints: [], printsJson: [] },
  text: { prints: ['payload'], printsJson: ['payload'] },
  note: { prints: [], printsJson: ['note'] },
};
const prompts = [
  { secret: 'Secret:', answer: marks.payload },
  { secret: 'Passphrase:', answer: marks.passphrase },
  { secret: 'Passphrase again:', answer: marks.passphrase },
];
const cases = tableOf('commands/markers.txt').map(
  ([what = '', input = '', words = '']): Line => ({
    words: named(words),
    stdin: named(input),
    ...(printed[what] as Pick<Line, 'prints' | 'printsJson'>),
    ...(words === 'push -p' && { prompts }),
  }),
);

/** Of its secrets, an agent sees none but a note. */
const AGENT = ' for an agent';
const TERMINAL = 'on a terminal';
// biome-ignore format: one table
const modes = ['', '--json', '--debug', '--json --debug', '--quiet', TERMINAL, AGENT, `--json --debug${AGENT}`];

test('every command has its lines here', async () => {
  const { stdout } = await place().run('help', '--json');
  const names = JSON.parse(stdout).commands.map(({ name }: { name: string }) => name);
  expect([...new Set(cases.map(({ words }) => words.split(' ')[0]))].sort()).toEqual(names.sort());
});

/** The exit codes of all runs. */
const seen = new Set<number>();

// In a short run a line meets a quarter of the answers.
test.each(cases.map((line, at) => [line.words, line, at] as const))(
  '%s leaks nothing, whoever answers',
  async (_words, line, at) => {
    // Prompts that are not reached would count as a mistake of the script.
    const all = Object.entries(line.prompts ? { 'the reference': reference } : worlds);
    // Each line meets each answer in one mode, and each mode is tried with each line and with each answer.
    const isMet = (mode: number, nth: number) => all.length === 1 || (mode + at + nth) % modes.length === 0;
    for (const [nth, [who, send]] of partOf([...all.entries()], at, 4))
      for (const mode of modes.filter((_, place) => isMet(place, nth)))
        expect([who, mode, ...(await leaks(line, mode, send))]).toEqual([who, mode]);
  },
);

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('%s leaks nothing either', async (name) => {
  for (const line of cases.filter(({ prompts }) => !prompts)) {
    const ended = new AbortController();
    const send: Transport = (request) => {
      ended.abort(name);
      return breaksOff(request);
    };
    const found = await leaks(line, '--debug', send, ended.signal);
    expect([line.words, ...found]).toEqual([line.words]);
  }
});

test('all those runs together end with every status of the table', onlyLong, ({ task, skip }) => {
  skip(
    task.file.tasks.some(({ mode }) => mode === 'skip'),
    'the tests before it',
  );
  const missed = Object.entries(exitStatus).filter(([, code]) => !seen.has(code));
  expect(missed).toEqual([]);
});

test('the marks are found however they are spelled', () => {
  const basic = Buffer.from(`ann:${marks.token}`).toString('base64');
  const hex = Buffer.from(marks.note).toString('hex');
  expect(marksIn(`${basic} ${hex} x${marks.payload}x`)).toEqual(['payload', 'token', 'note']);
});

/** Runs a line with all secrets around it, and answers what turned up where it must not. */
async function leaks(line: Line, mode: string, send: Transport, signal?: AbortSignal) {
  let time = Date.UTC(2026, 7, 20);
  const here = place({
    now: () => new Date(time),
    asleep: (milliseconds) => {
      time += milliseconds;
    },
    send,
    invented: 'any',
    ...(signal && { signal }),
  });
  for (const name of ['payload', 'passphrase', 'token', 'content', 'key'] as const)
    writeFileSync(here.file(name), marks[name]);
  writeFileSync(here.file('there'), '');
  for (const folder of ['tmp', 'config']) mkdirSync(here.file(folder));
  const profiles = { kept: { url: 'https://pw.test', token: marks.token } };
  writeFileSync(here.file('config/config.json'), JSON.stringify({ current: 'kept', profiles }));
  const { code, stdout, stderr } = await here.under(around(line, mode, here)).run(...wordsOf(line, mode, here));
  seen.add(code);
  const prints = mode.includes('json') ? line.printsJson : line.prints;
  const may = mode.endsWith(AGENT) ? prints.filter((one) => one === 'note') : prints;
  const config = JSON.stringify(here.kept(), (key, value) => (key === 'token' ? '' : value)) ?? '';
  const found = (where: string, text: string, allowed: readonly Mark[] = []) =>
    marksIn(text).flatMap((one) => (allowed.includes(one) ? [] : [`${one} ${where}`]));
  const leaked = [
    ...found('on stdout', stdout, may),
    ...found('on stderr', stderr),
    ...found('in the config file', config),
    ...Object.entries(here.rescued()).flatMap(([name, text]) =>
      found('in the state folder', `${name} ${text}`, ['payload', 'content']),
    ),
    ...readdirSync(here.file('tmp')).map((name) => `${name} in the folder for temporary files`),
    ...readdirSync(here.file('config')).filter((name) => name !== 'config.json'),
  ];
  here.close();
  return leaked;
}

function around({ stdin, prompts }: Line, mode: string, here: Place): Conditions {
  const isAgent = mode.endsWith(AGENT);
  const env = {
    TMPDIR: here.file('tmp'),
    PATH: process.env.PATH,
    PWPUSH_TOKEN: '',
    SECRET_TEXT: marks.payload,
    // Nothing asks for a passphrase that the variable has.
    PWPUSH_PASSPHRASE: prompts ? '' : marks.passphrase,
    PWPUSH_KEY: marks.key,
    AI_AGENT: isAgent ? 'some' : '',
  };
  const seeing = mode === TERMINAL ? (['stdout', 'stderr'] as const) : [];
  const terminals = prompts ? (['stdin', ...seeing] as const) : seeing;
  return { env, stdin, terminals, ...(prompts && !isAgent && { prompts }) };
}

function wordsOf({ words }: Line, mode: string, here: Place): string[] {
  const [before = '', ...behind] = words.replaceAll('DIR', here.folder).split(' -- ');
  const options = mode.replace(AGENT, '').replace(TERMINAL, '');
  return [...`${before} ${options}`.trim().split(' '), ...behind.flatMap((one) => ['--', ...one.split(' ')])];
}

/** The text of a cell, in which names in capitals stand for secrets, links and calls. */
function named(text: string): string {
  const sealed = `https://pw.test/p/sealed#${marks.key}`;
  // Calls of tools, by a client that has gone when they are answered.
  const calls = [
    { name: 'list', arguments: {} },
    { name: 'preview', arguments: { link: sealed } },
    { name: 'push', arguments: { text: marks.payload } },
    { name: 'get', arguments: { link: marks.token, passphrase: marks.passphrase } },
  ].map((params, id) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`);
  const names: Readonly<Record<string, string>> = {
    ...Object.fromEntries(Object.entries(marks).map(([name, mark]) => [name.toUpperCase(), mark])),
    SEALED: sealed,
    ESCAPED: sealed.replace('#', '%23'),
    ASKED: `https://pw.test/r/abc#${newKeyPair().recipient}`,
    CALLS: calls.join(''),
  };
  return text.replace(/(?<![A-Z_])[A-Z]+(?![A-Z_])/g, (name) => names[name] ?? name).replaceAll('\\n', '\n');
}

const answer = (...words: Parameters<typeof json>) => answering(json(...words));

/** All that was sent, as a careless instance or proxy repeats it. */
async function echoOf({ method, url, headers, body }: HttpRequest): Promise<string> {
  const sent: Buffer[] = [];
  if (typeof body === 'string') sent.push(Buffer.from(body));
  else for await (const chunk of body ?? []) sent.push(Buffer.from(chunk));
  return `${method} ${url} ${JSON.stringify(headers)} ${Buffer.concat(sent)}`;
}

const armor = await encryptText(marks.payload, [passphraseRecipient(marks.key, 1)]);
const secrets = { passphrase: marks.passphrase, note: marks.note };

/** The reference, which repeats passphrases. */
const reference: Transport = async ({ method, url }) => {
  const { pathname } = new URL(url);
  const files = [{ filename: 'file.bin', content_type: 'x/y', url: 'https://pw.test/file/1' }];
  if (pathname === '/file/1') return answer(200, marks.content);
  if (pathname.endsWith('/version')) return answer(200, VERSION);
  if (pathname.endsWith('/preview')) return answer(200, '{"url":"https://pw.test/p/abc"}');
  if (/\/(active|expired|open|ready|closed)$/.test(pathname))
    return answer(200, url.endsWith('page=1') ? `[${changed(CREATED, secrets)}]` : '[]');
  if (pathname.endsWith('/audit')) return answer(200, AUDITED.replace('"view"', '"creation"'));
  if (method === 'PATCH') return answer(200, '{"url_token":"abc","state":"ready"}');
  if (method === 'POST') return answer(201, changed(CREATED, secrets));
  if (method === 'DELETE') return answer(200, changed(EXPIRED, { passphrase: marks.passphrase }));
  if (pathname.endsWith('/sealed'))
    return answer(200, changed(RETRIEVED, { ...secrets, note: undefined, payload: armor }));
  const push = changed(RETRIEVED, { ...secrets, note: undefined, payload: marks.payload, files });
  return answer(200, push);
};

const echoing =
  (status: number, wrap: (echo: string) => string, headers = {}): Transport =>
  async (request) =>
    answer(status, wrap(await echoOf(request)), headers);

const page = { 'content-type': 'text/html' };
const all = Object.values(marks).join(' ');

const failing = (error: (cause: Error) => unknown): Transport => {
  return async () => {
    throw error(new RangeError(all));
  };
};
const unanswered = (message: string, sent: boolean) => failing((cause) => new TransportError(message, { sent, cause }));
const breaksOff = unanswered('pw.test sent no complete response', true);

/** Who answers, or does not. */
const worlds: Record<string, Transport> = {
  'the reference': reference,
  ...Object.fromEntries(
    [400, 401, 403, 404, 413, 422, 429, 500, 503].map((status) => [
      `an instance that answers ${status} and repeats all`,
      echoing(status, (echo) => JSON.stringify({ error: `cannot do ${echo}` })),
    ]),
  ),
  'one that wants another passphrase': echoing(401, (echo) => `{"error":"passphrase ${JSON.stringify(echo).slice(1)}}`),
  'one whose pushes have expired': async () => answer(200, changed(EXPIRED, { payload: null })),
  'a page of a proxy that repeats all': echoing(502, (echo) => `<h1>${echo}</h1>`, page),
  'the same at 200': echoing(200, (echo) => `<html>${echo}`, page),
  'a redirect to elsewhere': async (request) => {
    const location = `https://evil.test/?next=${encodeURIComponent(await echoOf(request))}`;
    return answer(302, '', { location });
  },
  'one that cannot be reached': unanswered('pw.test cannot be reached', false),
  'one that breaks off': breaksOff,
  'a bug of ours': failing((cause) => new TypeError(`cannot read ${all}`, { cause })),
  'a bug of the engine': async () => answer(200, JSON.parse(`{"${marks.token}`)),
  'a failing system call': failing((cause) => Object.assign(cause, { code: 'EIO', syscall: 'read' })),
};
