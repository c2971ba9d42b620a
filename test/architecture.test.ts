import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

// The direction of the imports, as the README's picture has it, read from the source itself.

const ROOT = join(import.meta.dirname, '..', 'src');

interface Import {
  /** Relative to src without its ending, or a package's name. */
  readonly to: string;
  /** Loaded when the importing file is: neither a type nor a lazy door. */
  readonly loaded: boolean;
}

const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
  .map((path) => path.replace(/\.ts$/, ''))
  .sort();
const imports = new Map(files.map((file) => [file, importsOf(file)]));

/** Source without comments; what stands in texts stays, and no text of ours says `import … from`. */
function sourceOf(file: string): string {
  return readFileSync(join(ROOT, `${file}.ts`), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '');
}

function importsOf(file: string): Import[] {
  const source = sourceOf(file);
  const resolved = (to: string) =>
    to.startsWith('.') ? relative(ROOT, join(ROOT, dirname(file), to)) : to;
  const statics = [
    ...source.matchAll(/^(?:import|export)\s+([^;'"]*?\bfrom\s*)?['"]([^'"]+)['"]/gm),
  ].map(([, clause = '', to = '']) => ({ to: resolved(to), loaded: !isTypeOnly(clause) }));
  const lazy = [...source.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)].map(([, to = '']) => ({
    to: resolved(to),
    loaded: false,
  }));
  return [...statics, ...lazy];
}

function isTypeOnly(clause: string): boolean {
  if (/^type\b/.test(clause)) return true;
  const names = /^\{([^}]*)\}\s*from/.exec(clause)?.[1];
  if (names === undefined) return false;
  const listed = names.split(',').filter((name) => name.trim() !== '');
  return listed.every((name) => /^\s*type\s/.test(name));
}

const isOurs = (to: string) => files.includes(to);
const isNode = (to: string) => to.startsWith('node:') || builtinModules.includes(to);
const packageOf = (to: string) =>
  to
    .split('/')
    .slice(0, to.startsWith('@') ? 2 : 1)
    .join('/');
const room = (file: string) =>
  file.startsWith('system/') ? file : (/^(client\/transport|[^/]+)/.exec(file)?.[0] ?? '');

/** Every import of files in `from` to something that `banned` says yes to. */
function violations(from: (file: string) => boolean, banned: (to: string) => boolean): string[] {
  return [...imports]
    .filter(([file]) => from(file))
    .flatMap(([file, list]) =>
      list.filter(({ to }) => banned(to)).map(({ to }) => `${file} → ${to}`),
    );
}

/** All that is loaded when `file` is: files and packages, with everything they load. */
function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  for (const { to, loaded } of imports.get(file) ?? []) {
    if (!loaded || seen.has(to)) continue;
    seen.add(to);
    loadedBy(to, seen);
  }
  return seen;
}

const inRooms =
  (...rooms: string[]) =>
  (file: string) =>
    rooms.includes(room(file));

test('the import graph was read: what looks like a file of ours is one', () => {
  expect(files).toContain('commands/list');
  expect(imports.get('commands/list')?.map(({ to }) => to)).toContain('client/pages');
  expect(loadedBy('program')).toContain('commander');
  const unknown = violations(
    () => true,
    (to) =>
      !isOurs(to) && !isNode(to) && /^(\.|[a-z-]+\/[a-z-]+$)/.test(to) && inRooms(...rooms)(to),
  );
  expect(unknown).toEqual([]);
});

const rooms = [...new Set(files.map(room))];
const packages = (to: string) => !isOurs(to) && !isNode(to) && !rooms.includes(room(to));

