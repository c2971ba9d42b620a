import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import { type Instance, instance } from '../helpers/instance';
import { changed, RETRIEVED } from '../helpers/reference';
import { json } from '../helpers/wire';

let here: Instance;
beforeEach(async () => {
  here = await instance();
});
afterEach(() => here.close());

const views = async (token: string) => {
  const listed = await here.under({ env: here.admin }).run('list', '--json');
  return JSON.parse(listed.stdout).find((one: { url_token: string }) => one.url_token === token)
    ?.views_remaining;
};

describe('the text', () => {
  test.each(['hunter2', 'a\n', '\u001b[31mred\u0007\r\n\u202e', 'é日本\0', ' '])(
    'goes into a pipe as it is: %j',
    async (payload) => {
      const token = await here.push({ payload: `${payload}x`, expire_after_views: 3 });
      expect(await here.run('get', token)).toEqual({
        code: 0,
        stdout: `${payload}x`,
        stderr: '',
      });
    },
  );

  test('has its control characters made visible on a terminal, and ends with a line end', async () => {
    const token = await here.push({ payload: '\u001b[31mred\u0007\tx\nüñ\u202e', kind: 'text' });
    expect(await here.under({ terminals: ['stdout', 'stderr'] }).run('get', token)).toEqual({
      code: 0,
      stdout: '\\x1b[31mred\\x07\tx\nüñ\\u202e\n',
      stderr: '4 views and 7 days left\n',
    });
  });

  test('that ends with a line end gets no second one on a terminal', async () => {
    const token = await here.push({ payload: 'a\n' });
    const { stdout } = await here.under({ terminals: ['stdout'] }).run('get', token);
    expect(stdout).toBe('a\n');
  });

  test('comes with its object with --json, without the passphrase', async () => {
    const token = await here.push({
      payload: 'hunter2',
      passphrase: 'horse',
      expire_after_views: 2,
    });
    const env = { PWPUSH_PASSPHRASE: 'horse' };
    const { code, stdout, stderr } = await here.under({ env }).run('get', token, '--json');
    const { url_token, payload, files, views_remaining, ...rest } = JSON.parse(stdout);
    expect({ code, stderr, url_token, payload, files, views_remaining }).toEqual({
      code: 0,
      stderr: '',
      url_token: token,
      payload: 'hunter2',
      files: [],
      views_remaining: 1,
    });
    expect(Object.keys(rest)).not.toContain('passphrase');
  });
});

describe('what is left', () => {
  test('is said in hours or minutes on the last day', async () => {
    const token = await here.push({ payload: 'x', expire_after_views: 9, expires_in: 172_800 });
    const said = [];
    for (const hours of [0, 24, 18, 5.5]) {
      here.service.clock.advance(hours * 3_600_000);
      said.push((await here.under({ terminals: ['stderr'] }).run('get', token)).stderr);
    }
    expect(said.map((text) => text.split('\n')[0])).toEqual([
      '8 views and 2 days left',
      '7 views and 1 day left',
      '6 views and 6 h left',
      '5 views and 30 min left',
    ]);
  });

  test('is said at a terminal, and the last one is called that', async () => {
    const token = await here.push({ payload: 'x', expire_after_views: 3, expire_after_days: 1 });
    const said = [];
    for (let look = 0; look < 4; look++)
      said.push(await here.under({ terminals: ['stderr'] }).run('get', token));
    expect(said).toEqual([
      { code: 0, stdout: 'x', stderr: '2 views and 1 day left\n' },
      { code: 0, stdout: 'x', stderr: '1 view and 1 day left\n1 view was used before yours\n' },
      { code: 0, stdout: 'x', stderr: 'that was the last view\n2 views were used before yours\n' },
      {
        code: 6,
        stdout: '',
        stderr: 'pwpush: the push has expired\nhint: ask the sender for a new one\n',
      },
    ]);
  });

  test('is not said off a terminal, where it could run together with the text', async () => {
    const token = await here.push({ payload: 'hunter2', expire_after_views: 1 });
    expect(await here.run('get', token)).toEqual({ code: 0, stdout: 'hunter2', stderr: '' });
  });

  test('is not said with --quiet', async () => {
    const token = await here.push({ payload: 'x' });
    expect(await here.run('get', token, '-q')).toEqual({ code: 0, stdout: 'x', stderr: '' });
  });
});

