import { refusalHead } from '../http/responses';
import { Refusal } from '../refusal';
import { type Markup, markup } from './markup';
import { clockTime, duration } from './remaining';

/** Why the passphrase form is shown again. */
export interface Problem {
  readonly words: Markup | string;
  readonly status: number;
  readonly headers: Record<string, string>;
}

/** What was wrong with the passphrase, or with how often it was tried; nothing for any other error. */
export function passphraseProblem(
  error: unknown,
  given: boolean,
  now: number,
): Problem | undefined {
  if (!(error instanceof Refusal)) return undefined;
  const head = refusalHead(error);
  if (error.kind === 'too_many') {
    return { ...head, words: markup`There were too many tries. ${later(error, now)}` };
  }
  if (error.kind !== 'passphrase') return undefined;
  if (!given) return { ...head, words: 'This secret needs its passphrase.' };
  return { ...head, words: `That passphrase is not right. ${triesLeft(error.triesLeft)}`.trim() };
}

function triesLeft(tries: number | undefined): string {
  if (tries === undefined) return '';
  if (tries === 0) return 'Wait a minute before you try again.';
  return tries === 1 ? 'One try is left for now.' : `${tries} tries are left for now.`;
}

/** When it is worth trying again. */
export function later({ retryAfter }: Refusal, now: number): Markup | string {
  if (retryAfter === undefined) return '';
  const wait = retryAfter * 1000;
  return markup`Try again in ${duration(wait)}, at ${clockTime(now + wait)}.`;
}
