import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { allOf, needsFile, needsPrograms } from '../helpers/needs';
import { program as built, person, pushed, serving } from '../helpers/program';
import { overSocket } from '../helpers/sockets';

// The recipes of docs/ci.md, taken out of its text and run, with the built program and service.

const somebody = person();
const work = join(somebody.folder, 'work');
const bin = join(somebody.folder, 'bin');
const service = serving(somebody.env);
let owner: Record<string, string>;

/** Makes a program of sh that can be found. */
function program(path: string, lines: string): void {
  writeFileSync(path, `#!/bin/sh\n${lines}\n`);
  chmodSync(path, 0o755);
}

beforeAll(async () => {
  mkdirSync(bin);
  program(join(bin, 'pwpush'), `exec ${built.join(' ')} "$@"`);
  // The recipes install a release; here the built program is there already.
  program(join(bin, 'npm'), '');
  program(join(bin, 'npx'), 'shift; exec pwpush "$@"');
  // Says what was asked of it, and keeps what came by the file it was told of.
  program(join(bin, 'kubectl'), `echo "$@"; cat "\${5#--from-env-file=}" >secret`);
  owner = {
    PATH: bin + delimiter + somebody.env.PATH,
    HOME: join(somebody.folder, 'elsewhere'),
    NO_PROXY: '*',
    CI: 'true',
    PWPUSH_URL: service.url,
    PWPUSH_TOKEN: service.token,
    PWPUSH_CONFIG_DIR: join(somebody.folder, 'elsewhere'),
  };
});
beforeEach(() => {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
  program(join(work, 'make-token'), 'echo hunter2');
  program(join(work, 'deploy.sh'), 'echo "deployed with $DEPLOY_TOKEN" | tee deployed');
});

const [, recipes = ''] = readFileSync('docs/ci.md', 'utf8').split('\n## Recipes\n');

