import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { decryptText, passphraseIdentity, passphraseRecipient } from '../../src/age/age';
import { parseIdentities, parseRecipients } from '../../src/age/key-files';
import { limits } from '../../src/contract/api';
import type { Transport } from '../../src/platform/context';
import { encryptText, keyOf, proven, withoutKey } from '../helpers/age';
import { type Instance, instance } from '../helpers/instance';
import { needsPrograms } from '../helpers/needs';
import { CREATED, changed, EXPIRED, RETRIEVED } from '../helpers/reference';
import { place } from '../helpers/run';
import { makeSshKey } from '../helpers/ssh-key';
import { json, wire } from '../helpers/wire';

const KEY = '[\\w-]{21}[AQgw]';
const ARMOR = /^-----BEGIN AGE ENCRYPTED FILE-----\n/;

let here: Instance;
beforeEach(async () => {
  here = await instance({ stdin: 'hunter2' });
});
afterEach(() => here.close());

const sshKey = (type: string, name: string, passphrase = '', ...more: string[]) =>
  makeSshKey(here.file(name), type, passphrase, ...more);

describe('push --encrypt', () => {
  test('prints a link with a key, and the instance stores armor that the key opens', async () => {
    const { code, stdout, stderr } = await here.run('push', '--encrypt');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`^https://pw\\.test/p/[\\w-]+(?:/r)?#${KEY}\n$`));
    const stored = (await here.run('get', stdout.trim(), '--no-decrypt')).stdout;
    expect(stored).toMatch(ARMOR);
    const opened = await decryptText(stored, [passphraseIdentity(keyOf(stdout))]);
    expect(opened.toString()).toBe('hunter2');
    expect((await here.run('get', stdout)).stdout).toBe('hunter2');
  });

  test.each(['hunter2', '', 'link ', 'Words'])('takes no text as its value: %j', async (value) => {
    const { code, stdout, stderr } = await here.run('push', `--encrypt=${value}`);
    expect({ code, stdout, asked: here.asked }).toEqual({ code: 2, stdout: '', asked: [] });
    expect(stderr).not.toContain('hunter2');
  });

  test('a text after it is refused, as after -p', async () => {
    const { code, stderr } = await here.run('push', '--encrypt', 'hunter2');
    expect({ code, asked: here.asked }).toEqual({ code: 2, asked: [] });
    expect(stderr).not.toContain('hunter2');
    const { stdout } = await here.run('push', '--encrypt', '--', 'hunter3');
    expect((await here.run('get', stdout)).stdout).toBe('hunter3');
  });

  test.each([
    [['--to', 'age1x', '--encrypt=link']],
    [['-R', 'file', '--encrypt=words']],
    [['--no-encrypt', '-R', 'file']],
    [['--no-encrypt', '--key-out', 'file']],
    [['--key-out', 'file']],
    [['--encrypt', '--kind', 'qr']],
    [['--encrypt=words', '--each']],
  ])('exit 2 and nothing is sent: %j', async (words) => {
    const { code, stdout } = await here.run('push', ...words);
    expect({ code, stdout, asked: here.asked }).toEqual({ code: 2, stdout: '', asked: [] });
  });

  test('--json has the whole link and says so; the payload is never plaintext', async () => {
    const created = JSON.parse((await here.run('push', '--encrypt', '--json')).stdout);
    expect(created).toMatchObject({ encrypted: true });
    expect(created.html_url).toMatch(new RegExp(`#${KEY}$`));
    expect(JSON.stringify(created)).not.toContain('hunter2');
    const { payload, encrypted } = JSON.parse(
      (await here.run('get', created.html_url, '--json')).stdout,
    );
    expect({ payload, encrypted }).toEqual({ payload: 'hunter2', encrypted: true });
  });

  test('a generated secret has a field of its own in --json', async () => {
    const argv = ['push', '--encrypt', '--generate', 'hex:32', '--json'];
    const { generated, payload, html_url } = JSON.parse((await here.run(...argv)).stdout);
    expect({ generated, payload }).toEqual({
      generated: expect.stringMatching(/^[\da-f]{32}$/),
      payload: undefined,
    });
    expect((await here.run('get', html_url)).stdout).toBe(generated);
  });

  test('--each gives every line a key of its own', async () => {
    const lines = here.under({ stdin: 'one\ntwo\n{three}\n' });
    const { code, stdout } = await lines.run('push', '--each', '--encrypt');
    const links = stdout.trim().split('\n');
    expect(code).toBe(0);
    expect(new Set(links.map(keyOf)).size).toBe(3);
    const texts = await Promise.all(
      links.map(async (link) => (await here.run('get', link)).stdout),
    );
    expect(texts).toEqual(['one', 'two', '{three}']);
  });

  test('--each encrypts every line to the same public keys', async () => {
    const path = sshKey('ed25519', 'id');
    const lines = here.under({ stdin: 'one\ntwo\n' });
    const { stdout } = await lines.run('push', '--each', '-R', `${path}.pub`);
    const links = stdout.trim().split('\n');
    const get = async (link: string) => (await here.run('get', link, '-i', path)).stdout;
    expect(await Promise.all(links.map(get))).toEqual(['one', 'two']);
  });

  test('a line of --each that cannot be encrypted is not pushed', async () => {
    const stdin = '{"payload":"https://a.test","kind":"url"}\n{"payload":"two","note":"n"}\n';
    const { code, stdout } = await here.under({ stdin }).run('push', '--each', '--encrypt');
    expect(code).toBe(2);
    expect(stdout).toMatch(new RegExp(`^\nhttps://\\S+#${KEY}\n$`));
    expect(here.asked).toEqual(['POST /api/v2/pushes']);
  });

  test('works with the passphrase of the instance, which is not mixed in', async () => {
    const env = { PWPUSH_PASSPHRASE: 'sesame' };
    const { stdout } = await here.under({ env }).run('push', '--encrypt');
    expect((await here.run('get', stdout)).code).toBe(7);
    expect((await here.under({ env }).run('get', stdout)).stdout).toBe('hunter2');
  });
});

