import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';

// What a push leaves on the machine it was made on, for those who have no token.

let here: Instance;

beforeEach(async () => {
  here = await instance();
});
afterEach(() => here.close());

const file = () => here.file('state/receipts.jsonl');
const lines = () => (existsSync(file()) ? readFileSync(file(), 'utf8').split('\n') : []);
/** The receipts in the file, and the ends of pushes. */
const kept = () => lines().flatMap((line) => (line === '' ? [] : [JSON.parse(line) as object]));
/** Makes the file so long that it is compacted when a line is added. */
const fill = () => appendFileSync(file(), '\n'.repeat(65_535 - statSync(file()).size));
/** The links of the receipts that are shown, newest first. */
const listed = async () => {
  const { stdout } = await here.run('list', '--local', '--json');
  return (JSON.parse(stdout) as { html_url: string }[]).map(({ html_url }) => html_url);
};

async function push(text: string, ...argv: string[]): Promise<string> {
  const { code, stdout } = await here.under({ stdin: text }).run('push', ...argv);
  expect(code).toBe(0);
  here.service.clock.advance(1);
  return stdout.trim();
}

describe('a receipt', () => {
  test('has the link, limits and times, and nothing that is secret', async () => {
    writeFileSync(here.file('phrase'), 'open sesame');
    const argv = ['--views', '2', '--expire', '6h', '--name', 'db', '--note', 'attic'];
    const link = await push('hunter2', ...argv, '--passphrase-file', here.file('phrase'));
    expect(kept()).toEqual([
      {
        url_token: /\/p\/([\w-]+)/.exec(link)?.[1],
        html_url: link,
        name: 'db',
        expire_after_days: 1,
        expire_after_views: 2,
        created_at: '2026-08-20T11:06:45.000Z',
        expires_at: '2026-08-20T17:06:45.000Z',
        deletable_by_viewer: true,
        retrieval_step: true,
      },
    ]);
    const modes = [here.file('state'), file()].map((path) => statSync(path).mode);
    expect(modes.map((mode) => mode & 0o777)).toEqual([0o700, 0o600]);
  });

  test('has the link without the key', async () => {
    const link = await push('hunter2', '--encrypt');
    expect(link).toContain('#');
    expect(kept()).toMatchObject([{ html_url: link.split('#')[0] }]);
    await push('', '--generate', '--json');
    expect(JSON.stringify(kept())).not.toMatch(/payload|generated|passphrase|#/);
  });

  test('is left by every line of --each', async () => {
    const { stdout } = await here.under({ stdin: 'a\nb\nc\n' }).run('push', '--each');
    expect((await listed()).reverse()).toEqual(stdout.trim().split('\n'));
  });

  test('is whole and kept, however many pushes are made, listed and expired at once', async () => {
    const first = await push('a');
    const runs = Array.from({ length: 20 }, () => here.under({ stdin: 'x' }).run('push'));
    const lists = Array.from({ length: 5 }, () => here.run('list', '--local', '--json'));
    const [made] = await Promise.all([
      Promise.all(runs),
      Promise.all(lists),
      here.run('expire', first),
    ]);
    expect((await listed()).sort()).toEqual(made.map(({ stdout }) => stdout.trim()).sort());
    for (const { stdout } of await Promise.all(lists))
      expect(JSON.parse(stdout)).toBeInstanceOf(Array);
  });

  test('is not left with --no-receipt, --dry-run or the setting of a profile', async () => {
    await push('a', '--no-receipt');
    await push('b', '--dry-run');
    await here.run('profile', 'set', 'url', 'https://pw.test');
    await here.run('profile', 'set', 'receipts', 'false');
    await push('c');
    await here.under({ stdin: 'd\n' }).run('push', '--each');
    expect(kept()).toEqual([]);
    await here.run('profile', 'set', 'receipts', '');
    await push('e');
    expect(kept()).toHaveLength(1);
  });

  test('that cannot be saved does not fail the push, and is said on a terminal', async () => {
    mkdirSync(file(), { recursive: true });
    const { code, stdout, stderr } = await here
      .under({ stdin: 'x', terminals: ['stderr'] })
      .run('push');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^https:/)]);
    expect(stderr).toContain(' receipt ');
    expect((await here.under({ stdin: 'x' }).run('push')).stderr).toBe('');
  });

  test('is not shown when the time of its push is over', async () => {
    await push('a', '--expire', '1h');
    const link = await push('b', '--days', '2');
    here.service.clock.advance(3_600_000);
    expect(await listed()).toEqual([link]);
  });

  test('is removed some time later', async () => {
    await push('a', '--expire', '1h');
    const second = await push('b', '--days', '2');
    const gone = await push('c');
    await here.run('expire', gone);
    here.service.clock.advance(3_600_000);
    fill();
    const last = await push('d');
    expect(kept()).toMatchObject([{ html_url: second }, { html_url: last }]);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(await listed()).toEqual([last, second]);
  });
});

