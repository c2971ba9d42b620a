import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import manifest from '../package.json';

interface Entry {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly engines?: { readonly node?: string };
  readonly optionalDependencies?: Record<string, string>;
}

function packagesOf(path: string): Record<string, Entry> {
  const text = readFileSync(new URL(path, import.meta.url), 'utf8');
  return (JSON.parse(text) as { packages: Record<string, Entry> }).packages;
}
const packages = packagesOf('../package-lock.json');
const all = [packages, packagesOf('../.ci/workflows/package-lock.json')].flatMap((one) => Object.entries(one));

test('the lockfile has every platform’s binaries, without which npm ci refuses it', () => {
  const missing = Object.entries(packages).flatMap(([at, entry]) =>
    Object.keys(entry.optionalDependencies ?? {}).filter(
      (name) => !packages[`${at}/node_modules/${name}`] && !packages[`node_modules/${name}`],
    ),
  );
  expect(missing, 'run: npm run lock').toEqual([]);
});

test('the lockfile does not say where packages were downloaded from', () => {
  expect(all.filter(([, { resolved }]) => resolved?.startsWith('http'))).toEqual([]);
});

test('every entry of the lockfile has its integrity', () => {
  const missing = all.filter(([at, { integrity }]) => at !== '' && !integrity);
  expect(missing, 'choose versions whose binaries the registry has for all platforms').toEqual([]);
});

test('the oldest Node.js that is promised is the oldest that undici, which is bundled, runs on', () => {
  const { '': own, 'node_modules/undici': undici } = packages;
  expect([manifest.engines, own?.engines]).toEqual([undici?.engines, undici?.engines]);
});
