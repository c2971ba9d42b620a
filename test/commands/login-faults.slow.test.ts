import { existsSync, readdirSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eachFault } from '../helpers/faults';
import { overFetch } from '../helpers/instance';
import { onLinux } from '../helpers/needs';
import { place } from '../helpers/run';
import { type TestService, testService } from '../helpers/service';

// Alone in its process: conf is loaded when functions of files have been changed (vitest.config.mts).

let service: TestService;
beforeEach(async () => {
  service = await testService();
});
afterEach(() => service.close());

const work = { url: 'https://work.test', token: 'MARKER-of-work' };
/** More than a page, of which disks may have room for the first alone. */
const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`work-${n}`, work]));

const stored = [{}, { work }, many];
test.each(stored)('the config file is the old one or the new; %#', onLinux, async (profiles) => {
  const token = service.adminToken;
  const failed = await eachFault(async (failing) => {
    const here = place({ send: overFetch(service), stdin: token });
    try {
      const isNew = Object.keys(profiles).length === 0;
      if (!isNew) await here.keep({ current: Object.keys(profiles)[0] ?? '', profiles });
      const before = here.kept();
      const login = () => here.run('login', 'https://pw.test');
      const { code, stdout, stderr } = await failing(here.folder, login);
      expect(stdout + stderr).not.toMatch(new RegExp(`MARKER|${token}`));
      const after = {
        current: 'default',
        profiles: {
          ...profiles,
          default: { url: 'https://pw.test', edition: 'pwpush', token, encrypt: 'link' },
        },
      };
      expect([
        [0, after],
        [1, before],
      ]).toContainEqual([code, here.kept()]);
      const folder = here.file('config');
      // What conf began it removes while the program goes on, or when it ends.
      await expect
        .poll(() => (existsSync(folder) ? readdirSync(folder) : []))
        .toEqual(here.kept() ? ['config.json'] : []);
      expect([(await login()).code, here.kept()]).toEqual([0, after]);
    } finally {
      here.close();
    }
  });
  const operations = new Set(failed.map((one) => one.replace(/ .*/, '')));
  expect([...operations].sort()).toEqual(['fsync', 'mkdir', 'open', 'rename', 'write']);
});
