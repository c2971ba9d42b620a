import { refuseGenerated } from '../../cli/agent';
import type { Options, passphraseRows } from '../../cli/options';
import { checkPassphrase, knownPassphrase } from '../../cli/passphrase';
import type { Context } from '../../platform/context';
import { createSession } from '../../profile/session';
import {
  type ContentOptions,
  checkFiles,
  contentSource,
  openFiles,
  readText,
} from '../../send/content';
import {
  readQuestion,
  recipientFor,
  recipientIn,
  sendAnswer,
  showQuestion,
} from '../../send/send-answer';

const TO_SEND = { noun: 'secret', act: 'send' } as const;

/** Shows the question, reads the answer, encrypts it to the key of the link, and sends it. */
export async function runRespond(
  context: Context,
  options: Options<typeof passphraseRows> & ContentOptions,
  link: string,
): Promise<void> {
  checkPassphrase(options, context);
  checkFiles(options);
  await refuseGenerated(context, options);
  const source = contentSource(options, context, TO_SEND);
  // Without a token: an owner who reads an answered request takes its answer.
  const session = createSession(context, { ...options, anonymous: true });
  const asked = await session.connectTo(link);
  const linkKey = recipientIn(asked);
  const known = await knownPassphrase(options, context);
  const attachments = await openFiles(options, context);
  try {
    const attached = attachments !== undefined;
    const { request, passphrase } = await readQuestion(context, asked, known, attached);
    await showQuestion(session, request);
    const recipient = await recipientFor(session, asked, linkKey, request);
    const text = await readText(session, source, options, TO_SEND);
    context.asked();
    const answer = { text, files: attachments?.files, recipient, passphrase };
    const { response: _, ...shown } = await sendAnswer(session, asked, answer);
    // JSON has the only place for a generated secret.
    const generated = options.generate === undefined ? {} : { generated: text };
    if (options.json) return await session.say.print({ ...shown, ...generated }, () => '');
    await session.say.note('the answer was sent');
  } finally {
    await attachments?.close();
  }
}
