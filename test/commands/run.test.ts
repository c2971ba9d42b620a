import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';
import { needsFile } from '../helpers/needs';
import { changed, RETRIEVED } from '../helpers/reference';
import { place } from '../helpers/run';
import { createWithFiles, filePart } from '../helpers/service';
import { json, wire } from '../helpers/wire';

let here: Instance;
beforeEach(async () => {
  here = await instance({ env: { PATH: process.env.PATH } });
});
afterEach(() => here.close());

/** Our variables, by the manual. */
function documented(): string[] {
  const page = readFileSync(new URL('../../man/pwpush.1', import.meta.url), 'utf8');
  return [...page.matchAll(/^\.It Ev (PWPUSH_\w+)/gm)].map(([, name = '']) => name);
}

const lastView = { name: 'push[expire_after_views]', value: '1' };
const sh = (line: string) => ['--', 'sh', '-c', line];
const saved = (what = 'secret') => `(\\S+/state/${what}-\\S+)`;

describe('the text becomes variables', () => {
  test('of NAME=value lines, beside those there are', async () => {
    const token = await here.push({ payload: 'export A=1\nB="two\\nlines"\n' });
    const there = here.under({ env: { OWN: 'kept' } });
    expect(await there.run('run', token, ...sh('echo "$A|$B|$OWN"'))).toEqual({
      code: 0,
      stdout: '1|two\nlines|kept\n',
      stderr: 'variables set: A, B\n',
    });
  });

  test('after it was said on a terminal whether somebody looked before', async () => {
    const token = await here.push({ payload: 'A=1' }, here.service.adminToken);
    await here.run('get', token);
    const watched = here.under({ terminals: ['stderr'] });
    expect(await watched.run('run', token, ...sh('echo $A'))).toEqual({
      code: 0,
      stdout: '1\n',
      stderr: '3 views and 7 days left\n1 view was used before yours\nvariables set: A\n',
    });
    const own = here.under({ env: here.admin, terminals: ['stderr'] });
    const { stderr } = await own.run('run', token, ...sh('echo $A'));
    expect(stderr).toBe('3 views and 7 days left\nvariables set: A\n');
  });

  test('with --as one, whatever it looks like, to the byte', async () => {
    const token = await here.push({ payload: 'A=1\n\n' });
    const { stdout } = await here.run(
      'run',
      token,
      '--as',
      'ALL',
      ...sh('printf "[%s][%s]" "$A" "$ALL"'),
    );
    expect(stdout).toBe('[][A=1\n\n]');
  });

  test('of several links; the last of equal names wins', async () => {
    const first = await here.push({ payload: 'A=1\nB=1' });
    const second = await here.push({ payload: 'B=2\nC=2' });
    const { stdout } = await here.run('run', first, second, ...sh('echo $A$B$C'));
    expect(stdout).toBe('122\n');
    const named = ['--as', 'X', '--as', 'Y'];
    const { stdout: texts } = await here.run('run', first, second, ...named, ...sh('echo "$X|$Y"'));
    expect(texts).toBe('A=1\nB=1|B=2\nC=2\n');
  });

  test('of several links, whose files are named once as not used', async () => {
    const message = (value: string) => ({ name: 'push[payload]', value });
    const first = await createWithFiles(here.service, message('A=1'), filePart('a', 'x'));
    const second = await createWithFiles(here.service, message('B=2'), filePart('b', 'x'));
    expect(await here.run('run', first, second, ...sh('echo $A$B'))).toEqual({
      code: 0,
      stdout: '12\n',
      stderr: 'warning: unused files: a, b\nvariables set: A, B\n',
    });
  });

  test('which replace what is set only where the user says so, or where it is the same', async () => {
    const token = await here.push({ payload: 'A=new\nB=2', expire_after_views: 10 });
    const there = here.under({ env: { A: 'old' } });
    const line = sh('echo $A$B');
    const { code, stdout, stderr } = await there.run('run', token, ...line);
    expect({ code, stdout, lines: stderr.split('\n').slice(0, 2) }).toEqual({
      code: 2,
      stdout: '',
      lines: [
        'pwpush: the push sets A, already set to another value in the environment; nothing was started; the push can be retrieved again (9 views and 7 days left)',
        'hint: if you trust the sender, next time use --allow A; or accept only the names you expect with --only NAME,…',
      ],
    });
    const outputs = [];
    for (const words of [['--allow', 'A'], ['--allow=X,A'], ['--only', 'A'], ['--as', 'A']])
      outputs.push((await there.run('run', token, ...words, ...line)).stdout);
    expect(outputs).toEqual(['new2\n', 'new2\n', 'new\n', 'A=new B=2\n']);
    const same = here.under({ env: { A: 'new' } });
    expect((await same.run('run', token, ...line)).stdout).toBe('new2\n');
  });

  test('of which --only takes some, said by their names but for --quiet and --json', async () => {
    const first = await here.push({ payload: 'A=1\nLD_PRELOAD=/x\nC=hunter2' });
    const second = await here.push({ payload: 'B=2\nHOME=/x' });
    const line = sh('echo "$A$B$C$LD_PRELOAD"');
    const only = ['--only', 'A', '--only', 'B'];
    expect(await here.run('run', first, second, ...only, ...line)).toEqual({
      code: 0,
      stdout: '12\n',
      stderr: 'variables set: A, B\n',
    });
    for (const quiet of ['--quiet', '--json'])
      expect(await here.run('run', first, second, '--only=A,B', quiet, ...line)).toEqual({
        code: 0,
        stdout: '12\n',
        stderr: '',
      });
  });

  test.each([
    ['A,MISSING', 'the push sets no MISSING'],
    ['X,Y', 'the push sets no X and no Y'],
  ])('and with --only %s, which is not all there, nothing is started', async (names, message) => {
    const payload = 'A=1';
    const token = await here.push({ payload, expire_after_views: 1 });
    const words = ['--only', names, ...sh('echo started')];
    const { code, stdout, stderr } = await here.run('run', token, ...words);
    expect({ code, stdout, rescued: Object.values(here.rescued()) }).toEqual({
      code: 2,
      stdout: '',
      rescued: [payload],
    });
    expect(stderr).toContain(`pwpush: ${message}; nothing was started; `);
  });
});

