import { limits } from '../contract';
import { ServiceError } from './service-error';

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
  /** Bytes. */
  readonly resident: number;
  /** Bytes. */
  readonly heap: number;
  /** Seconds. */
  readonly userCpu: number;
  /** Seconds. */
  readonly systemCpu: number;
}

/** How systemd started this process: its environment variables and process id. */
export interface Supervision {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
}

/** What `pwpush serve` can be told. */
export interface ServiceSettings {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  /** What links begin with, where that is not what requests name. */
  readonly publicUrl?: string | undefined;
  /** The folder of database and instance key; ignored when ephemeral. */
  readonly data: string;
  readonly ephemeral: boolean;
  /** `postgres://…`, where the data are not in a file of `data`; the instance key still is. */
  readonly database?: string | undefined;
  /** Where the instance key is, when not beside the data. */
  readonly instanceKeyFile?: string | undefined;
  readonly anonymous: boolean;
  readonly defaultDays?: number | undefined;
  readonly maxDays?: number | undefined;
  readonly defaultViews?: number | undefined;
  readonly maxViews?: number | undefined;
  /** Bytes a file may have. */
  readonly maxFileSize?: number | undefined;
  /** Bytes that bodies under way may take in memory. */
  readonly maxBuffer?: number | undefined;
  /** Connections open at once. */
  readonly maxConnections?: number | undefined;
  /** Bytes of an answer that a client must read in a minute; 0 for any. */
  readonly minRate?: number | undefined;
  /** Failures that the log of a push has entries of their own for. */
  readonly maxFailures?: number | undefined;
  /** Bytes that stay free on the disk of the data: below, no pushes are taken. */
  readonly reserve?: number | undefined;
  /** Days that a push that has ended is kept with its log; 0 for until the next sweep. */
  readonly keepDays?: number | undefined;
  /** How often one address may ask, this machine's included; without it the usual, for others. */
  readonly rateLimit?: Rate | 'off' | undefined;
  readonly trustProxy: boolean;
  /** Paths of PEM files; both or neither. */
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly log?: LogFormat | undefined;
  /** Where metrics are served, on a port of their own; 0 for any free one, none without. */
  readonly metricsHost?: string | undefined;
  readonly metricsPort?: number | undefined;
}

/** What the service needs of the world around it. */
export interface ServiceIo {
  /** Takes the log, a line at a time. */
  readonly log: (line: string, level: LogLevel) => void;
  readonly warn: (line: string) => void;
  readonly now: () => Date;
  readonly version: string;
  /** Where libpq's variables (PGPASSWORD …) stand in for what the address of the database does not say. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Runs `load` with Node's experimental warnings held back. */
  readonly quietly?: (<T>(load: () => T) => T) | undefined;
  readonly usage?: (() => Usage) | undefined;
  /** Where systemd may have opened the sockets, and wants to be told how things stand. */
  readonly supervision?: Supervision | undefined;
  /** Milliseconds that all there is to finish has after a stop was asked for; 30 s. */
  readonly grace?: number | undefined;
}

const DAYS_AT_MOST = 36_500;
const VIEWS_AT_MOST = 1_000_000;
const FILE_BYTES = 100 * 1024 ** 2;
/** Jobs of a CI system may all come from one address; what a secret can be guessed by is limited elsewhere. */
const USUAL_RATE: RateLimit = { requests: 100, milliseconds: 1000, sparesLoopback: true };
const FILE_BYTES_AT_MOST = 1024 ** 4;
/** Beside the 100 MiB of the program it leaves room on a machine of 256 MiB. */
const BUFFER_BYTES = 64 * 1024 ** 2;
/** One client's quarter takes a body of JSON. */
const BUFFER_BYTES_AT_LEAST = 32 * 1024 ** 2;
/** Each takes 10 to 20 KiB. */
const CONNECTIONS = 4096;
const CONNECTIONS_AT_LEAST = 16;
const RESERVE = 32 * 1024 ** 2;
const KEEP_DAYS = 90;
/** A phone with a bad line has twenty times that. */
const MIN_RATE = 50_000;
const FAILURES = 1000;
/** A log has 10,000 entries that can be read. */
const FAILURES_AT_MOST = 9000;

