import { totalmem } from 'node:os';
import { parseUrl } from '../contract/address';
import { limits } from '../contract/api';
import { DAY_SECONDS } from '../contract/lifetime';
import { invalidInput } from './service-errors';

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
  /** Seconds that every push and request lives at least, if the settings say so: hours count then, too. */
  readonly shortest?: number;
}

/** A burst of `requests`, refilled evenly over `milliseconds`. */
export interface Rate {
  readonly requests: number;
  readonly milliseconds: number;
}

export interface RateLimit extends Rate {
  readonly sparesLoopback: boolean;
}

/** The minimum rate at which a client must read a response. */
export interface ReadingRate {
  readonly bytes: number;
  readonly milliseconds: number;
}

export type LogFormat = 'text' | 'json';
export type LogLevel = 'info' | 'warning' | 'error';

export interface Usage {
  /** Bytes of resident memory. */
  readonly resident: number;
  /** Seconds of processor time. */
  readonly cpu: number;
  /** Bytes of memory that the container of the process has. */
  readonly most?: number | undefined;
}

/** How systemd started this process: its environment variables and process id. */
export interface Supervision {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
}

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
  /** Whether the first start creates a token for `admin`; true if left out. */
  readonly firstToken?: boolean | undefined;
  /** Why that token cannot be shown, as `an agent would read it`: none is created then. */
  readonly tokenHidden?: string | undefined;
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
  readonly minDays?: number | undefined;
  readonly defaultViews?: number | undefined;
  readonly maxViews?: number | undefined;
  /** Maximum size of a file in bytes. */
  readonly maxFileSize?: number | undefined;
  /** Bytes of memory for request bodies and responses in progress. */
  readonly maxBuffer?: number | undefined;
  /** How many answers to one request may upload files at once; default: 2. No option of the program sets it. */
  readonly uploadsPerRequest?: number | undefined;
  readonly maxConnections?: number | undefined;
  /** Bytes of a response that a client must read per minute; 0 for no minimum. */
  readonly minRate?: number | undefined;
  /** Failures that have an entry of their own in the audit log of a push. */
  readonly maxFailures?: number | undefined;
  /** Bytes of data that an ephemeral service keeps in memory; with more, pushes are refused. */
  readonly maxData?: number | undefined;
  /** Bytes that stay free on the disk of the data; with less, pushes are refused. In memory they are added to `maxData`. */
  readonly reserve?: number | undefined;
  /** Days for which an expired push is kept with its audit log; 0 for ten minutes, in which requests can be repeated. */
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

