import { shellWord } from '../cli/values';
import type { Api, RequestApi } from '../client/client';
import type { Reference } from '../client/link';
import type { Push } from '../contract/decode';
import { type KeptKey, keptKey } from '../keep/request-keys';
import type { Context } from '../platform/context';
import { CliError } from '../platform/errors';
import type { Target } from '../profile/target';

export interface Retrievable extends Reference {
  readonly api: Api;
  readonly target: Pick<Target, 'base' | 'token'>;
  /** Of a push that was made on this machine. */
  readonly last?: object;
  /** The private key of a request, if it is in memory alone. */
  readonly held?: KeptKey;
}

/**
 * The private key that was kept for a request whose answer was taken already: that is not lost for a damaged file.
 * @param publicKey that of the response
 */
export function keyForAnswer(
  context: Context,
  named: Retrievable,
  publicKey: unknown,
): KeptKey | undefined {
  try {
    return keptKey(context, typeof publicKey === 'string' ? { ...named, publicKey } : named);
  } catch {
    return undefined;
  }
}

/**
 * Takes the answer to a request, as a push, so that it goes where a secret goes.
 * @param link of the request, for a hint
 * @throws CliError (not_found) if it is not there yet, (expired) if the request is closed
 */
export async function readAnswer(
  requests: Pick<RequestApi, 'read'>,
  token: string,
  passphrase: string | undefined,
  link?: string,
): Promise<Push> {
  // An instance does not say whether an answer can be read again: a field of pushes must not say so either.
  const { response, views_remaining: _, ...request } = await requests.read(token, passphrase);
  if (response || (request.files ?? []).length > 0) return { ...request, payload: response ?? '' };
  if (request.state === 'ready')
    throw new CliError('forbidden', 'only the owner of the request can take its answer', {
      steps: 'log in as its owner with pwpush login',
    });
  if (request.state === 'closed')
    throw new CliError('expired', 'the request is closed', {
      steps: {
        text: 'it was read already, closed, or not answered in time; the audit log says which',
        command: link && `pwpush audit ${shellWord(link)}`,
      },
    });
  throw new CliError('not_found', 'the request has no answer yet', {
    steps: 'wait for it with pwpush wait',
  });
}
