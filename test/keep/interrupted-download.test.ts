import { existsSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { keepDownload } from '../../src/keep/interrupted-download';
import { NOW, place } from '../helpers/run';

test('of a download that cannot be kept, no part of a file is left', async () => {
  const here = place();
  writeFileSync(here.file('state'), '');
  const env = { PWPUSH_STATE_DIR: here.file('state'), TMPDIR: here.file('none') };
  const system = { env, platform: 'linux', home: here.folder, uid: process.geteuid?.() } as const;
  const path = here.file('b.0123456789ab.part');
  writeFileSync(path, 'a part of the secret');
  const part = { url: 'https://pw.test/f/1', path, tag: '"1"', length: 100 };
  const download = {
    link: 'https://pw.test/p/a',
    push: { url_token: 'a' },
    saved: [],
    answer: false,
  };
  const keeping = keepDownload({ ...system, now: () => NOW }, { ...download, partial: [part] });
  await expect(keeping).rejects.toMatchObject({ code: 'failed' });
  expect(existsSync(path)).toBe(false);
});
