import { randomBytes } from 'node:crypto';
import type { Waiter } from '../semaphore';
import type { SealedKeys } from '../store/key-rows';
import type { NoteRow, PushRow, SecretRow } from '../store/push-rows';
import { seal, unseal } from './aead';
import type { InstanceKey, Keyring } from './keyring';
import { keyOfPassphrase, type PassphraseRecord, recordPassphrase } from './passphrase-hash';
import { type FileLink, openLink, sealLink } from './signed-file-link';

/** What the keys of a push are sealed to: a row that is given more days, views or another owner opens nothing. */
export type Terms = Pick<PushRow, 'url_token' | 'owner_id' | 'expires_at' | 'expire_after_views'>;

/** The row of a push does not fit what is sealed of it: somebody changed it. */
export class Damaged extends Error {
  override readonly name = 'Damaged';
}

export interface Secret {
  readonly push: Terms;
  /** The data key, where something was sealed with it before. */
  readonly key?: Uint8Array | undefined;
  readonly payload: string;
  /** '' when there is none. */
  readonly note: string;
  /** '' when there is none. */
  readonly passphrase: string;
  /** For whom a passphrase is stretched. */
  readonly waiter?: Waiter | undefined;
}

/** What a passphrase is checked against. */
export type Verified = Pick<SecretRow, 'salt' | 'cost' | 'verifier' | 'key_id'>;

/**
 * Seals pushes with the newest instance key, and opens those of all that are in use. What needs a key that is not on
 * the ring throws an `UnknownKey`, and what the push's row does not fit throws a `Damaged`.
 */
export interface Vault {
  readonly keys: Keyring;
  seal(secret: Secret): Promise<SecretRow>;
  /** The data key. Needs the passphrase's key where the push has a passphrase; throws without. */
  openKey(push: Terms, row: SecretRow, passphraseKey?: Uint8Array): Uint8Array;
  /** Needs the data key. */
  openPayload(urlToken: string, row: SecretRow, key: Uint8Array): string | null;
  /** '' when there is none. */
  openNote(push: Terms, row: NoteRow): string;
  /** The passphrase's key, or nothing when the passphrase is wrong. */
  checkPassphrase(
    push: Terms,
    row: Verified,
    passphrase: string,
    waiter?: Waiter,
  ): Promise<Uint8Array | undefined>;
  sealLink(link: FileLink): string;
  /** What that link says; nothing when it was not sealed here, or was changed. Whether it is late is not looked at. */
  openLink(text: string): FileLink | undefined;
}

/**
 * Each push has a data key of its own. A passphrase's key wraps it first, the instance key last: nothing but both
 * opens it, and the outer wrap can be renewed without the passphrase. The note has a second key, wrapped by the
 * instance key alone, because its owner reads it in a listing, where no passphrase is given.
 */
export function createVault(keys: Keyring): Vault {
  return {
    keys,
    seal: (secret) => sealSecret(keys.newest, secret),
    openKey: (push, row, passphraseKey) => unwrap(keys, push, row, passphraseKey),
    openPayload: (urlToken, { payload }, key) =>
      payload && unseal(key, payload, context(urlToken, 'payload')).toString(),
    openNote(push, { note_key, note, key_id }) {
      if (!note_key || !note) return '';
      const { wrapping } = keys.get(key_id);
      const key = unbind(wrapping, note_key, push, 'note key');
      return unseal(key, note, context(push.url_token, 'note')).toString();
    },
    async checkPassphrase(push, { salt, cost, verifier, key_id }, passphrase, waiter) {
      if (!salt || !cost || !verifier) return undefined;
      const opened = unbind(keys.get(key_id).wrapping, verifier, push, 'verifier');
      return keyOfPassphrase(passphrase, { salt, cost, verifier: opened }, waiter);
    },
    sealLink: (link) => sealLink(keys.newest.linking, link),
    openLink(text) {
      for (const { linking } of keys.all) {
        const link = openLink(linking, text);
        if (link) return link;
      }
      return undefined;
    },
  };
}

