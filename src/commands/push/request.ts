import type { NewPush } from '../../api/contract';
import { notification } from '../../api/recipients';
import { usageError } from '../../errors';
import type { Profile } from '../../profile/profile';
import type { PushOptions } from '../push';

/** What was asked for, and nothing else: what is left out gets the profile's or the instance's default. */
export function requestOf(
  payload: string | undefined,
  passphrase: string | undefined,
  options: PushOptions,
  profile: Profile | undefined,
): NewPush {
  const { kind, name, note } = options;
  const days = options.days ?? profile?.days;
  const views = options.views ?? profile?.views;
  const deletable = options.deletable ?? profile?.deletable;
  const step = options.retrievalStep ?? profile?.['retrieval-step'];
  return {
    ...(payload === undefined ? {} : { payload }),
    ...(kind === undefined ? {} : { kind }),
    ...(days === undefined ? {} : { expire_after_days: days }),
    ...(views === undefined ? {} : { expire_after_views: views }),
    ...(deletable === undefined ? {} : { deletable_by_viewer: deletable }),
    ...(step === undefined ? {} : { retrieval_step: step }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(name === undefined ? {} : { name }),
    ...(note === undefined ? {} : { note }),
    ...(options.notify ? notification(options.notify, options.notifyLocale) : {}),
  };
}

/** @throws CliError (usage) for addresses that no instance would take */
export function checkNotify({ notify, notifyLocale }: PushOptions): void {
  if (notify) notification(notify, notifyLocale);
  else if (notifyLocale !== undefined) throw usageError('--notify-locale goes with --notify EMAIL');
}
