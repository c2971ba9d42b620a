import { refuseGenerated } from '../../cli/agent';
import { askUntil } from '../../cli/ask-until';
import { checkPassphrase, newPassphrase } from '../../cli/passphrase';
import { worded } from '../../cli/report-error';
import { checkStandardInput, chooseSource, readSecret, type Source } from '../../cli/source';
import { closing } from '../../cli/values';
import { notifyFields } from '../../client/notification';
import type { NewRequest } from '../../contract/api';
import type { ClosingFields } from '../../contract/lifetime';
import { deliverLink } from '../../deliver/deliver-link';
import { newRequestKey } from '../../keep/request-keys';
import type { Context } from '../../platform/context';
import { CliError, usageError } from '../../platform/errors';
import { accountOf, clientFor } from '../../profile/connect';
import { createSession, type Session } from '../../profile/session';
import { NoInstance } from '../../profile/target';
import { openFiles } from '../../send/content';
import { askedFor } from '../../send/create';
import { createRequest } from '../../send/create-request';
import { DEFAULT_INTERVAL, timeLimit, waitForAnswer } from '../../take/waiting';
import type { RequestOptions } from './request-flags';

const TO_ASK = { noun: 'question', act: 'ask' } as const;

/** Reads the question, creates the request with a new private key, and prints its link. */
export async function runRequest(context: Context, options: RequestOptions): Promise<void> {
  checkRequestOptions(options, context);
  await refuseGenerated(context, options);
  const source = questionSource(options, context);
  const session = createSession(context, options);
  await session.target().catch((error) => {
    if (!(error instanceof NoInstance)) throw error;
    throw error.with({
      steps: [...error.steps, 'to ask without an instance, use pwpush request --here'],
    });
  });
  const attachments = await openFiles(options, context);
  try {
    const question = await readSecret(source, options, context, TO_ASK);
    const expire = options.expire ?? (await offerExpiry(source, session));
    const passphrase = await newPassphrase(options, context);
    context.asked();
    const instance = await session.connect();
    const account = accountOf(instance.target);
    const created = await createRequest(session, instance, {
      fields: fieldsOf(question, expire, options),
      files: attachments?.files,
      passphrase,
      newKey: options.encrypt
        ? (base) => newRequestKey(context, base, options.identityOut)
        : undefined,
      account,
      acceptLimits: options.acceptLimits,
      locale: options.locale,
    });
    const failure = await deliverLink(session, options, created);
    if (!options.encrypt) await session.say.note('the instance can read the answer');
    if (failure) throw failure;
    if (!options.wait) return;
    const limit = timeLimit(context, options);
    const run = { ...limit, say: session.say };
    const waiting = { interval: DEFAULT_INTERVAL, json: options.json };
    await limit.ending('answer', async () => {
      const { api, target } = instance;
      // Another client, whose responses have no longer than the wait.
      const limited = options.for === undefined ? api : await clientFor(run, target);
      await waitForAnswer(run, waiting, limited, created.token, account);
    });
  } finally {
    await attachments?.close();
  }
}

/** @throws CliError (usage) for options that do not go together, and for invalid values */
function checkRequestOptions(options: RequestOptions, context: Context): void {
  checkPassphrase(options, context);
  const { encrypt, notify } = options;
  notifyFields(options);
  if (notify && encrypt)
    throw usageError(
      '--notify requires --no-encrypt: the instance would e-mail the link without its key',
      'send the link yourself, or let the instance read the answer',
    );
}

function questionSource(options: RequestOptions, context: Context): Source {
  const { file = [], text } = options;
  // A question beside a file from standard input has to be an argument.
  const piped = file.includes('-') && text !== undefined;
  const source = chooseSource(options, context.stdin.isTTY, context.canPrompt(), TO_ASK);
  checkStandardInput(
    options,
    piped ? 'a file' : source.name === 'stdin' ? 'the question' : undefined,
  );
  if (source.name === 'stdin' && file.includes('-'))
    throw usageError(
      'standard input cannot be both the question and a file',
      'give the question as an argument',
    );
  return source;
}

/** Asks for an expiry if the question was asked for, too; Enter alone means the default of the instance. */
async function offerExpiry(
  source: Source,
  { context, say }: Session,
): Promise<ClosingFields | undefined> {
  if (source.name !== 'prompt') return undefined;
  const prompter = await context.prompter();
  const question = "Close after, such as 6h or 1w (Enter for the instance's default):";
  return askUntil(
    async (failure) => {
      if (failure instanceof CliError)
        await say.note(`${failure.message.replace('--expire: ', '')}; ${worded(failure).hint}`);
      const typed = (await prompter.text(question)).trim();
      return typed === '' ? undefined : closing(typed, '--expire');
    },
    (failure) => failure instanceof CliError && failure.code === 'usage',
  );
}

export function fieldsOf(
  request: string,
  expire: ClosingFields | undefined,
  options: RequestOptions,
): NewRequest {
  const { name, note, allowFiles } = options;
  return {
    request,
    ...expire,
    ...askedFor({ name, note, response_file_attachments: allowFiles || undefined }),
    ...notifyFields(options),
  };
}
