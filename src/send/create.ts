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
import { scope, type Undo } from '../platform/scope';
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
  const { ready, made, token, link, isElsewhere, warnings } = await created(entry, instance, {
    kind: 'push',
    prepare: (undo) => preparePush(draft, entry, undo),
    send: ({ request }, files) =>
      api.create(request, files, account).catch((error) => {
        throw asTyped(error, limits.expiryOption);
      }),
    judge: ({ request }, push, found) =>
      judgePush({ request, mode, acceptLimits: limits.accept, account, owned }, push, found),
    end: ({ request }, token) => endPush(request, instance, token),
  });
  const summary = [
    granted(made, ready.request.passphrase !== undefined, owned, isDate(limits.expiry)),
    mode ? ENCRYPTED[mode] : '',
  ];
  return {
    object: { ...made, encrypted: mode !== undefined },
    told: ready.told,
    name: ready.request.name,
    at: isElsewhere || token === '' ? undefined : { base: target.base, token },
    link: withKey(linkIn(result.locale, link), ready.linkKey),
    warnings,
    summary: summary.filter((part) => part !== '').join(' · '),
    written: [wordsFileOf(draft), fileOf(draft.passphrase)],
  };
}

const ENCRYPTED = {
  link: 'encrypted, with the key in the link',
  words: 'encrypted: send the words separately; the recipient enters them as "Key words"',
  keys: 'encrypted to the public keys',
};

/**
 * Gives the sender what is generated for a push.
 * @throws CliError (usage) if that is not possible
 */
async function preparePush(draft: Draft, entry: Entry, undo: Undo) {
  const { seal, result } = draft.plan;
  const mode = seal.encryption?.mode;
  const key = (await draft.sealed)?.key;
  const words = mode === 'words' && key !== undefined;
  const told: CreatedLink['told'] = {
    ...(result.generated ? { generated: draft.text } : {}),
    ...(words
      ? await giveToSender({ what: 'key', text: key, path: wordsFileOf(draft) }, entry, undo)
      : {}),
  };
  const passphrase = await givenPassphrase(draft.passphrase, entry, undo);
  return {
    ...(await requestOf(draft, passphrase.text)),
    linkKey: mode === 'link' ? key : undefined,
    told: { ...told, ...passphrase.told },
  };
}

/** The new file that the words of a key go to. */
function wordsFileOf({ plan }: Draft): string | undefined {
  const { encryption } = plan.seal;
  return encryption?.mode === 'words' ? encryption.wordsFile : undefined;
}

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

/** A request that is to be created. */
export interface RequestDraft {
  readonly fields: Omit<NewRequest, 'passphrase' | 'public_key'>;
  /** They go with the question. */
  readonly files: readonly Attachment[] | undefined;
  readonly passphrase: NewPassphrase;
  /** Keep it with looser limits than asked for. */
  readonly acceptLimits: boolean;
  /** Whether its closing was given as a date. */
  readonly byDate: boolean;
  /** Language of the page. */
  readonly locale: string | undefined;
  /** Makes the key that the answer is encrypted to, for the instance at that address; undefined for none. */
  readonly newKey: ((base: string) => NewKey) | undefined;
}

/**
 * Makes a private key, creates the request, and keeps the key.
 * @throws CliError (rejected) if the instance dropped or replaced the key, or its limits are looser than asked, (failed)
 * if the private key cannot be kept; the request is closed again then
 */
export async function createRequest(
  draft: RequestDraft,
  instance: Instance,
  entry: Entry,
): Promise<CreatedLink & { readonly token: string }> {
  const { requests } = instance.api;
  const account = accountOf(instance.target);
  const { ready, made, token, link, warnings } = await created(entry, instance, {
    kind: 'request',
    prepare: (undo) => prepareRequest(draft, instance, entry, undo),
    send: ({ request }, files) => requests.create(request, files, account),
    judge: ({ request }, created) => judgeRequest(request, draft.acceptLimits, created),
    keep: ({ key }, token) => {
      if (key && token === '') throw failedError(phrase('no-token-returned'));
      key?.keep(token);
    },
    end: (_, token) => requests.close(token),
  });
  const { key, request, told } = ready;
  return {
    object: { ...made, encrypted: key !== undefined },
    told,
    token,
    link: withKey(linkIn(draft.locale, link), key?.recipient),
    warnings,
    summary: requestSummary(request, made, draft.byDate),
    written: [key?.path, fileOf(draft.passphrase)],
  };
}

