import { health } from '../health';
import { type Family, reading } from './exposition';

/** What can be asked of the service at any time. */
export interface Gauges {
  readonly version: string;
  /** Whether the database answers, soon. */
  readonly isUp: () => Promise<boolean>;
  /** How many pushes are active; reads an index. */
  readonly countActive: () => Promise<number>;
  /** Passphrases that are being checked, and that wait for it. */
  readonly checks: () => { readonly running: number; readonly waiting: number };
}

/** Milliseconds that a count of the active pushes is good for: with a million of them it takes a moment. */
const COUNT_EVERY = 60_000;

/** Milliseconds that a scrape waits for that count. */
const COUNT_WAIT = 2000;

/** Answers the metrics of these gauges as they are now; the number of active pushes is up to a minute old. */
export function gauged({ version, isUp, countActive, checks }: Gauges): () => Promise<Family[]> {
  let up = false;
  let active: number | undefined;
  let countedAt = Number.NEGATIVE_INFINITY;
  // A scrape waits for no database that hangs.
  const counted = health(async () => {
    countedAt = performance.now();
    active = await countActive();
  }, COUNT_WAIT);
  const families = [
    reading('gauge', 'pwpush_build_info', 'Always 1; the label says which version runs.', () => 1, {
      version,
    }),
    reading('gauge', 'pwpush_database_up', 'Whether the database answers.', () => Number(up)),
    reading(
      'gauge',
      'pwpush_pushes_active',
      'Pushes that have not expired, counted once a minute.',
      () => (up ? active : undefined),
    ),
    reading(
      'gauge',
      'pwpush_passphrase_checks_running',
      'Passphrases that are being checked.',
      () => checks().running,
    ),
    reading(
      'gauge',
      'pwpush_passphrase_checks_waiting',
      'Passphrases that wait to be checked.',
      () => checks().waiting,
    ),
  ];
  return async () => {
    up = await isUp();
    if (up && performance.now() - countedAt >= COUNT_EVERY) await counted();
    return families;
  };
}
