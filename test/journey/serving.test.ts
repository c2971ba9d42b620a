import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, test } from 'vitest';
import { person, type Running, start } from '../helpers/program';

const home = person();
const running: Running[] = [];
afterAll(async () => {
  for (const { child, ended } of running) {
    child.kill('SIGKILL');
    await ended;
  }
  home.remove();
});

/** The built `serve`, started with these variables; resolves with its address once it listens. */
async function serving(words: readonly string[], env: Record<string, string> = {}) {
  const program = start(['serve', ...words], { env: { ...home.env, ...env } });
  running.push(program);
  const lines = createInterface({ input: program.child.stdout as NodeJS.ReadableStream });
  const [url] = (await once(lines, 'line')) as [string];
  return { url, ...program };
}

const inMemory = { PWPUSH_SERVE_EPHEMERAL: 'true', PWPUSH_SERVE_PORT: '0' };

describe('variables', () => {
  test('stand for options, which outrank them', async () => {
    const told = { ...inMemory, PWPUSH_SERVE_ANONYMOUS: 'no', PWPUSH_SERVE_HOST: '192.0.2.1' };
    const { url } = await serving(['--host', 'localhost'], told);
    expect(url).toMatch(/^http:\/\/localhost:\d+$/);
    expect((await fetch(`${url}/api/v2/pushes/x`)).status).toBe(401);
  });

  test('--anonymous outranks PWPUSH_SERVE_ANONYMOUS=false', async () => {
    const told = { ...inMemory, PWPUSH_SERVE_ANONYMOUS: 'false' };
    const { url } = await serving(['--anonymous'], told);
    expect((await fetch(`${url}/api/v2/pushes/x`)).status).toBe(404);
  });
});
