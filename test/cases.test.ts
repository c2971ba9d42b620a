import { test } from 'vitest';
import { asTold, inProcess } from './helpers/cases';

// A day ends where the user is.
process.env.TZ = 'UTC';

test.each(inProcess)('%s', asTold);
