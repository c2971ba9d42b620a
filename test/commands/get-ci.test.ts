import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { heredoc, maskCommands } from '../../src/open/ci-job';
import { type Instance, instance } from '../helpers/instance';
import { needsRoot } from '../helpers/needs';
import { createWithFiles, filePart } from '../helpers/service';

let here: Instance;
beforeEach(async () => {
  here = await instance();
});
afterEach(() => here.close());

/** Reads such a file as the runner does: names, and values between delimiters. */
function asRunner(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (let rest = text; rest.trim() !== ''; ) {
    const head = /^\s*?([^\n]*?)<<([^\n]+)\n/.exec(rest);
    if (!head) throw new Error(`no heredoc: ${rest}`);
    const [whole, name = '', delimiter] = head;
    const end = rest.indexOf(`\n${delimiter}\n`, whole.length - 1);
    found[name] = rest.slice(whole.length, Math.max(end, whole.length));
    rest = rest.slice(end + `\n${delimiter}\n`.length);
  }
  return found;
}

/** What the runner masks after these commands. */
function masked(stdout: string): string[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => /^::add-mask::(.*)$/.exec(line)?.[1] ?? `not a mask: ${line}`)
    .map((data) => data.replaceAll('%0A', '\n').replaceAll('%0D', '\r').replaceAll('%25', '%'));
}

const job = () => {
  const env = { CI: 'true', GITHUB_OUTPUT: here.file('output'), GITHUB_ENV: here.file('env') };
  writeFileSync(env.GITHUB_OUTPUT, '');
  writeFileSync(env.GITHUB_ENV, 'EARLIER=1\n');
  return here.under({ env });
};
const output = () => readFileSync(here.file('output'), 'utf8');
const environment = () => readFileSync(here.file('env'), 'utf8');

