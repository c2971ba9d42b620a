import { askUntil } from '../../cli/ask-until';
import type { GlobalOptions } from '../../cli/options';
import { checkPassphrase, type PassphraseOptions, readPassphrase } from '../../cli/passphrase';
import {
  checkStandardInput,
  chooseSource,
  readSecret,
  type Source,
  type SourceOptions,
} from '../../cli/source';
import type { RequestApi } from '../../client/client';
import { differences, differenceText } from '../../client/compare-limits';
import { findLink, parseReference, withKey } from '../../client/link';
import { notification } from '../../client/notification';
import type { NewPush, NewRequest, Push, SecretRequest } from '../../contract/api';
import { durationInOneUnit, grantedLifetime } from '../../contract/lifetime';
import { type NewKey, newRequestKey } from '../../open/request-keys';
import { DEFAULT_INTERVAL, timeLimit, waitForAnswer } from '../../open/waiting';
import type { Context } from '../../platform/context';
import {
  asCliError,
  CliError,
  type ErrorCode,
  failedError,
  joinHints,
  usageError,
} from '../../platform/errors';
import {
  accountOf,
  clientFor,
  createSession,
  type Instance,
  type Session,
} from '../../profile/session';
import { NoInstance } from '../../profile/target';
import { openFiles } from '../../share/content';
import { type CreatedLink, deliverLink } from '../../share/deliver-link';
import { toldClosing } from '../../share/expiry';

export interface RequestOptions extends GlobalOptions, SourceOptions, PassphraseOptions {
  readonly expire?: string;
  readonly name?: string;
  readonly note?: string;
  /** Paths; `-` is standard input. */
  readonly file?: readonly string[];
  readonly allowFiles: boolean;
  readonly passphraseOut?: string;
  readonly identityOut?: string;
  /** False with `--no-encrypt`. */
  readonly encrypt: boolean;
  readonly copy: boolean;
  readonly qr: boolean;
  readonly notify?: readonly string[];
  readonly notifyLocale?: string;
  readonly wait: boolean;
  readonly acceptLimits: boolean;
}

const TO_ASK = { noun: 'question', act: 'ask' } as const;

/** Reads the question, keeps a new private key, creates the request, and prints its link. */
export async function createRequest(context: Context, options: RequestOptions): Promise<void> {
  checkRequestOptions(options, context);
  const source = questionSource(options, context);
  // With --wait, the time limit is that of the wait.
  const { timeout: _, ...untimed } = options;
  const session = createSession(context, options.wait ? untimed : options);
  const { base } = await session.target().catch(offerReceive);
  const attachments = await openFiles(options, context);
  try {
    const question = await readSecret(source, options, context, TO_ASK);
    const expire = options.expire ?? (await offerExpiry(source, session));
    const instance = await session.connect();
    const account = await accountOf(instance);
    const key = options.encrypt ? newRequestKey(context, base, options.identityOut) : undefined;
    const passphrase = await passphraseFor(options, context).catch((error) => {
      key?.withdraw(error);
      throw error;
    });
    context.asked();
    const wanted = { ...requestOf(question, expire, options), ...passphrase.field };
    const files = attachments?.files ?? [];
    const creating = async () => {
      const request = { ...wanted, ...(key && { public_key: key.recipient }) };
      if (files.length === 0) return instance.api.requests.create(request, [], account);
      const { sendFiles } = await import('../../share/attachments');
      return sendFiles(session, files, (sent) =>
        instance.api.requests.create(request, sent, account),
      );
    };
    const created = await creating().catch(async (error) => {
      key?.withdraw(error);
      await passphrase.withdraw(error);
      throw error;
    });
    const result = await acceptRequest(instance, options, { wanted, key }, created).catch(
      async (error) => {
        // The request is closed again, or its link says what is left of it.
        if (error instanceof CliError && error.remains?.expired) await passphrase.withdraw(error);
        throw error;
      },
    );
    const failure = await deliverLink(session, options, result);
    if (!key) await session.say.note('the instance can read the answer');
    if (failure) throw failure;
    if (!options.wait) return;
    const limit = timeLimit(context, options);
    const run = { ...limit, say: session.say };
    const waiting = { interval: DEFAULT_INTERVAL, json: options.json };
    const token = tokenOf(created, result.link);
    await limit.ending('answer', async () => {
      // Another client, whose responses have no longer than the wait.
      const { target } = instance;
      const api = options.timeout === undefined ? instance.api : await clientFor(run, target);
      await waitForAnswer(run, waiting, api, token, account);
    });
  } finally {
    await attachments?.close();
  }
}

