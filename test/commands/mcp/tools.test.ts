import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { BASE, eachInstance, overFetch } from '../../helpers/instance';
import { type Connecting, eras, SECRET, served, serving } from '../../helpers/mcp';
import { place } from '../../helpers/run';
import { createWithFiles, filePart } from '../../helpers/service';
import { rewriting } from '../../helpers/wire';

const here = eachInstance({ env: { PATH: process.env.PATH, DB_PASSWORD: SECRET } });
beforeEach(() => {
  mkdirSync(here.file('root'));
  writeFileSync(here.file('root/db.env'), `PASSWORD=${SECRET}\n`);
});

const server = (words: readonly string[] = [], connecting: Connecting = {}) => serving(here, words, connecting);
const owner = () => here.under({ env: here.admin });
const saved = (name: string) => readFileSync(here.file(`root/${name}`), 'utf8');

describe.each(eras)('version %s', (era) => {
  test('lists the tools, and no other', async () => {
    const { client } = await server([], { era });
    const { tools } = await client.listTools();
    const names = ['push', 'ask', 'run', 'save', 'wait', 'expire', 'preview', 'audit', 'list'];
    expect(tools.map(({ name }) => name)).toEqual(names);
    const using = tools.filter(({ annotations }) => annotations?.destructiveHint);
    expect(using.map(({ name }) => name)).toEqual(['run', 'save', 'expire']);
    for (const { inputSchema, annotations, description } of tools) {
      expect(inputSchema.additionalProperties).toBe(false);
      expect(annotations?.readOnlyHint).toBeDefined();
      expect(description).toMatch(/\.$/);
    }
  });

  test('a secret goes from file to link to file, and is in no message', async () => {
    const { call, close } = await server(['--debug'], { era });
    const pushed = JSON.parse(await call('push', { file: 'db.env', as_text: true, views: 2 }));
    expect(pushed).toMatchObject({ expire_after_views: 2, views_remaining: 2 });
    const link = pushed.html_url;
    expect(await call('save', { link, file: 'copy.env' })).toBe('saved copy.env (27 B)');
    expect(saved('copy.env')).toBe(`PASSWORD=${SECRET}\n`);
    expect(statSync(here.file('root/copy.env')).mode & 0o777).toBe(0o600);
    const waited = await call('wait', { link: 'last', seconds: 1 });
    expect(waited).toMatch(/^nothing happened within 1 s/);
    const events: { kind: string }[] = JSON.parse(await call('audit', { link }));
    expect(events.map(({ kind }) => kind).sort()).toEqual(['creation', 'owner_view']);
    expect(JSON.parse(await call('expire', { link }))).toMatchObject([{ expired: true }]);
    const [listed] = JSON.parse(await call('list', { state: 'expired' }));
    expect(listed.url_token).toBe(pushed.url_token);
    expect((await close()).code).toBe(0);
  });
});

