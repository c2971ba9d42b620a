import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { invocation } from '../../src/cli/terminal/output';
import { TransportError } from '../../src/client/transport/network-errors';
import { commands } from '../../src/commands/program';
import { type PlacePlan, reservePlace } from '../../src/deliver/place';
import type { Context } from '../../src/platform/context';
import type { Profile } from '../../src/profile/settings';
import { BASE, type Instance, instance, overFetch } from '../helpers/instance';
import type { Conditions, Outcome } from '../helpers/run';

const SECRET = 'MARKsecret7f3a9c2e51';

/** What coding agents set, as their documents have it: the list of the program may have lost one. */
const MARKERS = [
  ...['AI_AGENT', 'AGENT', 'CLAUDECODE', 'CODEX_THREAD_ID', 'CURSOR_AGENT', 'GEMINI_CLI'],
  ...['COPILOT_CLI', 'OPENCODE', 'QWEN_CODE', 'CLINE_ACTIVE', 'AUGMENT_AGENT'],
];

interface Line {
  readonly words: string;
  readonly stdin?: string;
  readonly terminals?: Conditions['terminals'];
  /** It would print a secret; else it does its work. */
  readonly refused?: true;
  /** It ends with another code than 0, without an agent too. */
  readonly code?: number;
  /** It is not run with --reveal: what it prints would go elsewhere. */
  readonly reveal?: false;
}

const refused = { refused: true } as const;
const piped = { stdin: SECRET };
const ours = { ...refused, reveal: false } as const;
/** It cannot listen there. */
const served = { ...refused, code: 1 } as const;
const watched = { terminals: ['stdout', 'stderr'] } as const;