/** The process that the service runs in, as far as it needs it. */
export interface ServiceIo {
  readonly log: (line: string, level: LogLevel) => void;
  readonly warn: (line: string) => void;
  readonly now: () => Date;
  /** In place of the clock of a database server. No option of the program sets it: tests do, which set the time. */
  readonly serverNow?: (() => Date) | undefined;
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

const MIB = 1024 ** 2;
const DAYS_AT_MOST = 36_500;
const VIEWS_AT_MOST = 1_000_000;
/** High, as all jobs of a CI system may share an address; passphrase attempts are limited separately. */
const DEFAULT_RATE: RateLimit = { requests: 100, milliseconds: 1000, sparesLoopback: true };
/** The largest file by default. */
export const FILE_BYTES = limits.bytesPerFile;
/** With the 100 MiB of the program it fits a machine of 256 MiB. */
const BUFFER_BYTES = 64 * MIB;
/** One client's quarter fits one JSON body. */
const BUFFER_BYTES_AT_LEAST = 32 * MIB;
const DATA_BYTES_AT_LEAST = 64 * MIB;
/** A connection takes 10 to 20 KiB. */
const CONNECTIONS = 4096;
const CONNECTIONS_AT_LEAST = 16;
/** Bytes per minute; a phone with bad reception reads twenty times as fast. */
const MIN_RATE = 50_000;
/** Of an audit log, 10,000 entries can be read. */
const FAILURES_AT_MOST = 9000;

/** The limits of the settings, with defaults. */
export type CheckedSettings = ReturnType<typeof checkSettings>;

/** @throws ServiceError (input) when a setting is out of range */
export function checkSettings(settings: ServiceSettings) {
  const { maxFileSize = FILE_BYTES, maxBuffer = BUFFER_BYTES } = settings;
  const { maxConnections = CONNECTIONS, keepDays = 90, reserve = 32 * MIB } = settings;
  const { uploadsPerRequest = 2, maxFailures = 1000 } = settings;
  const { minDays, maxDays, defaultDays, maxViews, defaultViews } = settings;
  const size = 'the maximum size of a file must be from 1 byte to 1 TiB';
  const memory = 'the memory for bodies must be at least 32 MiB';
  const connections = `the maximum number of connections must be at least ${CONNECTIONS_AT_LEAST}`;
  const days = `the days to keep expired pushes must be from 0 to ${DAYS_AT_MOST}`;
  const failures = `the number of failures in the log of a push must be from 1 to ${FAILURES_AT_MOST}`;
  return {
    bounds: {
      days: bound('days', DAYS_AT_MOST, maxDays, defaultDays, minDays),
      views: bound('views', VIEWS_AT_MOST, maxViews, defaultViews),
      ...(minDays !== undefined && { shortest: minDays * DAY_SECONDS }),
    },
    publicUrl: publicUrlOf(settings),
    fileBytes: whole(size, maxFileSize, 1, 1024 ** 4),
    bufferBytes: whole(memory, maxBuffer, BUFFER_BYTES_AT_LEAST),
    connections: whole(connections, maxConnections, CONNECTIONS_AT_LEAST),
    anonymousFiles: settings.anonymous && settings.anonymousFiles === true,
    uploadsPerRequest,
    reserve,
    keepDays: whole(days, keepDays, 0, DAYS_AT_MOST),
    maxFailures: whole(failures, maxFailures, 1, FAILURES_AT_MOST),
    rateLimit: rateLimitOf(settings),
  };
}

function bound(
  what: 'days' | 'views',
  atMost: number,
  max: number = limits[what].max,
  preset?: number,
  min: number = limits[what].min,
): Bound {
  const { min: atLeast, default: standard } = limits[what];
  whole(`--max-${what} must be from ${atLeast} to ${atMost}`, max, atLeast, atMost);
  whole(`--min-${what} must be from ${atLeast} to ${max} (--max-${what})`, min, atLeast, max);
  const least = min === atLeast ? '' : `--min-${what}, `;
  const range = `--default-${what} must be from ${min} to ${max} (${least}--max-${what})`;
  const usual = Math.max(min, Math.min(standard, max));
  return { min, max, default: whole(range, preset ?? usual, min, max) };
}

function whole(message: string, value: number, min: number, max = Number.POSITIVE_INFINITY) {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalidInput(message);
}

/** Undefined for no limit. */
function rateLimitOf({ rateLimit }: ServiceSettings): RateLimit | undefined {
  if (rateLimit === 'off') return undefined;
  return rateLimit ? { ...rateLimit, sparesLoopback: false } : DEFAULT_RATE;
}

/** Measured over two minutes: a bad connection stalls now and then. */
export function readingRateOf({ minRate = MIN_RATE }: ServiceSettings): ReadingRate {
  return { bytes: 2 * minRate, milliseconds: 120_000 };
}

/** A quarter of the memory of this machine or container: with the rest of the program it fits one of 256 MiB. */
export function memoryShare({ usage }: Pick<ServiceIo, 'usage'>): number {
  const memory = Math.min(totalmem(), usage?.().most ?? Number.POSITIVE_INFINITY);
  return Math.max(DATA_BYTES_AT_LEAST, Math.floor(memory / 4));
}

/** Without a final slash. */
function publicUrlOf({ publicUrl }: ServiceSettings): string | undefined {
  if (!publicUrl) return undefined;
  const url = parseUrl(publicUrl);
  const plain = url && !url.search && !url.hash && !url.username && !url.password;
  if (plain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '');
  throw invalidInput('the public address must be an http or https address, without ? and #');
}
