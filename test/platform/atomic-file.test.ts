import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFile, makeWhole } from '../../src/platform/files/atomic-file';
import { onLinux } from '../helpers/needs';
import { place } from '../helpers/run';

const open = () => readdirSync('/proc/self/fd').length;

test('a file that is made, or whose content fails, leaves no descriptor open', onLinux, () => {
  const before = open();
  const path = join(place().folder, 'file');
  makeWhole(path, 'text');
  const failing = () => {
    throw new Error('failing');
  };
  expect(() => makeFile(`${path}.other`, failing)).toThrow('failing');
  expect([readFileSync(path, 'utf8'), existsSync(`${path}.other`), open()]).toEqual(['text', false, before]);
});
