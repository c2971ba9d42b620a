import type { Call } from './calls';
import { header, jsonIn, type WholeResponse } from './transport/response';

// A success of the form that its call has, and an error of the instance in JSON, tell what became of a request. All else is
// a lost response: a page, an empty body, a part of a response, a failure of a proxy.

/**
 * Whether a response, which is no success of the form of its call, tells that the instance refused the request. That of a
 * limit does not, nor one that asks to come again later: the first request may have been done.
 */
export function isRefusal(response: WholeResponse): boolean {
  const { status } = response;
  return (
    status >= 400 &&
    status < 500 &&
    ![408, 425, 429].includes(status) &&
    header(response, 'retry-after') === undefined &&
    isError(response)
  );
}

/**
 * Whether the first response to a request, which is no success of the form of its call, leaves open what became of it. What
 * is no refusal of an instance does too where it can be sent again without harm: what is in front may refuse the response,
 * not the request.
 */
export function leavesOpen(response: WholeResponse, { holds, once, ends }: Call): boolean {
  const { status } = response;
  if (status >= 300 && status < 500) {
    if (!(once ?? ends) || [413, 429].includes(status)) return false;
    return isMarkup(response) || (status >= 400 && !isOwnRefusal(response));
  }
  // A service that has lost its database does not know whether it took a view.
  return status !== 503 || holds === 'secret' || !isError(response);
}

/** Whether a refusal is of something in front of the instance, such as a browser check or a login, and not its own. */
export function isInFront(response: WholeResponse): boolean {
  const { status } = response;
  if (header(response, 'cf-mitigated') !== undefined) return true;
  // An instance says the first five with pages, too, or they mean the same wherever they are from.
  if (status < 400 || status > 499 || [400, 404, 413, 422, 429].includes(status)) return false;
  if (isMarkup(response)) return true;
  // An instance says in JSON that it forbids something.
  const inWords =
    /^\s*[^\s{[\ufeff]/.test(response.body.toString('utf8', 0, 256)) &&
    jsonIn(response) === undefined;
  if (status === 403 && inWords && !isThrottling(response)) return true;
  const challenge = [response.headers['www-authenticate']].flat().join();
  // RFC 9110, 11.6.1; `Token` is that of the web framework of the reference.
  const isOwn = challenge === '' || /(^|,)\s*(bearer|token)\b/i.test(challenge);
  return status === 401 && !isOwn && !isError(response);
}

/** Whether an instance may have refused a request so: in JSON, or without a word, as the reference does a token (docs/wire.md). */
function isOwnRefusal(response: WholeResponse): boolean {
  const text = response.body.toString('latin1', 0, 8).trim();
  if (text === '{}' || (text === '' && response.status === 401)) return true;
  return isError(response) || isThrottling(response);
}

/** Instances before July 2024 throttle with 403 and a text body (docs/wire.md, "Editions and versions"). */
export function isThrottling(response: WholeResponse): boolean {
  const { status, body } = response;
  if (status !== 403 || isMarkup(response) || jsonIn(response) !== undefined) return false;
  return /throttl|too many|retry later|rate limit/i.test(body.toString('latin1', 0, 1024));
}

/** A page or XML: an API in JSON sends neither, whatever it refuses. */
function isMarkup({ body }: WholeResponse): boolean {
  return /^\s*<[!?a-z]/i.test(body.subarray(0, 256).toString('latin1'));
}

/** Whether a body is an error of API v2 (docs/wire.md, "Errors"): an `error`, or lists of messages by field, also in `errors`. */
function isError(response: WholeResponse): boolean {
  const body = jsonIn(response);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  const { error, errors } = body as { error?: unknown; errors?: unknown };
  if (typeof error === 'string') return true;
  const lists = Object.values(typeof errors === 'object' && errors !== null ? errors : body);
  return lists.length > 0 && lists.every((one) => Array.isArray(one));
}
