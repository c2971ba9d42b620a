import { randomBytes } from 'node:crypto';
import { type FileLink, openLink, sealLink } from './file-link';
import { keyOfPassphrase, type PassphraseRecord, recordPassphrase } from './passphrase';
import { derive, seal, unseal } from './seal';
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
  /** Ends when nobody waits any more. */
  readonly signal?: AbortSignal | undefined;
}

/** Seals and opens pushes under one instance key. */
export interface Vault {
  /** Tells the instance key from another without telling it. */
  readonly keyId: string;
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
    row: SecretRow,
    passphrase: string,
    signal?: AbortSignal,
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
export function createVault(instanceKey: Uint8Array): Vault {
  const wrapping = derive(instanceKey, 'pwpush wrapping 1');
  const linking = derive(instanceKey, 'pwpush file link 1');
  return {
    keyId: derive(instanceKey, 'pwpush key id 1', 16).toString('hex'),
    seal: (secret) => sealSecret(wrapping, secret),
    openKey: (urlToken, row, passphraseKey) => unwrap(wrapping, urlToken, row, passphraseKey),
    openPayload(urlToken, row, passphraseKey) {
      const key = unwrap(wrapping, urlToken, row, passphraseKey);
      return row.payload && unseal(key, row.payload, context(urlToken, 'payload')).toString();
    },
    openNote(urlToken, { note_key, note }) {
      if (!note_key || !note) return '';
      const key = unseal(wrapping, note_key, context(urlToken, 'note key'));
      return unseal(key, note, context(urlToken, 'note')).toString();
    },
    async checkPassphrase(urlToken, { salt, cost, verifier }, passphrase, signal) {
      if (!salt || !cost || !verifier) return undefined;
      const opened = unseal(wrapping, verifier, context(urlToken, 'verifier'));
      return keyOfPassphrase(passphrase, { salt, cost, verifier: opened }, signal);
    },
    sealLink: (link) => sealLink(linking, link),
    openLink: (text) => openLink(linking, text),
  };
}

function context(urlToken: string, what: string): string {
  return `pwpush push ${urlToken} ${what}`;
}

async function sealSecret(wrapping: Uint8Array, secret: Secret): Promise<SecretRow> {
  const { urlToken, passphrase } = secret;
  const protection =
    passphrase === '' ? undefined : await recordPassphrase(passphrase, secret.signal);
  const { key = randomBytes(32) } = secret;
  const inner = protection ? seal(protection.key, key, context(urlToken, 'inner key')) : key;
  return {
    data_key: seal(wrapping, inner, context(urlToken, 'data key')),
    payload: seal(key, secret.payload, context(urlToken, 'payload')),
    ...sealNote(wrapping, secret),
    ...sealRecord(wrapping, urlToken, protection?.record),
  };
}

function sealNote(wrapping: Uint8Array, { urlToken, note }: Secret): NoteRow {
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
  wrapping: Uint8Array,
  urlToken: string,
  row: SecretRow,
  passphraseKey: Uint8Array | undefined,
): Uint8Array {
  const inner = unseal(wrapping, row.data_key, context(urlToken, 'data key'));
  if (!row.verifier) return inner;
  if (!passphraseKey) throw new Error('a passphrase is needed');
  return unseal(passphraseKey, inner, context(urlToken, 'inner key'));
}
