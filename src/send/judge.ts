import { isPushLink } from '../client/link';
import { type NewPush, type NewRequest, pushFlags } from '../contract/api';
import type { Push, SecretRequest } from '../contract/decode';
import {
  comparedLifetimes,
  DAY_SECONDS,
  durationText,
  type Fields,
  grantedLifetime,
  type LifetimeFields,
  requestedLifetime,
} from '../contract/lifetime';
import { type ErrorCode, type Fact, type Hint, phrase } from '../platform/errors';
import { listed } from '../words/grammar';
import type { EncryptMode } from './encryption';

/** Says why a created push or request, which differs from the requested one, has to end. */
export interface Refusal {
  readonly refuse: ErrorCode;
  readonly why: Fact | readonly Fact[];
  readonly hints: Hint | readonly Hint[] | undefined;
}

export type Verdict = { readonly warnings: readonly string[] } | Refusal;

interface WantedPush {
  readonly account: number | undefined;
  /** The push stays even if its limits are looser than requested. */
  readonly acceptLimits: boolean;
  readonly request: NewPush;
  /** Undefined if the push is not encrypted. */
  readonly mode: EncryptMode | undefined;
  /** The push was created with a token. */
  readonly owned: boolean;
}

export function judgePush(
  { request, mode, acceptLimits, account, owned }: WantedPush,
  made: Push,
  link: string,
): Verdict {
  const verdict = judgeLimits(request, made, acceptLimits, 'push');
  if ('refuse' in verdict) return verdict;
  // With the link of a request, the instance could show the recipient another text, in clear.
  if (mode !== undefined && !isPushLink(link))
    return rejected(
      'the instance returned a link that is not one of an encrypted push',
      'use another instance: this one is broken or malicious',
    );
  const { warnings } = verdict;
  const missing = unconfirmed(request, made);
  if (missing.length > 0)
    warnings.push(`the instance did not confirm the requested ${listed(missing)}`);
  if (account !== undefined && Number(made.account_id) !== account)
    warnings.push(`the instance did not confirm that the push belongs to account ${account}`);
  if (request.notify_emails_to && !made.notify_emails_to)
    warnings.push('the instance did not confirm that it sends e-mail: send the link yourself');
  const labels = labelsOf(request);
  if (!owned && labels.length > 0)
    warnings.push(
      `nobody will see the ${labels.join(' or the ')}: a push created without a token is not listed`,
    );
  return { warnings };
}

/** Returns the names of the fields that the sender's list of pushes shows. */
export function labelsOf(push: Pick<NewPush, 'name' | 'note'>): string[] {
  return (['name', 'note'] as const).filter((field) => push[field] !== undefined);
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
      phrase('request-here-or-plain'),
    );
  const verdict = judgeLimits(request, made, acceptLimits, 'request');
  if ('refuse' in verdict) return verdict;
  if (request.response_file_attachments && made.response_file_attachments === false)
    verdict.warnings.push('the instance does not let the answer have files');
  return verdict;
}

function judgeLimits(
  requested: RequestedLimits,
  made: Fields,
  acceptLimits: boolean,
  kind: 'push' | 'request',
): Refusal | { warnings: string[] } {
  const changed = differences(requested, made);
  const looser = changed.filter(({ looser }) => looser);
  if (looser.length === 0 || acceptLimits)
    return {
      warnings: changed.map(
        (difference) => `the instance changed a limit: ${differenceText(difference)}`,
      ),
    };
  return rejected(
    `the instance granted looser limits than requested: ${looser.map(differenceText).join('; ')}`,
    phrase('accept-limits', kind),
  );
}

const rejected = (why: string, hints: Hint): Refusal => ({ refuse: 'rejected', why, hints });

type Value = number | boolean;

type Difference = ReturnType<typeof differences>[number];

type RequestedLimits = LifetimeFields &
  Pick<NewPush, 'expire_after_views' | (typeof pushFlags)[number] | 'passphrase'>;

const flagNames = { deletable_by_viewer: 'deletable', retrieval_step: 'click' } as const;

const isValue = (value: unknown): value is Value =>
  typeof value === 'number' || typeof value === 'boolean';

/**
 * Instances silently replace values that they do not accept, and respond with 201 (docs/wire.md, "Limits"). Fields that
 * are missing or null in the response are not compared.
 */
export function differences(requested: RequestedLimits, granted: Fields) {
  /** A limit has the name of the option that requests it. The values of `days` may be fractions. */
  type Limit = [limit: string, requested: Value | undefined, granted: unknown];
  const lifetimes = comparedLifetimes(requested, granted);
  const days = (seconds?: number) => seconds && seconds / DAY_SECONDS;
  const limits: Limit[] = [
    ['days', days(lifetimes?.requested), days(lifetimes?.granted)],
    ['views', requested.expire_after_views, granted.expire_after_views],
    ...pushFlags.map((flag): Limit => [flagNames[flag], requested[flag], granted[flag]]),
    // The passphrase is "" without one; otherwise the passphrase itself, or null (docs/wire.md, "Push object").
    [
      'passphrase',
      requested.passphrase === undefined ? undefined : true,
      granted.passphrase !== '',
    ],
  ];
  return limits.flatMap(([limit, requested, granted]) => {
    if (requested === undefined || !isValue(granted) || requested === granted) return [];
    // Of the flags, only `deletable` makes a push looser; a click and a passphrase protect it.
    const looser =
      limit === 'deletable' || typeof requested === 'number'
        ? granted > requested
        : granted < requested;
    return [{ limit, requested, granted, looser }];
  });
}

/** Returns the requested limits that the response does not tell. */
function unconfirmed(requested: RequestedLimits, granted: Fields): ('days' | 'views')[] {
  const days = requestedLifetime(requested) !== undefined && grantedLifetime(granted) === undefined;
  const views = requested.expire_after_views !== undefined && granted.expire_after_views == null;
  return [...(days ? ['days' as const] : []), ...(views ? ['views' as const] : [])];
}

/** Returns a text such as `30 days requested, 7 granted` or `click requested, not granted`. */
function differenceText({ limit, requested, granted }: Difference): string {
  if (typeof requested !== 'number' || typeof granted !== 'number')
    return requested ? `${limit} requested, not granted` : `${limit} granted, not requested`;
  if (Number.isInteger(requested) && Number.isInteger(granted))
    return `${requested} ${requested === 1 ? limit.slice(0, -1) : limit} requested, ${granted} granted`;
  return `${durationText(requested * DAY_SECONDS)} requested, ${durationText(granted * DAY_SECONDS)} granted`;
}
