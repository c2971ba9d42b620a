import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import { eachInstance } from '../helpers/instance';
import { makeSshKey } from '../helpers/ssh-key';
import { json } from '../helpers/wire';

// Each word key that is made or tried takes 64 MiB and a fifth of a second, and SSH keys take a process.

const here = eachInstance({ stdin: 'hunter2' });
const get = async (...words: string[]) => (await here.run('get', ...words)).stdout;
const sshKeys = (...names: string[]) => names.map((name) => makeSshKey(here.file(name), 'ed25519', ''));
const publicKey = (path = '') => readFileSync(`${path}.pub`, 'utf8');

describe('push --encrypt=words', () => {
  test('prints six words, and they open it: from a file, a variable, a prompt', async () => {
    const { code, stdout, stderr } = await here.run('push', '--encrypt=words', '--views', '9');
    const [, words = ''] = /^key: ([a-z]+(?:-[a-z]+){5})\n$/.exec(stderr) ?? [];
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^[^#]+\n$/) });
    writeFileSync(here.file('words'), `${words.toUpperCase().replaceAll('-', ' ')}\n`);
    const wrong = 'Wrong key (a key is 22 characters, or 6 or more words), try again:';
    const prompts = [
      { secret: 'Key or words:', answer: 'no' },
      { secret: wrong, answer: ` ${words.toUpperCase()} ` },
    ];
    const piped = here.under({ stdin: words });
    const ways = [
      await get(stdout, '--key-file', here.file('words')),
      (await piped.run('get', stdout, '--key-file', '-')).stdout,
      (await here.under({ prompts }).run('get', stdout)).stdout,
    ];
    expect(ways).toEqual(ways.map(() => 'hunter2'));
  });

  test('leaves no file if no push was created', async () => {
    const path = here.file('key');
    const words = ['push', '--encrypt=words', '--key-out', path];
    const { code } = await asking([json(422, '{"error":"no"}')], words, { stdin: 's' });
    expect([code, existsSync(path)]).toEqual([8, false]);
  });
});

describe('push --to', () => {
  test('several keys, and a file like authorized_keys: each opens it, and no other', async () => {
    const [one = '', two = '', three = '', other = ''] = sshKeys('one', 'two', 'three', 'other');
    const file = here.file('authorized_keys');
    const lines = `no-pty,command="x y" ${publicKey(two)}\n${publicKey(three)}`;
    writeFileSync(file, `# team\n${lines}`);
    const argv = ['push', '--to', publicKey(one), '--to', file, '--views', '9'];
    const { stdout } = await here.run(...argv);
    expect(stdout).toMatch(/^[^#]+\n$/);
    for (const path of [one, two, three]) expect(await get(stdout, '-i', path)).toBe('hunter2');
    expect(await here.run('get', stdout, '-i', other)).toMatchObject({ code: 7, stdout: '' });
    expect(await get(stdout, '-i', other, '-i', one)).toBe('hunter2');
    writeFileSync(here.file('many'), publicKey(one).repeat(1300));
    expect((await here.run('push', '--to', here.file('many'))).code).toBe(2);
  });

  test('a key with a passphrase: the command that is named makes a copy that opens the push', async () => {
    const path = makeSshKey(here.file("it's mine"), 'ed25519', 'secret');
    const { stdout } = await here.run('push', '--to', `${path}.pub`);
    const { code, stderr } = await here.run('get', stdout, '--identity', path, '--json');
    expect([code, here.asked.length]).toEqual([2, 1]);
    const copy = here.file('copy');
    const command: string = JSON.parse(stderr).error.hint.replace(/^.*?: /, '');
    const line = `${command.replaceAll('/dev/shm/key', copy)} -q -P secret`;
    expect(spawnSync('sh', ['-c', line]).status).toBe(0);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(await get(stdout, '-i', copy)).toBe('hunter2');
  });
});
