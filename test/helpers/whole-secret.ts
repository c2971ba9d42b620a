import { expect } from 'vitest';
import { filePart } from './service';

/** What a run that is disturbed must neither lose nor leave in part. */
export const SECRET = 'MARKER-correct-horse-battery-staple';
/** It is in each half. */
export const PART = /MARKER|battery/;
/** A push of it, as a text and as a file, that is viewed once. */
export const once = { payload: SECRET, expire_after_views: 1 };
export const onceAsFile = [filePart('secret', SECRET), { name: 'push[expire_after_views]', value: '1' }];

/** The names of the files with the secret, none of which has a half of it, unless its name says that it is unfinished. */
export function holding(files: Record<string, string>, unfinished = /^$/): string[] {
  const found = Object.entries(files).filter(([, content]) => PART.test(content));
  for (const [name, content] of found) if (!unfinished.test(name)) expect([name, content]).toEqual([name, SECRET]);
  return found.filter(([, content]) => content === SECRET).map(([name]) => name);
}
