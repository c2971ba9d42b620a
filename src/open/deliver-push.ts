import { type CliError, failedError } from '../platform/errors';
import type { Destination } from './destination';
import { type Delivery, deliverText } from './output-place';

/** Writes text and files to where they go; returns what went wrong, if anything did. */
export async function deliverPush(
  delivery: Delivery,
  withFiles: boolean,
): Promise<CliError | undefined> {
  const { place } = delivery;
  const { push } = delivery.taken;
  const files = push.files?.length ?? 0;
  const onlyFiles = files > 0 && !push.payload;
  // Files alone set nothing in a job: it fails, but only after they are saved.
  const unset = place.job && onlyFiles ? await nothingFor(place.job) : undefined;
  if (files > 0 && withFiles) {
    const { savePush } = await import('./save-push');
    return (await savePush(delivery)) ?? unset;
  }
  if (place.folder !== undefined && onlyFiles) {
    await place.discard?.();
    return undefined;
  }
  return unset ?? deliverText(delivery, push, place.file);
}

async function nothingFor(job: Destination): Promise<CliError> {
  await job.discard();
  return failedError('the push has no text, so nothing was set in the job');
}
