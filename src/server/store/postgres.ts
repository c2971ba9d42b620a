import type { Socket } from 'node:net';
import postgres from 'postgres';
import { ServiceError, systemCode } from '../service-error';
import { Pool } from './pg-pool';
import { dial, TlsError } from './pg-socket';
import { type Connection, Lost, overPool, Unreachable } from './pg-transactions';
import type { Address, Place } from './pg-url';
import type { Database, Value } from './sql';

/** As many claims at once keep a server of some cores busy; several services share its usual 100 connections. */
const CONNECTIONS = 10;

/** Milliseconds that the server may be silent while it is asked something; waiting for a lock ends long before. */
const SILENCE = 30_000;

/**
 * Of each session: others' locks are waited for as long as SQLite's, and a program that stands still in the middle of
 * a transaction loses its own.
 */
const settings = `
  SET lock_timeout = 5000;
  SET idle_in_transaction_session_timeout = 10000;
  SET bytea_output = 'hex';
  SELECT current_setting('transaction_read_only') AS read_only,
    current_setting('server_encoding') AS encoding`;

interface Types extends Record<string, postgres.PostgresType> {
  bigint: postgres.PostgresType<number>;
}
type Client = postgres.Sql<{ bigint: number }>;

/**
 * The database at that address; requests wait for it for `patience` milliseconds. Throws a `ServiceError` when it cannot
 * be reached or does not let us in.
 */
export async function openPostgres(address: Address, patience?: number): Promise<Database> {
  const pool = new Pool(() => connect(address), CONNECTIONS);
  try {
    await pool.use(async () => undefined);
  } catch (error) {
    throw error instanceof Unreachable ? startError(error.cause, address) : error;
  }
  return overPool(pool, patience);
}

/** A connection to the first server that can be written to. */
async function connect(address: Address): Promise<Connection> {
  let cause: unknown;
  for (const place of address.places) {
    try {
      return await session(place, address);
    } catch (error) {
      cause = error;
    }
  }
  throw new Unreachable('', { cause });
}

async function session(place: Place, address: Address): Promise<Connection> {
  const socket = await dial(place, address.tls, address.patience);
  let alive = true;
  const client = clientOf(socket, place, address, () => {
    alive = false;
  });
  try {
    await prepare(client);
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
      if (!alive) throw new Lost();
      try {
        return await client<(R & object)[]>(strings, ...values);
      } catch (error) {
        if (isOfStatement(error)) throw error;
        alive = false;
        socket.destroy();
        throw new Lost('', { cause: error });
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
 * A client of one connection that is never made anew: postgres.js (3.4.9) would send the rest of a broken transaction
 * on the next one, each statement by itself, and may write to a socket that is gone.
 */
function clientOf(socket: Socket, place: Place, address: Address, onclose: () => void): Client {
  const { user, password, database, startup, patience } = address;
  let used = false;
  const options = {
    ...place,
    user,
    password,
    database,
    connection: startup,
    socket() {
      if (used || socket.destroyed) throw closed();
      used = true;
      return socket;
    },
    // Done in `dial`, and done already.
    ssl: false,
    max: 1,
    connect_timeout: patience,
    idle_timeout: 0,
    max_lifetime: null,
    fetch_types: false,
    target_session_attrs: 'primary' as const,
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    onnotice: () => undefined,
    onclose,
  };
  // Its types know nothing of `socket`, and nothing of null.
  return postgres(options as postgres.Options<Types>);
}

function closed(): Error {
  return Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' });
}

/** Why a server is no good although it let us in. */
class Unfit extends Error {}

async function prepare(client: Client): Promise<void> {
  const results = (await client.unsafe(settings)) as unknown as Record<string, string>[][];
  const row = results.at(-1)?.[0];
  if (row?.read_only !== 'off') throw new Unfit('cannot be written to');
  if (row?.encoding !== 'UTF8') throw new Unfit(`has the encoding ${row?.encoding}, not UTF8`);
}

/** Whether the server refused a statement, and the connection is as good as before. */
function isOfStatement(error: unknown): boolean {
  const { PostgresError } = postgres;
  // read_only_sql_transaction: the server is not the first one any more.
  return error instanceof PostgresError && error.severity === 'ERROR' && error.code !== '25006';
}

/** Why the service cannot start on that database; names all but the password. */
function startError(cause: unknown, { places, user, database }: Address): ServiceError {
  const { host, port } = places.at(-1) as Place;
  const where = `the database server ${host} port ${port}`;
  const code = systemCode(cause);
  if (cause instanceof Unfit) return new ServiceError(`${where} ${cause.message}`, { cause });
  if (cause instanceof TlsError) return tlsError(where, cause);
  if (code === '28P01' || code === '28000') {
    return new ServiceError(`${where} does not let the user "${user}" in (${code})`, {
      hint: 'check user and password of the address, and pg_hba.conf',
      cause,
    });
  }
  if (code === '3D000') {
    return new ServiceError(`${where} has no database "${database}"`, {
      hint: 'make one with createdb',
      cause,
    });
  }
  return new ServiceError(`${where} cannot be reached${code && ` (${code})`}`, {
    hint: 'check that PostgreSQL runs there, and the address in --database',
    cause,
  });
}

function tlsError(where: string, cause: TlsError): ServiceError {
  if (cause.code === 'NO_TLS') {
    return new ServiceError(`${where} has no TLS, which the address asks for`, { cause });
  }
  return new ServiceError(`${where} was not accepted${cause.code && ` (${cause.code})`}`, {
    hint: 'check sslmode and sslrootcert of the address',
    cause,
  });
}
