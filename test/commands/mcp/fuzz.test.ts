import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eachInstance } from '../../helpers/instance';
import { long } from '../../helpers/long';
import { SECRET, serving } from '../../helpers/mcp';
import { seed } from '../../helpers/seed';

const CALLS = long ? 1_000 : 500;
/** Calls of one server, whose clients and services grow. */
const AT_ONCE = 250;

const here = eachInstance({ env: { PATH: process.env.PATH, DB_PASSWORD: SECRET } });

// biome-ignore format: a table
const odd = fc.constantFrom(
  '', '-', '--', '--json', '--output=/tmp/x', '..', '../outside', '/etc/passwd', 'out/new', '/dev/stdin',
  '/proc/self/environ', '\0', '\n', '\u001b[2J', '💣', '__proto__', 'constructor', 'last', 'https://pw.test/p/x#',
  'true', '99999999999', 'inner/', 'db.env', 'DB_PASSWORD',
);
const anything = fc.oneof(
  { weight: 4, arbitrary: odd },
  fc.string({ unit: 'binary' }),
  fc.string({ minLength: 2000, maxLength: 3000 }),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(odd, { maxLength: 4 }),
  fc.object({ maxDepth: 2 }),
);

/** Values of arguments that are right more often. */
const near = (link: () => string): Record<string, fc.Arbitrary<unknown>> => ({
  link: fc.oneof(fc.constant(null).map(link), odd, anything),
  file: fc.oneof(fc.constantFrom('db.env', 'inner/', 'new'), fc.string({ maxLength: 12 }), anything),
  env: fc.oneof(fc.constant('DB_PASSWORD'), anything),
  generate: fc.oneof(fc.integer({ min: 8, max: 40 }), fc.constant('words:4'), anything),
  command: fc.oneof(fc.constant(['true']), fc.array(anything, { maxLength: 3 }), anything),
  as: fc.oneof(fc.constant('A'), anything),
  expire: fc.oneof(fc.constantFrom('1h', '3d'), anything),
  state: fc.oneof(fc.constantFrom('active', 'expired', 'open'), anything),
});

const tools: Readonly<Record<string, string>> = {
  push: 'file env generate as_text views days expire name encrypt',
  ask: 'question file expire',
  run: 'link command as',
  save: 'link file',
  expire: 'link',
  preview: 'link',
  audit: 'link',
  list: 'state page',
};

const files = () =>
  readdirSync(here.folder, { encoding: 'utf8' })
    .filter((name) => name !== 'state')
    .sort();

test(`${CALLS} calls of any shape break nothing and tell nothing`, async () => {
  const server = await serving(here, ['--env', 'DB_PASSWORD', '--allow-run', 'true', '--debug']);
  writeFileSync(here.file('root/db.env'), `PASSWORD=${SECRET}\n`);
  writeFileSync(here.file('outside'), SECRET);
  symlinkSync(here.folder, here.file('root/out'));
  const before = files();
  let link = await here.push({ payload: `A=${SECRET}`, expire_after_views: 100 });
  const values = near(() => link);
  const calls = fc.oneof(
    ...Object.entries(tools).map(([name, known]) => {
      const each = known.split(' ').map((one) => [one, values[one] ?? anything]);
      const right = fc.record(Object.fromEntries(each), { requiredKeys: [] });
      const more = fc.dictionary(fc.string({ maxLength: 8 }), anything, { maxKeys: 1 });
      const given = fc.oneof({ weight: 8, arbitrary: right }, more);
      return fc.record({ name: fc.constant(name), given });
    }),
  );
  let count = 0;
  let successes = 0;
  await fc.assert(
    fc.asyncProperty(calls, async ({ name, given }) => {
      count += 1;
      if (count % AT_ONCE === 0) link = await here.push({ payload: `A=${SECRET}`, expire_after_views: 100 });
      const { transcript } = server;
      transcript.length = 0;
      const told = await server.call(name, given);
      if (!told.startsWith('! ')) successes += 1;
      expect(told).not.toContain('internal error');
      // What the caller wrote may stand in the answer.
      const answer = transcript.filter((line) => !line.includes('"method"')).join('\n');
      expect(answer).not.toContain(SECRET);
    }),
    { numRuns: CALLS, seed: seed || 1, endOnFailure: true },
  );
  expect(successes).toBeGreaterThan(count / 50);
  expect((await server.close()).code).toBe(0);
  // What the caller wrote is not asked for.
  server.transcript.length = 0;
  expect(files()).toEqual(before);
  expect(readFileSync(here.file('outside'), 'utf8')).toBe(SECRET);
});
