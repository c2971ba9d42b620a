import { refuseToPrint } from '../cli/agent';
import { operand } from '../cli/declare';
import { outputRows } from '../cli/options';
import { type GeneratedSecret, generate, parseGenerate } from '../cli/random-secret';
import type { Entry } from '../cli/terminal/output';
import help from './help/generate.txt?raw';
import { command } from './planned';

export default command({
  description: 'Print a new random password or passphrase. Sends nothing.',
  help,
  globals: outputRows,
  rows: {
    length: operand('[length]', 'length, words:5, hex:32 and so on (default: 24)'),
  },
  plan: async ({ length }, { context }) => {
    await refuseToPrint(context, 'the secret', 'generate-quietly');
    return parseGenerate(length ?? true, 'the length');
  },
  run,
});

async function run({ say }: Entry, secret: GeneratedSecret): Promise<void> {
  const generated = await generate(secret);
  await say.print({ generated }, () => `${generated}\n`);
}
