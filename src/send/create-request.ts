import type { NewPassphrase } from '../cli/passphrase';
import type { Entry } from '../cli/terminal/output';
import { grantedDate } from '../cli/terminal/wording';
import type { Attachment } from '../client/form';
import { linkIn, withKey } from '../client/link';
import type { NewRequest } from '../contract/api';
import type { SecretRequest } from '../contract/decode';
import { askedFor } from '../contract/json';
import { durationText, grantedLifetime } from '../contract/lifetime';
import type { CreatedLink } from '../deliver/deliver-link';
import type { NewKey } from '../keep/request-keys';
import { failedError, phrase } from '../platform/errors';
import type { Undo } from '../platform/scope';
import type { Instance } from '../profile/connect';
import { create, fileOf, givenPassphrase } from './create';
import { judgeRequest, type Terms } from './judge';

interface RequestPlan extends Terms {
  readonly fields: Omit<NewRequest, 'passphrase' | 'public_key'>;
  /** They go with the question. */
  readonly files: readonly Attachment[] | undefined;
  readonly passphrase: NewPassphrase;
  /** Whether its closing was given as a date. */
  readonly byDate: boolean;
  /** Language of the page. */
  readonly locale: string | undefined;
  /** Makes the key that the answer is encrypted to, for the instance at that address; undefined for none. */
  readonly newKey: ((base: string) => NewKey) | undefined;
}

/**
 * Makes a private key, creates the request, and keeps the key.
 * @throws CliError (rejected) if the instance dropped or replaced the key, or its limits are looser than asked, (failed)
 * if the private key cannot be kept; the request is closed again then
 */
export async function createRequest(
  run: Entry,
  instance: Instance,
  plan: RequestPlan,
): Promise<CreatedLink & { readonly token: string }> {
  const { account, acceptLimits, byDate, locale } = plan;
  const { ready, made, token, link, warnings } = await create(run, instance, {
    kind: 'request',
    prepare: (undo) => prepare(run, instance, plan, undo),
    send: ({ request }, files) => instance.api.requests.create(request, files, account),
    judge: ({ request }, created) => judgeRequest(request, acceptLimits, created),
    keep: ({ key }, token) => {
      if (key && token === '') throw failedError(phrase('no-token-returned'));
      key?.keep(token);
    },
    end: (_, token) => instance.api.requests.close(token),
  });
  const encrypted = ready.key !== undefined;
  return {
    object: { ...made, encrypted },
    told: ready.told,
    token,
    link: withKey(linkIn(locale, link), ready.key?.recipient),
    warnings,
    summary: summaryOf(ready.request, made, encrypted, byDate),
    written: [ready.key?.path, fileOf(plan.passphrase)],
  };
}

async function prepare(
  run: Entry,
  { target }: Instance,
  { fields, files, passphrase, newKey }: RequestPlan,
  undo: Undo,
) {
  const key = newKey?.(target.base);
  if (key) undo(key.remove);
  const given = await givenPassphrase(passphrase, run, undo);
  const protection = askedFor({ passphrase: given.text, public_key: key?.recipient });
  return { request: { ...fields, ...protection }, files, key, told: given.told };
}

function summaryOf(
  asked: NewRequest,
  created: SecretRequest,
  encrypted: boolean,
  byDate: boolean,
): string {
  const lifetime = grantedLifetime(created);
  const date = byDate ? grantedDate(created) : undefined;
  const open = lifetime === undefined ? [] : [`open for ${durationText(lifetime)}`];
  return [
    ...(date === undefined ? open : [`open until ${date}`]),
    ...(asked.passphrase === undefined ? [] : ['passphrase required']),
    ...(created.response_file_attachments ? ['the answer may have files'] : []),
    ...(encrypted ? ['only this machine can read the answer'] : []),
  ].join(' · ');
}
