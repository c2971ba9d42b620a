import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readAddress } from '../../src/server/store/pg-url';
import { openPostgres } from '../../src/server/store/postgres';
import { resultOf } from '../helpers/history';
import { times } from '../helpers/long';
import { noted, viewsIn } from '../helpers/noted';
import { PASSWORD } from '../helpers/postgres';
import { alsoBinary, person, type Served, serveBuilt } from '../helpers/program';
import type { Call } from '../helpers/service';
import { onPostgres } from '../helpers/stores';

onPostgres((cluster) => {
  const somebody = person();
  let env: Record<string, string>;
  /** Four processes, which are one instance. */
  let services: Served[] = [];

  beforeAll(async () => {
    env = {
      ...somebody.env,
      DATABASE_URL: cluster().url(await cluster().createDatabase()),
      PWPUSH_INSTANCE_KEY_FILE: join(somebody.folder, 'shared.key'),
    };
    const starts = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((name) => serveBuilt(env, ['--data', join(somebody.folder, name)])),
    );
    services = starts.flatMap((start) => (start.status === 'fulfilled' ? start.value : []));
    expect(services).toHaveLength(4);
    expect(services.flatMap((service) => service.token ?? [])).toHaveLength(1);
  });

  afterAll(async () => {
    const ended = await Promise.all(services.map(({ stop }) => stop()));
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const said = ended.map(({ stderr }) => stderr).join('');
    expect(said).not.toContain('MARKER');
    expect(said).not.toContain(PASSWORD);
  });

  async function ask(index: number, method: string, path: string, how: Call = {}) {
    const response = await fetch(`${services[index % 4]?.url}${path}`, {
      method,
      headers: { ...how.headers, 'content-type': 'application/json' },
      ...(how.body ? { body: JSON.stringify(how.body) } : {}),
    });
    const { status, headers } = response;
    // biome-ignore lint/suspicious/noExplicitAny: compared whole
    const json = (await response.json()) as any;
    return { status, wait: headers.get('retry-after'), json };
  }

  let pushes = noted(ask);
  beforeEach(() => {
    pushes = noted(ask);
  });
  const create = (push = {}) => pushes.create({ expire_after_views: 5, ...push });

  test.each([
    [times(100), 1],
    [times(250), 10],
  ])('of %i requests at once to four processes %i get the payload', async (requests, views) => {
    const answers = await pushes.atOnce(requests, await create({ expire_after_views: views }));
    pushes.judge();
    expect(viewsIn(answers)).toBe(views);
  });

  test('wrong passphrases are counted together, even when all processes are about to count one', async () => {
    const push = await create({ passphrase: 'p' });
    const wrong = () => pushes.atOnce(4, push, { query: '?passphrase=wrong' });
    await wrong();
    const beside = await openPostgres(() => readAddress(env.DATABASE_URL ?? ''));
    const answers = await beside.transaction(async (sql) => {
      await sql`LOCK TABLE tries IN SHARE MODE`;
      const asked = wrong();
      const waiting = () => sql`SELECT pid FROM pg_locks WHERE NOT granted`;
      await expect
        .poll(async () => (await waiting()).length, { message: 'requests wait for the database' })
        .toBeGreaterThan(3);
      return { asked };
    });
    const statuses = (await answers.asked).map(({ status }) => status).sort();
    expect(statuses).toEqual([401, 429, 429, 429]);
    expect((await pushes.retrieve(3, push, { query: '?passphrase=p' })).status).toBe(429);
    await beside.close();
  });

  test('of several that start at once with keys of their own one is the instance', async () => {
    const { PWPUSH_INSTANCE_KEY_FILE: _, ...without } = env;
    const own = { ...without, DATABASE_URL: cluster().url(await cluster().createDatabase()) };
    const starts = await Promise.allSettled(
      ['e', 'f', 'g'].map((name) => serveBuilt(own, ['--data', join(somebody.folder, name)])),
    );
    const started = starts.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    for (const { stop } of started) await stop();
    expect(started).toHaveLength(1);
    const why = /instance key .* is missing.*instances on one database share one instance key/;
    for (const one of starts) if (one.status === 'rejected') expect(`${one.reason}`).toMatch(why);
  });

  test('while the server is away all is 503, later everything is there', alsoBinary, async () => {
    pushes = noted(ask, resultOf);
    const all = await Promise.all(Array.from({ length: 40 }, () => create({ expire_after_views: 1 })));
    const answers: Awaited<ReturnType<typeof ask>>[] = [];
    let away = true;
    const asking = all.map(async (push, index) => {
      const how = index % 2 ? { key: `key-of-${push}` } : {};
      do {
        answers.push(await pushes.retrieve(index, push, how));
        // Without a pause they would take all of the machine until the server is there again.
        await pause(20);
      } while (away);
      answers.push(await pushes.retrieve(index + 1, push, how));
    });
    const up = () => Promise.all(services.map(async ({ url }) => (await fetch(`${url}/up`)).status));
    try {
      await cluster().stop('immediate');
      expect(await up()).toEqual([503, 503, 503, 503]);
      answers.push(await pushes.retrieve(0, all[0] as string));
      const body = { push: { payload: 'x' } };
      expect(await ask(0, 'POST', '/api/v2/pushes', { body })).toEqual({
        status: 503,
        wait: '5',
        json: { error: 'The database is unavailable. Try again later.' },
      });
      await cluster().start();
      expect(await up()).toEqual([200, 200, 200, 200]);
    } finally {
      away = false;
      await Promise.allSettled(asking);
    }
    await Promise.all(asking);
    for (const push of all) await pushes.retrieve(0, push);
    pushes.judge();
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].sort()).toEqual([200, 503]);
    // A view is lost only where the very COMMIT was cut off, and no key can ask for it again.
    const seen = new Set(answers.flatMap(({ json }) => (json.payload ? json.url_token : [])));
    expect(seen.size).toBeGreaterThan(30);
  });
});
