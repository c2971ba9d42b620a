import { expect } from 'vitest';
import { encryptPrepared, passphraseRecipient, prepareFile, type Recipient } from '../../src/age/age';
import { newLinkKey } from '../../src/age/key';
import { keyProof, proofAt } from '../../src/age/key-proof';
import { LINK_WORK } from '../../src/age/link-key';
import * as node from '../../src/age/node-primitives';
import { x25519 } from '../../src/server/page/browser/age-passphrase';
import * as noble from '../../src/server/page/browser/noble';

export const platforms = [
  { platform: 'Node.js', primitives: node.node, scrypt: node.scrypt, x25519: node.x25519 },
  { platform: 'a browser', primitives: noble.noble, scrypt: noble.scrypt, x25519 },
] as const;

export async function* pieces(bytes: Uint8Array, size = 10_000) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const found: Uint8Array[] = [];
  for await (const chunk of chunks) found.push(Buffer.from(chunk));
  return Buffer.concat(found);
}

export const prover = { primitives: node.node, scrypt: node.scrypt };

/** What a reader shows the instance at an address, which is that of services in process unless it is given. */
export const shownAt = (keyProof: string, base = 'http://pw.test') => proofAt(node.node, keyProof, base);

/** A text encrypted with a new link key, and what its sender gives the instance, which readers make theirs of. */
export async function proven(text: string) {
  const key = newLinkKey();
  const proof = (await keyProof(prover, key, undefined)) as string;
  const payload = await encryptText(text, [passphraseRecipient(key, LINK_WORK)]);
  return { key, proof, payload };
}

export const lengths = [0, 1, 65_535, 65_536, 65_537, 200_000, 524_288, 524_289];

/** `toEqual` takes seconds for some hundred kilobytes. */
export function expectSame(bytes: Uint8Array, expected: Buffer): void {
  expect([bytes.length, expected.equals(bytes)]).toEqual([expected.length, true]);
}

/** An age file that is encrypted while it is read. */
export async function encryptStream(plaintext: AsyncIterable<Uint8Array>, recipients: readonly Recipient[]) {
  const { encrypt, sizeOf } = await prepareFile(recipients);
  return { bytes: encrypt(plaintext), sizeOf };
}

export async function encryptText(plaintext: string | Uint8Array, recipients: readonly Recipient[]) {
  return encryptPrepared(await prepareFile(recipients), Buffer.from(plaintext));
}

/** The key in a link, and the link without it. */
export const keyOf = (link: string) => link.trim().split('#')[1] ?? '';
export const withoutKey = (link: string) => link.trim().split('#')[0] ?? '';
