import { mkdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { variables } from '../../src/commands/serve/serve-options';
import { openSqlite } from '../../src/server/store/sqlite';
import { type Conditions, eachPlace } from '../helpers/run';
import { call, create, testService } from '../helpers/service';

// What serve is told in options, and says: test/cases/serve-*.txt.

/** Variables of options that may be any text, which is checked later or never. */
const free = /_(NO_.*|HOST|PUBLIC_URL|DATA|DATABASE|TITLE|LOGO|CONTACT|TLS_.*|METRICS_HOST|REVEAL)$/;
const picky = [...variables.values()].filter((name) => !free.test(name));

const here = eachPlace();
const data = () => here.file('data');
const inData = (name: string) => here.file(`data/${name}`);

describe('the first token of a service', () => {
  /** Starts it, and ends it once its address is printed. */
  const started = (folder: string, world: Conditions = {}, ...words: string[]) => {
    const ending = new AbortController();
    const until = { signal: ending.signal, printed: () => ending.abort('SIGTERM') };
    const data = folder === '' ? [] : ['--data', here.file(folder)];
    return here.under({ ...world, ...until }).run('serve', '--port', '0', ...data, ...words);
  };

  test('is kept as profile local, which is in use, and overwrites no other', async () => {
    const first = await started('one');
    const [, token] = /token of admin, .*: (\S+)\n/.exec(first.stderr) ?? [];
    const url = first.stdout.trim();
    const local = { url, edition: 'pwpush', token, encrypt: 'link' };
    expect(here.kept()).toEqual({ current: 'local', profiles: { local } });
    const second = await started('two');
    expect(second.stderr).toContain('profile "local-2"; use it with --profile local-2\n');
    const other = here.kept()?.profiles['local-2'];
    expect(here.kept()).toEqual({ current: 'local', profiles: { local, 'local-2': other } });
    // It is told once.
    expect((await started('two')).stderr).not.toContain('token');
  });

  test.each([
    [[], 'pwpush push --encrypt --url URL'],
    [['--no-anonymous'], 'pwpush login URL'],
  ])('a service in memory, with %j, is no profile, but says how to push', async (words, said) => {
    const world = { terminals: ['stderr'] as const };
    const { stdout, stderr } = await started('', world, '--ephemeral', ...words);
    expect(stderr).toContain(`in another terminal: ${said.replace('URL', stdout)}`);
    expect(here.kept()).toBeUndefined();
  });
});

describe('variables', () => {
  test.each(picky)('a bad value of %s is bad usage, and names it', async (name) => {
    // It could not listen there.
    const words = ['serve', '--data', data(), '--host', '192.0.2.77'];
    const { code, stderr } = await here.under({ env: { [name]: '?' } }).run(...words);
    expect([code, stderr]).toEqual([2, expect.stringMatching(`^pwpush: ${name} must be `)]);
  });

  test('reach the words of serve that have the option, unless it is on the line', async () => {
    expect(picky.length).toBeGreaterThan(15);
    const there = { PWPUSH_SERVE_DATA: data(), PWPUSH_SERVE_PORT: '?' };
    const elsewhere = { PWPUSH_SERVE_DATA: here.file('other') };
    const empty = { PWPUSH_SERVE_DATA: '', XDG_DATA_HOME: here.file('share') };
    for (const env of [there, empty])
      expect((await here.under({ env }).run('serve', 'token', 'add', 'alice', '--create')).code).toBe(0);
    for (const [env, words] of [
      [there, ['serve', 'token', 'list']],
      [elsewhere, ['serve', '--data', data(), 'token', 'list']],
      [elsewhere, ['serve', 'token', 'list', '--data', data()]],
      [empty, ['serve', 'token', 'list']],
    ] as const)
      expect((await here.under({ env }).run(...words)).stdout).toMatch(/^[\da-f]{8}\talice\t/);
  });
});

test('a path in an env file, in which no shell is, may begin with the home folder', async () => {
  const there = here.under({ env: { PWPUSH_SERVE_DATA: '~/d' } });
  const { code } = await there.run('serve', 'token', 'add', 'alice', '--create');
  expect([code, statSync(here.file('home/d/pwpush.db')).isFile()]).toEqual([0, true]);
});

describe('serve backup', () => {
  const backup = (...words: string[]) => here.run('serve', 'backup', '--data', data(), ...words);

  test('a copy made while pushes are created has each that was acknowledged before', async () => {
    const service = await testService({ data: data() });
    const payloads = Array.from({ length: 200 }, (_, i) => `push ${i}`);
    const file = here.file('copy.db');
    const all: [string, string][] = [];
    const creating = Promise.all(
      payloads.map(async (payload) => all.push([await create(service, { payload }), payload])),
    );
    await create(service, { payload: 'first' });
    const acknowledged = [...all];
    const made = await backup(file);
    await creating;
    expect(made).toMatchObject({ code: 0, stdout: `${file}\n` });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    mkdirSync(here.file('restored'));
    writeFileSync(here.file('restored/pwpush.db'), readFileSync(file));
    const original = { instanceKeyFile: inData('instance.key') };
    const second = await testService({ data: here.file('restored'), ...original });
    for (const [token, payload] of acknowledged)
      expect((await call(second, 'GET', `/api/v2/pushes/${token}`)).json.payload).toBe(payload);
    expect(acknowledged.length).toBeGreaterThan(10);
    await second.close();
    await service.close();
  });

  test('it has no trace of what was deleted', async () => {
    const service = await testService({ data: data() });
    const token = await create(service, { payload: 'x' });
    const beside = await openSqlite(inData('pwpush.db'), (load) => load());
    const [row] = await beside.sql<{ data_key: Uint8Array }>`SELECT data_key FROM secrets`;
    const key = Buffer.from(row?.data_key ?? []);
    await beside.close();
    await backup(here.file('before.db'));
    await call(service, 'DELETE', `/api/v2/pushes/${token}`);
    await backup(here.file('after.db'));
    const has = (name: string) => readFileSync(here.file(name)).includes(key);
    expect([has('before.db'), has('after.db')]).toEqual([true, false]);
    await service.close();
  });

  test('a file that a link leads to is left, even with --force', async () => {
    await (await testService({ data: data() })).close();
    const [file, link] = [here.file('copy.db'), here.file('latest.db')];
    writeFileSync(file, 'precious');
    symlinkSync(file, link);
    expect((await backup(link, '--force')).code).toBe(2);
    expect([readlinkSync(link), readFileSync(file, 'utf8')]).toEqual([file, 'precious']);
  });
});
