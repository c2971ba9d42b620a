import { totalmem } from 'node:os';
import { parseUrl } from '../contract/address';
import { limits } from '../contract/api';
import { wholeSize } from '../contract/byte-size';
import { DAY_SECONDS } from '../contract/lifetime';
import { type Limit, labelOf, numbers, REQUESTS_PER_SECOND } from '../contract/serve-settings';
import { invalidInput } from './service-errors';
import { trustedProxies } from './trusted-proxies';

/** The parameters of scrypt (RFC 7914, section 2). */
export interface PassphraseCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** Minimum, maximum and default of a number in the body that creates a push or request. */
export interface Bound {
  readonly min: number;
  readonly max: number;
  readonly default: number;
}

export interface Bounds {
  readonly days: Bound;
  readonly views: Bound;
  /** Minimum lifetime of every push and request in seconds, also of one given in hours; set only with `minDays`. */
  readonly shortest?: number;
}

/** Allows a burst of `requests`, which refills evenly over `milliseconds`. */
export interface Rate {
  readonly requests: number;
  readonly milliseconds: number;
}

export interface RateLimit extends Rate {
  readonly sparesLoopback: boolean;
}

/** The minimum rate at which a client must read a response or send a body. */
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
  /** Memory limit of the container in bytes. */
  readonly most?: number | undefined;
}

/** How systemd started this process: its environment variables and process id. */
export interface Supervision {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
}

type NumberName = keyof typeof numbers;

export interface ServiceSettings extends Readonly<Partial<Record<NumberName, number | undefined>>> {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** The base of links; by default the host that an HTTP request names. */
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
  /** Why a token must not be shown, such as `an agent would read it`; if set, no first token is created. */
  readonly tokenHidden?: string | undefined;
  readonly anonymousFiles?: boolean | undefined;
  /** Shown on the pages in place of the program's name. */
  readonly title?: string | undefined;
  /** Path of an image that is shown on the pages. */
  readonly logo?: string | undefined;
  /** The contact for readers of the pages: an e-mail address, a web address or a name. */
  readonly contact?: string | undefined;
  /** How many answers to one request may upload files at once; default: 2. No option of the program sets it. */
  readonly uploadsPerRequest?: number | undefined;
  /** Bytes of data that an ephemeral service keeps in memory; with more, pushes are refused. */
  readonly maxData?: number | undefined;
  /** The rate limit of each address, loopback included; the default limit exempts loopback. */
  readonly rateLimit?: Rate | 'off' | undefined;
  /** Whether X-Forwarded-* headers are trusted, or the addresses and networks from which they are. */
  readonly trustProxy?: boolean | readonly string[] | undefined;
  /** Paths of PEM files; set both or neither. */
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly log?: LogFormat | undefined;
  /** Address of the metrics. Port 0 takes any free one; without a port, no metrics are served. */
  readonly metricsHost?: string | undefined;
  readonly metricsPort?: number | undefined;
}

/** A client of other servers, which follows no redirect. */
export interface FetchingClient {
  send(request: { method: 'GET'; url: string; headers: Record<string, string> }): Promise<{
    readonly status: number;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
    readonly body: AsyncIterable<Uint8Array>;
  }>;
  close(): Promise<void>;
}

/** `timeout` is in seconds, for each step; connections to IP addresses that `refuses` names are given up unused. */
interface FetchingSettings {
  readonly timeout: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly refuses: (address: string) => boolean;
}

/** The parts of the process that the service uses. */
export interface ServiceIo {
  readonly log: (line: string, level: LogLevel) => void;
  readonly warn: (line: string) => void;
  readonly now: () => Date;
  /** Replaces the clock of a database server. Only tests set it, as they set the time. */
  readonly serverNow?: (() => Date) | undefined;
  readonly version: string;
  /** Environment with the variables of libpq (PGPASSWORD …), the defaults for what the database URL leaves out. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Runs `load` without Node's experimental warnings. */
  readonly quietly?: (<T>(load: () => T) => T) | undefined;
  readonly usage?: (() => Usage) | undefined;
  /** Without it, the service fetches nothing of other servers. */
  readonly transport?: ((settings: FetchingSettings) => Promise<FetchingClient>) | undefined;
  /** Set if systemd may have passed sockets, or expects notifications. */
  readonly supervision?: Supervision | undefined;
  /** Milliseconds that a stop waits for running requests; 30,000 by default. */
  readonly grace?: number | undefined;
  /** The cost of hashing new passphrases. Only tests set it, as they hash hundreds. */
  readonly passphraseCost?: PassphraseCost | undefined;
}

