import { afterAll, beforeAll, test, vi } from 'vitest';
import { asTold, inProcess } from './helpers/cases';

// A day ends where the user is.
beforeAll(() => void vi.stubEnv('TZ', 'UTC'));
afterAll(() => void vi.unstubAllEnvs());

test.each(inProcess)('%s', asTold);