describe('list --local', () => {
  test('skips what is no receipt', async () => {
    const first = await push('a');
    for (const text of [
      'null',
      '{"html_url":"no link at all"}',
      '',
      '{"html_url":"https://pw.test/p/',
    ])
      appendFileSync(file(), `\n${text}`);
    expect(await listed()).toEqual([first]);
    const second = await push('b');
    expect(await listed()).toEqual([second, first]);
  });
});

describe('last', () => {
  test('stays the last when it has expired', async () => {
    const first = await push('a');
    const second = await push('b');
    const { code, stdout } = await here.run('expire', 'last', '--json');
    expect([code, JSON.parse(stdout)[0].html_url]).toEqual([0, second]);
    expect(await listed()).toEqual([first]);
    here.asked.length = 0;
    expect((await here.run('expire', 'last')).code).toBe(6);
    expect(here.asked).toEqual([]);
    fill();
    await here.run('expire', first);
    expect(kept()).toMatchObject([{ html_url: second }, { ended: second }]);
    expect(await here.run('expire', 'last', first)).toMatchObject({ code: 6 });
    expect((await here.run('preview', 'last')).stdout).toBe(`${second}\n`);
  });
});

test('a link of the push removes its receipt as well, and no other', async () => {
  const first = await push('a');
  await push('b');
  await here.run('expire', first);
  expect(await listed()).toHaveLength(1);
});

test('a wait that ends with the push removes its receipt', async () => {
  const own = here.under({ stdin: 'a', env: here.admin });
  for (const command of ['expire', 'get'] as const) {
    const { stdout } = await own.run('push', '--views', '1');
    const link = stdout.trim();
    expect(await listed()).toHaveLength(1);
    const call = { method: command === 'expire' ? 'DELETE' : 'GET' };
    const token = /\/p\/([\w-]+)/.exec(link)?.[1];
    await here.service.fetch(new Request(`https://pw.test/api/v2/pushes/${token}`, call));
    const { code } = await own.run('wait', 'last', '--then-expire');
    expect([command, code, await listed()]).toEqual([command, command === 'expire' ? 6 : 0, []]);
  }
});

test('the state folder may be read-only', async () => {
  await push('a');
  chmodSync(here.file('state'), 0o500);
  const { code } = await here.under({ stdin: 'b' }).run('push');
  chmodSync(here.file('state'), 0o700);
  expect(code).toBe(0);
});

test('a file of receipts that is a symbolic link is not followed', async () => {
  await push('a');
  renameSync(file(), here.file('elsewhere'));
  symlinkSync(here.file('elsewhere'), file());
  const { code, stderr } = await here.under({ stdin: 'b', terminals: ['stderr'] }).run('push');
  expect([code, stderr]).toEqual([0, expect.stringContaining('ELOOP')]);
  expect(await listed()).toEqual([]);
});
