import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { ServiceError, systemCode } from './service-error';
import type { ServiceSettings } from './settings';

/** A certificate chain and its private key, PEM, that fit each other. */
export interface Tls {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** The pair that the settings name, nothing where they name none. Throws a `ServiceError` that says what is wrong. */
export async function readTls({ tlsCert, tlsKey }: ServiceSettings): Promise<Tls | undefined> {
  if (!tlsCert && !tlsKey) return undefined;
  if (!tlsCert || !tlsKey)
    throw new ServiceError('TLS needs both a certificate and its key', { input: true });
  const pair = { cert: await read(tlsCert), key: await read(tlsKey) };
  try {
    createSecureContext(pair);
  } catch (cause) {
    throw new ServiceError('the TLS certificate and key do not fit', {
      hint: 'both are PEM files',
      cause,
    });
  }
  return pair;
}

function read(path: string): Promise<Buffer> {
  return readFile(path).catch((cause: unknown) => {
    throw new ServiceError(`${path} cannot be read (${systemCode(cause)})`, { cause });
  });
}
