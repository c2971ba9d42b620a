import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { eachInstance } from '../helpers/instance';
import { needsFile } from '../helpers/needs';
import { changed, RETRIEVED } from '../helpers/reference';
import { type PlaceOptions, place } from '../helpers/run';
import { createWithFiles, filePart } from '../helpers/service';
import { json, wire } from '../helpers/wire';

// What is said, and what becomes variables: test/cases/run-*.txt.

const here = eachInstance({ env: { PATH: process.env.PATH } });

function documented(): string[] {
  const page = readFileSync(new URL('../../man/pwpush.1', import.meta.url), 'utf8');
  return [...page.matchAll(/^\.It Ev (PWPUSH_\w+)/gm)].map(([, name = '']) => name);
}

const sh = (line: string) => ['--', 'sh', '-c', line];
const run = (token: string, ...words: string[]) => here.run('run', token, ...words);
const rescued = () => Object.values(here.rescued()).sort();

test('the command gets no variable that holds or names a secret of ours, unless allowed', async () => {
  const token = await here.push({ payload: 'A=1', passphrase: 'horse' });
  const kept = ['CA_FILE', 'CONFIG_DIR', 'DEBUG', 'EDITION', 'ENCRYPT', 'NO_INPUT', 'PROFILE', 'RECEIPTS', 'STATE_DIR'];
  const env = {
    ...Object.fromEntries([...documented(), 'PWPUSH_DB_PASSWORD'].map((name) => [name, ''])),
    PWPUSH_PASSPHRASE: 'horse',
    PWPUSH_URL: 'https://pw.test',
    ...here.admin,
  };
  const names = async (...allowed: string[]) => {
    const { stdout } = await here.under({ env }).run('run', token, ...allowed, ...sh('env'));
    return [...stdout.matchAll(/^PWPUSH_(\w+)=/gm)].map(([, name]) => name).sort();
  };
  expect(await names()).toEqual([...kept, 'TIMEOUT', 'URL']);
  expect(await names('--allow', 'PWPUSH_PASSPHRASE,PWPUSH_TOKEN')).toEqual(
    [...kept, 'PASSPHRASE', 'TIMEOUT', 'TOKEN', 'URL'].sort(),
  );
});

describe('before anything is sent', () => {
  test('a program is looked for along PATH, and without it not in the current folder', async () => {
    const name = 'pwpush-test-program';
    writeFileSync(here.file(name), '#!/bin/sh\necho "$0"\n');
    chmodSync(here.file(name), 0o755);
    const token = await here.push({ payload: 'A=1' });
    const before = process.cwd();
    process.chdir(here.folder);
    try {
      const statuses = [];
      for (const PATH of [undefined, '/nonexistent', '/etc:', here.folder]) {
        const { code } = await here.under({ env: { PATH } }).run('run', token, '--', name);
        statuses.push(code);
      }
      // As every shell has it, an empty part of PATH is the current folder.
      expect(statuses).toEqual([127, 127, 0, 0]);
    } finally {
      process.chdir(before);
    }
  });

  test.each([
    ['#!/nonexistent\n', 126],
    ['#! \t/etc/passwd -x\n', 126],
    ['#!/bin/sh\r\n', 126],
    ['#! /bin/sh -e\n', 0],
    ['#!\n', 0],
    ['', 0],
  ])('the interpreter of a script is looked for: %j', async (first, code) => {
    writeFileSync(here.file('script'), `${first}:\n`, { mode: 0o755 });
    const token = await here.push({ payload: 'A=1' });
    expect((await run(token, '--', here.file('script'))).code).toBe(code);
    expect(here.asked).toHaveLength(code === 0 ? 1 : 0);
  });
});

