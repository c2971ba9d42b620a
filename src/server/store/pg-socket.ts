import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Place, Tls } from './pg-url';

/** Why a server was reached and yet not spoken to. */
export class TlsError extends Error {
  override readonly name = 'TlsError';
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

/** SSLRequest (PostgreSQL's protocol, 55.2.10): eight bytes, answered by one. */
const REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** A connection to the server, over TLS where that was asked for; rejects with what the system says, or a `TlsError`. */
export async function dial(place: Place, tls: Tls | undefined, seconds: number): Promise<Socket> {
  const local = place.host.startsWith('/');
  const socket = local
    ? connectPlain(join(place.host, `.s.PGSQL.${place.port}`))
    : connectPlain(place.port, place.host);
  // Whoever takes it over hears of it later; until then nobody may be left without a listener.
  socket.on('error', () => undefined);
  const timer = setTimeout(() => socket.destroy(late()), seconds * 1000);
  try {
    await heard(socket, 'connect');
    // On a socket of this machine nobody listens in; libpq does not ask there either.
    if (!tls || local) return socket;
    socket.write(REQUEST);
    const answer = String(await heard(socket, 'data'));
    if (answer === 'S') return await secured(socket, place.host, tls);
    if (answer === 'N' && tls.optional) return socket;
    throw answer === 'N'
      ? new TlsError('the server has no TLS', 'NO_TLS')
      : new TlsError('the server does not speak the protocol', 'NO_POSTGRESQL');
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function secured(socket: Socket, host: string, tls: Tls): Promise<Socket> {
  const { ca, cert, key, verify } = tls;
  const options: ConnectionOptions = {
    socket,
    host,
    ...(isIP(host) ? {} : { servername: host }),
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    rejectUnauthorized: verify !== 'no',
    ...(verify === 'name' ? {} : { checkServerIdentity: () => undefined }),
  };
  const over = connectTls(options);
  over.on('error', () => undefined);
  try {
    await heard(over, 'secureConnect');
    return over;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw new TlsError('the server was not accepted', code);
  }
}

/** The first argument of an event, or the error that came instead; an end is one, too. */
function heard(socket: Socket, event: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = (work: () => void) => {
      socket.off(event, told).off('error', failed).off('close', closed);
      work();
    };
    const told = (value: unknown) => settle(() => resolve(value));
    const failed = (error: Error) => settle(() => reject(error));
    const closed = () => failed(Object.assign(new Error('closed'), { code: 'ECONNRESET' }));
    socket.on(event, told).on('error', failed).on('close', closed);
  });
}

function late(): Error {
  return Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' });
}
