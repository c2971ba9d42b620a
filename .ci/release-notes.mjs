// Prints the changes of a release from CHANGELOG.md, and fails unless its tag is the version and it has a date.
import { readFileSync } from 'node:fs';

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const [, , tag] = process.argv;
const { version } = JSON.parse(read('package.json'));
if (tag !== `v${version}`) throw new Error(`the tag is ${tag}, the version ${version}`);
const [head = '', ...lines] =
  read('CHANGELOG.md')
    .split(/^(?=## )/m)
    .find((section) => section.startsWith(`## [${version}]`))
    ?.split('\n') ?? [];
if (!/^## \[.+\] - \d{4}-\d\d-\d\d$/.test(head))
  throw new Error(`CHANGELOG.md has no date for ${version}: "${head}"`);
console.log(lines.join('\n').trim());
