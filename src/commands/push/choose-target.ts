import { type Entry, entryOf } from '../../cli/terminal/output';
import { type Context, contextWith } from '../../platform/context';
import { settingsOfEnvironment } from '../../profile/settings';
import { type InstanceOptions, sourcesOf, withProfiles } from '../../profile/sources';
import { type NoInstance, type Target, targetOf, targetOrNone } from '../../profile/target';

/** This machine, in place of an instance. */
export interface EphemeralTarget extends Pick<Target, 'passphraseFor' | 'defaults'> {
  readonly base?: undefined;
}

/** @throws CliError (usage) without readable profiles, as one may encrypt pushes, or limit them to fewer days */
export function targetInUse(entry: Entry, options: InstanceOptions): Target | NoInstance {
  const target = targetOrNone(sourcesOf(entry, options));
  if (!(target instanceof Error) && target.ignored) throw target.ignored;
  return target;
}

/**
 * Profiles do not apply to this machine. It encrypts by default, at whatever address it listens: others could read what
 * it serves over plain http, but not the key in the link.
 */
export function ephemeralTarget({ env }: Context): EphemeralTarget {
  return { defaults: { encrypt: 'link', ...settingsOfEnvironment(env) } };
}

/**
 * Offers a user without an instance to log in, or to serve the push from this machine.
 * @param servable whether this machine could serve the push
 */
export async function chooseTarget(
  entry: Entry,
  options: InstanceOptions,
  servable: boolean,
): Promise<Target | EphemeralTarget> {
  const { context, say } = entry;
  await say.note('no instance is configured (to run your own: pwpush serve, in another terminal)');
  if (servable) {
    const prompter = await context.prompter();
    const chosen = await prompter.choose('How do you want to share this push?', [
      { name: 'log in to an instance and push there', short: 'on an instance', value: 'login' },
      {
        name: 'serve it from this machine until it is viewed (--here)',
        short: 'from this machine',
        value: 'here',
      },
    ]);
    if (chosen === 'here') return ephemeralTarget(context);
  }
  const { login } = await import('../login');
  // stdout is for the link alone.
  const redirected = entryOf(contextWith(context, { stdout: context.stderr }), say.manner);
  const sources = sourcesOf(entry, options);
  await login(redirected, { address: undefined, keyring: false, sources });
  return targetOf(withProfiles(context, sources));
}
