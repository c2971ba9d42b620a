import { rmSync } from 'node:fs';
import { inWords } from '../cli/in-words';
import type { NewPassphrase } from '../cli/passphrase';
import type { Entry } from '../cli/terminal/output';
import { granted, grantedDate } from '../cli/terminal/wording';
import type { Attachment } from '../client/form';
import type { Item } from '../client/item';
import { findLink, linkIn, withKey } from '../client/link';
import type { NewPush, NewRequest } from '../contract/api';
import type { Push, SecretRequest } from '../contract/decode';
import { askedFor } from '../contract/json';
import { durationText, grantedLifetime } from '../contract/lifetime';
import type { CreatedLink } from '../deliver/deliver-link';
import type { NewKey } from '../keep/request-keys';
import {
  asCliError,
  attempt,
  CliError,
  type Fact,
  failedError,
  phrase,
  reasonOf,
  usageError,
} from '../platform/errors';
import { accountOf, type Instance } from '../profile/connect';
import { type PushPlace, saveReceipts } from '../profile/receipts';
import { sendWithFiles } from './content';
import { type Draft, requestOf } from './draft';
import { isDate } from './expiry';
import { judgePush, judgeRequest, type Refusal, type Verdict } from './judge';

/** A push that was created and accepted. */
export interface CreatedPush extends CreatedLink {
  readonly object: Push;
  readonly name: string | undefined;
  /** Where later requests for it go; undefined if its link does not lead there. */
  readonly at: PushPlace | undefined;
}

/**
 * Creates a push of a draft.
 * @throws CliError (rejected) if its limits are looser than asked, or if an encrypted push has a link that is not one of a
 * push; the push is expired again then
 */
export async function create(draft: Draft, instance: Instance, entry: Entry): Promise<CreatedPush> {
  const { api, target } = instance;
  const { limits, seal, result } = draft.plan;
  const { mode } = seal.encryption ?? {};
  const account = accountOf(target);
  const owned = target.token !== undefined;
  const given = new Given(entry);
  try {
    const key = (await draft.sealed)?.key;
    if (seal.encryption?.mode === 'words')
      await given.give('key', `${key}`, seal.encryption.wordsFile);
    const passphrase = await given.passphraseOf(draft.passphrase);
    const { request, files } = await requestOf(draft, passphrase);
    const wanted = { request, mode, acceptLimits: limits.accept, account, owned };
    const { made, token, link, isElsewhere, warnings } = await sent(given, instance, {
      kind: 'push',
      files,
      send: (metered) =>
        api.create(request, metered, account).catch((error) => {
          throw asTyped(error, limits.expiryOption);
        }),
      judge: (push, found) => judgePush(wanted, push, found),
      end: (token) => endPush(request, instance, token),
    });
    const terms = granted(made, passphrase !== undefined, owned, isDate(limits.expiry));
    return {
      object: { ...made, encrypted: mode !== undefined },
      told: { ...(result.generated ? { generated: draft.text } : {}), ...given.told },
      name: request.name,
      at: isElsewhere || token === '' ? undefined : { base: target.base, token },
      link: withKey(linkIn(result.locale, link), mode === 'link' ? key : undefined),
      warnings,
      summary: [terms, mode ? ENCRYPTED[mode] : ''].filter((part) => part !== '').join(' · '),
      written: given.written,
    };
  } catch (error) {
    given.takeBack();
    throw error;
  }
}

const ENCRYPTED = {
  link: 'encrypted, with the key in the link',
  words: 'encrypted: send the words separately; the recipient enters them as "Key words"',
  keys: 'encrypted to the public keys',
};

/** Names the option that gave the lifetime where days are refused: they are sent for a time that is a number of them. */
function asTyped(error: unknown, option: string | undefined): unknown {
  if (option === undefined || !(error instanceof CliError)) return error;
  const named = <T extends Fact | number>(fact: T): T => {
    if (typeof fact !== 'object') return fact;
    const isOfDays = fact.name === 'body-field' && fact.of[0] === 'expire_after_days';
    return { ...fact, of: isOfDays ? [...fact.of, option] : fact.of.map(named) };
  };
  return error.with({ facts: error.facts.map(named) });
}

