import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ServiceError } from '../../../src/server/service-errors';
import { folders } from '../../helpers/memory';
import { needsPrograms } from '../../helpers/needs';
import { freePort } from '../../helpers/postgres';
import { onPostgres, openBeside } from '../../helpers/stores';

const newFolder = folders();

describe('behind PgBouncer', needsPrograms('pgbouncer'), () => {
  onPostgres((cluster) => {
    test('in transaction mode it does not start, and says which port to use', async () => {
      const [name, port] = [await cluster().createDatabase(), await freePort()];
      const file = join(await newFolder(), 'pgbouncer.ini');
      const lines = [
        ...['[databases]', `* = host=${cluster().folder} port=${cluster().port} user=postgres`],
        ...['[pgbouncer]', `listen_addr = 127.0.0.1`, `listen_port = ${port}`],
        ...['unix_socket_dir =', 'auth_type = any', 'pool_mode = transaction'],
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
      // Two sessions are idle then.
      const sleeping = () => others`SELECT pg_sleep(0.1)`;
      await expect.poll(sleeping, { message: 'the statement that waits' }).toHaveLength(1);
      await Promise.all([sleeping(), sleeping()]);

      const error = await openBeside(url).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ServiceError);
      const { message, hint } = error as ServiceError;
      expect(message).toContain('is a pooler in transaction mode');
      expect(hint).toContain('its port for sessions');
      // Nor does it leave its settings to others.
      expect(await others`SHOW enable_seqscan`).toEqual([{ enable_seqscan: 'on' }]);
      await others.end();
    });
  });
});
