import type { Api } from '../../client/client';
import { type Difference, differences, differenceText } from '../../client/compare-limits';
import { findLink } from '../../client/link';
import type { Context } from '../../context';
import type { NewPush, Push } from '../../contract';
import { deliver } from '../../delivery/print-or-rescue';
import { CliError } from '../../errors';
import type { Connection } from '../../session';
import { drawQr, type Terminal, toJson } from '../../terminal/output';
import { granted } from '../../terminal/push-text';
import type { PushOptions } from '../push';

/** A push that was created and may stay. */
export interface Made {
  readonly created: Push;
  readonly link: string;
  /** What must be said about it. */
  readonly warnings: readonly string[];
  /** What the instance granted, in words. */
  readonly summary?: string;
}

/** Finds the new push's link, and expires a push again that got looser limits than asked: then it throws. */
export async function settle(
  { api, target }: Connection,
  request: NewPush,
  created: Push,
  options: PushOptions,
): Promise<Made> {
  const { link, doubt } = await findLink(api, target.base, created);
  const found = differences(request, created);
  const looser = found.filter((one) => one.looser);
  if (looser.length > 0 && !options.acceptLimits) throw await revoke(api, created, link, looser);
  const warnings = found.map((one) => `the instance changed a limit: ${differenceText(one)}`);
  if (doubt !== undefined) warnings.unshift(doubt);
  if (options.notify && !created.notify_emails_to)
    warnings.push('the instance does not say that it sends e-mail: send the link yourself');
  const owned = target.token !== undefined;
  if (!owned && (options.name ?? options.note) !== undefined)
    warnings.push('name and note are for your lists, and a push made without a token is in none');
  const summary = granted(created, request.passphrase !== undefined, owned);
  return { created, link, warnings, summary };
}

/**
 * Gets the link to the user, then says what must be said. From here on a push exists: whatever fails, its link must not get
 * lost. What kept it from standard output comes back as the error.
 */
export async function tell(
  context: Context,
  options: PushOptions,
  say: Terminal,
  { created, link, warnings, summary }: Made,
): Promise<CliError | undefined> {
  const text = options.json ? toJson({ ...created, html_url: link }) : link;
  const result = { bytes: `${text}\n`, what: 'link', link, json: options.json } as const;
  const trouble = await deliver(context, result);
  for (const warning of warnings) await say.warn(warning);
  if (options.copy) await copyLink(context, say, link);
  if (summary !== undefined) await say.remark(summary);
  if (options.qr) await drawQr(say, link);
  return trouble;
}

/** Whoever has no clipboard has the link all the same. */
async function copyLink(context: Context, say: Terminal, link: string): Promise<void> {
  const { copiedText, findClipboard } = await import('../../delivery/clipboard');
  const clipboard = await findClipboard(context);
  if (!clipboard) return say.warn('the link is printed only: there is no clipboard');
  if (await clipboard.write(link)) return say.note(copiedText(clipboard));
  return say.warn(`the link is printed only: ${clipboard.name} did not take it`);
}

/** Takes back a push that would live longer than asked, and makes the error that says so. */
async function revoke(
  api: Api,
  created: Push,
  link: string,
  looser: readonly Difference[],
): Promise<CliError> {
  const what = `the instance granted looser limits than asked: ${looser.map(differenceText).join('; ')}`;
  try {
    if (created.url_token === '') throw new CliError('failed', 'the instance told no token');
    await api.expire(created.url_token);
  } catch (error) {
    return new CliError(
      'rejected',
      `${what}; and expiring the push again FAILED, so the secret can still be read at ${link}`,
      {
        hint: 'expire it yourself: open the link and delete it, or run pwpush expire with a token',
        cause: error,
        remains: { link, expired: false },
      },
    );
  }
  return new CliError('rejected', `${what}; the push was expired again`, {
    hint: 'ask for limits within what the instance takes, or keep such a push with --accept-limits',
    remains: { link, expired: true },
  });
}
