import { rmSync } from 'node:fs';
import { inWords } from '../cli/in-words';
import type { NewPassphrase } from '../cli/passphrase';
import { generateWords } from '../cli/random-secret';
import type { Entry } from '../cli/terminal/output';
import { granted, grantedDate } from '../cli/terminal/wording';
import type { Attachment } from '../client/form';
import type { Item } from '../client/item';
import { findLink, linkIn, withKey } from '../client/link';
import type { NewPush, NewRequest } from '../contract/api';
import type { Push, SecretRequest } from '../contract/decode';
import { definedFields } from '../contract/json';
import { durationText, grantedLifetime } from '../contract/lifetime';
import type { CreatedLink } from '../deliver/deliver-link';
import { requestKeys } from '../keep/load-request-keys';
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
import { type Draft, type RequestDraft, requestOf } from './draft';
import { isDate } from './expiry';
import { judgePush, judgeRequest, type Refusal, type Verdict } from './judge';

export interface Created<Made> extends CreatedLink {
  readonly object: Made & object;
  /** Empty if neither the response nor the link has a token. */
  readonly token: string;
  readonly name: string | undefined;
  /** Address for later HTTP requests; undefined if the token is unknown or the link leads elsewhere. */
  readonly place: PushPlace | undefined;
}

export type CreatedPush = Created<Push>;

/** A push or request to create, after its sender received what opens it. */
interface Creation<Made> {
  readonly kind: Item['kind'];
  readonly name: string | undefined;
  readonly files: readonly Attachment[] | undefined;
  readonly isEncrypted: boolean;
  readonly linkKey: string | undefined;
  readonly locale: string | undefined;
  send(files: readonly Attachment[]): Promise<Made>;
  judge(made: Made, link: string): Verdict;
  /** Expires the push or closes the request. */
  end(token: string): Promise<unknown>;
  summary(made: Made): readonly (string | undefined)[];
}

/**
 * @throws CliError (rejected) if the limits of the push are looser than requested, or if an encrypted push has a link
 * that is not one of a push; the push is then expired again
 */
export function createPush(draft: Draft, instance: Instance, entry: Entry): Promise<CreatedPush> {
  return create(instance, entry, (handover) => pushCreation(draft, instance, handover));
}

/**
 * Makes a private key, creates the request, and saves the key.
 * @throws CliError (rejected) if the instance dropped or replaced the key, or its limits are looser than requested,
 * (failed) if the private key cannot be saved; the request is then closed again
 */
export function createRequest(
  draft: RequestDraft,
  instance: Instance,
  entry: Entry,
): Promise<Created<SecretRequest>> {
  return create(instance, entry, (handover) => requestCreation(draft, instance, handover));
}

async function create<Made extends Push | SecretRequest>(
  { api, target }: Instance,
  entry: Entry,
  prepare: (handover: Handover) => Promise<Creation<Made>>,
): Promise<Created<Made>> {
  const handover = new Handover(entry);
  try {
    const creation = await prepare(handover);
    const { kind, files, isEncrypted } = creation;
    const made = await sendWithFiles(entry, files, creation.send).catch((error) => {
      handover.isNeeded = !(error instanceof CliError) || error.code === 'unknown';
      throw error;
    });
    handover.isNeeded = true;
    const calls = kind === 'push' ? api : api.requests;
    const { link, token, doubt, isElsewhere } = await findLink(calls, target.base, made, kind);
    const verdict = handover.keepKey(creation.judge(made, link), token);
    if ('refuse' in verdict) {
      const refusal = await undo(creation, verdict, token, link);
      handover.isNeeded = refusal.remains?.expired !== true;
      throw refusal;
    }
    return {
      object: { ...made, encrypted: isEncrypted },
      token,
      name: creation.name,
      place: isElsewhere || token === '' ? undefined : { base: target.base, token },
      secrets: handover.secrets,
      link: withKey(linkIn(creation.locale, link), creation.linkKey),
      warnings: [...(doubt ? [await inWords(doubt)] : []), ...verdict.warnings],
      summary: creation.summary(made).filter(Boolean).join(' · '),
      written: handover.written,
    };
  } catch (error) {
    handover.takeBack();
    throw error;
  }
}

