import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';
import { makeSshKey } from '../helpers/ssh-key';

let here: Instance;
beforeEach(async () => {
  here = await instance({ stdin: 'hunter2' });
});
afterEach(() => here.close());

const sshKey = (type: string, name: string, passphrase = '') =>
  makeSshKey(here.file(name), type, passphrase);

describe('push --to', () => {
  test('an SSH key, which opens it', async () => {
    const path = sshKey('ed25519', 'id');
    const key = readFileSync(`${path}.pub`, 'utf8');
    const { code, stdout } = await here.run('push', '--to', key, '--views', '9');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^[^#]+\n$/) });
    expect((await here.run('get', stdout, '-i', path)).stdout).toBe('hunter2');
    const other = sshKey('ed25519', 'other');
    const wrong = await here.run('get', stdout, '-i', other);
    expect([wrong.code, wrong.stdout]).toEqual([7, '']);
    expect((await here.run('get', stdout, '-i', other, '-i', path)).stdout).toBe('hunter2');
    expect((await here.run('get', stdout)).code).toBe(7);
  });

  test('several keys, and a file like authorized_keys: each opens it', async () => {
    const [one, two, three] = ['one', 'two', 'three'].map((name) => sshKey('ed25519', name));
    const pub = (path = '') => readFileSync(`${path}.pub`, 'utf8');
    const file = here.file('authorized_keys');
    writeFileSync(file, `# team\nno-pty,command="x y" ${pub(two)}\n${pub(three)}`);
    const argv = ['push', '--to', pub(one), '-R', file, '--views', '9'];
    const { stdout } = await here.run(...argv);
    for (const path of [one, two, three])
      expect((await here.run('get', stdout, '-i', path ?? '')).stdout).toBe('hunter2');
  });

  test.each(['ecdsa', 'rsa'])('a key of type %s is refused', async (type) => {
    const key = readFileSync(`${sshKey(type, 'id')}.pub`, 'utf8');
    expect([(await here.run('push', '--to', key)).code, here.asked]).toEqual([2, []]);
  });

  test('more keys than fit into a header are refused', async () => {
    const key = readFileSync(`${sshKey('ed25519', 'id')}.pub`, 'utf8');
    writeFileSync(here.file('many'), key.repeat(1300));
    expect((await here.run('push', '-R', here.file('many'))).code).toBe(2);
  });
});

test('the command for a key with a passphrase makes a copy that opens the push', async () => {
  const path = sshKey('ed25519', "it's mine", 'secret');
  const { stdout } = await here.run('push', '--recipients-file', `${path}.pub`);
  const { code, stderr } = await here.run('get', stdout, '--identity', path, '--json');
  expect([code, here.asked.length]).toEqual([2, 1]);
  const copy = here.file('copy');
  const command: string = JSON.parse(stderr).error.hint.replace(/^.*?: /, '');
  const line = `${command.replaceAll('/dev/shm/key', copy)} -q -P secret`;
  expect(spawnSync('sh', ['-c', line]).status).toBe(0);
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  expect((await here.run('get', stdout, '-i', copy)).stdout).toBe('hunter2');
});
