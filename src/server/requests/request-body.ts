import { requestFlags } from '../../contract/api';
import { durations } from '../../contract/lifetime';
import { fileBody, flagsOf, iso, jsonWithText } from '../http/responses';
import { daysRemaining } from '../rules/access';
import type { TextWithFiles, Viewed } from '../rules/views';
import type { PushRow } from '../store/push-rows';
import { requestState } from './requests';

/** Returns the request object of the API (docs/wire.md, "Requests"); `base` is the base URL of links. */
export function requestBody(request: PushRow, base: string, now: Date) {
  const link = `${base}/r/${request.url_token}`;
  const closeAfter = Math.round((request.expires_at - request.created_at) / 1000);
  const index = durations.indexOf(closeAfter);
  return {
    url_token: request.url_token,
    html_url: link,
    json_url: `${link}.json`,
    state: requestState(request),
    // The instance stores only a hash of the passphrase.
    passphrase: request.protected || request.expired_at !== null ? null : '',
    ...flagsOf(request, requestFlags),
    public_key: request.public_key,
    close_after_duration: index < 0 ? null : index,
    close_after: closeAfter,
    close_after_at: iso(request.expires_at),
    days_remaining: request.expired_at === null ? daysRemaining(request, now.getTime()) : 0,
    created_at: iso(request.created_at),
    updated_at: iso(request.updated_at),
  };
}

/** Returns the response to the retrieval of a request; `base` is the base URL of links. */
export function readRequest(
  { row, text, files, answer }: Viewed,
  requestor: string | undefined,
  base: string,
  now: Date,
): Response {
  const bodies = (list: TextWithFiles['files']) => list.map((file) => fileBody(file, base));
  const head = {
    ...requestBody(row, base, now),
    requestor,
    request: text,
    request_files: bodies(files),
  };
  return jsonWithText(head, 'response', answer.text, { files: bodies(answer.files) });
}
