import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { released } from '../helpers/memory';
import { type Place, place } from '../helpers/run';
import { create, testService } from '../helpers/service';

let here: Place;
let data: string;
beforeEach(async () => {
  here = place();
  data = here.file('data');
  const service = await testService({ data });
  await create(service, { payload: 'x' });
  await service.close();
});
afterEach(() => here.close());

async function rekey(...words: string[]) {
  await released(data);
  return here.run('serve', 'rekey', '--data', data, ...words);
}
const keys = (path = join(data, 'instance.key')) => readFileSync(path, 'utf8').trim().split('\n');

test('seals all pushes with a new key', async () => {
  const [old] = keys();
  const { stdout } = await rekey('--json');
  expect(keys()).not.toContain(old);
  expect(JSON.parse(stdout)).toEqual({ resealed: 1, key_file: join(data, 'instance.key') });
});

test('a running service has to be stopped first', async () => {
  const running = await testService({ data });
  const [old] = keys();
  expect((await rekey()).code).toBe(2);
  expect(keys()).toEqual([old]);
  await running.close();
  expect((await rekey()).code).toBe(0);
});
