import {
  appendFileSync,
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BASE, eachInstance, overFetch } from '../helpers/instance';
import { changed } from '../helpers/reference';
import { place } from '../helpers/run';
import { rewriting } from '../helpers/wire';

// What a push leaves on the machine it was made on, for those who have no token. What is said and listed:
// test/cases/list-local.txt, last.txt and receipt-not-saved.txt.

const here = eachInstance();

const file = () => here.file('state/receipts.jsonl');
/** The receipts in the file, and the ends of pushes. */
const kept = (): Record<string, unknown>[] =>
  (existsSync(file()) ? readFileSync(file(), 'utf8').split('\n') : [])
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
/** Makes the file so long that it is compacted when a line is added. */
const fill = () => appendFileSync(file(), '\n'.repeat(65_535 - statSync(file()).size));
/** The links of the receipts that are shown, newest first. */
const listed = async () => {
  const { stdout } = await here.run('list', 'receipts', '--json');
  return (JSON.parse(stdout) as { html_url: string }[]).map(({ html_url }) => html_url);
};
const mode = (path: string) => statSync(path).mode & 0o777;

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
        base: BASE,
        url_token: /\/p\/([\w-]+)/.exec(link)?.[1],
        html_url: link,
        name: 'db',
        expire_after_days: 1,
        expire_after_views: 2,
        created_at: '2026-08-20T11:06:45.000Z',
        expires_at: '2026-08-20T17:06:45.000Z',
        deletable_by_viewer: true,
        retrieval_step: true,
        encrypted: false,
      },
    ]);
    expect([mode(here.file('state')), mode(file())]).toEqual([0o700, 0o600]);
    const encrypted = await push('hunter2', '--encrypt');
    await push('', '--generate', '--json');
    expect(kept()[1]).toMatchObject({ html_url: encrypted.split('#')[0], encrypted: true });
    expect(JSON.stringify(kept())).not.toMatch(/payload|generated|passphrase|#/);
  });

  test('is not shown when the time of its push is over, and removed some time later', async () => {
    await push('a', '--expire', '1h');
    const second = await push('b', '--days', '2');
    const gone = await push('c');
    await here.run('expire', gone);
    here.service.clock.advance(3_600_000);
    expect(await listed()).toEqual([second]);
    fill();
    const last = await push('d');
    expect(kept()).toMatchObject([{ html_url: second }, { html_url: last }]);
    expect([mode(file()), await listed()]).toEqual([0o600, [last, second]]);
  });

  test('is removed by a wait that ends with its push', async () => {
    for (const [method, code] of [
      ['DELETE', 6],
      ['GET', 0],
    ] as const) {
      const own = here.under({ stdin: 'a', env: here.admin });
      const link = (await own.run('push', '--views', '1')).stdout;
      expect(await listed()).toHaveLength(1);
      const path = link.trim().replace('/p/', '/api/v2/pushes/').replace(/\/r$/, '');
      await here.service.fetch(new Request(path, { method }));
      expect((await own.run('wait', 'last', '--then-expire')).code).toBe(code);
      expect(await listed()).toEqual([]);
    }
  });
});

test.each([
  ['its group', 0o620],
  ['others', 0o602],
])('a file that %s can write to gets no receipt', async (_, bits) => {
  const first = await push('a');
  chmodSync(file(), bits);
  const before = readFileSync(file(), 'utf8');
  const second = await push('b');
  expect(readFileSync(file(), 'utf8')).toBe(before);
  chmodSync(file(), 0o600);
  expect([await listed(), second]).toEqual([[first], expect.stringContaining('/p/')]);
});

test('a push that was encrypted by its receipt is refused in clear, but where a person is warned', async () => {
  const link = await push('forged', '--views', '9');
  writeFileSync(file(), readFileSync(file(), 'utf8').replace(/"encrypted":false/, '"encrypted":true'));
  const id = /\/p\/([\w-]+)/.exec(link)?.[1] ?? '';
  const env = { PATH: process.env.PATH };
  const run = ['run', link, '--as', 'X', '--', 'sh', '-c', 'echo "$X"'];
  for (const words of [['get', link], ['get', id], ['get', 'last'], run]) {
    const { code, stdout, stderr } = await here.under({ env }).run(...words);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('it was encrypted when it was pushed, but the push is not encrypted');
  }
  expect((await here.run('get', link, '--no-decrypt')).stdout).toBe('forged');
  const { stdout, stderr } = await here.under({ terminals: ['stderr'] }).run('get', id);
  expect([stdout, stderr]).toEqual(['forged', expect.stringContaining('it may have been replaced')]);
});

test('what is no receipt is skipped', async () => {
  const first = await push('a');
  const others = [
    'null',
    '{"base":1,"url_token":[]}',
    '{"html_url":"no link at all"}',
    '',
    '{"html_url":"https://pw.test/p/',
  ];
  for (const text of others) appendFileSync(file(), `\n${text}`);
  expect(await listed()).toEqual([first]);
  const second = await push('b');
  expect(await listed()).toEqual([second, first]);
});

test('a file of receipts that is a symbolic link is not followed', async () => {
  await push('a');
  renameSync(file(), here.file('elsewhere'));
  symlinkSync(here.file('elsewhere'), file());
  const { code, stderr } = await here.under({ stdin: 'b', terminals: ['stderr'] }).run('push');
  expect([code, stderr]).toEqual([0, expect.stringContaining('ELOOP')]);
  expect(await listed()).toEqual([]);
});

/** A place that pushes to `base`, whose instance returns this link. */
function lied(base: string, html_url: string) {
  const send = rewriting(overFetch(here.service, here.asked), (body, { method }) =>
    method === 'POST' ? changed(body, { html_url }) : body,
  );
  return place({
    send: (request) => send({ ...request, url: request.url.replace('/secrets', '') }),
    stdin: 'a',
    env: { PWPUSH_URL: base },
  });
}

test.each([
  ['elsewhere', 'https://other.test'],
  ['of the same host, without the path of the instance', `${BASE}/secrets`],
])('a link %s makes no receipt, and last names no other push instead', async (_, base) => {
  const own = await push('a');
  const other = lied(BASE, own);
  await other.run('push');
  await other.under({ env: { PWPUSH_URL: base } }).run('push');
  for (const command of ['expire', 'get', 'preview', 'wait'])
    expect(await other.run(command, 'last')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the last push has no receipt'),
    });
  expect((await other.run('list', 'receipts')).stdout.split('\n')).toHaveLength(2);
  expect(here.asked.join()).not.toContain('DELETE');
});

test('what later requests go to is where the push was created, and not its link', async () => {
  const other = lied(BASE, `${BASE}/$(id)/p/abcdefgh`);
  const { url_token, html_url } = JSON.parse((await other.run('push', '--json')).stdout);
  expect(html_url).toBe(`${BASE}/%24%28id%29/p/abcdefgh`);
  expect((await other.run('__complete', 'get', '')).stdout).toContain(`\n${url_token}\t`);
  await other.run('expire', 'last');
  expect(here.asked.at(-1)).toBe(`DELETE /api/v2/pushes/${url_token}`);
});
