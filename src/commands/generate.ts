import { refuseToPrint } from '../cli/agent';
import type { Command } from '../cli/command';
import { addOutputOptions, revealRows } from '../cli/options';
import { type GeneratedSecret, generate, parseGenerate } from '../cli/random-secret';
import type { Entry } from '../cli/terminal/output';
import type { Context } from '../platform/context';
import { type Perform, planned } from './planned';

export { default as help } from './help/generate.txt?raw';

export const rows = revealRows();

export function define(command: Command, context: Context, perform?: Perform): void {
  command
    .description('Print a new random password or passphrase. Sends nothing.')
    .argument('[length]', 'length, words:5, hex:32 and so on (default: 24)');
  planned(
    command,
    context,
    {
      rows,
      globals: addOutputOptions,
      asked: async (_, session, length: string | undefined) => {
        await refuseToPrint(session.context, 'the secret', 'generate-quietly');
        return parseGenerate(length ?? true, 'the length');
      },
      journey: async () => ({ run }),
    },
    perform,
  );
}

async function run({ say }: Entry, wanted: GeneratedSecret): Promise<void> {
  const generated = await generate(wanted);
  await say.print({ generated }, () => `${generated}\n`);
}