/** The block below the paragraph that begins so. */
function recipe(beginning: string): string {
  const found = recipes.split('\n```\n').find((one) => one.includes(`\n${beginning}`));
  const block = found?.split(/^```\w+\n/m)[1];
  if (!block) throw new Error(`no recipe "${beginning}"`);
  return block;
}

/** The scripts below `key: |`, in their order. */
function scripts(yaml: string, key: string): string[] {
  return [...yaml.matchAll(new RegExp(`^( *)(?:- )?${key}: \\|\\n((?:\\1 .*\\n?)+)`, 'gm'))].map(
    ([, , body = '']) => body.replace(/^ +/gm, ''),
  );
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(
  file: string,
  args: string[],
  env: Record<string, string>,
  input = '',
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(file, args, { cwd: work, env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    child.stdin?.on('error', () => {}).end(input);
  });
}

const inBash = needsPrograms('bash', 'sed', 'grep');

/** A step as CI runs it: a shell that ends with the first failure. */
const step = (script: string, env: Record<string, string>) =>
  run('bash', ['-eo', 'pipefail', '-c', script], env);

const push = (payload: string): Promise<string> => pushed(service, payload);

const file = (name: string) => readFileSync(join(work, name), 'utf8');

test('GitHub Actions: a link goes from job to job, and the secret is masked', inBash, async () => {
  const [build = '', fetch = '', deploy = ''] = scripts(recipe('GitHub Actions'), 'run');
  const env = { ...owner, GITHUB_OUTPUT: join(work, 'output'), GITHUB_ENV: join(work, 'env') };
  writeFileSync(env.GITHUB_OUTPUT, '');
  writeFileSync(env.GITHUB_ENV, '');
  expect(await step(build, env)).toEqual({ code: 0, stdout: '', stderr: '' });
  const LINK = /^link=(http\S+)\n$/.exec(file('output'))?.[1] ?? '';
  const fetched = await step(fetch, { ...env, LINK });
  expect(fetched).toEqual({
    code: 0,
    stdout: '::add-mask::hunter2\n',
    stderr: 'variables set: DEPLOY_TOKEN\n',
  });
  const DEPLOY_TOKEN = /^DEPLOY_TOKEN<<(\S+)\n([\s\S]*)\n\1\n$/.exec(file('env'))?.[2] ?? '';
  expect((await step(deploy, { ...env, DEPLOY_TOKEN })).stdout).toBe('deployed with hunter2\n');
  expect((await step(fetch, { ...env, LINK })).code).toBe(6);
});

test('GitLab: a link goes from job to job by the report', inBash, async () => {
  const [build = '', deploy = ''] = recipe('GitLab').split(/^deploy:$/m);
  const script = (yaml: string) =>
    [...yaml.matchAll(/^ {4}- (.*)$/gm)].map(([, line]) => line).join('\n');
  expect(await step(script(build), owner)).toEqual({ code: 0, stdout: '', stderr: '' });
  const LINK = /^LINK=(http\S+)\n$/.exec(file('build.env'))?.[1] ?? '';
  expect(await step(script(deploy), { ...owner, LINK })).toEqual({
    code: 0,
    stdout: 'deployed with ***\n',
    stderr: 'variables set: DEPLOY_TOKEN\n',
  });
  expect(file('deployed')).toBe('deployed with hunter2\n');
});

test('Jenkins: the script of the step leaves a link', inBash, async () => {
  const script = join(work, 'script.sh');
  // Jenkins writes a script that begins with #! to a file, and executes that.
  writeFileSync(script, /sh '''(#!.*?)'''/s.exec(recipe('Jenkins'))?.[1] ?? '', { mode: 0o755 });
  expect(await run(script, [], owner)).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(file('link')).toMatch(/^http\S+\n$/);
  program(join(work, 'make-token'), 'exit 3');
  expect((await run(script, [], owner)).code).not.toBe(0);
});

test('Terraform: the program prints an object of strings (jq)', needsPrograms('jq'), async () => {
  const [argv = ''] = /\[.*\]/s.exec(recipe('Terraform')) ?? [];
  const [shell = '', ...args] = JSON.parse(argv) as string[];
  const LINK = await push('pass "word"');
  const ended = await run(shell, args, { ...owner, LINK });
  await overSocket(['expire', LINK], { env: owner });
  expect((await run(shell, args, { ...owner, LINK })).code).toBe(6);
  expect({ ...ended, stdout: JSON.parse(ended.stdout) }).toEqual({
    code: 0,
    stdout: { payload: 'pass "word"' },
    stderr: '',
  });
});

test(
  'a Makefile: the target gets the variables, and shows no link (make)',
  needsPrograms('make'),
  async () => {
    writeFileSync(join(work, 'Makefile'), recipe('A Makefile'));
    const LINK = await push('export DEPLOY_TOKEN="from make"\n');
    expect(await run('make', ['deploy'], { ...owner, LINK })).toEqual({
      code: 0,
      stdout: 'deployed with ***\n',
      stderr: 'variables set: DEPLOY_TOKEN\n',
    });
    expect(file('deployed')).toBe('deployed with from make\n');
  },
);

test('Ansible: its commands, as it starts them', inBash, async () => {
  const yaml = recipe('Ansible');
  const argvs = [...yaml.matchAll(/argv: \[(.*)\]/g)].map(([, list = '']) =>
    list.split(', ').map((word) => word.replace(/^"(.*)"$/, '$1')),
  );
  const filled = (words: string[], values: Record<string, string>) =>
    words.map((word) => word.replace(/^\{\{ (\w+) \}\}$/, (_, name: string) => values[name] ?? ''));
  const [read = [], hand = []] = argvs;
  expect(yaml).toContain('stdin: "{{ password }}"\n    stdin_add_newline: false');
  const [pushing = '', ...pushArgs] = filled(hand, {});
  const pushed = await run(join(bin, pushing), pushArgs, owner, 'pass word');
  const [getting = '', ...getArgs] = filled(read, { link: pushed.stdout.trim() });
  expect(await run(join(bin, getting), getArgs, owner)).toEqual({
    code: 0,
    stdout: 'pass word',
    stderr: '',
  });
});

test(
  'Kubernetes: the bytes arrive on standard input',
  allOf(inBash, needsFile('/dev/stdin')),
  async () => {
    const env = { ...owner, LINK: await push('USER=app\nPASSWORD=a b"c\n') };
    const { code, stdout } = await step(recipe('Kubernetes'), env);
    expect({ code, stdout, secret: file('secret') }).toEqual({
      code: 0,
      stdout: 'create secret generic app --from-env-file=/dev/stdin\n',
      secret: 'USER=app\nPASSWORD=a b"c\n',
    });
    rmSync(join(work, 'secret'));
    await overSocket(['expire', env.LINK], { env: owner });
    expect(await step(recipe('Kubernetes'), env)).toMatchObject({ code: 6, stdout: '' });
  },
);

test('a recipient with curl gets the text to the byte', needsPrograms('curl'), async () => {
  const [plain = '', protectedOne = ''] = recipe('A recipient').trim().split('\n');
  const secret = 'pass\r\nword';
  expect(await step(plain, { ...owner, LINK: await push(secret) })).toMatchObject({
    code: 0,
    stdout: secret,
  });
  const LINK = await pushed(service, secret, { passphrase: 'open & shut' });
  const tried = (passphrase: string) =>
    step(`printf %s "$P" | ${protectedOne}`, { ...owner, LINK, P: passphrase });
  expect(await tried('wrong')).toMatchObject({ code: 22, stdout: '' });
  expect(await tried('open & shut')).toMatchObject({ code: 0, stdout: secret });
});

test('waiting: a push that was looked at is taken back', inBash, async () => {
  const LINK = await push('x');
  await overSocket(['get', LINK, '--anonymous']);
  expect((await step(recipe('Wait until'), { ...owner, LINK })).code).toBe(0);
  expect((await overSocket(['get', LINK, '--anonymous'])).code).toBe(6);
});

describe('a request whose link someone answers', inBash, () => {
  /** Answers as the person to whom `send-link` sends it. */
  const answering = (words: string) =>
    program(join(work, 'send-link'), `echo "$1" >sent; unset PWPUSH_TOKEN; ${words}`);

  test('an SSH key', async () => {
    answering('echo "ssh-ed25519 AAAA ann" | pwpush respond "$2" --quiet');
    const ended = await step(recipe('A new colleague'), owner);
    expect(ended).toEqual({ code: 0, stdout: '', stderr: '' });
    expect([file('sent'), file('ann.pub')]).toEqual(['ann@example.com\n', 'ssh-ed25519 AAAA ann']);
  });

  test('a certificate and its key, as files', async () => {
    writeFileSync(join(work, 'site.crt'), 'CERT');
    writeFileSync(join(work, 'site.key'), 'KEY');
    answering('pwpush respond "$2" --file site.crt --file site.key --quiet');
    const { code } = await step(recipe("A customer's certificate"), owner);
    expect([code, file('customer/site.crt'), file('customer/site.key')]).toEqual([
      0,
      'CERT',
      'KEY',
    ]);
  });

  test('a one-time password, for a command', async () => {
    program(join(work, 'release.sh'), 'echo "released with $OTP" | tee released');
    answering('echo 123456 | pwpush respond "$2" --quiet');
    expect(await step(recipe('Wait for a person'), owner)).toEqual({
      code: 0,
      stdout: 'released with ***\n',
      stderr: 'variables set: OTP\n',
    });
    expect(file('released')).toBe('released with 123456\n');
  });
});
