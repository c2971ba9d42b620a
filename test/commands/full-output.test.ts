import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';

let here: Instance;
beforeEach(async () => {
  here = await instance();
});
afterEach(() => here.close());

test.each([
  ...['list', 'list --json', 'version', 'version --json'],
  ...['show ID', 'show ID --json', 'preview ID', 'audit ID', 'expire ID --json', 'generate'],
  ...['profile list', 'profile show --json', 'doctor', 'doctor --json', 'completion bash'],
  ...['help', 'help environment', 'help --json', 'push --help', '--version', ''],
])('a full disk under the output of "%s" is said in words', async (line) => {
  const id = await here.push({ payload: 's' }, here.service.adminToken);
  await here.run('profile', 'set', 'days', '3');
  const failing = here.under({ env: here.admin, failing: { stdout: 'ENOSPC' } });
  const words = line.replace('ID', id).split(' ').filter(Boolean);
  const { code, stderr } = await failing.run(...words);
  expect(code).toBe(1);
  const message = line.endsWith('--json') ? '"message":"' : 'pwpush: ';
  expect(stderr).toContain(`${message}cannot write to standard output (the disk is full)`);
});
