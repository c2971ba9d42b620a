import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { wholeProgram } from '../src/commands/program';
import type { Context } from '../src/platform/context';
import { MARKERS, systems } from '../src/platform/surroundings';
import { facts } from '../src/words/facts';
import { hints } from '../src/words/hints';

// What the references of .config/rooms cannot say. The order of the rooms is theirs: `tsc -b` refuses an import upwards.

const ROOT = join(import.meta.dirname, '..', 'src');
const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
  .map((path) => path.replace(/\.ts$/, ''))
  .sort();
const sources = new Map(
  files.map((file) => {
    const source = readFileSync(join(ROOT, `${file}.ts`), 'utf8');
    return [file, source.replace(/\/\*\*?\s[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')];
  }),
);
/** What each file imports, and whether that is evaluated with it: no type, and no `import()`. */
const imports = new Map(
  [...sources].map(([file, source]) => {
    const path = (to = '') => (to.startsWith('.') ? relative(ROOT, join(ROOT, dirname(file), to)) : to);
    const found = source.matchAll(
      /^(?:import|export)\s+(type\s)?([^;'"]*?\bfrom\s*)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm,
    );
    const list = [...found].map(([, type, clause = '', to, lazy]) => ({
      to: path(to ?? lazy),
      eager: !lazy && !type && !/^\{(\s*type [^,}]*,?)*\s*\}\s*from/.test(clause),
    }));
    return [file, list.filter((one) => !/\.json$|\?(script|raw|lines)$/.test(one.to))];
  }),
);

/** Everything that a file reaches, over all imports or over those that are evaluated with it. */
function reached(file: string, eagerly: boolean, seen = new Set<string>()): Set<string> {
  for (const { to, eager } of imports.get(file) ?? [])
    if ((eager || !eagerly) && !seen.has(to)) reached(to, eagerly, seen.add(to));
  return seen;
}

/** `file → import` for each import of ours that `wrong` says yes to. */
const arrows = (wrong: (from: string, to: string) => boolean) =>
  [...imports].flatMap(([from, list]) =>
    list.filter(({ to }) => imports.has(to) && wrong(from, to)).map(({ to }) => `${from} → ${to}`),
  );

test('a poll of a test says what it waits for', () => {
  const tests = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
  const polls = tests
    .filter((file) => file.endsWith('.ts'))
    .flatMap(
      (file) => readFileSync(join(import.meta.dirname, file), 'utf8').match(/\bpoll\([\s\S]*?\)\s*\.(?:not|to)/g) ?? [],
    );
  expect(polls.length).toBeGreaterThan(50);
  expect(polls.filter((poll) => !/\bmessage:|, at\)/.test(poll))).toEqual([]);
});

test('variables of ours are read by one function, which takes off a line end', () => {
  const own = /\benv\.(?:PWPUSH_|PGPASSWORD|DATABASE_URL)/;
  expect([...sources].flatMap(([file, source]) => (own.test(source) ? file : []))).toEqual([]);
});

test('the service is known through its door, and its rooms import downwards', () => {
  const inside = (file: string) => file.startsWith('server/');
  expect(arrows((from, to) => inside(to) && !inside(from))).toEqual(['profile/load-service → server/service']);
  const floors = ['trust', 'requests', 'pushes', 'page', 'http', 'rules', 'owners', 'keys', 'ops', 'store'];
  const floor = (file: string) => floors.findIndex((name) => file.startsWith(`server/${name}/`));
  expect(arrows((from, to) => floor(to) >= 0 && floor(to) < floor(from))).toEqual([]);
});

test('commands do not import each other', () => {
  const word = (file: string) => /^commands\/(?!(?:program|planned)$)([^/]+)/.exec(file)?.[1];
  const strangers = arrows((from, to) => word(to) !== undefined && word(from) !== word(to));
  // With no instance configured, push offers to log in.
  expect(strangers.filter((one) => !one.startsWith('commands/program →'))).toEqual([
    'commands/push/choose-target → commands/login',
  ]);
});

test('nothing imports in a circle, and a base name means one thing', () => {
  expect(files.filter((file) => reached(file, false).has(file))).toEqual([]);
  // The journey of each command is its run.
  const journeys = /^commands\/\w+\/run$/;
  const names = files.filter((one) => !journeys.test(one)).map((file) => file.replace(/.*\//, ''));
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test('below commands only cli/ and words/ name an option, and nothing takes a bag of them', async () => {
  const longs = ({ commands, options }: Command): string[] => [
    ...options.flatMap(({ long }) => long ?? []),
    ...commands.flatMap((one) => longs(one as Command)),
  ];
  const ours = longs(await wholeProgram({ version: '', env: {} } as Context));
  expect(ours).toContain('--views');
  const option = new RegExp(`(?<![\\w-])(?:${[...new Set(ours)].join('|')})(?![\\w-])`);
  // Keyrings and CI systems are reached through programs that have options of their own.
  const apart = /^(commands|cli|words|server)\/|^main$|^profile\/system-keyring$|^platform\/surroundings$/;
  const below = files.filter((file) => !apart.test(file));
  const texts = (file: string) => (sources.get(file) ?? '').match(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g) ?? [];
  expect(below.filter((file) => texts(file).some((text) => option.test(text)))).toEqual([]);
  const bag = /import[^;]*\b(Options|GlobalOptions|Values)\b[^;]*cli\/(options|declare)'/;
  expect(below.filter((file) => bag.test(sources.get(file) ?? ''))).toEqual([]);
});

test('the words of errors are in words/, but for those about what was typed', () => {
  /** Rooms that have sentences of their own. */
  const exempt = /^(server|words)\//;
  // A call and what is in its parentheses, three deep.
  const deeper = ['', '', ''].reduce((inner) => `(?:[^()]|\\(${inner}\\))*`, '[^()]*');
  const calls = new RegExp(`\\b(?:failedError|new CliError|advising|and|with)\\(${deeper}\\)|\\bhints: ['\`]`, 'g');
  const told = /^\w+\(\s*['`]|^new CliError\(\s*'\w+',\s*['`]|^hints: /;
  const sentence = /(['`])(?:(?!\1)[^\\\n]|\\.)*\w \w(?:(?!\1)[^\\\n]|\\.)*\1/;
  const telling = files.filter((file) => {
    const found = exempt.test(file) ? [] : (sources.get(file) ?? '').match(calls);
    return found?.some((call) => {
      const about = call.replace(/\bsubject: `[^`]*`/, '');
      return !/^new CliError\(\s*'usage'/.test(call) && (told.test(call) || sentence.test(about));
    });
  });
  expect(telling).toEqual([]);
  const others = [...sources].filter(([file]) => !file.startsWith('words/')).map(([, of]) => of);
  const rows = [...Object.keys(facts), ...Object.keys(hints)];
  expect(rows.filter((row) => !others.some((source) => source.includes(`'${row}'`)))).toEqual([]);
});

test('the name of an exported type means one thing', () => {
  const names = [...sources.values()].flatMap((source) =>
    Array.from(source.matchAll(/^export (?:interface|type|class) (\w+)/gm), ([, name]) => name),
  );
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test('only platform/surroundings.ts reads the variables that say where pwpush runs', () => {
  const variables = [...Object.values(systems).flatMap((system) => system.variables), ...MARKERS];
  const reading = new RegExp(
    `['"](?:${variables.join('|')})['"]|env\\.(?:${variables.join('|')}|TERM|LC_ALL|LC_CTYPE|LANG)\\b`,
  );
  expect(files.filter((file) => reading.test(sources.get(file) ?? ''))).toEqual(['platform/surroundings']);
});

test('only platform/process.ts uses process, nothing uses console, and the client no global fetch', () => {
  const code = (file: string) => (sources.get(file) ?? '').replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''");
  const using = (pattern: RegExp) => files.filter((file) => pattern.test(code(file)));
  expect(using(/(?<![\w.'-])(process|console)\s*\./)).toEqual(['platform/process']);
  // Where only AbortSignal.any knows it, Node.js 20 collects it, and it never aborts: `limited` in platform/files/abort.
  expect(using(/AbortSignal\.timeout\(/)).toEqual([]);
  // They cost 30 ms on Node.js 20.
  const fetching = using(/\b(new (Request|Response|Headers|FormData)\b|fetch\()/);
  expect(fetching.filter((file) => !file.startsWith('server/'))).toEqual([]);
});

test('no table of Unicode is loaded with a module of the command line', () => {
  // Each `\\p{…}` takes up to half a millisecond where its expression is made.
  const atStart = /^(?:export )?const \w+(?::[^=\n]+)? =\s*(?:\/\/[^\n]*\s*)?\/[^\n]*\\p\{/m;
  expect('const zero =\n  /[\\p{Mn}]/u;').toMatch(atStart);
  const loading = files.filter((file) => atStart.test(sources.get(file) ?? ''));
  expect(loading.filter((file) => !file.startsWith('server/'))).toEqual([]);
});

test('a package is imported in one file, and a heavy one when it is needed', () => {
  const users = new Map<string, Set<string>>();
  for (const [file, list] of imports)
    for (const { to } of list.filter((one) => !imports.has(one.to) && !isBuiltin(one.to))) {
      const name = to.split('/', to.startsWith('@') ? 2 : 1).join('/');
      users.set(name, (users.get(name) ?? new Set()).add(file));
    }
  const several = [...users].filter(([, of]) => of.size > 1).map(([name]) => name);
  // Commander declares commands, Hono is the service's frame, undici that of a room, and valibot the language of schemas.
  expect(several.sort()).toEqual(['commander', 'hono', 'undici', 'valibot']);
  expect([...(users.get('undici') ?? [])].map(dirname)).toEqual(Array(2).fill('client/transport'));
  const heavy = /^(undici|conf|inquirer|chalk|qrcode-terminal|hono|@hono|libsql|postgres)(\/|$)|^server\//;
  const starts = files.filter((file) => /^(main$|commands\/)/.test(file));
  const loading = starts.filter((file) => [...reached(file, true)].some((to) => heavy.test(to)));
  expect([loading, starts.length > 30]).toEqual([[], true]);
  // Loaded by the first exchange of an identity token.
  expect(reached('server/service', true)).not.toContain('jose');
});

const REPOSITORY = join(ROOT, '..');
const text = (path: string) => readFileSync(join(REPOSITORY, path), 'utf8');
const tops = ['.ci', '.config', 'action', 'bin', 'deploy', 'docs', 'man', 'skills', 'src', 'test'];
/** The paths of all files but those that are installed or built. */
const tree = [
  ...readdirSync(REPOSITORY),
  ...tops.flatMap((top) =>
    readdirSync(join(REPOSITORY, top), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(REPOSITORY, join(entry.parentPath, entry.name))),
  ),
];
const linesOf = (texts: readonly string[]) => texts.join('').split('\n').length - 1;
/** What a table says, and what the files have, if that is more than `share` of it apart. */
function deviation(row: string, figure: string, lines: number, share: number): string[] {
  const listed = Number(figure.replaceAll(',', ''));
  return Math.abs(lines - listed) <= share * listed ? [] : [`${row} has ${lines}, not ${figure}`];
}

test('a room has the lines that its row in docs/architecture.md says, within a twentieth', () => {
  const [, rooms = ''] = text('docs/architecture.md').split('\n## Rooms\n');
  const rows = [...rooms.matchAll(/^\| `(src\/\S*(?:\/|\.ts))` \| ([\d,]+)\b/gm)];
  const isIn = (path: string, row: string) =>
    row.endsWith('/*.ts') ? dirname(path) === dirname(row) : path.startsWith(row);
  const names = rows.map(([, row = '']) => row).sort((a, b) => b.length - a.length);
  // The folder of a row can be below that of another one.
  const roomOf = (path: string) => names.find((row) => isIn(path, row));
  const paths = tree.filter((path) => /^src\/.*\.ts$/.test(path));
  expect(paths.filter((path) => roomOf(path) === undefined)).toEqual([]);
  const wrong = rows.flatMap(([, row = '', figure = '']) => {
    const own = paths.filter((path) => roomOf(path) === row);
    return deviation(row, figure, linesOf(own.map(text)), 1 / 20);
  });
  expect(wrong).toEqual([]);
});

/** The files outside of the tests that a document means by the end of a path, which may have a star. */
function meant(name: string): string[] {
  const end = name.replaceAll('.', '\\.').replaceAll('*', '[^/]*');
  const file = new RegExp(`(?:^|/)${end}${name.endsWith('/') ? '[^/]+\\.ts' : ''}$`);
  return tree.filter((path) => !path.startsWith('test/') && file.test(path));
}

/** A function or a value at the top level of a source, with its comment; '' if there is none. */
function declaration(source: string, name: string): string {
  const comment = '(?:^/\\*\\*(?:[^*]|\\*(?!/))*\\*/\\n)?';
  const ofFunction = `^(?:export )?(?:async )?function ${name}\\b[^]*?^}\\n`;
  const ofValue = `^(?:export )?const ${name}\\b[^]*?;\\n(?=\\n|(?![^]))`;
  return new RegExp(`${comment}(?:${ofFunction}|${ofValue})`, 'm').exec(source)?.[0] ?? '';
}

test('own code has the lines that its row in docs/decisions.md says, within a tenth', () => {
  const quoted = (part: string) => Array.from(part.matchAll(/`([^`]+)`/g), ([, name = '']) => name);
  /** The sources that a row names, as `a.ts`, as `b/` or as `name` in `c.ts`; '' for one that is missing. */
  const sources = (part: string): string[] => {
    const [, names, of = ''] = /((?:`\w+`(?:, )?)+) in `([^`]+)`/.exec(part) ?? [];
    const files = quoted(part).filter((name) => /\.\w+$|\/$/.test(name));
    if (names === undefined) return files.flatMap((name) => (meant(name).length > 0 ? meant(name).map(text) : ['']));
    const source = meant(of).map(text).join('');
    return quoted(names).map((name) => declaration(source, name));
  };
  const rows = [...text('docs/decisions.md').matchAll(/^\| (.+?) \| ([\d,]+) \|/gm)];
  const wrong = rows.flatMap(([, row = '', figure = '']) => {
    const all = row.split('; ').flatMap(sources);
    if (all.includes('')) return [`${row} names what is not there`];
    return deviation(row, figure, linesOf(all), 1 / 10);
  });
  expect([wrong, rows.length > 30]).toEqual([[], true]);
});

test.each(['architecture', 'decisions', 'performance', 'promises', 'reliability'])(
  'docs/%s.md names files and folders that exist',
  (name) => {
    const named = text(`docs/${name}.md`).matchAll(/`([\w./-]+(?:\.(?:[cm]?ts|[cm]js|json|sql|txt|[1-9])|\/))`/g);
    const paths = Array.from(named, ([, path = '']) => `/${path}`);
    const missing = paths.filter(
      (path) =>
        !/NAME/.test(path) &&
        !tree.some((file) => (path.endsWith('/') ? `/${file}`.includes(path) : `/${file}`.endsWith(path))),
    );
    expect([missing, paths.length > 20]).toEqual([[], true]);
  },
);

test('the table of planted faults is made of their results', () => {
  const words = ['test/mutants.mjs', '--check'];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: join(ROOT, '..'), encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});
