import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { MARKERS } from '../../src/cli/agent';
import { entryOf } from '../../src/cli/terminal/output';
import { type PlacePlan, reservePlace } from '../../src/deliver/place';
import type { Context } from '../../src/platform/context';
import { BASE, type Instance, instance, overFetch } from '../helpers/instance';
import type { Conditions, Outcome } from '../helpers/run';
import { rewriting } from '../helpers/wire';

// What is said where an agent reads it: test/cases/agent.txt and agent-setting.txt; that no marker is lost: test/man.test.ts.

const SECRET = 'MARKsecret7f3a9c2e51';

const agent = { CLAUDECODE: '1' };

interface Line {
  readonly words: string;
  readonly stdin?: string;
  readonly terminals?: Conditions['terminals'];
  /** It ends with another code than 0, without an agent too. */
  readonly code?: number;
  /** It is not run with --reveal: what it prints would go elsewhere. */
  readonly reveal?: false;
}

const lines = (all: readonly string[], more: Partial<Line> = {}): Line[] =>
  all.map((words) => ({ words, ...more }));
const watched = { terminals: ['stdout', 'stderr'] } as const;
const piped = { stdin: SECRET };
/** Nobody can listen there. */
const UNHEARD = '--here --host 203.0.113.1';

// Every command, in every way in which it may print a secret. PUSH has a text, FILES a file too; DIR is a folder.

/** They would print a secret. */
const refused: readonly Line[] = [
  ...lines([
    ...['get PUSH', 'get PUSH --json', 'get PUSH --no-files', 'get PUSH --no-decrypt'],
    ...['get PUSH --output -', 'get PUSH --output DIR/out/ --json'],
    ...['get PUSH --output DIR/inbox --json', 'get PUSH --output DIR/inbox --json --no-files'],
    // A push with files makes it a folder.
    'get FILES --output DIR/out --json',
    ...['get PUSH --github-output NAME', 'get PUSH --github-env NAME'],
    ...['get --from-file DIR/secret', 'get --from-file DIR/secret --json'],
    ...['generate', 'generate words:5 --json'],
    ...['push --generate --json', 'push --generate --json --quiet'],
    'push --generate --json --encrypt',
    'request what? --generate-passphrase',
    'request what? --generate-passphrase --json',
    'respond ASKED --generate --json',
    'serve token add ann --create --data DIR/data',
    'serve token add ann --create --data DIR/data --json',
    'run PUSH --as NAME --no-mask -- env',
  ]),
  ...lines(
    [
      ...['get PUSH', 'get PUSH --qr', 'get PUSH --copy', 'generate --quiet', 'push --generate'],
      ...['push --generate --dry-run', 'respond ASKED --generate'],
    ],
    watched,
  ),
  ...lines(
    [
      ...['push --generate-passphrase', 'push --generate-passphrase --json'],
      ...['push --generate-passphrase --quiet', 'push --encrypt=words'],
      'push --encrypt=words --json --quiet',
    ],
    piped,
  ),
  ...lines(
    [
      `request what? ${UNHEARD}`,
      `request what? --json ${UNHEARD}`,
      `request ${UNHEARD}`,
      `request --output - ${UNHEARD}`,
      `request --output /dev/stdout ${UNHEARD}`,
      `request --output DIR/out/ --json ${UNHEARD}`,
      `request --output DIR/out --json --allow-files ${UNHEARD}`,
    ],
    { code: 1 },
  ),
  ...lines(
    [
      ...['get PUSH --output /dev/stdout', 'get PUSH --output /dev/stderr --force'],
      ...['get PUSH --output /proc/self/fd/1', 'get PUSH --output DIR/null'],
      'serve token add ann --data DIR/data --output /dev/stdout',
      'serve token replace abc --data DIR/data',
    ],
    { reveal: false },
  ),
];

