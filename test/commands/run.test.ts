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

describe('the text becomes variables', () => {
  test('with --as one, whatever it looks like, to the byte', async () => {
    const token = await here.push({ payload: 'A=1\n\n' });
    const words = ['--as', 'ALL', ...sh('printf "[%s][%s]" "$A" "$ALL"')];
    const { stdout } = await here.run('run', token, ...words);
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
});

describe('the program', () => {
  test('gets our standard input, or with --stdin the text', async () => {
    const token = await here.push({ payload: 'A=1\n' });
    const piped = here.under({ stdin: 'piped' });
    expect((await piped.run('run', token, '--', 'cat')).stdout).toBe('piped');
    expect((await piped.run('run', token, '--stdin', ...sh('cat; echo "[$A]"'))).stdout).toBe(
      'A=1\n[]\n',
    );
  });

  test('gets no variable that holds or names a secret of ours, unless allowed', async () => {
    const token = await here.push({ payload: 'A=1', passphrase: 'horse' });
    const connection = ['URL', 'PROFILE', 'EDITION', 'CA_FILE', 'TIMEOUT'];
    const settings = [...connection, 'NO_INPUT', 'DEBUG'];
    const places = ['CONFIG_DIR', 'STATE_DIR'];
    const env = {
      ...Object.fromEntries([...documented(), 'PWPUSH_DB_PASSWORD'].map((name) => [name, ''])),
      PWPUSH_PASSPHRASE: 'horse',
      PWPUSH_URL: 'https://pw.test',
      ...here.admin,
    };
    const words = ['run', token];
    const line = sh('env');
    const names = async (...allowed: string[]) => {
      const { stdout } = await here.under({ env }).run(...words, ...allowed, ...line);
      return stdout
        .split('\n')
        .flatMap((one) => /^PWPUSH_(\w+)=/.exec(one)?.slice(1) ?? [])
        .filter(Boolean)
        .sort();
    };
    expect(await names()).toEqual([...settings, ...places].sort());
    expect(await names('--allow', 'PWPUSH_PASSPHRASE,PWPUSH_TOKEN')).toEqual(
      [...settings, ...places, 'TOKEN', 'PASSPHRASE'].sort(),
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
});

describe('the last view was used, and the program cannot be run: the secret is saved,', () => {
  const refused = (words: readonly string[], token: string) => here.run('run', token, ...words);

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
    const { code } = await refused(['--as', 'A', ...sh('echo started')], token);
    expect([code, Object.values(here.rescued())]).toEqual([1, [payload]]);
    const { stdout } = await refused(['--stdin', ...sh('wc -c')], await here.push({ payload }));
    expect(stdout.trim()).toBe('1048576');
  });

  test('of a program that the system cannot load', async () => {
    const file = here.file('program');
    const interpreter = here.file('interpreter');
    writeFileSync(file, `#!${interpreter}\n`, { mode: 0o755 });
    writeFileSync(interpreter, '#!/no/such/interpreter\n', { mode: 0o755 });
    const token = await here.push({ payload: 'A=hunter2', expire_after_views: 1 });
    const { code } = await refused(['--', file], token);
    expect([code, Object.values(here.rescued())]).toEqual([1, ['A=hunter2']]);
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
    const { code, stdout } = await cut.run('run', 'abc', '--as', 'A', ...sh('echo started'));
    const rescued = Object.values(cut.rescued());
    cut.close();
    expect({ code, stdout, rescued }).toEqual({ code: 143, stdout: '', rescued: ['hunter2'] });
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
      const { code, stdout } = await here.run('run', token, '--file', wish, ...sh(look));
      expect([code, stdout.split('@')[0]]).toEqual([0, '600\n700\napiVersion: v1\n']);
      expect(existsSync(pathIn(stdout))).toBe(false);
    }
  });

  test('in memory where there is such a place', needsFile('/dev/shm'), async () => {
    const token = await here.push({ payload: 'x' });
    const { stdout } = await here.run('run', token, '--file', 'F', ...sh('echo "@$F"'));
    expect(pathIn(stdout)).toMatch(/^\/dev\/shm\/pwpush-run-\w+\/text$/);
    expect(readdirSync('/dev/shm')).not.toContain(pathIn(stdout).split('/')[3]);
  });

  test('of the one pushed file', async () => {
    const one = await createWithFiles(here.service, filePart('kube config.yaml', 'k: v\n'));
    const { stdout } = await here.run('run', one, '--file', 'F', ...sh(look));
    expect(stdout).toMatch(/^600\n700\nk: v\n@\/.*\/kube config\.yaml\n$/);
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
    const { code, stdout } = await here.run('run', prose, '--file', 'F', ...sh('cat $F'));
    expect({ code, stdout, rescued: Object.values(here.rescued()) }).toEqual({
      code: 0,
      stdout: 'x',
      rescued: ['for you'],
    });
  });

  test('masked in the output if it is a text of up to 1 MiB', async () => {
    const names = [
      ['text', 'hunter2\nswordfish\n', true],
      ['long', `hunter2\n${'x'.repeat(1024 * 1024)}\n`, false],
      ['binary', 'hunter2\n\0', false],
      ['latin1', Buffer.from('hunter2\n\xff', 'latin1'), false],
    ] as const;
    for (const [name, content, masked] of names) {
      const one = await createWithFiles(here.service, filePart(name, content as string));
      const words = ['run', one, '--file', 'F', '--mask', ...sh('head -n 1 "$F"; echo "$F"')];
      const { stdout, stderr } = await here.run(...words);
      const warned = /warning: not masked: .* in F\n/.test(stderr);
      expect([name, warned, stdout.split('\n')[0]]).toEqual([
        name,
        !masked,
        masked ? '***' : 'hunter2',
      ]);
      expect(stdout).toMatch(new RegExp(`/${name}\n$`));
    }
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
