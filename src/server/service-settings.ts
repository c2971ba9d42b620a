import { limits } from '../contract';
import { parseUrl } from '../loopback';
import { ServiceError } from './service-error';

/** The parameters of scrypt (RFC 7914, section 2). */
export interface PassphraseCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** Minimum, maximum and default of a number that a creation request may contain. */
export interface Bound {
  readonly min: number;
  readonly max: number;
  readonly default: number;
}

/** The days and views that this instance grants. */
export interface Bounds {
  readonly days: Bound;
  readonly views: Bound;
}

/** A burst of `requests`, refilled evenly over `milliseconds`. */
export interface Rate {
  readonly requests: number;
  readonly milliseconds: number;
}

/** The rate limit of one client address. */
export interface RateLimit extends Rate {
  /** Whether requests from this machine are exempt. */
  readonly sparesLoopback: boolean;
}

/** The minimum rate at which a client must read a response. */
export interface ReadingRate {
  readonly bytes: number;
  readonly milliseconds: number;
}

export type LogFormat = 'text' | 'json';
export type LogLevel = 'info' | 'warning' | 'error';

/** Resource usage of this process. */
export interface Usage {
  /** Bytes of resident memory. */
  readonly resident: number;
  /** Seconds of processor time. */
  readonly cpu: number;
}

/** How systemd started this process: its environment variables and process id. */
export interface Supervision {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
}

/** The settings of `pwpush serve`. */
export interface ServiceSettings {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** The base of links; by default the host that a request names. */
  readonly publicUrl?: string | undefined;
  /** The folder of the database and the instance key; ignored when ephemeral. */
  readonly data: string;
  readonly ephemeral: boolean;
  /** `postgres://…`; by default a SQLite file in `data`. The instance key stays in `data` either way. */
  readonly database?: string | undefined;
  /** Path of the instance key; by default a file in `data`. */
  readonly instanceKeyFile?: string | undefined;
  readonly anonymous: boolean;
  /** Whether callers without a token may push files too. */
  readonly anonymousFiles?: boolean | undefined;
  /** Shown on the pages in place of the program's name. */
  readonly title?: string | undefined;
  /** Path of an image that is shown on the pages. */
  readonly logo?: string | undefined;
  /** Whom readers of the pages ask: an e-mail address, a web address or a name. */
  readonly contact?: string | undefined;
  readonly defaultDays?: number | undefined;
  readonly maxDays?: number | undefined;
  readonly defaultViews?: number | undefined;
  readonly maxViews?: number | undefined;
  /** Maximum size of a file in bytes. */
  readonly maxFileSize?: number | undefined;
  /** Bytes of memory for request bodies and responses in progress. */
  readonly maxBuffer?: number | undefined;
  /** Maximum number of open connections. */
  readonly maxConnections?: number | undefined;
  /** Bytes of a response that a client must read per minute; 0 for no minimum. */
  readonly minRate?: number | undefined;
  /** Failures that have an entry of their own in the audit log of a push. */
  readonly maxFailures?: number | undefined;
  /** Bytes that stay free on the disk of the data; with less, pushes are refused. */
  readonly reserve?: number | undefined;
  /** Days for which an expired push is kept with its audit log; 0 for until the next sweep. */
  readonly keepDays?: number | undefined;
  /** The rate limit of one address, this machine included; by default one that exempts this machine. */
  readonly rateLimit?: Rate | 'off' | undefined;
  readonly trustProxy: boolean;
  /** Paths of PEM files; either both or none. */
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly log?: LogFormat | undefined;
  /** Address of the metrics; 0 for any free port. Without a port there are none. */
  readonly metricsHost?: string | undefined;
  readonly metricsPort?: number | undefined;
}

/** What the service needs from the process that it runs in. */
export interface ServiceIo {
  /** Writes a line of the log. */
  readonly log: (line: string, level: LogLevel) => void;
  readonly warn: (line: string) => void;
  readonly now: () => Date;
  readonly version: string;
  /** For libpq's variables (PGPASSWORD …), defaults for what the database URL leaves out. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Runs `load` without Node's experimental warnings. */
  readonly quietly?: (<T>(load: () => T) => T) | undefined;
  readonly usage?: (() => Usage) | undefined;
  /** Set if systemd may have passed sockets, or expects notifications. */
  readonly supervision?: Supervision | undefined;
  /** Milliseconds that a stop waits for running requests; 30,000 by default. */
  readonly grace?: number | undefined;
  /** Of new passphrases. No option of the program sets it: tests do, which hash hundreds. */
  readonly passphraseCost?: PassphraseCost | undefined;
}

