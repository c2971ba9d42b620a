import { expect, test } from 'vitest';
import { alsoBinary, person, pwpush, type Running, serving, start } from '../helpers/program';

const somebody = person();
serving(somebody.env);

async function push(): Promise<string> {
  return (await pwpush(['push'], { env: somebody.env, input: 's' })).stdout.trim();
}

/** Resolves once the listing was asked, which is the last of the first look. */
function looked({ child }: Running): Promise<void> {
  return new Promise((resolve) => {
    child.stderr?.on('data', (chunk) => {
      if (String(chunk).includes('/pushes/active 200')) resolve();
    });
  });
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s wakes it from a long sleep, with %d', async (signal, code) => {
  const words = ['wait', await push(), '--interval', '3600', '--debug'];
  const waiting = start(words, { env: somebody.env });
  await looked(waiting);
  waiting.child.kill(signal);
  expect((await waiting.ended).code).toBe(code);
});

test('ends when someone views the push', alsoBinary, async () => {
  const link = await push();
  const waiting = start(['wait', link, '--interval', '1', '--debug'], { env: somebody.env });
  await looked(waiting);
  const { stdout } = await pwpush(['get', link, '--anonymous'], { env: somebody.env });
  const { code, stdout: told } = await waiting.ended;
  expect({ stdout, code, kind: told.split('\t')[1] }).toEqual({
    stdout: 's',
    code: 0,
    kind: 'view',
  });
});
