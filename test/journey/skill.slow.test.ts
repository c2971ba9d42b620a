import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { partOf } from '../helpers/long';
import { needsPrograms } from '../helpers/needs';
import { pushed, script, shell, workplace } from '../helpers/program';

// What the skill tells agents, and its evaluation, with the built program and service.

const folder = join(import.meta.dirname, '..', '..', 'skills', 'pwpush');
const skill = readFileSync(join(folder, 'SKILL.md'), 'utf8');
const evaluation = readFileSync(join(folder, 'evaluation.md'), 'utf8');
const SECRET = 'MARKER-f00d';
const LINK = /^https?:\/\/\S+\/p\/\S+\n$/;

const { service, owner, work, at, file } = workplace();
beforeEach(() => {
  for (const name of ['secret.txt', 'server.key']) writeFileSync(at(name), SECRET);
  script(at('make-token'), `echo ${SECRET}`);
  script(at('deploy.sh'), 'test -n "$DB_PASSWORD" && echo "deployed with $DB_PASSWORD"');
  script(at('set-password'), 'echo "set to $(cat)"');
  script(at('login.sh'), `test "$(cat)" = ${SECRET} && echo logged in`);
  script(at('tell'), 'unset PWPUSH_TOKEN CLAUDECODE; pwpush respond "$2" --from secret.txt --quiet');
});

const inBash = needsPrograms('bash', 'awk');

/** Runs lines as an agent does: a shell that ends with the first failure. They show no secret. */
async function agent(lines: string, more: Record<string, string> = {}) {
  writeFileSync(at('lines'), lines);
  const env = { ...owner, CLAUDECODE: '1', ...more };
  const ended = await shell('bash -eo pipefail lines', { env, cwd: work });
  expect(ended.stdout + ended.stderr).not.toContain(SECRET);
  return ended;
}

const push = (more = {}) => pushed(service, SECRET, more);
const commandsIn = (text: string) => [...text.matchAll(/^```sh\n([\s\S]*?)```$/gm)].map(([, lines = '']) => lines);
const tasks = commandsIn(evaluation);
const ask = /^## Ask for a secret\n[\s\S]*?(?=^## )/m.exec(skill)?.[0] ?? '';
const lines = commandsIn(skill.replace(ask, '')).flatMap((block) => block.trim().split('\n'));

test('the skill begins with its name, and has commands', () => {
  expect(skill).toMatch(/^---\nname: pwpush\ndescription: .{40,1024}\n/);
  expect([lines.length > 7, tasks.length]).toEqual([true, 10]);
});

test.each([...tasks.filter((task) => !/respond|staging/.test(task)), ...partOf(lines, 0, 3)])(
  '%s works, and shows no secret',
  inBash,
  async (line) => {
    if (line.includes('--file .env')) writeFileSync(at('.env'), SECRET);
    const variable = line.includes('--env DB_PASSWORD') && { DB_PASSWORD: SECRET };
    const { code, stdout, stderr } = await agent(line, { LINK: await push(), ...variable });
    expect(code, stderr).toBe(0);
    if (line.includes(' push ')) expect(stdout).toMatch(LINK);
    if (line.includes('deploy.sh')) expect(stdout).toBe('deployed with ***\n');
    if (line.includes('set-password')) expect(stderr).toContain('set to ***');
    if (line.includes('login.sh')) expect(stdout).toBe('logged in\n');
    if (line.includes('.env\n')) expect(file('.env')).toBe(SECRET);
  },
);

test('a link that went to the wrong person is looked at, and ended', inBash, async () => {
  const link = await push({ name: 'staging' });
  const taken = await agent(tasks.find((task) => task.includes('staging')) ?? '');
  expect(taken).toMatchObject({ code: 0, stderr: expect.stringMatching(/^views left\t5 of 5$/m) });
  expect((await agent('pwpush run "$LINK" --stdin -- cat', { LINK: link })).code).toBe(6);
});

test('a request is made, answered and used, and shows no secret', inBash, async () => {
  const [request = '', then = ''] = commandsIn(ask);
  const [wait = '', use = ''] = then.split('\n');
  const { stdout } = await agent(request);
  expect(stdout).toMatch(/^http:\S+#age1\w+\n$/);
  const env = { LINK: stdout.trim() };
  expect((await agent(wait.replace('10m', '1'), env)).code).toBe(12);
  const respond = tasks.find((task) => task.includes('respond')) ?? '';
  expect(await agent(respond, env)).toMatchObject({ code: 0 });
  expect(await agent(wait, env)).toMatchObject({ code: 0, stdout: '', stderr: '' });
  expect(await agent(use, env)).toMatchObject({ code: 0, stdout: 'deployed with ***\n' });
  expect((await agent(use, env)).code).toBe(6);
});
