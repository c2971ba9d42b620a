import { Command } from 'commander';
import { group } from '../cli/declare';
import { fileRows, passphraseRows, revealRows, sourceRows, withOptions } from '../cli/options';
import type { Context } from '../platform/context';

export { default as help } from './help/respond.txt?raw';

const rows = {
  ...group('Answer:', { ...sourceRows(), ...fileRows() }),
  ...passphraseRows,
  ...group('Output:', revealRows()),
};

export function define(context: Context): Command {
  const command = new Command('respond')
    .description('Answer a request for a secret.')
    .argument('<link>', 'link of the request, with the part after #');
  return withOptions(command, context, rows, async (options, link: string) => {
    const { runRespond } = await import('./respond/run-respond');
    return runRespond(context, options, link);
  });
}
