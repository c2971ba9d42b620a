import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { alsoBinary, person, pwpush, serving, shell } from '../helpers/program';

const sender = person();
const service = serving(sender.env);

describe('a token in a pipe, which can be read once', () => {
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
    'push --env A_SECRET --generate-passphrase --passphrase-out words',
    'push --file secrets',
    'push --each --from secrets',
    'list',
    'doctor',
    'login --quiet',
  ])('%s', async (words) => {
    const { code, stderr } = await owned(words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('run and expire, with links of two instances', alsoBinary, async () => {
    const mine = (
      await pwpush(['push', '--no-deletable'], { env: sender.env, input: 'A=1' })
    ).stdout.trim();
    const input = 'A=2';
    const foreign = await pwpush(['push', '--url', other.url], { env: someone.env, input });
    const links = `${mine} ${foreign.stdout.trim()}`;
    expect(await owned(`run ${links} -- printenv A`)).toMatchObject({ code: 0, stdout: '2\n' });
    expect(await owned(`expire ${links}`)).toMatchObject({ code: 0, stderr: '' });
  });
});
