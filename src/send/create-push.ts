import type { NewPassphrase } from '../cli/passphrase';
import type { Entry, Terminal } from '../cli/terminal/output';
import { granted } from '../cli/terminal/wording';
import type { Attachment } from '../client/form';
import { linkIn, withKey } from '../client/link';
import type { NewPush, Notification } from '../contract/api';
import type { Push } from '../contract/decode';
import { askedFor } from '../contract/json';
import type { CreatedLink } from '../deliver/deliver-link';
import { attempt, CliError, phrase, reasonOf } from '../platform/errors';
import type { Undo } from '../platform/scope';
import type { Instance } from '../profile/connect';
import { type PushPlace, saveReceipts } from '../profile/receipts';
import { create, fileOf, givenPassphrase, toSender } from './create';
import type { EncryptMode, Seal, SealedContent, SealPlan } from './encryption';
import { refusedAs } from './expiry';
import { judgePush, labelsOf, type Terms } from './judge';

interface Sealing {
  readonly mode: EncryptMode;
  readonly seal: Seal;
  /** A new file for the words; else they are shown on stderr. */
  readonly wordsFile?: string | undefined;
}

/** The parts of a push that is to be sent. */
export interface Draft {
  /** The text, or the message that goes with the files. */
  readonly text: string | undefined;
  readonly files: readonly Attachment[] | undefined;
  readonly passphrase: NewPassphrase;
  readonly sealing: Sealing | undefined;
  /** Whether the text was generated: only JSON has room for it beside the link. */
  readonly generated: boolean;
  readonly limits: PushLimits;
  readonly details: PushDetails;
}

/** The kind of a push, and when and how it opens. */
export type PushLimits = Omit<NewPush, 'payload' | 'passphrase' | keyof PushDetails>;

/** Kept by the instance for the sender, or told to others. */
export type PushDetails = Pick<NewPush, 'name' | 'note' | keyof Notification>;

/** A push to be sent: encrypted, if it is to be. */
type ReadyPush = Awaited<ReturnType<typeof preparePush>>;

/**
 * What encrypts by a plan; reads public keys that are in files.
 * @throws CliError (usage) for one that cannot be used
 */
export async function sealingFor(plan: SealPlan, run: Entry): Promise<Sealing> {
  const { sealerFor } = await import('./encryption');
  const wordsFile = plan.mode === 'words' ? plan.wordsFile : undefined;
  return { mode: plan.mode, seal: await sealerFor(plan, run), wordsFile };
}

/** Begins to encrypt a draft: a key is stretched on another thread. */
export function beginSealing(draft: Draft): Draft {
  const { sealing } = draft;
  if (!sealing) return draft;
  const sealed = sealing.seal(draft);
  sealed.catch(() => {});
  return { ...draft, sealing: { ...sealing, seal: () => sealed } };
}

/**
 * Encrypts a draft, and gives the sender what is generated for it.
 * @throws CliError (usage) if that is not possible
 */
async function preparePush(draft: Draft, run: Entry, undo: Undo) {
  const { text, sealing } = draft;
  const sealed = await sealing?.seal(draft);
  const key = sealed?.key;
  let told: CreatedLink['told'] = draft.generated ? { generated: text } : {};
  if (sealing?.mode === 'words' && key !== undefined) {
    const { giveToSender } = await toSender();
    const words = { what: 'key', text: key, path: sealing.wordsFile } as const;
    told = { ...told, ...(await giveToSender(words, run, undo)) };
  }
  const passphrase = await givenPassphrase(draft.passphrase, run, undo);
  const { request, files } = sendable(draft, sealed, passphrase.text);
  return {
    request,
    files,
    mode: sealing?.mode,
    linkKey: sealing?.mode === 'link' ? key : undefined,
    told: { ...told, ...passphrase.told },
  };
}

/** The draft as `--dry-run` shows it: with a key that is thrown away, and nothing is given to anybody. */
export async function shownPush(draft: Draft) {
  const passphrase = 'text' in draft.passphrase ? draft.passphrase.text : '';
  return sendable(draft, await draft.sealing?.seal(draft), passphrase);
}

