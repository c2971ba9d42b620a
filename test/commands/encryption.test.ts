import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { decryptText, passphraseIdentity, passphraseRecipient } from '../../src/age/age';
import { newKeyPair, parseRecipient } from '../../src/age/key-files';
import { limits } from '../../src/contract/api';
import { encryptText, keyOf, proven, withoutKey } from '../helpers/age';
import { answersTo } from '../helpers/answers';
import { asking } from '../helpers/foreign';
import { eachInstance } from '../helpers/instance';
import { CREATED, changed, EXPIRED } from '../helpers/reference';
import { place } from '../helpers/run';
import { json } from '../helpers/wire';

// What is said of keys: test/cases/push-encrypt*.txt and get-encrypted*.txt.

const PAIR = newKeyPair();

const here = eachInstance({ stdin: 'hunter2', env: { PATH: process.env.PATH } });
const get = async (...words: string[]) => (await here.run('get', ...words)).stdout;
const identity = () => {
  writeFileSync(here.file('id'), PAIR.identity);
  return here.file('id');
};

describe('push --encrypt', () => {
  test('prints a link with a key, and the instance stores armor that the key opens', async () => {
    const { code, stdout, stderr } = await here.run('push', '--encrypt');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^https:\/\/pw\.test\/p\/[\w-]+(?:\/r)?#[\w-]{21}[AQgw]\n$/);
    const stored = await get(stdout.trim(), '--no-decrypt');
    const opened = await decryptText(stored, [passphraseIdentity(keyOf(stdout))]);
    expect([`${opened}`, await get(stdout)]).toEqual(['hunter2', 'hunter2']);
  });

  test('the longest text is as long as the armor of a link key allows', async () => {
    const most = 'x'.repeat(773_924);
    const { stdout } = await here.under({ stdin: most }).run('push', '--encrypt');
    expect((await get(stdout, '--no-decrypt')).length).toBeLessThanOrEqual(limits.textBytes);
    expect((await get(stdout)) === most).toBe(true);
    here.asked.length = 0;
    const { code } = await here.under({ stdin: `${most}x` }).run('push', '--encrypt');
    expect([code, here.asked]).toEqual([2, []]);
  });
});

describe('armor within a text', () => {
  const quoted = (armor: string, sign: string) => armor.replace(/^(?=.)/gm, sign);
  const forms: [string, boolean, (armor: string) => string][] = [
    ['as it is', true, (armor) => armor],
    ['with a greeting', false, (armor) => `Hi Ann,\nhere it is:\n\n${armor}\n-- \nBob\n`],
    ['with a name after it', false, (armor) => `${armor}Bob`],
    ['quoted', true, (armor) => quoted(armor, '> ')],
    ['quoted twice, below a line', false, (armor) => `On Monday:\r\n${quoted(armor, '>> ')}`],
    ['in a code block', true, (armor) => `\`\`\`\n${armor}\`\`\`\n`],
    ['indented, with CRLF', true, (armor) => quoted(armor, '    ').replaceAll('\n', '\r\n')],
    ['in one line', true, (armor) => armor.trim().replaceAll('\n', ' ')],
    ['in shorter lines', true, (armor) => armor.replace(/[^-\n]{40}/g, '$&\n')],
  ];

  test.each(forms)('opens, and other text is told of: %s', async (_, isAlone, form) => {
    const { key, payload } = await proven('hunter2\n'.repeat(20));
    writeFileSync(here.file('mail'), form(payload));
    writeFileSync(here.file('key'), key);
    const by = ['--key-file', here.file('key')];
    const pushed = `https://pw.test/p/${await here.push({ payload: form(payload) })}#${key}`;
    for (const words of [['--from-file', here.file('mail'), ...by], [pushed]]) {
      const { code, stdout, stderr } = await here.run('get', ...words);
      expect([code, stdout]).toEqual([0, 'hunter2\n'.repeat(20)]);
      expect(stderr.includes('warning: other text is around the encrypted one')).toBe(!isAlone);
    }
  });

  test('is damaged where its end is missing, and not replaced', async () => {
    const { key, payload } = await proven('hunter2');
    const text = `Hi Ann,\n${payload.replace(/-----END.*/s, '')}`;
    const link = `https://pw.test/p/${await here.push({ payload: text })}#${key}`;
    const { code, stdout, stderr } = await here.run('get', link);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('is damaged');
    expect(stderr).not.toContain('replaced');
  });

  test('stays a part of a text in clear, where no key was given', async () => {
    const text = `sops:\n  enc: |\n${(await proven('x')).payload}`;
    expect(await get(await here.push({ payload: text }))).toBe(text);
  });
});

