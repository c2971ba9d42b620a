// Imports of files that are not TypeScript of the program, for the build and for tests, which load src through vite.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';

const asItIs = async (file) => exported(await textOf(file));

/** By the end of an import: what makes the module of that file. */
const makers = {
  // The minified script as a text.
  '.ts?script': async (file, use) => exported(await scriptOf(file, use)),
  // Texts without white space.
  '.json?raw': async (file) => exported(JSON.stringify(JSON.parse(await textOf(file)))),
  '.css?raw': async (file) => exported(smaller(await textOf(file))),
  '.txt?raw': asItIs,
  '.bash?raw': asItIs,
  '.fish?raw': asItIs,
  '.ps1?raw': asItIs,
  '.sql?raw': asItIs,
  '.zsh?raw': asItIs,
  // A list of lines in the order of the alphabet, in a quarter of the space.
  '.txt?lines': async (file) => decoder(frontCoded((await textOf(file)).trim().split('\n'))),
};

/** @param bundled receives the modules of the scripts, whose licences go into the build */
export function texts(bundled = new Set()) {
  const maker = (id) => Object.entries(makers).find(([end]) => id.endsWith(end))?.[1];
  return {
    name: 'texts',
    enforce: 'pre',
    // Its cache does not know the modules of a bundle.
    configureVitest({ experimental_defineCacheKeyGenerator: define }) {
      define(({ id }) => (maker(id) === undefined ? undefined : false));
    },
    resolveId(source, importer = '') {
      if (source.startsWith('.') && maker(source)) return join(dirname(importer), source);
    },
    async load(id) {
      const file = id.replace(/\?.*/, '');
      const code = await maker(id)?.(file, (module) => {
        bundled.add(module);
        this.addWatchFile(module);
      });
      return code && { code, moduleType: 'js' };
    },
  };
}

/**
 * The words of the pages without the notes for translators, and other languages than English without the keys, which
 * would be 17 KiB of the package. As CommonJS: a service needs few of them, and rolldown runs such a module when it is
 * first asked for, also within a chunk. vite can read them by itself.
 */
export function languages() {
  return {
    name: 'languages',
    load: {
      filter: { id: /\/page\/locales\/[\w-]+\.json$/ },
      async handler(id) {
        const read = async (file) => JSON.parse(await textOf(file));
        const english = join(dirname(id), 'en.json');
        const notes = await read(english);
        const keys = Object.keys(notes).filter((key) => !key.startsWith('@'));
        const strings = await read(id);
        const parsed = (value) => `JSON.parse(${JSON.stringify(JSON.stringify(value))})`;
        const code =
          id === english
            ? `module.exports = ${parsed(Object.fromEntries(keys.map((key) => [key, notes[key]])))};`
            : `const strings = ${parsed(keys.map((key) => strings[key]))};
module.exports = Object.fromEntries(Object.keys(require('./en.json')).map((key, at) => [key, strings[at]]));`;
        return { code, moduleType: 'js' };
      },
    },
  };
}

const textOf = (file) => readFile(file, 'utf8');
const exported = (text) => `export default ${JSON.stringify(text)};`;

async function scriptOf(file, use) {
  const bundle = await rolldown({
    input: file,
    platform: 'browser',
    logLevel: 'warn',
    // Packages only export: what a script does not use of them is not written.
    treeshake: { moduleSideEffects: [{ test: /node_modules/, sideEffects: false }] },
    plugins: [texts(), { name: 'silent-errors', renderChunk: silentErrors }],
    checks: { pluginTimings: false },
  });
  const { output } = await bundle.generate({
    format: 'iife',
    minify: true,
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  await bundle.close();
  const [{ code, moduleIds }] = output;
  moduleIds.forEach(use);
  // Within an element, this would end it.
  if (/<\/script|<!--/i.test(code)) throw new Error(`${file} cannot be written into a page`);
  return code.trim();
}

/**
 * Removes the messages of errors, 2 KiB of a script, as pages show words of their own: `new TypeError('…')`, and all but
 * the reason of `new AgeError('header', '…')`.
 */
function silentErrors(code) {
  const messages = [];
  const visit = (node) => {
    if (typeof node?.type !== 'string') return;
    const { type, callee, arguments: given = [] } = node;
    if (type === 'NewExpression' && /^(?:Age|Type|Range)?Error$/.test(callee.name)) {
      const [first, ...more] = given;
      const dropped = callee.name === 'AgeError' ? more : given;
      const from = callee.name === 'AgeError' ? first?.end : first?.start;
      if (dropped.length > 0) messages.push([from, dropped.at(-1).end]);
      return;
    }
    for (const child of Object.values(node).flat()) visit(child);
  };
  visit(this.parse(code));
  for (const [from, to] of messages.sort(([one], [other]) => other - one))
    code = code.slice(0, from) + code.slice(to);
  return code;
}

/** A style sheet without comments and needless white space, which strings of ours do not have. */
function smaller(css) {
  return css
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .replace(/: /g, ':')
    .replaceAll(';}', '}')
    .trim();
}

/** Each line as how many characters it has in common with the one before, and the rest of it. */
function frontCoded(lines) {
  return lines.map((line, at) => {
    const before = lines[at - 1] ?? '';
    let shared = 0;
    while (shared < 9 && shared < line.length && line[shared] === before[shared]) shared++;
    if (/\d/.test(line)) throw new Error(`"${line}" has a digit, which is how another line begins`);
    return shared + line.slice(shared);
  });
}

function decoder(coded) {
  return `let line = '';
export default ${JSON.stringify(coded.join(''))}.match(/\\d\\D*/g).map((one) => line = line.slice(0, one[0]) + one.slice(1));`;
}
