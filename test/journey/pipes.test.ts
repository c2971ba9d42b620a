import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { alsoBinary, person, pwpush, type Served, serveBuilt, shell } from '../helpers/program';

// The built program in each run of the fast tests: its streams and exit codes.

const sender = person();
const recipient = person();
let service: Served;
beforeAll(async () => {
  service = await serveBuilt(sender.env);
});
afterAll(async () => {
  const { code, stderr } = await service.stop();
  const usual = / (?:[A-Z]+ \S+ [24]\d\d .*|start .*|stopping|stopped)$/;
  const others = stderr.split('\n').filter((line) => line !== '' && !usual.test(line));
  expect([code, ...others]).toEqual([0]);
});

const link = () => new RegExp(`^${service.url}/p/[a-z0-9_-]{19}/r#[\\w-]{22}\\n$`);
const push = (input: string, ...words: string[]) => pwpush(['push', ...words], { env: sender.env, input });
const get = (address: string) => pwpush(['get', address.trim()], { env: recipient.env });

describe('a secret in a pipe', () => {
  test('goes in, and the link alone comes out', alsoBinary, async () => {
    const pushed = await push('hunter2\n', '--views', '1');
    expect(pushed).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(link()) });
    expect(await get(pushed.stdout)).toMatchObject({ code: 0, stderr: '', stdout: 'hunter2' });
  });

  test.each([
    ['several lines', '-----BEGIN KEY-----\nü漢\u0007\r\n-----END KEY-----\n'],
    // The most that an instance takes; encrypted, it would be longer.
    ['a mebibyte', 'abcdefg\n'.repeat(131_072), '--no-encrypt'],
  ])('of %s comes back to the byte', alsoBinary, async (_, text, ...words) => {
    expect((await get((await push(text, ...words)).stdout)).stdout === text).toBe(true);
  });

  const some = Array.from({ length: 40_000 }, (_, at) => `${at}\n`).join('');

  test.each([
    ['a pipe', 'cat list | $PWPUSH push', 0],
    ['a file that something else began to read', '{ read -r first; $PWPUSH push; } <list', '0\n'.length],
  ])('comes from %s, of which it takes more than one reading', alsoBinary, async (_, line, from) => {
    writeFileSync(`${sender.folder}/list`, some);
    const pushed = await shell(line, { env: sender.env, cwd: sender.folder });
    expect((await get(pushed.stdout)).stdout === some.slice(from)).toBe(true);
  });

  test('is awaited if it is not there yet', alsoBinary, async () => {
    const line = `mkfifo in out; $PWPUSH push --each <in >out &
      exec 3>in 4<out; echo a >&3; read -r one <&4; echo b >&3; exec 3>&-; read -r two <&4; echo $one; echo $two`;
    const { stdout } = await shell(line, { env: sender.env, cwd: sender.folder });
    const [one = '', two = ''] = stdout.split('\n');
    expect([(await get(one)).stdout, (await get(two)).stdout]).toEqual(['a', 'b']);
  });
});

test('a file on standard input that the line does not read is warned of, but not that of a loop', async () => {
  const line = `cd "$HOME" && printf 'a\\nb\\n' >list; push="$PWPUSH push --dry-run --quiet"
    $push --env WORD <list; $push --passphrase-file - x <list
    while read -r word; do $push --env WORD; done <list`;
  const { stderr } = await shell(line, { env: { ...sender.env, WORD: 'x' } });
  expect(stderr).toBe('warning: standard input is not used: the secret comes from --env\n');
});

describe('beside a text argument, standard input', () => {
  const told = async (line: string) => {
    const start = `cd "$HOME" && printf 'a\\nb\\nc' >list; push="$PWPUSH push --dry-run --quiet x"; `;
    return (await shell(start + line, { env: sender.env })).stderr;
  };

  test.each([
    'echo z | $push',
    '$push <list',
    // A loop ends with it: no rest of a line is left to be pushed.
    'cat list | while read -r word; do $push; done',
    'while read -r word; do $push; done <list',
  ])('is refused if it has something: %s', async (line) => {
    expect(await told(line)).toMatch(/^pwpush: TEXT [^\n]*\nhint: [^\n]*--name;.*<\/dev\/null\n$/);
  });

  test.each(['$push </dev/null', '$push <&-', ': | $push', '>none; $push <none', '$push </dev/zero'])(
    'may have nothing: %s',
    async (line) => {
      expect(await told(line)).toBe('');
    },
  );

  test('may be silent, which is said', alsoBinary, async () => {
    const silent = 'mkfifo open; exec 3<>open; $push <open';
    const said = 'warning: standard input was open, and was not read: the secret is TEXT\n';
    expect(await told(silent)).toBe(said);
  });
});

test('a result for a closed standard output is a failure', alsoBinary, async () => {
  const line = 'for word in --version version generate; do $PWPUSH $word >&-; echo $? >&2; done';
  const { stderr } = await shell(line, { env: sender.env });
  expect(stderr).toBe('pwpush: cannot write to standard output (closed)\n1\n'.repeat(3));
});

describe('a link that cannot be printed', () => {
  test('goes to stderr when the reader of the pipe has gone', alsoBinary, async () => {
    // The reader is gone before the program writes: it ends once its own stdin is closed.
    const line = `(printf s | $PWPUSH push 2>"$HOME/err"; echo $? >"$HOME/status") | true; cat "$HOME/err" "$HOME/status"`;
    const { stdout } = await shell(line, { env: sender.env });
    const [first, , status] = stdout.split('\n');
    expect([`${first}\n`, status]).toEqual([expect.stringMatching(link()), '1']);
  });

  test('goes to stderr when stdout is closed', alsoBinary, async () => {
    const { code, stderr } = await shell('printf s | $PWPUSH push >&-', { env: sender.env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(link()) });
  });
});
