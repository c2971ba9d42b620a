import { createServer } from 'node:net';
import { Transform } from 'node:stream';
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
      const service = relay(client, Number(new URL(made.built.url).port));
      client.pipe(asOverHttps()).pipe(service).pipe(client);
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

/** Over https alone, browsers say of a page that it is opened in a tab. */
function asOverHttps(): Transform {
  const said = 'Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n';
  return new Transform({
    transform(bytes: Buffer, _, done) {
      const text = bytes.toString('latin1');
      const isPage = /^GET .*\r\nUpgrade-Insecure-Requests: 1\r\n/is.test(text);
      done(null, isPage ? Buffer.from(text.replace('\r\n', `\r\n${said}`), 'latin1') : bytes);
    },
  });
}
