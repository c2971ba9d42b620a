/** Has something undone if the work fails. */
export type Undo = (how: () => void | Promise<void>) => void;

/**
 * Runs work that leaves nothing behind if it fails: what it gives to `undo` is called then, the last one first.
 * @throws what `work` throws
 */
export async function scope<T>(work: (scope: { readonly undo: Undo }) => Promise<T>): Promise<T> {
  const undoing: Parameters<Undo>[0][] = [];
  try {
    return await work({ undo: (how) => void undoing.unshift(how) });
  } catch (error) {
    for (const undo of undoing) await undo();
    throw error;
  }
}
