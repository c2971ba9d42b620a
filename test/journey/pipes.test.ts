import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needsFile } from '../helpers/needs';
import { alsoBinary, person, pwpush, serveBuilt, shell } from '../helpers/program';

const sender = person();
const recipient = person();
let service: Awaited<ReturnType<typeof serveBuilt>>;

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
const push = (input: string | Buffer, ...words: string[]) =>
  pwpush(['push', ...words], { env: sender.env, input });
const get = (address: string, ...words: string[]) =>
  pwpush(['get', address.trim(), ...words], { env: recipient.env });

describe('a secret in a pipe', () => {
  test('goes in, and the link alone comes out', alsoBinary, async () => {
    const pushed = await push('hunter2\n', '--views', '1');
    expect(pushed).toEqual({
      code: 0,
      signal: null,
      stdout: expect.stringMatching(link()),
      stderr: '',
    });
    expect(await get(pushed.stdout)).toEqual({
      code: 0,
      signal: null,
      stdout: 'hunter2',
      stderr: '',
    });
  });

  test('of several lines comes back to the byte', async () => {
    const key = '-----BEGIN KEY-----\nü漢\u0007\r\n-----END KEY-----\n';
    const pushed = await push(key);
    expect((await get(pushed.stdout)).stdout).toBe(key);
  });

  test('of a mebibyte comes back to the byte', alsoBinary, async () => {
    const text = 'abcdefg\n'.repeat(131_072);
    const pushed = await push(text);
    expect((await get(pushed.stdout)).stdout === text).toBe(true);
  });
});

describe('a link that cannot be printed', () => {
  test('goes to stderr when the reader of the pipe has gone', alsoBinary, async () => {
    // The reader is gone before the program writes: it ends once its own stdin is closed.
    const line = `(printf s | $PWPUSH push 2>"$HOME/err"; echo $? >"$HOME/status") | true; cat "$HOME/err"; cat "$HOME/status"`;
    const { stdout } = await shell(line, { env: sender.env });
    const [first, , status] = stdout.split('\n');
    expect([`${first}\n`, status]).toEqual([expect.stringMatching(link()), '1']);
  });

  test('goes to stderr when stdout is closed', alsoBinary, async () => {
    const { code, stderr } = await shell('printf s | $PWPUSH push >&-', { env: sender.env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(link()) });
  });

  test('goes to a rescue file when nothing else is left', needsFile('/dev/full'), async () => {
    const { code } = await shell('printf s | $PWPUSH push >/dev/full 2>/dev/full', {
      env: sender.env,
    });
    expect(code).toBe(1);
    const folder = sender.env.PWPUSH_STATE_DIR ?? '';
    const files = readdirSync(folder);
    expect(files).toEqual([expect.stringMatching(/^link-/), 'receipts.jsonl']);
    const file = join(folder, files[0] ?? '');
    expect(readFileSync(file, 'utf8')).toMatch(link());
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });
});

describe('a secret that cannot be printed', () => {
  test('goes to a rescue file, whose path is told', needsFile('/dev/full'), async () => {
    const pushed = await push('the view is gone', '--views', '1');
    const line = `$PWPUSH get ${pushed.stdout.trim()} >/dev/full`;
    const { code, stderr } = await shell(line, { env: recipient.env });
    expect(code).toBe(1);
    const path = /saved to (\S+)/.exec(stderr)?.[1] ?? '';
    expect(readFileSync(path, 'utf8')).toBe('the view is gone');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});
