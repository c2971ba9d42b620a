import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { beforeEach, onTestFinished } from 'vitest';
import { prepared } from '../../src/commands/program';
import { run as runProgram } from '../../src/main';
import type {
  Child,
  ChildOutput,
  Context,
  HttpClient,
  HttpSettings,
  Input,
  Output,
  OwnRun,
  Prompter,
  Transport,
} from '../../src/platform/context';
import { aborted } from '../../src/platform/files/abort';
import { signalGroup } from '../../src/platform/process';
import type { StoredProfiles } from '../../src/profile/settings';
import { scratch } from './memory';
import { type Prompt, scriptedPrompter } from './prompts';
import { type Invented, jsonFaults } from './schemas';

type Stream = 'stdin' | 'stdout' | 'stderr';

/** The world a run finds itself in; what is left out is that of a CI job: pipes, no terminal, nothing on stdin. */
export interface Conditions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string | Uint8Array;
  /** What comes in while it runs, in place of that. */
  readonly arriving?: AsyncIterable<Uint8Array>;
  /** Called with what is written to standard output. */
  readonly printed?: (data: string) => void;
  /** Takes what is written to both streams, too. */
  readonly taken?: ChildOutput;
  readonly terminals?: readonly Stream[];
  readonly columns?: number;
  readonly rows?: number;
  /** The questions that will be asked, in order, and their answers; with them there is somebody to ask. */
  readonly prompts?: readonly Prompt[];
  /** Somebody to ask, in place of those. */
  readonly prompter?: Prompter;
  /** Writing to these streams fails with that code. */
  readonly failing?: Partial<Record<'stdout' | 'stderr', 'EPIPE' | 'ENOSPC'>>;
  /** Writing to these streams never ends; called when it begins. */
  readonly held?: Partial<Record<'stdout' | 'stderr', () => void>>;
  /** These streams were closed before the program started. */
  readonly closed?: readonly ('stdout' | 'stderr')[];
  readonly signal?: AbortSignal;
}

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type Place = ReturnType<typeof openPlace>;

export interface PlaceOptions extends Conditions {
  /** What answers requests; left out, asking anybody anything is an error. */
  readonly send?: Transport;
  /** A whole transport, where the socket is the point. */
  readonly transport?: (options: HttpSettings) => HttpClient;
  readonly now?: () => Date;
  readonly invented?: Invented;
  /** What happens while the program sleeps, which takes no time of its own. */
  readonly asleep?: (milliseconds: number) => void | Promise<void>;
}

export const VERSION = '0.1.0';
/** Where `now` stands unless it is told otherwise. */
export const NOW = new Date('2026-08-20T11:06:45.000Z');

/** A place for the test that runs, after which it is closed. */
export function place(options?: PlaceOptions): Place {
  const here = openPlace(options);
  onTestFinished(here.close);
  return here;
}

/** A place that is made anew before each test of a file or suite. */
export function eachPlace(options?: PlaceOptions): Place {
  const here = {} as Place;
  beforeEach(() => {
    Object.assign(here, place(options));
  });
  return here;
}

