import { refuseGenerated } from '../cli/agent';
import { group, operand } from '../cli/declare';
import { fileRows, type Options, passphraseRows, revealRows, sourceRows } from '../cli/options';
import { passphraseSource } from '../cli/passphrase';
import { contentOf, TO_SEND } from '../cli/source';
import type { Entry } from '../cli/terminal/output';
import help from './help/respond.txt?raw';
import { command } from './planned';
import type { RespondPlan } from './respond/run';

const rows = {
  link: operand('<link>', 'link of the request, with the part after #').names('request'),
  ...group('Answer:', { ...sourceRows(), ...fileRows() }),
  ...passphraseRows,
  ...group('Output:', revealRows()),
};

export default command({
  description: 'Answer a request for a secret.',
  help,
  rows,
  plan: planOf,
  run: async (session, plan) => (await import('./respond/run')).run(session, plan),
});

async function planOf(options: Options<typeof rows>, entry: Entry): Promise<RespondPlan> {
  const { context } = entry;
  const { link, generate, json, quiet } = options;
  const passphrase = passphraseSource(options, context);
  const content = contentOf(options, rows, context, TO_SEND);
  const generated = generate !== undefined;
  if (generated) await refuseGenerated(context, { json, quiet });
  const { itemOf } = await import('../profile/references');
  // Without a token: an owner who reads an answered request takes its answer.
  const request = itemOf(entry, { ...options, anonymous: true }, link);
  return { request, content, passphrase, generated };
}