describe('push', () => {
  test('takes a variable that the operator names, and no other', async () => {
    const conditions = { env: { PWPUSH_ENCRYPT: 'link' } };
    const { call } = await server(['--env', 'DB_PASSWORD'], { conditions });
    const pushed = await call('push', { env: 'DB_PASSWORD' });
    const { html_url: link, encrypted } = JSON.parse(pushed);
    expect([link, encrypted]).toEqual([expect.stringMatching(/#[\w-]{22}$/), true]);
    expect((await owner().run('get', link)).stdout).toBe(SECRET);
    const made = JSON.parse(await call('push', { generate: true, encrypt: false })).html_url;
    expect(made).not.toContain('#');
    expect((await owner().run('get', made)).stdout).toHaveLength(24);
    // It goes through a pipe.
    expect(JSON.stringify(here.started)).not.toContain(SECRET);
    const refused = await call('push', { env: 'PATH' });
    expect(refused).toMatch(/^! the operator has not allowed .*--env PATH/);
  });

  test('says what it can do where the operator has words, which no tool passes on', async () => {
    const { call } = await server([], { conditions: { env: { PWPUSH_ENCRYPT: 'words' } } });
    const refused = await call('push', { generate: 20 });
    expect([refused, here.asked]).toEqual([expect.stringMatching(/^! .*encrypt: true/), []]);
    expect(await call('push', { generate: 20, encrypt: true })).toMatch(/"html_url":"[^"]+#[\w-]{22}"/);
  });

  test('tells what the command warned of', async () => {
    const doubt = 'warning: the link is on https://elsewhere.test, not on https://pw.test';
    const send = rewriting(overFetch(here.service), (text) =>
      text.replaceAll('https://pw.test/p/', 'https://elsewhere.test/p/'),
    );
    const other = place({ send, env: { PWPUSH_URL: BASE } });
    const { call } = await served(other);
    expect(await call('push', { generate: 20 })).toMatch(new RegExp(`^\\{.*\\}\n${doubt}`));
  });

  test('so do the others', async () => {
    const url = 'http://pw.test';
    const profiles = { open: { url, insecure: true } };
    mkdirSync(here.file('config'));
    writeFileSync(here.file('config/config.json'), JSON.stringify({ profiles }));
    const { call } = await server([], {
      conditions: { env: { PWPUSH_URL: undefined, PWPUSH_PROFILE: 'open' } },
    });
    const link = await here.push({ payload: SECRET }, here.admin.PWPUSH_TOKEN);
    for (const [name, given] of Object.entries({
      preview: { link },
      audit: { link },
      wait: { link, seconds: 1 },
      list: {},
      save: { link, file: 'out' },
      expire: { link },
    }))
      expect(await call(name, given)).toContain('\nwarning: insecure: ');
  });

  test('generates a secret, which it does not return', async () => {
    const { call, transcript } = await server();
    for (const generate of [40, '40', 'words:5']) {
      const { html_url } = JSON.parse(await call('push', { generate, days: 1, deletable: false }));
      const { stdout } = await owner().run('get', html_url);
      expect(stdout).toMatch(/^[\w.+@%-]{20,}$/);
      expect(transcript.join()).not.toContain(stdout);
    }
  });

  test.each([
    [{}, 'exactly one of file, env and generate'],
    [{ generate: 20, as_text: true }, 'as_text requires file'],
    [{ text: 'hunter2' }, 'no argument text: what is in the conversation is no secret'],
    [{ generate: 'words:99' }, 'must be from words:4 to words:64'],
    [{ generate: 20, expire: '-x' }, '--expire must be a duration or a time'],
    [{ generate: 20, views: '3' }, 'views: Invalid input: expected number'],
  ])('refuses %j, and sends nothing', async (given, why) => {
    const { call } = await server();
    expect(await call('push', given)).toContain(why);
    expect(here.asked).toEqual([]);
  });
});

describe('save', () => {
  test('saves files of a push into a folder, and its text beside them', async () => {
    const { call } = await server();
    const token = await createWithFiles(
      here.service,
      { name: 'push[payload]', value: SECRET },
      filePart('key.pem', SECRET),
    );
    expect(await call('save', { link: token, file: 'new/' })).toBe(
      'saved new/secret.txt (17 B)\nsaved new/key.pem (17 B)',
    );
    expect(readdirSync(here.file('root/new')).sort()).toEqual(['key.pem', 'secret.txt']);
  });

  test('saves the one file of a push under the name that is given', async () => {
    const { call } = await server();
    const { html_url: link } = JSON.parse(await call('push', { file: 'db.env', click: false }));
    expect(await call('save', { link, file: 'new' })).toBe('saved new (27 B)');
    expect([saved('new'), readdirSync(here.file('root')).sort()]).toEqual([`PASSWORD=${SECRET}\n`, ['db.env', 'new']]);
    const line = 'saved inbox/db.env (27 B)';
    expect(await call('save', { link, file: 'inbox/' })).toBe(line);
    mkdirSync(here.file('root/old'));
    expect(await call('save', { link, file: 'old' })).toBe(line.replace('inbox', 'old'));
  });

  test('overwrites nothing, and uses no view then', async () => {
    const { call } = await server();
    const token = await here.push({ payload: SECRET, expire_after_views: 1 });
    expect(await call('save', { link: token, file: 'db.env' })).toMatch(/^! "db.env" already exists/);
    expect(await call('save', { link: token, file: 'db.out' })).toBe('saved db.out (17 B)');
  });

  test('does not take a passphrase, and says whom to ask', async () => {
    const { call } = await server();
    const token = await here.push({ payload: SECRET, passphrase: 'horse' });
    const told = await call('save', { link: token, file: 'out' });
    expect(told).toMatch(/^! .*passphrase[\s\S]*Ask the person to open it in a terminal/);
    const given = { conditions: { env: { PWPUSH_PASSPHRASE: 'horse' } } };
    const { call: callWithIt } = await server([], given);
    expect(await callWithIt('save', { link: token, file: 'out' })).toContain('saved out (17 B)');
  });
});

describe('the rest', () => {
  test('wait tells of a view, of an expiry and of an answer', async () => {
    const { call } = await server();
    const push = { payload: SECRET, expire_after_views: 5 };
    const token = await here.push(push, here.admin.PWPUSH_TOKEN);
    await here.run('get', token);
    expect(await call('wait', { link: token })).toBe('the push was viewed');
    const unseen = await here.push(push, here.admin.PWPUSH_TOKEN);
    await owner().run('expire', unseen);
    expect(await call('wait', { link: unseen })).toBe('! the push expired without a view');
    const { stdout: request } = await owner().run('request', 'The password?');
    await here.under({ stdin: SECRET }).run('respond', request.trim());
    expect(await call('wait', { link: request.trim() })).toMatch(/^the request was answered/);
    expect(await call('preview', { link: request.trim() })).toContain('"state":"ready"');
    expect(await call('list', { state: 'ready' })).toContain('/r/');
    expect(await call('save', { link: request.trim(), file: 'answer' })).toBe('saved answer (17 B)');
  });

  test('a link is never taken for an option, and must be one', async () => {
    const { call } = await server(['--allow-run', 'sh']);
    for (const link of ['--help', '-h', '--output=x', 'no link'])
      for (const name of ['preview', 'expire', 'audit', 'wait']) expect(await call(name, { link })).toMatch(/^! /);
    expect(await call('run', { link: '--as', command: ['sh'] })).toMatch(/^! /);
    expect(here.asked).toEqual([]);
  });

  test('an argument has 2,000 characters at most', async () => {
    const { call } = await server();
    const told = (characters: number) => call('preview', { link: `https://pw.test/${'x'.repeat(characters - 16)}` });
    expect(await told(2000)).toMatch(/^! not a link/);
    expect(await told(2001)).toMatch(/link: .*2000 characters/);
    expect(here.asked).toEqual([]);
  });

  test('says why it ends at a message that is too large', async () => {
    const { ended, call, client } = await server();
    const calling = call('preview', { link: 'x'.repeat(10 * 1024 * 1024) }).catch(() => 'closed');
    expect(await ended).toMatchObject({ code: 1, stderr: expect.stringContaining('10 MiB') });
    await client.close();
    expect(await calling).toBe('closed');
  });

  test('only so many calls go on at once', async () => {
    const { call } = await server();
    const told = await Promise.all(Array.from({ length: 55 }, () => call('list')));
    const many = '! 50 calls go on; wait for their results';
    expect(told.filter((one) => one === many)).toHaveLength(5);
    expect(await call('list')).toBe('[]');
  });

  test('a cancelled call ends, and the server goes on', async () => {
    const { client, call } = await server();
    const token = await here.push({ payload: 's' }, here.admin.PWPUSH_TOKEN);
    const stop = new AbortController();
    const calls = { name: 'wait', arguments: { link: token, seconds: 3600 } };
    const waiting = client.callTool(calls, { signal: stop.signal });
    await expect.poll(() => here.asked.length, { message: 'wait has looked' }).toBeGreaterThan(2);
    stop.abort();
    await expect(waiting).rejects.toThrow();
    expect(await call('preview', { link: token })).toContain(token);
    const before = here.asked.length;
    expect(await call('list')).toContain(token);
    expect(here.asked.length - before).toBe(1);
  });
});

test.each([
  [['--root', 'nowhere'], '--root must be a folder'],
  [['--root', 'package.json'], 'is not a folder'],
  [['--token-file', '-'], 'cannot be both the protocol and the token'],
])('%j is refused', async (words, why) => {
  const { code, stderr } = await here.run('mcp', ...words);
  expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
});
