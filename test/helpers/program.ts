import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { scratch } from './memory';
import { allOf, type Needs, only } from './needs';

export const launcher = fileURLToPath(new URL('../../bin/pwpush.js', import.meta.url));
/** The executable to test in place of `bin/pwpush.js`. */
export const binary = process.env.PWPUSH_TEST_BINARY;
/** What starts the built program: a file, and the words before those of the command line. */
export const program: readonly [string, ...string[]] = binary ? [binary] : [process.execPath, launcher];
/** Tests of what Node.js alone does or can be made to do. */
export const onNode = only('Node.js (PWPUSH_TEST_BINARY is set)', binary === undefined);
/** Tests of what the runtime of the executable can change, one or few of a kind: `.ci/run` runs them with it, too. */
export const alsoBinary: Needs = { skip: false, tags: ['executable'] };
export const onBinary = allOf(only('PWPUSH_TEST_BINARY', binary !== undefined), alsoBinary);
export const dist = fileURLToPath(new URL('../../dist/', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Running = ReturnType<typeof running>;

/** Where programs of all tests keep their compiled code: making it anew for each somebody takes time. */
export const caches = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));

/** A folder of its own that is not there yet, and the environment of somebody who lives in it. */
function nextPerson() {
  const folder = join(scratch, `pwpush-test-${randomUUID().slice(0, 8)}`);
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    NO_PROXY: '*',
    XDG_CACHE_HOME: caches,
    PWPUSH_CONFIG_DIR: join(folder, 'config'),
    PWPUSH_STATE_DIR: join(folder, 'state'),
  };
  const make = () => {
    mkdirSync(caches, { recursive: true });
    mkdirSync(folder, { mode: 0o700 });
  };
  const remove = () => rmSync(folder, { recursive: true, force: true });
  return { folder, env, make, remove };
}

export type Person = ReturnType<typeof makePerson>;

/** A person for the test that runs, whose folder is removed after it. */
export function makePerson() {
  const { folder, env, make, remove } = nextPerson();
  onTestFinished(remove);
  make();
  return { folder, env };
}

/** A person for the tests of a file or suite. The folder is there while they run: where all are skipped, no hook removes it. */
export function person(): Person {
  const { folder, env, make, remove } = nextPerson();
  beforeAll(make);
  afterAll(remove);
  return { folder, env };
}

interface StartOptions {
  readonly env: Record<string, string>;
  readonly input?: string | Buffer | undefined;
  readonly cwd?: string | undefined;
  /** What is started in place of the built program. */
  readonly by?: readonly string[] | undefined;
}

/** Starts the built program with pipes; `input` closes stdin after it, undefined leaves it open. */
export function start(words: readonly string[], { env, input, cwd, by = program }: StartOptions): Running {
  const [file = '', ...first] = by;
  const child = spawn(file, [...first, ...words], { env, cwd, stdio: 'pipe' });
  if (input !== undefined) child.stdin?.end(input);
  return running(child);
}

/** The same until the test has ended. */
export function started(words: readonly string[], options: StartOptions): Running {
  const one = start(words, options);
  onTestFinished(async () => {
    one.child.kill('SIGKILL');
    await one.ended;
  });
  return one;
}

export function pwpush(words: readonly string[], options: StartOptions): Promise<Ended> {
  return start(words, { input: '', ...options }).ended;
}

/**
 * What starts the program with a script before it, such as one that breaks it. Executables load none, so their runtime
 * runs what they consist of.
 */
export function afterScript(script: string): readonly string[] {
  if (!binary) return [process.execPath, `--require=${script}`, launcher];
  const runtimes = join(caches, 'pwpush-runtimes');
  const name = readdirSync(runtimes).find((one) =>
    binary.includes('x64') ? /^bun-linux-x64-\d/.test(one) : /^bun-linux-aarch64-\d/.test(one),
  );
  const entry = fileURLToPath(new URL('../../.config/binary-entry.cjs', import.meta.url));
  return [join(runtimes, name ?? '', 'bin/bun'), `--preload=${script}`, entry];
}

/** Starts a program, and writes to a file how much memory it took at most, in KiB (getrusage(2)). */
const measuring = `
  my $file = shift;
  my $status = system { $ARGV[0] } @ARGV;
  my $usage = "\\0" x 256;
  syscall(${process.arch === 'arm64' ? 165 : 98}, -1, $usage);
  open(my $out, '>', $file) or die;
  print $out ((unpack 'q5', $usage)[4]);
  exit($status & 127 ? 128 + ($status & 127) : $status >> 8);
`;

/** What starts the program, and writes its peak memory to a file, in KiB. Linux only. */
export function measured(file: string): readonly string[] {
  return ['perl', '-e', measuring, file, ...program];
}

