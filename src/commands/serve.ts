import { Command } from 'commander';
import { isGuarded } from '../cli/agent';
import { declare, group } from '../cli/declare';
import { addOutputOptions, revealRows } from '../cli/options';
import { type Invocation, invocation } from '../cli/terminal/output';
import { isLoopback } from '../contract/address';
import type { Context } from '../platform/context';
import { CliError } from '../platform/errors';
import { aborted } from '../platform/files/abort';
import { makeFolder } from '../platform/private-folder';
import { serviceIo, withService } from '../profile/load-service';
import { profileStore } from '../profile/profile-store';
import type { Profile, StoredProfiles } from '../profile/settings';
import {
  dataPlace,
  keyFile,
  passwordWarning,
  rows,
  type ServeOptions,
  serveOptions,
  unknownVariables,
} from './serve/serve-options';
import { backupCommand, healthCommand, rekeyCommand, tokenCommand } from './serve/subcommands';

export { default as help } from './help/serve.txt?raw';

export function define(context: Context): Command {
  const command = new Command('serve')
    .description('Run a Password Pusher server on this machine, with an embedded database.')
    .helpCommand(false);
  command.action(async () => {
    const options = serveOptions(command, context.env, rows);
    const warnings = [passwordWarning(command) ?? [], unknownVariables(context.env)].flat();
    await serve(invocation(context, options), options, warnings);
  });
  command.addCommand(tokenCommand(context));
  command.addCommand(rekeyCommand(context));
  command.addCommand(backupCommand(context));
  command.addCommand(healthCommand(context));
  return addOutputOptions(declare(declare(command, rows), group('Data:', revealRows())));
}

/** Listens until SIGINT, SIGTERM, or the terminal hangs up; then lets running requests finish. */
async function serve(
  run: Invocation,
  options: ServeOptions,
  warnings: readonly string[],
): Promise<void> {
  const { context, say } = run;
  const jsonLog = options.log === 'json';
  if (!jsonLog) for (const warning of warnings) await say.warn(warning);
  context.interrupts.enter({ mode: 'own' });
  const { signal: stop } = context;
  const guarded = await isGuarded(context);
  // It can still be saved as a profile.
  const unseen = guarded && options.firstToken && !(isLoopback(options.host) && !options.ephemeral);
  const service = await start(
    run,
    options,
    unseen ? 'an agent would read it (see --reveal)' : undefined,
  );
  // In JSON they are lines of the log, which begins with the service.
  if (jsonLog) for (const warning of warnings) service.warn(warning);
  // Before the address is printed: a script that reads it may send the signal.
  const hangup = hungUp(context, service.reload);
  const { url, firstToken } = service;
  let next: string | undefined;
  if (firstToken !== undefined) {
    // Even with --quiet: it cannot be shown again.
    if (!options.json && !guarded)
      await say.announce(`token of admin, shown only now: ${firstToken}`);
    // --ephemeral writes nothing to disk, and the token of its database would be useless after it.
    if (!options.ephemeral && service.loopback) next = await keepProfile(run, service, jsonLog);
  }
  await say.print(
    firstToken === undefined || guarded ? { url } : { url, token: firstToken },
    () => `${url}\n`,
  );
  if (next !== undefined && !jsonLog) await say.remark(`in another terminal: ${next}`);
  await Promise.race([aborted(stop), hangup]);
  await service.close();
}

function start(
  { context, say }: Invocation,
  options: ServeOptions,
  tokenHidden: string | undefined,
) {
  const place = dataPlace(context, options);
  if (!options.ephemeral)
    makeFolder(place.data, 'choose a folder that you can write to with --data');
  const log = (line: string, level?: string) => {
    if (options.quiet && level === 'info') return;
    context.stderr.write(`${line}\n`).catch(() => {});
  };
  return withService(({ startService }) =>
    startService(
      { ...options, ...place, ...keyFile(context), tokenHidden },
      { ...serviceIo(context, log, say.warn), supervision: context },
    ),
  );
}

/**
 * Keeps the service as a profile, so that `pwpush push` works in the next terminal. Returns the command to type there,
 * or undefined if the profile could not be saved.
 */
async function keepProfile(
  { context, say }: Invocation,
  { localUrl: url, firstToken: token, warn }: Awaited<ReturnType<typeof start>>,
  jsonLog: boolean,
): Promise<string | undefined> {
  try {
    const store = await profileStore(context);
    let name = '';
    const { current } = await store.update((stored) => {
      const kept = keepLocal(stored, token === undefined ? { url } : { url, token });
      name = kept.name;
      return kept.stored;
    });
    const use = current === name ? '' : `; use it with --profile ${name}`;
    if (!jsonLog) await say.note(`saved as profile "${name}"${use}`);
    return `pwpush push${current === name ? '' : ` --profile ${name}`}`;
  } catch (error) {
    const why = error instanceof CliError ? error.message : (error as NodeJS.ErrnoException).code;
    warn(`the token was not saved as a profile: ${why}`);
    return undefined;
  }
}

/** Resolves when the terminal that started us is gone. Without a terminal, SIGHUP reloads the service. */
function hungUp(context: Context, reload: () => Promise<void>): Promise<void> {
  const { stdin, stdout, stderr } = context;
  const ours = stdin.isTTY || stdout.isTTY || stderr.isTTY;
  return new Promise((resolve) => {
    const hangup = () => (ours ? resolve() : void reload());
    context.interrupts.enter({ mode: 'own', hangup });
  });
}

/**
 * Adds the first token of a service on this machine as profile `local`, or `local-2` and so on if that exists: a token
 * is shown only once and must not be overwritten.
 */
export function keepLocal(stored: StoredProfiles, profile: Profile) {
  let name = 'local';
  for (let number = 2; Object.hasOwn(stored.profiles, name); number++) name = `local-${number}`;
  const profiles = { ...stored.profiles, [name]: profile };
  return { name, stored: { current: stored.current ?? name, profiles } };
}
