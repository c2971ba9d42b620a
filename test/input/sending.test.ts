import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Context } from '../../src/context';
import { createClient } from '../../src/index';
import { openSending } from '../../src/input/sending';
import { heldFiles, taking } from '../helpers/transfer';

test('a hundred pushes of ten files leave no descriptor and no temporary file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pwpush-test-'));
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  vi.stubEnv('TMPDIR', temporary);
  const paths = Array.from({ length: 9 }, (_, number) => join(folder, `${number}.txt`));
  for (const path of paths) writeFileSync(path, path);
  const instance = await taking();
  const client = createClient({ url: instance.url });
  for (let number = 0; number < 100; number++) {
    const sending = await openSending(world(), { paths: [...paths, '-'] } as never, {} as never);
    await sending.create(client, {});
    await sending.close();
  }
  await client.close();
  await instance.stop();
  vi.unstubAllEnvs();
  const left = [heldFiles(), readdirSync(temporary)];
  rmSync(folder, { recursive: true });
  expect(instance.pushes.map((parts) => parts.length)).toEqual(Array(100).fill(10));
  expect(instance.pushes.at(-1)?.at(-1)).toMatchObject({ filename: 'stdin', content: 'piped' });
  expect(left).toEqual([[], []]);
});

/** What sending needs of a context: a pipe, and no terminal. */
function world(): Context {
  const bytes = async function* () {
    yield Buffer.from('piped');
  };
  return {
    env: {},
    stdin: { isTTY: false, bytes },
    stderr: { isTTY: false },
    signal: new AbortController().signal,
  } as unknown as Context;
}
