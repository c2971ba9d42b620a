import { refuseGenerated } from '../cli/agent';
import type { Command } from '../cli/command';
import { group } from '../cli/declare';
import { fileRows, type Options, passphraseRows, revealRows, sourceRows } from '../cli/options';
import { passphraseSource } from '../cli/passphrase';
import { contentOf, isPiped, TO_SEND } from '../cli/source';
import type { Entry } from '../cli/terminal/output';
import type { Context } from '../platform/context';
import { type Perform, planned } from './planned';
import type { RespondPlan } from './respond/run';

export { default as help } from './help/respond.txt?raw';

export const rows = {
  ...group('Answer:', { ...sourceRows(), ...fileRows() }),
  ...passphraseRows,
  ...group('Output:', revealRows()),
};

export function define(command: Command, context: Context, perform?: Perform): void {
  command
    .description('Answer a request for a secret.')
    .argument('<link>', 'link of the request, with the part after #');
  const journey = () => import('./respond/run');
  const unnamedInput = (options: Options<typeof rows>, context: Context) =>
    isPiped(options, context) ? 'the secret' : undefined;
  planned(command, context, { rows, asked, journey, unnamedInput }, perform);
}

async function asked(
  options: Options<typeof rows>,
  entry: Entry,
  link: string,
): Promise<RespondPlan> {
  const { context } = entry;
  const { generate, json, quiet } = options;
  const passphrase = passphraseSource(options, context);
  const content = contentOf(options, rows, context, TO_SEND);
  const generated = generate !== undefined;
  if (generated) await refuseGenerated(context, { json, quiet });
  const { itemOf } = await import('../profile/references');
  // Without a token: an owner who reads an answered request takes its answer.
  const request = itemOf(entry, { ...options, anonymous: true }, link);
  return { request, content, passphrase, generated };
}
