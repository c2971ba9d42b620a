import { Command } from 'commander';
import type { Push } from '../api/contract';
import { parseReference } from '../api/reference';
import { type Connection, connect } from '../connect';
import type { Context } from '../context';
import { CliError, ExitWith } from '../errors';
import { addGlobalOptions, type GlobalOptions, optionsOf } from '../options';
import { failureText } from '../terminal/failure';
import { terminal } from '../terminal/output';

interface ExpireOptions extends GlobalOptions {
  readonly links: readonly string[];
}

const EXAMPLES = `
You may expire your own pushes, and those whose recipient may delete them.

Examples:
  $ pwpush expire abc123def456
  $ pwpush list | cut -f 1 | xargs pwpush expire --`;

export function expireCommand(context: Context): Command {
  const command = new Command('expire')
    .description('Expire pushes now: their secrets are gone for good.')
    .argument('<links...>', 'links or tokens of the pushes')
    .addHelpText('after', EXAMPLES)
    .action((links: string[]) =>
      expire(context, { ...optionsOf(command, context.env, {}), links }),
    );
  return addGlobalOptions(command);
}

/** Expires each; one that fails does not keep the others from it, and the worst status counts. */
export async function expire(context: Context, options: ExpireOptions): Promise<void> {
  const references = options.links.map(parseReference);
  // All of them before the first request: what is wrong with the command line is told at once.
  const connections = new Map<string | undefined, Connection>();
  for (const { base } of references) {
    if (!connections.has(base)) connections.set(base, await connect(context, options, base));
  }
  const say = terminal(context, options);
  const expired: Push[] = [];
  let worst = 0;
  for (const [at, reference] of references.entries()) {
    try {
      const { api } = connections.get(reference.base) as Connection;
      expired.push(await api.expire(reference.token));
      await say.remark(`${reference.token} is expired`);
    } catch (error) {
      if (!(error instanceof CliError) || references.length === 1) throw error;
      worst = Math.max(worst, error.exitStatus);
      await context.stderr.write(failureText(about(error, at, options), options)).catch(() => {});
    }
  }
  if (options.json) await say.print(references.length === 1 ? expired[0] : expired, () => '');
  if (worst > 0) throw new ExitWith(worst);
}

/** The same failure, naming which of the links it is about. */
function about(error: CliError, at: number, options: ExpireOptions): CliError {
  const message = `${options.links[at]}: ${error.message}`;
  return new CliError(error.code, message, {
    hint: error.hint,
    status: error.status,
    cause: error,
  });
}
