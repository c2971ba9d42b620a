import { AgeError } from '../../age/age-error';
import { parseRecipient } from '../../age/key-files';
import { isLinkKey } from '../../age/link-key';
import type { Recipient } from '../../age/recipients';
import type { GlobalOptions } from '../../cli/options';
import { checkPassphrase, knownPassphrase, type PassphraseOptions } from '../../cli/passphrase';
import { readSecret } from '../../cli/source';
import { forTerminal } from '../../cli/terminal/safe';
import { apiClient } from '../../client/client';
import { onRequest } from '../../client/item';
import type { Reference } from '../../client/link';
import type { SecretRequest } from '../../contract/api';
import { withPassphrase } from '../../open/retrieve';
import { safeName } from '../../open/safe-name';
import type { Context } from '../../platform/context';
import { CliError, usageError } from '../../platform/errors';
import { briefSettings, createSession, type Instance, type Session } from '../../profile/session';
import { type ContentOptions, checkFiles, contentSource, openFiles } from '../../share/content';
import { sealerTo } from '../../share/encryption';

export interface RespondOptions extends GlobalOptions, ContentOptions, PassphraseOptions {
  readonly link: string;
}

const TO_SEND = { noun: 'secret', act: 'send' } as const;

/** Shows the question, reads the answer, encrypts it to the key of the link, and sends it. */
export async function sendAnswer(context: Context, options: RespondOptions): Promise<void> {
  checkPassphrase(options, context);
  checkFiles(options);
  const source = contentSource(options, context, TO_SEND);
  // Without a token: an owner who reads an answered request takes its answer.
  const session = createSession(context, { ...options, anonymous: true });
  const { api, target, reference } = await session.connectTo(options.link);
  const linkKey = recipientOf(reference);
  const known = await knownPassphrase(options, context);
  const attachments = await openFiles(options, context);
  try {
    let passphrase: string | undefined;
    const request = await onRequest(api, () =>
      withPassphrase(context, known, (given) => {
        passphrase = given;
        return api.requests.read(reference.token, given);
      }),
    ).catch((error) => {
      throw withoutToken(error);
    });
    checkOpen(request, attachments !== undefined);
    await showQuestion(session, request);
    const recipient = linkKey ?? (await recipientOfInstance(session, request));
    if (linkKey) await compareKeys(session, reference, request);
    const text = source ? await readSecret(source, options, context, TO_SEND) : options.message;
    if (source?.name === 'generate') await session.say.remark(`generated: ${text}`);
    context.asked();
    const content = { text, files: attachments?.files };
    const answer = recipient ? await sealerTo([recipient])(content) : { ...content, payload: text };
    const sent = { response: answer.payload, passphrase };
    const { files = [] } = answer;
    const responding =
      files.length === 0
        ? api.requests.respond(reference.token, sent)
        : (await import('../../share/attachments')).sendFiles(session, files, (metered) =>
            api.requests.respond(reference.token, { ...sent, files: metered }),
          );
    const answered = await responding.catch(async (error) => {
      throw await checkedOutcome(session, { ...reference, target }, error);
    });
    await reportSent(session, options, answered, text);
  } finally {
    await attachments?.close();
  }
}

/** Answers are sent without a token, whatever the options are. */
function withoutToken(error: unknown): unknown {
  if (!(error instanceof CliError) || error.code !== 'unauthorized') return error;
  return error.with({
    message: 'the instance requires a token for everything, and so takes no answers from others',
    hint: 'ask for a link of another instance, or of pwpush receive',
  });
}

/** @throws CliError (usage) for the link of a push, and for a damaged key: any other fragment */
function recipientOf({ publicKey, key, base, kind }: Reference): Recipient | undefined {
  const ofPush = key === undefined ? base !== undefined && kind === undefined : isLinkKey(key);
  if (publicKey === undefined && ofPush)
    throw usageError('this is the link of a push, not of a request', 'open it with pwpush get');
  if (publicKey === undefined && key === undefined) return undefined;
  try {
    return parseRecipient(publicKey ?? '');
  } catch (error) {
    if (!(error instanceof AgeError)) throw error;
    throw usageError(
      'the key in the link is damaged; nothing was sent',
      'copy the whole link again',
    );
  }
}

/** @throws CliError (rejected, expired) for a request that takes no such answer */
function checkOpen(
  { state, response_file_attachments: files }: SecretRequest,
  attached: boolean,
): void {
  if (state === 'ready')
    throw new CliError('rejected', 'the request was answered already', {
      hint: 'ask the person who requested it',
    });
  if (state === 'closed')
    throw new CliError('expired', 'the request is closed', { hint: 'ask for a new link' });
  if (attached && files === false)
    throw new CliError('rejected', 'the request accepts no files; nothing was sent', {
      hint: 'send a text, or ask for a link that accepts files',
    });
}

/** On stderr, as everything that is said to a person. */
async function showQuestion({ say, options }: Session, request: SecretRequest): Promise<void> {
  if (options.quiet || options.json) return;
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

const KEYLESS = 'the link has no key, the part after #';
const READER = 'the person who runs the instance';

/** The key that the instance names, for a link that lost its own. */
async function recipientOfInstance(
  { say }: Session,
  { public_key: key }: SecretRequest,
): Promise<Recipient | undefined> {
  if (!key) {
    await say.warn(`${KEYLESS}: the answer is not encrypted, and ${READER} can read it`);
    return undefined;
  }
  await say.warn(
    `${KEYLESS}: the key of the instance is used, and ${READER} could read the answer`,
  );
  try {
    return parseRecipient(key);
  } catch (error) {
    if (!(error instanceof AgeError)) throw error;
    throw new CliError('failed', 'the instance names an invalid key; nothing was sent', {
      hint: 'ask for the whole link, with the part after #',
    });
  }
}

/** An instance that names another key may have tried to read the answer. */
async function compareKeys(
  { say }: Session,
  { publicKey }: Reference,
  { public_key: named }: SecretRequest,
): Promise<void> {
  if (!named || named === publicKey?.toLowerCase()) return;
  await say.warn(
    'the instance names another key than the link: the answer is encrypted to that of the link',
  );
}

/** Without a response, the state of the request tells whether an answer arrived. Never sends another one. */
async function checkedOutcome(
  session: Session,
  { token, target }: Reference & Pick<Instance, 'target'>,
  failure: unknown,
): Promise<unknown> {
  if (!(failure instanceof CliError) || failure.code !== 'unknown') return failure;
  if (session.context.signal.aborted) return failure;
  await session.say.remark('no response; checking the request');
  const { requests } = apiClient(await briefSettings(session, target));
  const { state } = await requests.preview(token).catch(() => ({ state: undefined }));
  if (state === 'open')
    return failure.with({
      message: `${failure.message}; the request has no answer yet`,
      hint: 'it may still arrive: check the link before you send the answer again',
    });
  if (state !== 'ready' && state !== 'closed') return failure;
  return failure.with({
    message: `${failure.message}; the request has an answer now, probably yours`,
    hint: 'ask the person who requested it',
  });
}

/** With --json the object of the instance, and a generated secret, for which there is no other place. */
async function reportSent(
  { say }: Session,
  options: RespondOptions,
  answered: SecretRequest,
  text: string | undefined,
): Promise<void> {
  const { response: _, ...shown } = answered;
  const generated = options.generate === undefined ? {} : { generated: text };
  if (options.json) return say.print({ ...shown, ...generated }, () => '');
  await say.note('the answer was sent');
}
