import { Command } from 'commander';
import type { Context } from '../context';
import { CliError, ExitWith, exitStatus } from '../errors';
import { addGlobalOptions, optionsOf } from '../options';
import { NoInstance } from '../profile/target';
import {
  BRIEF,
  certificatesOf,
  createSession,
  type Instance,
  logged,
  type Session,
  timeoutOf,
} from '../session';
import { versionText } from '../terminal/instance-info';
import { type Invocation, invocation } from '../terminal/output';
import { pairs } from '../terminal/table';

const EXAMPLES = `
--check asks the address that a release has built in, or PWPUSH_LATEST_URL: an
https address of a JSON object whose "version" is that of the newest release.

Examples:
  $ pwpush version
  $ pwpush version --url https://pwpush.example --json | jq .features
  $ pwpush version --check`;

export function define(context: Context): Command {
  const command = new Command('version')
    .description('Show the version of pwpush, of the instance, and the features of the instance.')
    .option('--check', 'ask whether there is a newer release')
    .addHelpText('after', EXAMPLES)
    .action(() => {
      const options = optionsOf(command, context.env, { check: false });
      if (options.check) return check(invocation(context, options));
      return version(createSession(context, options));
    });
  return addGlobalOptions(command);
}

/** With `--json` the instance's object, with `pwpush` and `url` added. */
async function version({ context, say, connect }: Session): Promise<void> {
  let instance: Instance;
  try {
    instance = await connect();
  } catch (error) {
    if (!(error instanceof NoInstance)) throw error;
    await say.print({ pwpush: context.version }, (look) =>
      pairs([['pwpush', context.version]], look),
    );
    await say.remark(error.message);
    return;
  }
  const { api, target } = instance;
  const answer = await api.version();
  await say.print({ ...answer, pwpush: context.version, url: target.base }, (look) =>
    versionText(context.version, target.base, answer, look),
  );
}

/** Asks for the newest release, without instance, profile, token and headers. */
async function check(run: Invocation): Promise<void> {
  const { context, options, say } = run;
  const { isNewer, latestRelease, releaseAddress } = await import('../client/latest-release');
  const url = releaseAddress(context.env);
  const limit = AbortSignal.timeout(BRIEF * 1000);
  const { send } = await context.transport({
    timeout: Math.min(timeoutOf(run), BRIEF),
    ca: certificatesOf({ caFile: options.caFile ?? (context.env.PWPUSH_CA_FILE || undefined) }),
    env: context.env,
    signal: AbortSignal.any([context.signal, limit]),
  });
  const latest = await latestRelease(url, {
    send: options.debug ? logged(send, context.now, say.debug) : send,
    now: context.now,
  }).catch((error: unknown) => {
    if (!limit.aborted) throw error;
    throw new CliError('unknown', `${url.host} did not respond within ${BRIEF} s`);
  });
  const pwpush = context.version;
  const outdated = isNewer(latest, pwpush);
  await say.print({ pwpush, latest, outdated }, (look) =>
    pairs(Object.entries({ pwpush, latest }), look),
  );
  if (!outdated) return say.remark('this is the newest release');
  await say.remark('a newer release exists: upgrade pwpush in the way it was installed');
  throw new ExitWith(exitStatus.outdated);
}
