// The GitHub Action of action.yml: fetches the executable of its own release, verifies it, and runs it. Plain Node.js, as
// runners have it. Secrets stay between pwpush and the runner; this script only sees links.
const { spawn, spawnSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const http = require('node:http');
const { join, resolve } = require('node:path');
const { createInterface } = require('node:readline');
const { version } = require('../package.json');

const { env } = process;
/** The environment of pwpush: inputs, of which one is the token, are for this script. */
const childEnv = Object.fromEntries(
  Object.entries(env).filter(([name]) => !name.startsWith('INPUT_')),
);

const value = (name) => (text) => [`--${name}=${text}`];
const flag = (name) => (text) => (text === 'true' ? [`--${name}`] : []);
const either = (name) => (text) => [`--${text === 'true' ? '' : 'no-'}${name}`];
const lines = (text) => text.split(/[\r\n]+/).flatMap((line) => line.trim() || []);
const list = (name) => (text) => lines(text).map((line) => `--${name}=${line}`);
const last = (text) => ['--', text];
/** The link goes to standard input, as other users can read arguments. */
const fromInput = () => ['-'];

/** By command: the inputs that it takes, each with the words that it becomes, in their order. */
const commands = {
  push: {
    env: value('env'),
    from: value('from'),
    file: list('file'),
    views: value('views'),
    days: value('days'),
    expire: value('expire'),
    name: value('name'),
    encrypt: either('encrypt'),
    to: list('to'),
    'mask-link': () => [],
  },
  get: {
    variable: value('github-env'),
    output: value('output'),
    anonymous: flag('anonymous'),
    link: fromInput,
  },
  wait: {
    for: value('for'),
    'then-expire': flag('then-expire'),
    link: fromInput,
  },
  request: {
    expire: value('expire'),
    name: value('name'),
    'allow-files': flag('allow-files'),
    'mask-link': () => [],
    question: last,
  },
  install: {},
};
const common = ['command', 'url', 'token', 'release-url', 'sha256'];
const switches = ['encrypt', 'mask-link', 'anonymous', 'then-expire', 'allow-files'];
const severalLines = ['file', 'to', 'question'];

/** The inputs that are not empty, by their names. */
function readInputs() {
  const names = new Set([...common, ...Object.values(commands).flatMap(Object.keys)]);
  const given = [...names].flatMap((name) => {
    const text = env[`INPUT_${name.toUpperCase()}`]?.trim();
    return text ? [[name, text]] : [];
  });
  return Object.fromEntries(given);
}

function checkInputs(inputs) {
  const { command } = inputs;
  if (!Object.hasOwn(commands, command ?? ''))
    throw new Error(`the input command must be one of ${Object.keys(commands).join(', ')}`);
  const own = commands[command];
  for (const [name, text] of Object.entries(inputs)) {
    if (!common.includes(name) && !Object.hasOwn(own, name))
      throw new Error(`the input ${name} is not one of ${command}`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    if (!severalLines.includes(name) && /[\0-\x1f\x7f]/.test(text))
      throw new Error(`the input ${name} must be one line, without control characters`);
    if (switches.includes(name) && !/^(true|false)$/.test(text))
      throw new Error(`the input ${name} must be true or false`);
  }
  if (command === 'push' && !inputs.env && !inputs.from && !inputs.file)
    throw new Error('push requires one of the inputs env, from and file');
  for (const name of ['link', 'question'])
    if (Object.hasOwn(own, name) && !inputs[name])
      throw new Error(`${command} requires the input ${name}`);
  if (inputs.output && !isPlace(inputs.output))
    throw new Error('the input output must be the path of a file or folder');
  if (inputs.sha256 && !/^[0-9a-f]{64}$/.test(inputs.sha256))
    throw new Error('the input sha256 must be 64 lowercase hexadecimal digits');
}

/** Not a stream: that of the secret would be the log of the step, or nothing. */
function isPlace(path) {
  if (path === '-' || /^\/(dev\/(std|fd\/)|proc\/)/.test(resolve(path))) return false;
  const found = fs.statSync(path, { throwIfNoEntry: false });
  return !found || found.isFile() || found.isDirectory();
}

function wordsOf({ command, ...inputs }) {
  const words = Object.entries(commands[command]).flatMap(([name, wordsFor]) =>
    inputs[name] ? wordsFor(inputs[name]) : [],
  );
  if (command !== 'get' || inputs.output) return [command, ...words];
  // Files of somebody else have no business in the workspace unless a place for them is named.
  return [command, '--no-files', ...(inputs.variable ? [] : ['--github-output=secret']), ...words];
}

/** The name in `.config/binary.mjs` of the platform that this runs on. */
function platform() {
  const musl = () => {
    process.report.excludeNetwork = true;
    return process.report.getReport().header.glibcVersionRuntime === undefined;
  };
  const machine = { X64: 'x64', ARM64: 'arm64' }[env.RUNNER_ARCH];
  if (machine && env.RUNNER_OS === 'Linux') return `linux${musl() ? '-musl' : ''}-${machine}`;
  if (machine && env.RUNNER_OS === 'macOS') return `macos-${machine}`;
  // Windows on ARM runs it too.
  if (machine && env.RUNNER_OS === 'Windows') return 'windows-x64';
  throw new Error(
    `there is no executable for ${env.RUNNER_OS} ${env.RUNNER_ARCH}; with Node.js use: npm install --global pwpush`,
  );
}

function releaseUrl({ 'release-url': given, sha256 }) {
  const { GITHUB_SERVER_URL: server, GITHUB_ACTION_REPOSITORY: repository } = env;
  if (!given && !repository)
    throw new Error('the release of a local action is unknown: set the input release-url');
  const text = given ?? `${server}/${repository}/releases/download/v${version}`;
  if (!URL.canParse(text)) throw new Error(`"${text}" is not a valid address`);
  const { protocol, hostname, username, password } = new URL(text);
  if (username || password) throw new Error('the input release-url must have no password');
  const local = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && (local || sha256)))
    throw new Error('without the input sha256, release-url must begin with https://');
  return text.replace(/\/+$/, '');
}

