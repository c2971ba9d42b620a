import type { LostPush, Safe } from '../keep/safekeeping';
import type { Taking } from '../take/taking';

/** @param subject which of several it is: `link 2` */
export function lostPush(taking: Taking, subject?: string): LostPush {
  const { push, sealed } = taking.taken;
  const saveFiles = async (path: string, safe: Safe) => {
    const { fetchFiles } = await import('./download');
    const folder = { path, force: false, taken: new Set<string>() };
    const { saved, failure } = await fetchFiles({ ...taking, safe }, folder);
    return { paths: saved.flatMap((file) => file?.path ?? []), failure };
  };
  return { what: 'push', subject, push, sealed, saveFiles };
}

/** Has pushes kept, one after the other. */
export async function keepPushes(
  { keep }: Safe,
  takings: readonly Taking[],
  links = takings.length,
): Promise<void> {
  for (const [at, taking] of takings.entries())
    await keep(lostPush(taking, links > 1 ? `link ${at + 1}` : undefined));
}
