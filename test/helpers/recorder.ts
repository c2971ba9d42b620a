import { connect, createServer } from 'node:net';

/** A port that passes connections on to the service at `url`, and records every byte that clients send. */
export async function recorder(url: string) {
  const sent: Buffer[] = [];
  const { hostname, port } = new URL(url);
  const server = createServer((client) => {
    const service = connect(Number(port), hostname);
    client.on('data', (bytes) => sent.push(bytes));
    client.pipe(service).pipe(client);
    for (const [one, other] of [
      [client, service],
      [service, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    /** What clients have sent so far. */
    sent: () => Buffer.concat(sent).toString('latin1'),
    close: () => new Promise<unknown>((resolve) => server.close(resolve)),
  };
}
