import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Log } from '../ops/log';
import { ServiceError, systemCode } from '../service-error';
import type { ServiceSettings } from '../service-settings';

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

/**
 * What reads the pair again, for connections to come; those that are open stay as they are, and so does everything
 * where the new pair is no good.
 */
export function tlsReloader(
  servers: readonly Server[],
  settings: ServiceSettings,
  log: Log,
): () => Promise<void> {
  let last = Promise.resolve();
  const reload = async () => {
    try {
      const tls = await readTls(settings);
      for (const server of servers) if (tls && isSecure(server)) server.setSecureContext(tls);
      log.event('reload', { certificate: tls ? 'read' : 'none' });
    } catch (error) {
      log.warning(`the certificate stays the one it was: ${(error as Error).message}`);
    }
  };
  return () => {
    last = last.then(reload);
    return last;
  };
}

function isSecure(server: Server): server is HttpsServer {
  return 'setSecureContext' in server;
}

function read(path: string): Promise<Buffer> {
  return readFile(path).catch((cause: unknown) => {
    throw new ServiceError(`${path} cannot be read (${systemCode(cause)})`, { cause });
  });
}