/** Follows redirects, but none from https to http. */
async function fetchFrom(address) {
  const signal = AbortSignal.timeout(10 * 60_000);
  let url = new URL(address);
  for (let hops = 0; hops < 10; hops++) {
    const response = await fetch(url, { redirect: 'manual', signal });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || !location) return response;
    const next = new URL(location, url);
    if (url.protocol === 'https:' && next.protocol !== 'https:')
      throw new Error(`${url.host} redirects to an address without https`);
    url = next;
  }
  throw new Error('too many redirects');
}

async function download(address) {
  console.log(`downloading ${address}`);
  for (let tries = 1; ; tries++) {
    try {
      const response = await fetchFrom(address);
      if (response.ok) return Buffer.from(await response.arrayBuffer());
      if (response.status < 500 || tries === 3)
        throw new Error(`${address} returned ${response.status}`);
    } catch (error) {
      // fetch throws a TypeError if the connection fails, and keeps the reason in its cause.
      if (!(error instanceof TypeError)) throw error;
      if (tries === 3)
        throw new Error(`cannot download ${address}: ${error.cause?.message ?? error.message}`);
    }
  }
}

const sha256Of = (bytes) => createHash('sha256').update(bytes).digest('hex');

/**
 * Returns the path of the executable. It is unpacked into `RUNNER_TEMP`, which runners empty before each job. The archive
 * is kept in `RUNNER_TOOL_CACHE`, where other jobs can change it, and therefore verified again in each job.
 */