describe('the longest text', () => {
  const most = 773_924;

  test('is as long as the armor of a link key allows', async () => {
    const stdin = 'x'.repeat(most);
    const { code, stdout } = await here.under({ stdin }).run('push', '--encrypt');
    expect(code).toBe(0);
    const armor = (await here.run('get', stdout, '--no-decrypt')).stdout;
    expect(armor.length).toBeLessThanOrEqual(limits.textBytes);
    expect((await here.run('get', stdout)).stdout).toBe(stdin);
  });

  test('and one byte more is refused', async () => {
    const stdin = 'x'.repeat(most + 1);
    const { code } = await here.under({ stdin }).run('push', '--encrypt');
    expect({ code, asked: here.asked }).toEqual({ code: 2, asked: [] });
  });
});

describe('the profile', () => {
  const profile = { url: 'https://pw.test', encrypt: 'link' } as const;

  test('with an unknown value pushes nothing in clear', async () => {
    mkdirSync(here.file('config'));
    writeFileSync(
      here.file('config/config.json'),
      JSON.stringify({ current: 'a', profiles: { a: { ...profile, encrypt: 'lnik' } } }),
    );
    expect((await here.under({ env: { PWPUSH_URL: '' } }).run('push')).code).toBe(2);
    expect(here.asked).toEqual([]);
  });
});

