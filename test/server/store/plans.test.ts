import { expect, test } from 'vitest';
import { migrate } from '../../../src/server/store/database';
import { plain } from '../../../src/server/store/sql';
import { openMemory } from '../../../src/server/store/sqlite';
import { overNoted } from '../../helpers/over-database';
import { at, filePart } from '../../helpers/service';

// However many pushes there are, each statement goes straight to the few rows it is about.

/** Steps that take the longer the more there is; owners, trusts and keys are few, and a page has fifty rows. */
const LONG = /^SCAN (?!owners|trusts|instance_keys|link_keys|page\b|input\b|CONSTANT ROW)|AUTOMATIC/;

async function stepsOf(statements: readonly string[], kind: RegExp): Promise<Record<string, string[]>> {
  const database = await openMemory((load) => load());
  await migrate(database);
  const found: Record<string, string[]> = {};
  for (const text of new Set(statements)) {
    const rows = await database.sql<{ detail: string }>(plain(`EXPLAIN QUERY PLAN ${text}`));
    const steps = rows.map(({ detail }) => detail).filter((step) => kind.test(step));
    if (steps.length > 0) found[text] = steps;
  }
  await database.close();
  return found;
}

test('no statement of a service looks through all there is', async () => {
  const service = await overNoted();
  const { asAdmin, clock, statements } = service;
  const once = { headers: { 'idempotency-key': '"Jk3dF8s-Qw2mZx0pLr7tVg"' } };
  await service.owners.list();
  const { id } = await service.owners.add('bob');
  const made = await service.owners.replace(id);
  await service.owners.authenticate(made?.token ?? '');
  await service.owners.revoke('bob');
  const push = { payload: 'x', passphrase: 'p', expire_after_views: 2 };
  const token = await service.createOwn(push);
  await service.call('POST', at(''), { ...once, body: { push } });
  await service.retrieve(`${token}?passphrase=wrong`);
  for (const _ of ['first', 'again']) await service.retrieve(`${token}?passphrase=p`, once);
  await service.retrieve(`${token}?passphrase=p`, asAdmin);
  await service.call('GET', at(token, '/preview'));
  const files = await service.createWithFiles(filePart('a', 'x'));
  const { json } = await service.retrieve(files);
  await service.fetchLink(json.files[0].url);
  await service.kindsOf(token);
  await service.expire(files);
  const asked = await service.createRequest({ response_file_attachments: true });
  const form = [
    { name: 'request[response]', value: 'x' },
    { ...filePart('a', 'x'), name: 'request[files][]' },
  ];
  await service.call('PATCH', `/api/v2/requests/${asked}/respond`, { form });
  await service.call('GET', `/api/v2/requests/${asked}`, { ...asAdmin, ...once });
  await service.list('active');
  await service.list('expired');
  for (const state of ['active', 'open', 'ready', 'closed'])
    await service.call('GET', `/api/v2/requests/${state}`, asAdmin);
  for (const days of [1, 30, 365]) {
    clock.advance(days * 86_400_000);
    await service.sweep();
  }
  await service.finish();

  expect(new Set(statements).size).toBeGreaterThan(50);
  const found = Object.values(await stepsOf([...statements, 'SELECT id FROM audit WHERE kind = ?'], LONG));
  expect(found).toEqual([
    // Of the foreign keys of a new owner, which it does only while some are broken (OP_FkIfZero): never.
    ['SCAN pushes', 'SCAN tokens'],
    // What the operator alone does: a token is replaced, and all of a user are revoked.
    ['SCAN tokens'],
    ['SCAN tokens'],
    // Such statements are found.
    ['SCAN audit'],
  ]);

  // A request with a key looks at views that are kept, not at the log of its push.
  const keyed = [...new Set(statements)].filter((text) => text.includes('key_hash = '));
  const kept = await stepsOf(keyed, /INDEX audit_kept \(push_id=\? AND key_hash=\?\)/);
  expect(keyed.length).toBeGreaterThan(1);
  expect(Object.keys(kept)).toEqual(keyed);

  // Of the rows of earlier pages, only an index is read.
  const pages = [...new Set(statements)].filter((text) => text.includes('OFFSET ?) AS page'));
  const covered = await stepsOf(pages, /COVERING INDEX (pushes|requests)_(active|expired|closed)/);
  expect(pages).toHaveLength(6);
  expect(Object.keys(covered)).toEqual(pages);
});
