import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import manifest from '../package.json';

interface Entry {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly engines?: { readonly node?: string };
  readonly optionalDependencies?: Record<string, string>;
}

function packagesOf(path: string): Record<string, Entry> {
  const text = readFileSync(new URL(path, import.meta.url), 'utf8');
  return (JSON.parse(text) as { packages: Record<string, Entry> }).packages;
}
const packages = packagesOf('../package-lock.json');
const all = [packages, packagesOf('../.ci/workflows/package-lock.json')].flatMap((one) =>
  Object.entries(one),
);

test('the lockfile has every platform’s binaries, without which npm ci refuses it', () => {
  const missing = Object.entries(packages).flatMap(([at, entry]) =>
    Object.keys(entry.optionalDependencies ?? {}).filter(
      (name) => !packages[`${at}/node_modules/${name}`] && !packages[`node_modules/${name}`],
    ),
  );
  expect(missing, 'run: npm run lock').toEqual([]);
});

test('the lockfile does not say where somebody downloaded from', () => {
  expect(all.filter(([, { resolved }]) => resolved?.startsWith('http'))).toEqual([]);
});

test('the lockfile has the integrity of all but binaries for platforms that releases are not built on', () => {
  const builds = ({ os, cpu, libc }: Entry) =>
    os?.[0] === 'linux' && cpu?.[0] === 'x64' && libc?.[0] !== 'musl';
  const elsewhere = (entry: Entry) => entry.optional && (entry.os ?? entry.cpu) && !builds(entry);
  const missing = all.filter(([at, entry]) => at && !entry.integrity && !elsewhere(entry));
  expect(missing, 'run: npm run lock').toEqual([]);
});

test('the oldest Node.js that is promised is the oldest that undici, which is bundled, runs on', () => {
  const { '': own, 'node_modules/undici': undici } = packages;
  expect([manifest.engines, own?.engines]).toEqual([undici?.engines, undici?.engines]);
});
