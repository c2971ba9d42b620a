import { knownPassphrase, type PassphraseSource } from '../../cli/passphrase';
import { type Content, TO_SEND } from '../../cli/source';
import { another, type Named, type Session } from '../../profile/session';
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
  readonly named: Named;
  readonly content: Content;
  readonly passphrase: PassphraseSource;
  /** The text is generated, and JSON has the only place for it. */
  readonly generated: boolean;
}

/** Shows the question, reads the answer, encrypts it to the key of the link, and sends it. */
export async function run(owners: Session, plan: RespondPlan): Promise<void> {
  // Without a token: an owner who reads an answered request takes its answer.
  const session = another(owners, { anonymous: true });
  const { context, say } = session;
  const asked = await session.connectTo(plan.named);
  const linkKey = recipientIn(asked);
  const known = await knownPassphrase(plan.passphrase, context);
  const { files, close } = await openFiles(plan.content, context);
  try {
    const { request, passphrase } = await readQuestion(context, asked, known, files !== undefined);
    await showQuestion(session, request);
    const recipient = await recipientFor(session, asked, linkKey, request);
    const text = await readText(plan.content, session, { purpose: TO_SEND });
    context.asked();
    const answer = { text, files, recipient, passphrase };
    const { response: _, ...shown } = await sendAnswer(session, asked, answer);
    const generated = plan.generated ? { generated: text } : {};
    if (say.manner.json) return await say.print({ ...shown, ...generated }, () => '');
    await say.note('the answer was sent');
  } finally {
    await close();
  }
}
