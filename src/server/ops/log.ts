import { ServiceRefusal } from '../service-errors';
import type { LogFormat, LogLevel, ServiceIo } from '../service-settings';

interface RequestEntry {
  readonly began: Date;
  readonly method: string;
  /** The route, never the path, which contains the token of a push. */
  readonly route: string;
  readonly status: number;
  /** Milliseconds until the response started. */
  readonly tookMs: number;
  readonly bytes: number;
}

/** The log for the operator. Of what a client sends, it has only the method. */
export interface Log {
  request(entry: RequestEntry): void;
  /**
   * Logs name, code and place of an error; never its message, which may quote a secret. Ignores refusals: `watched` in
   * store/watched.ts warns of those that the database causes.
   */
  failure(error: unknown): void;
  warning(message: string): void;
  event(name: LogEvent, details?: Details): void;
}

type LogEvent = 'start' | 'sweep' | 'exchange' | 'reload' | 'stopping' | 'stopped';

type Details = Readonly<Record<string, string | number>>;

interface LogLine {
  readonly time: Date;
  readonly level: LogLevel;
  readonly event: string;
  readonly details: Details;
  /** The words after the time in the text format. */
  readonly words: readonly (string | number)[];
}

/**
 * Creates a log of one line per entry. In the text format, warnings go to `warn`.
 * @param observer counts requests and failures
 */
export function createLog(
  { log, warn, now }: Pick<ServiceIo, 'log' | 'warn' | 'now'>,
  format: LogFormat = 'text',
  observer?: Pick<Log, 'request' | 'failure'>,
): Log {
  const isJson = format === 'json';
  const write = ({ time, level, event, details, words }: LogLine) => {
    const text = [time.toISOString(), ...words].filter((word) => word !== '').join(' ');
    log(oneLine(isJson ? JSON.stringify({ time, level, event, ...details }) : text), level);
  };
  return {
    request(entry) {
      observer?.request(entry);
      const { began, method, route, status, tookMs, bytes } = entry;
      const details = { method, route, status, duration_ms: tookMs, bytes };
      const words = [method, route, status, `${tookMs}ms`, `${bytes}B`];
      write({ time: began, level: 'info', event: 'request', details, words });
    },
    failure(error) {
      if (error instanceof ServiceRefusal) return;
      observer?.failure(error);
      const details = errorDetails(error);
      const words = ['error', ...Object.values(details)];
      write({ time: now(), level: 'error', event: 'error', details, words });
    },
    warning(message) {
      const details = { message };
      if (isJson) write({ time: now(), level: 'warning', event: 'warning', details, words: [] });
      else warn(message);
    },
    event(event, details = {}) {
      const words = [event, ...Object.entries(details).map(pairOf)];
      write({ time: now(), level: 'info', event, details, words });
    },
  };
}

/** Quotes a value that could be taken for several. */
function pairOf([name, value]: [string, string | number]): string {
  return `${name}=${/[\s"]/.test(`${value}`) ? JSON.stringify(value) : value}`;
}

function errorDetails(thrown: unknown): { error: string; code: string; place: string } {
  if (!(thrown instanceof Error)) return { error: typeof thrown, code: '', place: '' };
  const code = 'code' in thrown ? String(thrown.code) : '';
  return {
    error: plainName(thrown.name),
    code: plainName(code),
    place: /^ +at .*$/m.exec(traceOf(thrown))?.[0].trim() ?? '',
  };
}

/** Returns the stack without the message, whose lines could look like stack frames. */
function traceOf({ stack = '', message }: Error): string {
  const start = stack.indexOf(message);
  return start === -1 ? '' : stack.slice(start + message.length);
}

/** Replaces anything but a plain word, as it could contain a secret. */
function plainName(text: string): string {
  return /^\w{0,64}$/.test(text) ? text : '?';
}

/** Escapes characters that end a line or control a terminal as `\uXXXX`, which JSON decodes. */
function oneLine(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
