import { existsSync, readFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { ServiceError, systemCode } from '../service-error';

export type Variables = Readonly<Record<string, string | undefined>>;

/** Where a PostgreSQL server is: a host, or the folder of its socket. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** How TLS is asked for, as libpq's `sslmode` has it. */
export interface Tls {
  /** Whether to go on without when the server has none. */
  readonly optional: boolean;
  /** Whether the chain is verified, and whether the name is, too. */
  readonly verify: 'no' | 'chain' | 'name';
  /** PEM; without it the authorities that Node.js trusts. */
  readonly ca?: Buffer | undefined;
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
}

/** All that a `postgres://` address says; those with several hosts are tried in order. */
export interface Address {
  readonly places: readonly Place[];
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Nothing for `sslmode=disable`. */
  readonly tls: Tls | undefined;
  /** Seconds. */
  readonly patience: number;
  /** Sent when a connection begins. */
  readonly startup: Readonly<Record<string, string>>;
}

/** The parameters of an address that are understood, and the variables of libpq that stand in for them. */
const parameters = {
  host: 'PGHOST',
  port: 'PGPORT',
  user: 'PGUSER',
  password: 'PGPASSWORD',
  dbname: 'PGDATABASE',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  channel_binding: 'PGCHANNELBINDING',
  gssencmode: 'PGGSSENCMODE',
  target_session_attrs: 'PGTARGETSESSIONATTRS',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  application_name: 'PGAPPNAME',
  options: 'PGOPTIONS',
} as const;

type Given = (name: keyof typeof parameters) => string | undefined;

/**
 * Reads `postgres://user:password@host:port/database?sslmode=…` as libpq does, several hosts and socket folders
 * included. Throws a `ServiceError` (input) that never quotes the address: it may hold a password.
 */
export function readAddress(url: string, env: Variables = {}, home = homedir()): Address {
  const match =
    /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(url);
  if (!match) throw wrong('begins with postgres:// and names user, host and database');
  const [, login = '', hosts = '', path = '', query = ''] = match;
  const [, user, password] = /^([^:]*)(?::(.*))?$/s.exec(login) ?? [];
  const asked = readQuery(query);
  const inPlace = { user, password, dbname: path };
  const given: Given = (name) =>
    asked.get(name) ||
    decoded((inPlace as Variables)[name] ?? '') ||
    env[parameters[name]] ||
    undefined;
  const name = given('user') ?? systemUser();
  const places = readPlaces(asked.get('host') ? '' : hosts, given);
  refuseUnkept(given);
  return {
    places,
    user: name,
    password: given('password') ?? '',
    database: given('dbname') ?? name,
    tls: readTls(given, home),
    patience: readPatience(given('connect_timeout')),
    startup: {
      application_name: given('application_name') ?? 'pwpush',
      ...(given('options') === undefined ? {} : { options: given('options') as string }),
    },
  };
}

function readQuery(query: string): Map<string, string> {
  const asked = new Map<string, string>();
  for (const pair of query.split('&').filter((one) => one !== '')) {
    const at = pair.indexOf('=');
    const name = decoded(at < 0 ? pair : pair.slice(0, at));
    if (!Object.hasOwn(parameters, name)) {
      // Behind a bare ? in a password stands the rest of it, and then an @.
      const quoted = /^\w+$/.test(name) && !query.includes('@') ? `, "${name}"` : '';
      throw wrong(`has a parameter that is not understood${quoted}`);
    }
    asked.set(name, at < 0 ? '' : decoded(pair.slice(at + 1)));
  }
  return asked;
}

function readPlaces(hosts: string, given: Given): Place[] {
  const parts = (given('host')?.split(',') ?? []).map((host) => ({ host, port: '' }));
  const inPlace = hosts
    .split(',')
    .filter((one) => one !== '')
    .map((text) => {
      const [, bracketed, plain, port = ''] =
        /^(?:\[([\da-fA-F:.]+)\]|([^:[\]]*))(?::(\d*))?$/.exec(text) ?? [];
      const host = bracketed ?? plain;
      if (host === undefined) throw wrong('names a host that cannot be read');
      return { host: decoded(host), port };
    });
  const all = inPlace.length > 0 ? inPlace : parts.length > 0 ? parts : [{ host: '', port: '' }];
  const ports = given('port')?.split(',') ?? [];
  return all.map(({ host, port }, index) => ({
    host: host || 'localhost',
    port: readPort(port || ports[index] || (ports.length === 1 ? ports[0] : '') || '5432'),
  }));
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535) return Number(text);
  throw wrong('names a port that is none');
}

/** What would make the connection stronger than it is made here must not be passed over. */
function refuseUnkept(given: Given): void {
  if (given('channel_binding') === 'require')
    throw wrong('asks for channel_binding=require, which is not supported');
  if (given('gssencmode') === 'require')
    throw wrong('asks for gssencmode=require, which is not supported');
  if (/standby|read-only/.test(given('target_session_attrs') ?? '')) {
    throw wrong('asks for a server that cannot be written to');
  }
}

function readTls(given: Given, home: string): Tls | undefined {
  const mode = given('sslmode') ?? 'prefer';
  const authority = given('sslrootcert') ?? usualAuthority(home);
  if (mode === 'disable') return undefined;
  const files = { cert: pem(given('sslcert')), key: pem(given('sslkey')) };
  // Whoever can have any name certified by a public authority passes a check of the chain alone.
  if (authority === 'system' && mode !== 'verify-full') {
    throw wrong('has sslrootcert=system, which needs sslmode=verify-full');
  }
  const ca = authority === 'system' ? undefined : pem(authority);
  if (mode === 'verify-full') return { ...files, optional: false, verify: 'name', ca };
  if (mode === 'verify-ca') {
    if (!ca) throw wrong('has sslmode=verify-ca, which needs sslrootcert');
    return { ...files, optional: false, verify: 'chain', ca };
  }
  // As libpq has it: an authority that is there is asked.
  if (mode === 'require') return { ...files, optional: false, verify: ca ? 'chain' : 'no', ca };
  if (mode === 'prefer' || mode === 'allow') return { ...files, optional: true, verify: 'no' };
  throw wrong('has an sslmode that is none');
}

function usualAuthority(home: string): string | undefined {
  const path = join(home, '.postgresql', 'root.crt');
  return existsSync(path) ? path : undefined;
}

function pem(path: string | undefined): Buffer | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new ServiceError(`${path} cannot be read (${systemCode(cause)})`, { cause });
  }
}

/** libpq waits for ever unless it is told otherwise; requests wait with us. */
function readPatience(text = ''): number {
  const seconds = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  return seconds > 0 ? Math.max(2, seconds) : 10;
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return 'postgres';
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong('is not encoded properly: a % stands for itself as %25');
  }
}

function wrong(what: string): ServiceError {
  return new ServiceError(`the address of the database ${what}`, {
    hint: 'such as postgres://user@host:5432/database?sslmode=verify-full; the password may come from PGPASSWORD',
    input: true,
  });
}