describe('get --from-file', () => {
  const saved = async (...words: string[]) => {
    const files = ['a', 'b'].map((name) => here.file(name));
    for (const file of files) writeFileSync(file, `content of ${file}`);
    const push = ['push', '--encrypt', '--views', '1', '--file', ...files, ...words];
    const { stdout } = await here.under({ env: here.admin }).run(...push);
    const folder = here.file(`saved${words.length}/`);
    const got = await here.run('get', stdout.trim(), '--no-decrypt', '--output', folder);
    expect(got.code).toBe(0);
    return { key: keyOf(stdout), folder, text: `${folder}secret.txt` };
  };
  const read = (key: string, ...words: string[]) =>
    here.under({ env: { PWPUSH_KEY: key, PWPUSH_URL: '' } }).run('get', ...words);

  test('opens files beside the text that lists them, and no others', async () => {
    const { key, folder, text } = await saved('--message', 'both');
    writeFileSync(`${folder}3.age`, 'of another push');
    const to = here.file('opened/');
    const before = here.asked.length;
    expect(await read(key, '--from-file', text, '--output', to)).toMatchObject({ code: 0 });
    expect(readFileSync(`${to}secret.txt`, 'utf8')).toBe('both');
    expect(readFileSync(`${to}b`, 'utf8')).toBe(`content of ${here.file('b')}`);
    expect(here.asked.length).toBe(before);
  });

  test('says which are missing, damaged or to be opened otherwise', async () => {
    const { key, folder, text } = await saved();
    const to = ['--output', here.file('opened-2/')];
    expect((await read(key, '--from-file', `${folder}1.age`)).code).toBe(2);
    writeFileSync(`${folder}1.age`, 'exchanged');
    expect((await read(key, '--from-file', text, ...to)).code).toBe(1);
    rmSync(`${folder}2.age`);
    const missing = await read(key, '--from-file', text, ...to);
    expect([missing.code, /\b1 missing/.test(missing.stderr)]).toEqual([1, true]);
  });

  test('needs no instance, and opens a text in whose folder are files of others', async () => {
    const { stdout } = await here.run('push', '--encrypt');
    const path = here.file('alone');
    await here.run('get', stdout.trim(), '--no-decrypt', '--output', path);
    writeFileSync(here.file('1.age'), 'of another push');
    expect(await read(keyOf(stdout), '--from-file', path)).toMatchObject({ stdout: 'hunter2' });
  });
});

describe('a link that lost its key', () => {
  /** The link of a push that an instance gives without a proof of its key. */
  const unproved = async () => {
    const { key, payload } = await proven('hunter2');
    const { stdout } = await here.under({ stdin: payload }).run('push', '--views', '1');
    return { stdout: `${stdout.trim()}#${key}` };
  };

  test('saves the armor', async () => {
    const { stdout } = await unproved();
    const { code, stdout: out } = await here.run('get', withoutKey(stdout));
    const [[name = '', armor = ''] = []] = Object.entries(here.rescued());
    expect({ code, out }).toEqual({ code: 7, out: '' });
    expect((await decryptText(armor, [passphraseIdentity(keyOf(stdout))])).toString()).toBe(
      'hunter2',
    );
    const path = here.file(`state/${name}`);
    const opened = await here.run('get', '--from-file', path, stdout.trim());
    expect(opened).toEqual({ code: 0, stdout: 'hunter2', stderr: '' });
  });

  test('is asked for at a terminal; the armor is saved before, and removed after', async () => {
    const { stdout } = await unproved();
    let saved = 0;
    const prompts = [
      {
        secret: 'Key or words:',
        get answer() {
          saved = Object.keys(here.rescued()).length;
          return keyOf(stdout);
        },
      },
    ];
    const got = await here.under({ prompts }).run('get', withoutKey(stdout));
    expect([got.stdout, saved, here.rescued()]).toEqual(['hunter2', 1, {}]);
  });

  test('may be pasted whole, at the prompt, in a file and in PWPUSH_KEY', async () => {
    const { stdout } = await here.run('push', '--encrypt', '--views', '9');
    const bare = withoutKey(stdout);
    writeFileSync(here.file('link'), stdout);
    for (const text of [stdout.trim(), `#${keyOf(stdout)}`]) {
      const prompts = [{ secret: 'Key or words:', answer: text }];
      const ways = [
        await here.under({ prompts }).run('get', bare),
        await here.under({ env: { PWPUSH_KEY: text } }).run('get', bare),
        await here.run('get', bare, '--key-file', here.file('link')),
      ];
      expect(ways.map(({ stdout }) => stdout)).toEqual(ways.map(() => 'hunter2'));
    }
  });
});