function sendable(draft: Draft, sealed: SealedContent | undefined, passphrase: string | undefined) {
  const { limits, details } = draft;
  const payload = sealed ? sealed.payload : draft.text;
  return {
    request: askedFor({ payload, ...limits, passphrase, ...details, ...sealed?.proof }),
    files: sealed ? sealed.files : draft.files,
  };
}

/** A push that was created and accepted. */
export interface CreatedPush extends CreatedLink {
  readonly object: Push;
  readonly name: string | undefined;
  /** Where later requests for it go; undefined if its link does not lead there. */
  readonly at: PushPlace | undefined;
}

interface PushPlan extends Terms {
  readonly draft: Draft;
  /** Language of the recipient's page. */
  readonly locale: string | undefined;
  /** The option that gave its lifetime, if that does not count days. */
  readonly expiryOption: string | undefined;
  /** Whether its lifetime was given as a date. */
  readonly byDate: boolean;
}

/**
 * Encrypts a push if it is to be, and creates it.
 * @throws CliError (rejected) if its limits are looser than asked, or if an encrypted push has a link that is not one of a
 * push; the push is expired again then
 */
export async function createPush(
  session: Entry,
  instance: Instance,
  { draft, account, acceptLimits, locale, expiryOption, byDate }: PushPlan,
): Promise<CreatedPush> {
  const owned = instance.target.token !== undefined;
  const { ready, made, token, link, isElsewhere, warnings } = await create(session, instance, {
    kind: 'push',
    prepare: (undo) => preparePush(draft, session, undo),
    send: ({ request }, files) =>
      instance.api.create(request, files, account).catch((error) => {
        throw refusedAs(expiryOption, error);
      }),
    judge: (ready, push, found) =>
      judgePush(
        { request: ready.request, mode: ready.mode, acceptLimits, account, owned },
        push,
        found,
      ),
    end: async ({ request }, token) => {
      const proof = await proofOf(request, instance);
      const expire = (passphrase?: string) => instance.api.expire(token, passphrase, proof);
      const outcome = await attempt(expire);
      if (!(outcome instanceof CliError)) return;
      if (outcome.code !== 'passphrase' || request.passphrase === undefined) throw outcome;
      await expire(request.passphrase);
    },
  });
  return {
    object: { ...made, encrypted: ready.mode !== undefined },
    told: ready.told,
    name: ready.request.name,
    at: isElsewhere || token === '' ? undefined : { base: instance.target.base, token },
    link: withKey(linkIn(locale, link), ready.linkKey),
    warnings,
    summary: summaryOf(ready, made, owned, byDate),
    written: [draft.sealing?.wordsFile, fileOf(draft.passphrase)],
  };
}

/** What a reader would prove its key with; undefined for one without. */
async function proofOf({ key_proof }: NewPush, { target }: Instance): Promise<string | undefined> {
  if (key_proof === undefined) return undefined;
  const [{ proofAt }, { node }] = await Promise.all([
    import('../age/key-proof'),
    import('../age/node-primitives'),
  ]);
  return proofAt(node, key_proof, target.base);
}

const ENCRYPTED = {
  link: 'encrypted, with the key in the link',
  words: 'encrypted: send the words separately; the recipient enters them as "Key words"',
  keys: 'encrypted to the public keys',
};

/** Tells the sender what the instance granted, and how the push is encrypted. */
function summaryOf(
  { request, mode }: ReadyPush,
  created: Push,
  owned: boolean,
  byDate: boolean,
): string {
  const parts = [
    granted(created, request.passphrase !== undefined, owned, byDate),
    mode ? ENCRYPTED[mode] : '',
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

/** Returns what warns, once of each, that the name or the note of a push is not encrypted. */
export function clearFieldsWarning({ warn }: Terminal) {
  const warned = new Set<string>();
  return async (details: Pick<PushDetails, 'name' | 'note'>): Promise<void> => {
    const clear = labelsOf(details).filter((label) => !warned.has(label));
    if (clear.length === 0) return;
    for (const label of clear) warned.add(label);
    const [is, it] = clear.length === 1 ? ['is', 'it'] : ['are', 'them'];
    await warn(`the ${clear.join(' and the ')} ${is} not encrypted: the instance can read ${it}`);
  };
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