describe('the last view was used, and the program cannot be run: the secret is saved,', () => {
  const last = changed(RETRIEVED, { views_remaining: 0 });
  const elsewhere = (options: PlaceOptions) =>
    place({ ...options, env: { PATH: process.env.PATH, PWPUSH_URL: 'https://pw.test' } });

  test('of a NUL that no variable holds', async () => {
    const token = await here.push({ payload: 'a\0b', expire_after_views: 1 });
    expect([(await run(token, '--as', 'A', ...sh('')))?.code, rescued()]).toEqual([2, ['a\0b']]);
  });

  test('of one that is longer than the system takes, which --stdin hands over', async () => {
    const payload = 'x'.repeat(1024 * 1024);
    const token = await here.push({ payload, expire_after_views: 1 });
    expect([(await run(token, '--as', 'A', ...sh(''))).code, rescued()]).toEqual([1, [payload]]);
    const { stdout } = await run(await here.push({ payload }), '--stdin', ...sh('wc -c'));
    expect(stdout.trim()).toBe('1048576');
  });

  test('of a program that the system cannot load', async () => {
    const [file, interpreter] = [here.file('program'), here.file('interpreter')];
    writeFileSync(file, `#!${interpreter}\n`, { mode: 0o755 });
    writeFileSync(interpreter, '#!/no/such/interpreter\n', { mode: 0o755 });
    const token = await here.push({ payload: 'A=hunter2', expire_after_views: 1 });
    expect([(await run(token, '--', file)).code, rescued()]).toEqual([1, ['A=hunter2']]);
  });

  test.each([
    ['views that are not told', { views_remaining: null }, true],
    ['its last day', { days_remaining: 0 }, true],
    ['days that are not told', { days_remaining: null }, false],
  ])('of a push at %j', async (_what, fields, saved) => {
    const body = changed(RETRIEVED, { views_remaining: 3, ...fields });
    const cut = elsewhere({ send: wire([json(200, body)]).send });
    await cut.run('run', 'abc', '--', 'true');
    expect(Object.values(cut.rescued())).toEqual(saved ? ['hunter2'] : []);
  });

  test('of a run that was interrupted meanwhile', async () => {
    const controller = new AbortController();
    const cut = elsewhere({
      signal: controller.signal,
      send: async (request) => {
        controller.abort('SIGTERM');
        return wire([json(200, last)]).send(request);
      },
    });
    const { code, stdout } = await cut.run('run', 'abc', '--as', 'A', ...sh('echo started'));
    expect([code, stdout, Object.values(cut.rescued())]).toEqual([143, '', ['hunter2']]);
  });
});

describe('a file for the command is', () => {
  test('in memory where there is such a place, until it ends', needsFile('/dev/shm'), async () => {
    const token = await here.push({ payload: 'x' });
    const { stdout } = await run(token, '--file', 'F', ...sh('cat "$F"; echo "$F"'));
    expect(stdout).toMatch(/^x\/dev\/shm\/pwpush-run-\w+\/text\n$/);
    expect(readdirSync('/dev/shm')).not.toContain(stdout.split('/')[3]);
  });

  const inUtf16 = (text: string) => Buffer.from(text, 'utf16le');
  test.each<[string, string | Buffer, string, string]>([
    ['a text', 'hunter2\nswordfish\n', 'head -n 1', '***\n'],
    ['a value with NUL at its end', 'A=hunter2\0', 'tail -c +3', '***\0'],
    ['lines that end with NUL', 'hunter2\0swordfish\0', 'tail -c +9', '***\0'],
    ['lines that end with CR', 'hunter2\rswordfish\r', 'tail -c +9', '***\r'],
    ['values whose lines end with CR', 'A=hunter2\rB="x y z"\r', 'tail -c 7', '***"\r'],
    ['a byte that is not UTF-8', Buffer.from('# \xff\nhünter\n', 'latin1'), 'tail -n 1', '***\n'],
    ['UTF-16, as it is', inUtf16('\ufeffhunter2\nsecond\n'), 'tail -c 14', '***\0\n\0'],
    ['UTF-16, converted', inUtf16('hunter2\nsecond\n'), 'iconv -f UTF-16LE -t UTF-8', '***\n'],
  ])('masked in the output, byte for byte: %s', async (_, content, program, wanted) => {
    const one = await createWithFiles(here.service, filePart('x', content));
    const { stdout } = await run(one, '--file', 'F', '--mask', ...sh(`${program} "$F"`));
    expect(stdout).toBe(wanted);
  });
});

