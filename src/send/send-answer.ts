import type { Recipient } from '../age/age';
import { explaining } from '../age/age-error';
import { parseRecipient } from '../age/key-files';
import { isLinkKey } from '../age/link-key';
import type { KnownPassphrase } from '../cli/passphrase';
import type { Entry } from '../cli/terminal/output';
import { forTerminal } from '../cli/terminal/safe';
import { apiClient } from '../client/client';
import type { Attachment } from '../client/form';
import { onRequest } from '../client/item';
import type { Reference } from '../client/link';
import type { SecretRequest } from '../contract/decode';
import { safeName } from '../deliver/safe-name';
import type { Context } from '../platform/context';
import { CliError, failedError, phrase, usageError } from '../platform/errors';
import { briefSettings, type Instance } from '../profile/connect';
import type { ConnectedItem } from '../profile/references';
import { withPassphrase } from '../take/retrieve';
import { sendWithFiles } from './content';
import { seal } from './encryption';

/**
 * Reads a request that is to be answered, and returns it with the passphrase of its page, if any.
 * @param attached whether the answer has files
 * @throws CliError (rejected, expired) for a request that takes no such answer
 */
export async function readQuestion(
  context: Context,
  { api, target, token }: ConnectedItem,
  known: KnownPassphrase,
  attached: boolean,
) {
  const question = await onRequest(api, () =>
    withPassphrase(context, known, target, async (passphrase) => ({
      request: await api.requests.read(token, passphrase),
      passphrase,
    })),
  ).catch((error) => {
    if (!(error instanceof CliError) || error.code !== 'unauthorized') throw error;
    // Answers are sent without a token, whatever the options are.
    throw error.with({
      facts: phrase('answers-need-token'),
      hints: phrase('answer-in-browser'),
    });
  });
  checkOpen(question.request, attached);
  return question;
}

interface Answer {
  readonly text: string | undefined;
  readonly files: readonly Attachment[] | undefined;
  /** Without a recipient, the answer is not encrypted. */
  readonly recipient: Recipient | undefined;
  readonly passphrase: string | undefined;
}

export async function sendAnswer(
  entry: Entry,
  { api, target, token }: ConnectedItem,
  { text, files, recipient, passphrase }: Answer,
): Promise<SecretRequest> {
  const sealed = recipient
    ? await seal({ mode: 'keys', keys: [recipient], to: [] }, { text, files })
    : { payload: text, files };
  return sendWithFiles(entry, sealed.files, (metered) =>
    api.requests.respond(token, { response: sealed.payload, files: metered, passphrase }),
  ).catch(async (error) => {
    throw await checkedOutcome(entry, target, token, error);
  });
}

const KEYLESS = 'the link has no key, the part after #';
const READER = 'the person who runs the instance';

/** Returns the key of the link (`recipientIn`), else that which the instance names. Warns if that is not safe. */
export async function recipientFor(
  { say }: Entry,
  { publicKey }: Reference,
  ofLink: Recipient | undefined,
  { public_key: instanceKey }: SecretRequest,
): Promise<Recipient | undefined> {
  if (ofLink) {
    // An instance that names another key may have tried to read the answer.
    if (instanceKey && instanceKey !== publicKey?.toLowerCase())
      await say.warn(
        'the instance names another key than the link: the answer is encrypted to that of the link',
      );
    return ofLink;
  }
  if (!instanceKey) {
    await say.warn(`${KEYLESS}: the answer is not encrypted, and ${READER} can read it`);
    return undefined;
  }
  await say.warn(
    `${KEYLESS}: the key of the instance is used, and ${READER} could read the answer`,
  );
  return explaining(
    () => parseRecipient(instanceKey),
    () =>
      failedError([phrase('key-invalid'), phrase('nothing-sent')], {
        hints: phrase('ask-for-whole-link'),
      }),
  );
}

/** @throws CliError (usage) for the link of a push, and for any other fragment, which is a damaged key */
export function recipientIn({ publicKey, key, base, kind }: Reference): Recipient | undefined {
  const ofPush = publicKey === undefined && key !== undefined && isLinkKey(key);
  if (ofPush || (base !== undefined && kind === undefined))
    throw usageError('this is the link of a push, not of a request', 'open it with pwpush get');
  if (publicKey === undefined && key === undefined) return undefined;
  return explaining(
    () => parseRecipient(publicKey ?? ''),
    () =>
      usageError('the key in the link is damaged; nothing was sent', 'copy the whole link again'),
  );
}

function checkOpen(
  { state, response_file_attachments: files }: SecretRequest,
  attached: boolean,
): void {
  if (state === 'ready')
    throw new CliError('rejected', phrase('answered'), { hints: phrase('ask-requester') });
  if (state === 'closed')
    throw new CliError('expired', phrase('request-closed'), { hints: phrase('ask-for-new-link') });
  if (attached && files === false)
    throw new CliError('rejected', [phrase('takes-no-files'), phrase('nothing-sent')], {
      hints: phrase('send-text'),
    });
}

/** The question goes to stderr, as everything for a person does. */
export async function showQuestion({ say }: Entry, request: SecretRequest): Promise<void> {
  if (say.manner.quiet || say.manner.json) return;
  const { request: question, requestor } = request;
  const from = typeof requestor === 'string' && requestor !== '' ? ` of ${requestor}` : '';
  await say.note(`the question${from}:`);
  await say.draw(() => forTerminal((question ?? '').replace(/^/gm, '  ')));
  const files = Array.isArray(request.request_files) ? request.request_files : [];
  const names = files.flatMap(({ filename }) => (typeof filename === 'string' ? [filename] : []));
  if (names.length > 0)
    await say.note(
      `files with the question, which the page has: ${names.map((name) => safeName(name)).join(', ')}`,
    );
}

/** After a lost response, the state of the request tells whether the answer arrived. Never sends it again. */
async function checkedOutcome(
  entry: Entry,
  target: Instance['target'],
  token: string,
  failure: unknown,
): Promise<unknown> {
  if (!(failure instanceof CliError) || failure.code !== 'unknown') return failure;
  if (entry.context.signal.aborted) return failure;
  await entry.say.remark('no response; checking the request');
  const { requests } = apiClient(await briefSettings(entry, target));
  const { state } = await requests.preview(token).catch(() => ({ state: undefined }));
  if (state === 'open')
    return failure.and(phrase('no-answer-yet')).with({ hints: phrase('may-arrive') });
  if (state !== 'ready' && state !== 'closed') return failure;
  return failure.and(phrase('answer-there')).with({ hints: phrase('ask-requester') });
}
