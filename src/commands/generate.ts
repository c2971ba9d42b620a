import { Command } from 'commander';
import { refuseToPrint } from '../cli/agent';
import { declare } from '../cli/declare';
import { addOutputOptions, globalOptions, revealRows } from '../cli/options';
import { generate, parseGenerate } from '../cli/random-secret';
import { terminal } from '../cli/terminal/output';
import type { Context } from '../platform/context';

export { default as help } from './help/generate.txt?raw';

export function define(context: Context): Command {
  const command = new Command('generate')
    .description('Print a new random password or passphrase. Sends nothing.')
    .argument('[length]', 'length, words:5, hex:32 and so on (default: 24)')
    .action(async (length: string | undefined) => {
      await refuseToPrint(context, 'the secret', 'use pwpush push --generate --quiet');
      const wanted = parseGenerate(length ?? true, 'the length');
      const payload = await generate(wanted);
      const say = terminal(context, globalOptions(command, context.env));
      await say.print({ payload }, () => `${payload}\n`);
    });
  return addOutputOptions(declare(command, revealRows()));
}
