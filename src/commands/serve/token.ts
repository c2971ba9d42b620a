import { Command } from 'commander';
import type { Context } from '../../context';
import { usageError } from '../../errors';
import { type ServiceModule, withService } from '../../load-service';
import { addOutputOptions, type GlobalOptions } from '../../options';
import { ownerColumns } from '../../terminal/listings';
import type { Invocation } from '../../terminal/output';
import { table } from '../../terminal/table';
import { beginSubcommand, DATA, DATABASE, type DataOptions, dataPlace } from './serve-options';

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
    return { one, begin: () => beginSubcommand<TokenOptions>(context, one) };
  };
  const adding = sub('add', 'make a token for a user, who is made when new; printed once');
  adding.one
    .argument('<name>', 'the user')
    .action(async (name: string) => addToken(await adding.begin(), name));
  const listing = sub('list', 'list the users and how many tokens they have');
  listing.one.action(async () => listTokens(await listing.begin()));
  const revoking = sub('revoke', "revoke all of a user's tokens");
  revoking.one
    .argument('<name>', 'the user')
    .action(async (name: string) => revokeTokens(await revoking.begin(), name));
  return token;
}

type TokenOptions = GlobalOptions & DataOptions;

interface TokenRun extends Invocation {
  readonly options: TokenOptions;
}

function withOwners<T>({ context, options }: TokenRun, work: (owners: Owners) => Promise<T>) {
  const { now, env, quietly } = context;
  return withService(async ({ openOwners }) => {
    const owners = await openOwners(dataPlace(context, options), { now, env, quietly });
    return work(owners).finally(() => owners.close());
  });
}

type Owners = Awaited<ReturnType<ServiceModule['openOwners']>>;

async function addToken(run: TokenRun, name: string): Promise<void> {
  const token = await withOwners(run, (owners) => owners.add(name));
  await run.say.print({ name, token }, () => `${token}\n`);
}

async function listTokens(run: TokenRun): Promise<void> {
  const rows = await withOwners(run, (owners) => owners.list());
  await run.say.print(rows, (look) => table(rows, ownerColumns, look));
}

async function revokeTokens(run: TokenRun, name: string): Promise<void> {
  const revoked = await withOwners(run, (owners) => owners.revoke(name));
  if (revoked === 0)
    throw usageError(
      `there is no user "${name}" with a token`,
      'pwpush serve token list shows who has one',
    );
  await run.say.print({ name, revoked }, () => `${name}: ${revoked} revoked\n`);
}
