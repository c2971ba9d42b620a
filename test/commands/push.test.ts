import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import { folders } from '../helpers/memory';
import { CREATED } from '../helpers/reference';
import { json } from '../helpers/wire';

const newFolder = folders();

// What push says and prints, and where a secret may be from: test/cases/push-*.txt.

test.each([
  ['http://127.0.0.1:5100', true],
  ['http://localhost:5100', true],
  ['http://[::1]:5100', true],
  ['https://pw.test', false],
])('a QR code of %s, which may lead a phone to itself, is said to: %s', async (base, local) => {
  const created = CREATED.replaceAll('https://pw.test', base);
  const conditions = { env: { PWPUSH_URL: base }, terminals: ['stderr'] as const };
  const pushed = await asking([json(201, created)], ['push', 'x', '--qr'], conditions);
  const answer = `{"url":"${base}/p/abc/r"}`;
  const shown = await asking([json(200, answer)], ['preview', 'abc', '--qr'], conditions);
  expect([pushed.code, shown.code]).toEqual([0, 0]);
  for (const { stderr } of [pushed, shown]) expect(/only this machine/.test(stderr)).toBe(local);
});

test('a file that is too large for --here is refused by its size, before it is read', async () => {
  const path = join(await newFolder(), 'big.bin');
  writeFileSync(path, '');
  truncateSync(path, 124 * 1024 ** 2);
  const { code, stderr } = await asking([], ['push', '--here', '--file', path]);
  expect([code, stderr]).toEqual([
    2,
    'pwpush: big.bin is 124.0 MiB; the limit is 100.0 MiB a file\nhint: pwpush serve --max-file-size has another limit\n',
  ]);
});
