import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import manifest from '../package.json';

interface Entry {
  readonly resolved?: string;
  readonly engines?: { readonly node?: string };
  readonly optionalDependencies?: Record<string, string>;
}

const text = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8');
const { packages } = JSON.parse(text) as { packages: Record<string, Entry> };

test('the lockfile has every platform’s binaries, without which npm ci refuses it', () => {
  const missing = Object.entries(packages).flatMap(([at, entry]) =>
    Object.keys(entry.optionalDependencies ?? {}).filter(
      (name) => !packages[`${at}/node_modules/${name}`] && !packages[`node_modules/${name}`],
    ),
  );
  expect(missing, 'run: npm run lock').toEqual([]);
});

test('the lockfile does not say where somebody downloaded from', () => {
  expect(Object.values(packages).filter(({ resolved }) => resolved?.startsWith('http'))).toEqual(
    [],
  );
});

test('the oldest Node.js that is promised is the oldest that undici, which is bundled, runs on', () => {
  const { '': own, 'node_modules/undici': undici } = packages;
  expect([manifest.engines, own?.engines]).toEqual([undici?.engines, undici?.engines]);
});
