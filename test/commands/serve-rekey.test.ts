import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { collectGarbage } from '../helpers/memory';
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

function rekey(...words: string[]) {
  collectGarbage();
  return here.run('serve', 'rekey', '--data', data, ...words);
}
const keys = (path = join(data, 'instance.key')) => readFileSync(path, 'utf8').trim().split('\n');

test('says how many pushes it sealed again', async () => {
  const [old] = keys();
  expect(await rekey()).toEqual({ code: 0, stdout: '1 push resealed\n', stderr: '' });
  expect(keys()).not.toContain(old);
  const key_file = join(data, 'instance.key');
  const { stdout } = await rekey('--json');
  expect(JSON.parse(stdout)).toEqual({ resealed: 1, key_file });
});

test('a running service has to be stopped first', async () => {
  const running = await testService({ data });
  const [old] = keys();
  expect(await rekey()).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'pwpush: the data is in use by a running service or another program\n' +
      'hint: stop all services that use it, and start them again afterwards\n',
  });
  expect(keys()).toEqual([old]);
  await running.close();
  expect((await rekey()).code).toBe(0);
});

test('the key file may be elsewhere; a missing one is a failure', async () => {
  const elsewhere = here.file('elsewhere.key');
  const told = here.under({ env: { PWPUSH_INSTANCE_KEY_FILE: elsewhere } });
  collectGarbage();
  expect(await told.run('serve', 'rekey', '--data', data)).toEqual({
    code: 1,
    stdout: '',
    stderr: `pwpush: the instance key "${elsewhere}" is missing\nhint: restore it from a backup\n`,
  });
});
