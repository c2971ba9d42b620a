import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { passphraseRecipient } from '../../src/age/age';
import { newKeyPair } from '../../src/age/key-files';
import { TransportError } from '../../src/client/transport/network-errors';
import { commands } from '../../src/commands/program';
import type { HttpRequest, Transport } from '../../src/platform/context';
import { exitStatus } from '../../src/platform/errors';
import { encryptText } from '../helpers/age';
import { onlyLong, partOf } from '../helpers/long';
import {
  AUDITED,
  CREATED,
  changed,
  EXPIRED,
  NOTIFIED,
  RETRIEVED,
  VERSION,
} from '../helpers/reference';
import { type Conditions, type Outcome, type Place, place } from '../helpers/run';

// Secrets that can be told from anything else. Where one turns up, there is a leak.
const marks = {
  payload: 'MARKpayload7f3a9c2e51',
  passphrase: 'MARKpassphrase0b6d84f1',
  token: 'MARKtoken93e1c7a05d',
  note: 'MARKnote48a2f6e0b9',
  content: 'MARKcontentd15c0e7a63',
  // A key of a link.
  key: 'MARKkey5c2e9a7f1d3b84A',
};
type Mark = keyof typeof marks;

/** The marks that a text holds: as they are, in hexadecimal, or in base64 at any offset. */
function marksIn(text: string): Mark[] {
  const spellings = (mark: string) => [
    mark,
    Buffer.from(mark).toString('hex'),
    ...[0, 1, 2].map((offset) =>
      Buffer.from(mark).subarray(offset).toString('base64').slice(0, 12),
    ),
  ];
  const names = Object.keys(marks) as Mark[];
  return names.filter((name) => spellings(marks[name]).some((one) => text.includes(one)));
}

const armor = await encryptText(marks.payload, [passphraseRecipient(marks.key, 1)]);
const sealed = `https://pw.test/p/sealed#${marks.key}`;
const asked = `https://pw.test/r/abc#${newKeyPair().recipient}`;