/** They do their work. */
const allowed: readonly Line[] = [
  ...lines([
    ...['get PUSH --output DIR/out', 'get FILES --output DIR/out/'],
    'get PUSH --output DIR/out --json --no-files',
    'get --from-file DIR/secret --output DIR/out',
    ...['push --generate', 'push --generate --dry-run', 'push --generate --into -- true'],
    ...['push --generate --into --json -- true', 'push --generate --dry-run --json'],
    ...['request what?', 'request what? --json'],
    'request what? --generate-passphrase --passphrase-out DIR/out',
    'respond ASKED --generate',
    'serve token add ann --create --data DIR/data --output DIR/out',
    ...['run PUSH --as NAME -- env', 'list', 'list --json', 'list requests --json'],
    ...['show PUSH', 'show PUSH --json', 'preview PUSH', 'preview PUSH --json'],
    ...['expire PUSH --json', 'audit PUSH --json', 'logout --json', 'profile list --json'],
    ...['profile show --json', 'doctor', 'doctor --json', 'version --json', 'completion bash'],
    'mcp --root DIR',
  ]),
  ...lines(['push --generate --quiet', 'respond ASKED --generate --quiet'], watched),
  { words: 'push --qr', ...watched, ...piped },
  ...lines(
    [
      ...['push', 'push --json', 'push --encrypt --json', 'push --each --json', 'respond ASKED'],
      'push --generate-passphrase --dry-run --encrypt=words',
      'push --generate-passphrase --passphrase-out DIR/out --json',
      'push --encrypt=words --key-out DIR/out --json',
    ],
    piped,
  ),
  { words: 'serve token list --data DIR/data', code: 1 },
  { words: 'wait PUSH --json --for 9', code: 12 },
  { words: 'notify PUSH a@b.test --json', code: 8 },
  { words: 'login https://pw.test --json', stdin: 'ADMIN' },
];

/** Of one push or request, and not a listing. */
const RETRIEVAL = /\/api\/v2\/(pushes|requests)\/(?!active|expired|open|ready|closed)[\w-]+$/;

