import { isShellSafe, parseWebUrl } from '../../contract/address';
import { API_PATH } from '../../contract/api';
import type { HttpRequest, HttpResponse, Transport } from '../../platform/context';
import { CliError, failedError } from '../../platform/errors';
import { accessLogin, isAccessLogin } from './access-proxy';
import { TransportError } from './network-errors';

/** A response whose body was read to its end. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  readonly body: Buffer;
}

export interface CallRules {
  /** Sending the request twice is harmless. Otherwise it is sent again only after a 429, and only if `waitOn429`. */
  readonly repeatable: boolean;
  readonly waitOn429: boolean;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly now: () => Date;
  /** Seconds between two pieces of a response; left out, it may take as long as it takes. */
  readonly timeout?: number | undefined;
  /** Called before each wait. */
  readonly waiting: (seconds: number, status: number) => void | Promise<void>;
}

/** A response body exceeds `MAX_ANSWER_BYTES`. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
  readonly status: number;

  constructor(status: number) {
    super('the response is longer than 16 MiB');
    this.status = status;
  }
}

/** No JSON response is longer. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** Limit for the sum of all waits of one call, in seconds. */
const MAX_WAIT_SECONDS = 60;
const MAX_REDIRECTS = 5;

/**
 * Sends a request and reads the response. Follows redirects within the origin, honours `Retry-After` for at most 60 s
 * in total, and retries once after a broken connection if that is harmless.
 * @throws TransportError without a whole response; CliError for a redirect that must not be followed; AnswerTooLong
 */
export async function call(
  send: Transport,
  request: HttpRequest,
  rules: CallRules,
): Promise<ApiResponse> {
  let waited = 0;
  for (;;) {
    const answer = await retryBroken(() => sendWithin(send, request, rules), rules);
    const seconds = waitFor(answer, rules);
    if (seconds === undefined || waited + seconds > MAX_WAIT_SECONDS) return answer;
    await rules.waiting(seconds, answer.status);
    await rules.sleep(seconds * 1000);
    waited += seconds;
  }
}

async function retryBroken(
  work: () => Promise<ApiResponse>,
  rules: CallRules,
): Promise<ApiResponse> {
  try {
    return await work();
  } catch (error) {
    const broke = error instanceof TransportError && error.sent && !error.timedOut;
    if (!broke || !rules.repeatable) throw error;
    return await work().catch((again) => {
      // The first one may have had its effect, whatever became of the second.
      throw again instanceof TransportError && !again.sent ? error : again;
    });
  }
}

/** Seconds to wait before sending again; undefined to take the answer as it is. */
function waitFor(answer: ApiResponse, rules: CallRules): number | undefined {
  const may =
    answer.status === 429
      ? rules.repeatable || rules.waitOn429
      : answer.status === 503 && rules.repeatable;
  if (!may) return undefined;
  const seconds = retryAfter(header(answer, 'retry-after'), rules.now());
  // Never 0: an instance that always answers 0 would be asked without end.
  return seconds === undefined ? undefined : Math.max(seconds, 1);
}

async function sendWithin(
  send: Transport,
  request: HttpRequest,
  rules: CallRules,
): Promise<ApiResponse> {
  let current = request;
  for (let hop = 0; ; hop++) {
    const response = await send(current);
    const answer = { ...response, body: await readAll(response, current, rules) };
    const next = redirectTarget(answer, current);
    if (next === undefined) return answer;
    if (hop === MAX_REDIRECTS)
      throw failedError('the instance redirects too many times', { status: answer.status });
    current = { ...current, url: next };
  }
}

/** The address to send the request to next; undefined if the answer is final. */
function redirectTarget(answer: ApiResponse, request: HttpRequest): string | undefined {
  if (![301, 302, 303, 307, 308].includes(answer.status)) return undefined;
  const location = header(answer, 'location');
  const from = new URL(request.url);
  const to = location === undefined ? undefined : parseWebUrl(location, from);
  if (to === undefined) return undefined;
  if (isAccessLogin(to, from)) throw accessLogin(to, request, answer.status);
  if (/\/(first_run|sign_in|login)(\/|$)/.test(to.pathname)) throw notSetUp(answer.status);
  if (to.username || to.password) return undefined;
  if (to.origin !== from.origin) throw new LeavesOrigin({ from, to, status: answer.status });
  // 301, 302 and 303 turn a POST into a GET (RFC 9110, 15.4), which creates nothing.
  const keepsMethod = answer.status === 307 || answer.status === 308;
  return request.method === 'GET' || keepsMethod ? to.href : undefined;
}