describe('in a job of GitHub Actions', () => {
  test('the text is masked, and then an output', async () => {
    const token = await here.push({ payload: '100%\nsecond\r\n\nsecond' });
    const { code, stdout, stderr } = await job().run(
      'get',
      token,
      '--github-output',
      'db-password',
    );
    expect({ code, stdout, stderr, output: asRunner(output()) }).toEqual({
      code: 0,
      stdout: '::add-mask::100%25\n::add-mask::second\n',
      stderr: '',
      output: { 'db-password': '100%\nsecond\r\n\nsecond' },
    });
  });

  test('it is a variable of the steps that follow, beside what is there', async () => {
    const token = await here.push({ payload: 'hunter2\n' });
    const words = ['--github-env', 'DB_PASSWORD', '--github-output', 'x'];
    const { code } = await job().run('get', token, ...words);
    const [first, ...rest] = environment().split('\n');
    expect({ code, first, env: asRunner(rest.join('\n')), output: asRunner(output()) }).toEqual({
      code: 0,
      first: 'EARLIER=1',
      env: { DB_PASSWORD: 'hunter2\n' },
      output: { x: 'hunter2\n' },
    });
  });

  test('a line that was left open is ended first', async () => {
    const token = await here.push({ payload: 's' });
    const there = job();
    writeFileSync(here.file('env'), 'EARLIER=1');
    await there.run('get', token, '--github-env', 'A');
    expect(environment()).toMatch(/^EARLIER=1\nA<<pwpush_\w{32}\ns\npwpush_\w{32}\n$/);
  });

  test.each([
    'NODE_OPTIONS',
    'PATH',
    'LD_PRELOAD',
    'GITHUB_TOKEN',
    'RUNNER_TEMP',
    'ACTIONS_RUNTIME_TOKEN',
    'CI',
  ])('%s is refused as a variable, and nothing is sent', async (name) => {
    const { code, stderr } = await job().run('get', 'abc', '--github-env', name);
    expect({ code, stderr, asked: here.asked }).toEqual({
      code: 2,
      stderr:
        `pwpush: ${name} would change what later steps run\n` +
        `hint: to allow it, use --allow ${name}\n`,
      asked: [],
    });
  });

  test('which --allow lets through, and the name is said', async () => {
    const token = await here.push({ payload: '-O2' });
    const words = ['--github-env', 'CFLAGS', '--allow', 'CFLAGS'];
    const { code, stderr } = await job().run('get', token, ...words);
    const [, ...rest] = environment().split('\n');
    expect({ code, stderr, env: asRunner(rest.join('\n')) }).toEqual({
      code: 0,
      stderr: 'variables set: CFLAGS\n',
      env: { CFLAGS: '-O2' },
    });
  });

  test.each([
    [['--github-output', 'a b'], '"a b" is not a valid output name'],
    [['--github-output', ''], '"" is not a valid output name'],
    [['--github-env', 'A-B'], '"A-B" is not a valid variable name'],
    [['--github-env', 'A', '-o', 'x'], 'options for CI jobs cannot be combined with other outputs'],
    [['--github-env', 'A', '--json'], 'options for CI jobs cannot be combined with other outputs'],
    [['--as', 'A'], '--as requires --gitlab-dotenv FILE'],
    [['--only', 'A'], '--only requires --gitlab-dotenv FILE, without --as'],
    [['--only', 'A', '--github-env', 'B'], '--only requires --gitlab-dotenv FILE'],
    [['--only', 'A', '--gitlab-dotenv', 'x', '--as', 'B'], '--only requires --gitlab-dotenv FILE'],
    [['--allow', 'A'], '--allow requires --github-env NAME or --gitlab-dotenv FILE'],
    [['--allow', 'A', '--github-output', 'x'], '--allow requires --github-env NAME'],
    [['--allow', 'A-B', '--github-env', 'X'], '"A-B" is not a valid variable name'],
  ])('%j is bad usage', async (words, message) => {
    const { code, stderr } = await job().run('get', 'abc', ...words);
    const told = stderr.includes(message);
    expect({ code, told, asked: here.asked }).toEqual({ code: 2, told: true, asked: [] });
  });

  test.each([
    ['--github-output', 'GITHUB_OUTPUT'],
    ['--github-env', 'GITHUB_ENV'],
  ])('%s elsewhere is refused before the view is used', async (option, variable) => {
    const { code, stderr } = await here.run('get', 'abc', option, 'A');
    expect({ code, stderr, asked: here.asked }).toEqual({
      code: 2,
      stderr:
        `pwpush: ${option} requires ${variable}, which GitHub Actions sets\n` +
        'hint: nothing was fetched; outside of GitHub Actions use pwpush run or --output\n',
      asked: [],
    });
  });

  test('a file that cannot be written is told before the view is used', async () => {
    const env = { GITHUB_ENV: here.file('none/env') };
    const { code } = await here.under({ env }).run('get', 'abc', '--github-env', 'A');
    expect({ code, asked: here.asked }).toEqual({ code: 2, asked: [] });
  });

  test('where nothing can be masked nothing is set, and the text is saved', async () => {
    job();
    const env = { GITHUB_ENV: here.file('env') };
    for (const conditions of [
      { failing: { stdout: 'EPIPE' } as const },
      { closed: ['stdout'] as const },
    ]) {
      const token = await here.push({ payload: 'hunter2', expire_after_views: 1 });
      const { code } = await here
        .under({ env, ...conditions })
        .run('get', token, '--github-env', 'A');
      expect({ code, env: environment() }).toEqual({ code: 1, env: 'EARLIER=1\n' });
    }
    expect(Object.values(here.rescued())).toEqual(['hunter2', 'hunter2']);
  });

  test('a text with NUL is refused before anything is set, and saved', async () => {
    const token = await here.push({ payload: 'a\0b', expire_after_views: 1 });
    const { code, stdout, stderr } = await job().run('get', token, '--github-env', 'A');
    expect({ code, stdout, env: environment() }).toEqual({
      code: 1,
      stdout: '',
      env: 'EARLIER=1\n',
    });
    expect(stderr).toContain('the text contains a NUL character, which');
    expect(Object.values(here.rescued())).toEqual(['a\0b']);
  });

  test.each([
    ['are saved', [], true],
    ['are left with --no-files', ['--no-files'], false],
  ])('files without a text %s, and that nothing is set is an error', async (_, words, saved) => {
    const token = await createWithFiles(here.service, filePart('f', 'x'));
    const before = process.cwd();
    process.chdir(here.folder);
    try {
      const { code, stderr } = await job().run('get', token, '--github-env', 'A', ...words);
      expect({
        code,
        last: stderr.trimEnd().split('\n').at(-1),
        env: environment(),
        saved: existsSync(here.file('f')),
      }).toEqual({
        code: 1,
        last: 'pwpush: the push has no text, so nothing was set in the job',
        env: 'EARLIER=1\n',
        saved,
      });
    } finally {
      process.chdir(before);
    }
  });

  test('whatever the text, all of its lines are masked, and the runner reads it back', () => {
    const line = fc.oneof(fc.string(), fc.constantFrom('', '%', '%0A', '::', 'A<<B', 'B', '\r'));
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const text = lines.join('\n');
        const wanted = text.split(/\r\n|\r|\n/).filter((one) => one.trim() !== '');
        expect(masked(maskCommands(text))).toEqual([...new Set(wanted)]);
        expect(asRunner(heredoc('NAME', text))).toEqual({ NAME: text });
      }),
    );
  });
});

describe('a file of another user (needs root)', needsRoot, () => {
  test.each([
    ['--github-output', 0o1777, 2],
    ['--github-env', 0o777, 2],
    // The container of a job, where root writes to files of the runner.
    ['--github-output', 0o755, 0],
    ['--github-env', 0o2775, 0],
    ['--gitlab-dotenv', 0o1777, 2],
    ['--gitlab-dotenv', 0o775, 2],
    ['--gitlab-dotenv', 0o755, 0],
  ])('%s in a folder of mode %o ends with %i', async (option, mode, status) => {
    const folder = here.file('shared');
    const path = join(folder, 'file');
    mkdirSync(folder);
    writeFileSync(path, '');
    chmodSync(path, 0o666);
    chownSync(path, 1001, 1001);
    chmodSync(folder, mode);
    const token = await here.push({ payload: 'text', expire_after_views: 1 });
    const there = here.under({ env: { CI: 'true', GITHUB_OUTPUT: path, GITHUB_ENV: path } });
    const name = option === '--gitlab-dotenv' ? [path, '--as', 'A'] : ['A'];
    const { code, stderr } = await there.run('get', token, '--anonymous', option, ...name);
    expect([code, readFileSync(path, 'utf8').includes('text')]).toEqual([status, status === 0]);
    if (status === 0) return;
    expect(stderr).toContain(`"${path}" is a file of another user, in a folder that others`);
    expect((await here.run('get', token)).stdout).toBe('text');
  });
});

