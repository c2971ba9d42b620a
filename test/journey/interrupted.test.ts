import { afterAll, describe, expect, it } from 'vitest';
import { person, pwpush, serveBuilt, start, wire } from '../helpers/program';

const somebody = person();
afterAll(() => somebody.remove());

describe('Ctrl-C', () => {
  it.each([
    ['SIGINT', 130, 'interrupted'],
    ['SIGTERM', 143, 'terminated'],
  ] as const)('%s while the instance does not answer ends with %d', async (signal, code, word) => {
    let arrived = () => {};
    const asked = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const silent = await wire(() => arrived());
    const env = { ...somebody.env, PWPUSH_URL: silent.url };
    const { child, ended } = start(['push'], { env, input: 'MARKER-secret' });
    await asked;
    child.kill(signal);
    const outcome = await ended;
    silent.stop();
    expect(outcome).toEqual({
      code,
      signal: null,
      stdout: '',
      stderr: `pwpush: ${word}\nhint: a push may exist: before you push again, look for it with pwpush list and expire it\n`,
    });
    expect(silent.requests).toHaveLength(1);
  });

  it('while stdin is still open ends with 130 and nothing sent', async () => {
    const silent = await wire(() => {});
    const { child, ended } = start(['push', '--debug'], {
      env: { ...somebody.env, PWPUSH_URL: silent.url },
    });
    // The first bytes of the program's own input: it reads from then on.
    child.stdin?.write('half a sec');
    await new Promise((resolve) => child.stdin?.write('ret', resolve));
    child.kill('SIGINT');
    const { code, signal } = await ended;
    silent.stop();
    // The signal may come before the program listens for it; either way it ends, and nothing is sent.
    expect([130, null]).toContain(code);
    expect([null, 'SIGINT']).toContain(signal);
    expect(silent.requests).toEqual([]);
  });
});

describe('pwpush serve', () => {
  it('that kept all in memory takes its profile back when it ends', async () => {
    const service = await serveBuilt(somebody.env);
    const listed = async () => (await pwpush(['profile', 'list'], { env: somebody.env })).stdout;
    expect(await listed()).toBe(`local\t${service.url}\tyes\tyes\n`);
    await service.stop();
    expect(await listed()).toBe('');
  });

  it('ends with 0 on SIGTERM, its data kept', async () => {
    const data = ['--data', `${somebody.folder}/data`];
    const first = await serveBuilt(somebody.env, data);
    expect(await first.stop()).toMatchObject({ code: 0, signal: null });
    const second = await serveBuilt(somebody.env, data);
    expect(second.token).toBeUndefined();
    expect(await second.stop()).toMatchObject({ code: 0, signal: null });
  });
});
