import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import postgres from 'postgres';
import { raceWithLimit } from '../../platform/files/abort';
import { ServiceError, systemCode } from '../service-errors';
import { overPool, Unreachable, USE_LOCK } from './pg-database';
import { arraysOf } from './pg-group';
import { Pool } from './pg-pool';
import { ConnectionLost, type PgConnection } from './pg-transaction';
import type { PgAddress, PgHost } from './pg-url';
import { type Database, isRowStatement, type Value } from './sql';

/** Ten connections keep a server with several cores busy, and let several services share its default of 100. */
const CONNECTIONS = 10;

/** Milliseconds that a connection has to end in good order before it is destroyed. */
const ENDING = 5000;

/**
 * Settings of each session: the limit for locks is that of SQLite, the server ends transactions of a hung service, and
 * searches use indexes, even on a new database without statistics.
 */
const settings = `
  SET lock_timeout = 5000;
  SET idle_in_transaction_session_timeout = 10000;
  SET bytea_output = 'hex';
  SET jit = off;
  SET enable_seqscan = off;
  SET enable_bitmapscan = off;
  SET enable_hashjoin = off;
  SET enable_mergejoin = off;
  SELECT current_setting('transaction_read_only') AS read_only,
    current_setting('server_encoding') AS encoding,
    to_regclass('moved') IS NOT NULL AS moved,
    pg_try_advisory_lock_shared(${USE_LOCK}) AS usable`;

interface Types extends Record<string, postgres.PostgresType> {
  bigint: postgres.PostgresType<number>;
}
type Client = postgres.Sql<{ bigint: number }>;

/**
 * Opens a database. `address` is called for each connection, because the files that the address names may have
 * changed. A call waits `timeout` milliseconds for a server that does not respond.
 * @throws ServiceError when no server can be reached, it rejects the user, or it is a pooler that keeps no sessions
 */
export async function openPostgres(address: () => PgAddress, timeout?: number): Promise<Database> {
  const known = new Set<string>();
  const pool = new Pool(() => connectTo(address, known), CONNECTIONS);
  try {
    await pool.use(async () => undefined);
  } catch (error) {
    throw error instanceof Unreachable ? error.cause : error;
  }
  return overPool(pool, timeout);
}

/**
 * Connects to the first server that can be written to.
 * @param known the servers that are known to keep sessions
 */
async function connectTo(read: () => PgAddress, known: Set<string>): Promise<PgConnection> {
  const address = readable(read);
  let cause: unknown;
  for (const host of address.hosts) {
    const name = `${host.host} ${host.port}`;
    const connection = new Connection(host, address);
    const second = new Connection(host, address);
    const late = () => {
      connection.abandon('ETIMEDOUT');
      second.abandon('ETIMEDOUT');
    };
    const timer = setTimeout(late, 1000 * address.connectTimeout);
    try {
      if (!known.has(name)) await refuseSharing(connection, second);
      await connection.prepare(known.size > 0);
      known.add(name);
      return connection;
    } catch (error) {
      connection.abandon();
      cause = connection.lacksTls
        ? new UnusableServer('has no TLS, which the address requires')
        : error;
    } finally {
      clearTimeout(timer);
      second.abandon();
    }
  }
  throw new Unreachable(unreachable(cause, address));
}

/** @throws Unreachable when a file that the address names is missing or wrong */
function readable(read: () => PgAddress): PgAddress {
  try {
    return read();
  } catch (error) {
    throw error instanceof ServiceError ? new Unreachable(error) : error;
  }
}