/** A place to run the program in: a folder of its own, and a world made of `options`. Who opens it closes it. */
export function openPlace(options: PlaceOptions = {}) {
  const folder = mkdtempSync(join(scratch, 'pwpush-test-'));
  mkdirSync(join(folder, 'home'));
  const io: Io = {
    folder,
    sleeps: [],
    transports: [],
    started: [],
    now: options.now ?? (() => NOW),
    options,
  };
  const own = {
    PWPUSH_CONFIG_DIR: join(folder, 'config'),
    PWPUSH_STATE_DIR: join(folder, 'state'),
    // Where others leave no rescue files.
    TMPDIR: join(folder, 'home'),
  };
  const config = join(folder, 'config', 'config.json');
  const state = join(folder, 'state');
  const under = (conditions: Conditions) => {
    const env = { ...own, ...options.env, ...conditions.env };
    const merged = { ...options, ...conditions, env };
    return {
      run: (...argv: string[]) => outcome(argv, merged, io),
      /**
       * The plan of a command line, of which nothing is started.
       * @throws CliError (usage)
       */
      plan: (...argv: string[]) => planned(argv, merged, io),
    };
  };
  return {
    ...io,
    ...under({}),
    /** The same place under other conditions; environments are merged. */
    under,
    keep: async (stored: StoredProfiles) => {
      // Not before it is needed: what conf consists of takes the functions of `fs` that are there when it is loaded.
      const { updateProfiles } = await import('../../src/profile/store');
      const context = {
        env: { PWPUSH_CONFIG_DIR: join(folder, 'config') },
        platform: process.platform,
        home: folder,
        now: io.now,
        keepingSignals: <T>(load: () => Promise<T>) => load(),
        sleep: async () => {},
        uid: process.geteuid?.(),
      };
      await updateProfiles({ context, say: { warn: async () => {} } }, () => stored);
    },
    kept: (): StoredProfiles | undefined => (existsSync(config) ? JSON.parse(readFileSync(config, 'utf8')) : undefined),
    rescued: (): Record<string, string> =>
      Object.fromEntries(
        (existsSync(state) ? readdirSync(state, { recursive: true, encoding: 'utf8' }) : [])
          .filter((name) => !name.startsWith('receipts') && statSync(join(state, name)).isFile())
          .map((name) => [name, readFileSync(join(state, name), 'utf8')]),
      ),
    file: (name: string) => join(folder, name),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

interface Io {
  /** A temporary folder; `config` and `state` below it are the program's. */
  readonly folder: string;
  /** Milliseconds of each `sleep`, none of which took any time. */
  readonly sleeps: number[];
  readonly transports: HttpSettings[];
  /** What runs of our own were started with. */
  readonly started: Pick<OwnRun, 'argv' | 'env'>[];
  readonly now: () => Date;
  readonly options: PlaceOptions;
}

/** @throws Error where JSON was printed that is not as docs/schemas say */
async function outcome(argv: string[], conditions: Conditions, io: Io): Promise<Outcome> {
  const { context, ended } = world(conditions, io);
  const result = await ended(await runProgram(argv, context));
  const { failing, held, closed } = conditions;
  const isCut = (stream: 'stdout' | 'stderr') => failing?.[stream] || held?.[stream] || closed?.includes(stream);
  const [stdout, stderr] = [isCut('stdout') ? '' : result.stdout, isCut('stderr') ? '' : result.stderr];
  const faults = await jsonFaults({ ...result, argv, stdout, stderr }, io.options.invented);
  if (faults.length > 0) throw new Error(`pwpush ${argv.join(' ')}: ${faults.join('\n')}`);
  return result;
}

/** What the command makes of a line, in place of its journey. */
async function planned(argv: string[], conditions: Conditions, io: Io): Promise<unknown> {
  const line = await prepared(argv, world(conditions, io).context, () => {});
  return line?.plan;
}

function world(conditions: Conditions, io: Io) {
  const stdout = captured('stdout', conditions);
  const stderr = captured('stderr', conditions);
  const prompts = scriptedPrompter(conditions.prompts ?? []);
  const open: HttpClient[] = [];
  const signal = conditions.signal ?? new AbortController().signal;
  let owned = false;
  let asked = false;
  const sleep = async (milliseconds: number) => {
    io.sleeps.push(milliseconds);
    await io.options.asleep?.(milliseconds);
    signal.throwIfAborted();
  };
  const env = conditions.env ?? {};
  const context: Context = {
    version: VERSION,
    env,
    platform: 'linux',
    pid: 1,
    uid: process.geteuid?.(),
    home: join(io.folder, 'home'),
    stdin: input(conditions),
    stdout: stdout.output,
    stderr: stderr.output,
    signal,
    interrupts: {
      get owned() {
        return owned;
      },
      enter: ({ mode }) => {
        owned ||= mode === 'own';
        return noop;
      },
    },
    now: io.now,
    usage: () => ({ resident: 0, cpu: 0 }),
    sleep,
    transport: async (options) => {
      io.transports.push(options);
      const { send = unexpected } = io.options;
      const transport = io.options.transport?.(options) ?? { send, close: noop };
      open.push(transport);
      return transport;
    },
    canPrompt: () => (conditions.prompter ?? conditions.prompts) !== undefined,
    prompter: async () => {
      asked = true;
      return conditions.prompter ?? prompts.prompter;
    },
    hasAsked: () => asked,
    releaseTerminal: noop,
    keepingSignals: (load) => load(),
    runChild: (child) => capturedChild(child, stdout, stderr, conditions.stdin ?? ''),
    signalGroup,
    // In this process; journeys start it.
    startOwn: async ({ argv, env, input, output, signal }) => {
      io.started.push({ argv, env });
      const ending = new AbortController();
      void aborted(signal).then(() => ending.abort('SIGTERM'));
      const world = { env, stdin: input, taken: output, signal: ending.signal };
      return (await outcome([...argv], world, io)).code;
    },
    // As the runs that are handed over do.
    ...(conditions.taken && {
      happened: (event) => void stdout.output.write(`${JSON.stringify(event)}\n`),
    }),
    starting: (work) => work(),
    quietly: (work) => work(),
  };
  const ended = async (code: number): Promise<Outcome> => {
    for (const transport of open) await transport.close();
    prompts.check();
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  };
  return { context, ended };
}

const noop = async () => {};

const unexpected: Transport = async ({ method, url }) => {
  throw new Error(`nothing was to be sent, but: ${method} ${url}`);
};

function input({ stdin = '', arriving, terminals = [] }: Conditions): Input {
  return {
    isTTY: terminals.includes('stdin'),
    bytes: async function* () {
      if (arriving) return yield* arriving;
      yield typeof stdin === 'string' ? Buffer.from(stdin) : stdin;
    },
    look: async () => (arriving ? 'silent' : stdin.length > 0 ? 'something' : 'nothing'),
  };
}

/** The program itself, its output in the run's own, or handed over. */
function capturedChild(
  { file, words: [argv0, ...args], env, input, output }: Child,
  stdout: { take(data: Buffer): void },
  stderr: { take(data: Buffer): void },
  stdin: string | Uint8Array,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { argv0, env: { ...env } });
    const taken = Promise.all([
      handedOver(child.stdout, output?.stdout ?? stdout.take),
      handedOver(child.stderr, output?.stderr ?? stderr.take),
    ]);
    child.stdin.on('error', noop).end(input ?? stdin);
    child.once('error', reject).once('exit', async (code, signal) => {
      await taken;
      resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']);
    });
  });
}

