import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folders } from '../helpers/memory';
import { testService } from '../helpers/service';
import { lock } from './lock';

const newFolder = folders();

test('while another program holds the lock, all goes on but writing, which is put off', async () => {
  const data = await newFolder();
  const service = await testService({ data });
  const token = await service.createOwn({ payload: 'x' });
  service.clock.advance(120_000);
  const unlock = lock(join(data, 'pwpush.db'));
  const headers = { token: service.adminToken };
  let putOff = true;
  const creation = service
    .call('POST', '/api/v2/pushes', {
      body: { push: { payload: 'y' } },
    })
    .finally(() => {
      putOff = false;
    });
  const [listed, preview] = await Promise.all([
    service.call('GET', '/api/v2/pushes/active', headers),
    service.call('GET', `/api/v2/pushes/${token}/preview`),
  ]);
  expect([listed.status, preview.status, putOff]).toEqual([200, 200, true]);
  const { status, headers: said } = await creation;
  expect([status, said.get('retry-after')]).toEqual([503, '5']);
  unlock();
  await service.create({ payload: 'z' });
  await service.close();
});
