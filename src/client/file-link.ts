import { CliError } from '../errors';
import { discard, follow } from './transport/file-redirects';
import { retryAfter } from './transport/retry-after';
import { header, type Transport, TransportError } from './transport/transport';

/** A file of a push, as its link answers. */
export interface FileAnswer {
  /** Bytes announced; undefined when the answer does not say. */
  readonly length: number | undefined;
  /** Iterating throws a `TransportError` when the answer is cut or stalls. */
  readonly body: AsyncIterable<Uint8Array>;
}

interface Source {
  /** The instance's base address. */
  readonly base: string;
  readonly token?: string | undefined;
  readonly userAgent: string;
  readonly send: Transport;
  readonly now: () => Date;
}

/** A link that did not give its file; `again` is how soon it may, in seconds, when it may at all. */
export class LinkError extends CliError {
  readonly again: number | undefined;

  constructor(status: number, message: string, hint: string | undefined, again?: number) {
    super('failed', message, { status, hint });
    this.again = again;
  }
}

/**
 * Opens the link of a push's file (docs/wire.md, "File downloads"). The token goes along only where the link is
 * on the instance's own origin, and never beyond a redirect.
 * @throws LinkError, TransportError, or CliError when it leads where it must not
 */
export async function openLink(source: Source, link: string): Promise<FileAnswer> {
  const url = address(link, source.base);
  const own = url.origin === new URL(source.base).origin && source.token !== undefined;
  const headers = {
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': source.userAgent,
  };
  const response = await follow(source.send, url, headers, {
    ...headers,
    ...(own ? { authorization: `Bearer ${source.token}` } : {}),
  });
  if (response.status !== 200) {
    await discard(response.body);
    const told = retryAfter(header(response, 'retry-after'), source.now());
    throw refused(response.status, told);
  }
  return { length: lengthOf(header(response, 'content-length')), body: response.body };
}

function address(link: string, base: string): URL {
  let url: URL;
  try {
    url = new URL(link, base);
  } catch {
    throw new CliError('failed', 'the instance gave no usable address for it');
  }
  if (url.protocol === 'https:' || (url.protocol === 'http:' && !base.startsWith('https:')))
    return url;
  throw new CliError(
    'failed',
    `its link begins with ${url.protocol}, though the instance is asked over https; it was not followed`,
    { hint: 'a proxy in front of an instance must tell it about https (X-Forwarded-Proto)' },
  );
}

function refused(status: number, told: number | undefined): LinkError {
  if (status === 429 || status >= 500)
    return new LinkError(status, `its link answered ${status}`, undefined, told ?? 0);
  const stale = [401, 403, 404, 410].includes(status);
  const why = stale ? 'it may have stopped working' : 'that is no file';
  return new LinkError(status, `its link answered ${status}; ${why}`, undefined);
}

function lengthOf(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

/** Whether opening the link once more may help, and after how many seconds at least. */
export function worthAnotherTry(error: unknown): number | undefined {
  if (error instanceof TransportError) return 0;
  return error instanceof LinkError ? error.again : undefined;
}
