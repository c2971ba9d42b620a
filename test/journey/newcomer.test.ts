import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { person, pwpush, shell, wire } from '../helpers/program';

const newcomer = person();
const run = (...words: string[]) => pwpush(words, { env: newcomer.env, cwd: newcomer.folder });
const at = (url: string): Record<string, string> => ({ ...newcomer.env, PWPUSH_URL: url });
const usage = (stderr: string) => ({ code: 2, signal: null, stdout: '', stderr });

describe('somebody with nothing configured', () => {
  test('is told the ways to configure', async () => {
    expect(await pwpush(['push'], { env: newcomer.env, input: 's' })).toEqual(
      usage(
        'pwpush: no instance is configured\nhint: log in with pwpush login, set PWPUSH_URL or use --url; or run an instance here with pwpush serve\n',
      ),
    );
  });

  test('gets errors as JSON when JSON was asked for', async () => {
    const { code, stdout, stderr } = await run('list', '--json');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'usage',
        message: 'no instance is configured',
        hint: expect.stringContaining('pwpush login'),
      },
    });
    expect(stderr.endsWith('\n') && stderr.indexOf('\n') === stderr.length - 1).toBe(true);
  });

  test('sees help and version without any of it', async () => {
    expect(await run('--help')).toMatchObject({ code: 0, stderr: '' });
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(await run('--version')).toEqual({
      code: 0,
      signal: null,
      stdout: `${version}\n`,
      stderr: '',
    });
  });
});

describe('bad input is refused before anything is sent', () => {
  test.each([
    [['list', '--page', '0'], 'pwpush: --page must be a whole number from 1 to 200, not "0"\n'],
    [['push', '--days', '99999999999'], 'pwpush: --days must be at most 999999999\n'],
    [['push', '--days', 'x'], 'pwpush: --days must be a whole number of 1 or more, not "x"\n'],
    [
      ['push', 'text', '--env', 'HOME'],
      'pwpush: the secret can come from one source only, not from the text argument and --env\nhint: use only one of them\n',
    ],
    [['pusch'], 'pwpush: unknown command "pusch"\nhint: did you mean push?\n'],
    [['push', '--vews', '3'], 'pwpush: unknown option --vews\nhint: did you mean --views?\n'],
    [
      ['get', 'https://pwpush.example/'],
      'pwpush: not a link or ID of a push\nhint: use the whole link, such as https://pwpush.example/p/abc123, or its ID\n',
    ],
  ])('%j', async (words, stderr) => {
    const listener = await wire((socket) => socket.destroy());
    const ended = await pwpush(words, { env: at(listener.url), input: '' });
    listener.stop();
    expect(ended).toEqual(usage(stderr));
    expect(listener.requests).toEqual([]);
  });

  test('stdin that is empty or closed', async () => {
    const empty =
      'pwpush: standard input is empty: nothing to push\nhint: check the variable or command that fills it; attach an empty file with --file\n';
    const env = at('http://127.0.0.1:1');
    expect(await pwpush(['push'], { env, input: '' })).toEqual(usage(empty));
    expect(await shell('$PWPUSH push <&-', { env })).toEqual(usage(empty));
  });
});

describe('a broken home', () => {
  test('that cannot be written: pushing works, storing says why not', async () => {
    const listener = await wire((socket) =>
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
    listener.stop();
    expect(stored).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr:
        'pwpush: cannot create the folder "/proc/nowhere/.config/pwpush" (ENOENT)\nhint: set PWPUSH_CONFIG_DIR to a folder that you can write to\n',
    });
  });

  test('whose config file is not JSON: it says so and leaves the file alone', async () => {
    const folder = join(newcomer.folder, 'broken');
    mkdirSync(folder);
    const path = join(folder, 'config.json');
    writeFileSync(path, '{"profiles": {');
    const env = { ...newcomer.env, PWPUSH_CONFIG_DIR: folder };
    const broken = usage(
      `pwpush: the config file "${path}" is not JSON\nhint: correct it, or move it and run pwpush login\n`,
    );
    expect(await pwpush(['list'], { env })).toEqual(broken);
    expect(await pwpush(['profile', 'set', 'days', '2'], { env })).toEqual(broken);
    expect(readFileSync(path, 'utf8')).toBe('{"profiles": {');
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
    wire((socket) =>
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
    listener.stop();
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
    const other = await wire((socket) =>
      socket.end(
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 49\r\n\r\n{"url_token":"abc","payload":"s","expired":false}',
      ),
    );
    const env = { ...at('http://127.0.0.1:1'), PWPUSH_TOKEN: 'MARKER-token' };
    const got = await pwpush(['get', `${other.url}/p/abc`], { env });
    other.stop();
    expect(got).toEqual({ code: 0, signal: null, stdout: 's', stderr: '' });
    expect(other.requests).toHaveLength(1);
    expect(other.requests[0]).toMatch(/^GET \/api\/v2\/pushes\/abc HTTP\/1\.1\r\n/);
    expect(other.requests[0]).not.toMatch(/authorization|MARKER/i);
  });
});
