// Bundles the scripts of the recipient's page: `import script from './x.ts?script'` gives the minified script as a text.
// For the build and for tests, which load src through vite.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';

const SUFFIX = '?script';

/** @param bundled receives the modules of the scripts, whose licences go into the build */
export function pageScripts(bundled = new Set()) {
  return {
    name: 'page-scripts',
    enforce: 'pre',
    // Its cache does not know the modules of a bundle.
    configureVitest({ experimental_defineCacheKeyGenerator: define }) {
      define(({ id }) => (id.endsWith(SUFFIX) ? false : undefined));
    },
    resolveId(source, importer = '') {
      if (source.startsWith('.') && source.endsWith(SUFFIX)) return join(dirname(importer), source);
    },
    async load(id) {
      if (!id.endsWith(SUFFIX)) return;
      const bundle = await rolldown({
        input: id.slice(0, -SUFFIX.length),
        platform: 'browser',
        logLevel: 'warn',
      });
      const { output } = await bundle.generate({
        format: 'iife',
        minify: true,
        comments: { legal: true, annotation: false, jsdoc: false },
      });
      await bundle.close();
      const [{ code, moduleIds }] = output;
      for (const module of moduleIds) {
        bundled.add(module);
        this.addWatchFile(module);
      }
      // Within an element, this would end it.
      if (/<\/script|<!--/i.test(code)) this.error(`${id} cannot be written into a page`);
      return { code: `export default ${JSON.stringify(code.trim())};`, moduleType: 'js' };
    },
  };
}

/** `import text from './x.json?raw'` gives JSON as a text, here without white space; vite can do that by itself. */
export function rawJson() {
  const RAW = '.json?raw';
  return {
    name: 'raw-json',
    resolveId(source, importer = '') {
      if (source.endsWith(RAW)) return join(dirname(importer), source);
    },
    async load(id) {
      if (!id.endsWith(RAW)) return;
      const text = JSON.stringify(JSON.parse(await readFile(id.slice(0, -'?raw'.length), 'utf8')));
      return { code: `export default ${JSON.stringify(text)};`, moduleType: 'js' };
    },
  };
}
