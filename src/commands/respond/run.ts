import { knownPassphrase, type PassphraseSource } from '../../cli/passphrase';
import { type Content, TO_SEND } from '../../cli/source';
import type { Entry } from '../../cli/terminal/output';
import { connect } from '../../profile/connect';
import type { LocatedItem } from '../../profile/references';
import { openFiles, readText } from '../../send/content';
import {
  readQuestion,
  recipientFor,
  recipientIn,
  sendAnswer,
  showQuestion,
} from '../../send/send-answer';

/** What to answer to which request. */
export interface RespondPlan {
  readonly request: LocatedItem;
  readonly content: Content;
  readonly passphrase: PassphraseSource;
  /** The text is generated, and JSON has the only place for it. */
  readonly generated: boolean;
}

/** Shows the question, reads the answer, encrypts it to the key of the link, and sends it. */
export async function run(entry: Entry, plan: RespondPlan): Promise<void> {
  const { context, say } = entry;
  const asked = await connect(entry, plan.request);
  const linkKey = recipientIn(asked);
  const known = await knownPassphrase(plan.passphrase, context);
  const { files, close } = await openFiles(plan.content, context);
  try {
    const { request, passphrase } = await readQuestion(context, asked, known, files !== undefined);
    await showQuestion(entry, request);
    const recipient = await recipientFor(entry, asked, linkKey, request);
    const text = await readText(plan.content, entry, TO_SEND);
    context.asked();
    const answer = { text, files, recipient, passphrase };
    const { response: _, ...shown } = await sendAnswer(entry, asked, answer);
    const generated = plan.generated ? { generated: text } : {};
    if (say.manner.json) return await say.print({ ...shown, ...generated }, () => '');
    await say.note('the answer was sent');
  } finally {
    await close();
  }
}
