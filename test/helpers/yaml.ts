import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

/** A value of YAML or JSON whose shape a test asserts. */
// biome-ignore lint/suspicious/noExplicitAny: the files are what is tested
export type Plain = any;

/** The documents of a YAML text, as Compose and Kubernetes read it: 0440 is octal. */
export function yaml(text: string): Plain[] {
  return parseAllDocuments(text, { version: '1.1', schema: 'yaml-1.1' }).map((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) throw problem;
    return document.toJS();
  });
}

/** An example of YAML in a chapter of docs/ci.md. */
export function exampleOf(heading: string, number = 0): Plain {
  const document = readFileSync(new URL('../../docs/ci.md', import.meta.url), 'utf8');
  const section = document.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const blocks = [...section.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) => text);
  return yaml(blocks[number] ?? '')[0];
}
