import { join } from 'node:path';
import { isGuarded } from '../cli/agent';
import type { Values } from '../cli/declare';
import { inWords } from '../cli/in-words';
import { outputRows } from '../cli/options';
import type { Entry } from '../cli/terminal/output';
import { unknownVariables } from '../cli/variables';
import { isLoopback } from '../contract/address';
import { APPLICATION } from '../contract/api';
import type { Context } from '../platform/context';
import { CliError } from '../platform/errors';
import { aborted } from '../platform/files/abort';
import { makeFolder } from '../platform/private-folder';
import { freeName, storedProfiles } from '../profile/config-file';
import { configName, folderOf } from '../profile/folders';
import { serviceIo, withService } from '../profile/load-service';
import { ENCRYPTS, type Profile, withEncryption } from '../profile/settings';
import { updateProfiles } from '../profile/store';
import help from './help/serve.txt?raw';
import { command } from './planned';
import { expire, pushes } from './serve/open-pushes';
import {
  type DataPlace,
  dataPlace,
  passwordWarnings,
  rows,
  variables,
} from './serve/serve-options';
import { backup, copy, health, rekey, restore, token } from './serve/subcommands';
import { trust } from './serve/trust';

interface ServePlan {
  readonly settings: Omit<Values<typeof rows>, 'database'> & DataPlace;
  /** The warnings for a JSON log, which the service starts; empty for a text log, as `plan` has printed them. */
  readonly warnings: readonly string[];
}

export default command({
  description: 'Run a Password Pusher server on this machine, with an embedded database.',
  help,
  globals: outputRows,
  commands: { token, trust, pushes, expire, rekey, backup, restore, copy, health },
  rows,
  plan: async (options, { command, context, say }): Promise<ServePlan> => {
    const unknown = unknownVariables({ context, say }, [...variables.values()]);
    const warnings = [...passwordWarnings(command), ...unknown];
    const isJson = options.log === 'json';
    if (!isJson) for (const warning of warnings) await say.warn(warning);
    const settings = { ...options, ...dataPlace(context, options) };
    return { settings, warnings: isJson ? warnings : [] };
  },
  run: serve,
});

/** Serves until SIGINT or SIGTERM, or until the terminal hangs up; then lets running HTTP requests finish. */
async function serve({ context, say: terminal }: Entry, plan: ServePlan): Promise<void> {
  const { settings, warnings } = plan;
  // A JSON log must not have notes between its lines.
  const none = async () => {};
  const say = settings.log === 'json' ? { ...terminal, note: none, remark: none } : terminal;
  const entry = { context, say };
  context.interrupts.enter({ mode: 'own' });
  const { signal: stop } = context;
  const guarded = await isGuarded(context);
  const { ephemeral, firstToken: wantsToken, host } = settings;
  // A service on loopback that is not ephemeral saves its token in a profile, so that an agent need not see it.
  const unseen = guarded && wantsToken && !(isLoopback(host) && !ephemeral);
  const reveal = ephemeral ? '; restart with --reveal to print one' : ' (see --reveal)';
  const service = await start(entry, plan, unseen ? `an agent would read it${reveal}` : undefined);
  for (const warning of warnings) service.warn(warning);
  // SIGHUP is handled before the address is printed, because a script may send it once it reads the address.
  const hangup = hungUp(context, service.reload);
  const { url, firstToken } = service;
  const profile = await profileOf(entry, plan, service);
  // --quiet does not suppress the token, because it cannot be shown again.
  if (firstToken !== undefined && !say.manner.json && !guarded) {
    const where = profile ? `kept in profile "${profile.name}"` : 'shown only now';
    await say.announce(`token of admin, ${where}: ${firstToken}`);
  }
  const next = nextCommand(plan, service, profile);
  // If standard output is closed, the address is only in the log.
  if (!context.stdout.closed)
    await say.print(
      firstToken === undefined || guarded ? { url } : { url, token: firstToken },
      () => `${url}\n`,
    );
  if (next !== undefined) await say.remark(`in another terminal: ${next}`);
  await Promise.race([aborted(stop), hangup]);
  await service.close();
}

