import { CliError } from '../../errors';
import { retryAfter } from './retry-after';
import {
  header,
  type Transport,
  TransportError,
  type WireRequest,
  type WireResponse,
} from './transport';

/** A whole answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: WireResponse['headers'];
  readonly body: Buffer;
}

export interface ExchangeRules {
  /** Sending it twice is harmless. Otherwise it is sent again only after 429, and only if `waitOn429`. */
  readonly repeatable: boolean;
  readonly waitOn429: boolean;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly now: () => Date;
  /** Told before each wait, in seconds. */
  readonly waiting: (seconds: number, status: number) => void | Promise<void>;
}

/** An answer that goes on beyond what is read. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
  readonly status: number;

  constructor(status: number) {
    super('the answer is longer than 16 MiB and was not read on');
    this.status = status;
  }
}

/** JSON answers are read up to here; a longer one is nonsense. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** All waits of one call together, in seconds. */
const MAX_WAIT_SECONDS = 60;
const MAX_REDIRECTS = 5;

/**
 * Sends a request and reads its answer, within the rules of what may be repeated: redirects within the
 * origin are followed, `Retry-After` is honoured for at most 60 s in all, and a connection that broke is
 * tried once more where that is harmless.
 * @throws TransportError when no whole answer came; CliError for an answer that must not be followed or read.
 */
export async function exchange(
  send: Transport,
  request: WireRequest,
  rules: ExchangeRules,
): Promise<Answer> {
  let waited = 0;
  for (;;) {
    const answer = await repeatOnce(() => sendWithin(send, request), rules);
    const seconds = waitFor(answer, rules);
    if (seconds === undefined || waited + seconds > MAX_WAIT_SECONDS) return answer;
    await rules.waiting(seconds, answer.status);
    await rules.sleep(seconds * 1000);
    waited += seconds;
  }
}

async function repeatOnce(work: () => Promise<Answer>, rules: ExchangeRules): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    const broke = error instanceof TransportError && error.sent && !error.timedOut;
    if (!broke || !rules.repeatable) throw error;
    return await work();
  }
}

/** Seconds to wait before sending again; undefined to take the answer as it is. */
function waitFor(answer: Answer, rules: ExchangeRules): number | undefined {
  const may =
    answer.status === 429
      ? rules.repeatable || rules.waitOn429
      : answer.status === 503 && rules.repeatable;
  if (!may) return undefined;
  const told = retryAfter(header(answer, 'retry-after'), rules.now());
  // At least a second, so that an instance that says 0 for ever is not asked without end.
  return told === undefined ? undefined : Math.max(told, 1);
}

async function sendWithin(send: Transport, request: WireRequest): Promise<Answer> {
  let current = request;
  for (let hop = 0; ; hop++) {
    const response = await send(current);
    const answer = { ...response, body: await readAll(response) };
    const next = redirectTarget(answer, current);
    if (next === undefined) return answer;
    if (hop === MAX_REDIRECTS)
      throw new CliError('failed', 'the instance redirects without end', { status: answer.status });
    current = { ...current, url: next };
  }
}

/** Where to go on, or undefined when the answer is final. */
function redirectTarget(answer: Answer, request: WireRequest): string | undefined {
  if (![301, 302, 303, 307, 308].includes(answer.status)) return undefined;
  const location = header(answer, 'location');
  const from = new URL(request.url);
  const to = parseUrl(location, from);
  if (to === undefined) return undefined;
  if (to.protocol !== 'https:' && to.protocol !== 'http:') return undefined;
  if (/\/(first_run|sign_in|login)(\/|$)/.test(to.pathname)) throw notSetUp(answer.status);
  if (to.username || to.password) return undefined;
  if (to.origin !== from.origin) throw leavesOrigin(from, to, answer.status);
  // 301, 302 and 303 turn a POST into a GET (RFC 9110, 15.4): what it was to create would be lost.
  const keepsMethod = answer.status === 307 || answer.status === 308;
  return request.method === 'GET' || keepsMethod ? to.href : undefined;
}

function parseUrl(location: string | undefined, base: URL): URL | undefined {
  if (location === undefined) return undefined;
  try {
    return new URL(location, base);
  } catch {
    return undefined;
  }
}

function leavesOrigin(from: URL, to: URL, status: number): CliError {
  return new CliError(
    'failed',
    `${from.host} redirects to another origin, ${to.protocol}//${to.host}; nothing was sent there`,
    {
      status,
      hint: plain(to.host)
        ? `if that is your instance, use its address: --url ${to.origin}, or pwpush profile set url ${to.origin}`
        : 'check the address',
    },
  );
}

/** A host may be called `$(reboot).test`: what is copied to a shell must mean nothing there (URL Standard, 3.2). */
function plain(host: string): boolean {
  return /^[\w.:[\]-]+$/.test(host);
}

function notSetUp(status: number): CliError {
  return new CliError(
    'failed',
    'the instance redirects to its sign-in or first-run page instead of answering',
    {
      status,
      hint: 'open the instance in a browser and finish setting it up, or check the address',
    },
  );
}

async function readAll(response: WireResponse): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.byteLength;
    if (length > MAX_ANSWER_BYTES) {
      throw new AnswerTooLong(response.status);
    }
    chunks.push(chunk);
  }
  return inflated(Buffer.concat(chunks), response);
}

/** We ask for no compression; a proxy in front may compress all the same. */
async function inflated(body: Buffer, response: WireResponse): Promise<Buffer> {
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
    // Left as it is, it makes no sense and is told so.
    return body;
  }
}
