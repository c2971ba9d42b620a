import { describe, expect, test } from 'vitest';
import { eachInstance } from '../helpers/instance';

// How command lines are read; what is said of a bad one: test/cases/usage.txt.

const here = eachInstance();

describe('what is not understood is exit 2', () => {
  test.each([
    ['evrsion', 'version'],
    ['token', 'login or serve token'],
    ['pull', 'get'],
    ['qr', 'preview --qr'],
    ['--json prevew -h', 'preview'],
    ['help profile lst', 'list'],
    ['--url http://x serve --port 0 tokn --help', 'token'],
    ['-- profile ls', 'list'],
    ['profile delete', 'remove'],
    ['profile frobnicate', 'pwpush profile --help'],
    ['push --burn', '--views 1'],
    ['list --burn', 'pwpush list --help'],
    ['serve token add --josn', '--json'],
    ["push --'", 'pwpush push --help'],
    // The value of an unknown option is no command.
    ['serve --prot 8080', '--port'],
    ['profile --nmae work show', 'pwpush profile --help'],
  ])('%j: %s is suggested', async (line, meant) => {
    const { code, stdout, stderr } = await here.run(...line.split(' '));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const hint = stderr.trimEnd().split(/"hint":"|\nhint: /)[1] ?? '';
    expect(hint.replace(/^did you mean (.*?)\?(?:"\}\})?$/, '$1')).toBe(meant);
  });

  test.each([
    ['--token pwp_S3cret push x', '--token'],
    ['profile --password hunter3cret list', '--password'],
    ['push --secret=S3cret', '--secret'],
    ['push --=S3cret', ''],
    ["push --it's=S3cret", '--it'],
  ])('%s: the value is not repeated', async (line, name) => {
    const { code, stdout, stderr } = await here.run(...line.split(' '));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`pwpush: unknown option ${name}`.trimEnd());
    expect(stderr).not.toContain('3cret');
  });
});

test.each([
  'push --url https://a.test x --dry-run --json',
  '--json --reveal push x --dry-run --url https://a.test',
  '--url=https://b.test push x --dry-run --json --url=https://a.test',
])('global options stand before or after the command: %s', async (line) => {
  const { stdout } = await here.run(...line.split(' '));
  expect(JSON.parse(stdout).url).toBe('https://a.test/api/v2/pushes');
});

describe('the value of an option is no option', () => {
  test.each([
    ['--note -hello --env UNSET', false],
    ['--note --json --bogus', false],
    ['--bogus -- --json', false],
    ['-nq --json --bogus', true],
    ['--days x --json', true],
  ])('push %s: the error is JSON: %j', async (line, json) => {
    const { code, stderr } = await here.run('push', ...line.split(' '));
    expect([code, stderr.startsWith('{"error":{"code":"usage"')]).toEqual([2, json]);
  });
});

test.each([...['push', 'push --file -=x', 'push --each', 'get abc --passphrase-file -']])(
  '%s does not read standard input if the token comes from there',
  async (line) => {
    const [name = '', ...words] = line.split(' ');
    const piped = here.under({ stdin: 'typed\n' });
    const { code, stderr } = await piped.run(name, '--token-file', '-', ...words);
    expect([code, stderr.includes('and the token'), here.asked]).toEqual([2, true, []]);
  },
);