/** Ends a push, as its owner or as anybody who can view it. */
async function endPush(
  { passphrase, key_proof }: NewPush,
  { api, target }: Instance,
  token: string,
): Promise<void> {
  const proof = key_proof === undefined ? undefined : await proofOf(key_proof, target.base);
  const outcome = await attempt(() => api.expire(token, undefined, proof));
  if (!(outcome instanceof CliError)) return;
  if (outcome.code !== 'passphrase' || passphrase === undefined) throw outcome;
  await api.expire(token, passphrase, proof);
}

/** What a reader would prove the key with. */
async function proofOf(keyProof: string, base: string): Promise<string> {
  const [{ proofAt }, { node }] = await Promise.all([
    import('../age/key-proof'),
    import('../age/node-primitives'),
  ]);
  return proofAt(node, keyProof, base);
}

/** How a request is to be created. */
export interface RequestTerms {
  /** Keep it with looser limits than asked for. */
  readonly acceptLimits: boolean;
  /** Whether its closing was given as a date. */
  readonly byDate: boolean;
  /** Language of the page. */
  readonly locale: string | undefined;
  /** The public key that the answer is encrypted to; else a new one, whose private key is kept, or goes to that new file. */
  readonly seal:
    | { readonly recipient?: string; readonly identityFile?: string | undefined }
    | undefined;
}

/** A request that is to be created. */
interface RequestDraft extends RequestTerms {
  readonly fields: Omit<NewRequest, 'passphrase' | 'public_key'>;
  /** They go with the question. */
  readonly files: readonly Attachment[] | undefined;
  readonly passphrase: NewPassphrase;
}

/**
 * Makes a private key, creates the request, and keeps the key.
 * @throws CliError (rejected) if the instance dropped or replaced the key, or its limits are looser than asked, (failed)
 * if the private key cannot be kept; the request is closed again then
 */
export async function createRequest(
  { seal, ...draft }: RequestDraft,
  instance: Instance,
  entry: Entry,
): Promise<CreatedLink & { readonly token: string }> {
  const { api, target } = instance;
  const account = accountOf(target);
  const given = new Given(entry);
  try {
    if (seal && seal.recipient === undefined) {
      const { newRequestKey } = await import('../keep/request-keys');
      given.key = newRequestKey(entry.context, target.base, seal.identityFile);
    }
    const { key } = given;
    const public_key = key?.recipient ?? seal?.recipient;
    const passphrase = await given.passphraseOf(draft.passphrase);
    const request: NewRequest = { ...draft.fields, ...askedFor({ passphrase, public_key }) };
    const { made, token, link, warnings } = await sent(given, instance, {
      kind: 'request',
      files: draft.files,
      send: (metered) => api.requests.create(request, metered, account),
      judge: (created) => judgeRequest(request, draft.acceptLimits, created),
      end: (token) => api.requests.close(token),
    });
    return {
      object: { ...made, encrypted: seal !== undefined },
      told: given.told,
      token,
      link: withKey(linkIn(draft.locale, link), public_key),
      warnings,
      summary: requestSummary(request, made, draft.byDate),
      written: [key?.path, ...given.written],
    };
  } catch (error) {
    given.takeBack();
    throw error;
  }
}

function requestSummary(asked: NewRequest, created: SecretRequest, byDate: boolean): string {
  const lifetime = grantedLifetime(created);
  const date = byDate ? grantedDate(created) : undefined;
  const open = lifetime === undefined ? [] : [`open for ${durationText(lifetime)}`];
  return [
    ...(date === undefined ? open : [`open until ${date}`]),
    ...(asked.passphrase === undefined ? [] : ['passphrase required']),
    ...(created.response_file_attachments ? ['the answer may have files'] : []),
    ...(asked.public_key === undefined ? [] : ['only this machine can read the answer']),
  ].join(' · ');
}

/** 64 bits: instances allow a few tries a minute. */
const PASSPHRASE_WORDS = 5;

/** What opens something new. The sender is given it before that is sent, so that there is nothing that nobody can open. */
class Given {
  /** For the JSON with the link. */
  readonly told: Record<string, string> = {};
  /** New files. */
  readonly written: string[] = [];
  /** Something that it opens may exist. */
  isNeeded = false;
  /** Of a request. */
  key: NewKey | undefined;

  constructor(readonly entry: Entry) {}

