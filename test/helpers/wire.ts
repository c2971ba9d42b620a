import { TransportError } from '../../src/client/transport/network-errors';
import type { HttpRequest, HttpResponse, Transport } from '../../src/platform/context';
import { phrase } from '../../src/platform/errors';

/** An answer, word for word. */
export interface Literal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The connection breaks after the body. */
  readonly cut?: boolean;
}

export function json(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Literal {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body,
  };
}

export function html(status: number, body: string): Literal {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}

/** No answer: the connection broke, before or after the request left. */
export function broken(sent: boolean, timedOut = false): TransportError {
  return new TransportError(phrase(sent ? 'incomplete' : 'unreachable', 'pw.test'), {
    sent,
    timedOut,
  });
}

/** Gives these answers in turn, whatever is asked, and writes down what was. */
export function wire(answers: readonly (Literal | TransportError)[]) {
  const left = [...answers];
  const sent: string[] = [];
  const send: Transport = async (request) => {
    sent.push(spelled(request));
    const answer = left.shift();
    if (answer === undefined) throw new Error(`one request too many: ${spelled(request)}`);
    if (answer instanceof TransportError) throw answer;
    return answering(answer);
  };
  return {
    sent,
    send,
    check: () => {
      if (left.length > 0) throw new Error(`${left.length} answers were never asked for`);
    },
  };
}

/** An answer as a transport has it. */
export function answering(answer: Literal): HttpResponse {
  return { status: answer.status, headers: answer.headers ?? {}, body: bodyOf(answer) };
}

/** The same instance, but that `change` makes its bodies. */
export function rewriting(send: Transport, change: (body: string, request: HttpRequest) => string): Transport {
  return async (request) => {
    const response = await send(request);
    const { 'content-length': _, ...headers } = response.headers;
    const pieces: Uint8Array[] = [];
    for await (const piece of response.body) pieces.push(piece);
    const body = change(Buffer.concat(pieces).toString(), request);
    return { ...response, headers, body: bodyOf({ status: response.status, body }) };
  };
}

/** A request as lines: method and address, headers with no random value, an empty line and the body where there is one. */
function spelled({ method, url, headers, body }: HttpRequest): string {
  const lines = Object.entries(headers).map(
    ([name, value]) => `${name}: ${name === 'idempotency-key' ? 'KEY' : value}`,
  );
  return [`${method} ${url}`, ...lines, ...(body === undefined ? [] : ['', body])].join('\n');
}

async function* bodyOf({ body = '', cut = false }: Literal): AsyncIterable<Uint8Array> {
  const bytes = Buffer.from(body as Uint8Array);
  if (bytes.length > 0) yield bytes;
  if (cut) throw broken(true);
}
