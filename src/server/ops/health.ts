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
    return inTime(asked, limit);
  };
}

function inTime(answer: Promise<boolean>, limit: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limit, false);
    answer.then((up) => {
      clearTimeout(timer);
      resolve(up);
    });
  });
}
