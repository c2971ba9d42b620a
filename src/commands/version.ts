import { Command } from 'commander';
import type { Context } from '../context';
import { addGlobalOptions, optionsOf } from '../options';
import { createSession, type Session } from '../session';
import { versionText } from '../terminal/instance-info';

const EXAMPLES = `
Examples:
  $ pwpush version
  $ pwpush version --url https://pwpush.example --json | jq .features`;

export function define(context: Context): Command {
  const command = new Command('version')
    .description(
      'Print the version of this program, of the instance, and what the instance can do.',
    )
    .addHelpText('after', EXAMPLES)
    .action(() => version(createSession(context, optionsOf(command, context.env, {}))));
  return addGlobalOptions(command);
}

/** With `--json` the instance's object, with `pwpush` and `url` added. */
async function version({ context, say, connect }: Session): Promise<void> {
  const { api, target } = await connect();
  const answer = await api.version();
  await say.print({ ...answer, pwpush: context.version, url: target.base }, (look) =>
    versionText(context.version, target.base, answer, look),
  );
}