/** What one instance key has sealed of a push, sealed with another. */
export function reseal(row: SealedKeys, push: Terms, from: InstanceKey, to: InstanceKey) {
  return eachKey(row, (sealed, what) =>
    bind(to.wrapping, unbind(from.wrapping, sealed, push, what), push, what),
  );
}

/** The same for a push of a version that sealed its keys to the token alone. */
export function bindToTerms(row: SealedKeys, push: Terms, { wrapping }: InstanceKey): SealedKeys {
  return eachKey(row, (sealed, what) =>
    bind(wrapping, unseal(wrapping, sealed, context(push.url_token, what)), push, what),
  );
}

/** What an instance key seals. */
type Bound = 'data key' | 'note key' | 'verifier';

function eachKey(row: SealedKeys, again: (sealed: Uint8Array, what: Bound) => Buffer): SealedKeys {
  return {
    data_key: again(row.data_key, 'data key'),
    note_key: row.note_key && again(row.note_key, 'note key'),
    verifier: row.verifier && again(row.verifier, 'verifier'),
  };
}

function bind(wrapping: Uint8Array, plain: Uint8Array, push: Terms, what: Bound): Buffer {
  return seal(wrapping, plain, termsOf(push, what));
}

function unbind(wrapping: Uint8Array, sealed: Uint8Array, push: Terms, what: Bound): Buffer {
  try {
    return unseal(wrapping, sealed, termsOf(push, what));
  } catch (cause) {
    throw new Damaged('the row of a push was changed', { cause });
  }
}

/** What one of the keys of a push is sealed to. */
export function termsOf(push: Terms, what: Bound): string {
  const { url_token, owner_id, expires_at, expire_after_views } = push;
  const terms = `owner ${owner_id ?? 'nobody'} until ${expires_at} views ${expire_after_views}`;
  return `${context(url_token, what)} ${terms}`;
}

function context(urlToken: string, what: string): string {
  return `pwpush push ${urlToken} ${what}`;
}

async function sealSecret({ id, wrapping }: InstanceKey, secret: Secret): Promise<SecretRow> {
  const { push, passphrase } = secret;
  const { url_token } = push;
  const protection =
    passphrase === '' ? undefined : await recordPassphrase(passphrase, secret.waiter);
  const { key = randomBytes(32) } = secret;
  const inner = protection ? seal(protection.key, key, context(url_token, 'inner key')) : key;
  return {
    key_id: id,
    data_key: bind(wrapping, inner, push, 'data key'),
    payload: seal(key, secret.payload, context(url_token, 'payload')),
    ...sealNote(wrapping, secret),
    ...sealRecord(wrapping, push, protection?.record),
  };
}

function sealNote(wrapping: Uint8Array, { push, note }: Secret): Omit<NoteRow, 'key_id'> {
  if (note === '') return { note_key: null, note: null };
  const key = randomBytes(32);
  return {
    note_key: bind(wrapping, key, push, 'note key'),
    note: seal(key, note, context(push.url_token, 'note')),
  };
}

/** The hash is sealed like the rest: whoever has the database alone cannot even try passphrases. */
function sealRecord(wrapping: Uint8Array, push: Terms, record: PassphraseRecord | undefined) {
  if (!record) return { salt: null, cost: null, verifier: null };
  const verifier = bind(wrapping, record.verifier, push, 'verifier');
  return { salt: record.salt, cost: record.cost, verifier };
}

function unwrap(
  keys: Keyring,
  push: Terms,
  row: SecretRow,
  passphraseKey: Uint8Array | undefined,
): Uint8Array {
  const { wrapping } = keys.get(row.key_id);
  const inner = unbind(wrapping, row.data_key, push, 'data key');
  if (!row.verifier) return inner;
  if (!passphraseKey) throw new Error('a passphrase is needed');
  return unseal(passphraseKey, inner, context(push.url_token, 'inner key'));
}
