import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import http, { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { version } from '../../package.json';
import { rawServer } from '../helpers/listen';
import { partOf } from '../helpers/long';
import { allOf, needsPrograms, only, onUnix } from '../helpers/needs';
import {
  alsoBinary,
  binary,
  onNode,
  person,
  program,
  pushed,
  pwpush,
  serving,
  start,
} from '../helpers/program';
import { CREATED, changed } from '../helpers/reference';
import { overSocket } from '../helpers/sockets';
import { exampleOf, yaml } from '../helpers/yaml';

// The GitHub Action, started as a runner starts it, with a release and an instance on this machine. The archive of the
// release has the executable if one is tested, and otherwise a script that starts the built program.

const root = join(import.meta.dirname, '../..');
const main = join(root, 'action/main.cjs');
const SECRET = 'pass 100% "word"\n::set-output name=link::x\n##[stop-commands]x';

const somebody = person();
const work = join(somebody.folder, 'work');
const temp = join(somebody.folder, 'temp');
const tools = join(somebody.folder, 'tools');
const service = serving(somebody.env);

const runs = {
  RUNNER_OS: process.platform === 'darwin' ? 'macOS' : 'Linux',
  RUNNER_ARCH: process.arch.toUpperCase(),
};
const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
const system =
  process.platform === 'darwin' ? 'macos' : header.glibcVersionRuntime ? 'linux' : 'linux-musl';
const name = `pwpush-${version}-${system}-${process.arch}`;
const archive = `${name}.tar.gz`;
const sums = new Map<string, string>();

/** What a runner has. */
const runner = allOf(onUnix, needsPrograms('tar', 'gzip'));

const served = new Map<string, Buffer>();
let asked: string[] = [];
let server: Server;
let url: string;

/** An archive with a program, and files that the action does not unpack. */
function pack(script?: string): Buffer {
  const folder = join(somebody.folder, name);
  mkdirSync(folder);
  if (binary && script === undefined) symlinkSync(binary, join(folder, 'pwpush'));
  else {
    const lines = `#!/bin/sh\n${script ?? `exec ${program.join(' ')} "$@"`}\n`;
    writeFileSync(join(folder, 'pwpush'), lines, { mode: 0o755 });
  }
  writeFileSync(join(folder, 'README.md'), 'not needed\n');
  const packed = execFileSync('sh', ['-c', `tar -chf - ${name} | gzip -1`], {
    cwd: somebody.folder,
    maxBuffer: 2 ** 30,
  });
  rmSync(folder, { recursive: true });
  return packed;
}

beforeAll(async () => {
  if (runner.skip) return;
  const whole = pack();
  const sum = createHash('sha256').update(whole).digest('hex');
  sums.set(archive, sum);
  const others = ['windows-x64.zip', 'linux-arm64.tar.gz.old'].map(
    (end) => `${'0'.repeat(64)}  pwpush-${version}-${end}\n`,
  );
  const checksums = Buffer.from([...others, `${sum}  ${archive}\n`].join(''));
  const offer = (folder: string, checksums: Buffer, body?: Buffer) => {
    served.set(`/${folder}/checksums.txt`, checksums);
    if (body) served.set(`/${folder}/${archive}`, body);
  };
  offer('release', checksums, whole);
  offer('changed', checksums, Buffer.concat([whole, Buffer.from('x')]));
  offer('cut', checksums, whole);
  offer('without-archive', checksums);
  const broken = pack("echo 'no libstdc++.so.6' >&2; exit 127");
  offer(
    'broken',
    Buffer.from(`${createHash('sha256').update(broken).digest('hex')}  ${archive}\n`),
    broken,
  );
  offer('without-sum', Buffer.from(others.join('')), whole);
  offer('busy', checksums);
  server = createServer(({ url: path = '' }, response) => {
    asked.push(path);
    // Downloads of GitHub redirect to a storage.
    const at = path.replace(`/owner/pwpush/releases/download/v${version}/`, '/release/');
    if (at !== path) return response.writeHead(302, { location: at }).end();
    if (path === '/loop/checksums.txt') return response.writeHead(302, { location: path }).end();
    const body = served.get(path);
    if (!body) return response.writeHead(path.startsWith('/busy/') ? 503 : 404).end('<html>');
    response.writeHead(200, { 'content-length': body.length });
    if (path === `/cut/${archive}`)
      return response.write(body.subarray(0, 50), () => response.destroy());
    return response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server?.close());

const empty = (folder: string) => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
};
beforeAll(() => mkdirSync(temp));
beforeEach(() => {
  empty(work);
  asked = [];
});

const commandFiles = ['GITHUB_OUTPUT', 'GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_STATE'] as const;

/** A step of a job, with its `with` and `env`; resolves to what the runner learns from it. */
async function step(inputs: Record<string, string>, env: Record<string, string> = {}) {
  const given = Object.entries(inputs).map(([name, text]) => [
    `INPUT_${name.replaceAll(' ', '_').toUpperCase()}`,
    text,
  ]);
  const files = Object.fromEntries(commandFiles.map((one) => [one, join(somebody.folder, one)]));
  const withs: Record<string, string> = Object.fromEntries(given);
  for (const path of Object.values(files)) writeFileSync(path, '');
  const { code, stdout, stderr } = await start([main], {
    by: [process.execPath],
    cwd: work,
    env: {
      ...somebody.env,
      HOME: join(somebody.folder, 'home'),
      PWPUSH_CONFIG_DIR: join(somebody.folder, 'home'),
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_SERVER_URL: url,
      GITHUB_ACTION_REPOSITORY: 'owner/pwpush',
      GITHUB_WORKSPACE: work,
      RUNNER_TEMP: temp,
      RUNNER_TOOL_CACHE: tools,
      ...runs,
      ...files,
      ...env,
      ...withs,
    },
    input: '',
  }).ended;
  const read = (file: string) => readFileSync(join(somebody.folder, file), 'utf8');
  return {
    code,
    /** Without the lines about the download, which depend on the tests before. */
    log: (stdout + stderr).replace(/^downloading .*\n/gm, ''),
    outputs: valuesOf(read('GITHUB_OUTPUT')),
    variables: valuesOf(read('GITHUB_ENV')),
    path: read('GITHUB_PATH'),
  };
}

/** The values in a file as the runner reads it: `name=value` or a heredoc. */
function valuesOf(text: string): Record<string, string> {
  const found = text.matchAll(/^([\w-]+)(?:=(.*)|<<(\S+)\n([\s\S]*?)\n\3)\n/gm);
  return Object.fromEntries(
    [...found].map(([, name = '', line, , lines = '']) => [name, line ?? lines]),
  );
}

const owner = () => ({ url: service.url, token: service.token });
const masks = (text: string) =>
  text
    .split('\n')
    .map((line) => `::add-mask::${line.replaceAll('%', '%25')}\n`)
    .join('');

const push = (secret: string, views = 5) => pushed(service, secret, { expire_after_views: views });
/** What a recipient gets from a link. */
const get = (link: string) => overSocket(['get', link, '--anonymous']);

interface Step {
  readonly uses?: string;
  readonly env: Record<string, string>;
  readonly with: Record<string, string>;
}
interface Workflow {
  readonly jobs: { readonly build: { steps: Step[] }; readonly deploy: { steps: Step[] } };
}

/** Runs a step of a workflow, with the values of its expressions and the instance here. */
function asInJob(one: Step | undefined, contexts: object) {
  const filled = (values: Record<string, unknown> = {}): Record<string, string> =>
    Object.fromEntries(
      Object.entries(values).map(([name, text]) => [
        name,
        String(text)
          .replace('https://pwpush.example', service.url)
          .replace(
            /\$\{\{ ([\w.]+) \}\}/g,
            (_, path: string) =>
              path.split('.').reduce((at, key) => Object(at)[key], contexts as unknown) as string,
          ),
      ]),
    );
  return step(filled(one?.with), filled(one?.env));
}

describe('the GitHub Action', runner, () => {
  test('pushes a variable, and says the link in an output only', alsoBinary, async () => {
    const inputs = { command: 'push', ...owner(), env: 'SECRET', views: '1', expire: '6h' };
    const { code, log, outputs } = await step(inputs, { SECRET });
    expect({ code, log }).toEqual({ code: 0, log: masks(service.token) });
    expect(outputs).toEqual({
      path: join(temp, name, 'pwpush'),
      'exit-code': '0',
      link: expect.stringMatching(/^http:\S+$/),
    });
    expect((await get(outputs.link ?? '')).stdout).toBe(SECRET);
    expect((await get(outputs.link ?? '')).code).toBe(6);
  });

  test('pushes files, with a passphrase, and masks the link if asked to', async () => {
    writeFileSync(join(work, 'site.key'), 'KEY');
    writeFileSync(join(work, '-x y'), 'other');
    const inputs = {
      command: 'push',
      ...owner(),
      file: 'site.key\n  -x y\n\n',
      'mask-link': 'true',
    };
    const { code, log, outputs } = await step(inputs, { PWPUSH_PASSPHRASE: 'over the phone' });
    const { link = '' } = outputs;
    expect({ code, log }).toEqual({ code: 0, log: masks(service.token) + masks(link) });
    const got = await step(
      { command: 'get', link, output: 'inbox/' },
      { PWPUSH_PASSPHRASE: 'over the phone' },
    );
    expect(got).toMatchObject({ code: 0, outputs: { 'exit-code': '0' } });
    expect(readdirSync(join(work, 'inbox')).sort()).toEqual(['_x y', 'site.key']);
    expect(readFileSync(join(work, 'inbox/site.key'), 'utf8')).toBe('KEY');
  });

  test('pushes a text file, encrypted, with the address and token of the environment', async () => {
    writeFileSync(join(work, 'key.pem'), 'KEY\n');
    const { url: PWPUSH_URL, token: PWPUSH_TOKEN } = service;
    const inputs = { command: 'push', from: 'key.pem', encrypt: 'true', 'mask-link': 'false' };
    const { log, outputs } = await step(inputs, { PWPUSH_URL, PWPUSH_TOKEN });
    expect(log).toBe('');
    expect(outputs.link).toMatch(/^http:\S+#/);
    expect((await get(outputs.link ?? '')).stdout).toBe('KEY\n');
  });

  test('gets a secret as a masked variable', async () => {
    const link = await push(SECRET, 1);
    const { code, log, outputs, variables } = await step({ command: 'get', link, variable: 'DB' });
    const said = `${masks(SECRET)}variables set: DB\n`;
    expect({ code, log, variables }).toEqual({ code: 0, log: said, variables: { DB: SECRET } });
    expect(Object.keys(outputs)).toEqual(['path', 'exit-code']);
    expect(await step({ command: 'get', link, variable: 'DB' })).toMatchObject({
      code: 1,
      log: expect.stringMatching(/::error title=pwpush::the push has expired \(exit code 6\)\n$/),
      outputs: { 'exit-code': '6' },
      variables: {},
    });
  });

  test('gets a secret as a masked output, and leaves files at the instance', async () => {
    writeFileSync(join(work, 'Makefile.in'), 'x');
    const words = ['push', '--file', join(work, 'Makefile.in'), '--message', SECRET];
    const link = (await pwpush(words, { env: somebody.env })).stdout.trim();
    rmSync(join(work, 'Makefile.in'));
    const { code, log, outputs } = await step({ command: 'get', link });
    expect({ code, log }).toEqual({ code: 0, log: masks(SECRET) });
    expect(outputs).toMatchObject({ secret: SECRET, 'exit-code': '0' });
    expect(readdirSync(work)).toEqual([]);
  });

  test('gets a secret as a file', async () => {
    const inputs = { command: 'get', ...owner(), link: await push(SECRET, 1) };
    const { code } = await step({ ...inputs, anonymous: 'true', output: 'secret.txt' });
    expect([code, readFileSync(join(work, 'secret.txt'), 'utf8')]).toEqual([0, SECRET]);
    expect((await step({ ...inputs, anonymous: 'true' })).outputs['exit-code']).toBe('6');
  });

  test('waits for a view, whose traces are no commands of the runner', async () => {
    const link = await push('hunter2');
    const attack = '##[set-output name=link;]https://attacker.example';
    await fetch(link, { headers: { accept: 'text/plain', 'user-agent': attack }, method: 'POST' });
    const inputs = { command: 'wait', ...owner(), link, 'then-expire': 'true' };
    const { code, log, outputs } = await step(inputs);
    expect(code).toBe(0);
    expect(log).toContain('[set-output name=link;]https://attacker.example');
    expect(log).not.toContain('##[');
    expect(Object.keys(outputs)).toEqual(['path', 'exit-code']);
    expect((await get(link)).code).toBe(6);
    const unseen = { ...inputs, link: await push('x'), for: '1', 'then-expire': 'false' };
    expect((await step(unseen)).outputs['exit-code']).toBe('12');
  });

  test('requests an answer, and takes it in a later step', async () => {
    const question = '--help\nThe password of "db1"?';
    const { outputs } = await step({ command: 'request', ...owner(), question, expire: '6h' });
    const { link = '' } = outputs;
    const answered = await pwpush(['respond', link], { env: somebody.env, input: SECRET });
    expect(answered).toMatchObject({ code: 0, stderr: expect.stringContaining('of "db1"?') });
    expect(await step({ command: 'wait', ...owner(), link })).toMatchObject({ code: 0 });
    const got = await step({ command: 'get', ...owner(), link, variable: 'DB' });
    expect(got).toMatchObject({ code: 0, variables: { DB: SECRET } });
  });

  test('passes a secret on in the example of docs/ci.md', async () => {
    const { jobs } = exampleOf('GitHub Actions') as Workflow;
    const [pushing, getting] = [...jobs.build.steps, ...jobs.deploy.steps].filter(
      ({ uses }) => uses,
    );
    const secrets = { DB_PASSWORD: SECRET, LINK_PASSPHRASE: 'word', PWPUSH_TOKEN: service.token };
    expect(pushing?.uses).toBe(`OWNER/pwpush@v${version}`);
    const { outputs } = await asInJob(pushing, { secrets });
    const needs = { build: { outputs } };
    const { code, variables } = await asInJob(getting, { secrets, needs });
    expect([code, variables]).toEqual([0, { DB_PASSWORD: SECRET }]);
    expect(getting?.uses).toBe(pushing?.uses);
  });

  test('installs the program for the steps that follow', async () => {
    const { code, path, outputs } = await step({ command: 'install' });
    expect([code, path]).toEqual([0, `${join(temp, name)}\n`]);
    const { stdout } = spawnSync(outputs.path ?? '', ['--version'], { encoding: 'utf8' });
    expect(stdout).toBe(`${version}\n`);
    expect(readdirSync(temp)).toEqual([name]);
    expect(readdirSync(join(temp, name))).toEqual(['pwpush']);
  });
});

// What follows is the same for every program in the archive.
describe('the executable of the action', allOf(runner, onNode), () => {
  const install = (inputs: Record<string, string> = {}, env: Record<string, string> = {}) =>
    step({ command: 'install', ...inputs }, env);
  const nothing = () => [readdirSync(temp), existsSync(tools) ? readdirSync(tools) : []];

  beforeEach(() => {
    empty(temp);
    rmSync(tools, { recursive: true, force: true });
  });

  test('is downloaded once in a job, and once on a machine', async () => {
    const from = `/owner/pwpush/releases/download/v${version}`;
    const checksums = [`${from}/checksums.txt`, '/release/checksums.txt'];
    await install();
    expect(asked).toEqual([...checksums, `${from}/${archive}`, `/release/${archive}`]);
    await install();
    expect(asked.length).toBe(4);
    rmSync(join(temp, name), { recursive: true });
    expect(await install()).toMatchObject({ code: 0 });
    expect(asked.slice(4)).toEqual(checksums);
  });

  test('that another job left changed is downloaded again', async () => {
    await install();
    rmSync(join(temp, name), { recursive: true });
    writeFileSync(join(tools, 'pwpush', version, archive), 'changed');
    expect(await install()).toMatchObject({ code: 0 });
    expect(asked.filter((path) => path === `/release/${archive}`).length).toBe(2);
    expect(existsSync(join(temp, name, 'pwpush'))).toBe(true);
  });

  test('is unpacked by a program that gets no token or other variable of the step', async () => {
    const bin = join(somebody.folder, 'bin');
    const told = join(somebody.folder, 'told');
    mkdirSync(bin);
    writeFileSync(join(bin, 'tar'), `#!/bin/sh\nenv >'${told}'\nPATH=\${PATH#*:} exec tar "$@"\n`, {
      mode: 0o755,
    });
    const secrets = { DB_PASSWORD: 'hunter2', PWPUSH_TOKEN: 'T0ken', TAR_OPTIONS: '--verbose' };
    const PATH = `${bin}:${process.env.PATH}`;
    const { code } = await install({ token: 'T1ken' }, { ...secrets, PATH });
    expect(code).toBe(0);
    const names = readFileSync(told, 'utf8').replace(/=.*/g, '').trim().split('\n');
    // Those that a shell sets by itself, beside what it was given.
    expect(names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name))).toEqual([
      'PATH',
    ]);
  });

  test('needs no folder for later jobs', async () => {
    writeFileSync(tools, 'a file');
    const { code, log } = await install();
    expect([code, log]).toEqual([0, expect.stringContaining('is not kept for later jobs')]);
    expect(await install({}, { RUNNER_TOOL_CACHE: '' })).toMatchObject({ code: 0 });
  });

  test('comes from a mirror, verified by the checksum of the workflow', async () => {
    const sha256 = sums.get(archive) ?? '';
    const mirror = { 'release-url': `${url}/release/`, sha256 };
    expect(await install(mirror)).toMatchObject({ code: 0 });
    expect(asked).toEqual([`/release/${archive}`]);
    const other = await install({ ...mirror, sha256: 'a'.repeat(64) });
    expect(other.log).toContain(`the checksum of ${archive} is ${sha256} instead of aaa`);
    expect(other.code).toBe(1);
  });

  test.each(
    partOf(
      [
        [
          'changed',
          /::error title=pwpush::the checksum of \S+ is [0-9a-f]{64} instead of [0-9a-f]{64}/,
        ],
        ['cut', /::error title=pwpush::cannot download http:\S+: /],
        ['without-archive', /::error title=pwpush::http:\S+gz returned 404/],
        ['without-sum', /::error title=pwpush::checksums.txt does not list pwpush-/],
        ['nowhere', /::error title=pwpush::http:\S+checksums.txt returned 404/],
        ['busy', /::error title=pwpush::http:\S+gz returned 503/],
        ['loop', /::error title=pwpush::too many redirects/],
      ],
      0,
      3,
    ),
  )('of a release that is %s is not unpacked', async (folder, message) => {
    const { code, log } = await install({ 'release-url': `${url}/${folder}` });
    expect({ code, log }).toEqual({ code: 1, log: expect.stringMatching(message) });
    expect(nothing()).toEqual([[], []]);
  });

  test('is not kept if it does not start, and says why', async () => {
    const { code, log } = await install({ 'release-url': `${url}/broken` });
    const message = '::error title=pwpush::the program does not start: no libstdc++.so.6';
    expect({ code, log }).toEqual({ code: 1, log: expect.stringContaining(message) });
    expect(readdirSync(temp)).toEqual([]);
  });

  test('is not unpacked if the server does not answer', async () => {
    const gone = await rawServer((socket) => socket.destroy());
    const { code, log } = await install({ 'release-url': gone.url });
    expect([code, log]).toEqual([1, expect.stringContaining('cannot download')]);
    expect(gone.requests.length).toBe(3);
    await gone.close();
    const { log: refused } = await install({ 'release-url': gone.url });
    expect(refused).toContain('ECONNREFUSED');
    expect(nothing()).toEqual([[], []]);
  });

  test(
    'comes through the proxy of the runner (needs Node.js 24)',
    only('Node.js 24', 'setGlobalProxyFromEnv' in http),
    async () => {
      const proxy = await rawServer((socket) => socket.end('HTTP/1.1 403 No\r\n\r\n'));
      const env = { NO_PROXY: '', https_proxy: proxy.url };
      const { code } = await install({ 'release-url': 'https://mirror.example' }, env);
      await proxy.close();
      expect(code).toBe(1);
      expect(proxy.requests[0]).toMatch(/^CONNECT mirror.example:443 /);
    },
  );

  test.each(
    partOf(
      [
        [
          { RUNNER_OS: 'Linux', RUNNER_ARCH: 'ARM' },
          'there is no executable for Linux ARM; with Node',
        ],
        [{ RUNNER_OS: 'Plan9' }, 'there is no executable for Plan9'],
        [{ GITHUB_ACTION_REPOSITORY: '' }, 'set the input release-url'],
        [{ RUNNER_TEMP: '' }, 'RUNNER_TEMP is not set'],
        [{ GITHUB_OUTPUT: '' }, 'GITHUB_OUTPUT is not set'],
        [{ GITHUB_SERVER_URL: 'http://git.example' }, 'must begin with https://'],
      ],
      0,
      3,
    ),
  )('is not there with %j', async (env, message) => {
    const { code, log } = await install({}, env);
    expect([code, log]).toEqual([1, expect.stringContaining(message)]);
    expect([asked, ...nothing()]).toEqual([[], [], []]);
  });

  test.each(
    partOf(
      [
        'http://mirror.example/pwpush',
        'ftp://127.0.0.1/pwpush',
        'file:///srv/pwpush',
        'https://user:password@mirror.example',
        'mirror',
      ],
      0,
    ),
  )('does not come from %s', async (from) => {
    const { code, log } = await install({ 'release-url': from });
    expect([code, log]).toEqual([1, expect.stringMatching(/^::error title=pwpush::/)]);
    expect(log).not.toContain('user:password');
  });
});

describe('inputs of the action that are refused', allOf(runner, onNode), () => {
  const bad: [string, Record<string, string>, RegExp][] = [
    ['no command', {}, /the input command must be one of push, get/],
    ['another command', { command: 'constructor' }, /the input command must be one of/],
    ['push without a source', { command: 'push' }, /push requires one of/],
    ['two sources', { command: 'push', env: 'HOME', from: 'x' }, /\(exit code 2\)/],
    ['get without a link', { command: 'get' }, /get requires the input link/],
    ['a link that is an option', { command: 'get', link: '--help' }, /\(exit code 9\)/],
    ['an input of another command', { command: 'get', link: 'x', views: '1' }, /views is not one/],
    ['a number that is an option', { command: 'push', env: 'HOME', views: '-1' }, /code 2\)/],
    ['a second line', { command: 'push', env: 'HOME', name: 'a\n--here' }, /name must be one line/],
    ['a switch of another word', { command: 'push', env: 'HOME', encrypt: 'yes' }, /true or false/],
    ['an unset variable', { command: 'push', env: 'NOT_SET' }, /\(exit code 2\)/],
    ...['-', '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1', `${'../'.repeat(20)}dev/stderr`].map(
      (output): [string, Record<string, string>, RegExp] => [
        `the output ${output}`,
        { command: 'get', link: 'x', output },
        /output must be the path of a file or folder/,
      ],
    ),
    ['a variable and a file', { command: 'get', link: 'x', variable: 'A', output: 'b' }, /code 2/],
    ['half a checksum', { command: 'install', sha256: 'abc' }, /sha256 must be 64/],
    ...['NODE_OPTIONS', 'GITHUB_ENV', 'A=B'].map(
      (variable): [string, Record<string, string>, RegExp] => [
        `the variable ${variable}`,
        { command: 'get', variable, link: 'http://127.0.0.1:1/p/x/r' },
        /\(exit code 2\)/,
      ],
    ),
  ];

  test.each(partOf(bad, 0, 4))('%s', async (_, inputs, message) => {
    const { code, log, variables } = await step(inputs, { PWPUSH_URL: 'http://127.0.0.1:1' });
    expect({ code, log, variables }).toEqual({
      code: 1,
      log: expect.stringMatching(message),
      variables: {},
    });
  });

  test('a link of two lines, from the instance, is no output', async () => {
    const html_url = 'http://127.0.0.1:1/p/x\nlink=https://attacker.example/p/x';
    const body = changed(CREATED, { html_url });
    const told = await rawServer((socket) => {
      const head = `content-type: application/json\r\ncontent-length: ${body.length}`;
      socket.end(`HTTP/1.1 201 Created\r\n${head}\r\n\r\n${body}`);
    });
    const inputs = { command: 'push', url: told.url, token: 'T0ken', env: 'SECRET', views: '1' };
    const { log, outputs } = await step(inputs, { SECRET, PWPUSH_EDITION: 'oss' });
    await told.close();
    expect(told.requests[0]).toContain('Bearer T0ken');
    expect(log).toMatch(/^::add-mask::T0ken\n/);
    expect(outputs.link ?? '').not.toContain('attacker');
  });
});

describe('action.yml', () => {
  const text = readFileSync(join(root, 'action.yml'), 'utf8');
  const names = (section: string) =>
    [...(text.split(`\n${section}:\n`)[1]?.split(/\n\w/)[0] ?? '').matchAll(/^ {2}([\w-]+):$/gm)]
      .map(([, one]) => one)
      .sort();
  const script = readFileSync(main, 'utf8');

  test('has the inputs that the script reads', () => {
    const tables = script.slice(script.indexOf('const commands'), script.indexOf('const switches'));
    const read = [
      ...tables.matchAll(/^ {4}'?([\w-]+)'?: /gm),
      ...tables.matchAll(/'([\w-]+)'[,\]]/g),
    ].map(([, one = '']) => one);
    expect(names('inputs').length).toBeGreaterThan(20);
    expect(names('inputs')).toEqual([...new Set(read)].sort());
  });

  test('has the outputs that are set', () => {
    const set = [...script.matchAll(/'GITHUB_OUTPUT', `([\w-]+)=|--github-output=(\w+)/g)];
    expect(names('outputs')).toEqual(set.map(([, own, secret]) => own ?? secret).sort());
  });

  test('is YAML of the form that runners read', () => {
    const { inputs, outputs, runs, ...rest } = yaml(text)[0] as {
      inputs: Record<string, object>;
      outputs: Record<string, object>;
      runs: object;
    };
    expect(rest).toMatchObject({
      name: 'pwpush',
      description: expect.stringMatching(/^.{10,124}$/),
    });
    expect(runs).toEqual({ using: 'node24', main: 'action/main.cjs' });
    for (const one of [...Object.values(inputs), ...Object.values(outputs)])
      expect(one).toEqual({
        description: expect.any(String),
        ...(one === inputs.command && { required: true }),
      });
  });
});
