import { randomBytes } from 'node:crypto';
import type { Waiter } from '../queues';
import type { SealedKeys } from '../store/key-rows';
import type { NoteRow, PushRow, SecretRow } from '../store/push-rows';
import type { InstanceKey } from './instance-key';
import type { Keyring } from './keyring';
import {
  derive,
  keyOfPassphrase,
  nonceOf,
  PASSPHRASE_COST,
  type PassphraseRecord,
  recordPassphrase,
  seal,
  unseal,
} from './primitives';

/** The columns that the keys of a push are bound to: after one is changed in the database, nothing opens. */
export type KeyTerms = Pick<
  PushRow,
  'url_token' | 'owner_id' | 'expires_at' | 'expire_after_views'
> &
  Partial<Pick<PushRow, 'public_key'>>;

/** Thrown when the row of a push does not match its sealed keys, because it was tampered with. */
export class Damaged extends Error {
  override readonly name = 'Damaged';
}

export interface Secret {
  readonly push: KeyTerms;
  /** The data key, if files have been sealed with it. */
  readonly key?: Uint8Array | undefined;
  readonly payload: string;
  readonly note: string;
  readonly passphrase: string;
  /** The data key of the request that this push answers: the instance key alone does not open the answer. */
  readonly requestKey?: Uint8Array | undefined;
  readonly waiter?: Waiter | undefined;
}

export interface FileLink {
  readonly urlToken: string;
  readonly position: number;
  /** When the link expires, in milliseconds since 1970. */
  readonly until: number;
  readonly key: Uint8Array;
}

type Verified = Pick<SecretRow, 'salt' | 'cost' | 'verifier' | 'key_id'>;

/**
 * Seals pushes with the instance key, and opens them. Each push has its own data key, wrapped with the passphrase's
 * key, if any, and then with the instance key. So opening needs both keys, and the outer wrap can be renewed without
 * the passphrase. The note has a second key, wrapped with the instance key alone, because its owner reads it in
 * listings, without the passphrase. All methods that open throw a `ServiceRefusal` when another instance key is in
 * use, and `Damaged` for a row that was tampered with.
 */
export class Vault {
  constructor(
    readonly keys: Keyring,
    private readonly passphraseCost = PASSPHRASE_COST,
  ) {}

  async seal(secret: Secret): Promise<SecretRow> {
    const { push, passphrase, requestKey, waiter, key = randomBytes(32) } = secret;
    const { url_token } = push;
    const { id, wrapping } = this.keys.key;
    const protection =
      passphrase === ''
        ? undefined
        : await recordPassphrase(passphrase, this.passphraseCost, waiter);
    const outer = protection?.key ?? requestKey;
    const inner = outer ? seal(outer, key, context(url_token, 'inner key')) : key;
    return {
      key_id: id,
      data_key: bind(wrapping, inner, push, 'data key'),
      payload: seal(key, secret.payload, context(url_token, 'payload')),
      ...sealNote(wrapping, secret),
      ...sealRecord(wrapping, push, protection?.record),
    };
  }

  /**
   * Opens the data key. `outer` is the key of the passphrase or, for an answer, the data key of the request.
   * @throws Error when the push has a passphrase and `outer` is missing, or when `outer` is wrong
   */
  openKey(push: KeyTerms, row: SecretRow, outer?: Uint8Array): Uint8Array {
    const { wrapping } = this.keys.get(row.key_id);
    const inner = unbind(wrapping, row.data_key, push, 'data key');
    if (!outer && row.verifier) throw new Error('a passphrase is needed');
    return outer ? unseal(outer, inner, context(push.url_token, 'inner key')) : inner;
  }

  /** Returns null when the payload is gone. `key` is the data key. */
  openPayload(urlToken: string, payload: SecretRow['payload'], key: Uint8Array): string | null {
    return payload && unseal(key, payload, context(urlToken, 'payload')).toString();
  }

  openNote(push: KeyTerms, { note_key, note, key_id }: NoteRow): string {
    if (!note_key || !note) return '';
    const key = unbind(this.keys.get(key_id).wrapping, note_key, push, 'note key');
    return unseal(key, note, context(push.url_token, 'note')).toString();
  }

  /** Returns the key derived from the passphrase, or undefined when that is wrong. */
  async checkPassphrase(
    push: KeyTerms,
    { salt, cost, verifier, key_id }: Verified,
    passphrase: string,
    waiter?: Waiter,
  ): Promise<Uint8Array | undefined> {
    if (!salt || !cost || !verifier) return undefined;
    const opened = unbind(this.keys.get(key_id).wrapping, verifier, push, 'verifier');
    return keyOfPassphrase(passphrase, { salt, cost, verifier: opened }, waiter);
  }

