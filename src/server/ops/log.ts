import type { LogFormat, LogLevel, ServiceIo } from '../service-settings';

/** A request that was answered. */
export interface RequestEntry {
  readonly began: Date;
  readonly method: string;
  /** The route, never the path: a path holds the token of a push. */
  readonly route: string;
  readonly status: number;
  /** Milliseconds until the answer began. */
  readonly took: number;
  /** Of the answer's body, as announced. */
  readonly bytes: number;
}

/** What the operator reads. Nothing that came with a request gets in but its method. */
export interface Log {
  request(entry: RequestEntry): void;
  /** Name, code and place; never the message, which may quote what was being handled. */
  failure(error: unknown): void;
  warning(message: string): void;
  event(name: LogEvent, details?: Details): void;
}

export type LogEvent = 'start' | 'sweep' | 'reload' | 'stopping' | 'stopped';

type Details = Readonly<Record<string, string | number>>;

/** A log of one line an entry; in text, warnings are said apart. */
export function createLog(
  { log, warn, now }: Pick<ServiceIo, 'log' | 'warn' | 'now'>,
  format: LogFormat = 'text',
): Log {
  const json = (time: Date, level: LogLevel, event: string, details: Details) =>
    log(oneLine(JSON.stringify({ time: time.toISOString(), level, event, ...details })), level);
  const text = (time: Date, level: LogLevel, words: readonly (string | number)[]) =>
    log(oneLine([time.toISOString(), ...words].filter((word) => word !== '').join(' ')), level);
  if (format === 'json') {
    return {
      request: ({ began, method, route, status, took, bytes }) =>
        json(began, 'info', 'request', { method, route, status, duration_ms: took, bytes }),
      failure: (error) => json(now(), 'error', 'error', { ...trouble(error) }),
      warning: (message) => json(now(), 'warning', 'warning', { message }),
      event: (name, details = {}) => json(now(), 'info', name, details),
    };
  }
  return {
    request: ({ began, method, route, status, took, bytes }) =>
      text(began, 'info', [method, route, status, `${took}ms`, `${bytes}B`]),
    failure: (error) => text(now(), 'error', ['error', ...Object.values(trouble(error))]),
    warning: warn,
    event: (name, details = {}) =>
      text(now(), 'info', [name, ...Object.entries(details).map((pair) => pair.join('='))]),
  };
}

function trouble(thrown: unknown): { error: string; code: string; place: string } {
  if (!(thrown instanceof Error)) return { error: typeof thrown, code: '', place: '' };
  const code = 'code' in thrown ? String(thrown.code) : '';
  return {
    error: plainName(thrown.name),
    code: plainName(code),
    place: /^ +at .*$/m.exec(traceOf(thrown))?.[0].trim() ?? '',
  };
}

/** The stack without the message, whose lines could pass for places. */
function traceOf({ stack = '', message }: Error): string {
  const at = stack.indexOf(message);
  return at === -1 ? '' : stack.slice(at + message.length);
}

/** Names and codes are words; what is none may be anything. */
function plainName(text: string): string {
  return /^\w{0,64}$/.test(text) ? text : '?';
}

/** Whatever ends a line, or moves a terminal, is written as `\u….`, which JSON reads back. */
function oneLine(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
