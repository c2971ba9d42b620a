import { isPushLink } from '../client/link';
import type { NewPush, NewRequest, Push, SecretRequest } from '../contract/api';
import type { ErrorCode } from '../platform/errors';
import { type Difference, differences, differenceText, unconfirmed } from './compare-limits';

/** What is wrong with something that was created: it has to end. */
export interface Refusal {
  readonly refuse: ErrorCode;
  readonly why: string;
  readonly hint: string | undefined;
}

/** Whether what was created is as it was asked for. */
export type Verdict = { readonly warnings: readonly string[] } | Refusal;

interface WantedPush {
  readonly request: NewPush;
  readonly encrypted: boolean;
  readonly acceptLimits: boolean;
  /** The id of the account that it was created in. */
  readonly account: number | undefined;
  /** It was created with a token. */
  readonly owned: boolean;
}

export function judgePush(
  { request, encrypted, acceptLimits, account, owned }: WantedPush,
  made: Push,
  link: string,
): Verdict {
  const changed = differences(request, made);
  const looser = looserLimits(changed, acceptLimits, 'push');
  if (looser) return looser;
  // Of a request, the recipient could get an answer in clear.
  if (encrypted && !isPushLink(link))
    return rejected(
      'the instance returned a link that is not one of an encrypted push',
      'use another instance: this one is broken or malicious',
    );
  const warnings = changed.map(changedText);
  const missing = unconfirmed(request, made);
  if (missing.length > 0)
    warnings.push(`the instance did not confirm the requested ${missing.join(' and ')}`);
  if (account !== undefined && Number(made.account_id) !== account)
    warnings.push(`the instance did not confirm that the push belongs to account ${account}`);
  if (request.notify_emails_to && !made.notify_emails_to)
    warnings.push('the instance did not confirm that it sends e-mail: send the link yourself');
  if (!owned && (request.name ?? request.note) !== undefined)
    warnings.push('nobody will see the name or note: a push created without a token is not listed');
  return { warnings };
}

export function judgeRequest(
  request: NewRequest,
  acceptLimits: boolean,
  made: SecretRequest,
): Verdict {
  const key = made.public_key || undefined;
  if (request.public_key !== undefined && key !== request.public_key)
    return rejected(
      `the instance ${key === undefined ? 'dropped' : 'replaced'} the key of the request, and could read the answer`,
      'to ask without an instance, use pwpush receive; to let the instance read the answer, use --no-encrypt',
    );
  const changed = differences(request, made);
  const looser = looserLimits(changed, acceptLimits, 'request');
  if (looser) return looser;
  const warnings = changed.map(changedText);
  if (request.response_file_attachments && made.response_file_attachments === false)
    warnings.push('the instance does not let the answer have files');
  return { warnings };
}

function looserLimits(
  changed: readonly Difference[],
  acceptLimits: boolean,
  kind: 'push' | 'request',
): Refusal | undefined {
  const looser = changed.filter((one) => one.looser);
  if (looser.length === 0 || acceptLimits) return undefined;
  return rejected(
    `the instance granted looser limits than requested: ${looser.map(differenceText).join('; ')}`,
    `use limits that the instance allows, or keep the ${kind} with --accept-limits`,
  );
}

const rejected = (why: string, hint: string): Refusal => ({ refuse: 'rejected', why, hint });

const changedText = (one: Difference) => `the instance changed a limit: ${differenceText(one)}`;