async function pushCreation(
  draft: Draft,
  instance: Instance,
  handover: Handover,
): Promise<Creation<Push>> {
  const { api, target, ephemeral } = instance;
  const { limits, seal, result } = draft.plan;
  const { encryption } = seal;
  const mode = encryption?.mode;
  const account = accountOf(target);
  const owned = target.token !== undefined;
  const key = (await draft.sealed)?.key;
  if (result.generated) handover.secrets.generated = draft.text;
  if (encryption?.mode === 'words') await handover.give('key', `${key}`, encryption.wordsFile);
  const passphrase = await handover.passphraseOf(draft.passphrase);
  const { request, files } = await requestOf(draft, passphrase);
  const wanted = { request, mode, acceptLimits: limits.accept, account, owned };
  return {
    kind: 'push',
    name: request.name,
    files,
    isEncrypted: mode !== undefined,
    linkKey: mode === 'link' ? key : undefined,
    locale: result.locale,
    send: (metered) =>
      api.create(request, metered, account).catch((error) => {
        throw asTyped(error, limits.expiryOption);
      }),
    judge: (made, link) => judgePush(wanted, made, link),
    end: (token) => endPush(request, instance, token),
    summary: (made) => [
      granted(made, passphrase !== undefined, owned, isDate(limits.expiry)),
      mode ? ENCRYPTED[mode] : ephemeral ? 'not encrypted' : inClear('it'),
    ],
  };
}

const ENCRYPTED = {
  link: 'encrypted, with the key in the link',
  words: 'encrypted: send the words separately; the recipient enters them as "Key words"',
  keys: 'encrypted to the public keys',
};

/** Says what the lack of encryption means, at an instance that others may run. */
export const inClear = (pushed: 'it' | 'them') =>
  `not encrypted: who runs the instance can read ${pushed}`;

/** Names the option that the user typed in an error about days, into which its time was converted. */
function asTyped(error: unknown, option: string | undefined): unknown {
  if (option === undefined || !(error instanceof CliError)) return error;
  const naming = <T extends Fact | number>(fact: T): T => {
    if (typeof fact !== 'object') return fact;
    const isOfDays = fact.name === 'body-field' && fact.of[0] === 'expire_after_days';
    return { ...fact, of: isOfDays ? [...fact.of, option] : fact.of.map(naming) };
  };
  return error.with({ facts: error.facts.map(naming) });
}

/** A push without an owner is expired with what a viewer needs: the proof of its key and its passphrase. */
async function endPush(
  { passphrase, key_proof }: NewPush,
  { api, target }: Instance,
  token: string,
): Promise<void> {
  const proof = key_proof && (await import('./encryption')).proofFor(key_proof, target.base);
  const outcome = await attempt(() => api.expire(token, undefined, proof));
  if (!(outcome instanceof CliError)) return;
  if (outcome.code !== 'passphrase' || passphrase === undefined) throw outcome;
  await api.expire(token, passphrase, proof);
}

async function requestCreation(
  draft: RequestDraft,
  { api: { requests }, target }: Instance,
  handover: Handover,
): Promise<Creation<SecretRequest>> {
  const { content, limits, seal, result } = draft.plan;
  const account = accountOf(target);
  const public_key =
    draft.recipient ??
    (seal.encryption &&
      (await handover.newKey(target.base, draft.question, seal.encryption.identityFile)));
  const passphrase = await handover.passphraseOf(draft.passphrase);
  const response_file_attachments = limits.takesFiles || undefined;
  const request: NewRequest = {
    request: draft.question,
    ...draft.closes,
    ...content.details,
    ...definedFields({ response_file_attachments, passphrase, public_key }),
  };
  return {
    kind: 'request',
    name: request.name,
    files: draft.files,
    isEncrypted: public_key !== undefined,
    linkKey: public_key,
    locale: result.locale,
    send: (metered) => requests.create(request, metered, account),
    judge: (made) => judgeRequest(request, limits.accept, made),
    end: (token) => requests.close(token),
    summary: (made) => {
      const lifetime = grantedLifetime(made);
      const date = limits.byDate ? grantedDate(made) : undefined;
      const open = lifetime === undefined ? undefined : `open for ${durationText(lifetime)}`;
      return [
        date === undefined ? open : `open until ${date}`,
        passphrase === undefined ? undefined : 'passphrase required',
        made.response_file_attachments ? 'the answer may have files' : undefined,
        public_key === undefined ? undefined : 'only this machine can read the answer',
      ];
    },
  };
}

