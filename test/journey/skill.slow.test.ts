import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { partOf } from '../helpers/long';
import { needsPrograms } from '../helpers/needs';
import {
  pathWith,
  person,
  pushed as pushedTo,
  pwpush,
  script,
  serving,
  shell,
} from '../helpers/program';
import { overSocket } from '../helpers/sockets';

// What the skill tells agents, and its evaluation, with the built program and service.

const folder = join(import.meta.dirname, '..', '..', 'skills', 'pwpush');
const skill = readFileSync(join(folder, 'SKILL.md'), 'utf8');
const evaluation = readFileSync(join(folder, 'evaluation.md'), 'utf8');
const SECRET = 'MARKER-f00d';

const somebody = person();
const work = join(somebody.folder, 'work');
const service = serving(somebody.env);
let owner: Record<string, string>;

beforeAll(() => {
  const elsewhere = join(somebody.folder, 'elsewhere');
  owner = {
    ...{ PATH: pathWith(join(somebody.folder, 'bin')), HOME: elsewhere, NO_PROXY: '*' },
    ...{ PWPUSH_CONFIG_DIR: elsewhere, CLAUDECODE: '1' },
    ...{ PWPUSH_URL: service.url, PWPUSH_TOKEN: service.token },
  };
});
beforeEach(() => {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
  writeFileSync(join(work, 'secret.txt'), SECRET);
  script(join(work, 'make-token'), `echo ${SECRET}`);
  script(join(work, 'deploy.sh'), 'test -n "$DB_PASSWORD" && echo "deployed with $DB_PASSWORD"');
  script(join(work, 'set-password'), 'cat >set && echo "set to $(cat set)"');
  script(join(work, 'login.sh'), `test "$(cat)" = ${SECRET} && echo logged in`);
});

const inBash = needsPrograms('bash', 'awk');

/** Runs lines as an agent does: a shell that ends with the first failure. */
function agent(lines: string, env: Record<string, string>) {
  writeFileSync(join(work, 'lines'), lines);
  return shell('bash -eo pipefail lines', { env, cwd: work });
}

/** A link to the secret, pushed by a person. */
const push = (more = {}): Promise<string> => pushedTo(service, SECRET, more);

/** What a recipient gets from a link. */
const opened = (link: string) => overSocket(['get', link.trim(), '--anonymous', '--quiet']);

const LINK = /^https?:\/\/\S+\/p\/\S+\n$/;

/** The link is all that was printed, and it opens as often as it says. */
async function pushed(stdout: string, views: number, secret = SECRET): Promise<void> {
  expect(stdout).toMatch(LINK);
  for (let view = 0; view < views; view++) expect((await opened(stdout)).stdout).toBe(secret);
  expect((await opened(stdout)).code).toBe(6);
}

type Effect = (done: {
  readonly stdout: string;
  readonly stderr: string;
  readonly link: string;
}) => void | Promise<void>;

const deployed: Effect = ({ stdout }) => expect(stdout).toBe('deployed with ***\n');
const isPushed =
  (views: number): Effect =>
  ({ stdout }) =>
    pushed(stdout, views);

/** Each task, in the order of evaluation.md, its effect, and what $LINK is in it. */
const solutions: readonly [title: string, effect: Effect, link?: () => Promise<string>][] = [
  ['A file for a colleague', isPushed(1)],
  ['A variable of this shell', isPushed(3)],
  ['The output of a program', isPushed(1)],
  [
    'A password that nobody has seen',
    async ({ stdout, stderr }) => {
      const made = readFileSync(join(work, 'set'), 'utf8');
      expect(made).toHaveLength(32);
      expect(stderr).toContain('set to ***');
      expect(stderr).not.toContain(made);
      await pushed(stdout, 2, made);
    },
  ],
  ['A deployment with a password from a link', deployed, push],
  ['A login that reads standard input', ({ stdout }) => expect(stdout).toBe('logged in\n'), push],
  [
    'A file from a link',
    ({ stdout }) => {
      const path = join(work, '.env');
      expect([stdout, readFileSync(path, 'utf8')]).toEqual(['', SECRET]);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    },
    push,
  ],
  ['A password that only a person knows', deployed],
  [
    'An answer to a request',
    async ({ link }) => {
      const { CLAUDECODE: _, ...env } = owner;
      expect(await pwpush(['get', link], { env })).toMatchObject({ code: 0, stdout: SECRET });
    },
    async () => (await agent('pwpush request "Q"', owner)).stdout.trim(),
  ],
  [
    'A link that went to the wrong person',
    async ({ stdout, link }) => {
      expect(stdout).toMatch(/^views left\t5 of 5$/m);
      expect((await opened(link)).code).toBe(6);
    },
    () => push({ name: 'staging' }),
  ],
];

