import { expect, test } from 'vitest';
import { copyData } from '../../src/server/copy';
import { folders } from '../helpers/memory';
import { opened } from '../helpers/service';
import { inRoom, onSharedPostgres } from '../helpers/stores';
// On PostgreSQL.
import './copy.test';

const newFolder = folders();

onSharedPostgres((databases) => {
  test('a service that was cut off while its data was moved takes no view of it', async () => {
    const name = await databases().createMigrated();
    const database = databases().localUrl(name);
    const [from, to] = [{ data: await newFolder(), database }, { data: await newFolder() }];
    const service = await opened(from);
    const token = await service.create({ payload: 'x', expire_after_views: 1 });
    const { openBeside } = await import('../helpers/stores');
    const beside = () => openBeside(databases().localUrl('postgres'));
    const cut = { settings: from, beside, remains: async () => Buffer.from('') };
    await inRoom(cut, ({ sql }) => sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${name}`);
    await copyData(from, to, {});
    expect((await service.retrieve(token)).status).toBe(503);
    expect(service.warnings.join()).toContain('has data that was moved');
    const there = await opened(to);
    expect((await there.retrieve(token)).json.payload).toBe('x');
  });
});
