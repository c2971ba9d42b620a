import { pushLink } from '../../contract/address';
import { refusalHead, responseOf } from '../http/responses';
import { viewsRemaining } from '../rules/access';
import { ServiceRefusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import { Forbidden } from './messages';
import { english } from './phrases';

// Recipients with nothing but curl get text: curl -H 'Accept: text/plain' -d '' LINK. It is English, as the API is.

/** Tells programs, which ask for plain text, from browsers, which ask for HTML. */
export function wantsText(request: Request): boolean {
  const accept = request.headers.get('accept') ?? '';
  return /\btext\/plain\b/i.test(accept) && !/\btext\/html\b/i.test(accept);
}

function text(body: string, status = 200, headers: Record<string, string> = {}): Response {
  return responseOf(body, 'text/plain; charset=utf-8', status, { vary: 'accept', ...headers });
}

/** Returns the text unchanged; with files, the message and a line with the address of each file. */
export function plainSecret(payload: string, files: readonly { readonly url: string }[]): Response {
  if (files.length === 0) return text(payload);
  const message = payload.trim() === '' ? '' : `${payload}\n\n`;
  return text(`${message}${files.map(({ url }) => `${url}\n`).join('')}`);
}

/** Says how to use a view. The status is an error, so that no script saves this text as the secret. */
export function plainOffer(push: PushRow, base: string): Response {
  const left = viewsRemaining(push);
  const views = `${left} ${left === 1 ? 'view' : 'views'}`;
  const sealed = push.sealed_with === null ? '' : 'The secret is end-to-end encrypted. ';
  const body = `${sealed}This link has ${views} left. To use one:\n  ${commandFor(push, base)}\n`;
  return text(body, 405, { allow: 'GET, HEAD, POST' });
}

/**
 * Returns the command that retrieves a push. `pwpush get` saves what it cannot decrypt, which a pipe would lose.
 * Without `-o -`, curl drops a text with null characters instead of writing it to a terminal.
 */
export function commandFor(push: PushRow, base: string): string {
  const link = `'${pushLink(base, push)}'`;
  if (push.sealed_with === 'recipient') return `pwpush get ${link} -i YOUR_KEY`;
  if (push.sealed_with !== null) return `pwpush get ${link}`;
  const input = push.protected ? '--data-urlencode passphrase@FILE' : "-d ''";
  return `curl -fsS -o - -H 'Accept: text/plain' ${input} ${link}`;
}

export function plainDeleted(): Response {
  return text('The secret was deleted.\n');
}

/** Says why there is no secret. The cause of an internal error is in the log only. */
export function plainError(error: unknown): Response {
  if (!(error instanceof ServiceRefusal))
    return text('The service could not answer this request.\n', 500);
  const { status, headers } = refusalHead(error);
  return text(`${messageOf(error)}\n`, status, headers);
}

function messageOf(refusal: ServiceRefusal): string {
  if (refusal instanceof Forbidden) return english[refusal.phrase];
  if (refusal.kind === 'not_found') return 'This link has expired, was deleted or never existed.';
  return refusal.message;
}
