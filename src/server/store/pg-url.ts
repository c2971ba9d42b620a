import { existsSync, readFileSync } from 'node:fs';
import { platform, userInfo } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { asRoot } from '../../platform/files/acting';
import { whyUnreadable } from '../../platform/files/file-error';
import { readVariable } from '../../platform/files/read-variable';
import { homeFolder } from '../../platform/files/user-folder';
import { invalidInput, ServiceError } from '../service-errors';
import { type PemFile, tlsPair } from '../tls-pair';

export type Variables = Readonly<Record<string, string | undefined>>;

export interface PgHost {
  /** A host name, an IP address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
}

/** TLS for the library `postgres`: none, TLS without verification if the server has it, or TLS with these options. */
type PgTls =
  | false
  | 'prefer'
  | Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'checkServerIdentity'>;

export interface PgAddress {
  readonly hosts: readonly PgHost[];
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly ssl: PgTls;
  /** Seconds. */
  readonly connectTimeout: number;
  /** Parameters of the startup message. */
  readonly startup: Readonly<Record<string, string>>;
}

/** The supported URL parameters, with libpq's environment variables for their defaults. */
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

type Parameter = (name: keyof typeof parameters) => string | undefined;

/**
 * Parses `postgres://user:password@host:port/database?sslmode=…` as libpq does (PostgreSQL manual, Connection URIs),
 * with several hosts and socket folders. pg-connection-string (2.14) is not used: it has no list of hosts, treats
 * `sslmode` differently, and passes on unknown parameters.
 * @throws ServiceError (input) that never quotes the URL, which may contain a password
 */
export function readAddress(
  url: string,
  env: Variables = {},
  home = homeFolder({ env, platform: platform() }, () => userInfo().homedir),
): PgAddress {
  if (!/^postgres(?:ql)?:\/\//.test(url))
    throw wrong('must start with postgres:// and contain user, host and database');
  const match = /^\w+:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^@?#]*))?(?:\?([^#]*))?$/.exec(url);
  if (!match) throw wrong(UNENCODED);
  const [, login = '', hosts = '', path = '', query = ''] = match;
  const [, user, password] = /^([^:]*)(?::(.*))?$/s.exec(login) ?? [];
  const values = readQuery(query);
  const inPlace = { user, password, dbname: path };
  const parameter: Parameter = (name) =>
    values.get(name) ||
    decoded((inPlace as Variables)[name] ?? '') ||
    readVariable(env, parameters[name]);
  const name = parameter('user') ?? systemUser();
  const servers = readHosts(values.get('host') ? '' : hosts, parameter);
  refuseUnsupported(parameter);
  return {
    hosts: servers,
    user: name,
    password:
      parameter('password') ?? passwordIn(readVariable(env, 'PWPUSH_DB_PASSWORD_FILE')) ?? '',
    database: parameter('dbname') ?? name,
    ssl: readTls(parameter, home),
    connectTimeout: readTimeout(parameter('connect_timeout')),
    startup: {
      application_name: parameter('application_name') ?? 'pwpush',
      ...(parameter('options') === undefined ? {} : { options: parameter('options') as string }),
    },
  };
}

function readQuery(query: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const pair of query.split('&').filter((part) => part !== '')) {
    const equals = pair.indexOf('=');
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    if (!Object.hasOwn(parameters, name)) {
      // After an unencoded ? in a password, the "parameter" is the rest of the password.
      if (query.includes('@')) throw wrong(UNENCODED);
      throw wrong(`has an unknown parameter${/^\w+$/.test(name) ? `, "${name}"` : ''}`);
    }
    values.set(name, equals < 0 ? '' : decoded(pair.slice(equals + 1)));
  }
  return values;
}

function readHosts(hosts: string, parameter: Parameter): PgHost[] {
  const parts = (parameter('host')?.split(',') ?? []).map((host) => ({ host, port: '' }));
  const inPlace = hosts
    .split(',')
    .filter((part) => part !== '')
    .map((text) => {
      const [, bracketed, plain, port = ''] =
        /^(?:\[([\da-fA-F:.]+)\]|([^:[\]]*))(?::(\d*))?$/.exec(text) ?? [];
      const host = bracketed ?? plain;
      if (host === undefined) throw wrong('has an invalid host');
      return { host: decoded(host), port };
    });
  const all = inPlace.length > 0 ? inPlace : parts.length > 0 ? parts : [{ host: '', port: '' }];
  const ports = parameter('port')?.split(',') ?? [];
  return all.map(({ host, port }, index) => ({
    host: host || 'localhost',
    port: readPort(port || ports[index] || (ports.length === 1 ? ports[0] : '') || '5432'),
  }));
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535) return Number(text);
  throw wrong('has an invalid port');
}

