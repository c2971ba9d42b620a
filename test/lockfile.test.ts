import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Entry {
  readonly resolved?: string;
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