describe('armor of other programs', () => {
  test('with any passphrase is opened, in a push like any other', async () => {
    const armor = await encryptText('from afar', [passphraseRecipient('Pass phrase 1', 10)]);
    const token = await here.push({
      payload: `\n${armor.replaceAll('\n', '\r\n')}`,
      expire_after_views: 9,
    });
    const env = { PWPUSH_KEY: 'Pass phrase 1' };
    expect((await here.under({ env }).run('get', token)).stdout).toBe('from afar');
    const { code, stdout } = await here.run('get', token, '--no-decrypt');
    expect([code, stdout.trimStart()]).toEqual([0, expect.stringMatching(/^-----BEGIN AGE/)]);
  });

  test(
    'age -d opens what --to makes, and get opens what age made',
    needsPrograms('age'),
    async () => {
      const path = sshKey('ed25519', 'id');
      const { stdout } = await here.run('push', '-R', `${path}.pub`, '--views', '9');
      const input = (await here.run('get', stdout, '--no-decrypt')).stdout;
      const age = (words: string[], input: string) =>
        spawnSync('age', words, { input, encoding: 'utf8' });
      expect(age(['-d', '-i', path], input).stdout).toBe('hunter2');
      const made = age(['-a', '-R', `${path}.pub`], 'by age').stdout;
      const token = await here.push({ payload: made });
      expect((await here.run('get', token, '-i', path)).stdout).toBe('by age');
    },
  );

  test('that is broken is an error, and is saved', async () => {
    const armor = await encryptText(
      'x',
      parseRecipients(readFileSync(`${sshKey('ed25519', 'id')}.pub`, 'utf8')),
    );
    const identities = parseIdentities(readFileSync(here.file('id'), 'utf8'));
    expect((await decryptText(armor, identities)).toString()).toBe('x');
    for (const payload of [armor.slice(0, 100), armor.replace('-----END', 'x-----END')]) {
      const token = await here.push({ payload, expire_after_views: 1 });
      const { code, stdout } = await here.run('get', token, '-i', here.file('id'));
      expect([code, stdout]).toEqual([1, '']);
    }
    expect(Object.values(here.rescued()).sort()).toEqual(
      [armor.slice(0, 100), armor.replace('-----END', 'x-----END')].sort(),
    );
  });

  test('a push that is not encrypted though its link has a key is not printed', async () => {
    const token = await here.push({ payload: 'exchanged', expire_after_views: 1 });
    const { code, stdout } = await here.run('get', `${token}#${'A'.repeat(22)}`);
    expect([code, stdout, Object.values(here.rescued())]).toEqual([1, '', ['exchanged']]);
    const path = sshKey('ed25519', 'id');
    const recipients = parseRecipients(readFileSync(`${path}.pub`, 'utf8'));
    const armor = await encryptText('to a public key', recipients);
    const sealed = await here.push({ payload: armor, expire_after_views: 1 });
    const opened = await here.run('get', `${sealed}#${'A'.repeat(22)}`, '-i', path);
    expect([opened.code, opened.stdout]).toEqual([1, '']);
  });
});

