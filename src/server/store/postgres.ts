// Kept in place of pg (8.23) with pg-pool, which was tried: of 395 lines it would have saved about 180, for eight
// packages and 45 KB of bundle. It reads password files and libpq's variables itself, reports missing TLS only by the
// text of a message, and needs a patched client for several hosts. Processor time per request was the same: 5.9 ms
// (postgres.js) and 6.4 ms (pg) for a creation, 4.3 and 4.0 ms for a view, 4.9 and 5.0 ms for the last view.
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import postgres from 'postgres';
import { ServiceError, systemCode } from '../service-errors';
import { ConnectionLost, overPool, type PgConnection, Unreachable, USE_LOCK } from './pg-database';
import { arraysOf } from './pg-group';
import { Pool } from './pg-pool';
import type { PgAddress, PgHost, PgTls } from './pg-url';
import { type Database, isRowStatement, type Value } from './sql';

/** Enough to keep a server with several cores busy; several services share its default of 100 connections. */
const CONNECTIONS = 10;

/** Milliseconds that the server may be silent during a statement; waiting for a lock ends long before. */
const SILENCE = 30_000;

/**
 * Settings of each session: the same limit for locks as with SQLite, the end of a transaction whose service hangs, and
 * indexes for all that is looked for, even on a new database without statistics.
 */
const settings = `
  SET lock_timeout = 5000;
  SET idle_in_transaction_session_timeout = 10000;
  SET bytea_output = 'hex';
  SET jit = off;
  SET enable_seqscan = off;
  SET enable_hashjoin = off;
  SET enable_mergejoin = off;
  SELECT current_setting('transaction_read_only') AS read_only,
    current_setting('server_encoding') AS encoding,
    pg_try_advisory_lock_shared(${USE_LOCK}) AS usable`;

interface Types extends Record<string, postgres.PostgresType> {
  bigint: postgres.PostgresType<number>;
}
type Client = postgres.Sql<{ bigint: number }>;

/**
 * Opens the database at that address. A request waits `timeout` milliseconds for a server that does not respond.
 * @throws ServiceError when no server can be reached, or it rejects the user
 */
export async function openPostgres(address: PgAddress, timeout?: number): Promise<Database> {
  const pool = new Pool(() => connect(address), CONNECTIONS);
  try {
    await pool.use(async () => undefined);
  } catch (error) {
    throw error instanceof Unreachable ? startError(error.cause, address) : error;
  }
  return overPool(pool, timeout);
}

/** Connects to the first server that can be written to. */
async function connect(address: PgAddress): Promise<PgConnection> {
  let cause: unknown;
  for (const host of address.hosts) {
    try {
      return await openSession(host, address);
    } catch (error) {
      cause = error;
    }
  }
  throw new Unreachable('', { cause });
}