describe('--gitlab-dotenv', () => {
  let report: string;
  beforeEach(() => {
    report = here.file('build.env');
  });
  const get = async (payload: string, ...words: string[]) =>
    here.run(
      'get',
      await here.push({ payload, expire_after_views: 1 }),
      '--gitlab-dotenv',
      report,
      ...words,
    );

  test('writes variables without quotes to a new file, 0600', async () => {
    expect(await get('export A="x y"\n# why\nB=\'$z\'\n')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'variables set: A, B\n',
    });
    const mode = (statSync(report).mode & 0o777).toString(8);
    expect([readFileSync(report, 'utf8'), mode]).toEqual(['A=x y\nB=$z\n', '600']);
  });

  test('writes any text of one line with --as, after what is there', async () => {
    writeFileSync(report, 'EARLIER=1\n');
    await get('a"b=#c', '--as', 'PASSWORD');
    expect(readFileSync(report, 'utf8')).toBe('EARLIER=1\nPASSWORD=a"b=#c\n');
  });

  test.each([
    ['hunter2', [], 'the text is not made of NAME=value lines (line 1)'],
    [
      'A="1\n2"',
      [],
      "the value of A has several lines, which GitLab's dotenv reports do not support",
    ],
    ['one\ntwo', ['--as', 'A'], 'the value of A has several lines'],
    [' x', ['--as', 'A'], 'the value of A begins or ends with white space'],
    ['A=1\nB=', [], 'the value of B is empty'],
    [
      'A=1\nLD_PRELOAD=x\nCI_JOB_TOKEN=x',
      [],
      'the text sets LD_PRELOAD, CI_JOB_TOKEN, which would change what later jobs run',
    ],
    ['A=1', ['--only', 'B'], 'the text sets no B'],
  ])(
    '%j %j cannot be held: nothing is written, and it is saved',
    async (payload, words, message) => {
      writeFileSync(report, 'EARLIER=1\n');
      const { code, stdout, stderr } = await get(payload, ...words);
      expect({
        code,
        stdout,
        report: readFileSync(report, 'utf8'),
        rescued: Object.values(here.rescued()),
      }).toEqual({
        code: 2,
        stdout: '',
        report: 'EARLIER=1\n',
        rescued: [payload],
      });
      expect(stderr).toContain(message);
      expect(stderr).toContain('was saved to');
    },
  );

  test('writes only what is wanted and replaces nothing of this job, unless allowed', async () => {
    const there = here.under({ env: { SET: 'here', SAME: '1' } });
    const payload = 'A=1\nB="two\nlines"\nLESS=!x\nSET=x\nSAME=1';
    const written = async (...words: string[]) => {
      writeFileSync(report, '');
      const token = await here.push({ payload });
      const ended = await there.run('get', token, '--gitlab-dotenv', report, ...words);
      return [ended.stderr.split(';')[0], readFileSync(report, 'utf8')];
    };
    expect([
      await written(),
      await written('--only', 'SET,A'),
      await written('--only', 'LESS,SAME', '--allow', 'LESS'),
    ]).toEqual([
      ['pwpush: the text sets LESS, which would change what later jobs run', ''],
      ['variables set: A, SET\n', 'A=1\nSET=x\n'],
      ['variables set: LESS, SAME\n', 'LESS=!x\nSAME=1\n'],
    ]);
    const token = await here.push({ payload: 'SET=x' });
    const { code, stderr } = await there.run('get', token, '--gitlab-dotenv', report);
    expect([code, stderr.split(';')[0]]).toEqual([
      2,
      'pwpush: the text sets SET, already set to another value in the environment',
    ]);
  });

  test('what cannot be held is not saved while views are left: the exit code is the same', async () => {
    const token = await here.push({ payload: 'hunter2' });
    const { code, stderr } = await here.run('get', token, '--gitlab-dotenv', report);
    expect({ code, rescued: here.rescued() }).toEqual({ code: 2, rescued: {} });
    expect(stderr).toContain('; the push can be retrieved again (4 views and 7 days left)\nhint: ');
  });

  test('refuses a dangerous name before the view is used', async () => {
    const { code } = await here.run(
      'get',
      'abc',
      '--gitlab-dotenv',
      report,
      '--as',
      'CI_JOB_TOKEN',
    );
    expect({ code, asked: here.asked }).toEqual({ code: 2, asked: [] });
  });
});