/** Thrown when the server accepts the connection but cannot be used. */
class UnusableServer extends Error {
  constructor(
    message: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** A connection has its own client, which connects once; docs/decisions.md says what the pool of postgres.js breaks. */
class Connection implements PgConnection {
  alive = true;
  /** Whether the server refused TLS, which the address requires. */
  lacksTls = false;
  /** Each rejects a promise that waits for this connection. */
  private readonly waits = new Set<(error: Error) => void>();
  private socket: Socket | undefined;
  private readonly client: Client;

  constructor(
    private readonly to: PgHost,
    { user, password, database, ssl, startup }: PgAddress,
  ) {
    const { host } = to;
    // Like libpq, the connection does not use TLS on Unix sockets.
    const tls = host.startsWith('/') ? false : ssl;
    const options = {
      ...to,
      user,
      password,
      database,
      connection: startup,
      socket: () => this.open(typeof tls === 'object'),
      // By default, the library passes the host to TLS only if it is not an IP address.
      ssl: typeof tls === 'object' ? { ...tls, host } : tls,
      sslnegotiation: null,
      max: 1,
      // The library's limit would end with the login; `connectTo` has its own.
      connect_timeout: 0,
      idle_timeout: 0,
      max_lifetime: null,
      fetch_types: false,
      target_session_attrs: 'primary' as const,
      types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
      onnotice: () => undefined,
      onclose: () => {
        this.alive = false;
        // The library first rejects the queries that it still knows, with the reason.
        setImmediate(() => this.abandon());
      },
    };
    // The package's types lack `socket`, and null for `max_lifetime`.
    this.client = postgres(options as postgres.Options<Types>);
  }

  private open(needsTls: boolean): Socket {
    const { host, port } = this.to;
    if (this.socket) throw connectionError();
    this.socket = host.startsWith('/')
      ? connect(join(host, `.s.PGSQL.${port}`))
      : connect(port, host);
    if (needsTls)
      this.socket.once('data', ([answer]: Buffer) => {
        this.lacksTls = answer !== 'S'.charCodeAt(0);
      });
    // The library reads `host` of the socket for TLS.
    return Object.assign(this.socket, { host });
  }

  /** Returns the server process that a statement reaches, and the process of the login; a pooler makes them differ. */
  async process(): Promise<{ pid: number | undefined; login: number }> {
    const query = this.client.unsafe<{ pid: number }[]>('SELECT pg_backend_pid() AS pid');
    const result = await this.untilEnd(query);
    return { pid: result[0]?.pid, login: result.state.pid };
  }

  /** @param isLater whether the database was open before: its first connection reads where the data was moved to */
  async prepare(isLater: boolean): Promise<void> {
    const query = this.untilEnd(this.client.unsafe(settings));
    const results = (await query) as unknown as Record<string, unknown>[][];
    const row = results.at(-1)?.[0];
    if (row?.read_only !== 'off') throw new UnusableServer('cannot be written to (25006)');
    if (row?.encoding !== 'UTF8')
      throw new UnusableServer(`has the encoding ${row?.encoding}, not UTF8`);
    if (row?.usable !== true) throw new UnusableServer('is in use by pwpush serve rekey or copy');
    if (row?.moved && isLater) throw new UnusableServer('has data that was moved meanwhile');
  }

  async run<R>(strings: TemplateStringsArray, values: Value[]) {
    try {
      const query = isRowStatement(strings)
        ? this.client<(R & object)[]>(strings.ofMany, ...arraysOf([values]))
        : this.client<(R & object)[]>(strings, ...values);
      return await this.untilEnd(query);
    } catch (error) {
      if (isStatementError(error)) throw error;
      this.abandon();
      throw new ConnectionLost('', { cause: error });
    }
  }

  abandon(code?: string): void {
    this.alive = false;
    this.socket?.destroy();
    for (const reject of this.waits) reject(connectionError(code));
  }

  async end(): Promise<void> {
    const end = this.untilEnd(this.client.end()).catch(() => undefined);
    await raceWithLimit(end, { milliseconds: ENDING }, () => undefined);
    this.abandon();
  }

  /**
   * Settles as `work` does, or rejects at the end of the connection: the library may never settle what it has queued.
   */
  private async untilEnd<T>(work: PromiseLike<T>): Promise<T> {
    if (!this.alive) throw connectionError();
    return new Promise((resolve, reject) => {
      this.waits.add(reject);
      work.then(resolve, reject).then(() => this.waits.delete(reject));
    });
  }
}

function connectionError(code = 'ECONNRESET'): Error {
  return Object.assign(new Error('the connection ended'), { code });
}

/**
 * Refuses a pooler that gives each transaction any session, as PgBouncer does with `pool_mode = transaction`: settings
 * and locks would be those of other clients, and statements not be prepared where they run.
 */
async function refuseSharing(connection: Connection, second: Connection): Promise<void> {
  const { pid, login } = await connection.process();
  if (pid === login) return;
  // A pooler takes the session that was used last, or the one unused for longest. Several tries are needed, because
  // other clients may use these sessions, too.
  for (let tries = 0; tries < 5; tries += 1) {
    const [own, others] = [await connection.process(), await second.process()];
    if (own.pid === pid && others.pid !== pid) continue;
    throw new UnusableServer(
      'is a pooler in transaction mode, which keeps no sessions',
      'use its port for sessions (PgBouncer: pool_mode = session), or the port of PostgreSQL',
    );
  }
}

/** Whether the server rejected a statement and the connection remains usable. */
function isStatementError(error: unknown): boolean {
  const { PostgresError } = postgres;
  // read_only_sql_transaction: the server is not the primary any more.
  return error instanceof PostgresError && error.severity === 'ERROR' && error.code !== '25006';
}

/** Returns the error for the last server; it never contains the password. */
function unreachable(cause: unknown, address: PgAddress): ServiceError {
  const { host, port } = address.hosts.at(-1) as PgHost;
  const [what, hint] = reasonOf(cause, address);
  return new ServiceError(`the database server ${host} port ${port} ${what}`, { hint, cause });
}

function reasonOf(
  cause: unknown,
  { user, database }: PgAddress,
): [what: string, hint: string | undefined] {
  const code = systemCode(cause);
  if (cause instanceof UnusableServer) return [cause.message, cause.hint];
  if (code === '28P01' || code === '28000') {
    const hint = 'check user and password of the address, and pg_hba.conf';
    return [`refused the user "${user}" (${code})`, hint];
  }
  if (code === '3D000') return [`has no database "${database}"`, 'create it with createdb'];
  if (code === '53300')
    return [`has no connection left (${code})`, 'raise its max_connections, or end other clients'];
  if (code === '57P03') return [`is starting or stopping (${code})`, 'try again soon'];
  if (/CERT|_TLS_|_SSL_|^UNABLE_TO|^EPROTO$/.test(code))
    return [`could not be verified (${code})`, 'check sslmode and sslrootcert of the address'];
  const hint = 'check that PostgreSQL is running, and its address';
  return [`cannot be reached${code && ` (${code})`}`, hint];
}