/** Every command, in every way in which it may print a secret. PUSH has a text, FILES a file too; DIR is a folder. */
const lines: Record<string, readonly Line[]> = {
  get: [
    { words: 'get PUSH', ...refused },
    { words: 'get PUSH', ...refused, ...watched },
    { words: 'get PUSH --json', ...refused },
    { words: 'get PUSH --qr', ...refused, ...watched },
    { words: 'get PUSH --no-files', ...refused },
    { words: 'get PUSH --no-decrypt', ...refused },
    { words: 'get PUSH --output -', ...refused },
    { words: 'get PUSH --output /dev/stdout', ...ours },
    { words: 'get PUSH --output /dev/stderr --force', ...ours },
    { words: 'get PUSH --output /proc/self/fd/1', ...ours },
    { words: 'get PUSH --output DIR/out/ --json', ...refused },
    { words: 'get PUSH --output DIR/inbox --json', ...refused },
    { words: 'get PUSH --output DIR/inbox --json --no-files', ...refused },
    // A push with files makes it a folder.
    { words: 'get FILES --output DIR/out --json', ...refused },
    { words: 'get PUSH --output DIR/null', ...ours },
    { words: 'get PUSH --github-output NAME', ...refused },
    { words: 'get PUSH --github-env NAME', ...refused },
    { words: 'get PUSH --copy', ...refused, ...watched },
    { words: 'get --from-file DIR/secret', ...refused },
    { words: 'get --from-file DIR/secret --json', ...refused },
    { words: 'get PUSH --output DIR/out' },
    { words: 'get FILES --output DIR/out/' },
    { words: 'get PUSH --output DIR/out --json --no-files' },
    { words: 'get --from-file DIR/secret --output DIR/out' },
  ],
  generate: [
    { words: 'generate', ...refused },
    { words: 'generate words:5 --json', ...refused },
    { words: 'generate --quiet', ...refused, ...watched },
  ],
  push: [
    { words: 'push --generate', ...refused },
    { words: 'push --generate', ...refused, ...watched },
    { words: 'push --generate --dry-run', ...refused },
    { words: 'push --generate --json', ...refused },
    { words: 'push --generate --json --quiet', ...refused },
    { words: 'push --generate --json --encrypt', ...refused },
    { words: 'push --generate-passphrase', ...piped, ...refused },
    { words: 'push --generate-passphrase --json', ...piped, ...refused },
    { words: 'push --generate-passphrase --quiet', ...piped, ...refused },
    { words: 'push --encrypt=words', ...piped, ...refused },
    { words: 'push --encrypt=words --json --quiet', ...piped, ...refused },
    { words: 'push', ...piped },
    { words: 'push --json', ...piped },
    { words: 'push --qr', ...piped, ...watched },
    { words: 'push --encrypt --json', ...piped },
    { words: 'push --each --json', ...piped },
    { words: 'push --generate --quiet' },
    { words: 'push --generate --into -- true' },
    { words: 'push --generate --into --json -- true' },
    { words: 'push --generate --quiet', ...watched },
    { words: 'push --generate --dry-run --json' },
    { words: 'push --generate-passphrase --dry-run --encrypt=words', ...piped },
    { words: 'push --generate-passphrase --passphrase-out DIR/out --json', ...piped },
    { words: 'push --encrypt=words --key-out DIR/out --json', ...piped },
  ],
  request: [
    { words: 'request what? --generate-passphrase', ...refused },
    { words: 'request what? --generate-passphrase --json', ...refused },
    { words: 'request what? --here --host 203.0.113.1', ...served },
    { words: 'request what? --here --json --host 203.0.113.1', ...served },
    { words: 'request --here --host 203.0.113.1', ...served },
    { words: 'request --here --output - --host 203.0.113.1', ...served },
    { words: 'request --here --output /dev/stdout --host 203.0.113.1', ...served },
    { words: 'request --here --output DIR/out/ --json --host 203.0.113.1', ...served },
    { words: 'request --here --output DIR/out --json --allow-files --host 203.0.113.1', ...served },
    { words: 'request what?' },
    { words: 'request what? --json' },
    { words: 'request what? --generate-passphrase --passphrase-out DIR/out' },
  ],
  respond: [
    { words: 'respond ASKED --generate --json', ...refused },
    { words: 'respond ASKED --generate', ...refused, ...watched },
    { words: 'respond ASKED --generate --quiet' },
    { words: 'respond ASKED', ...piped },
  ],
  serve: [
    { words: 'serve token add ann --data DIR/data', ...refused },
    { words: 'serve token add ann --data DIR/data --json', ...refused },
    { words: 'serve token add ann --data DIR/data --output /dev/stdout', ...ours },
    { words: 'serve token add ann --data DIR/data --output DIR/out' },
    { words: 'serve token list --data DIR/data', code: 1 },
  ],
  run: [{ words: 'run PUSH --as NAME -- true' }],
  list: [{ words: 'list' }, { words: 'list --json' }, { words: 'list requests --json' }],
  show: [{ words: 'show PUSH' }, { words: 'show PUSH --json' }],
  preview: [{ words: 'preview PUSH' }, { words: 'preview PUSH --json' }],
  expire: [{ words: 'expire PUSH --json' }],
  audit: [{ words: 'audit PUSH --json' }],
  wait: [{ words: 'wait PUSH --json --for 9', code: 12 }],
  notify: [{ words: 'notify PUSH a@b.test --json', code: 8 }],
  login: [{ words: 'login https://pw.test --json', stdin: 'ADMIN' }],
  logout: [{ words: 'logout --json' }],
  profile: [{ words: 'profile list --json' }, { words: 'profile show --json' }],
  doctor: [{ words: 'doctor' }, { words: 'doctor --json' }],
  version: [{ words: 'version --json' }],
  completion: [{ words: 'completion bash' }],
  mcp: [{ words: 'mcp --root DIR' }],
};

const cases = Object.values(lines).flat();

/** Of one push or request, and not a listing. */
const RETRIEVAL = /\/api\/v2\/(pushes|requests)\/(?!active|expired|open|ready|closed)[\w-]+$/;

