import { createServer } from 'node:net';
import { listen, relay } from './listen';

/** A port that passes connections on to the service at `url`, and records every byte that clients send. */
export async function recorder(url: string) {
  const sent: Buffer[] = [];
  const server = createServer((client) => {
    client.on('data', (bytes) => sent.push(bytes));
    client.pipe(relay(client, Number(new URL(url).port))).pipe(client);
  });
  const { port, close } = await listen(server);
  /** What clients have sent so far. */
  return { port, sent: () => Buffer.concat(sent).toString('latin1'), close };
}
