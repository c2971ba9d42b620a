// The promises of docs/promises.md, which are those of pwpush-security(7), and of docs/reliability.md, each with the test
// that witnesses it. The reporter test/helpers/promises.ts judges a run of tests, and appends to the file that
// PWPUSH_TEST_RESULTS names which promises have a test that passed; `node .ci/promises.mjs FILE` judges the runs that
// wrote that file together.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const documents = ['docs/promises.md', 'docs/reliability.md'];
/**
 * The last cell of a row. Rows without a title are about the whole file. What no run here has, as it is on another
 * system, says so.
 */
const row =
  /(?<=^\|.*\| )`(test\/[\w./-]+)`(?:, (.+?))?(?: \(only with (PowerShell|macOS|Windows)\))? \|/gm;

/**
 * All promises: the document, the file of the test, and its full name, or that of all rows of a table, with placeholders;
 * or the file of a transcript, and a line of it.
 */
export function promises() {
  return documents.flatMap((document) => {
    const text = readFileSync(new URL(`../${document}`, import.meta.url), 'utf8');
    return [...text.matchAll(row)].map(([, file, title = '', system]) => ({
      document,
      file,
      system,
      title: title.replaceAll('\\|', '|').replace(/^`(.*)`$/, '$1'),
    }));
  });
}

const placeholder = /%[sdijfo#]|\$[a-z][\w.]*/i;
export const isTable = (title) => placeholder.test(title);

/** What the names of all rows of a table match, and a name of one test only itself. */
export function patternOf(title) {
  const parts = title.split(placeholder).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}

/** What stands in the file of results for a promise with a witness. */
export const lineOf = ({ file, title }) => JSON.stringify({ file, title });

/** What is said of a promise without one. */
export const complaint = ({ document, file, title }) =>
  `no single test passed of ${document}: ${title ? `${file}, ${title}` : file}`;

/** Those that no line of such a file witnesses, though it could. */
export function unwitnessed(lines) {
  const witnessed = new Set(lines);
  return promises().filter((promise) => !promise.system && !witnessed.has(lineOf(promise)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const missing = unwitnessed(readFileSync(process.argv[2], 'utf8').split('\n'));
  for (const promise of missing) console.error(complaint(promise));
  if (missing.length > 0) process.exitCode = 1;
}
