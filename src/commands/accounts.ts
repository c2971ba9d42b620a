import { Command } from 'commander';
import { accountList } from '../cli/terminal/listings';
import { printRows } from '../cli/terminal/table';
import type { Context } from '../platform/context';
import { type Session, withSession } from '../profile/session';

const EXAMPLES = `
In a pipe each account is a line of tab-separated fields: id, name. Choose one
with --account ID or NAME, or keep it with pwpush profile set account ID.

Examples:
  $ pwpush accounts
  $ pwpush push --account 42`;

export function define(context: Context): Command {
  const command = new Command('accounts')
    .description('List your accounts on an instance of the commercial edition. Needs a token.')
    .addHelpText('after', EXAMPLES);
  return withSession(command, context, {}, accounts);
}

async function accounts({ context, options, say, connect }: Session): Promise<void> {
  const { api } = await connect();
  const all = await api.accounts();
  await printRows([all], accountList, context, options);
  if (all.length === 0) await say.note('no accounts');
}
