import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LinkError } from '../../src/client/file-link';
import { TransportError } from '../../src/client/transport/network-errors';
import { newFile } from '../../src/deliver/new-file';
import { type DownloadTools, saveFile, withRetries } from '../../src/deliver/save-file';
import { eachPlace } from '../helpers/run';

const here = eachPlace();
/** In a folder that is empty at first. */
const at = (name: string) => here.file(`home/${name}`);
const names = () => readdirSync(at('')).sort();
const folder = (force = false) => ({ path: here.file('home'), force, taken: new Set<string>() });

type Try = Error | { readonly length?: number; readonly chunks: readonly (string | Error)[] };

const tools: DownloadTools = {
  openFile: async () => ({ length: undefined, body: [] as never }),
  signal: new AbortController().signal,
  sleep: async () => {},
  progress: { begins: () => {}, moved: () => {} },
  retrying: async () => {},
};

/** Downloads `a` from a link that answers these in turn. */
async function download(tries: readonly Try[], signal = tools.signal) {
  const left = [...tries];
  const pauses: number[] = [];
  let moved = 0;
  const openFile = async () => {
    const one = left.shift() ?? new Error('one try too many');
    if (one instanceof Error) throw one;
    const body = async function* () {
      for (const chunk of one.chunks) {
        if (chunk instanceof Error) throw chunk;
        yield Buffer.from(chunk);
      }
    };
    return { length: one.length, body: body() };
  };
  const noting: DownloadTools = {
    ...tools,
    openFile,
    signal,
    sleep: async (milliseconds) => void pauses.push(milliseconds / 1000),
    progress: {
      begins: () => {
        moved = 0;
      },
      moved: (bytes) => {
        moved += bytes;
      },
    },
  };
  const outcome = await saveFile({ filename: 'a', url: 'x' }, folder(), noting).catch((e) => e);
  return { outcome, pauses, moved, left: left.length, files: names() };
}

const broken = new TransportError('broke', { sent: true });
const whole = { length: 4, chunks: ['fo', 'ur'] };

test('what breaks is tried three times, with growing pauses', async () => {
  const tries = [{ length: 9, chunks: ['part', broken] }, broken, whole];
  expect(await download(tries)).toEqual({
    outcome: { path: at('a'), bytes: 4 },
    pauses: [1, 3],
    moved: 4,
    left: 0,
    files: ['a'],
  });
});

test.each([
  ['less', { length: 5, chunks: ['four'] }],
  ['more', { length: 3, chunks: ['four'] }],
  ['nothing', { length: 3, chunks: [] }],
])('%s than was announced is no file', async (_what, one) => {
  const { outcome, files } = await download([one, one, one]);
  expect(outcome).toMatchObject({ code: 'failed' });
  expect(files).toEqual([]);
});

test('nobody reached is unreachable', async () => {
  const nobody = new TransportError('refused', { sent: false });
  const { outcome } = await download([nobody, nobody, nobody]);
  expect(outcome).toMatchObject({ code: 'unreachable', message: 'refused' });
});

test('a busy link is waited for as it says, within a minute', async () => {
  const busy = (seconds: number) => new LinkError(429, 'busy', seconds);
  expect(await download([busy(60), whole])).toMatchObject({ pauses: [60], files: ['a'] });
  expect(await download([busy(61), whole])).toMatchObject({ pauses: [], left: 1 });
});

test('a stale link, an error of ours, and an interrupted run are not tried again', async () => {
  expect((await download([new LinkError(404, 'gone'), whole])).left).toBe(1);
  expect((await download([new Error('bug'), whole])).left).toBe(1);
  expect((await download([broken, whole], AbortSignal.abort('SIGINT'))).left).toBe(1);
});

test.each([
  [16 * 1024 - 1, 0, 3],
  [16 * 1024, 0, 4],
  [0, 16 * 1024, 50],
])('a link that gives %i bytes before the second break, and %i before each: %i breaks', async (once, each, breaks) => {
  let received = 0;
  let count = 0;
  const work = withRetries(tools, async (resume) => {
    do {
      received += each + (count === 1 ? once : 0);
      count += 1;
    } while (count < 50 && (await resume(broken, received)));
    if (count < 50) throw new Error('given up');
  });
  await work.catch(() => {});
  expect(count).toBe(breaks);
});

async function put(into: ReturnType<typeof folder>, name: string, text: string) {
  const file = await newFile(into, name);
  await file.handle.writeFile(text);
  return file.keep();
}

describe('a new file', () => {
  test('has a temporary name, 0600, until it is kept', async () => {
    const file = await newFile(folder(), 'a.txt');
    expect(names()).toEqual([expect.stringMatching(/^\.a\.txt\.[0-9a-f]{12}\.part$/)]);
    expect(statSync(at(names()[0] ?? '')).mode & 0o777).toBe(0o600);
    expect(await file.keep()).toBe(at('a.txt'));
    expect(names()).toEqual(['a.txt']);
    expect(statSync(at('a.txt')).mode & 0o777).toBe(0o600);
  });

  test('takes the next free name, also of what came to be in the meantime', async () => {
    writeFileSync(at('a.txt'), 'mine');
    const file = await newFile(folder(), 'a.txt');
    writeFileSync(at('a (2).txt'), 'theirs');
    expect(await file.keep()).toBe(at('a (3).txt'));
    const kept = ['a.txt', 'a (2).txt'].map((name) => readFileSync(at(name), 'utf8'));
    expect(kept).toEqual(['mine', 'theirs']);
  });

  test.each([false, true])('of the same name in one run gets (2), --force %s', async (force) => {
    const into = folder(force);
    await put(into, 'A.txt', 'first');
    expect(await put(into, 'a.TXT', 'second')).toBe(at('a (2).TXT'));
    expect(readFileSync(at('A.txt'), 'utf8')).toBe('first');
  });

  test('overwrites a regular file with --force, and nothing else', async () => {
    writeFileSync(at('a'), 'old', { mode: 0o644 });
    mkdirSync(at('b'));
    symlinkSync(at('target'), at('c'));
    const into = folder(true);
    expect(await put(into, 'a', 'new')).toBe(at('a'));
    expect(await put(into, 'b', 'new')).toBe(at('b (2)'));
    expect(await put(into, 'c', 'new')).toBe(at('c (2)'));
    expect(readFileSync(at('a'), 'utf8')).toBe('new');
    expect(statSync(at('a')).mode & 0o777).toBe(0o600);
    expect(readlinkSync(at('c'))).toBe(at('target'));
    expect(names()).toEqual(['a', 'b', 'b (2)', 'c', 'c (2)']);
  });
});
