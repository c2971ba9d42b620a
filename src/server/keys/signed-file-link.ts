import { seal, unseal } from './aead';

/** What the address of a file says. */
export interface FileLink {
  readonly urlToken: string;
  /** Of the file in its push, from 0. */
  readonly position: number;
  /** When it ceases to work, milliseconds. */
  readonly until: number;
  /** The push's data key. */
  readonly key: Uint8Array;
}

const KEY_BYTES = 32;
const CONTEXT = 'pwpush file link';

/**
 * The signed part of a file's address. It is not only signed but sealed (AES-256-GCM), because it carries the
 * data key: a passphrase is given once, at the retrieval, and after the last view the database holds nothing
 * that opens the files. So the files open with the address and the instance key together, and with neither alone.
 */
export function sealLink(linking: Uint8Array, { key, ...rest }: FileLink): string {
  const { urlToken, position, until } = rest;
  const plain = Buffer.concat([key, Buffer.from(JSON.stringify([urlToken, position, until]))]);
  return seal(linking, plain, CONTEXT).toString('base64url');
}

/** Opens what `sealLink` sealed; nothing for anything else. */
export function openLink(linking: Uint8Array, text: string): FileLink | undefined {
  const sealed = Buffer.from(text, 'base64url');
  // The last character has bits that decoding drops.
  if (sealed.toString('base64url') !== text) return undefined;
  try {
    const plain = unseal(linking, sealed, CONTEXT);
    const [urlToken, position, until] = JSON.parse(plain.toString('utf8', KEY_BYTES));
    return { urlToken, position, until, key: plain.subarray(0, KEY_BYTES) };
  } catch {
    return undefined;
  }
}