describe('whether somebody looked before', () => {
  const earlier = async (answered: Record<string, unknown>, ...words: string[]) => {
    const got = async (...more: string[]) => {
      const answers = [json(200, changed(RETRIEVED, answered))];
      const conditions = { terminals: ['stdout', 'stderr'] } as const;
      return asking(answers, ['get', 'quyul5r5w08', ...words, ...more], conditions);
    };
    const [, said = ''] = (await got()).stderr.split('\n');
    return [said, JSON.parse((await got('--json')).stdout).earlier_views];
  };

  test.each([
    [{ expire_after_views: 5, views_remaining: 4 }, ['', 0]],
    [{ expire_after_views: 5, views_remaining: 3 }, ['1 view was used before yours', 1]],
    [{ expire_after_views: 5, views_remaining: 0 }, ['4 views were used before yours', 4]],
    [{ expire_after_views: 1, views_remaining: 0 }, ['', 0]],
    [{ expire_after_views: '3', views_remaining: '1' }, ['1 view was used before yours', 1]],
    // No view was used, whatever the reason.
    [{ expire_after_views: 5, views_remaining: 5 }, ['', null]],
    [{ expire_after_views: undefined }, ['', null]],
    [{ views_remaining: null }, ['', null]],
    [{ views_remaining: 'all', earlier_views: 7 }, ['', null]],
  ])('%j: %j', async (answered, said) => {
    expect(await earlier(answered)).toEqual(said);
  });

  test('is unknown with a token: the owner’s look uses no view', async () => {
    const token = await here.push({ payload: 'x', expire_after_views: 3 }, here.service.adminToken);
    await here.run('get', token);
    const own = here.under({ env: here.admin, terminals: ['stdout', 'stderr'] });
    expect((await own.run('get', token)).stderr).toBe('2 views and 7 days left\n');
    expect(JSON.parse((await own.run('get', token, '--json')).stdout).earlier_views).toBe(null);
    const anonymous = await own.run('get', token, '--anonymous');
    expect(anonymous.stderr).toBe('1 view and 7 days left\n1 view was used before yours\n');
  });

  test('is said on a terminal only, and not with --quiet', async () => {
    const token = await here.push({ payload: 'hunter2' });
    await here.run('get', token);
    const watched = here.under({ terminals: ['stderr'] });
    expect((await watched.run('get', token)).stderr).toBe(
      '3 views and 7 days left\n1 view was used before yours\n',
    );
    const quiet = [await here.run('get', token), await watched.run('get', token, '-q')];
    expect(quiet.map(({ stderr }) => stderr)).toEqual(['', '']);
  });
});

describe('a push that cannot be had', () => {
  test('expired by time', async () => {
    const token = await here.push({ payload: 'x', expire_after_days: 1 });
    here.service.clock.advance(24 * 60 * 60 * 1000 + 1);
    const { code, stdout } = await here.run('get', token);
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
  });

  test('unknown', async () => {
    expect(await here.run('get', 'https://pw.test/p/nosuchpush')).toEqual({
      code: 5,
      stdout: '',
      stderr:
        'pwpush: no such push on this instance\n' +
        'hint: check the link for missing characters, and the instance with pwpush version\n',
    });
  });

  test('no link at all: nothing is sent', async () => {
    const { code } = await here.run('get', 'two words');
    expect({ code, asked: here.asked }).toEqual({ code: 2, asked: [] });
  });
});