describe('a text that is too long to be masked', () => {
  const most = `hunter2\n${'x'.repeat(1024 * 1024 - 9)}\n`;
  const long = `${most}\n`;
  const masked = async (payload: string, env: Record<string, string>, ...more: string[]) => {
    const answer = json(200, changed(RETRIEVED, { payload, views_remaining: 0 }));
    const there = place({
      send: wire([answer]).send,
      env: { PATH: process.env.PATH, PWPUSH_URL: 'https://pw.test', ...env },
    });
    const words = ['abc', '--stdin', '--mask', ...more, ...sh('head -n 1')];
    const ended = await there.run('run', ...words);
    return { ...ended, rescued: Object.values(there.rescued()) };
  };

  test.each([
    ['which only begins to be', long, 'what follows the first MiB'],
    ['in base64', Array.from({ length: 9000 }, (_, at) => `hunter${at + 2}`).join('\n'), 'in base64'],
  ])('%s is warned of', async (_, payload, why) => {
    const { code, stdout, stderr, rescued } = await masked(payload, {});
    expect([code, stdout, rescued]).toEqual([0, '***\n', []]);
    expect(stderr).toMatch(RegExp(`warning: .*${why}.*standard input\n`));
  });

  test('the first MiB is masked without a word of it', async () => {
    const { code, stderr } = await masked(most, { CLAUDECODE: '1' });
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('first MiB')]);
  });

  test('starts nothing where an agent reads the output, and is kept', async () => {
    const { code, stdout, stderr, rescued } = await masked(long, { CLAUDECODE: '1' });
    expect([code, stdout, rescued]).toEqual([2, '', [long]]);
    expect(stderr).toMatch(/in standard input, is not printed.*nothing was started/s);
    expect(stderr).toContain('--reveal');
    const revealed = await masked(long, { CLAUDECODE: '1' }, '--reveal');
    expect([revealed.code, revealed.stdout]).toEqual([0, '***\n']);
  });
});

test('the names of 20 values that are not masked are told, and that there are others', async () => {
  const told = async (values: number) => {
    const lines = Array.from({ length: values }, (_, at) => `N${at}=x`);
    return (await run(await here.push({ payload: lines.join('\n') }), '--mask', ...sh('true'))).stderr;
  };
  expect(await told(20)).toMatch(/not masked: .*, N19\n/);
  expect(await told(21)).toMatch(/not masked: .*, N19 and others\n/);
});

test('what may begin a secret is written when nothing follows, on either stream', async () => {
  const token = await here.push({ payload: 'A=hunter2' });
  const line = 'printf hunt; printf hu >&2';
  expect(await run(token, '--mask', '--quiet', ...sh(line))).toEqual({
    code: 0,
    stdout: 'hunt',
    stderr: 'hu',
  });
});

describe('masked are NAME=value lines', () => {
  const lines = 'A="pa\\$\\$word"\nB="C:\\\\new\\dir" # why\nC=ab # dress\nA=first\'s';

  test.each([
    ['as standard input', ['--stdin'], 'cat'],
    ['as a file', ['--file', 'F'], 'cat "$F"'],
    ['as one variable', ['--as', 'V'], 'printf %s "$V"'],
  ])('%s as they are written', async (_, how, line) => {
    const token = await here.push({ payload: lines });
    const { stdout } = await run(token, ...how, '--mask', ...sh(line));
    expect(stdout).toBe('A=***\nB=***\nC=***\nA=***');
  });

  test('of which there are more than can be an argument of a call, or variables', async () => {
    const outcome = async (count: number, ...words: string[]) => {
      const payload = Array.from({ length: count }, (_, at) => `N${at}=value${at}`).join('\n');
      const { send } = wire([json(200, changed(RETRIEVED, { payload }))]);
      const there = place({ send, env: { PATH: process.env.PATH, PWPUSH_URL: 'https://pw.test' } });
      return there.run('run', 'abc', '--mask', ...words, ...sh('head -n 1'));
    };
    expect(await outcome(200_000, '--stdin')).toMatchObject({ code: 0, stdout: 'N0=***\n' });
    expect((await outcome(150_000)).stderr).toContain('the secret is too long for a variable');
    expect((await outcome(300_000)).stderr).toContain('more than a command can get as variables');
  });
});