describe('direction', () => {
  test('the client side does not know the server, but for the lazy door', () => {
    const own = (file: string) => room(file) !== 'server';
    expect(violations(own, inRooms('server'))).toEqual([
      'commands/serve/token → server/service',
      'context → server/service',
      'system/process → server/service',
    ]);
  });

  const shared = [
    'contract',
    'here-event',
    'json',
    'loopback',
    'qr-matrix',
    'system/socket-progress',
  ];

  test('of ours the server knows the contract and the leaves it shares with the client', () => {
    const other = (to: string) => isOurs(to) && room(to) !== 'server' && !shared.includes(to);
    expect(violations(inRooms('server'), other)).toEqual([]);
  });

  test('what both sides share knows nothing of ours', () => {
    expect(violations((file) => shared.includes(file), isOurs)).toEqual([]);
  });

  test('what serves commands knows neither them nor program, main and system', () => {
    expect(
      violations(
        inRooms(
          'client',
          'client/transport',
          'profile',
          'input',
          'delivery',
          'child',
          'terminal',
          'completion',
        ),
        inRooms('commands', 'program', 'main', 'system/process', 'session'),
      ),
    ).toEqual([]);
  });

  test('client and transport know no streams, terminals, profiles or secrets', () => {
    expect(
      violations(
        inRooms('client', 'client/transport'),
        inRooms('terminal', 'profile', 'input', 'delivery', 'child', 'context', 'options'),
      ),
    ).toEqual([]);
    expect(violations(inRooms('client/transport'), inRooms('client'))).toEqual([]);
  });

  test('profiles know neither client, terminal nor secrets', () => {
    expect(
      violations(inRooms('profile'), inRooms('client', 'terminal', 'input', 'delivery', 'child')),
    ).toEqual([]);
  });

  test('nothing knows main, and commands do not know each other', () => {
    // What the launcher loads of it all.
    const others = (file: string) => file !== 'entry';
    expect(violations(others, inRooms('main', 'index'))).toEqual([]);
    // A word with words of its own (`serve token`) has a room for them, which only it and they know.
    const word = (file: string) => file.split('/')[1];
    const strangers = [...imports.keys()].filter(inRooms('commands')).flatMap((file) =>
      violations(
        (from) => from === file,
        (to) => inRooms('commands', 'program')(to) && word(to) !== word(file),
      ),
    );
    expect(strangers).toEqual([]);
  });

  test('nothing imports in a circle', () => {
    const circular = files.filter((file) => loadedBy(file).has(file));
    expect(circular).toEqual([]);
  });
});

test('process and console are said in system.ts alone', () => {
  const saying = files.filter((file) => /(?<![\w.'-])(process|console)\s*\./.test(bare(file)));
  expect(saying).toEqual(['system/process']);
  expect(
    violations(
      () => true,
      (to) => /^(node:)?(process|console)$/.test(to),
    ),
  ).toEqual([]);
});

/** Source without texts either. */
function bare(file: string): string {
  return sourceOf(file).replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''");
}

test('the client side never touches the globals of fetch, which cost 30 ms on Node 20', () => {
  const touching = files.filter(
    (file) =>
      room(file) !== 'server' &&
      /\b(new (Request|Response|Headers|FormData)\b|fetch\()/.test(bare(file)),
  );
  expect(touching).toEqual([]);
});

describe('third-party packages', () => {
  test('are imported in one file each', () => {
    const found: Record<string, string[]> = {};
    for (const [file, list] of imports)
      for (const { to } of list.filter((one) => packages(one.to)))
        found[packageOf(to)] = [...new Set([...(found[packageOf(to)] ?? []), file])];
    const { commander = [], hono = [], valibot = [], 'qrcode-terminal': qr, ...others } = found;
    const outside = (list: string[], ...allowed: string[]) =>
      list.filter((file) => !inRooms(...allowed)(file));
    expect(outside(commander, 'program', 'options', 'commands', 'completion')).toEqual([]);
    expect(outside(hono, 'server')).toEqual([]);
    expect(outside(valibot, 'server')).toEqual(['client/client', 'contract']);
    expect(qr).toEqual(['qr-matrix']);
    expect(Object.entries(others).filter(([, list]) => list.length > 1)).toEqual([]);
    expect(others).toMatchObject({
      chalk: ['terminal/colour'],
      conf: ['profile/store'],
      inquirer: ['terminal/prompt'],
      postgres: ['server/store/postgres'],
      undici: ['client/transport/undici'],
    });
  });

  test('heavy ones, and the server, are loaded by no command until it needs them', () => {
    const heavy = new Set([
      'undici',
      'conf',
      'inquirer',
      'chalk',
      'qrcode-terminal',
      'hono',
      'libsql',
      '@valibot/to-json-schema',
      'postgres',
    ]);
    const starts = files.filter((file) =>
      inRooms('main', 'program', 'commands', 'system/process')(file),
    );
    const loading = starts.flatMap((file) =>
      [...loadedBy(file)]
        .filter(
          (to) => heavy.has(packageOf(to)) || room(to) === 'server' || to.startsWith('@hono/'),
        )
        .map((to) => `${file} → ${to}`),
    );
    expect(loading).toEqual([]);
  });

  test('a service on SQLite does not load what speaks to PostgreSQL', () => {
    expect(loadedBy('server/service')).toContain('server/store/sqlite');
    expect(loadedBy('server/service')).not.toContain('postgres');
  });

  test('main and system load none at all, not even commander', () => {
    expect([...loadedBy('main'), ...loadedBy('system/process')].filter(packages)).toEqual([]);
  });
});
