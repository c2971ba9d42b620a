import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { needsPrograms } from '../helpers/needs';
import { pathWith, person, pwpush, serving, shell } from '../helpers/program';
import { linesOf, onTerminal } from '../helpers/pty';

// The README's examples, typed in their order by a reader who has followed it up to them: `pwpush serve` runs in
// another terminal, and nothing else was set up.

const reader = person();
const work = join(reader.folder, 'work');
const service = serving(reader.env);
let env: Record<string, string>;
beforeAll(() => {
  mkdirSync(work);
  env = { ...reader.env, PATH: pathWith(join(reader.folder, 'bin')) };
});

interface Example {
  readonly typed: string;
  readonly printed: readonly string[];
}

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const examples: Example[] = [...readme.matchAll(/^```console\n(.*?)^```/gms)].flatMap(([, block]) =>
  (block ?? '').split(/^\$ /m).flatMap((part) => {
    const [typed, ...printed] = part.trimEnd().split('\n');
    return typed ? [{ typed, printed }] : [];
  }),
);

test('the examples of the README run as they stand', async () => {
  expect(examples.length).toBeGreaterThan(6);
  // Addresses and tokens of the README, and what they are here.
  const here = new Map([['http://127.0.0.1:5100', service.url]]);
  const translated = (text: string) => [...here].reduce((done, [from, to]) => done.replaceAll(from, to), text);
  for (const { typed, printed } of examples) {
    const line = `cd '${work}'; ${translated(typed)}`;
    const terminal = onTerminal(line, env);
    for (const prompt of printed.filter((one) => one.startsWith('✔'))) {
      await terminal.shows(prompt.slice(2));
      terminal.type('open sesame\r');
    }
    const code = await terminal.ended;
    const lines = await linesOf(terminal.screen());
    for (const [at, expected] of printed.entries()) {
      // IDs, and the keys of encrypted pushes.
      for (const part of [/\/p\/([\w-]+)/, /\/r#([\w-]+)/]) {
        const written = part.exec(expected)?.[1];
        const real = part.exec(lines[at] ?? '')?.[1];
        if (written && real && !here.has(written)) here.set(written, real);
      }
    }
    if (printed.length > 0) expect(lines, typed).toEqual(printed.map(translated));
    expect(code, typed).toBe(0);
  }
});

/** The names and types of a JSON value: of an array, those of its elements. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shapeOf(one)]));
}

const jsonPage = readFileSync(new URL('../../docs/json.md', import.meta.url), 'utf8');
const outputs = [...jsonPage.matchAll(/^```sh\n(.*?)^```\n\n```json\n(.*?)^```/gms)];

test('the examples of docs/json.md print what they say (jq)', needsPrograms('jq'), async () => {
  writeFileSync(join(work, 'report.txt'), 'figures');
  const api = { ...env, PWPUSH_URL: service.url, PWPUSH_TOKEN: service.token };
  const words = ['push', '--file', 'report.txt', '--message', 'see the file', '--name', 'db'];
  const link = await pwpush(words, { env: api, cwd: work });
  const LINK = link.stdout.trim();
  for (const [, line = '', printed = ''] of outputs) {
    const { stdout, stderr } = await shell(line, { env: { ...api, LINK }, cwd: work });
    const found = JSON.parse(stdout || 'null');
    const wanted = JSON.parse(printed);
    // Of a listing, the first row stands for all.
    const alike = Array.isArray(found) && wanted.length === 1 ? found.slice(0, 1) : found;
    expect(shapeOf(alike), `${line}${stderr}`).toEqual(shapeOf(wanted));
  }
  expect(outputs.length).toBeGreaterThan(12);
});
