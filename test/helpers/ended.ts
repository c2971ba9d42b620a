import { createHook } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { beforeAll, beforeEach } from 'vitest';
// It listens to the signals of the process as soon as the first file loads it, in a worker that keeps what was loaded.
import 'when-exit';

// Runs in each worker before each file of tests. A file fails that changes what the next file in its worker inherits, and
// a test of the folders below fails if a timer, a socket, a server or a listener that it began is still there at its end.

/** Here every resource has an end in the test that began it. */
const COUNTED = /\/test\/(?:server\/http|client\/transport)\//;
/** The other side of a connection, or another process, may take so long to end. */
const GRACE_MILLISECONDS = 1000 * Number(process.env.PWPUSH_TEST_GRACE ?? 10);
const HANDLE = /^(?:(?:TCP|PIPE)(?:SERVER)?|PROCESS|FSEVENT|UDP|TTY)WRAP$/;
/**
 * Timers of libraries, which never end a run later: undici's clock of all connections, the limit of a SOCKS proxy, the
 * date in the headers of Node.js; those of the runner; the time of a whole run; and work of a service that tests share.
 */
const SHARED =
  /undici\/lib\/util\/timers|\/socks\/|node:internal\/http:|\/(?:@vitest|vitest|vite)\/|DeferredWork\.add|at limited /;

const countsOf = (emitter: EventEmitter) =>
  emitter.eventNames().map((name) => [`listeners of ${String(name)}`, emitter.listenerCount(name)] as const);

/** What the files of a worker share, each thing with its name. */
const shared = () =>
  new Map<string, unknown>([
    ['the folder', process.cwd()],
    ['the umask', process.umask()],
    ...Object.entries(process.env).map(([name, value]) => [`the variable ${name}`, value] as const),
    ...countsOf(process),
    ['servers', process.getActiveResourcesInfo().filter((name) => /ServerWrap$/.test(name)).length],
  ]);

/** What was closed is gone in the next turns, and so is what ends with the last connection. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
}

const before = shared();
// What the first `beforeAll` returns runs after all else that a file has for its end.
beforeAll(() => async () => {
  await settled();
  const after = shared();
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => before.get(name) !== after.get(name),
  );
  const told = changed.map((name) => `${name}: ${before.get(name)}, now ${after.get(name)}`);
  if (told.length > 0) throw new Error(`the file leaves this to the next one:\n  ${told.join('\n  ')}`);
});

beforeEach(({ task, onTestFinished }) => {
  if (!COUNTED.test(task.file.filepath)) return;
  const ends = counting();
  // The first that is registered is the last that runs.
  onTestFinished(async () => {
    const left = await ends();
    if (left.length > 0) throw new Error(`still there at the end of the test:\n  ${left.join('\n  ')}`);
  });
});

/** Counts what begins from now on; the result waits for its end, and tells what has none. */
function counting(): () => Promise<string[]> {
  const begun = new Map<number, Error>();
  let isOver = false;
  let wake = () => {};
  const hook = createHook({
    init(id, type) {
      if (!isOver && (type === 'Timeout' || HANDLE.test(type))) begun.set(id, new Error(type));
    },
    destroy(id) {
      if (begun.delete(id)) wake();
    },
  }).enable();
  const listeners = new Map(countsOf(process));
  const connections = growing();
  const hasHandles = () => [...begun.values()].some(({ message }) => HANDLE.test(message));
  return async () => {
    isOver = true;
    const limit = performance.now() + GRACE_MILLISECONDS;
    for (let left = GRACE_MILLISECONDS; left > 0 && hasHandles(); left = limit - performance.now())
      await Promise.race([new Promise<void>((resolve) => (wake = resolve)), pause(left, undefined, { ref: false })]);
    await settled();
    hook.disable();
    const more = countsOf(process).filter(([name, count]) => count > (listeners.get(name) ?? 0));
    return [
      ...[...begun.values()].map(made).filter((place) => !SHARED.test(place)),
      ...more.map(([name]) => `${name} of the process`),
      ...connections(),
    ];
  };
}

/** What it is and where it was made: the frames of Node.js, and the first that is another one. */
function made({ message, stack = '' }: Error): string {
  const frames = stack.split('\n').filter((frame) => /^\s+at /.test(frame) && !/async_hooks|ended\.ts/.test(frame));
  const first = frames.findIndex((frame) => !frame.includes('node:'));
  return [message, ...frames.slice(0, first + 1 || frames.length)].join('\n  ');
}

/**
 * Tells the listeners of a connection that are more when a request begins than they were when its first one began. One
 * with requests that were sent ahead has more for each of these.
 */
function growing(): () => string[] {
  const first = new WeakMap<EventEmitter, ReadonlyMap<string, number> | undefined>();
  const grown = new Set<string>();
  const look = (message: unknown) => {
    const { socket } = message as { readonly socket: EventEmitter & { readonly _httpMessage?: unknown } };
    const counts = new Map(countsOf(socket));
    if (!first.has(socket)) first.set(socket, counts);
    if (socket._httpMessage) first.set(socket, undefined);
    const least = first.get(socket);
    for (const [name, count] of counts)
      if (least && count > (least.get(name) ?? 0)) grown.add(`${name} of a connection, from one request to the next`);
  };
  const channels = ['http.server.request.start', 'undici:client:sendHeaders'];
  for (const channel of channels) subscribe(channel, look);
  return () => {
    for (const channel of channels) unsubscribe(channel, look);
    return [...grown];
  };
}