describe('the program', () => {
  test('gets its arguments as they are, dashes too', async () => {
    const token = await here.push({ payload: 'A=1' });
    const { stdout } = await here.run(
      'run',
      token,
      '--',
      'printf',
      '%s|',
      '--json',
      '--',
      '-h',
      'a b',
    );
    expect(stdout).toBe('--json|--|-h|a b|');
  });

  test('gets our standard input, or with --stdin the text', async () => {
    const token = await here.push({ payload: 'A=1\n' });
    const piped = here.under({ stdin: 'piped' });
    expect((await piped.run('run', token, '--', 'cat')).stdout).toBe('piped');
    expect((await piped.run('run', token, '--stdin', ...sh('cat; echo "[$A]"'))).stdout).toBe(
      'A=1\n[]\n',
    );
  });

  test('ends with its own status, and nothing is said', async () => {
    const token = await here.push({ payload: 'A=1' });
    expect(await here.run('run', token, '--stdin', ...sh('exit 42'))).toEqual({
      code: 42,
      stdout: '',
      stderr: '',
    });
  });

  test('gets no variable that holds or names a secret of ours, unless allowed', async () => {
    const token = await here.push({ payload: 'A=1', passphrase: 'horse' });
    const connection = ['URL', 'PROFILE', 'EDITION', 'CA_FILE', 'TIMEOUT'];
    const settings = [...connection, 'NO_INPUT', 'NOTIFY', 'DEBUG'];
    const places = ['CONFIG_DIR', 'STATE_DIR'];
    const env = {
      ...Object.fromEntries([...documented(), 'PWPUSH_DB_PASSWORD'].map((name) => [name, ''])),
      WORD: 'horse',
      PWPUSH_URL: 'https://pw.test',
      ...here.admin,
    };
    const words = ['run', token, '--passphrase-env', 'WORD'];
    const line = sh("env | sed -n 's/^PWPUSH_//p; s/^WORD/WORD/p'");
    const names = async (...allowed: string[]) => {
      const { stdout } = await here.under({ env }).run(...words, ...allowed, ...line);
      return stdout
        .split('\n')
        .map((one) => one.split('=')[0])
        .filter(Boolean)
        .sort();
    };
    expect(await names()).toEqual([...settings, ...places].sort());
    expect(await names('--allow', 'WORD,PWPUSH_TOKEN')).toEqual(
      [...settings, ...places, 'TOKEN', 'WORD'].sort(),
    );
  });
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
    ['nosuchprogram', 127, 'command not found: "nosuchprogram"'],
    ['', 127, 'command not found: ""'],
    ['./nosuchprogram', 127, 'command not found: "./nosuchprogram"'],
    ['/etc', 126, 'cannot run "/etc"'],
    ['/etc/passwd', 126, 'cannot run "/etc/passwd"'],
  ])('it is told that %j cannot be run', async (name, code, message) => {
    expect(await here.run('run', 'abc', '--', name)).toEqual({
      code,
      stdout: '',
      stderr: `pwpush: ${message}\nhint: nothing was sent, and no view was used\n`,
    });
    expect(here.asked).toEqual([]);
  });

  test.each([
    ['#!/nonexistent\n', 126],
    ['#!nonexistent', 126],
    ['#! \t/etc/passwd -x\n', 126],
    ['#!/bin/sh\r\n', 126],
    ['#! /bin/sh -e\n', 0],
    ['#!/usr/bin/env sh\n', 0],
    ['#!\n', 0],
    ['', 0],
  ])('the interpreter of a script is looked for: %j', async (first, code) => {
    const name = here.file('script');
    writeFileSync(name, `${first}:\n`, { mode: 0o755 });
    const token = await here.push({ payload: 'A=1' });
    const before = here.asked.length;
    expect((await here.run('run', token, '--', name)).code).toBe(code);
    expect(here.asked.length - before).toBe(code === 0 ? 1 : 0);
  });

  test.each([
    [['abc'], 'no command to run'],
    [['--', 'true'], 'no link before --'],
    [['abc', '--as', 'A-B', '--', 'true'], '"A-B" is not a valid variable name'],
    [['abc', '--allow', '', '--', 'true'], '"" is not a valid variable name'],
    [['a', 'b', '--as', 'A', '--', 'true'], '--as is required once for each link: 2 times, not 1'],
    [['a', '--as', 'A', '--stdin', '--', 'true'], '--as and --stdin cannot be combined'],
    [['a', '--only', 'A,B-', '--', 'true'], '"B-" is not a valid variable name'],
    [['a', '--only', '', '--', 'true'], '"" is not a valid variable name'],
    [['a', '--only', 'A', '--as', 'A', '--', 'true'], '--only and --as cannot be combined'],
    [['a', '--only', 'A', '--stdin', '--', 'true'], '--only and --stdin cannot be combined'],
    [['a', '--only', 'A,LESS', '--', 'true'], 'LESS would change what is loaded and run'],
    [['a', '--as', 'TAR_OPTIONS', '--', 'true'], 'TAR_OPTIONS would change what is loaded and run'],
    [['a', 'b', '--stdin', '--', 'true'], '--stdin works with one link only'],
    [['a', 'b', '--file', 'F', '--', 'true'], '--file works with one link only'],
    [['a', '--file', 'F=', '--', 'true'], '--file must be NAME or NAME=FILE, not "F="'],
    [['a', '--as', 'LD_PRELOAD', '--', 'true'], 'LD_PRELOAD would change what is loaded and run'],
    [['a', '--file', 'BASH_ENV', '--', 'true'], 'BASH_ENV would change what is loaded and run'],
    [['no link', '--', 'true'], 'not a link or ID of a push'],
  ])('%j is bad usage', async (words, message) => {
    const { code, stderr } = await here.run('run', ...words);
    expect({ code, first: stderr.split('\n')[0] }).toEqual({
      code: 2,
      first: `pwpush: ${message}`,
    });
    expect(here.asked).toEqual([]);
  });
});

