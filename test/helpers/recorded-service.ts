import { afterAll, beforeAll } from 'vitest';
import { needsBrowser, serviceAt } from './browser';
import { person, type Served, serveBuilt } from './program';
import { recorder } from './recorder';

/** The built service behind a port that records what browsers send it; known once the tests of a file run. */
export interface RecordedService {
  built: Served;
  service: ReturnType<typeof serviceAt>;
  wire: Awaited<ReturnType<typeof recorder>>;
  /** Plain http, which is no secure context. */
  origin: string;
}

/** Starts it for the tests of a file, where there is a browser. */
export function recordedService(...words: readonly string[]): RecordedService {
  const { env } = person();
  const made = {} as RecordedService;
  beforeAll(async () => {
    if (needsBrowser.skip) return;
    made.built = await serveBuilt(env, ['--trust-proxy', ...words]);
    made.service = serviceAt(made.built.url, made.built.token);
    made.wire = await recorder(made.built.url);
    made.origin = `http://pw.test:${made.wire.port}`;
  });
  afterAll(async () => {
    await made.wire?.close();
    await made.built?.stop();
  });
  return made;
}