describe('an instance that decides what is encrypted', () => {
  const WORDS_OF_ANN = 'abacus-abdomen-abdominal-abide-abiding-ability';
  const child = ['--', 'sh', '-c', 'echo "$A"; cat "$F"'];
  const env = {
    PATH: process.env.PATH,
    get GITHUB_ENV() {
      return here.file('job');
    },
  };
  const reported = () => (existsSync(env.GITHUB_ENV) ? readFileSync(env.GITHUB_ENV, 'utf8') : '');
  /** Each way of using a secret: its command line, and whether it was used. */
  const uses = (link: string) => [
    ['get', link],
    ['get', link, '--json'],
    ['get', link, '--github-env', 'A'],
    ['run', link, '--as', 'A', ...child],
  ];
  /** The end of the link, the environment, options, and what the error names. */
  type Giver = [string, Record<string, string>, string[], string];
  const givers = (): Giver[] => {
    writeFileSync(here.file('words'), WORDS_OF_ANN);
    const key = 'A'.repeat(22);
    const damaged = [key.slice(1), 'AAAAA', `%20${key}`, `!${key}`, `x=${key}`, `${key}-`, 'top'];
    return [
      ...[key, ...damaged].map((text): Giver => [`#${text}`, {}, [], 'the link']),
      ['', { PWPUSH_KEY: WORDS_OF_ANN }, [], 'PWPUSH_KEY'],
      ['', {}, ['--key-file', here.file('words')], '--key-file'],
      ['', {}, ['-i', sshKey('ed25519', 'id')], '--identity'],
    ];
  };

  test('by sending clear text in place of what a key was given for: nothing gets it', async () => {
    for (const [end, more, options, said] of givers())
      for (const words of uses(`${await here.push({ payload: 'A=FORGED' })}${end}`)) {
        const at = here.under({ env: { ...env, ...more } });
        const [name = '', ...others] = words;
        const { code, stdout, stderr } = await at.run(name, ...options, ...others);
        expect([end, words, code, stdout, reported()]).toEqual([end, words, 1, '', '']);
        expect(stderr).toContain(`${said} has a key`);
      }
  });

  test('by answering as a request: it is not asked if there is a key', async () => {
    const sent: string[] = [];
    const { send } = forging(sent);
    const there = place({ send, env: { ...env, PWPUSH_URL: 'https://pw.test' } });
    const [, ...keys] = givers().filter(([, , [option]]) => option !== '-i');
    for (const [end, more, options] of keys)
      for (const link of ['https://pw.test/r/abc', 'https://pw.test/p/abc', 'abc'])
        for (const words of uses(`${link}${end}`)) {
          const [name = '', ...others] = words;
          const at = there.under({ env: { ...env, ...more } });
          const { code, stdout } = await at.run(name, ...options, ...others);
          expect([link, end, words[0], code, stdout]).toEqual([link, end, words[0], 5, '']);
        }
    for (const name of ['show', 'wait', 'audit', 'expire', 'preview'])
      expect((await there.run(name, `https://pw.test/r/abc#${'A'.repeat(22)}`)).code).toBe(5);
    expect(sent.filter((path) => !path.includes('/pushes/'))).toEqual([]);
    // An identity may be for an answer, which then has to be encrypted.
    for (const words of uses('https://pw.test/r/abc')) {
      const [name = '', ...others] = words;
      const { code, stdout } = await there.run(name, '-i', here.file('id'), ...others);
      expect([words[0], code, stdout]).toEqual([words[0], 1, '']);
    }
    expect((await there.run('get', 'https://pw.test/r/abc')).stdout).toBe('A=FORGED');
    there.close();
  });

  /** Has no push, and a request of every name with an answer. */
  function forging(sent: string[]) {
    const bodies: [RegExp, string][] = [
      [/\/version$/, '{"edition":"commercial","features":{"requests":{"enabled":true}}}'],
      [/\/requests\/abc\/preview$/, '{"url":"https://pw.test/r/abc"}'],
      [/\/requests\/abc$/, '{"url_token":"abc","state":"closed","response":"A=FORGED"}'],
    ];
    const send: Transport = async ({ url }) => {
      const { pathname } = new URL(url);
      sent.push(pathname);
      const found = bodies.find(([path]) => path.test(pathname));
      return {
        status: found ? 200 : 404,
        headers: { 'content-type': 'application/json' },
        body: (async function* () {
          yield Buffer.from(found?.[1] ?? '{"error":"not-found"}');
        })(),
      };
    };
    return { send };
  }
});

test.each([
  ['KEY'],
  ['help', 'KEY'],
  ['list', 'KEY'],
  ['push', '--days', 'KEY'],
  ['push', '--kind', 'KEY'],
  ['get', 'KEY', 'KEY'],
  ['get', '--key-file', 'KEY', 'abc'],
  ['get', '-i', 'KEY', 'abc'],
  ['get', '--output', 'KEY/', 'abc', '--no-such'],
  ['run', '--as', 'KEY', 'abc', '--', 'true'],
  ['run', 'abc', '--file', '=KEY', '--', 'true'],
  ['profile', 'KEY'],
])('an argument in the wrong place is not quoted with its key: %j', async (...words) => {
  const key = 'abcdefghijklmnop_-12-A';
  const drawn = 'abacus-abdomen-abdominal-abide-abiding-ability';
  const identity = `AGE-SECRET-KEY-1${'Q'.repeat(58)}`;
  const link = 'https://pw.test/p/abc';
  for (const [text, secret] of [
    [`${link}#${key}`, key],
    [`${link}%23${key}&utm_source=x`, key],
    [`https://x.safelinks.protection.outlook.com/?url=${link}%2523${key}`, key],
    [drawn, drawn],
    [drawn.replaceAll('-', ' '), 'abdomen'],
    [`${drawn}x`, 'abdomen'],
    [key, key],
    [identity, 'QQQQ'],
  ] as const)
    for (const more of [[], ['--json', '--debug']]) {
      const argv = [...more, ...words.map((word) => word.replace('KEY', text))];
      const { code, stdout, stderr } = await here.run(...argv);
      expect([code, stdout, here.asked]).toEqual([2, '', []]);
      expect(stderr).not.toContain(secret);
    }
});