async function handedOver(from: Readable, take: (data: Buffer) => void | Promise<void>) {
  try {
    for await (const chunk of from) await take(chunk);
  } catch {
    from.destroy();
  }
}

function captured(stream: 'stdout' | 'stderr', conditions: Conditions) {
  const chunks: Buffer[] = [];
  const isClosed = conditions.closed?.includes(stream) ?? false;
  const code = conditions.failing?.[stream] ?? (isClosed && stream === 'stdout' ? 'closed' : undefined);
  const output: Output = {
    isTTY: conditions.terminals?.includes(stream) ?? false,
    // Wide enough for any message, which is folded at words.
    columns: conditions.columns ?? (stream === 'stderr' ? 500 : 80),
    rows: conditions.rows ?? Number.POSITIVE_INFINITY,
    closed: isClosed,
    write: async (data) => {
      const held = conditions.held?.[stream];
      if (held) return new Promise(held);
      if (code && data.length > 0) throw Object.assign(new Error(`write ${code}`), { code, syscall: 'write' });
      const chunk = Buffer.from(data as Uint8Array);
      chunks.push(chunk);
      if (stream === 'stdout') conditions.printed?.(`${chunk}`);
      await conditions.taken?.[stream](chunk);
    },
  };
  const take = (data: Buffer) => void chunks.push(data);
  return { output, take, text: () => Buffer.concat(chunks).toString('utf8') };
}
