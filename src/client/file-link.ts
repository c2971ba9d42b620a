import { parseUrl } from '../contract/address';
import type { HeaderFields, HttpRequest, HttpResponse } from '../platform/context';
import { CliError, type Fact, failedError, phrase } from '../platform/errors';
import type { ReadySettings } from './api-settings';
import { TransportError } from './transport/network-errors';
import { follow, type RedirectRules } from './transport/redirects';
import { discardBody, header, retryAfter } from './transport/response';

export interface FileResponse {
  readonly length: number | undefined;
  /** Lets another run resume the download; undefined if the link does not support that. */
  readonly version?: Version;
  /** Bytes that an earlier run received. `body` begins after them. */
  readonly from?: number;
  /** Iterating throws a `TransportError` when the response is truncated or stalls. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface Version {
  /** A strong ETag. */
  readonly tag: string;
  readonly length: number;
}

export interface Begun extends Version {
  readonly received: number;
}

/** Called when a download breaks off. It may pause, and resolves to whether to resume the download. */
export type Resume = (broken: CliError, received: number) => Promise<boolean>;

type LinkSettings = Pick<
  ReadySettings,
  'base' | 'headers' | 'userAgent' | 'send' | 'now' | 'token'
>;

export class LinkError extends CliError {
  /** @param retryAfter seconds until another attempt; undefined if another attempt is of no use */
  constructor(
    status: number,
    facts: Fact | readonly Fact[],
    readonly retryAfter?: number,
  ) {
    super('failed', facts, { status });
  }
}

/** Thrown when a download cannot be resumed, but one from the beginning may succeed. */
export class NotResumed extends LinkError {}

/**
 * Opens the link of a push's file (docs/wire.md, "File downloads"). The token and the user's headers are sent only to
 * the instance's own origin, and never after a redirect.
 * @param resume without it, a download that breaks off is not resumed
 * @param begun the part of the file that an earlier run received; `NotResumed` is thrown if the file has changed
 * @throws LinkError for a response other than 200; TransportError; CliError for an address that is not followed
 */
export async function openLink(
  settings: LinkSettings,
  link: string,
  resume?: Resume,
  begun?: Begun,
): Promise<FileResponse> {
  const file = new LinkedFile(settings, parseLink(link, settings.base));
  if (resume && begun) {
    const { tag, length, received: from } = begun;
    const body = file.resumed(await file.rest(begun, from), begun, resume, from);
    return { length, from, version: { tag, length }, body };
  }
  const response = await file.request();
  if (response.status !== 200) throw await file.refusal(response);
  const announced = header(response, 'content-length') ?? '';
  const length = /^\d{1,15}$/.test(announced) ? Number(announced) : undefined;
  const tag = header(response, 'etag') ?? '';
  // A weak ETag does not say that the bytes are the same (RFC 9110, 13.1.5).
  if (!resume || length === undefined || !/^"[!#-~]*"$/.test(tag))
    return { length, body: response.body };
  const version = { tag, length };
  return { length, version, body: file.resumed(response.body, version, resume) };
}

class LinkedFile {
  constructor(
    private readonly settings: LinkSettings,
    private readonly url: URL,
  ) {}

  async request(range: HeaderFields = {}): Promise<HttpResponse> {
    const { base, token, headers: access, userAgent, send } = this.settings;
    const plain = {
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': userAgent,
      ...range,
    };
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const isOwn = this.url.origin === new URL(base).origin;
    const first = isOwn ? { ...access, ...plain, ...authorization } : plain;
    return follow(send, get(this.url, first), anywhere(plain));
  }

  async refusal(response: HttpResponse): Promise<LinkError> {
    await discardBody(response.body);
    const { status } = response;
    const returned = phrase('file-link-returned', status);
    if (status === 429 || status >= 500)
      return new LinkError(status, returned, retryAfter(response, this.settings.now()) ?? 0);
    const stale = [401, 403, 404, 410].includes(status);
    const why = phrase(stale ? 'file-link-expired' : 'file-link-no-file');
    return new LinkError(status, [returned, why]);
  }

  async rest({ tag, length }: Version, received: number): Promise<AsyncIterable<Uint8Array>> {
    const response = await this.request({ range: `bytes=${received}-`, 'if-range': tag });
    const { status, body } = response;
    const range = `bytes ${received}-${length - 1}/${length}`;
    // A cache may ignore If-Range. A 206 must have the ETag that a 200 would have had (RFC 9110, 15.3.7).
    const isSame = header(response, 'etag') === tag && header(response, 'content-range') === range;
    if (status === 206 && isSame) return body;
    if (![200, 206, 416].includes(status)) throw await this.refusal(response);
    await discardBody(body);
    throw new NotResumed(status, phrase('not-resumable'), 0);
  }

  /** Yields a body. When the body breaks off, it requests the rest of the same file (RFC 9110, 14). */
  async *resumed(
    first: AsyncIterable<Uint8Array>,
    version: Version,
    resume: Resume,
    from = 0,
  ): AsyncGenerator<Uint8Array> {
    let received = from;
    let body: AsyncIterable<Uint8Array> | undefined = first;
    for (;;) {
      try {
        body ??= await this.rest(version, received);
        for await (const chunk of body) {
          received += chunk.byteLength;
          yield chunk;
        }
        if (received >= version.length) return;
        throw new TransportError(phrase('cut-short'), { sent: true });
      } catch (error) {
        if (error instanceof NotResumed || worthAnotherTry(error) === undefined) throw error;
        if (!(await resume(error as CliError, received))) throw error;
        body = undefined;
      }
    }
  }
}

function parseLink(link: string, base: string): URL {
  const url = parseUrl(link, base);
  if (url === undefined) throw failedError(phrase('no-file-link'));
  if (url.protocol === 'https:' || (url.protocol === 'http:' && !base.startsWith('https:')))
    return url;
  if (url.protocol !== 'http:') throw failedError(phrase('file-link-of-scheme', url.protocol));
  throw failedError(phrase('file-link-open'), { hints: phrase('set-forwarded-proto') });
}

/** Returns the seconds to wait before another attempt; undefined if another is of no use. */
export function worthAnotherTry(error: unknown): number | undefined {
  if (error instanceof TransportError) return 0;
  return error instanceof LinkError ? error.retryAfter : undefined;
}

/**
 * Redirects of a download may lead to any host, but never from https to http.
 * @param headers of redirected requests; only the first request may have a token or headers of the user
 */
function anywhere(headers: HeaderFields): RedirectRules {
  return {
    most: 10,
    tooMany: () => failedError(phrase('file-link-redirects-too-often')),
    next: (location, { url }) => {
      const from = new URL(url);
      const to = parseUrl(location, from);
      if (to === undefined) throw failedError(phrase('file-link-redirects-nowhere'));
      if (to.protocol === 'https:' || (to.protocol === 'http:' && from.protocol === 'http:'))
        return get(to, headers);
      const [scheme, there] = [from.protocol.slice(0, -1), `${to.protocol}//${to.host}`];
      throw failedError(phrase('file-link-redirects-down', scheme, there));
    },
  };
}

function get({ href, hash }: URL, headers: HeaderFields): HttpRequest {
  return { method: 'GET', url: href.slice(0, href.length - hash.length), headers };
}
