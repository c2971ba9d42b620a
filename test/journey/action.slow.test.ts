import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { version } from '../../package.json';
import { answerJson, type Listening, rawServer } from '../helpers/listen';
import { allOf, needsPrograms, onUnix } from '../helpers/needs';
import { alsoBinary, binary, onNode, program, pwpush, script, start, workplace } from '../helpers/program';
import { CREATED, changed } from '../helpers/reference';
import { archiveOf, offering, sha256Of, sumOf } from '../helpers/release';
import { overSocket } from '../helpers/sockets';
import { trusting } from '../helpers/trusting';
import { exampleOf, type Plain, yaml } from '../helpers/yaml';

// The GitHub Action, started as a runner starts it, with a release and an instance on this machine. The archive of the
// release has the executable if one is tested, and otherwise a script that starts the built program.

const root = join(import.meta.dirname, '../..');
const main = join(root, 'action/main.cjs');
const SECRET = 'pass 100% "word"\n::set-output name=link::x\n##[stop-commands]x';

const { env: settled, service, work, at: inWork, file } = workplace();
/** Places of the runner beside the workspace. */
const at = (name: string) => join(work, '..', name);
const [temp, tools] = [at('temp'), at('tools')];

// The program in the archive runs on whatever machine this is.
const runs = { RUNNER_OS: 'Linux', RUNNER_ARCH: 'X64' };
const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
const name = `pwpush-${version}-linux${header.glibcVersionRuntime ? '' : '-musl'}-x64`;
const archive = `${name}.tar.gz`;
const runner = allOf(onUnix, needsPrograms('tar', 'gzip'));

/** The checksum of the archive, in which is a file that the action does not unpack. */
let sha256: string;
let server: Listening;
beforeAll(async () => {
  if (runner.skip) return;
  mkdirSync(at(name));
  if (binary) symlinkSync(binary, at(`${name}/pwpush`));
  else script(at(`${name}/pwpush`), `exec ${program.join(' ')} "$@"`);
  const packed = archiveOf(at(''), name, { 'README.md': 'not needed\n' });
  sha256 = sha256Of(packed);
  const other = `${'0'.repeat(64)}  pwpush-${version}-linux-arm64.tar.gz.old\n`;
  const sums = Buffer.from(other + sumOf(packed, archive));
  const releases: Record<string, readonly [Buffer, Buffer?]> = {
    release: [sums, packed],
    changed: [sums, Buffer.concat([packed, Buffer.from('x')])],
    cut: [sums, packed],
    'without-sum': [Buffer.from(other)],
  };
  server = await offering((path) => {
    // Downloads of GitHub redirect to a storage.
    const location = path.replace(`/owner/pwpush/releases/download/v${version}/`, '/release/');
    if (location !== path) return { location };
    const [, release = '', file = ''] = path.split('/');
    const [checksums, bytes] = releases[release] ?? [];
    return file === archive ? bytes : checksums;
  }, `/cut/${archive}`);
  return server.close;
});

const empty = (folder: string) => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
};
beforeEach(() => {
  mkdirSync(temp, { recursive: true });
  server?.seen.splice(0);
});

/** A step of a job, with its `with` and `env`; resolves to what the runner learns from it. */
async function step(inputs: Record<string, string>, env: Record<string, string> = {}) {
  const given = Object.entries(inputs).map(([name, text]) => [`INPUT_${name.toUpperCase()}`, text]);
  const names = ['GITHUB_OUTPUT', 'GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_STATE'];
  const files: Record<string, string> = Object.fromEntries(names.map((one) => [one, at(one)]));
  for (const path of Object.values(files)) writeFileSync(path, '');
  const { code, stdout, stderr } = await start([main], {
    by: [process.execPath],
    cwd: work,
    env: {
      ...settled,
      HOME: at('home'),
      PWPUSH_CONFIG_DIR: at('home'),
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: work,
      GITHUB_SERVER_URL: server.url,
      GITHUB_ACTION_REPOSITORY: 'owner/pwpush',
      RUNNER_TEMP: temp,
      RUNNER_TOOL_CACHE: tools,
      ...runs,
      ...files,
      ...env,
      ...Object.fromEntries(given),
    },
    input: '',
  }).ended;
  const read = (file: string) => readFileSync(at(file), 'utf8');
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
  return Object.fromEntries([...found].map(([, name = '', line, , lines = '']) => [name, line ?? lines]));
}

const from = trusting(service, settled);
const owner = () => ({ url: service.url, token: service.token });
const masks = (...texts: string[]) =>
  texts
    .flatMap((text) => text.split('\n'))
    .map((line) => `::add-mask::${line.replaceAll('%', '%25')}\n`)
    .join('');
