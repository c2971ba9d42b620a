import { refuseGenerated } from '../cli/agent';
import { group } from '../cli/declare';
import { fileRows, linkRow, type Options, passphraseRows, sourceRows } from '../cli/options';
import { knownPassphrase, passphraseSource } from '../cli/passphrase';
import { contentOf } from '../cli/source';
import type { Entry } from '../cli/terminal/output';
import { connect } from '../profile/connect';
import { itemOf } from '../profile/references';
import { openFiles, readText } from '../send/content';
import help from './help/respond.txt?raw';
import { command } from './planned';

const rows = {
  link: linkRow('link of the request, with the part after #', 'request'),
  ...group('Answer:', { ...sourceRows(), ...fileRows() }),
  ...passphraseRows(),
};

export default command({
  description: 'Answer a request for a secret.',
  help,
  rows,
  plan: planOf,
  run: respond,
});

async function planOf(options: Options<typeof rows>, entry: Entry) {
  const { context } = entry;
  const { link, generate, json, quiet } = options;
  const passphrase = passphraseSource(options, context);
  const content = contentOf(options, context, 'send');
  const generated = generate !== undefined;
  if (generated) await refuseGenerated(context, { json, quiet });
  // Sends no token, because reading an answered request as its owner takes the answer.
  const request = itemOf(entry, { ...options, anonymous: true }, link);
  return { request, content, passphrase, generated };
}

async function respond(entry: Entry, plan: Awaited<ReturnType<typeof planOf>>): Promise<void> {
  // Imported here, because printing the help does not need this module.
  const { readQuestion, recipientFor, recipientIn, sendAnswer, showQuestion } = await import(
    '../send/send-answer'
  );
  const { context, say } = entry;
  const item = await connect(entry, plan.request);
  const linkKey = recipientIn(item);
  const known = await knownPassphrase(plan.passphrase, context);
  const { files, close } = await openFiles(plan.content, context);
  try {
    const { request, passphrase } = await readQuestion(context, item, known, files !== undefined);
    await showQuestion(entry, request);
    const recipient = await recipientFor(entry, item, linkKey, request);
    const text = await readText(plan.content, entry, 'send');
    context.releaseTerminal();
    const answer = { text, files, recipient, passphrase };
    const { response: _, ...shown } = await sendAnswer(entry, item, answer);
    // Only `--json` prints a generated text.
    const generated = plan.generated ? { generated: text } : {};
    if (say.manner.json) return await say.print({ ...shown, ...generated }, () => '');
    await say.note('the answer was sent');
  } finally {
    await close();
  }
}
