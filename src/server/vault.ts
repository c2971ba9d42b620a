import { randomBytes } from 'node:crypto';
import { type FileLink, openLink, sealLink } from './file-link';
import type { InstanceKey, Keyring } from './keyring';
import type { Waiter } from './line';
import { keyOfPassphrase, type PassphraseRecord, recordPassphrase } from './passphrase';
import { seal, unseal } from './seal';
import type { SealedKeys, SealedKeysRow } from './store/keys';
import type { NoteRow, SecretRow } from './store/pushes';

export interface Secret {
  readonly urlToken: string;
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
 * the ring throws an `UnknownKey`.
 */
export interface Vault {
  readonly keys: Keyring;
  seal(secret: Secret): Promise<SecretRow>;
  /** The data key. Needs the passphrase's key where the push has a passphrase; throws without. */
  openKey(urlToken: string, row: SecretRow, passphraseKey?: Uint8Array): Uint8Array;
  /** Needs the same. */
  openPayload(urlToken: string, row: SecretRow, passphraseKey?: Uint8Array): string | null;
  /** '' when there is none. */
  openNote(urlToken: string, row: NoteRow): string;
  /** The passphrase's key, or nothing when the passphrase is wrong. */
  checkPassphrase(
    urlToken: string,
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
    openKey: (urlToken, row, passphraseKey) => unwrap(keys, urlToken, row, passphraseKey),
    openPayload(urlToken, row, passphraseKey) {
      const key = unwrap(keys, urlToken, row, passphraseKey);
      return row.payload && unseal(key, row.payload, context(urlToken, 'payload')).toString();
    },
    openNote(urlToken, { note_key, note, key_id }) {
      if (!note_key || !note) return '';
      const { wrapping } = keys.get(key_id);
      const key = unseal(wrapping, note_key, context(urlToken, 'note key'));
      return unseal(key, note, context(urlToken, 'note')).toString();
    },
    async checkPassphrase(urlToken, { salt, cost, verifier, key_id }, passphrase, waiter) {
      if (!salt || !cost || !verifier) return undefined;
      const opened = unseal(keys.get(key_id).wrapping, verifier, context(urlToken, 'verifier'));
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
export function reseal(row: SealedKeysRow, from: InstanceKey, to: InstanceKey): SealedKeys {
  const again = (sealed: Uint8Array, what: string) => {
    const place = context(row.url_token, what);
    return seal(to.wrapping, unseal(from.wrapping, sealed, place), place);
  };
  return {
    data_key: again(row.data_key, 'data key'),
    note_key: row.note_key && again(row.note_key, 'note key'),
    verifier: row.verifier && again(row.verifier, 'verifier'),
  };
}

function context(urlToken: string, what: string): string {
  return `pwpush push ${urlToken} ${what}`;
}

async function sealSecret({ id, wrapping }: InstanceKey, secret: Secret): Promise<SecretRow> {
  const { urlToken, passphrase } = secret;
  const protection =
    passphrase === '' ? undefined : await recordPassphrase(passphrase, secret.waiter);
  const { key = randomBytes(32) } = secret;
  const inner = protection ? seal(protection.key, key, context(urlToken, 'inner key')) : key;
  return {
    key_id: id,
    data_key: seal(wrapping, inner, context(urlToken, 'data key')),
    payload: seal(key, secret.payload, context(urlToken, 'payload')),
    ...sealNote(wrapping, secret),
    ...sealRecord(wrapping, urlToken, protection?.record),
  };
}

function sealNote(wrapping: Uint8Array, { urlToken, note }: Secret): Omit<NoteRow, 'key_id'> {
  if (note === '') return { note_key: null, note: null };
  const key = randomBytes(32);
  return {
    note_key: seal(wrapping, key, context(urlToken, 'note key')),
    note: seal(key, note, context(urlToken, 'note')),
  };
}

/** The hash is sealed like the rest: whoever has the database alone cannot even try passphrases. */
function sealRecord(wrapping: Uint8Array, urlToken: string, record: PassphraseRecord | undefined) {
  if (!record) return { salt: null, cost: null, verifier: null };
  const verifier = seal(wrapping, record.verifier, context(urlToken, 'verifier'));
  return { salt: record.salt, cost: record.cost, verifier };
}

function unwrap(
  keys: Keyring,
  urlToken: string,
  row: SecretRow,
  passphraseKey: Uint8Array | undefined,
): Uint8Array {
  const { wrapping } = keys.get(row.key_id);
  const inner = unseal(wrapping, row.data_key, context(urlToken, 'data key'));
  if (!row.verifier) return inner;
  if (!passphraseKey) throw new Error('a passphrase is needed');
  return unseal(passphraseKey, inner, context(urlToken, 'inner key'));
}