async function install(inputs) {
  const name = `pwpush-${version}-${platform()}`;
  const windows = env.RUNNER_OS === 'Windows';
  const program = windows ? 'pwpush.exe' : 'pwpush';
  const folder = join(needed('RUNNER_TEMP'), inputs.sha256 ? `${name}-${inputs.sha256}` : name);
  const path = join(folder, program);
  if (fs.existsSync(path)) return path;

  const archive = `${name}${windows ? '.zip' : '.tar.gz'}`;
  const url = releaseUrl(inputs);
  const expected = inputs.sha256 ?? published(await download(`${url}/checksums.txt`), archive);
  const kept = env.RUNNER_TOOL_CACHE && join(env.RUNNER_TOOL_CACHE, 'pwpush', version);
  const cached = kept && read(join(kept, archive));
  let bytes = cached;
  if (!cached || sha256Of(cached) !== expected) {
    bytes = await download(`${url}/${archive}`);
    const actual = sha256Of(bytes);
    if (actual !== expected)
      throw new Error(`the checksum of ${archive} is ${actual} instead of ${expected}`);
    if (kept) keep(kept, archive, bytes);
  }

  const work = fs.mkdtempSync(join(env.RUNNER_TEMP, 'pwpush-'));
  try {
    fs.writeFileSync(join(work, archive), bytes);
    // The first tar on the PATH of a Windows runner cannot read a zip; that of Windows can.
    const tar = windows ? join(needed('SystemRoot'), 'System32', 'tar.exe') : 'tar';
    const words = [windows ? '-xf' : '-xzf', archive, `${name}/${program}`];
    const options = { cwd: work, env: { PATH: env.PATH }, stdio: 'inherit' };
    const { status, error } = spawnSync(tar, words, options);
    if (status !== 0)
      throw new Error(`cannot unpack ${archive}: ${error?.message ?? 'tar failed'}`);
    checkStarts(join(work, name, program), name);
    fs.renameSync(join(work, name), folder);
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
  return path;
}

function checkStarts(path, name) {
  const options = { env: childEnv, encoding: 'utf8', timeout: 60_000 };
  const { status, error, stdout, stderr } = spawnSync(path, ['--version'], options);
  if (status === 0) return;
  const said = error?.message ?? `${stderr}${stdout}`.trim();
  const hint = name.includes('-musl-')
    ? '\nit requires the library libstdc++: apk add libstdc++'
    : '';
  throw new Error(`the program does not start: ${said || `exit code ${status}`}${hint}`);
}

function needed(variable) {
  if (env[variable]) return env[variable];
  throw new Error(`${variable} is not set: this runs as an action only`);
}

function published(checksums, archive) {
  const found = checksums
    .toString()
    .split(/\r?\n/)
    .find((line) => line.slice(66) === archive);
  if (/^[0-9a-f]{64} {2}/.test(found ?? '')) return found.slice(0, 64);
  throw new Error(`checksums.txt does not list ${archive}`);
}

function read(path) {
  try {
    return fs.readFileSync(path);
  } catch {
    return undefined;
  }
}

/** Keeps the archive for the next job of this machine; without it, that job downloads it again. */
function keep(folder, name, bytes) {
  try {
    fs.mkdirSync(folder, { recursive: true });
    const unfinished = join(folder, `${name}.${process.pid}`);
    fs.writeFileSync(unfinished, bytes);
    fs.renameSync(unfinished, join(folder, name));
  } catch (error) {
    console.log(`the archive is not kept for later jobs: ${error.message}`);
  }
}

const escaped = (text) =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const mask = (text) => console.log(`::add-mask::${escaped(text)}`);

/**
 * The token of the inputs, alone; without one, that of the variables, which may be empty; without these, the job's own
 * identity, if the workflow gives the job the permission `id-token: write`.
 */
function tokenEnv(token) {
  const names = ['', '_FILE', '_COMMAND', '_FROM'].map((ending) => `PWPUSH_TOKEN${ending}`);
  const none = Object.fromEntries(names.map((name) => [name, undefined]));
  if (token) return { ...none, PWPUSH_TOKEN: token };
  const identity = env.ACTIONS_ID_TOKEN_REQUEST_URL && !names.some((name) => name in env);
  return identity ? { PWPUSH_TOKEN_FROM: 'ci' } : {};
}

/** Resolves to the exit code, the link that was printed, and the message of an error. */
function run(path, words, { url, token, command, output, link: opened }) {
  const makesLink = command === 'push' || command === 'request';
  const child = spawn(path, words, {
    env: {
      ...childEnv,
      PWPUSH_ENCRYPT: childEnv.PWPUSH_ENCRYPT || 'link',
      // In CI, messages that quote an instance or a viewer contain no commands for the runner.
      CI: 'true',
      ...(url && { PWPUSH_URL: url }),
      ...tokenEnv(token),
    },
    // The runner itself gets the commands by which get masks a secret.
    stdio: [opened ? 'pipe' : 'ignore', makesLink ? 'pipe' : output ? 'ignore' : 'inherit', 'pipe'],
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.stdin?.on('error', () => {}).end(opened);
  let link;
  let message;
  const read = (stream, line) => stream && createInterface({ input: stream }).on('line', line);
  read(child.stdout, (line) => {
    if (/^https?:\/\/\S+$/.test(line)) link = line;
  });
  read(child.stderr, (line) => {
    message ??= /^pwpush: (.*)/.exec(line)?.[1];
    console.log(line);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code: code ?? signal, link, message }));
  });
}

const append = (variable, line) => fs.appendFileSync(needed(variable), `${line}\n`);

async function main() {
  const inputs = readInputs();
  if (inputs.token) for (const line of lines(inputs.token)) mask(line);
  checkInputs(inputs);
  needed('GITHUB_OUTPUT');
  // Runners behind a proxy. Without it, which is new in Node.js 24, NODE_USE_ENV_PROXY=1 does the same.
  http.setGlobalProxyFromEnv?.();
  const path = await install(inputs);
  append('GITHUB_OUTPUT', `path=${path}`);
  const { command } = inputs;
  if (command === 'install') return append('GITHUB_PATH', join(path, '..'));

  const { code, link, message } = await run(path, wordsOf(inputs), inputs);
  append('GITHUB_OUTPUT', `exit-code=${code}`);
  // There is one too if something failed after the push was created.
  if (link) {
    if (inputs['mask-link'] === 'true') mask(link);
    append('GITHUB_OUTPUT', `link=${link}`);
  }
  if (code !== 0) throw new Error(`${message ?? `pwpush ${command} failed`} (exit code ${code})`);
}

main().catch((error) => {
  console.log(`::error title=pwpush::${escaped(error.message)}`);
  process.exitCode = 1;
});