/** @throws CliError (usage) for options that do not go together, and for invalid values */
function checkRequestOptions(options: RequestOptions, context: Context): void {
  checkPassphrase(options, context);
  const { passphraseOut, generatePassphrase, identityOut, encrypt, notify, notifyLocale } = options;
  if (passphraseOut !== undefined && !generatePassphrase)
    throw usageError('--passphrase-out requires --generate-passphrase');
  if (identityOut !== undefined && !encrypt)
    throw usageError('--no-encrypt cannot be combined with --identity-out');
  if (identityOut === '') throw usageError('--identity-out must not be empty');
  if (notify) notification(notify, notifyLocale);
  else if (notifyLocale !== undefined) throw usageError('--notify-locale requires --notify EMAIL');
  if (notify && encrypt)
    throw usageError(
      '--notify requires --no-encrypt: the instance would e-mail the link without its key',
      'send the link yourself, or let the instance read the answer',
    );
  if (options.expire !== undefined) toldClosing(options.expire);
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

/** Without an instance, the question can be asked from this machine. */
function offerReceive(error: unknown): never {
  if (!(error instanceof NoInstance)) throw error;
  throw error.with({
    hint: joinHints(error.hint, 'to ask without an instance, use pwpush receive'),
  });
}

/** Asks for an expiry if the question was asked for, too; Enter alone means the default of the instance. */
async function offerExpiry(source: Source, { context, say }: Session): Promise<string | undefined> {
  if (source.name !== 'prompt') return undefined;
  const prompter = await context.prompter();
  const question = 'Close after, such as 6h or 1w (Enter for default):';
  return askUntil(
    async (failure) => {
      if (failure instanceof CliError)
        await say.note(`${failure.message.replace('--expire: ', '')}; ${failure.hint}`);
      const typed = (await prompter.text(question)).trim();
      if (typed === '') return undefined;
      toldClosing(typed);
      return typed;
    },
    (failure) => failure instanceof CliError && failure.code === 'usage',
  );
}

/** The passphrase as a field; one that is generated is given to the user first. */
async function passphraseFor(options: RequestOptions, context: Context) {
  if (!options.generatePassphrase) {
    const text = await readPassphrase(options, context, true);
    return { field: text === undefined ? {} : { passphrase: text }, withdraw: async () => {} };
  }
  const { giveToSender, newPassphrase } = await import('../../share/give-to-sender');
  const text = await newPassphrase();
  const given = { what: 'passphrase', text, path: options.passphraseOut } as const;
  return { field: { passphrase: text }, withdraw: await giveToSender(given, context, options) };
}

/** Contains only what was asked for; the instance has defaults for the rest. */
function requestOf(
  request: string,
  expire: string | undefined,
  { name, note, allowFiles, notify, notifyLocale }: RequestOptions,
): NewRequest {
  return {
    request,
    ...(expire === undefined ? {} : toldClosing(expire)),
    ...(name === undefined ? {} : { name }),
    ...(note === undefined ? {} : { note }),
    ...(allowFiles ? { response_file_attachments: true } : {}),
    ...(notify ? notification(notify, notifyLocale) : {}),
  };
}

/**
 * Checks that the instance kept the public key and the limits, keeps the private key, and finds the link.
 * @throws CliError (rejected) if the instance dropped or replaced the key, or its limits are looser than asked, (failed)
 * if the private key cannot be kept; the request is closed again then
 */
async function acceptRequest(
  { api, target }: Instance,
  options: RequestOptions,
  { wanted, key }: { readonly wanted: NewRequest; readonly key: NewKey | undefined },
  created: SecretRequest,
): Promise<CreatedLink> {
  const { link, doubt } = await findLink(api.requests, target.base, created, 'request');
  const token = tokenOf(created, link);
  const request = { requests: api.requests, token, link, key };
  const named = created.public_key || undefined;
  if (key && named !== key.recipient) {
    const what = `the instance ${named === undefined ? 'dropped' : 'replaced'} the key of the request, and could read the answer`;
    throw await refused(request, 'rejected', what, UNENCRYPTED);
  }
  const changed = differences(limitsOf(wanted), grantedOf(created));
  const looser = changed.filter((one) => one.looser);
  if (looser.length > 0 && !options.acceptLimits) {
    const what = `the instance granted looser limits than requested: ${looser.map(differenceText).join('; ')}`;
    const hint = 'use limits that the instance allows, or keep the request with --accept-limits';
    throw await refused(request, 'rejected', what, hint);
  }
  try {
    if (key && token === '') throw failedError('the instance returned no token');
    key?.keep(token);
  } catch (error) {
    // Without its key nobody could read the answer.
    const { code, message, hint = '' } = asCliError(error);
    throw await refused(request, code, message, hint);
  }
  const encrypted = key !== undefined;
  const noFiles = options.allowFiles && created.response_file_attachments === false;
  const warnings = [
    ...(doubt === undefined ? [] : [doubt]),
    ...changed.map((one) => `the instance changed a limit: ${differenceText(one)}`),
    ...(noFiles ? ['the instance does not let the answer have files'] : []),
  ];
  return {
    object: { ...created, encrypted },
    link: withKey(link, key?.recipient),
    warnings,
    summary: summaryOf(wanted, created, encrypted),
  };
}

const UNENCRYPTED =
  'to ask without an instance, use pwpush receive; to let the instance read the answer, use --no-encrypt';

/** What a request asks for, as a push asks for it. */
function limitsOf(wanted: NewRequest & { readonly passphrase?: string }): NewPush {
  const { close_after, close_after_duration, passphrase } = wanted;
  return {
    ...(close_after === undefined ? {} : { expires_in: close_after }),
    ...(close_after_duration === undefined ? {} : { expire_after_duration: close_after_duration }),
    ...(passphrase === undefined ? {} : { passphrase }),
  };
}

/** What a request was granted, as a push is. */
function grantedOf(created: SecretRequest): Push {
  const { url_token, created_at, close_after, close_after_at, passphrase } = created;
  return {
    url_token,
    created_at,
    expires_at: close_after_at,
    expires_in: close_after,
    expire_after_duration: created.close_after_duration,
    ...(typeof passphrase === 'string' ? { passphrase } : {}),
  };
}

interface NewlyMade {
  readonly requests: Pick<RequestApi, 'close'>;
  readonly token: string;
  readonly link: string;
  readonly key: NewKey | undefined;
}

/** Closes a request that is not as it was asked for, and returns the error that says so. */
async function refused(
  { requests, token, link, key }: NewlyMade,
  code: ErrorCode,
  what: string,
  hint: string,
): Promise<CliError> {
  try {
    if (token === '') throw failedError('the instance returned no token');
    await requests.close(token);
  } catch (error) {
    return new CliError(code, `${what}; closing it FAILED: it can still be answered at ${link}`, {
      hint: 'close it yourself with pwpush expire',
      cause: error,
      remains: { link, expired: false },
    });
  }
  key?.withdraw();
  return new CliError(code, `${what}; it was closed`, { hint, remains: { link, expired: true } });
}

/** The token of a new request; empty if neither its object nor its link has one. */
function tokenOf({ url_token }: SecretRequest, link: string): string {
  if (url_token !== '') return url_token;
  try {
    return parseReference(link).token;
  } catch {
    return '';
  }
}

function summaryOf(
  wanted: NewRequest & { readonly passphrase?: string },
  created: SecretRequest,
  encrypted: boolean,
): string {
  const { response_file_attachments: files } = created;
  const closes = grantedLifetime(grantedOf(created));
  return [
    ...(closes === undefined ? [] : [`closes after ${durationInOneUnit(closes)}`]),
    ...(wanted.passphrase === undefined ? [] : ['passphrase required']),
    ...(files ? ['the answer may have files'] : []),
    ...(encrypted ? ['only this key opens the answer'] : []),
  ].join(' · ');
}