function start({ context, say }: Entry, { settings }: ServePlan, tokenHidden: string | undefined) {
  if (!settings.ephemeral) makeFolder(settings.data, 'choose-data-folder');
  const log = (line: string, level?: string) => {
    if (say.manner.quiet && level === 'info') return;
    context.stderr.write(`${line}\n`).catch(() => {});
  };
  return withService(({ startService }) =>
    startService(
      { ...settings, tokenHidden },
      { ...serviceIo(context, log, say.warn), supervision: context },
    ),
  );
}

type Started = Awaited<ReturnType<typeof start>>;

/** Returns the profile with a token of the service, which is saved if the token is new. */
async function profileOf(entry: Entry, { settings }: ServePlan, service: Started) {
  const { ephemeral, trustProxy } = settings;
  // --ephemeral writes nothing to disk, and its token would be useless after the run.
  if (ephemeral || !service.loopback) return undefined;
  const known = service.firstToken === undefined ? findProfile : keepProfile;
  return known(entry, service, Boolean(trustProxy));
}

/** Returns the command that pushes from another terminal; undefined for a service for other machines. */
function nextCommand(
  { settings: { ephemeral, anonymous } }: ServePlan,
  { localUrl, loopback }: Started,
  profile: Awaited<ReturnType<typeof profileOf>>,
): string | undefined {
  if (!ephemeral && !loopback) return undefined;
  if (profile !== undefined)
    return `pwpush push${profile.isCurrent ? '' : ` --profile ${profile.name}`}`;
  return anonymous ? `pwpush push --encrypt --url ${localUrl}` : `pwpush login ${localUrl}`;
}

/**
 * Finds the profile with a token of the service. If its address is another one of this machine, at which the service
 * was before, updates it: the token belongs to the database and is still valid. A proxy keeps its address, and so does
 * a service that still runs on the data.
 */
async function findProfile(entry: Entry, service: Started, isBehindProxy: boolean) {
  const { localUrl: url, knows, isShared } = service;
  if (isShared) {
    await entry.say.note('another service runs on this data; profiles stay as they are');
    return undefined;
  }
  try {
    const { current, profiles } = storedProfiles(entry.context);
    for (const [name, { url: before, token }] of Object.entries(profiles)) {
      if (before === undefined || token === undefined || !(await knows(token))) continue;
      const profile = { name, isCurrent: name === current };
      if (before === url) return profile;
      if (isBehindProxy || !isLoopback(new URL(before).hostname)) continue;
      await updateProfiles(entry, (stored) => ({
        ...stored,
        profiles: { ...stored.profiles, [name]: { ...stored.profiles[name], url } },
      }));
      await entry.say.note(`profile "${name}" leads here now, no longer to ${before}`);
      return profile;
    }
  } catch {
    // The service works without profiles; its user may not even have a home folder.
  }
  return undefined;
}

/**
 * Saves the service as profile `local`, so that `pwpush push` works in the next terminal. Returns undefined if
 * saving fails.
 */
async function keepProfile(entry: Entry, { localUrl: url, firstToken: token, warn }: Started) {
  try {
    const local: Profile = { url, edition: APPLICATION, ...(token !== undefined && { token }) };
    const { name, current } = await updateProfiles(entry, (stored) => {
      const name = freeName(stored, 'local');
      const profiles = { ...stored.profiles, [name]: withEncryption(local, {}) };
      return { name, current: stored.current ?? name, profiles };
    });
    const isCurrent = current === name;
    const use = isCurrent ? '' : `; use it with --profile ${name}`;
    const path = join(folderOf('config', entry.context), configName);
    await entry.say.note(`saved with its token in ${path} as profile "${name}"${use}`);
    await entry.say.note(ENCRYPTS);
    return { name, isCurrent };
  } catch (error) {
    const why =
      error instanceof CliError ? await inWords(error) : (error as NodeJS.ErrnoException).code;
    warn(`the token was not saved as a profile: ${why}`);
    return undefined;
  }
}

/** Resolves when the terminal of the service is gone. Without a terminal, SIGHUP reloads the service. */
function hungUp(context: Context, reload: () => Promise<void>): Promise<void> {
  const { stdin, stdout, stderr } = context;
  const hasTerminal = stdin.isTTY || stdout.isTTY || stderr.isTTY;
  return new Promise((resolve) => {
    const hangup = () => (hasTerminal ? resolve() : void reload());
    context.interrupts.enter({ mode: 'own', hangup });
  });
}