/** Makes a program of sh, and returns its path. */
export function script(path: string, lines: string): string {
  writeFileSync(path, `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  return path;
}

/** Makes a folder in which the built program is `pwpush`, and returns the PATH that finds it there. */
export function pathWith(folder: string): string {
  mkdirSync(folder, { recursive: true });
  script(join(folder, 'pwpush'), `exec ${program.join(' ')} "$@"`);
  return folder + delimiter + process.env.PATH;
}

/** Runs a line of sh in which `$PWPUSH` is the built program: for redirections. */
export function shell(line: string, { env, input = '', cwd }: StartOptions): Promise<Ended> {
  const PWPUSH = program.join(' ');
  const child = spawn('sh', ['-c', line], { env: { ...env, PWPUSH }, cwd, stdio: 'pipe' });
  child.stdin.end(input);
  return ending(child);
}

export const ending = (child: ChildProcess): Promise<Ended> => running(child).ended;

export function running(child: ChildProcess) {
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.setEncoding('utf8').on('data', (chunk) => {
      said[stream] += chunk;
    });
  // A program that ends without reading its input closes the pipe we write to.
  child.stdin?.on('error', () => {});
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, ...said }));
  });
  /** Resolves to the match once it has said that much; rejects if it ends without, with how it ended. */
  const says = (what: RegExp | string, stream: 'stdout' | 'stderr' = 'stdout') =>
    new Promise<readonly string[]>((resolve, reject) => {
      const look = () => {
        const text = said[stream];
        const found = typeof what === 'string' ? text.includes(what) && [what] : what.exec(text);
        if (found) resolve(found);
      };
      child[stream]?.on('data', look);
      look();
      void ended.then((all) => reject(Object.assign(new Error(`never said ${what}: ${JSON.stringify(all)}`), all)));
    });
  return {
    child,
    ended,
    says,
    /** The first line, once it was printed; rejects if the program ends before. */
    firstLine: async (stream?: 'stdout' | 'stderr') => (await says(/^(.*)\n/, stream))[1] as string,
  };
}

/** The most memory that a process ever had, in MiB (proc_pid_status(5)). */
export function peakOf(pid: number): number {
  const [, kibibytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}

/**
 * For the tests of a file: the built service, a folder `work` that is empty before each of them, and the environments of
 * somebody who works there with `pwpush` on the PATH, without a token as in a job of CI, and of the owner of pushes.
 */
export function workplace() {
  const { folder, env } = person();
  const service = serving(env);
  const within = (...names: string[]) => join(folder, ...names);
  const job: Record<string, string> = {
    HOME: within('elsewhere'),
    PWPUSH_CONFIG_DIR: within('elsewhere'),
    NO_PROXY: '*',
  };
  const owner: Record<string, string> = {};
  beforeAll(() => {
    Object.assign(job, { PATH: pathWith(within('bin')), PWPUSH_URL: service.url });
    Object.assign(owner, job, { PWPUSH_TOKEN: service.token });
  });
  beforeEach(() => {
    rmSync(within('work'), { recursive: true, force: true });
    mkdirSync(within('work'));
  });
  const at = (name: string) => within('work', name);
  return {
    env,
    service,
    job,
    owner,
    work: at(''),
    bin: within('bin'),
    at,
    file: (name: string) => readFileSync(at(name), 'utf8'),
  };
}

export function rescued({ PWPUSH_STATE_DIR: folder = '' }: Record<string, string>): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => /^(secret|text|response|link)-/.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
}

export type Served = Awaited<ReturnType<typeof serveBuilt>>;

/** The built service on a free port, its data at home; the first start keeps the profile `local` there. */
export async function serveBuilt(
  env: Record<string, string>,
  words: readonly string[] = [],
  by = program as readonly string[],
) {
  const data = ['--data', join(env.HOME ?? '', 'data')];
  const running = start(['serve', '--port', '0', '--json', ...data, ...words], { env, by });
  const { url, token } = JSON.parse(await running.firstLine()) as { url: string; token: string };
  const stop = async () => {
    running.child.kill('SIGTERM');
    return running.ended;
  };
  const kill = async () => {
    running.child.kill('SIGKILL');
    return running.ended;
  };
  /** As its first owner. A test that asks so needs neither a process of a client nor the modules of the service. */
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}/api/v2${path}`, { method, headers, ...sent });
    // biome-ignore lint/suspicious/noExplicitAny: compared whole
    return { status: response.status, json: (await response.json()) as any };
  };
  return { url, token, pid: running.child.pid ?? 0, ask, stop, kill };
}

/** The link of a new push by the owner. A start of the program for it would cost more than what is to be tested. */
export async function pushed(
  { ask }: Pick<Served, 'ask'>,
  payload: string,
  more: Record<string, unknown> = {},
): Promise<string> {
  return (await ask('POST', '/pushes', { push: { payload, ...more } })).json.html_url;
}

/** The built service for the tests of a file or suite; its address is known once they run. */
export function serving(...options: Parameters<typeof serveBuilt>): Served {
  const service = {} as Served;
  beforeAll(async () => {
    Object.assign(service, await serveBuilt(...options));
  });
  afterAll(async () => {
    await service.stop?.();
  });
  return service;
}
