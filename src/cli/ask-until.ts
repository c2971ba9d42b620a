import { CliError, phrase } from '../platform/errors';

export const TRIES = 3;

/**
 * @param attempt asks, and throws for input that is not accepted; gets the failure of the last try, undefined at first
 * @param retry whether to ask again after a failure
 * @throws the failure of the last try
 */
export async function askUntil<T>(
  attempt: (failure: unknown) => Promise<T>,
  retry: (failure: unknown) => boolean,
  tries = TRIES,
): Promise<T> {
  let failure: unknown;
  for (let left = tries; ; left--) {
    try {
      return await attempt(failure);
    } catch (error) {
      if (left === 1 || !retry(error)) throw error;
      failure = error;
    }
  }
}

export const TRY_AGAIN = 'Try again:';

export async function filledIn(
  question: string,
  ask: (question: string) => Promise<string>,
): Promise<string> {
  let typed = await ask(question);
  while (typed === '') typed = await ask(`Nothing was typed (Ctrl-C ends). ${TRY_AGAIN}`);
  return typed;
}

/** Tells a user who ends a question that nothing was sent yet. */
export async function beforeSending<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'interrupted') throw error;
    throw error.and(phrase('nothing-sent'));
  }
}
