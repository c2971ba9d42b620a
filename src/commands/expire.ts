import { Command } from 'commander';
import { concurrentMap } from '../client/concurrent-map';
import { parseReference } from '../client/link';
import { AT_ONCE } from '../client/pages';
import type { Context } from '../context';
import type { Push } from '../contract';
import { CliError, ExitWith } from '../errors';
import { addGlobalOptions, type GlobalOptions, optionsOf } from '../options';
import { tellFailure } from '../report-error';
import { type Connection, connectEach } from '../session';
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
  const atOnce = Math.min(references.length, AT_ONCE);
  const connections = await connectEach(context, options, references, atOnce);
  const say = terminal(context, options);
  const expired: Push[] = [];
  let worst = 0;
  const outcomes = concurrentMap(references.entries(), async ([at, { base, token }]) => {
    const { api } = connections.get(base) as Connection;
    return { at, token, push: await api.expire(token).catch(failed) };
  });
  for await (const { at, token, push } of outcomes) {
    if (!(push instanceof CliError)) {
      expired.push(push);
      await say.remark(`${token} is expired`);
      continue;
    }
    if (references.length === 1) throw push;
    worst = Math.max(worst, push.exitStatus);
    await tellFailure(context, about(push, at, options), options);
  }
  if (options.json) await say.print(references.length === 1 ? expired[0] : expired, () => '');
  if (worst > 0) throw new ExitWith(worst);
}

/** A failure of one push is told in its turn; any other ends the command. */
function failed(error: unknown): CliError {
  if (error instanceof CliError) return error;
  throw error;
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
