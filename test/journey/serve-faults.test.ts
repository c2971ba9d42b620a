import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { inTurns, long } from '../helpers/long';
import { folders } from '../helpers/memory';
import { needsPrograms } from '../helpers/needs';
import { type Ended, person, program, serveBuilt } from '../helpers/program';
import { rowsOf } from '../helpers/rows';
import { seed } from '../helpers/seed';
import { call, create, testService } from '../helpers/service';

inTurns(2);

const someone = person();
const newFolder = folders();

const SECRET = 'MARKER-correct-horse';
const FILES = ['pwpush.db', 'pwpush.db-wal', 'pwpush.db-shm', 'pwpush.reserve', 'instance.key'];
/** How calls of the system on these files fail. */
const CALLS = {
  openat: 'ENOSPC',
  pwrite64: 'ENOSPC',
  fsync: 'EIO',
  ftruncate: 'EIO',
  write: 'ENOSPC',
} as const;

/** What starts a service whose nth such call fails, or all from it on; which ones did is written to the log. */
const failing = (data: string, log: string, call: keyof typeof CALLS, when: string) => [
  ...['strace', '-D', '-f', '-qq', '--seccomp-bpf', '-o', log],
  ...FILES.flatMap((name) => ['-P', join(data, name)]),
  ...['-e', `trace=${call}`, '-e', `inject=${call}:error=${CALLS[call]}:when=${when}`],
  ...program,
];

/** The service of a test, at the time of those that are started. */
const opened = (data: string) =>
  testService({ data, clock: { now: () => new Date(), advance: () => {} } });

/** A payload, or a status if it is not given. */
async function payloadOf(service: Parameters<typeof call>[0], token: string) {
  const { status, json } = await call(service, 'GET', `/api/v2/pushes/${token}`);
  return status === 200 ? json.payload : status;
}

describe('a service whose files fail (needs strace)', needsPrograms('strace'), () => {
  let before: string;
  let held: string;
  beforeEach(async () => {
    before = await newFolder();
    const service = await opened(before);
    held = await create(service, { payload: SECRET, expire_after_views: 1 });
    await service.close();
  });

  /** Runs it with one fault; false if none was met. */
  async function withFault(name: keyof typeof CALLS, when: string): Promise<boolean> {
    const [data, log] = [await newFolder(), join(await newFolder(), 'log')];
    cpSync(before, data, { recursive: true });
    const tokens = [held];
    const given: unknown[] = [];
    const ended = await serveBuilt(
      someone.env,
      ['--data', data],
      failing(data, log, name, when),
    ).then(
      async (served) => {
        const service = {
          fetch: (request: Request) =>
            fetch(new Request(request.url.replace('http://pw.test', served.url), request)),
        };
        const push = { payload: SECRET, expire_after_views: 1 };
        const made = await call(service, 'POST', '/api/v2/pushes', { body: { push } });
        expect([201, 500, 503]).toContain(made.status);
        if (made.status === 201) tokens.push(made.json.url_token);
        for (const token of tokens) given.push(await payloadOf(service, token));
        return served.stop();
      },
      (error: Error & Ended) => error,
    );
    expect(ended.stderr).not.toContain(SECRET);
    expect(ended.signal).toBe(null);
    const service = await opened(data);
    for (const [at, token] of tokens.entries()) {
      const all = [given[at], await payloadOf(service, token)];
      const times = all.filter((one) => one === SECRET).length;
      // What could not be synced may still be there: then a view counts whose response was an error.
      const isUnsure = name === 'fsync' && typeof given[at] === 'number';
      expect(isUnsure ? [0, 1] : [1], `${name} ${when}: ${all}`).toContain(times);
    }
    await service.close();
    expect(await rowsOf(join(data, 'pwpush.db'), 'PRAGMA integrity_check')).toEqual([
      [{ integrity_check: 'ok' }],
    ]);
    expect(readFileSync(join(data, 'instance.key'))).toHaveLength(45);
    return readFileSync(log, 'utf8').includes('(INJECTED)');
  }

  // Each run takes some of them, others each time.
  const step = long ? 3 : 24;
  test.each(Object.keys(CALLS) as (keyof typeof CALLS)[])(
    'loses nothing and gives no view twice: %s',
    { timeout: long ? 300_000 : 60_000 },
    async (name) => {
      for (const more of ['', '+'])
        for (let nth = 1 + (seed % step); await withFault(name, `${nth}${more}`); nth += step);
    },
  );
});