/** The service, as one that repeats secrets in all that it returns besides a retrieved push. */
const REPEATED = Object.fromEntries(
  ['payload', 'response', 'passphrase', 'generated'].map((name) => [name, SECRET]),
);

async function repeating(settings: Profile = {}, loses = false): Promise<Instance> {
  const asked: string[] = [];
  const here: Instance = await instance({
    invented: 'any',
    send: async (request) => {
      const response = await overFetch(here.service, asked)(request);
      if (loses && request.method === 'POST')
        throw new TransportError('no response', { sent: true, cause: undefined });
      const { pathname } = new URL(request.url);
      if (request.method === 'GET' && RETRIEVAL.test(pathname)) return response;
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      const body = Buffer.from(repeated(Buffer.concat(chunks)));
      const { 'content-length': _, ...headers } = response.headers;
      return { ...response, headers, body: [body].values() as never };
    },
  });
  const kept = { url: BASE, token: here.service.adminToken, ...settings };
  await here.keep({ current: 'kept', profiles: { kept, other: { url: BASE } } });
  return { ...here, asked };
}

function repeated(body: Buffer): Buffer | string {
  try {
    const add = (value: unknown): unknown =>
      Array.isArray(value) ? value.map(add) : { ...(value as object), ...REPEATED };
    return JSON.stringify(add(JSON.parse(body.toString())));
  } catch {
    return body;
  }
}

/** Runs lines at one instance, with what they name. */
async function runner(here: Instance) {
  writeFileSync(here.file('secret'), SECRET);
  writeFileSync(here.file('github'), '');
  for (const folder of ['inbox', 'data']) mkdirSync(here.file(folder));
  symlinkSync('/dev/null', here.file('null'));
  const link = async (...words: string[]) => {
    const { stdout } = await here.under({ stdin: SECRET, env: {} }).run(...words);
    return stdout.trim();
  };
  const makers: Record<string, () => Promise<string>> = {
    PUSH: () => link('push'),
    FILES: () => link('push', '--file', here.file('secret'), '--message', SECRET),
    ASKED: () => link('request', 'what?'),
    ADMIN: async () => here.service.adminToken,
    DIR: async () => here.folder,
  };
  const made = new Map<string, string>();
  const real = async (text: string) => {
    for (const [name = ''] of text.matchAll(/PUSH|FILES|ASKED|ADMIN|DIR/g))
      if (!made.has(name)) made.set(name, (await makers[name]?.()) ?? '');
    return text.replace(/PUSH|FILES|ASKED|ADMIN|DIR/g, (name) => made.get(name) ?? '');
  };
  return async (line: Line, env: Conditions['env'], ...more: string[]): Promise<Outcome> => {
    const [before = '', behind] = line.words.split(' -- ');
    const words = (await real(before)).split(' ');
    const argv = [...words, ...more, ...(behind ? ['--', behind] : [])];
    const { stdin = '', terminals = [] } = line;
    const typed = await real(stdin);
    here.asked.length = 0;
    const own = {
      PATH: process.env.PATH,
      GITHUB_OUTPUT: here.file('github'),
      GITHUB_ENV: here.file('github'),
    };
    return here.under({ env: { ...own, ...env }, stdin: typed, terminals }).run(...argv);
  };
}

const spelled = [SECRET, Buffer.from(SECRET).toString('base64').slice(0, 20)];
const leaks = ({ stdout, stderr }: Outcome) =>
  spelled.some((secret) => `${stdout}${stderr}`.includes(secret));

test('every command has its lines here', () => {
  expect(Object.keys(lines).sort()).toEqual(commands.map(({ name }) => name).sort());
});

