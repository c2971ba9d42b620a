import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';
import { needsPrograms, skipWithout } from './needs';

/** Makes a key pair of ssh-keygen at a path, without passphrase unless one is given, and answers the path. */
export function makeSshKey(path: string, type: string, passphrase = '', ...more: string[]): string {
  skipWithout(needsPrograms('ssh-keygen'));
  const words = ['-q', '-t', type, '-N', passphrase, '-f', path, ...more];
  expect(spawnSync('ssh-keygen', words).status).toBe(0);
  return path;
}