test('get --from-file opens files beside the text that lists them, and no others', async () => {
  const files = ['a', 'b'].map((name) => here.file(name));
  for (const file of files) writeFileSync(file, `content of ${file}`);
  const push = ['push', '--encrypt', '--file', ...files, '--message', 'both'];
  const { stdout } = await here.under({ env: here.admin }).run(...push);
  const [folder, to] = [here.file('saved/'), here.file('opened/')];
  const saved = await here.run('get', stdout.trim(), '--no-decrypt', '--output', folder);
  expect(saved.code).toBe(0);
  writeFileSync(`${folder}3.age`, 'of another push');
  const before = here.asked.length;
  const alone = here.under({ env: { PWPUSH_KEY: keyOf(stdout), PWPUSH_URL: '' } });
  const opening = ['get', '--from-file', `${folder}secret.txt`, '--output', to];
  expect((await alone.run(...opening)).code).toBe(0);
  expect(readFileSync(`${to}secret.txt`, 'utf8')).toBe('both');
  expect(readFileSync(`${to}b`, 'utf8')).toBe(`content of ${here.file('b')}`);
  expect(here.asked.length).toBe(before);
});

test('a link that lost its key saves the armor', async () => {
  // Of a push that an instance gives without a proof of its key.
  const { key, payload } = await proven('hunter2');
  const link = (await here.under({ stdin: payload }).run('push', '--views', '1')).stdout.trim();
  expect(await here.run('get', link)).toMatchObject({ code: 7, stdout: '' });
  const [[name = '', armor = ''] = []] = Object.entries(here.rescued());
  expect(`${await decryptText(armor, [passphraseIdentity(key)])}`).toBe('hunter2');
  const saved = here.file(`state/${name}`);
  expect(await get('--from-file', saved, `${link}#${key}`)).toBe('hunter2');
});

test.each(['get', 'expire'])('%s through a relay elsewhere changes nothing', async (word) => {
  // Whatever the name, the same service gets the requests.
  const relayed = (link: string) => link.trim().replace('pw.test', 'relay.test');
  const words = here.file('words');
  const made = await here.run('push', '--encrypt', '--views', '1');
  const other = await here.run('push', '--encrypt=words', '--key-out', words, '--views', '1');
  expect((await here.run(word, relayed(made.stdout))).code).toBe(7);
  expect((await here.run(word, relayed(other.stdout), '--key-file', words)).code).toBe(7);
  expect(await get(made.stdout)).toBe('hunter2');
  expect(await get(other.stdout.trim(), '--key-file', words)).toBe('hunter2');
});

test('expire shows what a view needs: the key of the link or words, and the passphrase', async () => {
  const passphrase = { PWPUSH_PASSPHRASE: 'sesame' };
  const made = await here.under({ env: passphrase }).run('push', '--encrypt');
  const words = here.file('words');
  const other = await here.run('push', '--encrypt=words', '--key-out', words);
  const [link, apart] = [made.stdout.trim(), other.stdout.trim()];
  expect((await here.under({ env: passphrase }).run('expire', withoutKey(link))).code).toBe(7);
  const wanted = await here.run('expire', link, apart);
  expect([wanted.code, wanted.stderr.match(/^hint: use/gm)?.length]).toEqual([7, 1]);
  const prompts = [
    { secret: 'Passphrase:', answer: 'wrong' },
    { secret: 'Wrong passphrase, try again:', answer: 'sesame' },
  ];
  expect((await here.under({ prompts }).run('expire', link)).code).toBe(0);
  expect((await here.run('expire', apart, '--key-file', words)).code).toBe(0);
});

