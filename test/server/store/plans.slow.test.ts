import { expect, onTestFinished, test } from 'vitest';
import { findView } from '../../../src/server/store/kept-rows';
import { findWithView } from '../../../src/server/store/push-rows';
import { plain, type RowStatement, type Sql } from '../../../src/server/store/sql';
import { onSharedPostgres, openBeside } from '../../helpers/stores';

onSharedPostgres((databases) => {
  test('a view that is kept is found among those that are, however long the log is', async () => {
    const name = await databases().createMigrated();
    const database = await openBeside(databases().localUrl(name));
    onTestFinished(() => database.close());
    const plans: string[] = [];
    const explained: Sql = async (strings) => {
      const text = (strings as RowStatement).ofMany.join("'{1}'");
      const rows = await database.sql<object>(plain(`EXPLAIN ${text}`));
      plans.push(rows.flatMap((row) => Object.values(row)).join('\n'));
      return [];
    };
    await findWithView(explained, '1', 1, 1);
    await findView(explained, '1', 1, 1);
    const search = /using audit_kept on audit.*\n +Index Cond: \(+(?:push_id = pushes\.id|key_hash = )/;
    expect(plans).toEqual([expect.stringMatching(search), expect.stringMatching(search)]);
  });
});