/** The command lines of each task, by its title. */
const tasks = new Map(
  [...evaluation.matchAll(/^## \d+\. (.*)\n\n(?:> .*\n)+\n```sh\n([\s\S]*?)```$/gm)].map(
    ([, title = '', lines = '']) => [title, lines] as const,
  ),
);

describe('the evaluation', inBash, () => {
  beforeEach(() => {
    // Ann answers at once.
    script(
      join(work, 'tell'),
      `unset PWPUSH_TOKEN CLAUDECODE; pwpush respond "$2" --from secret.txt --quiet`,
    );
  });

  test('has these tasks', () => {
    expect([...tasks.keys()]).toEqual(solutions.map(([title]) => title));
  });

  test.each(solutions)('%s', async (title, effect, before) => {
    const link = (await before?.()) ?? '';
    const lines = tasks.get(title) ?? '';
    const variable = lines.includes('--env DB_PASSWORD') && { DB_PASSWORD: SECRET };
    const env = { ...owner, LINK: link, ...variable };
    const { code, stdout, stderr } = await agent(lines, env);
    expect(code, stderr).toBe(0);
    expect(stdout + stderr).not.toContain(SECRET);
    await effect({ stdout, stderr, link });
  });
});

describe('SKILL.md', inBash, () => {
  const commandsIn = (text: string) =>
    [...text.matchAll(/^```sh\n([\s\S]*?)```$/gm)].flatMap(([, body = '']) =>
      body.trim().split('\n'),
    );
  const request = /^## Ask for a secret\n[\s\S]*?(?=^## )/m.exec(skill)?.[0] ?? '';
  const lines = commandsIn(skill.replace(request, ''));

  beforeEach(() => {
    for (const name of ['.env', 'server.key']) writeFileSync(join(work, name), SECRET);
  });

  test('begins with the metadata that agents and gh skill read (agentskills.io), and has commands', () => {
    expect(lines.length).toBeGreaterThan(7);
    const [, head = ''] = /^---\n([\s\S]*?)\n---\n/.exec(skill) ?? [];
    const { license, author } = JSON.parse(
      readFileSync(join(folder, '..', '..', 'package.json'), 'utf8'),
    );
    expect(parse(head)).toEqual({
      name: 'pwpush',
      description: expect.stringMatching(/^.{40,1024}$/),
      license,
      compatibility: expect.stringMatching(/^.{1,500}$/),
      metadata: { author },
    });
    expect(skill.split('\n').length).toBeLessThan(500);
  });

  test.each(partOf(lines, 0, 3))('%s works, and shows no secret', async (line) => {
    const env = { ...owner, DB_PASSWORD: SECRET, LINK: await push() };
    if (line.includes('--as DB_PASSWORD')) Reflect.deleteProperty(env, 'DB_PASSWORD');
    const { code, stdout, stderr } = await agent(line, env);
    expect(code, stderr).toBe(0);
    expect(stdout + stderr).not.toContain(SECRET);
    if (line.includes(' push ')) expect(stdout).toMatch(LINK);
  });

  test('a request is answered and used, and shows no secret', async () => {
    const [ask = '', wait = '', use = ''] = commandsIn(request);
    const { stdout } = await agent(ask, owner);
    expect(stdout).toMatch(/^http:\S+#age1\w+\n$/);
    const env = { ...owner, LINK: stdout.trim() };
    expect((await agent(wait.replace('10m', '1'), env)).code).toBe(12);
    const answered = await pwpush(['respond', env.LINK], { env: somebody.env, input: SECRET });
    expect(answered.code).toBe(0);
    expect(await agent(wait, env)).toMatchObject({ code: 0, stdout: '', stderr: '' });
    const used = await agent(use, env);
    expect(used).toMatchObject({ code: 0, stdout: 'deployed with ***\n' });
    expect(used.stderr).not.toContain(SECRET);
    expect((await agent(use, env)).code).toBe(6);
  });
});
