import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'rolldown';
import { replacePlugin } from 'rolldown/plugins';
import { afterAll, beforeAll, expect } from 'vitest';
import { caches, launcher } from './program';

const is = (name: string) => `process.env.PLANTED === '${name}'`;
/** Each third commit, once the service is at work. */
const undone = `(${is('commit')} && (globalThis.commits = (globalThis.commits ?? 0) + 1) > 15 && globalThis.commits % 3 === 0)`;

const faults = {
  // The views are read before the transaction, and written in it.
  'const changed = await statement(sql, { push: push.id, now });': `
    const views = push.views + 1;
    const last = views >= push.expire_after_views ? now : null;
    const [changed] = changes.includes('views + 1') && ${is('claim')}
      ? await sql\`UPDATE pushes SET views = \${views}, expired_at = COALESCE(expired_at, \${last})
          WHERE id = \${push.id} RETURNING id, views, expired_at, updated_at\`
      : [await statement(sql, { push: push.id, now })];`,
  // All that was done is answered, and undone.
  "exec('COMMIT')": `exec(${undone} ? 'ROLLBACK' : 'COMMIT')`,
};

/**
 * What starts a build of the program with faults that the checker of histories must find, of which the variable PLANTED
 * chooses one; known once the tests run.
 */
export function planted(): readonly string[] {
  let folder: string;
  const words = [process.execPath];
  beforeAll(async () => {
    // From here its packages are found.
    folder = await mkdtemp(join(caches, 'planted-'));
    const { default: config } = await import(join(caches, '../../.config/rolldown.config.mjs'));
    const plant = replacePlugin(faults, { delimiters: ['', ''] });
    await build({
      ...config,
      logLevel: 'silent',
      plugins: [plant, ...config.plugins.filter((one: { name: string }) => one.name !== 'third-party-notices')],
      output: { ...config.output, dir: join(folder, 'dist'), cleanDir: false },
    });
    const service = await readFile(join(folder, 'dist/service.js'), 'utf8');
    expect(service.match(/PLANTED\W{3,4}(?:claim|commit)\b/g)).toHaveLength(2);
    words.push(join(folder, 'bin/pwpush.js'));
    await cp(launcher, words[1] as string);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return words;
}
