import { findUnansweredPush, type RecentPushes } from '../../client/find-unanswered-push';
import { webAddress } from '../../client/link';
import type { Context } from '../../context';
import type { NewPush, Push } from '../../contract';
import { CliError } from '../../errors';
import type { GlobalOptions } from '../../options';
import { briefSettings, type Connection } from '../../session';
import { terminal } from '../../terminal/output';
import { count } from '../../terminal/time';

/**
 * The error of a creation that was not answered, with what the user's active pushes tell about it. Takes 10 s
 * at most, and never creates another push.
 * @param started when the creation was sent
 */
export async function unanswered(
  context: Context,
  options: GlobalOptions,
  { target }: Connection,
  asked: NewPush,
  started: Date,
  failure: CliError,
): Promise<CliError> {
  if (target.token === undefined || context.signal.aborted || !isOpen(failure)) return failure;
  await terminal(context, options).remark('no answer; looking through your active pushes');
  try {
    const settings = await briefSettings(context, options, target);
    return telling(failure, target.base, await findUnansweredPush(settings, asked, started));
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return extended(failure, `your pushes could not be looked through (${error.message})`);
  }
}

/** Whether a push may have been created: nothing came back, or the word of a proxy in front. */
export function isOpen({ code, status }: CliError): boolean {
  return code === 'unknown' || (status !== undefined && status >= 500);
}

function telling(failure: CliError, base: string, { similar, others }: RecentPushes): CliError {
  const found = similar.map((push) => shown(push, base));
  const [first] = found;
  if (first === undefined) return extended(failure, noneFound(others), LOOK_AGAIN, { found });
  if (found.length === 1)
    return extended(
      failure,
      `a push like it was created since: ${first.html_url}`,
      `if it is this one, use its link; if in doubt, pwpush expire ${first.url_token} and push again`,
      { found },
    );
  return extended(
    failure,
    `${found.length} pushes like it were created since: ${found.map((push) => push.html_url).join(' ')}`,
    'see pwpush list; expire the one that is not yours to use, and push again',
    { found },
  );
}

const LOOK_AGAIN = 'it may still be on its way: before you push again, look with pwpush list';

function noneFound(others: number): string {
  const none = 'your active pushes have none like it';
  return others === 0
    ? none
    : `${none}, but ${count(others, 'other')} created since: the instance may have changed a limit`;
}

/** As a listing has it, with a link to click and without the passphrase, which the reference echoes. */
function shown({ passphrase: _secret, ...push }: Push, base: string): Push {
  return { ...push, html_url: webAddress(push.html_url) ?? `${base}/p/${push.url_token}` };
}

function extended(
  { code, message, status, hint, cause }: CliError,
  more: string,
  better?: string,
  remains?: CliError['remains'],
): CliError {
  return new CliError(code, `${message}; ${more}`, {
    hint: better ?? hint,
    status,
    cause,
    remains,
  });
}
