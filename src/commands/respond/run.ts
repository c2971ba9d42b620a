import { knownPassphrase, type PassphraseSource } from '../../cli/passphrase';
import { type Content, TO_SEND } from '../../cli/source';
import type { Entry } from '../../cli/terminal/output';
import { connect } from '../../profile/connect';
import type { LocatedItem } from '../../profile/references';
import { withContent } from '../../send/content';
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
  const before = async (attached: boolean) => {
    const question = await readQuestion(context, asked, known, attached);
    await showQuestion(entry, question.request);
    return {
      ...question,
      recipient: await recipientFor(entry, asked, linkKey, question.request),
    };
  };
  const reading = { purpose: TO_SEND, before };
  await withContent(entry, plan.content, reading, async ({ text, files }, question) => {
    const { passphrase, recipient } = question;
    context.asked();
    const answer = { text, files, recipient, passphrase };
    const { response: _, ...shown } = await sendAnswer(entry, asked, answer);
    const generated = plan.generated ? { generated: text } : {};
    if (say.manner.json) return say.print({ ...shown, ...generated }, () => '');
    await say.note('the answer was sent');
  });
}
