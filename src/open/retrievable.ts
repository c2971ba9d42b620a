import { left } from '../cli/terminal/wording';
import type { Push } from '../contract/decode';
import type { Taken } from './taking';

/** Whether a push can be retrieved again, so that nothing of it is lost; false if that is not certain. */
export function isRetrievableAgain(push: Push): boolean {
  const { views_remaining: views, days_remaining: days, expired } = push;
  return typeof views === 'number' && views > 0 && days !== 0 && expired !== true;
}

/** Why one that cannot be retrieved again, or may not be, is lost if it is not saved now. */
export function whyGone({ push, answer }: Taken): string {
  if (answer) return 'the answer was taken';
  return push.views_remaining === 0 ? 'no view is left' : 'the push may be gone';
}

/** Says that it can; undefined if that is not certain. */
export function retrievableAgain(push: Push, now: Date): string | undefined {
  if (!isRetrievableAgain(push)) return undefined;
  return `the push can be retrieved again (${left(push, now)})`;
}
