import { raceWithLimit } from '../../system/abort';

/**
 * Whether the database answers, within that many milliseconds. While it does not, all who ask share the one
 * question that hangs.
 */
export function health(ping: () => Promise<void>, limit = 2000): () => Promise<boolean> {
  let asked: Promise<boolean> | undefined;
  return () => {
    asked ??= ping()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        asked = undefined;
      });
    return raceWithLimit(asked, { milliseconds: limit }, () => false);
  };
}