test('of several links that fail, none is quoted with its key', async () => {
  const links = ['one', 'two'].map((token) => `https://pw.test/p/${token}#abcdefghijklmnop_-12-A`);
  for (const more of [[], ['--json', '--debug']]) {
    const { code, stderr } = await here.run('expire', ...more, ...links);
    expect(code).toBe(5);
    expect(stderr).toContain('two: ');
    expect(stderr).not.toContain('abcdefghijklmnop');
  }
});

test('other words in an argument are quoted', async () => {
  const name = 'abacus-abdomen-abdominal-abide-zzz-nonsense';
  const { stderr } = await here.run('get', 'abc', '--key-file', name);
  expect(stderr).toContain(name);
});

describe('whatever happens to the answer, the link keeps its key', () => {
  const at = (send: Parameters<typeof place>[0]) =>
    place({ env: { PWPUSH_URL: 'https://pw.test', PWPUSH_TOKEN: 't' }, stdin: 's', ...send });

  const foreign = ['/r/quyul5r5w08', '/api/v2/requests/quyul5r5w08', '/p/quyul5r5w08#age1qq', '/x'];
  test.each(['--encrypt', '--to', '--each'])(
    'a link that is not one of a push: it is expired again (%s)',
    async (mode) => {
      const key = mode === '--to' ? [readFileSync(`${sshKey('ed25519', 'id')}.pub`, 'utf8')] : [];
      const words = mode === '--each' ? ['--each', '--encrypt'] : [mode, ...key];
      for (const path of foreign) {
        const html_url = `https://pw.test/secrets${path}`;
        const answers = [json(201, changed(CREATED, { html_url })), json(200, EXPIRED)];
        const { send, sent } = wire(answers);
        const there = at({ send });
        const { code, stdout } = await there.run('push', ...words);
        expect([path, code, stdout.trim(), sent.length]).toEqual([path, 8, '', 2]);
        expect(sent[1]).toMatch(/^DELETE /);
        there.close();
      }
    },
  );

  test.each(['/p/quyul5r5w08', '/p/quyul5r5w08/r?locale=fr', '/f/quyul5r5w08'])(
    'a link of a push below any path gets the key: %s',
    async (path) => {
      const html_url = `https://pw.test/secrets${path}`;
      const there = at({ send: wire([json(201, changed(CREATED, { html_url }))]).send });
      const { code, stdout } = await there.run('push', '--encrypt');
      expect([code, stdout.split('#')[0]]).toEqual([0, html_url]);
      there.close();
    },
  );

  test('stdout and stderr fail: the rescue file has it', async () => {
    const there = at({ send: wire([json(201, changed(CREATED, {}))]).send });
    const conditions = { failing: { stdout: 'EPIPE', stderr: 'EPIPE' } } as const;
    await there.under(conditions).run('push', '--encrypt');
    const [[name = '', text = ''] = []] = Object.entries(there.rescued());
    expect(text).toMatch(new RegExp(`#${KEY}\n$`));
    expect(name).not.toContain(keyOf(text));
    expect(statSync(there.file(`state/${name}`)).mode & 0o777).toBe(0o600);
    there.close();
  });

  test('the armor comes back from the reference to the byte', async () => {
    let stored = '';
    const sending = at({
      send: async ({ body }) => {
        stored = JSON.parse(String(body)).push.payload;
        return {
          status: 201,
          headers: {},
          body: (async function* () {
            yield Buffer.from(changed(CREATED, {}));
          })(),
        };
      },
    });
    const { stdout } = await sending.run('push', '--encrypt');
    sending.close();
    const reading = at({ send: wire([json(200, changed(RETRIEVED, { payload: stored }))]).send });
    expect((await reading.run('get', stdout)).stdout).toBe('s');
    reading.close();
  });
});
