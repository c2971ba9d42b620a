import { readFileSync } from 'node:fs';

const page = readFileSync(new URL('../../man/pwpush-operation.7', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^([^\n]*)\n\.Bd -literal[^\n]*\n(.*?)^\.Ed$/gms)].map(
  ([, before = '', text = '']) => ({
    before,
    text: text.replaceAll('\\-', '-').replaceAll('\\(ti', '~').replaceAll('\\e', '\\'),
  }),
);

/** The literal block of pwpush-operation(7) that has this text, or that comes after a line which ends so. */
export function literal(mark: string): string {
  const found = blocks.find(({ before, text }) => before.endsWith(mark) || text.includes(mark));
  if (!found) throw new Error(`no such lines: ${mark}`);
  return found.text;
}
