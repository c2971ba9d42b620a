import { expect, test } from 'vitest';
import { exposition } from '../../../../src/server/ops/metrics/exposition';
import { gauged } from '../../../../src/server/ops/metrics/gauges';

const checks = () => ({ running: 2, waiting: 5 });

/** What is scraped in turn, of a database that is up or not, as the service knows it. */
async function scraped(...states: boolean[]) {
  let counts = 0;
  let up = false;
  const families = gauged({
    version: '0.1.0',
    isUp: async () => up,
    countActive: async () => {
      counts += 1;
      return 7;
    },
    checks,
  });
  const texts: string[] = [];
  for (const state of states) {
    up = state;
    texts.push(exposition(await families()));
  }
  const samples = texts.map((text) =>
    text.split('\n').filter((line) => /^pwpush_(?:database|pushes)/.test(line)),
  );
  return { counts, texts, samples };
}

test('pushes are counted once for many scrapes, and not told while the database is away', async () => {
  const { counts, samples } = await scraped(false, true, true, false);
  const away = ['pwpush_database_up 0'];
  const there = ['pwpush_database_up 1', 'pwpush_pushes_active 7'];
  expect([counts, samples]).toEqual([1, [away, there, there, away]]);
});

test('the version and the line of passphrases', async () => {
  const [text] = (await scraped(true)).texts;
  expect(text).toContain('pwpush_build_info{version="0.1.0"} 1\n');
  expect(text).toContain('pwpush_passphrase_checks_running 2\n');
  expect(text).toContain('pwpush_passphrase_checks_waiting 5\n');
});
