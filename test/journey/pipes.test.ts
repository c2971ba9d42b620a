import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needsFile } from '../helpers/needs';
import { alsoBinary, person, pwpush, type Served, serveBuilt, shell } from '../helpers/program';

// The built program in each run of the fast tests: its streams, exit codes and rescue files.

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

const link = () => new RegExp(`^${service.url}/p/[a-z0-9_-]{19}/r\\n$`);
const push = (input: string, ...words: string[]) =>
  pwpush(['push', ...words], { env: sender.env, input });
const get = (address: string) => pwpush(['get', address.trim()], { env: recipient.env });

describe('a secret in a pipe', () => {
  test('goes in, and the link alone comes out', alsoBinary, async () => {
    const pushed = await push('hunter2\n', '--views', '1');
    expect(pushed).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(link()) });
    expect(await get(pushed.stdout)).toMatchObject({ code: 0, stderr: '', stdout: 'hunter2' });
  });

  test.each([
    ['several lines', '-----BEGIN KEY-----\nü漢\u0007\r\n-----END KEY-----\n'],
    ['a mebibyte', 'abcdefg\n'.repeat(131_072)],
  ])('of %s comes back to the byte', alsoBinary, async (_, text) => {
    expect((await get((await push(text)).stdout)).stdout === text).toBe(true);
  });
});

describe('what cannot be printed', () => {
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

  test('goes to a rescue file, which only its owner can read', needsFile('/dev/full'), async () => {
    const { stdout } = await push('the view is gone', '--views', '1');
    const line = `$PWPUSH get ${stdout.trim()} >/dev/full`;
    const { code, stderr } = await shell(line, { env: recipient.env });
    const [, path = ''] = /saved to (\S+)/.exec(stderr) ?? [];
    const folder = recipient.env.PWPUSH_STATE_DIR ?? '';
    expect([code, readdirSync(folder).map((name) => join(folder, name))]).toEqual([1, [path]]);
    expect(readFileSync(path, 'utf8')).toBe('the view is gone');
    expect([folder, path].map((one) => statSync(one).mode & 0o777)).toEqual([0o700, 0o600]);
  });
});
