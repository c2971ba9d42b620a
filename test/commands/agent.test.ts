import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { MARKERS } from '../../src/platform/surroundings';
import { BASE, type Instance, instance, overFetch } from '../helpers/instance';
import type { Conditions, Outcome } from '../helpers/run';
import { tableOf } from '../helpers/table';
import { rewriting } from '../helpers/wire';

// What is said where an agent reads it: test/cases/agent.txt and agent-setting.txt; that no marker is lost: test/man.test.ts.

const SECRET = 'MARKsecret7f3a9c2e51';

const agent = { CLAUDECODE: '1' };

interface Line {
  readonly words: string;
  readonly stdin?: string;
  readonly terminals?: Conditions['terminals'];
  /** Of one that is refused, with --reveal, with which it may not be run. */
  readonly code?: number | undefined;
}

const rows = tableOf('commands/agent.txt').map(([kind, where, input = '', code, words = '']) => ({
  kind,
  words,
  stdin: input.replace('SECRET', SECRET),
  terminals: where === 'terminal' ? (['stdout', 'stderr'] as const) : [],
  code: code ? Number(code) : undefined,
}));
const refused = rows.filter(({ kind }) => kind === 'refused');
const allowed = rows.filter(({ kind }) => kind === 'done');

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
    (await here.under({ stdin: words.includes('request') ? '' : SECRET }).run(...words)).stdout.trim();
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
const leaks = ({ stdout, stderr }: Outcome) => spelled.some((secret) => `${stdout}${stderr}`.includes(secret));

test('every command has its lines here', async () => {
  const { run } = await world();
  const names = JSON.parse((await run('help --json')).stdout).commands.map(({ name }: { name: string }) => name);
  const tried = [...refused, ...allowed].map(({ words }) => words.split(' ')[0]);
  expect([...new Set(tried)].sort()).toEqual(names.sort());
});

describe('where an agent reads it', () => {
  async function refuse(line: Line, marker = 'CLAUDECODE') {
    const { asked, run } = await world();
    const outcome = await run(line, { [marker]: '1' });
    expect([outcome.code, outcome.stdout, leaks(outcome)]).toEqual([2, '', false]);
    expect(outcome.stderr).toMatch(new RegExp(`is not printed: a coding agent reads this output \\(${marker}\\)`));
    expect(outcome.stderr).toContain('--reveal');
    expect(asked).toEqual([]);
    return run;
  }

  test.each(MARKERS)('%s is a marker', async (marker) => {
    await refuse({ words: 'generate' }, marker);
  });

  test.each(refused)('$words is refused before anything is asked or made, and not with --reveal', async (line) => {
    const run = await refuse(line);
    if (line.code === undefined) return;
    const { code, stdout, stderr } = await run(line, agent, '--reveal');
    expect([code, `${stdout}${stderr}`]).toEqual([line.code, expect.stringMatching(/./)]);
    expect(stderr).not.toContain('CLAUDECODE');
  });

  test.each(allowed)('$words works and prints no secret that an instance repeats', async (line) => {
    const { run } = await world();
    const outcome = await run(line, agent);
    expect([outcome.code, leaks(outcome)]).toEqual([line.code, false]);
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
