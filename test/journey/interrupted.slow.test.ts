import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { rawServer } from '../helpers/listen';
import { alsoBinary, makePerson, person, serveBuilt, start } from '../helpers/program';

const somebody = person();
describe('Ctrl-C', () => {
  test.each([
    ['SIGINT', 130, 'interrupted'],
    ['SIGTERM', 143, 'terminated'],
  ] as const)('%s while the instance does not answer ends with %d', async (signal, code, word) => {
    let arrived = () => {};
    const asked = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const silent = await rawServer(() => arrived());
    const env = { ...somebody.env, PWPUSH_URL: silent.url };
    const { child, ended } = start(['push'], { env, input: 'MARKER-secret' });
    await asked;
    child.kill(signal);
    const outcome = await ended;
    await silent.close();
    expect(outcome).toEqual({
      code,
      signal: null,
      stdout: '',
      stderr: `pwpush: ${word}\nhint: a push may exist; without a token it cannot be looked up, and expires by its limits\n`,
    });
    expect(silent.requests).toHaveLength(1);
  });

  test('while a push that is too loose is taken back tells where it is', async () => {
    let deleting = () => {};
    const asked = new Promise<void>((resolve) => {
      deleting = resolve;
    });
    const loose = await rawServer((socket, text) => {
      if (text.startsWith('DELETE')) return deleting();
      const body = '{"url_token":"abc","html_url":"http://x.test/p/abc","expire_after_views":5}';
      socket.write(
        `HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    });
    const env = { ...somebody.env, PWPUSH_URL: loose.url };
    const { child, ended } = start(['push', '-v', '2'], { env, input: 's' });
    await asked;
    child.kill('SIGINT');
    const { code, stdout, stderr } = await ended;
    await loose.close();
    expect({ code, stdout, stderr }).toEqual({
      code: 130,
      stdout: '',
      stderr:
        'pwpush: interrupted; the instance granted looser limits than requested: 2 views requested, 5 granted; expiring the push FAILED, so the secret can still be read at http://x.test/p/abc\nhint: expire it yourself: open the link and delete it, or run pwpush expire with a token\n',
    });
  });

  test('while stdin is still open ends with 130 and nothing sent', async () => {
    const silent = await rawServer(() => {});
    const { child, ended } = start(['push', '--debug'], {
      env: { ...somebody.env, PWPUSH_URL: silent.url },
    });
    // More than a pipe holds: once it is written, the program reads.
    await new Promise((resolve) => child.stdin?.write('x'.repeat(900_000), resolve));
    child.kill('SIGINT');
    const { code, signal } = await ended;
    await silent.close();
    expect([code, signal, silent.requests]).toEqual([130, null, []]);
  });
});

describe('pwpush serve', () => {
  test('with --ephemeral leaves nothing on the disk', async () => {
    const home = makePerson();
    const running = start(['serve', '--ephemeral', '--port', '0'], { env: home.env });
    await new Promise((resolve) => running.child.stdout?.once('data', resolve));
    running.child.kill('SIGTERM');
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stdout, left: readdirSync(home.folder) }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\n$/),
      left: [],
    });
    expect(stderr).toMatch(/^token of admin, shown only now: pwp_/m);
  });

  test('ends with 0 on SIGTERM, its data kept', alsoBinary, async () => {
    const first = await serveBuilt(somebody.env);
    expect(await first.stop()).toMatchObject({ code: 0, signal: null });
    const second = await serveBuilt(somebody.env);
    expect(second.token).toBeUndefined();
    expect(await second.stop()).toMatchObject({ code: 0, signal: null });
  });
});
