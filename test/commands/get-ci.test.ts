import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { heredoc, maskCommands } from '../../src/deliver/ci-job';
import { type Instance, instance } from '../helpers/instance';
import { needsRoot } from '../helpers/needs';

let here: Instance;
beforeEach(async () => {
  here = await instance();
});
afterEach(() => here.close());

/** Reads such a file as the runner does: names, and values between delimiters. */
function asRunner(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (let rest = text; rest.trim() !== ''; ) {
    const head = /^\s*?([^\n]*?)<<([^\n]+)\n/.exec(rest);
    if (!head) throw new Error(`no heredoc: ${rest}`);
    const [whole, name = '', delimiter] = head;
    const end = rest.indexOf(`\n${delimiter}\n`, whole.length - 1);
    found[name] = rest.slice(whole.length, Math.max(end, whole.length));
    rest = rest.slice(end + `\n${delimiter}\n`.length);
  }
  return found;
}

/** What the runner masks after these commands. */
function masked(stdout: string): string[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => /^::add-mask::(.*)$/.exec(line)?.[1] ?? `not a mask: ${line}`)
    .map((data) => data.replaceAll('%0A', '\n').replaceAll('%0D', '\r').replaceAll('%25', '%'));
}

const job = () => {
  const env = { CI: 'true', GITHUB_OUTPUT: here.file('output'), GITHUB_ENV: here.file('env') };
  writeFileSync(env.GITHUB_OUTPUT, '');
  writeFileSync(env.GITHUB_ENV, 'EARLIER=1\n');
  return here.under({ env });
};
const environment = () => readFileSync(here.file('env'), 'utf8');

describe('in a job of GitHub Actions', () => {
  test('a text with NUL is refused before anything is set, and saved', async () => {
    const token = await here.push({ payload: 'a\0b', expire_after_views: 1 });
    const { code, stdout } = await job().run('get', token, '--github-env', 'A');
    expect([code, stdout, environment()]).toEqual([1, '', 'EARLIER=1\n']);
    expect(Object.values(here.rescued())).toEqual(['a\0b']);
  });

  test('whatever the text, all of its lines are masked, and the runner reads it back', () => {
    const line = fc.oneof(fc.string(), fc.constantFrom('', '%', '%0A', '::', 'A<<B', 'B', '\r'));
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const text = lines.join('\n');
        const wanted = text.split(/\r\n|\r|\n/).filter((one) => one.trim() !== '');
        expect(masked(maskCommands(text))).toEqual([...new Set(wanted)]);
        expect(asRunner(heredoc('NAME', text))).toEqual({ NAME: text });
      }),
    );
  });
});

describe('a file of another user (needs root)', needsRoot, () => {
  test.each([
    ['--github-output', 0o1777, 2],
    ['--github-env', 0o777, 2],
    // The container of a job, where root writes to files of the runner.
    ['--github-output', 0o755, 0],
    ['--github-env', 0o2775, 0],
  ])('%s in a folder of mode %o ends with %i', async (option, mode, status) => {
    const folder = here.file('shared');
    const path = join(folder, 'file');
    mkdirSync(folder);
    writeFileSync(path, '');
    chmodSync(path, 0o666);
    chownSync(path, 1001, 1001);
    chmodSync(folder, mode);
    const token = await here.push({ payload: 'text', expire_after_views: 1 });
    const there = here.under({ env: { CI: 'true', GITHUB_OUTPUT: path, GITHUB_ENV: path } });
    const { code } = await there.run('get', token, '--anonymous', option, 'A');
    expect([code, readFileSync(path, 'utf8').includes('text')]).toEqual([status, status === 0]);
    if (status !== 0) expect((await here.run('get', token)).stdout).toBe('text');
  });
});