/** The error for a redirect to another origin, which may be where the instance is now. */
export class LeavesOrigin extends CliError {
  /** The address of an instance there. */
  readonly base: string;
  private readonly redirect: Redirect;

  /** @param advice what to do if that is the user's instance */
  constructor(redirect: Redirect, advice = configure) {
    const { from, to, status } = redirect;
    const path = to.pathname.split(API_PATH);
    const base = to.origin + (path.length > 1 ? (path[0] ?? '') : '');
    const hint = isShellSafe(base)
      ? `if that is your instance, ${advice(base)}`
      : 'check the address';
    const where = `${to.protocol}//${to.host}`;
    const message = `${from.host} redirects to another origin, ${where}; nothing was sent there`;
    super('failed', message, { status, hint });
    this.base = base;
    this.redirect = redirect;
  }

  /** The same error with another advice. */
  advising(advice: (base: string) => string): LeavesOrigin {
    return new LeavesOrigin(this.redirect, advice);
  }
}

interface Redirect {
  readonly from: URL;
  readonly to: URL;
  readonly status: number;
}

const configure = (base: string) =>
  `use its address: --url ${base}, or pwpush profile set url ${base}`;

function notSetUp(status: number): CliError {
  return failedError(
    'the instance redirects to its sign-in or first-run page instead of responding',
    {
      status,
      hint: 'open the instance in a browser and finish setting it up, or check the address',
    },
  );
}

/** How many times the time for a piece a response may take at any rate. */
const PATIENCE = 4;
/** Bytes a second that one has to have after that: no instance keeps a command running for ever, a byte at a time. */
const LEAST_RATE = 4 * 1024;

async function readAll(
  response: HttpResponse,
  { url }: HttpRequest,
  { now, timeout = Number.POSITIVE_INFINITY }: CallRules,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let last = now().getTime();
  let seconds = 0;
  for await (const chunk of response.body) {
    length += chunk.byteLength;
    if (length > MAX_ANSWER_BYTES) throw new AnswerTooLong(response.status);
    const time = now().getTime();
    // No piece took longer, unless the clock was set or the machine slept.
    seconds += Math.min(Math.max(time - last, 0) / 1000, timeout);
    last = time;
    if (seconds > PATIENCE * timeout && length < LEAST_RATE * seconds) throw tooSlow(url);
    chunks.push(chunk);
  }
  return inflated(Buffer.concat(chunks), response);
}

function tooSlow(url: string): TransportError {
  return new TransportError(`${new URL(url).host} sends its response too slowly`, {
    sent: true,
    timedOut: true,
    hint: 'allow more time with --timeout SECONDS',
  });
}

/** Decompresses a body: a proxy may compress although the request asks for `identity`. */
async function inflated(body: Buffer, response: HttpResponse): Promise<Buffer> {
  const coding = header(response, 'content-encoding')?.trim().toLowerCase();
  if (body.length === 0 || (coding !== 'gzip' && coding !== 'deflate' && coding !== 'br'))
    return body;
  const { brotliDecompressSync, unzipSync } = await import('node:zlib');
  try {
    const inflate = coding === 'br' ? brotliDecompressSync : unzipSync;
    return inflate(body, { maxOutputLength: MAX_ANSWER_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new AnswerTooLong(response.status);
    // Returned as it is; it does not match its schema, which is reported.
    return body;
  }
}

/**
 * The whole seconds that `Retry-After` asks to wait (RFC 9110, 10.2.3: seconds or an HTTP date); undefined if it is
 * absent or invalid.
 */
export function retryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  const trimmed = value.trim();
  if (/^\d{1,9}$/.test(trimmed)) return Number(trimmed);
  if (!/[a-z]/i.test(trimmed)) return undefined;
  const date = Date.parse(trimmed);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now.getTime()) / 1000));
}

type Backoff = Pick<CallRules, 'sleep' | 'waiting'> & { readonly send: Transport };

/** Shares one `Retry-After` wait among all calls of a client: none is sent during it, and it is announced once. */
export function sharedBackoff({ send, sleep, waiting }: Backoff): Backoff {
  let waits: Promise<unknown> | undefined;
  return {
    send: async (request) => {
      while (waits !== undefined) await waits;
      return send(request);
    },
    waiting: (seconds, status) => (waits === undefined ? waiting(seconds, status) : undefined),
    sleep: async (milliseconds) => {
      const all = Promise.all([waits, sleep(milliseconds)]).finally(() => {
        if (waits === all) waits = undefined;
      });
      waits = all;
      await all;
    },
  };
}

/** The first value of a header, or undefined. */
export function header(response: Pick<HttpResponse, 'headers'>, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