describe('armor of other programs', () => {
  test('with any passphrase is opened, in a push like any other', async () => {
    const armor = await encryptText('from afar', [passphraseRecipient('Pass phrase e\u0301', 10)]);
    const token = await here.push({ payload: `\n${armor.replaceAll('\n', '\r\n')}` });
    const { stdout } = await here.under({ env: { PWPUSH_KEY: 'Pass phrase \u00e9' } }).run('get', token);
    expect(stdout).toBe('from afar');
    expect((await get(token, '--no-decrypt')).trimStart()).toMatch(/^-----BEGIN AGE/);
  });

  test('that is broken is an error, and is saved', async () => {
    const armor = await encryptText('x', [parseRecipient(PAIR.recipient)]);
    const broken = [armor.slice(0, 100), armor.replace('-----END', 'x-----END')];
    for (const payload of broken) {
      const token = await here.push({ payload, expire_after_views: 1 });
      const got = await here.run('get', token, '-i', identity());
      expect(got).toMatchObject({ code: 1, stdout: '' });
    }
    expect(Object.values(here.rescued()).sort()).toEqual(broken.sort());
  });

  test('for a public key is not printed if the link has a key: it was exchanged', async () => {
    const payload = await encryptText('exchanged', [parseRecipient(PAIR.recipient)]);
    const token = await here.push({ payload, expire_after_views: 1 });
    const opened = await here.run('get', `${token}#${'A'.repeat(22)}`, '-i', identity());
    expect(opened).toMatchObject({ code: 1, stdout: '' });
  });
});

