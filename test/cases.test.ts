import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CASES, inProcess, textOf } from './helpers/cases';
import { playInProcess } from './helpers/transcript';

test.each(inProcess)('%s', async (name) => {
  const told = await playInProcess(textOf(name));
  if (process.env.UPDATE) writeFileSync(join(CASES, name), told);
  else expect(told).toBe(textOf(name));
});
