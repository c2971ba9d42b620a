import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MARKERS } from '../../src/cli/agent';
import { alsoBinary, makePerson, pwpush, serveBuilt, shell } from '../helpers/program';

test('tests run as where there is no agent', () => {
  expect(MARKERS.filter((name) => process.env[name] !== undefined)).toEqual([]);
});

test('serve keeps the first token as a profile, and prints it for no agent', async () => {
  const { env } = makePerson();
  const agent = { ...env, CLAUDECODE: '1' };
  const { url, token, stop } = await serveBuilt(agent);
  const { stderr } = await stop();
  const config = JSON.parse(readFileSync(join(env.PWPUSH_CONFIG_DIR ?? '', 'config.json'), 'utf8'));
  const { local } = config.profiles;
  expect([token, local.url, local.token]).toEqual([undefined, url, expect.stringMatching(/^pwp_/)]);
  expect(stderr).not.toContain('pwp_');
});

test.each([
  { words: ['--ephemeral'], printed: false },
  { words: ['--host', '0.0.0.0'], printed: false },
  { words: ['--ephemeral', '--reveal'], printed: true },
])('serve $words creates a first token if it can be shown', async ({ words, printed }) => {
  const { env } = makePerson();
  const { token, stop } = await serveBuilt({ ...env, CLAUDECODE: '1' }, words);
  const { stderr } = await stop();
  expect([token !== undefined, stderr.includes('no token was created')]).toEqual([
    printed,
    !printed,
  ]);
});

test('a refusal is one line of JSON', alsoBinary, async () => {
  const { env } = makePerson();
  const { code, stdout, stderr } = await pwpush(['generate', '--json'], {
    env: { ...env, GEMINI_CLI: '1' },
  });
  expect([code, stdout, JSON.parse(stderr).error.code]).toEqual([2, '', 'usage']);
});

test.each(['out', 'link', 'fifo'])(
  'the file of standard output is no place, as %s',
  async (name) => {
    const { env, folder } = makePerson();
    const place = (file: string) => `'${join(folder, file)}'`;
    const made = `mkfifo ${place('fifo')}; ln -s ${place('out')} ${place('link')}; exec 3<>${place('fifo')}`;
    const target = name === 'fifo' ? 'fifo' : 'out';
    const line = `$PWPUSH get abc123def456 --output ${place(name)} --force >${place(target)}`;
    const { code, stderr } = await shell(`${made}; ${line}`, {
      env: { ...env, PWPUSH_URL: 'http://127.0.0.1:9', CLAUDECODE: '1' },
    });
    expect([code, stderr]).toEqual([2, expect.stringContaining('CLAUDECODE is set')]);
  },
);