const error = (message: string) => expect.stringMatching(new RegExp(`::error title=pwpush::${message}`));

describe('the GitHub Action', runner, () => {
  const KEY = /#[\w-]{22}$/;
  const IN_CLEAR = /\/p\/[^#]+$/;

  test('encrypts as the step says: by default, by its variable, or not at all', async () => {
    const pushing = { command: 'push', ...owner(), env: 'DB' };
    const cases: [RegExp, Record<string, string>, Record<string, string>][] = [
      [KEY, {}, {}],
      [KEY, { encrypt: 'true' }, { PWPUSH_ENCRYPT: 'off' }],
      [IN_CLEAR, { encrypt: 'false' }, {}],
      [IN_CLEAR, {}, { PWPUSH_ENCRYPT: 'off' }],
    ];
    for (const [link, inputs, env] of cases) {
      const { outputs } = await step({ ...pushing, ...inputs }, { DB: SECRET, ...env });
      expect(outputs.link).toMatch(link);
    }
  });

  test('pushes by the identity of its job, unless a token or an empty variable is given', async () => {
    const { permissions, steps } = exampleOf('Without a stored token').jobs.build;
    expect(permissions).toEqual({ 'id-token': 'write' });
    const pushing = { ...steps[0].with, url: service.url };
    const job = { ...from.github, DB_PASSWORD: 'hunter2' };
    const { code, log, outputs } = await step(pushing, job);
    expect([code, log]).toEqual([0, expect.stringMatching(/^(::add-mask::(eyJ|pwp_)[\w.-]+\n){2}$/)]);
    expect(outputs.link).toMatch(KEY);
    const stored = await step({ ...pushing, token: service.token }, { ...job, PWPUSH_TOKEN_FROM: 'ci' });
    expect(stored).toMatchObject({ code: 0, log: masks(service.token) });
    expect(await step(pushing, { ...job, PWPUSH_TOKEN_FROM: '' })).toMatchObject({ log: '' });
  });

  test('passes on encrypted files, with a passphrase, and masks the link if asked to', async () => {
    writeFileSync(inWork('site.key'), 'KEY');
    writeFileSync(inWork('-x y'), 'other');
    const protection = { PWPUSH_PASSPHRASE: 'over the phone' };
    const files = { file: 'site.key\n  -x y\n\n', 'mask-link': 'true' };
    const pushing = await step({ command: 'push', ...owner(), ...files }, protection);
    const { link = '' } = pushing.outputs;
    expect(pushing).toMatchObject({ code: 0, log: masks(service.token, link) });
    expect(link).toMatch(KEY);
    const named = { ...owner(), link, anonymous: 'true', output: 'inbox/' };
    expect((await step({ command: 'get', ...named }, protection)).code).toBe(0);
    expect(readdirSync(inWork('inbox')).sort()).toEqual(['_x y', 'site.key']);
    expect(file('inbox/site.key')).toBe('KEY');
  });

  test('gets a secret as a masked output without its files, and waits for views, whose traces are no commands', async () => {
    writeFileSync(at('Makefile.in'), 'x');
    const words = ['push', '--file', at('Makefile.in'), '--message', SECRET, '--views', '3', '--no-encrypt'];
    const link = (await pwpush(words, { env: settled })).stdout.trim();
    const waiting = { command: 'wait', ...owner(), link };
    expect((await step({ ...waiting, for: '1' })).outputs['exit-code']).toBe('12');
    const attack = '##[set-output name=link;]https://attacker.example';
    await fetch(link, { headers: { accept: 'text/plain', 'user-agent': attack }, method: 'POST' });
    const { code, log, outputs } = await step({ command: 'get', link });
    expect({ code, log }).toEqual({ code: 0, log: masks(SECRET) });
    expect(outputs).toMatchObject({ secret: SECRET, 'exit-code': '0' });
    expect(readdirSync(work)).toEqual([]);
    const waited = await step({ ...waiting, 'then-expire': 'true' });
    expect([waited.code, Object.keys(waited.outputs)]).toEqual([0, ['path', 'exit-code']]);
    expect(waited.log).toContain('[set-output name=link;]https://attacker.example');
    expect(waited.log).not.toContain('##[');
    expect((await overSocket(['get', link, '--anonymous'])).code).toBe(6);
  });

  test('requests an answer, and takes it in a later step', async () => {
    const question = '--help\nThe password of "db1"?';
    const { outputs } = await step({ command: 'request', ...owner(), question, expire: '6h' });
    const { link = '' } = outputs;
    const answered = await pwpush(['respond', link], { env: settled, input: SECRET });
    expect(answered).toMatchObject({ code: 0, stderr: expect.stringContaining('of "db1"?') });
    expect(await step({ command: 'wait', ...owner(), link })).toMatchObject({ code: 0 });
    const got = await step({ command: 'get', ...owner(), link, variable: 'DB' });
    expect(got).toMatchObject({ code: 0, variables: { DB: SECRET } });
  });

  /** Runs a step of a workflow, with the values of its expressions and the instance here. */
  function asInJob(one: Plain, contexts: Record<string, string>) {
    const filled = (values: object): Record<string, string> =>
      Object.fromEntries(
        Object.entries(values).map(([name, text]) => [
          name,
          `${text}`
            .replace('https://pwpush.example', service.url)
            .replace(/\$\{\{ ([\w.]+) \}\}/g, (_, path) => contexts[path] ?? ''),
        ]),
      );
    return step(filled(one.with), filled(one.env));
  }

  test('passes a secret on in the example of docs/ci.md, once', alsoBinary, async () => {
    const { build, deploy } = exampleOf('GitHub Actions').jobs;
    const [[pushing], [getting]] = [build.steps, deploy.steps];
    const contexts: Record<string, string> = {
      'secrets.DB_PASSWORD': SECRET,
      'secrets.LINK_PASSPHRASE': 'word',
      'secrets.PWPUSH_TOKEN': service.token,
    };
    expect([pushing.uses, getting.uses]).toEqual(Array(2).fill(`OWNER/pwpush@v${version}`));
    const { code, log, outputs } = await asInJob(pushing, contexts);
    expect({ code, log }).toEqual({ code: 0, log: masks(service.token) });
    const path = join(temp, name, 'pwpush');
    expect(outputs).toEqual({ path, 'exit-code': '0', link: expect.stringMatching(/^http:\S+$/) });
    contexts['needs.build.outputs.link'] = outputs.link ?? '';
    expect(await asInJob(getting, contexts)).toMatchObject({
      code: 0,
      log: `${masks(SECRET)}variables set: DB_PASSWORD\n`,
      outputs: { path, 'exit-code': '0' },
      variables: { DB_PASSWORD: SECRET },
    });
    expect(await asInJob(getting, contexts)).toMatchObject({
      code: 1,
      log: error('the push has expired \\(exit code 6\\)\n$'),
      outputs: { 'exit-code': '6' },
      variables: {},
    });
  });
});

// What follows is the same for every program in the archive.
describe('the executable of the action', allOf(runner, onNode), () => {
  const install = (inputs: Record<string, string> = {}, env: Record<string, string> = {}) =>
    step({ command: 'install', ...inputs }, env);
  const asked = () => server.seen.map((line) => line.replace('GET ', ''));

  beforeEach(() => {
    empty(temp);
    rmSync(tools, { recursive: true, force: true });
  });

  test('is downloaded once in a job, and once on a machine unless it was changed there', async () => {
    const from = `/owner/pwpush/releases/download/v${version}`;
    const checksums = [`${from}/checksums.txt`, '/release/checksums.txt'];
    const archives = [`${from}/${archive}`, `/release/${archive}`];
    const { code, path, outputs } = await install();
    expect([code, path]).toEqual([0, `${join(temp, name)}\n`]);
    const { stdout } = spawnSync(outputs.path ?? '', ['--version'], { encoding: 'utf8' });
    expect(stdout).toBe(`${version}\n`);
    expect([readdirSync(temp), readdirSync(join(temp, name))]).toEqual([[name], ['pwpush']]);
    await install();
    expect(asked()).toEqual([...checksums, ...archives]);
    empty(temp);
    expect(await install()).toMatchObject({ code: 0 });
    expect(asked().slice(4)).toEqual(checksums);
    empty(temp);
    writeFileSync(join(tools, 'pwpush', version, archive), 'changed');
    expect(await install()).toMatchObject({ code: 0 });
    expect(asked().slice(6)).toEqual([...checksums, ...archives]);
  });

  test('is unpacked by a program that gets no token or other variable of the step', async () => {
    mkdirSync(at('own'));
    script(at('own/tar'), `env >'${at('told')}'\nPATH=\${PATH#*:} exec tar "$@"`);
    const secrets = { DB_PASSWORD: 'hunter2', PWPUSH_TOKEN: 'T0ken', TAR_OPTIONS: '--verbose' };
    const PATH = `${at('own')}:${process.env.PATH}`;
    expect(await install({ token: 'T1ken' }, { ...secrets, PATH })).toMatchObject({ code: 0 });
    const names = readFileSync(at('told'), 'utf8').replace(/=.*/g, '').trim().split('\n');
    // Those that a shell sets by itself, beside what it was given.
    const own = ['PWD', 'OLDPWD', 'SHLVL', '_'];
    expect(names.filter((name) => !own.includes(name))).toEqual(['PATH']);
  });

  test('comes from a mirror by the checksum of the workflow, and needs no folder for later jobs', async () => {
    writeFileSync(tools, 'a file');
    const mirror = { 'release-url': `${server.url}/release/`, sha256 };
    const { code, log } = await install(mirror);
    expect([code, log]).toEqual([0, expect.stringContaining('is not kept for later jobs')]);
    expect(asked()).toEqual([`/release/${archive}`]);
    const other = await install({ ...mirror, sha256: 'a'.repeat(64) });
    const message = `the checksum of ${archive} is ${sha256} instead of aaa`;
    expect(other).toMatchObject({ code: 1, log: error(message) });
  });

  test.each([
    ['changed', 2, 'the checksum of \\S+ is [0-9a-f]{64} instead of [0-9a-f]{64}'],
    ['cut', 4, 'cannot download http:\\S+: '],
    ['without-sum', 1, 'checksums.txt does not list pwpush-'],
  ])('of a release that is %s is not kept, after %i requests', async (folder, asks, message) => {
    const ended = await install({ 'release-url': `${server.url}/${folder}` });
    expect(ended).toMatchObject({ code: 1, log: error(message) });
    expect(asked()).toHaveLength(asks);
    expect([readdirSync(temp), existsSync(tools)]).toEqual([[], false]);
  });
});

describe('what the action refuses', allOf(runner, onNode), () => {
  const install = { command: 'install' };
  test.each<[string, Record<string, string>, Record<string, string>?]>([
    ['there is no executable for \\w+ ARM; with Node', install, { RUNNER_ARCH: 'ARM' }],
    ['.* set the input release-url', install, { GITHUB_ACTION_REPOSITORY: '' }],
    ['.* must begin with https://', { ...install, 'release-url': 'http://mirror.example/pwpush' }],
    ['.* must have no password', { ...install, 'release-url': 'https://a:b@c.example' }],
    ['the input command must be one of', { command: 'constructor' }],
    ['push requires one of', { command: 'push' }],
    ['.*code 2\\)', { command: 'push', env: 'HOME', views: '-1' }],
    ['.*name must be one line', { command: 'push', env: 'HOME', name: 'a\n--here' }],
    ['.*true or false', { command: 'push', env: 'HOME', encrypt: 'yes' }],
    ['get requires the input link', { command: 'get' }],
    ['.*\\(exit code 9\\)', { command: 'get', link: '--help' }],
    ['.*views is not one', { command: 'get', link: 'x', views: '1' }],
    ['.*output must be the path', { command: 'get', link: 'x', output: '-' }],
    ['.*output must be the path', { command: 'get', link: 'x', output: '/proc/self/fd/1' }],
  ])('%s: %j', async (message, inputs, env) => {
    const ended = await step(inputs, { PWPUSH_URL: 'http://127.0.0.1:1', ...env });
    const { code, log, variables } = ended;
    expect({ code, log, variables }).toEqual({ code: 1, log: error(message), variables: {} });
    expect(log).not.toContain('a:b@');
  });

  test('a link of two lines, from the instance, is no output', async () => {
    const html_url = 'http://127.0.0.1:1/p/x\nlink=https://attacker.example/p/x';
    const told = await rawServer((socket) => answerJson(socket, changed(CREATED, { html_url }), '201 Created'));
    writeFileSync(inWork('key.pem'), 'KEY\n');
    const inputs = { command: 'push', url: told.url, token: 'T0ken', from: 'key.pem' };
    const { log, outputs } = await step(inputs, { PWPUSH_EDITION: 'oss' });
    expect(told.requests[0]).toContain('Bearer T0ken');
    expect(log).toMatch(/^::add-mask::T0ken\n/);
    expect(outputs.link ?? '').not.toContain('attacker');
  });
});

test('action.yml has the inputs that the script reads, and the outputs that it sets', () => {
  const { inputs, outputs, runs } = yaml(readFileSync(join(root, 'action.yml'), 'utf8'))[0];
  const script = readFileSync(join(root, runs.main), 'utf8');
  const tables = script.slice(script.indexOf('const commands'), script.indexOf('const switches'));
  const read = [...tables.matchAll(/^ {4}'?([\w-]+)'?: /gm), ...tables.matchAll(/'([\w-]+)'[,\]]/g)].map(
    ([, one = '']) => one,
  );
  expect(Object.keys(inputs).length).toBeGreaterThan(20);
  expect(Object.keys(inputs).sort()).toEqual([...new Set(read)].sort());
  const set = [...script.matchAll(/'GITHUB_OUTPUT', `([\w-]+)=|--github-output=(\w+)/g)];
  const names = set.map(([, own, secret]) => own ?? secret);
  expect(Object.keys(outputs).sort()).toEqual(names.sort());
});