/** Five words and a digit have 67 bits, which is enough, as instances allow a few tries a minute. */
const PASSPHRASE_WORDS = 5;

/** The sender gets what opens a push or request before it is sent, so that nothing is created that nobody can open. */
class Handover {
  /** The JSON output has these fields beside the link. */
  readonly secrets: Record<string, string | undefined> = {};
  readonly written: string[] = [];
  /** True once the push or request that needs the key may exist. */
  isNeeded = false;
  #key: NewKey | undefined;

  constructor(readonly entry: Entry) {}

  /**
   * Writes the text to a new file, or shows it on stderr; with `--json`, it stands beside the link.
   * @throws CliError (usage) if the text can be neither written nor shown
   */
  async give(what: 'passphrase' | 'key', text: string, path = '-'): Promise<void> {
    const { context, say } = this.entry;
    if (path !== '-') {
      const { writeForSender } = await import('../keep/rescue');
      writeForSender(path, `${text}\n`);
      this.written.push(path);
    } else if (say.manner.json) this.secrets[what] = text;
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

  async passphraseOf(passphrase: NewPassphrase): Promise<string | undefined> {
    if ('text' in passphrase) return passphrase.text;
    const text = await generateWords(PASSPHRASE_WORDS);
    await this.give('passphrase', text, passphrase.generateInto);
    return text;
  }

  async newKey(base: string, question: string, path: string | undefined): Promise<string> {
    const { newRequestKey } = await requestKeys();
    this.#key = newRequestKey(this.entry.context, base, question, path);
    if (path !== undefined) this.written.push(path);
    return this.#key.recipient;
  }

  /** A failure to save the key is a refusal, too, as nobody could read the answer without it. */
  keepKey(verdict: Verdict, token: string): Verdict {
    if ('refuse' in verdict || !this.#key) return verdict;
    try {
      if (token === '') throw failedError(phrase('no-token-returned'));
      this.#key.keep(token);
      return verdict;
    } catch (error) {
      const { code, facts, hints } = asCliError(error);
      return { refuse: code, why: facts, hints };
    }
  }

  takeBack(): void {
    if (this.isNeeded) return;
    for (const path of this.written) rmSync(path, { force: true });
    this.#key?.remove();
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

async function undo<Made>(
  { kind, end }: Creation<Made>,
  { refuse, why, hints }: Refusal,
  token: string,
  link: string,
): Promise<CliError> {
  const { ended, remains, hint } = endings[kind];
  try {
    if (token === '') throw failedError(phrase('no-token-returned'));
    await end(token);
  } catch (cause) {
    const facts = [why, `${remains} ${link}`].flat();
    return new CliError(refuse, facts, { hints: hint, cause, remains: { link, expired: false } });
  }
  return new CliError(refuse, [why, ended].flat(), { hints, remains: { link, expired: true } });
}

/** A failure to save the receipts is only reported, as the pushes exist. */
export async function keepReceipts(
  { context, say }: Entry,
  pushes: readonly CreatedPush[],
): Promise<void> {
  try {
    await saveReceipts(
      context,
      pushes.map(({ object: push, link, name, place }) => ({ push, link, name, place })),
    );
  } catch (error) {
    await say.remark(phrase('receipt-not-saved', reasonOf(error)));
  }
}