const DAYS_AT_MOST = 36_500;
const VIEWS_AT_MOST = 1_000_000;
const FILE_BYTES = 100 * 1024 ** 2;
/** High, as all jobs of a CI system may share an address; passphrase attempts are limited separately. */
const DEFAULT_RATE: RateLimit = { requests: 100, milliseconds: 1000, sparesLoopback: true };
const FILE_BYTES_AT_MOST = 1024 ** 4;
/** With the 100 MiB of the program it fits a machine of 256 MiB. */
const BUFFER_BYTES = 64 * 1024 ** 2;
/** One client's quarter fits one JSON body. */
const BUFFER_BYTES_AT_LEAST = 32 * 1024 ** 2;
/** A connection takes 10 to 20 KiB. */
const CONNECTIONS = 4096;
const CONNECTIONS_AT_LEAST = 16;
const RESERVE = 32 * 1024 ** 2;
const KEEP_DAYS = 90;
/** Bytes per minute; a phone with bad reception reads twenty times as fast. */
const MIN_RATE = 50_000;
const FAILURES = 1000;
/** Of an audit log, 10,000 entries can be read. */
const FAILURES_AT_MOST = 9000;

/**
 * The bounds of days and views.
 * @throws ServiceError when maximum and default contradict
 */
export function boundsOf(settings: ServiceSettings): Bounds {
  const { defaultDays, maxDays, defaultViews, maxViews } = settings;
  return {
    days: bound('days', limits.days, DAYS_AT_MOST, maxDays, defaultDays),
    views: bound('views', limits.views, VIEWS_AT_MOST, maxViews, defaultViews),
  };
}

function bound(
  what: string,
  standard: Bound,
  atMost: number,
  max = standard.max,
  preset?: number,
): Bound {
  if (!(Number.isInteger(max) && max >= standard.min && max <= atMost)) {
    throw wrong(`the maximum of ${what} must be from ${standard.min} to ${atMost}`);
  }
  const fallback = preset ?? Math.min(standard.default, max);
  if (!(Number.isInteger(fallback) && fallback >= standard.min && fallback <= max)) {
    throw wrong(`the default of ${what} must be from ${standard.min} to ${max}`);
  }
  return { min: standard.min, max, default: fallback };
}

/** @throws ServiceError when the maximum is out of range */
export function fileBytesOf({ maxFileSize = FILE_BYTES }: ServiceSettings): number {
  if (Number.isInteger(maxFileSize) && maxFileSize >= 1 && maxFileSize <= FILE_BYTES_AT_MOST) {
    return maxFileSize;
  }
  throw new ServiceError('the maximum size of a file must be from 1 byte to 1 TiB', {
    input: true,
  });
}

/** @throws ServiceError when it is too small */
export function bufferBytesOf({ maxBuffer = BUFFER_BYTES }: ServiceSettings): number {
  if (Number.isInteger(maxBuffer) && maxBuffer >= BUFFER_BYTES_AT_LEAST) return maxBuffer;
  throw wrong('the memory for bodies must be at least 32 MiB');
}

/** @throws ServiceError when it is too small */
export function maxConnectionsOf({ maxConnections = CONNECTIONS }: ServiceSettings): number {
  if (Number.isInteger(maxConnections) && maxConnections >= CONNECTIONS_AT_LEAST)
    return maxConnections;
  throw wrong(`the maximum number of connections must be at least ${CONNECTIONS_AT_LEAST}`);
}

export function reserveOf({ reserve = RESERVE }: ServiceSettings): number {
  return reserve;
}

export function readingRateOf({ minRate = MIN_RATE }: ServiceSettings): ReadingRate {
  // Measured over two minutes: a bad connection stalls now and then.
  return { bytes: 2 * minRate, milliseconds: 120_000 };
}

/** @throws ServiceError when it is out of range */
export function maxFailuresOf({ maxFailures = FAILURES }: ServiceSettings): number {
  if (Number.isInteger(maxFailures) && maxFailures >= 1 && maxFailures <= FAILURES_AT_MOST)
    return maxFailures;
  throw wrong(`the failures in the log of a push must be from 1 to ${FAILURES_AT_MOST}`);
}

/** @throws ServiceError when it is out of range */
export function keepDaysOf({ keepDays = KEEP_DAYS }: ServiceSettings): number {
  if (Number.isInteger(keepDays) && keepDays >= 0 && keepDays <= DAYS_AT_MOST) return keepDays;
  throw wrong(`the days that ended pushes are kept must be from 0 to ${DAYS_AT_MOST}`);
}

/** Undefined for no limit. */
export function rateLimitOf({ rateLimit }: ServiceSettings): RateLimit | undefined {
  if (rateLimit === 'off') return undefined;
  return rateLimit ? { ...rateLimit, sparesLoopback: false } : DEFAULT_RATE;
}

/**
 * The public URL without a final slash.
 * @throws ServiceError when it is invalid
 */
export function publicUrlOf({ publicUrl }: ServiceSettings): string | undefined {
  if (!publicUrl) return undefined;
  const url = parseUrl(publicUrl);
  const plain = url && !url.search && !url.hash && !url.username && !url.password;
  if (plain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '');
  throw wrong('the public address must be an http or https address, without ? and #');
}

function wrong(message: string): ServiceError {
  return new ServiceError(message, { input: true });
}
