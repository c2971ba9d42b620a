// Bundles src into CommonJS chunks: an ES module takes 6 ms more to start on Node 20. A run reads only the chunks of its
// command (docs/performance.md).
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';
import { viteDynamicImportVarsPlugin, viteImportGlobPlugin } from 'rolldown/experimental';
import { narrow } from './narrow.mjs';
import { languages, texts } from './texts.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** The modules of the scripts of the page. */
const inPages = new Set();
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

export default defineConfig({
  input: {
    load: join(root, 'src/platform/compile-cache.ts'),
    start: join(root, 'src/main.ts'),
  },
  platform: 'node',
  // Otherwise the entry is a file of its own that names what it exports from its chunk.
  preserveEntrySignatures: 'allow-extension',
  external: ['libsql'],
  transform: {
    define: {
      __VERSION__: JSON.stringify(version),
    },
  },
  plugins: [
    narrow(),
    texts(inPages),
    languages(),
    // An `import()` of a language by its code, as vite has it too.
    viteDynamicImportVarsPlugin(),
    viteImportGlobPlugin(),
    ascii(),
    notices(),
  ],
  onLog: failing,
  output: {
    dir: join(root, 'dist'),
    format: 'cjs',
    // An `import()` of what is not bundled would load all of Node's ES module loader.
    dynamicImportInCjs: false,
    cleanDir: true,
    // The name of an error is that of its class, also in the libraries, and stands in the log of the service.
    minify: {
      compress: true,
      mangle: { keepNames: { function: false, class: true } },
      codegen: true,
    },
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    codeSplitting: { groups: together() },
  },
});

/** Files that nearly every run loads are put into one chunk with their imports: each chunk takes 0.4 ms to find and read. */
function together() {
  const chunks = {
    // Loaded before all others, which take it from there.
    load: [
      'platform/compile-cache',
      'platform/files/user-folder',
      'platform/descriptors',
      'platform/print-version',
      'platform/package-version',
    ],
    streams: [
      'platform/stdio',
      'platform/files/abort',
      // For age and the service, or age and what is taken, each of which is loaded without the other.
      'age/format/in-chunks',
      'age/format/armor',
    ],
    start: [
      'main',
      'commands/program',
      'commands/planned',
      'platform/errors',
      'platform/interrupts',
      'cli/options',
      'contract/api',
      'age/age-error',
      'age/link-key',
      'cli/source',
      'cli/passphrase',
      'cli/ask-until',
      'cli/random-secret',
      'client/notification',
      'contract/json',
      'words/grammar',
    ],
    push: ['commands/push'],
    instance: [
      'profile/references',
      'profile/sources',
      'profile/receipts',
      'age/manifest',
      'age/sealed-with',
      'client/item',
      'client/link',
      'client/pages',
      'keep/load-request-keys',
      'deliver/print-result',
      'deliver/deliver-link',
      'cli/agent',
      'cli/in-words',
      'cli/terminal/output',
      'cli/terminal/wording',
    ],
    failure: ['client/meaning', 'client/repeat'],
    'report-error': ['cli/report-error', 'keep/print-error'],
    taking: [
      'commands/get/run',
      'deliver/place',
      'deliver/deliver',
      'deliver/ways',
      'keep/rescue-store',
      'keep/kept',
      'take/decryption-keys',
      'take/retrieve',
      'take/open-push',
    ],
    share: [
      'commands/push/choose-target',
      'commands/push/run',
      'send/content',
      'send/create',
      'send/draft',
      'send/expiry',
    ],
    age: ['age/age', 'age/key', 'age/key-proof'],
    table: ['cli/terminal/table', 'cli/terminal/text-width'],
    undici: ['client/transport/undici', 'client/transport/connect-options'],
  };
  const gone = Object.values(chunks)
    .flat()
    .filter((file) => !existsSync(join(root, `src/${file}.ts`)));
  if (gone.length > 0) throw new Error(`no such files in src: ${gone.join(', ')}`);
  const ours = Object.entries(chunks).map(([name, files], at) => ({
    name,
    test: (id) => files.some((file) => id === join(root, `src/${file}.ts`)),
    priority: Object.keys(chunks).length - at,
  }));
  return [
    ...ours,
    // Otherwise named `source`, after its folder.
    { name: 'chalk', test: /\/node_modules\/chalk\// },
    // Read with English when a service starts: an upgrade may take files away or replace them under a running one.
    { name: 'languages', test: /\/page\/locales\// },
  ];
}

/**
 * Escapes what is not ASCII in chunks: V8 would hold their source in two bytes a character, and compile it more slowly. Not
 * in languages and questions, which become longer by it.
 */
function ascii() {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return {
    name: 'ascii',
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle))
        if (chunk.type === 'chunk' && !/^(languages|prompt)/.test(chunk.fileName))
          chunk.code = chunk.code.replace(/[\u0080-\uffff]/g, escaped);
    },
  };
}

/** rolldown only warns about an import that cannot be resolved, and keeps it. */
function failing(level, log, handle) {
  // `--version` loads another chunk than those with the static imports.
  if (log.code === 'INEFFECTIVE_DYNAMIC_IMPORT') return;
  handle(log.code === 'UNRESOLVED_IMPORT' ? 'error' : level, log);
}

/** Writes the licences of the bundled packages into dist, as they require. */
function notices() {
  return {
    name: 'third-party-notices',
    writeBundle(_options, bundle) {
      const ids = Object.values(bundle).flatMap((chunk) => chunk.moduleIds ?? []);
      const folders = new Set(
        [...ids, ...inPages].map(packageFolder).filter((folder) => folder !== undefined),
      );
      const texts = [...[...folders].map(notice).sort(), WORDS];
      writeFileSync(join(root, 'dist/THIRD-PARTY-NOTICES'), texts.join(`\n${'-'.repeat(80)}\n\n`));
    },
  };
}

/** The licence of src/age/words.txt. */
const WORDS = `EFF large word list for passphrases (CC BY 3.0 US)

Copyright 2016 Electronic Frontier Foundation, by Joseph Bonneau; https://www.eff.org/dice
https://creativecommons.org/licenses/by/3.0/us/
Changed: without the numbers of dice, and written in a shorter form.
`;

/** The innermost package of a module; undefined for our own files. */
function packageFolder(id) {
  return /^\0?(.*node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(id)?.[1];
}

function notice(folder) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const {
    name,
    version,
    license = manifest.licenses?.map(({ type }) => type).join(', '),
  } = manifest;
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  return `${name} ${version} (${license})\n${text}`;
}
