// Replaces modules that bundled packages load but pwpush never uses. What each saves is the processor time of a run without
// it, to one with it (`npm run bench -- tricks`, 29 November 2026); or it is for security.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';

/** By package: the text of a module that it imports. */
const standIns = {
  undici: {
    // push 0.02, get 0.03. Used for one default, and for a class that no body has.
    'node:http': 'module.exports = { maxHeaderSize: 16384, IncomingMessage: class {} };',
    // push 0.01, get 0.01. Only called as a function, for invariants; Node's own also loads what prints differences.
    'node:assert': `module.exports = (truth, message) => {
      if (!truth) throw message instanceof Error ? message : new Error(message ?? 'assertion failed');
    };`,
  },
  commander: {
    // --help 0.12. For subcommands that are executables.
    'node:child_process': 'module.exports = {};',
  },
};

/** By file of a package: its text, or a function that returns it. */
const replaced = {
  // push 0.08, get 0.15. HTTP/2 loads TLS; requests use HTTP/1.1.
  'undici/lib/dispatcher/client-h2.js':
    "module.exports = () => { throw new Error('HTTP/2 is not supported'); };",
  // push 0, get 0.03. It makes a table and a tree of a hundred names of header fields.
  'undici/lib/core/constants.js':
    'module.exports = { wellknownHeaderNames: [], headerNameLowerCasedRecord: {} };',
  // push 0.03, get 0.05. Its client uses two of the tables of the parser.
  'undici/lib/llhttp/constants.js': parserConstants,
  // Security: NODE_DEBUG=undici would print paths and queries, with tokens and passphrases.
  'undici/lib/core/diagnostics.js': closedChannels,
  // Less than 0.02 alone, but 0.03 to 0.04 with the two below and the two above. For bodies that are FormData or Blob.
  'undici/lib/web/fetch/body.js':
    "module.exports = { extractBody() { throw new Error('FormData is not supported'); } };",
  // The parser, as a file: in base64 it is a part of the chunk.
  'undici/lib/llhttp/llhttp-wasm.js': parserAsFile,
  // The same parser for processors with SIMD, which brings nothing here. undici goes on to the other one, whose error counts.
  'undici/lib/llhttp/llhttp_simd-wasm.js': "throw new Error('not used');",
};

const MARK = '\0stand-in:';

/** The build fails if a package no longer imports one of them. */
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

function closedChannels(_, id) {
  const { channels } = createRequire(import.meta.url)(id);
  const closed = Object.keys(channels).map((name) => `${name}: closed`);
  return `const closed = { hasSubscribers: false }; module.exports = { channels: { ${closed} } };`;
}

/** Emits undici's HTTP parser as a file of WebAssembly. */
function parserAsFile(build, id) {
  const name = basename(id).replace('-wasm.js', '.wasm');
  const base64 = /'([A-Za-z0-9+/=]{1000,})'/.exec(readFileSync(id, 'utf8'))?.[1];
  if (base64 === undefined) build.error(`no parser was found in ${id}`);
  build.emitFile({ type: 'asset', fileName: name, source: Buffer.from(base64, 'base64') });
  return `module.exports = require('node:fs').readFileSync(require('node:path').join(__dirname, '${name}'));`;
}

function parserConstants(_, id) {
  const { ERROR, TYPE } = createRequire(import.meta.url)(id);
  return `module.exports = ${JSON.stringify({ ERROR, TYPE })};`;
}
