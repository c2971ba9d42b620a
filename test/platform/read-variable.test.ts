import { expect, test } from 'vitest';
import { readVariable } from '../../src/platform/files/read-variable';
import { eachInstance } from '../helpers/instance';

const here = eachInstance();

test.each([
  ['horse\n', 'horse'],
  ['horse\r\n', 'horse'],
  [' horse ', ' horse '],
  ['horse\n\n', 'horse\n\n'],
  ['a\nb\n', 'a\nb\n'],
  ['\n', undefined],
  ['', undefined],
  [undefined, undefined],
])('%j is %j', (text, value) => {
  expect(readVariable({ NAME: text }, 'NAME')).toBe(value);
});

test('a passphrase of a variable with a line end is that without it', async () => {
  const link = await here.push({ payload: 'hunter2', passphrase: 'horse' });
  const env = { PWPUSH_PASSPHRASE: 'horse\n', PWPUSH_TIMEOUT: '30\n' };
  expect(await here.under({ env }).run('get', link)).toMatchObject({ code: 0, stdout: 'hunter2' });
});