/** Calls of tools, by a client that has gone when they are answered. */
const messages = [
  { name: 'list', arguments: {} },
  { name: 'show', arguments: { link: sealed } },
  { name: 'push', arguments: { text: marks.payload } },
  { name: 'get', arguments: { link: marks.token, passphrase: marks.passphrase } },
]
  .map((params, id) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`)
  .join('');

interface Line {
  readonly words: string;
  readonly stdin?: string;
  readonly prompts?: Conditions['prompts'];
  /** What it may print to standard output: pwpush(1) says so. */
  readonly prints?: readonly Mark[];
  /** The same with `--json`: the instance's object with its unknown fields, but never `passphrase`. */
  readonly printsJson?: readonly Mark[];
}

const secret = { stdin: marks.payload };
const created = { printsJson: ['note'] } as const;
const retrieved = { prints: ['payload'], printsJson: ['payload'] } as const;

/** Every command, with every way in which secrets get into it. `DIR` is a folder with files that hold them. */
const lines: Record<string, readonly Line[]> = {
  push: [
    { words: `push --note ${marks.note}`, ...secret, ...created },
    { words: 'push --dry-run --name n --passphrase-file DIR/passphrase', ...secret },
    { words: `push --dry-run --file DIR/content --message ${marks.payload} --note ${marks.note}` },
    { words: 'push --views 1 --qr', ...secret },
    { words: 'push --from DIR/payload --generate-passphrase', ...created },
    { words: 'push --env SECRET_TEXT --notify a@b.test', ...created },
    { words: `push ${marks.payload}`, ...created },
    { words: 'push --file DIR/content', ...created },
    { words: 'push --each', stdin: `${marks.payload}\n${marks.payload}\n`, ...created },
    { words: 'push --each', stdin: `{"payload":"${marks.payload}","oops":1}\n`, ...created },
    { words: 'push --encrypt', ...secret, ...created },
    { words: `push --encrypt ${marks.payload}` },
    { words: `push --to ${marks.payload}`, ...secret },
    { words: 'push --encrypt --file DIR/content', ...created },
    { words: 'push --views 0', ...secret },
    { words: 'push --from DIR/none' },
    {
      words: 'push -p',
      prompts: [
        { secret: 'Secret:', answer: marks.payload },
        { secret: 'Passphrase:', answer: marks.passphrase },
        { secret: 'Passphrase again:', answer: marks.passphrase },
      ],
      ...created,
    },
  ],
  get: [
    { words: 'get abc --output DIR/out/ --force', ...retrieved },
    { words: 'get https://pw.test/p/abc --no-files', ...retrieved },
    { words: `get ${sealed}`, ...retrieved },
    { words: `get ${sealed.replace('#', '%23')}&x=y --no-files`, ...retrieved },
    { words: `get ${sealed}x --no-files`, ...retrieved },
    { words: 'get sealed --no-files --key-file DIR/key', ...retrieved },
    { words: `get abc#${marks.key}` },
    { words: `get sealed -i DIR/key` },
    { words: 'get abc --no-files --output DIR/there' },
    { words: 'get abc --no-files --qr', ...retrieved },
    { words: `get ${marks.payload}/${marks.passphrase}` },
  ],
  run: [
    { words: 'run abc --as SECRET --passphrase-file DIR/passphrase -- true' },
    { words: `run ${sealed} --as SECRET -- true` },
    { words: 'run abc --stdin -- true' },
    { words: 'run abc -- true' },
    { words: 'run abc --as SECRET -- /nonexistent/program' },
  ],
  request: [
    {
      words: `request what? --note ${marks.note} --expire 6h`,
      ...created,
    },
    { words: 'request what? --generate-passphrase --no-encrypt', ...created },
    { words: 'request what? --identity-out DIR/there', ...created },
    { words: 'request what? --file DIR/content --passphrase-file DIR/passphrase', ...created },
    { words: 'request what? --expire soon' },
    // What it says while it serves is tested with the built program.
    { words: 'request what? --here --expire soon' },
    { words: 'request --here --passphrase-file DIR/none' },
  ],
  respond: [
    { words: `respond ${asked}`, ...secret },
    { words: `respond ${asked} --from DIR/payload --json` },
    { words: `respond ${asked} --file DIR/content --message ${marks.payload}` },
    { words: 'respond https://pw.test/r/abc --env SECRET_TEXT' },
    { words: `respond ${asked}x --env SECRET_TEXT` },
  ],
  preview: [{ words: 'preview abc' }, { words: `preview ${sealed}` }],
  show: [{ words: 'show abc' }, { words: `show ${sealed}` }],
  expire: [{ words: 'expire abc def' }, { words: `expire ${sealed}` }],
  list: [
    { words: 'list', printsJson: ['note'] },
    { words: 'list expired --page 2', printsJson: ['note'] },
    { words: 'list requests', printsJson: ['note'] },
    { words: 'requests closed --all', printsJson: ['note'] },
  ],
  audit: [{ words: 'audit abc' }, { words: `audit ${sealed}&x` }],
  wait: [{ words: 'wait quyul5r5w08 --for 9 --then-expire' }],
  notify: [{ words: 'notify abc a@b.test' }, { words: `notify ${sealed} a@b.test` }],
  generate: [{ words: 'generate words:5' }, { words: `generate ${marks.payload}` }],
  version: [{ words: 'version' }],
  login: [
    { words: 'login https://pw.test --profile other', stdin: marks.token },
    { words: 'login https://pw.test --profile other --token-file DIR/token' },
    { words: 'login https://pw.test', stdin: `${marks.token}\n${marks.token}` },
  ],
  logout: [{ words: 'logout' }],
  profile: [
    { words: 'profile list' },
    { words: 'profile show' },
    { words: 'profile use kept' },
    { words: 'profile set days 3' },
    { words: `profile set token ${marks.token}` },
    { words: 'profile remove kept' },
  ],
  // How it talks to an instance is tested with the built program too.
  doctor: [{ words: 'doctor' }],
  completion: [{ words: 'completion bash' }],
  // What its tools return is tested with a client.
  mcp: [
    { words: 'mcp --root src', stdin: messages },
    { words: 'mcp --root nowhere' },
    { words: `mcp --allow-run sh ${marks.payload}` },
  ],
  // What it logs while it serves is tested with the built program.
  serve: [
    { words: 'serve --port none' },
    { words: `serve --database postgres://u:${marks.passphrase}@:x` },
  ],
};

