import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

// The direction of imports (docs/architecture.md, "Direction"), read from the source. Type imports count.

const ROOT = join(import.meta.dirname, '..', 'src');

interface Import {
  /** Relative to src and without its ending, or the name of a package. */
  readonly to: string;
  /** Evaluated together with the importing file: neither a type nor an `import()`. */
  readonly eager: boolean;
}

const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
  .map((path) => path.replace(/\.ts$/, ''))
  .sort();
const sources = new Map(
  files.map((file) => {
    const source = readFileSync(join(ROOT, `${file}.ts`), 'utf8');
    return [file, source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')];
  }),
);
const imports = new Map([...sources].map(([file, source]) => [file, importsOf(file, source)]));

function importsOf(file: string, source: string): Import[] {
  const path = (to: string) =>
    to.startsWith('.') ? relative(ROOT, join(ROOT, dirname(file), to)) : to;
  const eager = [...source.matchAll(/^(?:import|export)\s+([^;'"]*?\bfrom\s*)?['"]([^'"]+)['"]/gm)];
  const lazy = [...source.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)];
  return [
    ...eager.map(([, clause = '', to = '']) => ({ to: path(to), eager: !isType(clause) })),
    ...lazy.map(([, to = '']) => ({ to: path(to), eager: false })),
    // Scripts of pages are texts for the service.
  ].filter(({ to }) => !/\?(script|raw)$/.test(to));
}

function isType(clause: string): boolean {
  const names = /^\{([^}]*)\}\s*from/.exec(clause)?.[1]?.split(',') ?? [];
  return (
    clause.startsWith('type ') ||
    (names.length > 0 && names.every((name) => /^\s*(type\s|$)/.test(name)))
  );
}

const isOurs = (to: string) => imports.has(to);
const isPackage = (to: string) =>
  !isOurs(to) && !to.startsWith('node:') && !builtinModules.includes(to);
const packageOf = (to: string) => to.split('/', to.startsWith('@') ? 2 : 1).join('/');

/** `file → import` for each import of ours that `wrong` says yes to. */
function arrows(wrong: (from: string, to: string) => boolean): string[] {
  return [...imports].flatMap(([from, list]) =>
    list.filter(({ to }) => isOurs(to) && wrong(from, to)).map(({ to }) => `${from} → ${to}`),
  );
}

/** Everything that is evaluated when `file` is: files and packages. */
function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  for (const { to, eager } of imports.get(file) ?? []) {
    if (!eager || seen.has(to)) continue;
    seen.add(to);
    loadedBy(to, seen);
  }
  return seen;
}

/** The rooms from top to bottom; a file imports from its own line and from those below. */
const floors = [
  /^(entry|answer)$/,
  /^(system\/process|index)$/,
  /^main$/,
  /^program$/,
  /^(commands|completion|help)\//,
  /^(report-error|load-service|waiting)$/,
  /^session$/,
  /^child\//,
  /^delivery\//,
  /^input\//,
  /^terminal\//,
  /^profile\//,
  /^client\/[^/]+$/,
  /^client\/transport\//,
  // The service and its pages recognize armor, keys and recipients too.
  /^age\/(?!(?:armored|bech32|link-key)$)/,
  /^system\/stdio$/,
  /^options$/,
  /^context$/,
];
const serverFloors = [
  /^server\/service$/,
  /^server\/here\//,
  /^server\/compose$/,
  /^server\/app$/,
  /^server\/page\//,
  /^server\/http\//,
  /^server\/rules\//,
  /^server\/keys\//,
  /^server\/ops\//,
  /^server\/store\//,
];

const floorOf = (file: string, from: readonly RegExp[]) => {
  const floor = from.findIndex((pattern) => pattern.test(file));
  return floor < 0 ? from.length : floor;
};
const isServer = (file: string) => file.startsWith('server/');
/** Shared by both sides. */
const leaves = files.filter(
  (file) => !isServer(file) && imports.get(file)?.every(({ to }) => !isOurs(to)),
);

describe('direction', () => {
  test('the imports were found', () => {
    expect(imports.get('commands/list')?.map(({ to }) => to)).toContain('client/pages');
    expect(loadedBy('program')).toContain('commander');
  });

  test('a room imports from lower rooms', () => {
    const up = (from: string, to: string, rooms: readonly RegExp[]) =>
      floorOf(to, rooms) < floorOf(from, rooms);
    expect(arrows((from, to) => up(from, to, floors))).toEqual([]);
    expect(arrows((from, to) => isServer(from) && up(from, to, serverFloors))).toEqual([]);
  });

  test('the service is known through its door, and knows leaves of the rest', () => {
    expect(
      arrows((from, to) => !isServer(from) && isServer(to) && to !== 'server/service'),
    ).toEqual([]);
    expect(arrows((from, to) => isServer(from) && !isServer(to) && !leaves.includes(to))).toEqual(
      [],
    );
  });

  test('encryption is a room of its own, over node:crypto alone', () => {
    const room = files.filter((file) => file.startsWith('age/'));
    const outside = room.flatMap((file) =>
      (imports.get(file) ?? []).map(({ to }) => to).filter((to) => !room.includes(to)),
    );
    expect([...new Set(outside)]).toEqual(['node:crypto']);
  });

  test('commands do not import each other', () => {
    const word = (file: string) => /^commands\/([^/]+)/.exec(file)?.[1];
    const strangers = arrows(
      (from, to) => Boolean(word(from) && word(to)) && word(from) !== word(to),
    );
    // With no instance configured, push offers to log in.
    expect(strangers).toEqual(['commands/push/one → commands/login']);
  });

  test('nothing imports in a circle, types included', () => {
    const reached = (file: string, seen = new Set<string>()): Set<string> => {
      for (const { to } of imports.get(file) ?? [])
        if (isOurs(to) && !seen.has(to)) reached(to, seen.add(to));
      return seen;
    };
    expect(files.filter((file) => reached(file).has(file))).toEqual([]);
  });

  test('a base name means one thing', () => {
    const names = files.map((file) => file.split('/').at(-1));
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });
});

/** Source without comments and texts. */
const code = (file: string) =>
  (sources.get(file) ?? '').replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''");

test('only system/process.ts uses process, and nothing uses console', () => {
  const using = files.filter((file) => /(?<![\w.'-])(process|console)\s*\./.test(code(file)));
  expect(using).toEqual(['system/process']);
  const imported = [...imports].filter(([, list]) =>
    list.some(({ to }) => /^(node:)?(process|console)$/.test(to)),
  );
  expect(imported).toEqual([]);
});

test('the client side does not touch the globals of fetch, which cost 30 ms on Node 20', () => {
  const touching = /\b(new (Request|Response|Headers|FormData)\b|fetch\()/;
  expect(files.filter((file) => !isServer(file) && touching.test(code(file)))).toEqual([]);
});

describe('packages', () => {
  test('are imported in one file each', () => {
    const found = new Map<string, Set<string>>();
    for (const [file, list] of imports)
      for (const { to } of list.filter((one) => isPackage(one.to)))
        found.set(packageOf(to), (found.get(packageOf(to)) ?? new Set()).add(file));
    const several = [...found].filter(([, users]) => users.size > 1).map(([name]) => name);
    // Commander declares commands, Hono is the service's frame, and valibot the language of schemas.
    expect(several.sort()).toEqual(['commander', 'hono', 'valibot']);
    expect([...(found.get('hono') ?? [])].filter((file) => !isServer(file))).toEqual([]);
  });

  test('that are heavy, and the service, are loaded when they are needed', () => {
    const heavy =
      /^(undici|conf|inquirer|chalk|qrcode-terminal|hono|@hono|libsql|postgres|@valibot)(\/|$)|^server\//;
    const starts = files.filter((file) =>
      /^(main|program|commands\/.*|system\/process)$/.test(file),
    );
    const eager = starts.flatMap((file) =>
      [...loadedBy(file)].filter((to) => heavy.test(to)).map((to) => `${file} → ${to}`),
    );
    expect(eager).toEqual([]);
    expect([...loadedBy('main'), ...loadedBy('system/process')].filter(isPackage)).toEqual([]);
    expect([...loadedBy('server/service')].filter((to) => packageOf(to) === 'postgres')).toEqual(
      [],
    );
  });
});
