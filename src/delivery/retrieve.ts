import type { Api } from '../client/client';
import type { Context } from '../context';
import type { Push } from '../contract';
import { CliError } from '../errors';
import { askPassphrase, type Known } from '../input/passphrase';
import { rescued } from './rescued';

const TRIES = 3;

/**
 * Retrieves a push, which takes a view. Where the instance wants a passphrase and somebody is there, it is asked for,
 * unless a file or variable gave it: three tries, of which that of `-p` is the first.
 * @throws CliError (expired) also for the answer that an expired push gives
 */
export async function retrieve(
  api: Api,
  token: string,
  known: Known,
  context: Context,
): Promise<Push> {
  try {
    return await tries(api, token, known, context);
  } catch (error) {
    throw await withUnread(context, error);
  }
}

/** An answer that made no sense may hold the secret all the same: it is saved before the error is told. */
async function withUnread(context: Context, error: unknown): Promise<unknown> {
  if (!(error instanceof CliError) || error.unread === undefined) return error;
  const saved = await rescued(context, error.unread, 'answer', error.message);
  const { hint, message, remains } = saved;
  return new CliError(error.code, message, { hint, status: error.status, cause: error, remains });
}

async function tries(api: Api, token: string, known: Known, context: Context): Promise<Push> {
  let given = known.text;
  const mayAsk = known.typed || given === undefined;
  for (let left = known.typed ? TRIES - 1 : TRIES; ; left--) {
    try {
      return readable(await api.retrieve(token, given));
    } catch (error) {
      const ask = error instanceof CliError && error.code === 'passphrase' && mayAsk;
      if (!ask || left === 0 || !context.canPrompt()) throw error;
      given = await askPassphrase(
        context,
        false,
        given === undefined ? undefined : 'Wrong. Passphrase:',
      );
      if (known.typed) known.text = given;
    }
  }
}

/** An expired push answers with 200 and no payload (docs/wire.md, "Endpoints"). */
function readable(push: Push): Push {
  const files = (push.files ?? []).length > 0;
  if (files || push.payload) return push;
  if (push.expired === true) {
    throw new CliError('expired', 'the push has expired', {
      hint: 'ask whoever sent it for a new one',
    });
  }
  if (typeof push.payload === 'string') return push;
  throw new CliError('failed', 'the instance answered a push without a text');
}
