import { existsSync, statSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';
import { CREATED, changed, EXPIRED } from '../helpers/reference';
import { place } from '../helpers/run';
import { broken, json, wire } from '../helpers/wire';

const WORDS = '[a-z]+(?:-[a-z]+){4,}';

let here: Instance;
let path: string;
beforeEach(async () => {
  here = await instance({ stdin: 'hunter2' });
  path = here.file('passphrase');
});
afterEach(() => here.close());

const push = (...words: string[]) => here.run('push', '--generate-passphrase', ...words);
const get = (link: string, passphrase: string) =>
  here.under({ env: { PWPUSH_PASSPHRASE: passphrase } }).run('get', link.trim());

describe('--generate-passphrase', () => {
  test('is told on stderr, and it opens the push', async () => {
    const { stdout, stderr } = await push('--json');
    const { passphrase } = JSON.parse(stderr);
    expect(passphrase).toMatch(new RegExp(`^${WORDS}$`));
    expect(stdout).not.toContain(passphrase);
    expect((await get(JSON.parse(stdout).html_url, passphrase)).stdout).toBe('hunter2');
    expect((await get(JSON.parse(stdout).html_url, `${passphrase}x`)).code).toBe(7);
  });

  test('is not made by --dry-run', async () => {
    expect((await push('--dry-run', '--passphrase-out', path)).code).toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  test.each([{ closed: ['stderr'] as const }, { failing: { stderr: 'EPIPE' } as const }])(
    'sends nothing where it cannot be shown: %j',
    async (conditions) => {
      const { code } = await here.under(conditions).run('push', '--generate-passphrase');
      expect({ code, asked: here.asked }).toEqual({ code: 2, asked: [] });
    },
  );
});

describe('--passphrase-out', () => {
  test('writes to a file that only its owner can read, whatever the umask', async () => {
    const before = process.umask(0);
    await push('--passphrase-out', path);
    process.umask(before);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('leaves a link as it is, and sends nothing', async () => {
    symlinkSync(here.file('target'), path);
    expect((await push('--passphrase-out', path)).code).toBe(2);
    expect([existsSync(here.file('target')), here.asked]).toEqual([false, []]);
  });

  test.each([
    [[json(422, '{"payload":["is bad"]}')], 8, false],
    [[broken(false)], 9, false],
    [[broken(true)], 11, true],
    [[json(502, '')], 11, true],
    [[json(201, changed(CREATED, { passphrase: null }))], 0, true],
    // Looser than asked for: expired again, or not.
    [[json(201, changed(CREATED, { passphrase: '' })), json(200, EXPIRED)], 8, false],
    [[json(201, changed(CREATED, { passphrase: '' })), json(403, '{}')], 8, true],
  ])('after %j, which is %d, the file is there: %j', async (answers, code, kept) => {
    const { send } = wire(answers);
    const there = place({ send, stdin: 's', env: { PWPUSH_URL: 'https://pw.test' } });
    const file = there.file('passphrase');
    const outcome = await there.run('push', '--generate-passphrase', '--passphrase-out', file);
    expect({ code: outcome.code, kept: existsSync(file) }).toEqual({ code, kept });
    there.close();
  });
});