const DATA_BYTES_AT_LEAST = 64 * 1024 ** 2;

export type CheckedSettings = ReturnType<typeof checkSettings>;

/** @throws ServiceError (input) when a setting is out of range */
export function checkSettings(settings: ServiceSettings) {
  const checked = Object.fromEntries(
    Object.keys(numbers).map((name) => [name, numberOf(settings, name as NumberName)]),
  ) as Record<NumberName, number>;
  const { minDays, maxDays, defaultDays, maxViews, defaultViews } = checked;
  return {
    ...settings,
    ...checked,
    bounds: {
      days: { min: minDays, max: maxDays, default: defaultDays },
      views: { min: limits.views.min, max: maxViews, default: defaultViews },
      ...(settings.minDays !== undefined && { shortest: minDays * DAY_SECONDS }),
    },
    publicUrl: publicUrlOf(settings),
    trusts: trustedProxies(settings.trustProxy),
    anonymousFiles: settings.anonymous && settings.anonymousFiles === true,
    uploadsPerRequest: settings.uploadsPerRequest ?? 2,
    rateLimit: rateLimitOf(settings),
  };
}

/** Returns a number within its range. A default outside the range, which other settings may limit, is moved into it. */
function numberOf(settings: ServiceSettings, name: NumberName): number {
  const { preset, range } = numbers[name];
  const [least, most = Number.POSITIVE_INFINITY] = range;
  const limit = (value: Limit) => (typeof value === 'number' ? value : numberOf(settings, value));
  const [min, max] = [limit(least), limit(most)];
  const value = settings[name] ?? Math.max(min, Math.min(preset ?? min, max));
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalidInput(`${labelOf(name)} must be ${rangeText(name, min, max)}`);
}

/** Describes a range and names the options that limit it; `minDays` only if it exceeds its default of one day. */
function rangeText(name: NumberName, min: number, max: number): string {
  const { unit, range } = numbers[name];
  const text = (limit: number) => (unit === 'size' ? wholeSize(limit) : limit);
  if (max === Number.POSITIVE_INFINITY) return `at least ${text(min)}`;
  const settings = range.filter((limit) => typeof limit === 'string');
  const options = settings.filter((limit) => limit !== 'minDays' || min > 1).map(labelOf);
  return `from ${text(min)} to ${text(max)}${options.length > 0 ? ` (${options.join(', ')})` : ''}`;
}

function rateLimitOf({ rateLimit }: ServiceSettings): RateLimit | undefined {
  if (rateLimit === 'off') return undefined;
  if (rateLimit) return { ...rateLimit, sparesLoopback: false };
  return { requests: REQUESTS_PER_SECOND, milliseconds: 1000, sparesLoopback: true };
}

/** The rate is measured over two minutes, as a bad connection stalls now and then. */
export function readingRateOf({ minRate }: Pick<CheckedSettings, 'minRate'>): ReadingRate {
  return { bytes: 2 * minRate, milliseconds: 120_000 };
}

/** Returns a quarter of the memory of this machine or container: with 256 MiB, the rest of the program still fits. */
export function memoryShare({ usage }: Pick<ServiceIo, 'usage'>): number {
  const memory = Math.min(totalmem(), usage?.().most ?? Number.POSITIVE_INFINITY);
  return Math.max(DATA_BYTES_AT_LEAST, Math.floor(memory / 4));
}

/** Returns the public URL without a final slash. */
function publicUrlOf({ publicUrl }: ServiceSettings): string | undefined {
  if (!publicUrl) return undefined;
  const url = parseUrl(publicUrl);
  const plain = url && !url.search && !url.hash && !url.username && !url.password;
  if (plain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '');
  throw invalidInput('the public address must be an http or https address, without ? and #');
}
