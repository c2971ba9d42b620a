import { MARKERS } from '../../src/platform/surroundings';

/** Runs in vitest's main process: tests, and the programs that they start, are not told that a coding agent runs them. */
export default function setup(): void {
  for (const name of MARKERS) delete process.env[name];
}
