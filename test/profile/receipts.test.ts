import { expect, test } from 'vitest';
import { readReceipts, saveReceipts } from '../../src/profile/receipts';
import { eachFault } from '../helpers/faults';
import { onLinux } from '../helpers/needs';
import { NOW, type Place, place } from '../helpers/run';

const BASE = 'https://pw.test';

const machineAt = (here: Place) => ({
  env: { PWPUSH_STATE_DIR: here.file('state') },
  platform: process.platform,
  home: here.folder,
  uid: process.geteuid?.(),
  now: () => NOW,
});

test('a receipt that was written in part is an error, and spoils no other', onLinux, async () => {
  const failed = await eachFault(async (failing) => {
    const here = place();
    const machine = machineAt(here);
    const save = (token: string) => {
      const place = { base: BASE, token };
      return saveReceipts(machine, [
        { push: { url_token: token }, link: `${BASE}/p/${token}`, name: undefined, place },
      ]);
    };
    const saved = await failing(here.folder, () => save('first')).then(
      () => ['first'],
      () => [],
    );
    await save('second');
    const tokens = readReceipts(machine).active();
    expect(tokens.map(({ token }) => token)).toEqual(['second', ...saved]);
    here.close();
  });
  expect(failed).toContain('write state/receipts.jsonl');
});

test.each([
  [1999, 1999],
  [2000, 1000],
])('of %i receipts the newest %i are kept', async (count, kept) => {
  const here = place();
  const tokens = Array.from({ length: count }, (_, at) => `a${at}`);
  const saved = tokens.map((token) => ({
    push: { url_token: token },
    link: `${BASE}/p/${token}`,
    name: undefined,
    place: { base: BASE, token },
  }));
  await saveReceipts(machineAt(here), saved);
  const active = readReceipts(machineAt(here)).active();
  expect(active.map(({ token }) => token)).toEqual(tokens.slice(-kept).reverse());
  here.close();
});
