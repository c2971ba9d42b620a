import type { Command } from 'commander';
import type { Context } from '../../context';
import { usageError } from '../../errors';
import { type GlobalOptions, optionsOf } from '../../options';
import { dataFolder } from '../../profile/folders';
import { terminal } from '../../terminal/output';

export { serviceFailure, withService } from '../../service-errors';

/** The option that names the service's folder, on every word of `serve`. */
export const DATA = [
  '--data <folder>',
  "where the database lives; the platform's data folder",
] as const;

/** The option that names its PostgreSQL. */
export const DATABASE = [
  '--database <url>',
  'keep the data in PostgreSQL: postgres://… (DATABASE_URL)',
] as const;

interface Given {
  readonly data?: string;
  readonly database?: string;
  readonly ephemeral?: boolean;
}

/** Where the data are: in the named PostgreSQL, or else in the folder. Throws when they would also be in memory. */
export function placeOf(context: Context, { data, database, ephemeral }: Given) {
  if (ephemeral && database)
    throw usageError('--ephemeral keeps nothing in a --database', 'leave out one of the two');
  const url = ephemeral ? undefined : database || context.env.DATABASE_URL;
  return { data: data ?? dataFolder(context), ...(url ? { database: url } : {}) };
}

/** Where the instance key is, when not beside the data. */
export const keyFile = ({ env }: Context) =>
  env.PWPUSH_INSTANCE_KEY_FILE ? { instanceKeyFile: env.PWPUSH_INSTANCE_KEY_FILE } : {};

/** What to say of a command line that holds the database's password; nothing when it holds none. */
export function passwordInSight(command: Command): string | undefined {
  for (let one: Command | null = command; one; one = one.parent) {
    const typed = one.getOptionValueSource('database') === 'cli';
    const url = String(one.opts().database);
    if (typed && /^\w+:\/\/[^@/?#:]*:[^@/?#]+@|[?&]password=[^&]/.test(url)) {
      return 'other users of this machine can read the password in --database; use DATABASE_URL or PGPASSWORD';
    }
  }
  return undefined;
}

/** The options of a word of `serve`, those that stand behind `serve` itself included; warns of a password in sight. */
export async function readOptions<T extends GlobalOptions>(
  context: Context,
  word: Command,
): Promise<T> {
  const options = { ...word.parent?.opts(), ...optionsOf(word, context.env, {} as T) };
  const said = passwordInSight(word);
  if (said) await terminal(context, options).warn(said);
  return options;
}
