import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { TestOptions } from 'vitest';
import { TestRunner } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Why a test is skipped; `reporter.ts` prints it. */
    skipped?: Skipped;
  }
}

export interface Skipped {
  readonly without: string;
  /** Whether CI runs it elsewhere, or not at all; otherwise it fails there. */
  readonly elsewhere: boolean;
}

/** Options of a test or a group: every skip is one of these, with its reason. */
export type Needs = Pick<TestOptions, 'skip' | 'meta'> & {
  readonly skip: boolean;
  readonly tags?: string[];
};

const skippedIf = (skip: boolean, skipped: Skipped): Needs => (skip ? { skip, meta: { skipped } } : { skip });

/** Skipped where it is not there. In CI (`PWPUSH_TEST_ALL=1`) the tests run, and fail. */
export const needs = (without: string, there: unknown): Needs =>
  skippedIf(!there && process.env.PWPUSH_TEST_ALL !== '1', { without, elsewhere: false });

export const needsPrograms = (...programs: string[]): Needs =>
  needs(programs.filter((one) => !onPath(one)).join(', '), programs.every(onPath));

export const needsFile = (path: string): Needs => needs(path, existsSync(path));

/** Skipped everywhere else, in CI too. */
export const only = (without: string, here: boolean): Needs => skippedIf(!here, { without, elsewhere: true });

/** CI also runs as another user (`.ci/run user`), who may do no such thing. */
export const needsRight = process.env.PWPUSH_TEST_USER === '1' ? only : needs;
export const needsRoot = needsRight('root', process.geteuid?.() === 0);

export const onUnix = only('a Unix', process.platform !== 'win32');
export const onLinux = only('Linux', process.platform === 'linux');

/** The first that skips, with the tags of all. */
export const allOf = (...all: Needs[]): Needs => ({
  ...(all.find(({ skip }) => skip) ?? { skip: false }),
  tags: all.flatMap(({ tags = [] }) => tags),
});

export function skipWithout({ skip, meta }: Needs): void {
  TestRunner.getCurrentTest()?.context.skip(skip, meta?.skipped?.without);
}

export function onPath(program: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => [program, `${program}.exe`].some((name) => existsSync(join(folder, name))));
}
