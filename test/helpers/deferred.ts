export function deferred<T = unknown>() {
  let resolve: (value?: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done as typeof resolve;
  });
  return { promise, resolve };
}
