import { afterAll, beforeAll, test, vi } from 'vitest';
import { asTold, inProcess } from './helpers/cases';

// A day ends where the user is, and transcripts tell the modes of files.
beforeAll(() => {
  vi.stubEnv('TZ', 'UTC');
  const umask = process.umask(0o22);
  return () => void process.umask(umask);
});
afterAll(() => void vi.unstubAllEnvs());

test.each(inProcess)('%s', asTold);
