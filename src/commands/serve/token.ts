import { Command } from 'commander';
import type { Context } from '../../context';
import { usageError } from '../../errors';
import { addOutputOptions, type GlobalOptions, optionsOf } from '../../options';
import { ownerColumns } from '../../terminal/listings';
import { terminal } from '../../terminal/output';
import { table } from '../../terminal/table';
import { DATA, DATABASE, passwordInSight, placeOf, serviceFailure } from './data';

/** `serve token add|list|revoke`. */
export function tokenCommand(context: Context): Command {
  const token = addOutputOptions(
    new Command('token')
      .summary('add, list and revoke API tokens')
      .description('Manage the API tokens of the service on this machine.')
      .helpCommand(false),
  );
  const sub = (word: string, summary: string) => {
    const one = addOutputOptions(
      token
        .command(word)
        .summary(summary)
        .option(...DATA)
        .option(...DATABASE),
    );
    one.description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`);
    // Both may also stand behind `serve`.
    const options = async (): Promise<TokenOptions> => {
      const options = { ...token.parent?.opts(), ...optionsOf(one, context.env, {}) };
      const said = passwordInSight(one);
      if (said) await terminal(context, options).warn(said);
      return options;
    };
    return { one, options };
  };
  const adding = sub('add', 'make a token for a user, who is made when new; printed once');
  adding.one
    .argument('<name>', 'the user')
    .action(async (name: string) => addToken(context, await adding.options(), name));
  const listing = sub('list', 'list the users and how many tokens they have');
  listing.one.action(async () => listTokens(context, await listing.options()));
  const revoking = sub('revoke', "revoke all of a user's tokens");
  revoking.one
    .argument('<name>', 'the user')
    .action(async (name: string) => revokeTokens(context, await revoking.options(), name));
  return token;
}

interface TokenOptions extends GlobalOptions {
  readonly data?: string;
  readonly database?: string;
}

async function withOwners<T>(
  context: Context,
  options: TokenOptions,
  work: (owners: Owners) => Promise<T>,
): Promise<T> {
  const { openOwners, ServiceError } = await context.service();
  try {
    const owners = await openOwners(placeOf(context, options), {
      now: context.now,
      env: context.env,
      quietly: context.quietly,
    });
    return await work(owners).finally(() => owners.close());
  } catch (error) {
    throw error instanceof ServiceError ? serviceFailure(error) : error;
  }
}

type Owners = Awaited<ReturnType<typeof import('../../server/service').openOwners>>;

async function addToken(context: Context, options: TokenOptions, name: string): Promise<void> {
  const token = await withOwners(context, options, (owners) => owners.add(name));
  await terminal(context, options).print({ name, token }, () => `${token}\n`);
}

async function listTokens(context: Context, options: TokenOptions): Promise<void> {
  const rows = await withOwners(context, options, (owners) => owners.list());
  await terminal(context, options).print(rows, (look) => table(rows, ownerColumns, look));
}

async function revokeTokens(context: Context, options: TokenOptions, name: string): Promise<void> {
  const revoked = await withOwners(context, options, (owners) => owners.revoke(name));
  if (revoked === 0)
    throw usageError(
      `there is no user "${name}" with a token`,
      'pwpush serve token list shows who has one',
    );
  await terminal(context, options).print({ name, revoked }, () => `${name}: ${revoked} revoked\n`);
}