async function prepareRequest(
  { fields, files, passphrase, newKey }: RequestDraft,
  { target }: Instance,
  entry: Entry,
  undo: Undo,
) {
  const key = newKey?.(target.base);
  if (key) undo(key.remove);
  const given = await givenPassphrase(passphrase, entry, undo);
  const protection = askedFor({ passphrase: given.text, public_key: key?.recipient });
  return { request: { ...fields, ...protection }, files, key, told: given.told };
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

/** How a push or a request is created at an instance; `Ready` is what is sent. */
interface Creation<Ready, Made> {
  readonly kind: Item['kind'];
  /** Gives the sender what is generated; that is undone unless something was created. */
  prepare(undo: Undo): Promise<Ready>;
  send(ready: Ready, files: readonly Attachment[]): Promise<Made>;
  judge(ready: Ready, made: Made, link: string): Verdict;
  /** Keeps what opens it. */
  keep?(ready: Ready, token: string): void;
  /** Ends it again: where it has no owner, as anybody who can view it. */
  end(ready: Ready, token: string): Promise<unknown>;
}

/**
 * Prepares, sends and judges a creation. One that is not as it was asked for is ended again. The token is empty if neither
 * the response nor the link has one.
 * @throws CliError (rejected) for a refused one
 */
function created<
  Ready extends { readonly files?: readonly Attachment[] | undefined },
  Made extends Push | SecretRequest,
>(entry: Entry, { api, target }: Instance, creation: Creation<Ready, Made>) {
  const { kind } = creation;
  return scope(async ({ undo }) => {
    let mayExist = false;
    const ready = await creation.prepare((how) => undo(() => (mayExist ? undefined : how())));
    const sending = sendWithFiles(entry, ready.files, (files) => creation.send(ready, files));
    const made = await sending.catch((error) => {
      mayExist = !(error instanceof CliError) || error.code === 'unknown';
      throw error;
    });
    mayExist = true;
    const { link, token, doubt, isElsewhere } = await findLink(
      kind === 'push' ? api : api.requests,
      target.base,
      made,
      kind,
    );
    const verdict = kept(creation.judge(ready, made, link), () => creation.keep?.(ready, token));
    if ('refuse' in verdict) {
      const refusal = await endAgain(kind, verdict, link, async () => {
        if (token === '') throw failedError(phrase('no-token-returned'));
        await creation.end(ready, token);
      });
      mayExist = refusal.remains?.expired !== true;
      throw refusal;
    }
    const warnings = [...(doubt ? [await inWords(doubt)] : []), ...verdict.warnings];
    return { ready, made, token, link, isElsewhere, warnings };
  });
}

/** The passphrase; one that is to be generated is given to the sender, or told with the link. */
async function givenPassphrase(
  passphrase: NewPassphrase,
  entry: Entry,
  undo: Undo,
): Promise<{ readonly text: string | undefined; readonly told?: CreatedLink['told'] }> {
  if ('text' in passphrase) return passphrase;
  const { generateWords } = await import('../cli/random-secret');
  const text = await generateWords(PASSPHRASE_WORDS);
  const generated = { what: 'passphrase', text, path: passphrase.generateInto } as const;
  return { text, told: await giveToSender(generated, entry, undo) };
}

/** 64 bits: instances allow a few tries a minute. */
const PASSPHRASE_WORDS = 5;

/** The new file that a generated passphrase goes to. */
function fileOf(passphrase: NewPassphrase): string | undefined {
  return 'text' in passphrase ? undefined : passphrase.generateInto;
}

/**
 * Gives a passphrase or key to the sender before anything is sent, so that there is no push that nobody can open: into a new
 * file, which `undo` removes, or onto stderr. With `--json` it is returned, as the object with the link has it.
 * @throws CliError (usage) if it can be neither shown nor written
 */
async function giveToSender(
  { what, text, path }: Generated,
  { context: { stderr }, say }: Entry,
  undo: Undo,
): Promise<CreatedLink['told']> {
  if (path !== undefined) {
    const { writeForSender } = await import('../keep/rescue');
    writeForSender(path, `${text}\n`);
    undo(() => rmSync(path, { force: true }));
    return {};
  }
  if (say.manner.json) return { [what]: text };
  try {
    if (stderr.closed) throw new Error('closed');
    await stderr.write(`${what}: ${text}\n`);
    return {};
  } catch {
    throw usageError(
      `cannot show the ${what}: cannot write to standard error; nothing was sent`,
      `write it to a file with --${what}-out FILE`,
    );
  }
}

interface Generated {
  readonly what: 'passphrase' | 'key';
  readonly text: string;
  /** A new file for it; else it is shown on stderr. */
  readonly path: string | undefined;
}

/** Without what opens it, nobody could read it: a failure to keep that is a refusal, too. */
function kept(verdict: Verdict, keep: () => void): Verdict {
  if ('refuse' in verdict) return verdict;
  try {
    keep();
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