/** The bounds of days and views that the settings ask for; throws a `ServiceError` when they contradict. */
export function boundsOf(settings: ServiceSettings): Bounds {
  const { defaultDays, maxDays, defaultViews, maxViews } = settings;
  return {
    days: bound('days', limits.days, DAYS_AT_MOST, maxDays, defaultDays),
    views: bound('views', limits.views, VIEWS_AT_MOST, maxViews, defaultViews),
  };
}

function bound(
  what: string,
  usual: Bound,
  atMost: number,
  max = usual.max,
  preset?: number,
): Bound {
  if (!(Number.isInteger(max) && max >= usual.min && max <= atMost)) {
    throw wrong(`the maximum of ${what} must be from ${usual.min} to ${atMost}`);
  }
  const fallback = preset ?? Math.min(usual.default, max);
  if (!(Number.isInteger(fallback) && fallback >= usual.min && fallback <= max)) {
    throw wrong(`the default of ${what} must be from ${usual.min} to ${max}`);
  }
  return { min: usual.min, max, default: fallback };
}

/** Bytes that a file may have. */
export function fileBytesOf({ maxFileSize = FILE_BYTES }: ServiceSettings): number {
  if (Number.isInteger(maxFileSize) && maxFileSize >= 1 && maxFileSize <= FILE_BYTES_AT_MOST) {
    return maxFileSize;
  }
  throw new ServiceError('the maximum of a file must be from 1 byte to 1 TiB', { input: true });
}

/** Bytes that bodies under way may take in memory. */
export function bufferBytesOf({ maxBuffer = BUFFER_BYTES }: ServiceSettings): number {
  if (Number.isInteger(maxBuffer) && maxBuffer >= BUFFER_BYTES_AT_LEAST) return maxBuffer;
  throw wrong('the memory for bodies must be 32 MiB at least');
}

/** Maximum number of open connections. */
export function maxConnectionsOf({ maxConnections = CONNECTIONS }: ServiceSettings): number {
  if (Number.isInteger(maxConnections) && maxConnections >= CONNECTIONS_AT_LEAST)
    return maxConnections;
  throw wrong(`the maximum of connections must be ${CONNECTIONS_AT_LEAST} at least`);
}

/** Bytes that stay free on the disk. */
export function reserveOf({ reserve = RESERVE }: ServiceSettings): number {
  return reserve;
}

/** How fast an answer must be read. */
export function readingRateOf({ minRate = MIN_RATE }: ServiceSettings): ReadingRate {
  // Over two minutes: a bad line stands still now and then.
  return { bytes: 2 * minRate, milliseconds: 120_000 };
}

/** Failures that the log of a push has entries of their own for. */
export function maxFailuresOf({ maxFailures = FAILURES }: ServiceSettings): number {
  if (Number.isInteger(maxFailures) && maxFailures >= 1 && maxFailures <= FAILURES_AT_MOST)
    return maxFailures;
  throw wrong(`the failures in the log of a push must be from 1 to ${FAILURES_AT_MOST}`);
}

/** Days that ended pushes are kept. */
export function keepDaysOf({ keepDays = KEEP_DAYS }: ServiceSettings): number {
  if (Number.isInteger(keepDays) && keepDays >= 0 && keepDays <= DAYS_AT_MOST) return keepDays;
  throw wrong(`the days that ended pushes are kept must be from 0 to ${DAYS_AT_MOST}`);
}

/** How often one address may ask. */
export function rateLimitOf({ rateLimit }: ServiceSettings): RateLimit | undefined {
  if (rateLimit === 'off') return undefined;
  return rateLimit ? { ...rateLimit, sparesLoopback: false } : USUAL_RATE;
}

/** The public address without a final slash. */
export function publicUrlOf({ publicUrl }: ServiceSettings): string | undefined {
  if (!publicUrl) return undefined;
  const url = URL.canParse(publicUrl) ? new URL(publicUrl) : undefined;
  const plain = url && !url.search && !url.hash && !url.username && !url.password;
  if (plain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '');
  throw wrong('the public address must be an http or https address, without ? and #');
}

function wrong(message: string): ServiceError {
  return new ServiceError(message, { input: true });
}
