import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Whether tests of YAML are skipped, because this machine has no ruby to read it. */
export const lacksRuby =
  spawnSync('ruby', ['-v']).error !== undefined && process.env.PWPUSH_TEST_ALL !== '1';

/** The documents of a YAML text. */
export function yaml(text: string): unknown[] {
  const program = 'puts JSON.generate(YAML.load_stream($stdin.read))';
  const { stdout, stderr } = spawnSync('ruby', ['-ryaml', '-rjson', '-e', program], {
    input: text,
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as unknown[];
}

/** The YAML below a heading of docs/ci.md. */
export function exampleOf(heading: string): unknown {
  const document = readFileSync(new URL('../../docs/ci.md', import.meta.url), 'utf8');
  const section = document.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return yaml(/^```yaml\n(.*?)^```/ms.exec(section)?.[1] ?? '')[0];
}