async function openSession(host: PgHost, address: PgAddress): Promise<PgConnection> {
  const socket = await openSocket(host, address.tls, address.connectTimeout);
  let alive = true;
  const client = clientOf(socket, host, address, () => {
    alive = false;
  });
  try {
    await prepareSession(client);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  socket.on('timeout', () => socket.destroy());
  const inUse = (taken: boolean) => {
    socket.setTimeout(taken ? SILENCE : 0);
    if (taken) socket.ref();
    else socket.unref();
  };
  inUse(false);
  return {
    get alive() {
      return alive;
    },
    async run<R>(strings: TemplateStringsArray, values: Value[]) {
      if (!alive) throw new ConnectionLost();
      try {
        return isRowStatement(strings)
          ? await client<(R & object)[]>(strings.ofMany, ...arraysOf([values]))
          : await client<(R & object)[]>(strings, ...values);
      } catch (error) {
        if (isStatementError(error)) throw error;
        alive = false;
        socket.destroy();
        throw new ConnectionLost('', { cause: error });
      }
    },
    inUse,
    waitLong: () => void socket.setTimeout(0),
    abandon() {
      alive = false;
      socket.destroy();
    },
    end: () => client.end({ timeout: 5 }),
  };
}

/**
 * A client for one connection that never reconnects. postgres.js (3.4.9) would send the rest of a broken transaction on
 * a new connection, statement by statement, and may write to a closed socket.
 */
function clientOf(socket: Socket, host: PgHost, address: PgAddress, onclose: () => void): Client {
  const { user, password, database, startup, connectTimeout } = address;
  let used = false;
  const options = {
    ...host,
    user,
    password,
    database,
    connection: startup,
    socket() {
      if (used || socket.destroyed) throw socketError('ECONNRESET');
      used = true;
      return socket;
    },
    // `openSocket` has done it.
    ssl: false,
    max: 1,
    connect_timeout: connectTimeout,
    idle_timeout: 0,
    max_lifetime: null,
    fetch_types: false,
    target_session_attrs: 'primary' as const,
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    onnotice: () => undefined,
    onclose,
  };
  // The package's types lack `socket`, and null for `max_lifetime`.
  return postgres(options as postgres.Options<Types>);
}

/** The server accepted the connection but cannot be used. */
class UnusableServer extends Error {}

async function prepareSession(client: Client): Promise<void> {
  const results = (await client.unsafe(settings)) as unknown as Record<string, unknown>[][];
  const row = results.at(-1)?.[0];
  if (row?.read_only !== 'off') throw new UnusableServer('cannot be written to');
  if (row?.encoding !== 'UTF8') {
    throw new UnusableServer(`has the encoding ${row?.encoding}, not UTF8`);
  }
  if (row?.usable !== true) throw new UnusableServer('is in use by pwpush serve rekey');
}

/** Whether the server rejected a statement and the connection remains usable. */
function isStatementError(error: unknown): boolean {
  const { PostgresError } = postgres;
  // read_only_sql_transaction: the server is not the primary any more.
  return error instanceof PostgresError && error.severity === 'ERROR' && error.code !== '25006';
}

/** TLS with a server that was reached failed. */
class PgTlsError extends Error {
  override readonly name = 'PgTlsError';
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

/** SSLRequest (PostgreSQL manual, SSL Session Encryption): eight bytes, answered by one. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/**
 * Connects, with TLS where `tls` asks for it. Rejects with the system's error; ETIMEDOUT after that many seconds.
 * @throws PgTlsError
 */
async function openSocket(
  { host, port }: PgHost,
  tls: PgTls | undefined,
  seconds: number,
): Promise<Socket> {
  const local = host.startsWith('/');
  const socket = local ? connectTcp(join(host, `.s.PGSQL.${port}`)) : connectTcp(port, host);
  // postgres.js adds its listener later; until then an 'error' event would end the process.
  socket.on('error', () => undefined);
  const timer = setTimeout(() => socket.destroy(socketError('ETIMEDOUT')), seconds * 1000);
  try {
    await nextEvent(socket, 'connect');
    // Like libpq, which does not use TLS on Unix sockets.
    if (!tls || local) return socket;
    socket.write(SSL_REQUEST);
    const answer = String(await nextEvent(socket, 'data'));
    if (answer === 'S') return await upgradeToTls(socket, host, tls);
    if (answer === 'N' && tls.optional) return socket;
    throw answer === 'N'
      ? new PgTlsError('the server has no TLS', 'NO_TLS')
      : new PgTlsError('the server does not speak the protocol', 'NO_POSTGRESQL');
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function upgradeToTls(socket: Socket, host: string, tls: PgTls): Promise<Socket> {
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
  const secure = connectTls(options);
  secure.on('error', () => undefined);
  try {
    await nextEvent(secure, 'secureConnect');
    return secure;
  } catch (error) {
    throw new PgTlsError('the server was not accepted', systemCode(error));
  }
}

/** Resolves with the first argument of the next such event; rejects on 'error' or 'close'. */
function nextEvent(socket: Socket, event: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stop = () => socket.off(event, done).off('error', fail).off('close', close);
    const done = (value: unknown) => {
      stop();
      resolve(value);
    };
    const fail = (error: Error) => {
      stop();
      reject(error);
    };
    const close = () => fail(socketError('ECONNRESET'));
    socket.on(event, done).on('error', fail).on('close', close);
  });
}

function socketError(code: 'ECONNRESET' | 'ETIMEDOUT'): Error {
  return Object.assign(new Error('the connection failed'), { code });
}

/** Why the service cannot start with this database; never contains the password. */
function startError(cause: unknown, { hosts, user, database }: PgAddress): ServiceError {
  const { host, port } = hosts.at(-1) as PgHost;
  const server = `the database server ${host} port ${port}`;
  const code = systemCode(cause);
  if (cause instanceof UnusableServer) {
    return new ServiceError(`${server} ${cause.message}`, { cause });
  }
  if (cause instanceof PgTlsError) return tlsError(server, cause);
  if (code === '28P01' || code === '28000') {
    return new ServiceError(`${server} refused the user "${user}" (${code})`, {
      hint: 'check user and password of the address, and pg_hba.conf',
      cause,
    });
  }
  if (code === '3D000') {
    return new ServiceError(`${server} has no database "${database}"`, {
      hint: 'create it with createdb',
      cause,
    });
  }
  return new ServiceError(`${server} cannot be reached${code && ` (${code})`}`, {
    hint: 'check that PostgreSQL is running, and the address in --database',
    cause,
  });
}

function tlsError(server: string, cause: PgTlsError): ServiceError {
  if (cause.code === 'NO_TLS') {
    return new ServiceError(`${server} has no TLS, which the address requires`, { cause });
  }
  return new ServiceError(`${server} could not be verified${cause.code && ` (${cause.code})`}`, {
    hint: 'check sslmode and sslrootcert of the address',
    cause,
  });
}
