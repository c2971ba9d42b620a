import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import { CREATED, changed, RETRIEVED } from '../helpers/reference';
import { json, type Literal } from '../helpers/wire';

// Answers that are none, or not quite. Those of each call in every form: client-forms.test.ts. What is said of them is told
// by test/cases/unexpected-responses.txt and get-fails.txt.

const LINK = 'https://pw.test/p/quyul5r5w08/r\n';
const MOST = 16 * 1024 * 1024;
const packed = { 'content-type': 'application/json', 'content-encoding': 'gzip' };

const bomb = { status: 201, headers: packed, body: gzipSync(new Uint8Array(MOST + 1)) };

async function answered(answer: Literal, line: string) {
  const { code, stdout, sent } = await asking([answer], line.split(' '), { stdin: 'hunter2' });
  return { code, stdout, requests: sent.length };
}

test.each([
  ['neither link nor token', json(201, '{"name":"x"}'), 'push', 11],
  ['a token that is a path', json(201, '{"url_token":"../../etc"}'), 'push', 11],
  ['no url', json(200, '{}'), 'preview quyul5r5w08', 1],
  ['no logs', json(200, '{"error":null}'), 'audit quyul5r5w08', 1],
  ['a list of numbers', json(200, '[1]'), 'list', 1],
  ['features that are none', json(200, '{"features":1}'), 'version', 1],
  ['more than 16 MiB', json(200, ' '.repeat(MOST + 1)), 'version', 1],
  // Unpacked; it leaves open what happened.
  ['more than 16 MiB', bomb, 'push', 11],
])('a success with %s is none (%#)', async (_what, answer, line, code) => {
  expect(await answered(answer, line)).toEqual({ code, stdout: '', requests: 1 });
});

test.each(['push', 'push --json', 'push --each', 'request Key?', 'request Key? --json'])(
  'a link that cannot be printed, and no token, leaves %s open',
  async (line) => {
    for (const html_url of ['https://pw.test/p/x\nhttps://e.test/p/x', 'https://pw.test/p/x y']) {
      const answer = json(201, JSON.stringify({ html_url }));
      const { code, stdout } = await answered(answer, line);
      expect([code, /https?:\S*\/[pr]\//.test(stdout)]).toEqual([11, false]);
    }
  },
);

describe('costs nobody the secret, or the link:', () => {
  test.each([
    ['a fraction of views', { views_remaining: 1.5 }],
    ['a flag that is a text', { deletable_by_viewer: 'true' }],
    ['files that are none', { files: [1] }],
    ['a name that is a number', { name: 5 }],
    ['a fraction of days', { days_remaining: 6.99 }],
    ['no token', { url_token: undefined }],
    ['a token that is a path', { url_token: '../../etc' }],
  ])('%s', async (_what, change) => {
    const got = await answered(json(200, changed(RETRIEVED, change)), 'get quyul5r5w08');
    const made = await answered(json(201, changed(CREATED, change)), 'push');
    expect([got.stdout, made.stdout]).toEqual(['hunter2', LINK]);
  });

  test('a byte order mark in a compressed response', async () => {
    const answer = { status: 201, headers: packed, body: gzipSync(`\ufeff${CREATED}`) };
    expect(await answered(answer, 'push')).toMatchObject({ code: 0, stdout: LINK });
  });

  test('JSON that is nested 100,000 deep', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const answer = json(201, CREATED.replace(/}\s*$/, `,"more":${deep}}`));
    const { stdout } = await answered(answer, 'push --json');
    expect(JSON.parse(stdout).html_url).toBe(LINK.trim());
  });
});
