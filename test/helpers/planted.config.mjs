// Builds the program with faults that the checker of histories must find, into the folder PLANTED_INTO. The variable
// PLANTED chooses one of them when the program runs.
import { join } from 'node:path';
import config from '../../.config/rolldown.config.mjs';

const is = (name) => `process.env.PLANTED === '${name}'`;
/** Each third commit, once the service is at work. */
const undone = `(${is('commit')} && (globalThis.commits = (globalThis.commits ?? 0) + 1) > 15 && globalThis.commits % 3 === 0)`;

/** What stands where, and what is planted there. */
const faults = {
  // The views are read before the transaction, and written in it.
  'server/store/push-rows.ts': [
    'const [changed] = await viewing(sql, { push: push.id, at: now });',
    `const views = push.views + 1;
     const last = views >= push.expire_after_views ? now : null;
     const [changed] = await (${is('claim')}
       ? sql\`UPDATE pushes SET views = \${views}, expired_at = COALESCE(expired_at, \${last})
           WHERE id = \${push.id} RETURNING id, views, expired_at, updated_at\`
       : viewing(sql, { push: push.id, at: now }));`,
  ],
  // All that was done is answered, and undone.
  'server/store/group-commit.ts': [
    "connection.exec('COMMIT');",
    `connection.exec(${undone} ? 'ROLLBACK' : 'COMMIT');`,
  ],
};

function plant() {
  const left = new Map(Object.entries(faults));
  return {
    name: 'plant',
    transform(code, id) {
      // Windows has other separators.
      const path = id.replaceAll('\\', '/');
      const file = [...left.keys()].find((name) => path.endsWith(`/src/${name}`));
      if (!file) return undefined;
      const [from, to] = left.get(file);
      if (code.split(from).length !== 2) throw new Error(`${file} has changed: ${from}`);
      left.delete(file);
      return code.replace(from, () => to);
    },
    buildEnd(error) {
      if (!error && left.size > 0) throw new Error(`no such files: ${[...left.keys()]}`);
    },
  };
}

export default {
  ...config,
  plugins: [plant(), ...config.plugins.filter(({ name }) => name !== 'third-party-notices')],
  output: { ...config.output, dir: join(process.env.PLANTED_INTO, 'dist'), cleanDir: false },
};
