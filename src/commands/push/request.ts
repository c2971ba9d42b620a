import { notification } from '../../client/notification';
import type { NewPush } from '../../contract';
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

/** @throws CliError (usage) for options that go only with another one, or not with it, and for bad addresses */
export function checkCompanions(options: PushOptions): void {
  const { passphraseOut, generatePassphrase, notify, notifyLocale } = options;
  if (passphraseOut !== undefined && !generatePassphrase)
    throw usageError('--passphrase-out goes with --generate-passphrase');
  if (notify) notification(notify, notifyLocale);
  else if (notifyLocale !== undefined) throw usageError('--notify-locale goes with --notify EMAIL');
  checkHere(options);
}

function checkHere(options: PushOptions): void {
  const { here, host, port, tlsCert, tlsKey } = options;
  const placed = { '--host': host, '--port': port, '--tls-cert': tlsCert, '--tls-key': tlsKey };
  // A shell's variable that is not set: no host would be any host, and no certificate no TLS.
  const empty = Object.entries(placed).find(([, value]) => value === '');
  if (empty) throw usageError(`${empty[0]} takes a value, and got an empty one`);
  if (here) {
    const misplaced = instanceOnly(options);
    if (misplaced !== undefined) throw usageError(`${misplaced} does not go with --here`);
    return;
  }
  const alone = Object.entries(placed).find(([, value]) => value !== undefined);
  if (alone) throw usageError(`${alone[0]} goes with --here`);
}

/** The first option given that needs an instance, and so does not go with `--here`. */
export function instanceOnly(options: PushOptions): string | undefined {
  const { url, profile, tokenFile, name, note, notify, dryRun } = options;
  const elsewhere = {
    ...{ '--url': url, '--profile': profile, '--token-file': tokenFile },
    ...{ '--name': name, '--note': note, '--notify': notify },
    '--dry-run': dryRun || undefined,
  };
  return Object.entries(elsewhere).find(([, value]) => value !== undefined)?.[0];
}