describe('where an agent reads it', () => {
  let here: Instance;
  let run: Awaited<ReturnType<typeof runner>>;
  beforeEach(async () => {
    here = await repeating();
    run = await runner(here);
    here.asked.length = 0;
  });
  afterEach(() => here.close());

  const refuse = async (line: Line, marker: string) => {
    const outcome = await run(line, { [marker]: '1' });
    expect([outcome.code, outcome.stdout, leaks(outcome)]).toEqual([2, '', false]);
    expect(outcome.stderr).toMatch(new RegExp(`${marker} is set: .* is not printed`));
    expect(outcome.stderr).toContain('--reveal');
    expect(here.asked).toEqual([]);
  };

  test.each(MARKERS)('%s is a marker', (marker) => refuse({ words: 'generate' }, marker));

  test.each(cases.filter((line) => line.refused).map((line, at) => ({ ...line, at })))(
    '$words is refused before anything is asked or made, and not with --reveal',
    async (line) => {
      await refuse(line, MARKERS[line.at % MARKERS.length] ?? '');
      if (line.reveal === false) return;
      const { code, stdout, stderr } = await run(line, { CLAUDECODE: '1' }, '--reveal');
      expect([code, `${stdout}${stderr}`]).toEqual([line.code ?? 0, expect.stringMatching(/./)]);
      expect(stderr).not.toContain('CLAUDECODE');
    },
  );

  test.each(cases.filter((line) => !line.refused).map((line, at) => ({ ...line, at })))(
    '$words does its work, and prints no secret that the instance repeats',
    async (line) => {
      const marker = MARKERS[line.at % MARKERS.length] ?? '';
      const outcome = await run(line, { [marker]: 'yes' });
      expect([outcome.code, leaks(outcome)]).toEqual([line.code ?? 0, false]);
    },
  );
});

describe('the setting agent of the profile in use', () => {
  const agent = { CLAUDECODE: '1' };
  const line = (words: string): Line => ({ words });

  test('allow prints where an agent reads it', async () => {
    const here = await repeating({ agent: 'allow' });
    const run = await runner(here);
    expect((await run(line('get PUSH'), agent)).stdout).toBe(SECRET);
    expect((await run(line('generate hex:32'), agent)).stdout).toMatch(/^[\da-f]{32}\n$/);
    expect((await run(line('list --json'), agent)).stdout).toContain(SECRET);
    // What it allows is for that profile alone.
    for (const more of [{ PWPUSH_PROFILE: 'other' }, { GEMINI_CLI: '1', PWPUSH_PROFILE: 'other' }])
      expect((await run(line('get PUSH'), { ...agent, ...more })).code).toBe(2);
    expect((await run(line('get PUSH --profile other'), agent)).code).toBe(2);
    await here.close();
  });

  test('refuse prints nothing where there is no agent either', async () => {
    const here = await repeating({ agent: 'refuse' });
    const run = await runner(here);
    for (const words of ['get PUSH', 'generate', 'push --generate --json']) {
      const { code, stdout, stderr } = await run(line(words), {});
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/setting agent of profile .*kept.* is refuse/);
    }
    expect(leaks(await run(line('list --json'), {}))).toBe(false);
    expect((await run(line('get PUSH'), {}, '--reveal')).stdout).toBe(SECRET);
    expect((await run(line('get PUSH --profile other'), {})).stdout).toBe(SECRET);
    await here.close();
  });

  test('in a config file that cannot be read has no effect', async () => {
    const here = await repeating();
    const run = await runner(here);
    writeFileSync(here.file('config/config.json'), '{"profiles": {"agent"');
    expect((await run(line('generate'), agent)).code).toBe(2);
    expect((await run(line('generate'), {})).code).toBe(0);
    await here.close();
  });
});

