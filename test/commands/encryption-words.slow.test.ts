import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';
import { CREATED, changed, EXPIRED } from '../helpers/reference';
import { place } from '../helpers/run';
import { makeSshKey } from '../helpers/ssh-key';
import { json, wire } from '../helpers/wire';

// Each word key that is made or tried takes 64 MiB and a fifth of a second.

const WORDS = '[a-z]+(?:-[a-z]+){5}';
const NOT_A_KEY = 'Wrong key (a key is 22 characters, or 6 or more words), try again:';

let here: Instance;
beforeEach(async () => {
  here = await instance({ stdin: 'hunter2' });
});
afterEach(() => here.close());

const sshKey = (type: string, name: string, passphrase = '', ...more: string[]) =>
  makeSshKey(here.file(name), type, passphrase, ...more);

describe('push --encrypt=words', () => {
  test('prints six words, and they open it: from a file, a variable, a prompt', async () => {
    const { code, stdout, stderr } = await here.run('push', '--encrypt=words', '--views', '9');
    const words = new RegExp(`^key: (${WORDS})\n$`).exec(stderr)?.[1] ?? '';
    expect({ code, link: stdout }).toEqual({ code: 0, link: expect.stringMatching(/^[^#]+\n$/) });
    writeFileSync(here.file('words'), `${words.toUpperCase().replaceAll('-', ' ')}\n`);
    const ways = [
      await here.run('get', stdout, '--key-file', here.file('words')),
      await here.under({ stdin: words }).run('get', stdout, '--key-file', '-'),
      await here
        .under({
          prompts: [
            { secret: 'Key or words:', answer: 'no' },
            { secret: NOT_A_KEY, answer: ` ${words.toUpperCase()} ` },
          ],
        })
        .run('get', stdout),
    ];
    expect(ways.map(({ code, stdout }) => [code, stdout])).toEqual(ways.map(() => [0, 'hunter2']));
  });

  test('are removed again if no push was created', async () => {
    const path = here.file('key');
    const { send } = wire([json(422, '{"error":"no"}')]);
    const there = place({ send, env: { PWPUSH_URL: 'https://pw.test' }, stdin: 's' });
    const { code } = await there.run('push', '--encrypt=words', '--key-out', path);
    expect([code, existsSync(path)]).toEqual([8, false]);
    there.close();
  });
});

test('the profile with words takes --key-out, and --to instead', async () => {
  await here.keep({ current: 'a', profiles: { a: { url: 'https://pw.test', encrypt: 'words' } } });
  const path = here.file('key');
  const { stdout } = await here.run('push', '--key-out', path);
  expect((await here.run('get', stdout, '--key-file', path)).stdout).toBe('hunter2');
  const pub = readFileSync(`${sshKey('ed25519', 'id')}.pub`, 'utf8');
  const to = await here.run('push', '--to', pub);
  expect((await here.run('get', to.stdout, '-i', here.file('id'))).stdout).toBe('hunter2');
});

test('a mistyped word is named at once', async () => {
  const { stdout, stderr } = await here.run('push', '--encrypt=words', '--views', '9');
  const words = stderr.slice('key: '.length).trim();
  const prompts = [
    { secret: 'Key or words:', answer: words.replace(/-.*?-/, '-abdomenn-') },
    {
      secret: 'Wrong key (word 2 of the key is not in the word list), try again:',
      answer: words,
    },
  ];
  expect((await here.under({ prompts }).run('get', stdout)).stdout).toBe('hunter2');
});

test('a link that is not one of a push: it is expired again', async () => {
  const html_url = 'https://pw.test/secrets/r/quyul5r5w08';
  const { send, sent } = wire([json(201, changed(CREATED, { html_url })), json(200, EXPIRED)]);
  const there = place({ send, env: { PWPUSH_URL: 'https://pw.test' }, stdin: 's' });
  const { code, stdout } = await there.run('push', '--encrypt=words');
  expect([code, stdout.trim(), sent.length]).toEqual([8, '', 2]);
  expect(sent[1]).toMatch(/^DELETE /);
  there.close();
});