  /**
   * A file link is sealed (AES-256-GCM), not only signed, because it contains the data key: the passphrase is entered
   * once, at the retrieval, and after the last view the database contains nothing that opens the files. So a file
   * opens with its link and the instance key together, and with neither alone.
   * @param views number of views including this one; with it, a repeated HTTP request gets the same link
   */
  sealLink({ key, urlToken, position, until }: FileLink, views?: number): string {
    const { linking } = this.keys.key;
    const terms = Buffer.from(JSON.stringify([urlToken, position, until, views]));
    const plain = Buffer.concat([key, terms]);
    const nonce = views === undefined ? undefined : nonceOf(linking, plain);
    return seal(linking, plain, LINK_CONTEXT, nonce).toString('base64url');
  }

  /** The page of a secret can expire it with this key, which reveals neither the secret nor the other keys. */
  deletionKey(urlToken: string): string {
    const { linking } = this.keys.key;
    return derive(linking, context(urlToken, 'deletion'), 16).toString('base64url');
  }

  /** Returns undefined when the link is not authentic. Does not check whether it has expired. */
  openLink(text: string): FileLink | undefined {
    const sealed = Buffer.from(text, 'base64url');
    // Decoding ignores unused bits of the last character, so other texts have the same bytes.
    if (sealed.toString('base64url') !== text) return undefined;
    return openLink(this.keys.key.linking, sealed);
  }
}

export function reseal(row: SealedKeys, push: KeyTerms, from: InstanceKey, to: InstanceKey) {
  const resealed = (sealed: Uint8Array, what: BoundPart) =>
    bind(to.wrapping, unbind(from.wrapping, sealed, push, what), push, what);
  return {
    data_key: resealed(row.data_key, 'data key'),
    note_key: row.note_key && resealed(row.note_key, 'note key'),
    verifier: row.verifier && resealed(row.verifier, 'verifier'),
  };
}

type BoundPart = 'data key' | 'note key' | 'verifier';

function bind(wrapping: Uint8Array, plain: Uint8Array, push: KeyTerms, what: BoundPart): Buffer {
  return seal(wrapping, plain, termsOf(push, what));
}

function unbind(wrapping: Uint8Array, sealed: Uint8Array, push: KeyTerms, what: BoundPart): Buffer {
  try {
    return unseal(wrapping, sealed, termsOf(push, what));
  } catch (cause) {
    throw new Damaged('the row of a push was changed', { cause });
  }
}

/** Returns the associated data of a sealed key. */
export function termsOf(push: KeyTerms, what: BoundPart): string {
  const { url_token, owner_id, expires_at, expire_after_views, public_key = null } = push;
  const terms = `owner ${owner_id ?? 'nobody'} until ${expires_at} views ${expire_after_views}`;
  const recipient = public_key === null ? '' : ` for ${public_key}`;
  return `${context(url_token, what)} ${terms}${recipient}`;
}

function context(urlToken: string, what: string): string {
  return `pwpush push ${urlToken} ${what}`;
}

function sealNote(wrapping: Uint8Array, { push, note }: Secret): Omit<NoteRow, 'key_id'> {
  if (note === '') return { note_key: null, note: null };
  const key = randomBytes(32);
  return {
    note_key: bind(wrapping, key, push, 'note key'),
    note: seal(key, note, context(push.url_token, 'note')),
  };
}

/** The verifier is sealed, too, so that passphrases cannot be guessed with the database alone. */
function sealRecord(wrapping: Uint8Array, push: KeyTerms, record: PassphraseRecord | undefined) {
  if (!record) return { salt: null, cost: null, verifier: null };
  const verifier = bind(wrapping, record.verifier, push, 'verifier');
  return { salt: record.salt, cost: record.cost, verifier };
}

const KEY_BYTES = 32;
const LINK_CONTEXT = 'pwpush file link';

function openLink(linking: Uint8Array, sealed: Uint8Array): FileLink | undefined {
  try {
    const plain = unseal(linking, sealed, LINK_CONTEXT);
    const [urlToken, position, until] = JSON.parse(plain.toString('utf8', KEY_BYTES));
    return { urlToken, position, until, key: plain.subarray(0, KEY_BYTES) };
  } catch {
    return undefined;
  }
}
