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

test.each(['PWPUSH_SERVE', 'PWPUSH_SERVE_METRICS'])(
  'a port that Kubernetes sets for the service %s is none',
  async (service) => {
    const env = {
      [`${service}_SERVICE_HOST`]: '10.0.0.1',
      [`${service}_SERVICE_PORT`]: '80',
      [`${service}_SERVICE_PORT_HTTP`]: '80',
      [`${service}_PORT`]: 'tcp://10.0.0.1:80',
      [`${service}_PORT_80_TCP`]: 'tcp://10.0.0.1:80',
      [`${service}_PORT_80_TCP_PROTO`]: 'tcp',
      [`${service}_PORT_80_TCP_PORT`]: '80',
      [`${service}_PORT_80_TCP_ADDR`]: '10.0.0.1',
    };
    const { stderr } = await here.under({ env }).run('serve', '--rate-limit', '0');
    expect(stderr).toMatch(/^pwpush: --rate-limit /);
    expect(readVariable({ ...env, [`${service}_PORT`]: '80' }, `${service}_PORT`)).toBe('80');
  },
);

test('a passphrase of a variable with a line end is that without it', async () => {
  const link = await here.push({ payload: 'hunter2', passphrase: 'horse' });
  const env = { PWPUSH_PASSPHRASE: 'horse\n', PWPUSH_TIMEOUT: '30\n' };
  expect(await here.under({ env }).run('get', link)).toMatchObject({ code: 0, stdout: 'hunter2' });
});