const modes = [
  ...['', '--json', '--debug', '--json --debug', '--quiet', 'on a terminal'],
  ...['for an agent', '--json --debug for an agent'],
];

/** Of its secrets, an agent sees none but a note. */
const AGENT = /for an agent$/;

const answer = (status: number, body: string, headers: Record<string, string> = {}) => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: (async function* () {
    yield Buffer.from(body);
  })(),
});

/** All that was sent, as a careless instance or proxy repeats it. */
async function echoOf({ method, url, headers, body }: HttpRequest): Promise<string> {
  const sent: Buffer[] = [];
  if (typeof body === 'string') sent.push(Buffer.from(body));
  else for await (const chunk of body ?? []) sent.push(Buffer.from(chunk));
  return `${method} ${url} ${JSON.stringify(headers)} ${Buffer.concat(sent)}`;
}

const secrets = { passphrase: marks.passphrase, note: marks.note };

/** The reference, which repeats passphrases. */
const reference: Transport = async ({ method, url }) => {
  const { pathname } = new URL(url);
  const files = [{ filename: 'file.bin', content_type: 'x/y', url: 'https://pw.test/file/1' }];
  if (pathname === '/file/1') return answer(200, marks.content);
  if (pathname.endsWith('/version')) return answer(200, VERSION);
  if (pathname.endsWith('/notify_emails')) return answer(201, NOTIFIED);
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

const asError = (echo: string) => JSON.stringify({ error: `cannot do ${echo}` });
const page = { 'content-type': 'text/html' };
const all = Object.values(marks).join(' ');

const failing = (error: () => unknown): Transport => {
  return async () => {
    throw error();
  };
};

/** Who answers, or does not. */
const worlds: Record<string, Transport> = {
  'the reference': reference,
  ...Object.fromEntries(
    [400, 401, 403, 404, 413, 422, 429, 500, 503].map((status) => [
      `an instance that answers ${status} and repeats all`,
      echoing(status, asError),
    ]),
  ),
  'one that wants another passphrase': echoing(
    401,
    (echo) => `{"error":"passphrase ${JSON.stringify(echo).slice(1)}}`,
  ),
  'one whose pushes have expired': async () => answer(200, changed(EXPIRED, { payload: null })),
  'a page of a proxy that repeats all': echoing(502, (echo) => `<h1>${echo}</h1>`, page),
  'the same at 200': echoing(200, (echo) => `<html>${echo}`, page),
  'a redirect to elsewhere': async (request) =>
    answer(302, '', {
      location: `https://evil.test/?next=${encodeURIComponent(await echoOf(request))}`,
    }),
  'one that cannot be reached': failing(
    () => new TransportError('pw.test cannot be reached', { sent: false, cause: new Error(all) }),
  ),
  'one that breaks off': failing(
    () =>
      new TransportError('pw.test sent no complete response', {
        sent: true,
        cause: new Error(all),
      }),
  ),
  'a bug of ours': failing(
    () => new TypeError(`cannot read ${all}`, { cause: new RangeError(all) }),
  ),
  'a bug of the engine': async () => answer(200, JSON.parse(`{"${marks.token}`)),
  'a failing system call': failing(() =>
    Object.assign(new Error(all), { code: 'EIO', syscall: 'read' }),
  ),
};

const seen = new Set<number>();

/** Runs a line with all secrets around it, and answers what leaked. */
async function leaks(
  line: Line,
  mode: string,
  send: Transport,
  terminals: readonly ('stdout' | 'stderr')[],
) {
  const world = home(send);
  try {
    const outcome = await world.run(line, mode, {
      terminals: line.prompts ? ['stdin', ...terminals] : terminals,
    });
    seen.add(outcome.code);
    return leaked(outcome, line, mode, world.here);
  } finally {
    world.here.close();
  }
}

function home(send: Transport, signal?: AbortSignal) {
  let time = Date.UTC(2026, 7, 20);
  const here = place({
    now: () => new Date(time),
    asleep: (milliseconds) => {
      time += milliseconds;
    },
    send,
    invented: 'any',
  });
  for (const name of ['payload', 'passphrase', 'token', 'content', 'key'] as const)
    writeFileSync(here.file(name), marks[name]);
  writeFileSync(here.file('there'), '');
  mkdirSync(here.file('tmp'));
  const env = {
    TMPDIR: here.file('tmp'),
    PATH: process.env.PATH,
    PWPUSH_TOKEN: '',
    SECRET_TEXT: marks.payload,
    PWPUSH_PASSPHRASE: marks.passphrase,
    PWPUSH_KEY: marks.key,
  };
  return {
    here,
    run: async (line: Line, mode: string, more: Conditions): Promise<Outcome> => {
      const kept = { url: 'https://pw.test', token: marks.token };
      mkdirSync(here.file('config'));
      const stored = { current: 'kept', profiles: { kept } };
      writeFileSync(here.file('config/config.json'), JSON.stringify(stored));
      const [before = '', ...behind] = line.words.split(' -- ');
      const words = `${before} ${mode.replace(AGENT, '')}`
        .trim()
        .replaceAll('DIR', here.folder)
        .split(' ');
      const { stdin = '', prompts } = line;
      const conditions = {
        env: { ...env, AI_AGENT: AGENT.test(mode) ? 'some' : '' },
        stdin,
        ...more,
        ...(prompts && !AGENT.test(mode) ? { prompts } : {}),
        ...(signal ? { signal } : {}),
      };
      const argv = [...words, ...behind.flatMap((one) => ['--', ...one.split(' ')])];
      return here.under(conditions).run(...argv);
    },
  };
}

/** What turned up where it must not. */
function leaked({ stdout, stderr }: Outcome, line: Line, mode: string, here: Place): string[] {
  const prints = (mode.includes('json') ? line.printsJson : line.prints) ?? [];
  const may = prints.filter((one) => one === 'note' || !AGENT.test(mode));
  const config = JSON.stringify(here.kept(), (key, value) => (key === 'token' ? '' : value)) ?? '';
  return [
    ...marksIn(stdout)
      .filter((one) => !may.includes(one))
      .map((one) => `${one} on stdout`),
    ...marksIn(stderr).map((one) => `${one} on stderr`),
    ...marksIn(config).map((one) => `${one} in the config file`),
    ...left(here.file('tmp')).map((name) => `${name} in the folder for temporary files`),
    ...left(here.file('config')).filter((name) => name !== 'config.json'),
    ...Object.entries(here.rescued()).flatMap(([name, text]) =>
      marksIn(`${name} ${text}`)
        .filter((one) => one !== 'payload' && one !== 'content')
        .map((one) => `${one} in the state folder`),
    ),
  ];
}

function left(folder: string): string[] {
  return statSync(folder, { throwIfNoEntry: false })
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
    : [];
}

test('every command has its lines here', () => {
  expect(Object.keys(lines).sort()).toEqual(commands.map(({ name }) => name).sort());
});

const cases = Object.values(lines).flat();

/**
 * The modes in which a line meets an answer: one, so that each line meets each answer, and each mode is tried with each
 * line and with each answer; all, where there is one answer.
 */
const modesOf = (at: number, nth: number, answers: number) =>
  modes.filter((_, place) => answers === 1 || (place + at + nth) % modes.length === 0);

// In a short run a line meets a quarter of the answers.
test.each(cases.map((line, at) => [line.words, line, at] as const))(
  '%s leaks nothing, whoever answers',
  async (_words, line, at) => {
    // Prompts that are not reached would count as a mistake of the script.
    const asked = Object.entries(line.prompts ? { 'the reference': reference } : worlds);
    for (const [nth, [who, send]] of partOf([...asked.entries()], at, 4)) {
      for (const mode of modesOf(at, nth, asked.length)) {
        const found =
          mode === 'on a terminal'
            ? await leaks(line, '', send, ['stdout', 'stderr'])
            : await leaks(line, mode, send, []);
        expect([who, mode, ...found]).toEqual([who, mode]);
      }
    }
  },
);

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('%s leaks nothing either', async (name) => {
  for (const line of cases.filter(({ prompts }) => !prompts)) {
    const controller = new AbortController();
    const world = home(async () => {
      controller.abort(name);
      throw new TransportError('pw.test sent no complete response', {
        sent: true,
        cause: new Error(all),
      });
    }, controller.signal);
    const outcome = await world.run(line, '--debug', {});
    seen.add(outcome.code);
    expect([line.words, ...leaked(outcome, line, '--debug', world.here)]).toEqual([line.words]);
    world.here.close();
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
