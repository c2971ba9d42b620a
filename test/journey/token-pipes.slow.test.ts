import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { alsoBinary, person, pushed, serving, shell } from '../helpers/program';

const sender = person();
const service = serving(sender.env);

const someone = person();
beforeAll(() => writeFileSync(join(someone.folder, 'secrets'), 'A=1\n'.repeat(3)));
const other = serving(someone.env);

const owned = (words: string) =>
  shell(`cat | $PWPUSH --token-file /dev/stdin ${words}`, {
    env: { ...someone.env, PWPUSH_URL: service.url, A_SECRET: 'A=1' },
    input: service.token,
    cwd: someone.folder,
  });

test.each([
  'push --env A_SECRET --passphrase-out words --quiet',
  'push --each --from secrets',
  'doctor',
  'login --quiet',
])('a token in a pipe, which can be read once, is enough for %s', async (words) => {
  const { code, stderr } = await owned(words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('a token in a pipe is enough for links of two instances', alsoBinary, async () => {
  const mine = await pushed(service, 'A=1', { deletable_by_viewer: false });
  const links = `${mine} ${await pushed(other, 'A=2')}`;
  expect(await owned(`run ${links} -- printenv A`)).toMatchObject({ code: 0, stdout: '2\n' });
  expect(await owned(`expire ${links}`)).toMatchObject({ code: 0, stderr: '' });
});