describe('the last view was used, and the program cannot be run: the secret is saved,', () => {
  const refused = (words: readonly string[], token: string) => here.run('run', token, ...words);

  test('of a text that is no dotenv', async () => {
    const token = await here.push({ payload: 'A=1\nhunter2', expire_after_views: 1 });
    const { code, stdout, stderr } = await refused(sh('echo started'), token);
    expect({ code, stdout, rescued: Object.values(here.rescued()) }).toEqual({
      code: 2,
      stdout: '',
      rescued: ['A=1\nhunter2'],
    });
    expect(stderr).toMatch(
      new RegExp(
        `^pwpush: the text of the push is not made of NAME=value lines \\(line 2\\); nothing was started; the secret was saved to ${saved()}\n` +
          `hint: .*--as NAME\\. Delete the file when done: rm '\\1'\n$`,
      ),
    );
  });

  test.each([
    'LD_PRELOAD',
    'DYLD_INSERT_LIBRARIES',
    'PATH',
    'Path',
    'NODE_OPTIONS',
    'BASH_ENV',
    'ENV',
    'IFS',
    'PYTHONPATH',
    'PERL5OPT',
    'RUBYOPT',
    'JAVA_TOOL_OPTIONS',
    'GIT_SSH_COMMAND',
    'HOME',
    'npm_config_x',
    'PWPUSH_URL',
  ])('of one that sets %s, which --allow lets through', async (name) => {
    const token = await here.push({ payload: `A=hunter2\n${name}=/x`, expire_after_views: 1 });
    const { code, stdout, stderr } = await refused(sh('echo started'), token);
    expect({ code, stdout, rescued: Object.values(here.rescued()) }).toEqual({
      code: 2,
      stdout: '',
      rescued: [`A=hunter2\n${name}=/x`],
    });
    expect(stderr).toContain(
      `pwpush: the push sets ${name}, which would change what is loaded and run;`,
    );
    expect(stderr).not.toContain('hunter2');
    const allowed = await here.run(
      'run',
      await here.push({ payload: `A=hunter2\n${name}=/x` }),
      '--allow',
      name,
      '--',
      process.execPath,
      '-p',
      `process.env.${name}`,
    );
    expect(allowed.stdout).toBe('/x\n');
  });

  test('of a NUL that no variable holds', async () => {
    const token = await here.push({ payload: 'a\0b', expire_after_views: 1 });
    const { code } = await refused(['--as', 'A', ...sh('echo started')], token);
    expect({ code, rescued: Object.values(here.rescued()) }).toEqual({
      code: 2,
      rescued: ['a\0b'],
    });
  });

  test('of one that is longer than the system takes', async () => {
    const payload = 'x'.repeat(1024 * 1024);
    const token = await here.push({ payload, expire_after_views: 1 });
    const { code, stderr } = await refused(['--as', 'A', ...sh('echo started')], token);
    expect({ code, rescued: Object.values(here.rescued()) }).toEqual({
      code: 1,
      rescued: [payload],
    });
    expect(stderr).toMatch(
      /^variables set: A\npwpush: cannot start "sh" \(the secret is too long for a variable\); /,
    );
    const { stdout } = await refused(['--stdin', ...sh('wc -c')], await here.push({ payload }));
    expect(stdout.trim()).toBe('1048576');
  });

  test('of a program that the system cannot load', async () => {
    const file = here.file('program');
    const interpreter = here.file('interpreter');
    writeFileSync(file, `#!${interpreter}\n`, { mode: 0o755 });
    writeFileSync(interpreter, '#!/no/such/interpreter\n', { mode: 0o755 });
    const token = await here.push({ payload: 'A=hunter2', expire_after_views: 1 });
    const { code, stderr } = await refused(['--', file], token);
    expect({ code, rescued: Object.values(here.rescued()) }).toEqual({
      code: 1,
      rescued: ['A=hunter2'],
    });
    expect(stderr).toMatch(
      new RegExp(`^variables set: A\\npwpush: cannot start "${file}" \\(ENOENT\\); `),
    );
  });

  test('of the links before one that cannot be had', async () => {
    const first = await here.push({ payload: 'A=1', expire_after_views: 1 });
    const { code, stdout, stderr } = await here.run(
      'run',
      first,
      'nosuchpush',
      ...sh('echo started'),
    );
    expect({ code, stdout, rescued: Object.values(here.rescued()) }).toEqual({
      code: 5,
      stdout: '',
      rescued: ['A=1'],
    });
    expect(stderr).toMatch(/^pwpush: link 2: no such push on this instance; nothing was started; /);
  });

  test('and not where the push can be retrieved again: the error says so', async () => {
    const token = await here.push({ payload: 'hunter2' });
    const gone = await here.run('run', token, 'nosuchpush', '--as', 'A', '--as', 'B', '--', 'true');
    const plain = await here.run('run', token, '--', 'true');
    expect([gone.stderr.split('\n')[0], plain.stderr.split('\n')[0], here.rescued()]).toEqual([
      'pwpush: link 2: no such push on this instance; nothing was started; link 1: the push can be retrieved again (4 views and 7 days left)',
      'pwpush: the text of the push is not made of NAME=value lines (line 1); nothing was started; the push can be retrieved again (3 views and 7 days left)',
      {},
    ]);
  });

  test.each([
    ['views that are not told', { views_remaining: null }, true],
    ['its last day', { days_remaining: 0 }, true],
    ['its end', { expired: true }, true],
    ['days that are not told', { days_remaining: null }, false],
  ])('of a push at %j', async (_what, fields, saved) => {
    const body = changed(RETRIEVED, { views_remaining: 3, ...fields });
    const cut = place({
      env: { PWPUSH_URL: 'https://pw.test' },
      send: wire([json(200, body)]).send,
    });
    await cut.run('run', 'abc', '--', process.execPath);
    const rescued = Object.values(cut.rescued());
    cut.close();
    expect(rescued).toEqual(saved ? ['hunter2'] : []);
  });

  test('with --json all rescued files are named, also the answer that made no sense', async () => {
    const last = changed(RETRIEVED, { views_remaining: 0 });
    const broken = wire([json(200, last), json(200, last), json(200, '{"payload":"half')]);
    const cut = place({ env: { PWPUSH_URL: 'https://pw.test' }, send: broken.send });
    const { code, stderr } = await cut.run('run', 'a', 'b', 'c', '--json', '--', process.execPath);
    const { error } = JSON.parse(stderr);
    const rescued = cut.rescued();
    cut.close();
    expect({ code, status: error.status }).toEqual({ code: 11, status: 200 });
    expect(error.hint).toContain('rm ');
    expect(error.saved_to.toSorted()).toEqual(
      Object.keys(rescued)
        .map((name) => cut.file(`state/${name}`))
        .sort(),
    );
    expect(Object.values(rescued).sort()).toEqual(
      ['hunter2', 'hunter2', '{"payload":"half'].sort(),
    );
  });

  test('of a run that was interrupted meanwhile', async () => {
    const controller = new AbortController();
    const cut = place({
      env: { PATH: process.env.PATH, PWPUSH_URL: 'https://pw.test' },
      signal: controller.signal,
      send: async () => ({
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: (async function* () {
          controller.abort('SIGTERM');
          yield Buffer.from(changed(RETRIEVED, { views_remaining: 0 }));
        })(),
      }),
    });
    const { code, stdout, stderr } = await cut.run(
      'run',
      'abc',
      '--as',
      'A',
      ...sh('echo started'),
    );
    const rescued = Object.values(cut.rescued());
    cut.close();
    expect({ code, stdout, rescued }).toEqual({ code: 143, stdout: '', rescued: ['hunter2'] });
    expect(stderr).toMatch(
      /^variables set: A\npwpush: terminated; nothing was started; the secret was saved to /,
    );
  });

  test('and with --json the error is JSON that does not hold it', async () => {
    const token = await here.push({ payload: 'hunter2' });
    const { code, stderr } = await refused(['--json', '--debug', ...sh('echo started')], token);
    const line = stderr.split('\n').find((one) => one.startsWith('{')) ?? '';
    expect({ code, error: JSON.parse(line).error.code, told: stderr.includes('hunter2') }).toEqual({
      code: 2,
      error: 'usage',
      told: false,
    });
  });
});

