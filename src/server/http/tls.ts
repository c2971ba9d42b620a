import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Log } from '../ops/log';
import { ServiceError, systemCode } from '../service-error';
import type { ServiceSettings } from '../service-settings';

/** A PEM certificate chain and its private key, which match. */
export interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/**
 * The certificate and key of the settings, if any.
 * @throws ServiceError when they cannot be read or do not match
 */
export async function readTls({ tlsCert, tlsKey }: ServiceSettings): Promise<TlsPair | undefined> {
  if (!tlsCert && !tlsKey) return undefined;
  if (!tlsCert || !tlsKey)
    throw new ServiceError('TLS needs both a certificate and its key', { input: true });
  const pair = { cert: await read(tlsCert), key: await read(tlsKey) };
  try {
    createSecureContext(pair);
  } catch (cause) {
    throw new ServiceError('the TLS certificate and key do not match', {
      hint: 'both are PEM files',
      cause,
    });
  }
  return pair;
}

/** Returns a function that reads the pair again, for new connections; an invalid pair changes nothing. */
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
      log.warning(`the certificate was not replaced: ${(error as Error).message}`);
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
