import { Command } from 'commander';
import type { Context } from '../context';
import { addGlobalOptions, type GlobalOptions, optionsOf } from '../options';
import { connect, targetOf, wishesOf } from '../session';
import { versionText } from '../terminal/instance-info';
import { terminal } from '../terminal/output';

const EXAMPLES = `
Examples:
  $ pwpush version
  $ pwpush version --url https://pwpush.example --json | jq .features`;

export function versionCommand(context: Context): Command {
  const command = new Command('version')
    .description(
      'Print the version of this program, of the instance, and what the instance can do.',
    )
    .addHelpText('after', EXAMPLES)
    .action(() => version(context, optionsOf(command, context.env, {})));
  return addGlobalOptions(command);
}

/** With `--json` the instance's object, and beside it `pwpush` and `url`. */
export async function version(context: Context, options: GlobalOptions): Promise<void> {
  const target = await targetOf(context, wishesOf(context, options));
  const { api } = await connect(context, options, target);
  const answer = await api.version();
  await terminal(context, options).print(
    { ...answer, pwpush: context.version, url: target.base },
    (look) => versionText(context.version, target.base, answer, look),
  );
}
