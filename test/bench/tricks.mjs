// What each trick of the build and of src is worth: the same runs by builds without one, in turns with the build as it is.
// docs/performance.md says what the tricks are. A text of src that a trick is in and that is gone fails the build.
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import config from '../../.config/rolldown.config.mjs';
import { folder, ratio, table } from './runner.mjs';
import { startsOf } from './starts.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Heads of columns, by kinds of runs. */
const kinds = { push: 'push', get: 'get', help: '--help', version: '--version', pushWithCa: 'push with a CA file' };

/** In place of a text that stands once in a file. */
const edit = (file, text, instead) => ({ file: join(root, file), text, instead });
const withoutCache = edit('bin/pwpush.js', "'use strict';", "process.env.NODE_DISABLE_COMPILE_CACHE = '1';");

/** By name: how the build is without it. */
const tricks = {
  'nothing: the same build again': {},
  'kept compiled code': { edit: withoutCache },
  'chunks that are put together': { output: { codeSplitting: true } },
  'the text of a chunk in one piece': {
    edit: edit(
      'src/platform/compile-cache.ts',
      'Buffer.concat([HEAD, source, END]).toString()',
      'HEAD.toString() + source + END',
    ),
  },
  'minified chunks': { output: { minify: false } },
  'ASCII alone in chunks': { plugin: 'ascii' },
  'parts of undici, and all stand-ins': {
    isOff: () => true,
    edit: edit(
      'src/client/transport/undici.ts',
      "import buildConnector from 'undici/lib/core/connect.js'",
      "import { buildConnector } from 'undici'",
    ),
  },
  '`--liftoff-only`': { edit: edit('src/platform/compile-cache.ts', 'if (major < 22)', 'if (major < 0)') },
  '/dev/urandom in place of `node:crypto`': { edit: edit('src/client/client.ts', 'systemBytes() ??', '') },
  'standard input read at once': {
    edit: edit('src/platform/stdio.ts', 'yield* readAtOnce(kind, isNull(node, kind))', 'false'),
  },
  'the typed command declared alone': {
    edit: edit('src/commands/program.ts', 'word !== undefined && typed.length > 0', 'typed.length < 0'),
  },
  'flags of V8 once a connection is ready': {
    edit: edit(
      'src/platform/process.ts',
      '(options.connections ?? 1) > 1));',
      '(options.connections ?? 1) > 1)); connected();',
    ),
  },
  'a named CA tried alone': {
    edit: edit(
      'src/client/transport/connect-options.ts',
      'system === undefined ? [] : await nodeRoots(env)',
      'await nodeRoots(env)',
    ),
  },
  'small files without a stream': {
    edit: edit(
      'src/platform/private-folder.ts',
      'if (waits) return yield* piecesOf(fd)',
      "if (waits) return yield* (await import('node:fs')).createReadStream('', { fd })",
    ),
  },
  'short writes without a stream': {
    edit: edit('src/platform/stdio.ts', 'lazy(() => openDirectly(node, fd))', 'lazy(() => undefined)'),
  },
};

/** Puts the text of a trick in its place. */
function edited({ file, text, instead }, code) {
  const [before, after, ...more] = code.split(text);
  if (after === undefined || more.length > 0) throw new Error(`not once in ${file}: ${text}`);
  return before + instead + after;
}

/** The plugin for stand-ins without those that `isOff` says, by name; `found` gets the names of all. */
function narrowed(plugin, isOff, found) {
  const unless = (name, standIn) => {
    if (standIn == null) return;
    found.add(name);
    return isOff(name) ? undefined : standIn;
  };
  return {
    ...plugin,
    resolveId(source, importer) {
      return unless(
        `${source} in ${importer?.split('/node_modules/').at(-1).split('/')[0]}`,
        plugin.resolveId.call(this, source, importer),
      );
    },
    load(id) {
      const text = plugin.load.call(this, id);
      return id.startsWith('\0') ? text : unless(id.split('/node_modules/').at(-1), text);
    },
  };
}

/** Builds into a folder of its own; returns the command. */
async function built({ edit, output, plugin, isOff = () => false }, found) {
  const to = mkdtempSync(join(folder, 'without-'));
  for (const name of ['bin', 'package.json']) cpSync(join(root, name), join(to, name), { recursive: true });
  const script = join(to, 'bin/pwpush.js');
  const isInBin = edit === withoutCache;
  if (isInBin) writeFileSync(script, edited(edit, readFileSync(script, 'utf8')));
  let left = edit && !isInBin;
  const editing = {
    name: 'without',
    transform(code, id) {
      if (!left || id !== edit.file) return;
      left = false;
      return edited(edit, code);
    },
    buildEnd(error) {
      if (!error && left) this.error(`not loaded: ${edit.file}`);
    },
  };
  const others = config.plugins.filter(({ name }) => name !== 'third-party-notices' && name !== plugin);
  if (plugin && others.length > config.plugins.length - 2) throw new Error(`no such plugin: ${plugin}`);
  const plugins = others.map((one) => (one.name === 'narrow' ? narrowed(one, isOff, found) : one));
  const bundle = await rolldown({ ...config, plugins: [editing, ...plugins], logLevel: 'warn' });
  await bundle.write({ ...config.output, ...output, dir: join(to, 'dist') });
  return [process.execPath, script];
}

/** A row for each trick: what runs take without it, to those with all. */
export async function withoutEach({ runs }) {
  const found = new Set();
  const programs = { now: await built({}, found) };
  const isOne = (name) => ({ isOff: (other) => other === name });
  const standIns = [...found].map((name) => [`stand-in ${name}`, isOne(name)]);
  const all = { ...tricks, ...Object.fromEntries(standIns), 'all stand-ins': { isOff: () => true } };
  for (const [name, trick] of Object.entries(all)) programs[name] = await built(trick, found);
  const { cases } = await startsOf(programs, runs, { chosen: Object.keys(kinds) });
  const rows = Object.keys(all).map((name, at) => {
    const cells = Object.keys(kinds).flatMap((kind) => {
      const [now, ...others] = cases[kind];
      return ['processor', 'milliseconds'].map((figure) => ratio(others[at], now, figure).toFixed(2));
    });
    return [name, ...cells];
  });
  const heads = Object.values(kinds).flatMap((name) => [`${name}: processor`, 'wall']);
  const how = `What a run takes without a trick, to one with all: medians of ${runs} interleaved runs`;
  return `${how}:\n\n${table(['without', ...heads], rows)}`;
}
