import { connect } from 'node:net';
import { socketServer } from './listen';

/**
 * A SOCKS5 proxy (RFC 1928, 1929): whatever is asked for, it goes to `port` of this machine. With a login, it requires that;
 * with a refusal, it replies with that code.
 */
export async function socksProxy(port: number, rules: { login?: string; refusal?: number } = {}) {
  const seen: string[] = [];
  const { url } = await socketServer((client) => {
    let buffer = Buffer.alloc(0);
    let step = hello;
    client.on('data', receive);
    function receive(data: Buffer) {
      buffer = Buffer.concat([buffer, data]);
      step();
    }
    function next(reply: readonly number[], then: () => void) {
      buffer = Buffer.alloc(0);
      step = then;
      client.write(Buffer.from(reply));
    }
    function hello() {
      if (buffer.length < 2 + (buffer[1] ?? 0)) return;
      const wanted = rules.login === undefined ? 0 : 2;
      if (buffer.subarray(2).includes(wanted)) next([5, wanted], wanted === 2 ? login : target);
      else client.end(Buffer.from([5, 0xff]));
    }
    function login() {
      const [, size = 0] = buffer;
      const name = buffer.subarray(2, 2 + size).toString();
      const given = `${name}:${buffer.subarray(3 + size).toString()}`;
      if (given === rules.login) next([1, 0], target);
      else client.end(Buffer.from([1, 1]));
    }
    function target() {
      const [, , , type] = buffer;
      const address = buffer.subarray(4, -2);
      const host = type === 3 ? address.subarray(1) : type === 1 ? address.join('.') : address.toString('hex');
      seen.push(`${host} ${buffer.readUInt16BE(buffer.length - 2)}`);
      const answer = (code: number) => Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
      if (rules.refusal !== undefined) return void client.end(answer(rules.refusal));
      client.off('data', receive);
      const upstream = connect(port, '127.0.0.1', () => {
        client.write(answer(0));
        upstream.pipe(client).pipe(upstream);
      });
      upstream.on('error', () => {});
    }
  });
  return { seen, host: url.replace('http://', '') };
}
