import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ServiceError } from '../../../src/server/service-errors';
import { folders } from '../../helpers/memory';
import { needsPrograms } from '../../helpers/needs';
import { noted, viewsIn } from '../../helpers/noted';
import { freePort } from '../../helpers/postgres';
import { call, opened, type TestService } from '../../helpers/service';
import { onPostgres, openBeside } from '../../helpers/stores';

const newFolder = folders();

describe('behind PgBouncer', needsPrograms('pgbouncer'), () => {
  onPostgres((cluster) => {
    /** Starts one, with an idle session or two, and answers the address of a new database there. */
    async function pooled(...settings: string[]): Promise<string> {
      const [name, port] = [await cluster().createDatabase(), await freePort()];
      const file = join(await newFolder(), 'pgbouncer.ini');
      const lines = [
        ...['[databases]', `* = host=${cluster().folder} port=${cluster().port} user=postgres`],
        ...['[pgbouncer]', `listen_addr = 127.0.0.1`, `listen_port = ${port}`],
        ...['unix_socket_dir =', 'auth_type = any', ...settings],
      ];
      writeFileSync(file, lines.join('\n'));
      const user = process.geteuid?.() === 0 ? ['-u', 'postgres'] : [];
      const pooler = spawn('pgbouncer', [...user, '-q', file], { stdio: 'ignore' });
      onTestFinished(async () => {
        pooler.kill('SIGKILL');
        await once(pooler, 'close');
      });
      const url = `postgres://postgres@127.0.0.1:${port}/${name}`;
      const others = postgres(url, { max: 2, prepare: false });
      const sleeping = () => others`SELECT pg_sleep(0.1)`;
      await expect.poll(sleeping).toHaveLength(1);
      await Promise.all([sleeping(), sleeping()]);
      await others.end();
      return url;
    }

    test.each([[], ['server_round_robin = 1']])(
      'in transaction mode it does not start, and says which port to use: %s',
      async (...more) => {
        const url = await pooled('pool_mode = transaction', ...more);
        const error = await openBeside(url).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(ServiceError);
        const { message, hint } = error as ServiceError;
        expect(message).toContain('is a pooler in transaction mode');
        expect(hint).toContain('its port for sessions');
        // Nor does it leave its settings to others.
        const others = postgres(url, { max: 1, prepare: false });
        expect(await others`SHOW enable_seqscan`).toEqual([{ enable_seqscan: 'on' }]);
        await others.end();
      },
    );

    test('in session mode it works', async () => {
      const database = await pooled('pool_mode = session');
      const data = await newFolder();
      const services = [await opened({ data, database }), await opened({ data, database })];
      const pushes = noted((n, ...how) => call(services[n % 2] as TestService, ...how));
      const once = { expire_after_views: 1 };
      const tokens: string[] = [];
      const create = async (client: number) => {
        for (let n = 0; n < 5; n++) tokens.push(await pushes.create(once, {}, client));
      };
      await Promise.all(Array.from({ length: 16 }, (_, client) => create(client)));
      const views: number[] = [];
      for (const token of tokens.slice(0, 10)) views.push(viewsIn(await pushes.atOnce(12, token)));
      pushes.judge();
      expect(views).toContain(1);
    });
  });
});