describe('--file gives the path of a file, 0600 in a folder 0700, that is gone at the end,', () => {
  const look = 'stat -c %a "$F" "$(dirname "$F")" && cat "$F" && echo "@$F"';
  const pathIn = (stdout: string) => stdout.split('@')[1]?.trim() ?? '';

  test('of the text', async () => {
    const token = await here.push({ payload: 'apiVersion: v1\n' });
    for (const wish of ['F', 'F=-']) {
      const { code, stdout, stderr } = await here.run('run', token, '--file', wish, ...sh(look));
      expect({ code, stderr, stdout: stdout.split('@')[0] }).toEqual({
        code: 0,
        stderr: 'variables set: F\n',
        stdout: '600\n700\napiVersion: v1\n',
      });
      expect(existsSync(pathIn(stdout))).toBe(false);
    }
  });

  test('in memory where there is such a place', needsFile('/dev/shm'), async () => {
    const token = await here.push({ payload: 'x' });
    const { stdout } = await here.run('run', token, '--file', 'F', ...sh('echo "@$F"'));
    expect(pathIn(stdout)).toMatch(/^\/dev\/shm\/pwpush-run-\w+\/text$/);
    expect(readdirSync('/dev/shm')).not.toContain(pathIn(stdout).split('/')[3]);
  });

  test('of the one pushed file, or of the one that is named; others are told', async () => {
    const one = await createWithFiles(here.service, filePart('kube config.yaml', 'k: v\n'));
    const { stdout } = await here.run('run', one, '--file', 'F', ...sh(look));
    expect(stdout).toMatch(/^600\n700\nk: v\n@\/.*\/kube config\.yaml\n$/);
    const two = await createWithFiles(here.service, filePart('a', 'A'), filePart('b', 'B'));
    expect(await here.run('run', two, '--file', 'F=b', ...sh('cat $F'))).toEqual({
      code: 0,
      stdout: 'B',
      stderr: 'warning: unused files: a\nvariables set: F\n',
    });
  });

  test('also of settings that a text may not name', async () => {
    const token = await here.push({ payload: 'KUBECONFIG=/x\n' });
    const refused = await here.run('run', token, ...sh('echo started'));
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    const file = await here.run('run', token, '--file', 'KUBECONFIG=-', ...sh('cat $KUBECONFIG'));
    expect(file.stdout).toBe('KUBECONFIG=/x\n');
  });

  test('beside the variables of the text, or one that goes nowhere and is saved', async () => {
    const message = (value: string) => ({ name: 'push[payload]', value });
    const both = await createWithFiles(here.service, message('A=1'), filePart('f', 'x'));
    expect((await here.run('run', both, '--file', 'F', ...sh('cat $F; echo $A'))).stdout).toBe(
      'x1\n',
    );
    const prose = await createWithFiles(
      here.service,
      lastView,
      message('for you'),
      filePart('f', 'x'),
    );
    const { code, stdout, stderr } = await here.run('run', prose, '--file', 'F', ...sh('cat $F'));
    expect({ code, stdout, rescued: Object.values(here.rescued()) }).toEqual({
      code: 0,
      stdout: 'x',
      rescued: ['for you'],
    });
    expect(stderr).toMatch(/^warning: the text is not used; the text was saved to /);
  });

  test('and files that were not asked for, or are not there, are saved when nothing is started', async () => {
    for (const wish of [[], ['--file', 'F=c'], ['--file', 'F']]) {
      const files = [filePart('a', 'A'), filePart('b', 'B')];
      const two = await createWithFiles(here.service, lastView, ...files);
      const { code, stdout } = await here.run('run', two, ...wish, ...sh('echo started'));
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    }
    expect(Object.values(here.rescued()).sort()).toEqual(['A', 'A', 'A', 'B', 'B', 'B']);
  });
});
