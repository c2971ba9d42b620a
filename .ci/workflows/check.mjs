// Checks workflows and the action with the parser, schema and expressions of GitHub's own editor support. .ci/run installs
// them here, by the lockfile beside this file.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { register } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

// They import JSON without the attribute that Node.js requires.
const load = `export const load = (url, context, next) =>
  next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context);`;
register(`data:text/javascript,${encodeURIComponent(load)}`);
const { validate } = await import('@actions/languageservice');
const { TextDocument } = await import('vscode-languageserver-textdocument');

const root = fileURLToPath(new URL('../..', import.meta.url));
const workflows = join(root, '.github/workflows');
const paths = [
  ...readdirSync(workflows).map((name) => join(workflows, name)),
  join(root, 'action.yml'),
].filter(existsSync);

for (const path of process.argv.length > 2 ? process.argv.slice(2) : paths) {
  const document = TextDocument.create(`file://${path}`, 'yaml', 1, readFileSync(path, 'utf8'));
  const problems = await validate(document, {});
  for (const { message, range } of problems)
    console.error(`${relative(root, path)}:${range.start.line + 1}: ${message}`);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`${relative(root, path)} is valid`);
}