/** Refuses requirements that this program would not meet; ignoring them would weaken the connection. */
function refuseUnsupported(parameter: Parameter): void {
  for (const name of ['channel_binding', 'gssencmode'] as const)
    if (parameter(name) === 'require')
      throw wrong(`asks for ${name}=require, which is not supported: remove it`);
  if (/standby|read-only/.test(parameter('target_session_attrs') ?? ''))
    throw wrong('asks for a server that cannot be written to');
}

/** Reads `sslmode` as libpq does, except that a client certificate requires TLS. */
function readTls(parameter: Parameter, home: string | undefined): PgTls {
  const mode = parameter('sslmode') ?? 'prefer';
  const authority = parameter('sslrootcert') ?? usualAuthority(home);
  if (mode === 'disable') return false;
  const files = clientPair(parameter('sslcert'), parameter('sslkey'));
  // Anyone can get a certificate of a public authority, so checking the chain alone proves nothing.
  if (authority === 'system' && mode !== 'verify-full')
    throw wrong('has sslrootcert=system, which requires sslmode=verify-full');
  const ca = authority === 'system' || authority === undefined ? undefined : contentOf(authority);
  const verified = { ...files, ca, rejectUnauthorized: true };
  if (mode === 'verify-full') return verified;
  if (mode === 'verify-ca' && !ca) throw wrong('has sslmode=verify-ca, which requires sslrootcert');
  // As in libpq, `require` verifies the chain when there is a root certificate.
  if (mode === 'verify-ca' || (mode === 'require' && ca))
    return { ...verified, checkServerIdentity: () => undefined };
  if (mode !== 'require' && mode !== 'prefer' && mode !== 'allow')
    throw wrong('has an invalid sslmode');
  return mode === 'require' || files ? { ...files, rejectUnauthorized: false } : 'prefer';
}

/** Reads the client certificate and its key, which may be in one file. */
function clientPair(cert: string | undefined, key = cert) {
  if (key === undefined) return undefined;
  const file = (path: string): PemFile => ({ path, bytes: contentOf(path) });
  return tlsPair(file(cert ?? key), file(key));
}

function usualAuthority(home: string | undefined): string | undefined {
  if (home === undefined) return undefined;
  const path = join(home, '.postgresql', 'root.crt');
  return existsSync(path) ? path : undefined;
}

/** Reads the password without the line end that editors and `echo` add. */
function passwordIn(path: string | undefined): string | undefined {
  return path
    ? contentOf(path)
        .toString()
        .replace(/\r?\n$/, '')
    : undefined;
}

function contentOf(path: string): Buffer {
  try {
    return asRoot(() => readFileSync(path));
  } catch (cause) {
    throw new ServiceError(`cannot read "${path}": ${whyUnreadable(cause)}`, { cause });
  }
}

/** Returns seconds, at least 2 as in libpq. The default is 10, not forever as in libpq: HTTP requests wait, too. */
function readTimeout(text = ''): number {
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

/** Does not say which of the characters the password has. */
const UNENCODED =
  'is not encoded correctly: in user and password, write @ as %40, / as %2F, ? as %3F and # as %23';

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong('is not encoded correctly: write % as %25');
  }
}

function wrong(what: string): ServiceError {
  return invalidInput(
    `the address of the database ${what}`,
    'such as postgres://user@host:5432/database?sslmode=verify-full; the password may come from PGPASSWORD or PWPUSH_DB_PASSWORD_FILE',
  );
}