/** A body, its objects with a secret in each field that may have one. */
function repeated(body: string): string {
  const secrets = { payload: SECRET, response: SECRET, passphrase: SECRET, generated: SECRET };
  const add = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(add) : { ...(value as object), ...secrets };
  return /^[[{]/.test(body) ? JSON.stringify(add(JSON.parse(body))) : body;
}

/** The service, as one that repeats secrets in all that it returns besides a retrieved push, and what runs lines there. */
async function world(answered = (_method: string) => {}) {
  const asked: string[] = [];
  const here: Instance = await instance({
    invented: 'any',
    send: async (request) => {
      const response = await overFetch(here.service, asked)(request);
      answered(request.method);
      const taken = request.method === 'GET' && RETRIEVAL.test(new URL(request.url).pathname);
      return taken ? response : rewriting(async () => response, repeated)(request);
    },
  });
  const kept = { url: BASE, token: here.service.adminToken };
  await here.keep({ current: 'kept', profiles: { kept } });
  writeFileSync(here.file('secret'), SECRET);
  writeFileSync(here.file('github'), '');
  for (const folder of ['inbox', 'data']) mkdirSync(here.file(folder));
  symlinkSync('/dev/null', here.file('null'));
  const link = async (...words: string[]) =>
    (await here.under({ stdin: SECRET }).run(...words)).stdout.trim();
  const makers: Record<string, () => Promise<string>> = {
    PUSH: () => link('push'),
    FILES: () => link('push', '--file', here.file('secret'), '--message', SECRET),
    ASKED: () => link('request', 'what?'),
    ADMIN: async () => here.service.adminToken,
    DIR: async () => here.folder,
  };
  const made = new Map<string, string>();
  const real = async (text: string) => {
    for (const [name, make] of Object.entries(makers))
      if (text.includes(name) && !made.has(name)) made.set(name, await make());
    return text.replace(/PUSH|FILES|ASKED|ADMIN|DIR/g, (name) => made.get(name) ?? '');
  };
  const github = { GITHUB_OUTPUT: here.file('github'), GITHUB_ENV: here.file('github') };
  const run = async (line: Line | string, env: Conditions['env'] = {}, ...more: string[]) => {
    const { words, stdin = '', terminals = [] } = typeof line === 'string' ? { words: line } : line;
    const [before = '', behind] = words.split(' -- ');
    const argv = [...(await real(before)).split(' '), ...more, ...(behind ? ['--', behind] : [])];
    const typed = await real(stdin);
    asked.length = 0;
    const all = { PATH: process.env.PATH, ...github, ...env };
    return here.under({ env: all, stdin: typed, terminals }).run(...argv);
  };
  return { here, asked, run };
}

const spelled = [SECRET, Buffer.from(SECRET).toString('base64').slice(0, 20)];
const leaks = ({ stdout, stderr }: Outcome) =>
  spelled.some((secret) => `${stdout}${stderr}`.includes(secret));

test('every command has its lines here', async () => {
  const { run } = await world();
  const names = JSON.parse((await run('help --json')).stdout).commands.map(
    ({ name }: { name: string }) => name,
  );
  const tried = [...refused, ...allowed].map(({ words }) => words.split(' ')[0]);
  expect([...new Set(tried)].sort()).toEqual(names.sort());
});

describe('where an agent reads it', () => {
  async function refuse(line: Line, marker = 'CLAUDECODE') {
    const { asked, run } = await world();
    const outcome = await run(line, { [marker]: '1' });
    expect([outcome.code, outcome.stdout, leaks(outcome)]).toEqual([2, '', false]);
    expect(outcome.stderr).toMatch(
      new RegExp(`is not printed: a coding agent reads this output \\(${marker}\\)`),
    );
    expect(outcome.stderr).toContain('--reveal');
    expect(asked).toEqual([]);
    return run;
  }

  test.each(MARKERS)('%s is a marker', async (marker) => {
    await refuse({ words: 'generate' }, marker);
  });

  test.each(refused)(
    '$words is refused before anything is asked or made, and not with --reveal',
    async (line) => {
      const run = await refuse(line);
      if (line.reveal === false) return;
      const { code, stdout, stderr } = await run(line, agent, '--reveal');
      expect([code, `${stdout}${stderr}`]).toEqual([line.code ?? 0, expect.stringMatching(/./)]);
      expect(stderr).not.toContain('CLAUDECODE');
    },
  );

  test.each(allowed)('$words works and prints no secret that an instance repeats', async (line) => {
    const { run } = await world();
    const outcome = await run(line, agent);
    expect([outcome.code, leaks(outcome)]).toEqual([line.code ?? 0, false]);
  });
});

test('a text whose folder is gone is not printed instead', async () => {
  for (const [env, leaked] of [
    [agent, false],
    [{}, true],
  ] as const) {
    const { here, run } = await world((method) => {
      if (method !== 'GET') return;
      rmSync(here.file('inbox'), { recursive: true, force: true });
      writeFileSync(here.file('inbox'), '');
    });
    const outcome = await run('get FILES --output DIR/inbox/out', env);
    expect([outcome.code, leaks(outcome)]).toEqual([1, leaked]);
  }
});

test('the rest of a download prints nothing, unless it goes to standard output', async () => {
  const context = { uid: 0, guard: async () => 'X is set' } as Partial<Context> as Context;
  const run = entryOf(context, { json: true, quiet: false, color: false, debug: false });
  const reserve = (plan: PlacePlan) =>
    reservePlace(run, plan, { files: true, onlyFiles: true, instead: 'get-unseen' });
  const folder = { path: '.', force: false, taken: new Set<string>() };
  await reserve({ to: 'rest', force: false, folder });
  await expect(reserve({ to: 'dash', force: false })).rejects.toThrow('X is set');
});
