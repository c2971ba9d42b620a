import type { Api } from '../client/client';
import type { Context } from '../context';
import type { Retrieved } from '../delivery/reception';
import { retrieve } from '../delivery/retrieve';
import { CliError, endedBy } from '../errors';
import type { Known } from '../input/passphrase';
import type { GlobalOptions } from '../options';
import { asCliError } from '../terminal/error-message';
import type { Terminal } from '../terminal/output';
import { rescueAll } from './rescue-all';

/** A push to be retrieved, and whom to ask. */
export interface Named {
  readonly api: Api;
  readonly token: string;
}

interface Asking {
  readonly context: Context;
  readonly options: GlobalOptions;
  readonly say: Terminal;
}

/**
 * Retrieves pushes one after the other, each of which takes a view.
 * @throws CliError of the one that failed; those before it are saved then, and it says where
 */
export async function retrieveAll(
  named: readonly Named[],
  passphrase: Known,
  asking: Asking,
): Promise<Retrieved[]> {
  const { context } = asking;
  const pushes: Retrieved[] = [];
  for (const [at, { api, token }] of named.entries()) {
    try {
      pushes.push({ ...asking, api, push: await retrieve(api, token, passphrase, context) });
    } catch (error) {
      if (pushes.length === 0) throw error;
      const failed = asCliError(error);
      const { message, hint, status, remains } = failed;
      const ended = context.signal.aborted ? endedBy(context.signal) : failed;
      const said = remains ? message : ended.message;
      const failure = new CliError(ended.code, `link ${at + 1}: ${said}; nothing was started`, {
        hint: ended === failed || remains ? hint : undefined,
        status,
        remains,
      });
      throw await rescueAll(pushes, failure, named.length);
    }
  }
  return pushes;
}
