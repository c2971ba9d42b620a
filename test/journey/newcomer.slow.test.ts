import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { rawServer } from '../helpers/listen';
import { person, pwpush, shell } from '../helpers/program';

const newcomer = person();
const run = (...words: string[]) => pwpush(words, { env: newcomer.env, cwd: newcomer.folder });
const at = (url: string): Record<string, string> => ({ ...newcomer.env, PWPUSH_URL: url });

test('help and version need nothing that is configured', async () => {
  expect(await run('--help')).toMatchObject({ code: 0, stderr: '' });
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect((await run('--version')).stdout).toBe(`${version}\n`);
});

test('stdin that is closed is empty', async () => {
  const { code } = await shell('$PWPUSH push <&-', { env: at('http://127.0.0.1:1') });
  expect(code).toBe(2);
});

describe('a broken home', () => {
  test('that cannot be written: pushing works, storing says why not', async () => {
    const listener = await rawServer((socket) =>
      socket.end(
        'HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: 66\r\n\r\n{"url_token":"abc","html_url":"https://pwpush.example/p/abc/r"  }\n',
      ),
    );
    const homeless = {
      PATH: newcomer.env.PATH ?? '',
      HOME: '/proc/nowhere',
      PWPUSH_URL: listener.url,
    };
    const pushed = await pwpush(['push'], { env: homeless, input: 's' });
    expect(pushed).toMatchObject({ code: 0, stdout: 'https://pwpush.example/p/abc/r\n' });
    const stored = await pwpush(['profile', 'set', 'url', listener.url], { env: homeless });
    await listener.close();
    expect(stored).toMatchObject({ code: 1, stderr: expect.stringContaining('/proc/nowhere') });
  });
});

describe('a config file that is broken', () => {
  const broken = () => {
    const folder = join(newcomer.folder, 'unreadable');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.json'), '{"profiles": {');
    return folder;
  };
  const answering = () =>
    rawServer((socket) =>
      socket.end(
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n[]',
      ),
    );

  test('is left aside, with a warning, where options and environment say everything', async () => {
    const listener = await answering();
    const folder = broken();
    const env = { ...at(listener.url), PWPUSH_TOKEN: 't0ken', PWPUSH_CONFIG_DIR: folder };
    expect(await pwpush(['list'], { env })).toEqual({
      code: 0,
      signal: null,
      stdout: '',
      stderr: `warning: the config file "${folder}/config.json" is not JSON; profiles are ignored\nno active pushes\n`,
    });
    await listener.close();
  });

  test('stops whoever might need it: its token, or a profile that is named', async () => {
    const env = { ...at('http://127.0.0.1:1'), PWPUSH_CONFIG_DIR: broken() };
    expect((await pwpush(['list'], { env })).code).toBe(2);
    const named = { ...env, PWPUSH_TOKEN: 't0ken', PWPUSH_PROFILE: 'work' };
    expect((await pwpush(['list'], { env: named })).code).toBe(2);
  });
});

describe('a link to another instance', () => {
  test('is asked there, without the token of the one configured', async () => {
    const other = await rawServer((socket) =>
      socket.end(
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 49\r\n\r\n{"url_token":"abc","payload":"s","expired":false}',
      ),
    );
    const env = { ...at('http://127.0.0.1:1'), PWPUSH_TOKEN: 'MARKER-token' };
    const got = await pwpush(['get', `${other.url}/p/abc`], { env });
    await other.close();
    expect(got).toEqual({ code: 0, signal: null, stdout: 's', stderr: '' });
    expect(other.requests).toHaveLength(1);
    expect(other.requests[0]).toMatch(/^GET \/api\/v2\/pushes\/abc HTTP\/1\.1\r\n/);
    expect(other.requests[0]).not.toMatch(/authorization|MARKER/i);
  });
});
