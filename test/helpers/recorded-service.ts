import { createServer } from 'node:net';
import { beforeAll } from 'vitest';
import { needsBrowser, serviceAt } from './browser';
import { listen, relay } from './listen';
import { person, type Served, serveBuilt } from './program';

/** The built service behind a port that records what browsers send it; known once the tests of a file run. */
export interface RecordedService {
  built: Served;
  service: ReturnType<typeof serviceAt>;
  sent: () => string;
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
    const sent: Buffer[] = [];
    const recorder = createServer((client) => {
      client.on('data', (bytes) => sent.push(bytes));
      client.pipe(relay(client, Number(new URL(made.built.url).port))).pipe(client);
    });
    const { port, close } = await listen(recorder);
    made.sent = () => Buffer.concat(sent).toString('latin1');
    made.origin = `http://pw.test:${port}`;
    made.service = serviceAt(made.built, new URL(made.origin).host);
    return async () => {
      await close();
      await made.built.stop();
    };
  });
  return made;
}