describe('the token', () => {
  test('goes along on the profile’s own instance: the owner’s look takes no view', async () => {
    const token = await here.push({ payload: 'x', expire_after_views: 2 }, here.service.adminToken);
    await here.keep({
      current: 'p',
      profiles: { p: { url: 'https://pw.test', token: here.service.adminToken } },
    });
    const own = here.under({ env: { PWPUSH_URL: undefined } });
    const outcome = await own.run('get', `https://pw.test/p/${token}/r`);
    expect(outcome).toEqual({ code: 0, stdout: 'x', stderr: '' });
    expect(await views(token)).toBe(2);
  });

  test('does not with --anonymous: that takes a view', async () => {
    const token = await here.push({ payload: 'x' }, here.service.adminToken);
    await here.under({ env: here.admin }).run('get', '--anonymous', token);
    expect(await views(token)).toBe(4);
  });

  test('that is refused is exit 3, with a hint at --anonymous, and takes no view', async () => {
    const token = await here.push({ payload: 'x' }, here.service.adminToken);
    const env = { PWPUSH_TOKEN: 'revoked' };
    expect(await here.under({ env }).run('get', token)).toEqual({
      code: 3,
      stdout: '',
      stderr:
        'pwpush: the instance refused the token from PWPUSH_TOKEN\n' +
        'hint: set a valid one there, log in with pwpush login, or use --anonymous to send none\n',
    });
    expect(await views(token)).toBe(5);
  });

  test('stays at home when the link is of another instance', async () => {
    const token = await here.push({ payload: 'x' }, here.service.adminToken);
    const env = { PWPUSH_URL: 'https://elsewhere.test', ...here.admin };
    const outcome = await here.under({ env }).run('get', `https://pw.test/p/${token}`);
    expect(outcome).toEqual({ code: 0, stdout: 'x', stderr: '' });
    expect(await views(token)).toBe(4);
  });
});

