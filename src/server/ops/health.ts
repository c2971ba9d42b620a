import { raceWithLimit } from '../../system/abort';

/** Returns a function that resolves with whether `ping` resolves within `limit` milliseconds. Calls share a hung ping. */
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