describe('an instance that decides what is encrypted', () => {
  const WORDS = 'abacus-abdomen-abdominal-abide-abiding-ability';
  const KEY = 'A'.repeat(22);
  const env = () => ({ PATH: process.env.PATH, GITHUB_ENV: here.file('job') });
  const uses = (link: string) => [
    ['get', link],
    ['get', link, '--json'],
    ['get', link, '--github-env', 'A'],
    ['run', link, '--as', 'A', '--', 'sh', '-c', 'echo "$A"'],
  ];
  /** The end of the link, the environment, options, and what the error names. */
  type Giver = [end: string, env: Record<string, string>, options: string[], named: string];
  const keys = (): Giver[] => {
    writeFileSync(here.file('words'), WORDS);
    const damaged = [KEY.slice(1), 'AAAAA', `%20${KEY}`, `!${KEY}`, `x=${KEY}`, `${KEY}-`, 'top'];
    return [
      ...[KEY, ...damaged].map((text): Giver => [`#${text}`, {}, [], 'the link']),
      ['', { PWPUSH_KEY: WORDS }, [], 'PWPUSH_KEY'],
      ['', {}, ['--key-file', here.file('words')], '--key-file'],
    ];
  };

  test('by sending clear text in place of what a key was given for: nothing gets it', async () => {
    const givers: Giver[] = [...keys(), ['', {}, ['-i', identity()], '--identity']];
    for (const [end, more, options, named] of givers)
      for (const words of uses(`${await here.push({ payload: 'A=FORGED' })}${end}`)) {
        const at = here.under({ env: { ...env(), ...more } });
        const [name = '', ...others] = words;
        const { code, stdout, stderr } = await at.run(name, ...options, ...others);
        const job = existsSync(here.file('job')) ? readFileSync(here.file('job'), 'utf8') : '';
        expect([end, words, code, stdout, job]).toEqual([end, words, 1, '', '']);
        expect(stderr).toContain(`${named} has a key`);
      }
  });

  test('by answering as a request: it is not asked if there is a key', async () => {
    /** It has no push, and a request of every name with an answer. */
    const { send, asked } = answersTo({
      'GET /version': { edition: 'commercial', features: { requests: { enabled: true } } },
      'GET /requests/abc/preview': { url: 'https://pw.test/r/abc' },
      'GET /requests/abc': { url_token: 'abc', state: 'closed', response: 'A=FORGED' },
    });
    const there = place({ env: { ...env(), PWPUSH_URL: 'https://pw.test' }, send });
    const ask = (words: string[], options: string[] = [], more = {}) => {
      const [name = '', ...others] = words;
      return there.under({ env: more }).run(name, ...options, ...others);
    };
    for (const [end, more, options] of keys().slice(1))
      for (const link of ['https://pw.test/r/abc', 'https://pw.test/p/abc', 'abc'])
        for (const words of uses(`${link}${end}`)) {
          const { code, stdout } = await ask(words, options, more);
          expect([words, end, code, stdout]).toEqual([words, end, 5, '']);
        }
    for (const name of ['wait', 'audit', 'expire', 'preview'])
      expect((await there.run(name, `https://pw.test/r/abc#${KEY}`)).code).toBe(5);
    expect(asked.filter((call) => !call.includes('/pushes/'))).toEqual([]);
    // An identity may be for an answer, which then has to be encrypted.
    for (const words of uses('https://pw.test/r/abc'))
      expect(await ask(words, ['-i', identity()])).toMatchObject({ code: 1, stdout: '' });
    expect((await there.run('get', 'https://pw.test/r/abc')).stdout).toBe('A=FORGED');
  });

  const foreign = [
    '/r/quyul5r5w08',
    '/api/v2/requests/quyul5r5w08',
    '/p/quyul5r5w08#age1qq',
    '/x',
    '/x?u=https://evil.test/p/a',
  ];
  test.each([['--encrypt'], ['--to', PAIR.recipient], ['--each', '--encrypt']])(
    'a link that is not one of a push: it is expired again (%s)',
    async (...words) => {
      for (const path of foreign) {
        const html_url = `https://pw.test/secrets${path}`;
        const answers = [json(201, changed(CREATED, { html_url })), json(200, EXPIRED)];
        const { code, stdout, sent } = await asking(answers, ['push', ...words], { stdin: 's' });
        expect([path, code, stdout.trim(), sent.length]).toEqual([path, 8, '', 2]);
        expect(sent[1]).toMatch(/^DELETE /);
      }
    },
  );

  test('a link of a push below any path gets the key', async () => {
    const html_url = 'https://pw.test/secrets/p/quyul5r5w08/r?locale=fr';
    const answer = json(201, changed(CREATED, { html_url }));
    const { stdout } = await asking([answer], ['push', '--encrypt'], { stdin: 's' });
    expect(withoutKey(stdout)).toBe(html_url);
  });
});

describe('a key in the wrong place', () => {
  const key = 'abcdefghijklmnop_-12-A';
  const drawn = 'abacus-abdomen-abdominal-abide-abiding-ability';
  const link = 'https://pw.test/p/abc';
  const given = [
    [`${link}#${key}`, key],
    [`${link}%23${key}&utm_source=x`, key],
    [`https://x.safelinks.protection.outlook.com/?url=${link}%2523${key}`, key],
    [drawn.replaceAll('-', ' '), 'abdomen'],
    [`${drawn}x`, 'abdomen'],
    [key, key],
    [`AGE-SECRET-KEY-1${'Q'.repeat(58)}`, 'QQQQ'],
  ] as const;

  // biome-ignore format: a table
  const lines = [
    'KEY', 'help KEY', 'list KEY', 'push --days KEY', 'push --kind KEY', 'get KEY KEY', 'get --key-file KEY abc',
    'get -i KEY abc', 'get --output KEY/ abc --no-such', 'run --as KEY abc -- true', 'run abc --file =KEY -- true',
    'profile KEY',
  ];

  test.each(lines)('is not quoted: %s', async (line) => {
    for (const [text, secret] of given)
      for (const more of [[], ['--json', '--debug']]) {
        const argv = [...more, ...line.split(' ').map((word) => word.replace('KEY', text))];
        const { code, stdout, stderr } = await here.run(...argv);
        expect([code, stdout, here.asked]).toEqual([2, '', []]);
        expect(stderr).toMatch(/./);
        expect(stderr).not.toContain(secret);
      }
  });
});