describe('a passphrase', () => {
  const question = (secret: string, answer: string) => ({ secret, answer });
  let token: string;
  beforeEach(async () => {
    token = await here.push({ payload: 'x', passphrase: 'horse' });
  });

  test('is asked for where somebody is there, again when it was wrong', async () => {
    const prompts = [
      question('Passphrase:', 'house'),
      question('Wrong passphrase, try again:', 'hose'),
      question('Wrong passphrase, try again:', 'horse'),
    ];
    expect(await here.under({ prompts }).run('get', token)).toEqual({
      code: 0,
      stdout: 'x',
      stderr: '',
    });
  });

  test('is asked for three times and not a fourth', async () => {
    const prompts = [
      question('Passphrase:', 'a'),
      question('Wrong passphrase, try again:', 'b'),
      question('Wrong passphrase, try again:', 'c'),
    ];
    expect(await here.under({ prompts }).run('get', token)).toEqual({
      code: 7,
      stdout: '',
      stderr:
        'pwpush: wrong passphrase\n' +
        'hint: ask the sender of the link; only a few attempts per minute are allowed\n',
    });
  });

  const failures = async () => {
    const listed = await here.under({ env: here.admin }).run('audit', token, '--all', '--json');
    const events: { kind: string; count?: number }[] = JSON.parse(listed.stdout);
    const failed = events.filter(({ kind }) => kind === 'failed_passphrase');
    return failed.reduce((sum, { count = 1 }) => sum + count, 0);
  };

  test.each([
    [['horse'], 0, 0],
    [['house', 'horse'], 0, 1],
    [['a', 'b', 'horse'], 0, 2],
    [['a', 'b', 'c'], 7, 3],
  ])('%j typed for -p: exit %d, and %d failures at the instance', async (typed, code, failed) => {
    token = await here.push({ payload: 'x', passphrase: 'horse' }, here.service.adminToken);
    const prompts = typed.map((answer, at) =>
      question(at === 0 ? 'Passphrase:' : 'Wrong passphrase, try again:', answer),
    );
    const outcome = await here.under({ prompts }).run('get', '-p', token);
    expect({ code: outcome.code, failed: await failures() }).toEqual({ code, failed });
  });

  test.each([
    [{ PWPUSH_PASSPHRASE: 'house' }, []],
    [{ P: 'house' }, ['--passphrase-env', 'P']],
  ])('%j that is wrong is one failure at the instance', async (env, words) => {
    token = await here.push({ payload: 'x', passphrase: 'horse' }, here.service.adminToken);
    const { code } = await here.under({ env, prompts: [] }).run('get', token, ...words);
    expect({ code, failed: await failures() }).toEqual({ code: 7, failed: 1 });
  });

  const KEYS = [
    ['a link key', 'Zm9v-_YmFyIGJhego0MjEw'],
    ['a link with its key', 'https://pw.test/p/abc#Zm9v-_YmFyIGJhego0MjEw'],
    ['words', 'abacus-abdomen-abdominal-abide-abiding-ability'],
    ['words with spaces', 'Abacus abdomen abdominal abide abiding ability'],
    ['words, one of them mistyped', 'abacus-abdomen-abdominal-abyde-abiding-ability'],
  ];
  test.each(KEYS)(
    'that is a key is not sent, no matter who asks for it: %s',
    async (_what, key) => {
      writeFileSync(here.file('key'), `${key}\n`);
      const asked = [question('Passphrase:', key)];
      const run = ['run', token, '--as', 'A', '--', 'true'];
      const request = ['respond', 'https://pw.test/r/abc'];
      const ways: [Parameters<typeof here.under>[0], string[], string[]][] = [
        [{ env: { PWPUSH_PASSPHRASE: key } }, [], []],
        [{ env: { PHRASE: key } }, ['--passphrase-env', 'PHRASE'], []],
        [{}, ['--passphrase-file', here.file('key')], []],
        [{ prompts: asked }, ['-p'], []],
        [{ prompts: asked }, [], [`GET /api/v2/pushes/${token}`]],
      ];
      for (const line of [['get', token], run, request])
        for (const [conditions, words, sent] of ways) {
          // Nobody asks for the passphrase of a request that is not there.
          if (line === request && sent.length > 0) continue;
          here.asked.length = 0;
          const env = { PATH: process.env.PATH, ...conditions.env };
          const [name = '', ...others] = line;
          const ended = await here.under({ ...conditions, env }).run(name, ...words, ...others);
          expect({ line, words, ...ended, asked: here.asked }).toEqual({
            ...{ line, words, code: 2, stdout: '', asked: sent },
            stderr: expect.stringContaining('not sent as a passphrase: it is the key or the words'),
          });
          expect(ended.stderr).not.toContain(key);
        }
      const env = { PWPUSH_PASSPHRASE: 'horse' };
      expect((await here.under({ env }).run('get', token)).stdout).toBe('x');
    },
  );

  test.each(KEYS)('that is a key is not accepted for a new push: %s', async (_what, key) => {
    const lines = JSON.stringify({ payload: 'x', passphrase: key });
    for (const words of [['--passphrase-env', 'PHRASE'], ['--each']]) {
      const there = here.under({ env: { PHRASE: key }, stdin: lines });
      const { code, stdout } = await there.run('push', ...words);
      expect([words, code, stdout.trim(), here.asked]).toEqual([words, 2, '', []]);
    }
  });

  test('is asked for first with -p', async () => {
    const prompts = [question('Passphrase:', 'horse')];
    const { code } = await here.under({ prompts }).run('get', '-p', token);
    expect({ code, requests: here.asked.length }).toEqual({ code: 0, requests: 1 });
  });

  test('that was given and is wrong is not asked for again', async () => {
    const env = { PWPUSH_PASSPHRASE: 'house' };
    const { code } = await here.under({ env, prompts: [] }).run('get', token);
    expect({ code, requests: here.asked.length }).toEqual({ code: 7, requests: 1 });
  });

  test('comes from standard input, a variable of any name, and PWPUSH_PASSPHRASE last', async () => {
    const env = { PWPUSH_PASSPHRASE: 'house', PHRASE: 'horse' };
    const asked = here.under({ env, stdin: 'horse\n' });
    const outcomes = [
      await asked.run('get', token, '--passphrase-file', '-'),
      await asked.run('get', token, '--passphrase-env', 'PHRASE'),
      await asked.run('get', token),
    ];
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 7]);
  });
});
