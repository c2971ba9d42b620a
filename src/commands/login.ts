import { Command } from 'commander';
import type { Context } from '../context';
import { login } from '../login';
import { addGlobalOptions, optionsOf } from '../options';

const EXAMPLES = `
The token is asked for, hidden, or read from --token-file or standard input; it
is kept only if the instance takes it. Most instances show it on the account
page, under API.

Examples:
  $ pwpush login https://pwpush.example
  $ pwpush login https://pwpush.example --profile work --token-file token.txt
  $ pass show pwpush | pwpush login https://pwpush.example`;

export function loginCommand(context: Context): Command {
  const command = new Command('login')
    .description('Check an instance and a token, and keep them as a profile.')
    .argument('[url]', 'address of the instance')
    .addHelpText('after', EXAMPLES)
    .action((address: string | undefined) => {
      const options = optionsOf(command, context.env, {});
      return login(context, address === undefined ? options : { ...options, address });
    });
  return addGlobalOptions(command);
}
