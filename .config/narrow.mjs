// What bundled packages ask of Node or bring along without our ever using it, left out: each costs a start time.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** By package: what stands in for a module of Node. */
const standIns = {
  undici: {
    // Invariants only, always called as a function; Node's own brings the printing of differences.
    'node:assert': `module.exports = (truth, message) => {
      if (!truth) throw message instanceof Error ? message : new Error(message ?? 'assertion failed');
    };`,
    // The one default it takes from there, and a class that none of our bodies has.
    'node:http': 'module.exports = { maxHeaderSize: 16384, IncomingMessage: class {} };',
    // NODE_DEBUG=undici would print paths and query strings, and with them tokens and passphrases.
    'node:util':
      'module.exports = Object.create(require("node:util"), { debuglog: { value: () => Object.assign(() => {}, { enabled: false }) } });',
  },
  conf: {
    // For options with a schema; the profiles are checked by us.
    'ajv/dist/2020.js': 'export class Ajv2020 {}',
    'ajv-formats': 'export default {};',
  },
  commander: {
    // For subcommands that are programs of their own; we have none.
    'node:child_process': 'module.exports = {};',
    // The same object; asking for it as a module makes Node prepare it for ES modules.
    'node:process': 'module.exports = process;',
  },
  '@inquirer/editor': {
    // 200 kB of character tables; we never open an editor.
    '@inquirer/external-editor': 'export const editAsync = undefined;',
  },
};

/** Files of packages that another takes the place of: its text, or what makes it. */
const replaced = {
  // We speak HTTP/1.1; HTTP/2 loads TLS, cryptography and 7 ms more.
  'undici/lib/dispatcher/client-h2.js':
    "module.exports = () => { throw new Error('HTTP/2 is not spoken'); };",
  // For bodies that are FormData or Blob; ours are strings and streams.
  'undici/lib/web/fetch/body.js':
    "module.exports = { extractBody() { throw new Error('such a body is not sent'); } };",
  'undici/lib/llhttp/llhttp-wasm.js': parserAsFile,
  'undici/lib/llhttp/llhttp_simd-wasm.js': parserAsFile,
};

const MARK = '\0stand-in:';

/** Puts the stand-ins in their places. The build fails if a package no longer asks for one of them. */
export function narrow() {
  const unused = new Set(Object.keys(replaced));
  for (const [of, modules] of Object.entries(standIns))
    for (const source of Object.keys(modules)) unused.add(`${of}:${source}`);
  return {
    name: 'narrow',
    resolveId(source, importer = '') {
      const of = inPackages(importer)?.match(/^(@[^/]+\/)?[^/]+/)?.[0];
      if (standIns[of]?.[source] === undefined) return;
      unused.delete(`${of}:${source}`);
      return `${MARK}${of}:${source}`;
    },
    load(id) {
      if (id.startsWith(MARK)) {
        const [of, ...source] = id.slice(MARK.length).split(':');
        return standIns[of][source.join(':')];
      }
      const file = inPackages(id);
      unused.delete(file);
      const replacement = replaced[file];
      return typeof replacement === 'function' ? replacement(this, id) : replacement;
    },
    buildEnd(error) {
      if (!error && unused.size > 0) this.error(`not used: ${[...unused].join(', ')}`);
    },
  };
}

/** A path below the innermost node_modules; undefined for our own files. */
function inPackages(id) {
  return /.*\/node_modules\/(.*)/.exec(id.replaceAll('\\', '/'))?.[1];
}

/** undici's parser as the file that it is, not as base64 in a script that is read and decoded each time. */
function parserAsFile(build, id) {
  const name = basename(id).replace('-wasm.js', '.wasm');
  const base64 = /'([A-Za-z0-9+/=]{1000,})'/.exec(readFileSync(id, 'utf8'))?.[1];
  if (base64 === undefined) build.error(`no parser was found in ${id}`);
  build.emitFile({ type: 'asset', fileName: name, source: Buffer.from(base64, 'base64') });
  return `module.exports = require('node:fs').readFileSync(require('node:path').join(__dirname, '${name}'));`;
}