  /**
   * Writes it to a new file, or shows it on stderr; with `--json` it stands beside the link.
   * @throws CliError (usage) if that is not possible
   */
  async give(what: 'passphrase' | 'key', text: string, path: string | undefined): Promise<void> {
    const { context, say } = this.entry;
    if (path !== undefined) {
      const { writeForSender } = await import('../keep/rescue');
      writeForSender(path, `${text}\n`);
      this.written.push(path);
    } else if (say.manner.json) this.told[what] = text;
    else
      try {
        if (context.stderr.closed) throw new Error('closed');
        await context.stderr.write(`${what}: ${text}\n`);
      } catch {
        throw usageError(
          `cannot show the ${what}: cannot write to standard error; nothing was sent`,
          `write it to a file with --${what}-out FILE`,
        );
      }
  }

  /** One that is to be generated is given to the sender. */
  async passphraseOf(passphrase: NewPassphrase): Promise<string | undefined> {
    if ('text' in passphrase) return passphrase.text;
    const { generateWords } = await import('../cli/random-secret');
    const text = await generateWords(PASSPHRASE_WORDS);
    await this.give('passphrase', text, passphrase.generateInto);
    return text;
  }

  takeBack(): void {
    if (this.isNeeded) return;
    for (const path of this.written) rmSync(path, { force: true });
    this.key?.remove();
  }
}

/** Something that is ready to be created at an instance. */
interface Creation<Made> {
  readonly kind: Item['kind'];
  readonly files: readonly Attachment[] | undefined;
  send(files: readonly Attachment[]): Promise<Made>;
  judge(made: Made, link: string): Verdict;
  /** Ends it again: where it has no owner, as anybody who can view it. */
  end(token: string): Promise<unknown>;
}

/**
 * Sends and judges a creation. One that is not as it was asked for is ended again. The token is empty if neither the response
 * nor the link has one.
 * @throws CliError (rejected) for a refused one
 */
async function sent<Made extends Push | SecretRequest>(
  given: Given,
  { api, target }: Instance,
  { kind, files, ...creation }: Creation<Made>,
) {
  const made = await sendWithFiles(given.entry, files, creation.send).catch((error) => {
    given.isNeeded = !(error instanceof CliError) || error.code === 'unknown';
    throw error;
  });
  given.isNeeded = true;
  const calls = kind === 'push' ? api : api.requests;
  const { link, token, doubt, isElsewhere } = await findLink(calls, target.base, made, kind);
  const verdict = kept(creation.judge(made, link), given, token);
  if ('refuse' in verdict) {
    const refusal = await endAgain(kind, verdict, link, async () => {
      if (token === '') throw failedError(phrase('no-token-returned'));
      await creation.end(token);
    });
    given.isNeeded = refusal.remains?.expired !== true;
    throw refusal;
  }
  const warnings = [...(doubt ? [await inWords(doubt)] : []), ...verdict.warnings];
  return { made, token, link, isElsewhere, warnings };
}

/** Without its key, nobody could read the answer: a failure to keep that is a refusal, too. */
function kept(verdict: Verdict, { key }: Given, token: string): Verdict {
  if ('refuse' in verdict || !key) return verdict;
  try {
    if (token === '') throw failedError(phrase('no-token-returned'));
    key.keep(token);
    return verdict;
  } catch (error) {
    const { code, facts, steps } = asCliError(error);
    return { refuse: code, why: facts, steps };
  }
}

const endings = {
  push: {
    ended: 'the push was expired',
    remains: 'expiring the push FAILED, so the secret can still be read at',
    hint: 'expire it yourself: open the link and delete it, or run pwpush expire with a token',
  },
  request: {
    ended: 'it was closed',
    remains: 'closing it FAILED: it can still be answered at',
    hint: 'close it yourself with pwpush expire',
  },
};

/** Ends what is not as it was asked for, and returns the error that says so. */
async function endAgain(
  kind: Item['kind'],
  { refuse, why, steps }: Refusal,
  link: string,
  end: () => Promise<unknown>,
): Promise<CliError> {
  const words = endings[kind];
  try {
    await end();
  } catch (cause) {
    const remains = { link, expired: false };
    const facts = [why, `${words.remains} ${link}`].flat();
    return new CliError(refuse, facts, { steps: words.hint, cause, remains });
  }
  const remains = { link, expired: true };
  return new CliError(refuse, [why, words.ended].flat(), { steps, remains });
}

/** Saves the receipt of a push; a failure is only said, as the push exists. */
export async function keepReceipt(
  { context, say }: Entry,
  { object: push, link, name, at }: CreatedPush,
): Promise<void> {
  try {
    await saveReceipts(context, [{ push, link, name, at }]);
  } catch (error) {
    await say.remark(phrase('receipt-not-saved', reasonOf(error)));
  }
}
