import { type CliError, failedError } from '../platform/errors';
import { type Delivery, deliverText } from './deliver-text';

/** Writes text and files to where they go; returns what went wrong, if anything did. */
export async function deliverPush(
  delivery: Delivery,
  withFiles: boolean,
): Promise<CliError | undefined> {
  const { place } = delivery;
  const { push } = delivery.taken;
  const files = push.files?.length ?? 0;
  const onlyFiles = files > 0 && !push.payload;
  let unset: CliError | undefined;
  // Files alone set nothing in a job: it fails, but only after they are saved.
  if (place.plan.to === 'job' && onlyFiles) {
    await place.discard();
    unset = failedError('the push has no text, so nothing was set in the job');
  }
  if (files > 0 && withFiles) {
    const { savePush } = await import('./save-push');
    return (await savePush(delivery)) ?? unset;
  }
  if (place.folder !== undefined && onlyFiles) {
    await place.discard();
    return undefined;
  }
  return unset ?? deliverText(delivery, push, place.text);
}