describe('a marker', () => {
  test.each(['', '0', 'false', 'FALSE'])('that is "%s" is none', async (value) => {
    const here = await repeating();
    const run = await runner(here);
    const env = Object.fromEntries(MARKERS.map((name) => [name, value]));
    expect((await run({ words: 'get PUSH' }, env)).stdout).toBe(SECRET);
    expect(leaks(await run({ words: 'list --json' }, env))).toBe(true);
    await here.close();
  });

  test('lets nothing prompt, not even with --reveal', async () => {
    const here = await repeating();
    const typing = { terminals: ['stdin', 'stderr'] as const, prompts: [] };
    for (const words of [['push'], ['push', '--reveal'], ['get', 'x', '-p', '--reveal']]) {
      const asked = await here.under({ ...typing, env: { AGENT: 'goose' } }).run(...words);
      expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('no terminal')]);
    }
    await here.close();
  });

  test('refuses words that the profile wants', async () => {
    const here = await repeating({ encrypt: 'words' });
    const run = await runner(here);
    const refused = await run({ words: 'push', stdin: SECRET }, { OPENCODE: '1' });
    expect([refused.code, refused.stdout, here.asked]).toEqual([2, '', []]);
    await here.close();
  });

  test('lets a program of the desktop copy the text', async () => {
    const here = await repeating();
    const run = await runner(here);
    writeFileSync(here.file('wl-copy'), `#!/bin/sh\ncat >'${here.file('board')}'\n`);
    chmodSync(here.file('wl-copy'), 0o755);
    const env = { CLAUDECODE: '1', WAYLAND_DISPLAY: 'w', PATH: `${here.folder}:/usr/bin:/bin` };
    const copied = await run({ words: 'get PUSH --copy', terminals: ['stderr'] }, env);
    expect([copied.code, leaks(copied)]).toEqual([0, false]);
    expect(readFileSync(here.file('board'), 'utf8')).toBe(SECRET);
    await here.close();
  });
});

test('serve token add writes the token to a file that only its owner can read', async () => {
  const here = await repeating();
  const run = await runner(here);
  const words = 'serve token add ann --data DIR/data --output DIR/out';
  const { stdout } = await run({ words: `${words} --json` }, { CLAUDECODE: '1' });
  expect(JSON.parse(stdout)).toEqual({ name: 'ann', saved_to: here.file('out') });
  expect(readFileSync(here.file('out'), 'utf8')).toMatch(/^pwp_[\w-]{43}\n$/);
  // No token is made that cannot be written.
  expect((await run({ words }, {})).code).toBe(2);
  const listed = await run({ words: 'serve token list --data DIR/data --json' }, {});
  expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'ann', tokens: 1 }]);
  await here.close();
});

test('a text whose folder is gone is not printed instead', async () => {
  let swap = () => {};
  const here: Instance = await instance({
    settings: { anonymousFiles: true },
    send: async (request) => {
      const response = await overFetch(here.service)(request);
      if (request.method === 'GET') swap();
      return response;
    },
  });
  const run = await runner(here);
  const line = { words: 'get FILES --output DIR/inbox/out' };
  swap = () => {
    rmSync(here.file('inbox'), { recursive: true, force: true });
    writeFileSync(here.file('inbox'), '');
  };
  for (const [env, leaked] of [
    [{ CLAUDECODE: '1' }, false],
    [{}, true],
  ] as const) {
    rmSync(here.file('inbox'), { recursive: true });
    mkdirSync(here.file('inbox'));
    const outcome = await run(line, env);
    expect([outcome.code, leaks(outcome)]).toEqual([1, leaked]);
  }
  await here.close();
});

test('the rest of a download prints nothing, unless it goes to standard output', async () => {
  const context = { uid: 0, guard: async () => 'X is set' } as Partial<Context> as Context;
  const run = invocation(context, { json: true, quiet: false, color: false, debug: false });
  const reserve = (plan: PlacePlan) =>
    reservePlace(run, plan, { files: true, onlyFiles: true, instead: 'get-unseen' });
  const folder = { path: '.', force: false, taken: new Set<string>() };
  await reserve({ to: 'rest', force: false, folder });
  await expect(reserve({ to: 'dash', force: false })).rejects.toThrow('X is set');
});

test('a creation without a response is told without a secret', async () => {
  const here = await repeating({}, true);
  const { code, stderr } = await here.under({ stdin: 'x' }).run('push', '--json');
  expect(code).toBe(11);
  expect(stderr).not.toContain(SECRET);
  await here.close();
});
