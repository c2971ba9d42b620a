import type { Api } from '../api/client';
import type { Context } from '../context';
import { CliError, endedBy } from '../errors';
import type { GlobalOptions } from '../options';
import { asCliError } from '../terminal/failure';
import type { Terminal } from '../terminal/output';
import type { Retrieved } from './reception';
import { rescueAll } from './rescue-all';
import { retrieve } from './retrieve';

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
  passphrase: string | undefined,
  asking: Asking,
): Promise<Retrieved[]> {
  const { context } = asking;
  const pushes: Retrieved[] = [];
  for (const [at, { api, token }] of named.entries()) {
    try {
      pushes.push({ ...asking, api, push: await retrieve(api, token, passphrase, context) });
    } catch (error) {
      if (pushes.length === 0) throw error;
      const { code, message, hint, status } = context.signal.aborted
        ? endedBy(context.signal)
        : asCliError(error);
      const said = `link ${at + 1}: ${message}; nothing was started`;
      throw await rescueAll(pushes, new CliError(code, said, { hint, status }));
    }
  }
  return pushes;
}
