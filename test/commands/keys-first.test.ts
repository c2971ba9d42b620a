import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { newKeyPair } from '../../src/age/key-files';
import type { Transport } from '../../src/platform/context';
import { BASE, type Instance, instance, overFetch } from '../helpers/instance';
import { rewriting } from '../helpers/wire';

// What this machine can know that it cannot open is not taken.

const MOVED = 'https://moved.test';

let here: Instance;
let sending: (send: Transport) => Transport;

beforeEach(async () => {
  sending = (send) => send;
  here = await instance({
    stdin: 'hunter2',
    env: { PATH: process.env.PATH },
    send: (request) => sending(overFetch(here.service, here.asked))(request),
  });
});

const owner = (env = {}) => here.under({ env: { ...here.admin, ...env } });
const commands: [string, readonly string[]][] = [
  ['get', ['get', 'LINK']],
  ['run', ['run', 'LINK', '--as', 'X', '--', 'sh', '-c', 'echo $X']],
];
const typed = (words: readonly string[], link: string, ...more: readonly string[]) => {
  const [name = '', ...rest] = words.map((word) => (word === 'LINK' ? link : word));
  return [name, ...more, ...rest];
};
const NOTHING = {
  code: 7,
  stdout: '',
  stderr: expect.stringMatching(/nothing was taken[\s\S]*-i \S+[\s\S]*--no-decrypt/),
};
const rescues = () => Object.keys(here.rescued()).filter((name) => !name.endsWith('.key'));

describe('an answer whose private key is not here', () => {
  let link: string;
  let id: string;
  const key = () => here.file(`aside/requests/${id}.key`);
  const away = () => {
    cpSync(here.file('state'), here.file('aside'), { recursive: true });
    rmSync(here.file('state'), { recursive: true });
  };

  beforeEach(async () => {
    const asking = here.under({ stdin: '', env: here.admin });
    link = (await asking.run('request', 'The password?')).stdout.trim();
    id = /\/r\/([\w-]+)/.exec(link)?.[1] ?? '';
    expect((await here.run('respond', link)).code).toBe(0);
    here.asked.length = 0;
  });

  test.each(commands)('is not taken: %s', async (_, words) => {
    away();
    for (const named of [link, id, link.replace(/#.*/, '')])
      expect(await owner().run(...typed(words, named))).toEqual(NOTHING);
    expect(here.asked).not.toContain(`GET /api/v2/requests/${id}`);
    expect(rescues()).toEqual([]);
    const opened = await owner().run(...typed(words, link, '--identity', key()));
    expect([opened.code, opened.stdout.trim()]).toEqual([0, 'hunter2']);
  });

  test('keeps a command with several links from taking any', async () => {
    const push = await here.push({ payload: 'first', expire_after_views: 1 });
    away();
    const words = ['run', push, link, '--as', 'A', '--as', 'B', '--', 'true'];
    expect(await owner().run(...words)).toEqual(NOTHING);
    expect((await here.run('get', push)).stdout).toBe('first');
  });

  describe('because the instance has moved', () => {
    const moved = () => link.replace(BASE, MOVED);

    test('is opened at the address in use, and then the key is removed', async () => {
      const { code, stdout } = await owner({ PWPUSH_URL: MOVED }).run('get', moved());
      expect([code, stdout, here.rescued()]).toEqual([0, 'hunter2', {}]);
    });

    test.each([
      ['another address is in use', BASE],
      ['none is', ''],
    ])('is not taken elsewhere, where %s, but with --identity', async (_, PWPUSH_URL) => {
      const token = here.service.adminToken;
      await here.keep({ profiles: { moved: { url: MOVED, token } } });
      const there = owner({ PWPUSH_URL });
      const before = here.rescued();
      const told = await there.run('get', moved());
      expect(told).toEqual(NOTHING);
      expect(told.stderr).toContain(`its private key is for ${BASE};`);
      expect(told.stderr).toContain(`pwpush login ${MOVED})`);
      expect(here.asked).toEqual([`GET /api/v2/requests/${id}/preview`]);
      const args = ['get', moved(), '--identity', here.file(`state/requests/${id}.key`)];
      expect((await there.run(...args)).stdout).toBe('hunter2');
      expect((await there.run('expire', moved())).code).toBe(0);
      expect(here.rescued()).toEqual(before);
    });

    test('is not taken by an ID, which names no key, but the error names the key', async () => {
      const told = await owner({ PWPUSH_URL: MOVED }).run('get', id);
      expect(told).toEqual(NOTHING);
      expect(told.stderr).toContain(here.file(`state/requests/${id}.key`));
    });

    test('is opened as the error says', async () => {
      const token = here.service.adminToken;
      await here.keep({ profiles: { moved: { url: MOVED, token } } });
      const there = owner({ PWPUSH_TOKEN: '' });
      const { code, stdout } = await there.run('get', moved(), '--profile', 'moved');
      expect([code, stdout]).toEqual([0, 'hunter2']);
    });
  });

  test.each(commands)('and the key stays until the request is closed: %s', async (_, words) => {
    sending = (send) =>
      rewriting(send, (body, { url }) => (url.endsWith('/preview') ? body.replace('"closed"', '"ready"') : body));
    expect((await owner().run(...typed(words, link))).stdout.trim()).toBe('hunter2');
    expect(Object.keys(here.rescued())).toEqual([`requests/${id}.key`]);
  });
});

describe('a push to public keys, without a private key', () => {
  let link: string;
  let identity: string;

  beforeEach(async () => {
    identity = here.file('id');

    const pair = newKeyPair();

    writeFileSync(identity, `${pair.identity}\n`);
    const made = await here.run('push', '--to', pair.recipient, '--views', '1');
    link = made.stdout.trim();
    here.asked.length = 0;
  });

  test.each(commands)('uses no view: %s', async (_, words) => {
    expect(await here.run(...typed(words, link))).toEqual(NOTHING);
    const key = { env: { PWPUSH_KEY: 'Zm9v-_YmFyIGJhego0MjEw' } };
    expect(await here.under(key).run(...typed(words, link))).toEqual(NOTHING);
    expect([here.asked.length, rescues()]).toEqual([2, []]);
    const opened = await here.run(...typed(words, link, '--identity', identity));
    expect([opened.code, opened.stdout.trim()]).toEqual([0, 'hunter2']);
  });

  test('is taken as it is on demand', async () => {
    const { code, stdout } = await here.run('get', link, '--no-decrypt');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^-----BEGIN AGE/)]);
  });

  test('is opened nowhere once it has expired', async () => {
    await here.run('expire', link);
    expect(await here.run('get', link)).toMatchObject({ code: 6 });
  });
});

test('a push to public keys uses no view where the API requires a token', async () => {
  const closed = await instance({ stdin: 'hunter2', settings: { anonymous: false } });

  const { recipient } = newKeyPair();
  const made = await closed.under({ env: closed.admin }).run('push', '--to', recipient);
  expect(await closed.run('get', made.stdout.trim())).toEqual(NOTHING);
});
