import { test } from 'vitest';
import { asTold, inProcess } from './helpers/cases';

test.each(inProcess)('%s', asTold);
