import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { asking, lines } from '../helpers/foreign';
import { CREATED, changed, RETRIEVED } from '../helpers/reference';
import { html, json, type Literal } from '../helpers/wire';

// Answers that are none: proxies in front, bodies that are empty, cut or something else. What is said of them is told
// by test/cases/unexpected-responses.txt.

async function answered(answer: Literal, ...argv: string[]) {
  const outcome = await asking([answer], argv, { stdin: 'hunter2' });
  const { code, stdout, stderr, sent } = outcome;
  return { code, stdout, stderr, requests: sent.length };
}

test('a page of a proxy that quotes the secret does not get it printed', async () => {
  const { code, stderr } = await answered(html(500, '<p>cannot save "hunter2"</p>'), 'push');
  expect([code, stderr.includes('hunter2')]).toEqual([11, false]);
});

describe('a success without what the API describes', () => {
  test.each([
    ['half of it', CREATED.slice(0, 200), 201, 'push', 11],
    ['neither link nor token', '{"name":"x"}', 201, 'push', 11],
    ['a token that is a path', '{"url_token":"../../etc"}', 201, 'push', 11],
    ['no url', '{}', 200, 'preview', 1],
    ['half of it', '{"url":"https', 200, 'preview', 1],
    ['no logs', '{"error":null}', 200, 'audit', 1],
    ['an object', '{}', 200, 'list', 1],
    ['a list of numbers', '[1]', 200, 'list', 1],
    ['a number', '1', 200, 'version', 1],
    ['features that are none', '{"features":1}', 200, 'version', 1],
  ])('JSON with %s (%s at %d) makes %s end with %d', async (_what, body, status, command, code) => {
    const argv = ['push', 'list', 'version'].includes(command) ? [] : ['quyul5r5w08'];
    const outcome = await answered(json(status, body), command, ...argv);
    expect(outcome).toMatchObject({ code, stdout: '', requests: 1 });
  });

  test.each(['push', 'push --json', 'push --each', 'request Key?', 'request Key? --json'])(
    'a link that cannot be printed, and no token, leaves %s open',
    async (line) => {
      const argv = line.split(' ');
      for (const html_url of ['https://pw.test/p/x\nhttps://e.test/p/x', 'https://pw.test/p/x y']) {
        const answer = json(201, JSON.stringify({ html_url }));
        const { code, stdout } = await answered(answer, ...argv);
        expect([code, /https?:\S*\/[pr]\//.test(stdout)]).toEqual([11, false]);
      }
    },
  );

  test('a retrieved push without text and files is a failure, not an empty secret', async () => {
    const answer = json(200, changed(RETRIEVED, { payload: null }));
    const outcome = await answered(answer, 'get', 'quyul5r5w08');
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
  });

  test.each([
    ['an array', '[]'],
    ['null', 'null'],
    ['half of it', '{"payload":"hunter2","files"'],
    ['a payload that is no text', '{"payload":5}'],
  ])('what get was answered is saved, not quoted: %s', async (_what, body) => {
    const { code, stdout, stderr } = await answered(json(200, body), 'get', 'quyul5r5w08');
    expect([code, stdout, stderr.includes(' saved to /')]).toEqual([11, '', true]);
    expect(stderr).not.toContain(body);
  });

  test.each([
    ['a fraction of views', { views_remaining: 1.5 }, 'hunter2'],
    ['a flag that is a text', { deletable_by_viewer: 'true' }, 'hunter2'],
    ['files that are none', { files: [1] }, 'hunter2'],
    ['no token', { url_token: undefined }, 'hunter2'],
  ])('%s costs nobody the secret', async (_what, change, secret) => {
    const outcome = await answered(json(200, changed(RETRIEVED, change)), 'get', 'quyul5r5w08');
    expect(outcome).toMatchObject({ code: 0, stdout: secret });
  });

  test.each([
    ['a name that is a number', { name: 5 }],
    ['a fraction of days', { days_remaining: 6.99 }],
    ['no token', { url_token: undefined }],
    ['a token that is a path', { url_token: '../../etc' }],
  ])('%s costs nobody the link', async (_what, change) => {
    const outcome = await answered(json(201, changed(CREATED, change)), 'push');
    expect(outcome).toMatchObject({ code: 0, stdout: 'https://pw.test/p/quyul5r5w08/r\n' });
  });

  test('prints the link of a response with a byte order mark, and of a compressed one', async () => {
    const packed = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const answer = { status: 201, headers: packed, body: gzipSync(`\ufeff${CREATED}`) };
    expect(await answered(answer, 'push')).toMatchObject({
      code: 0,
      stdout: 'https://pw.test/p/quyul5r5w08/r\n',
    });
  });

  test('an answer over 16 MiB to push or get leaves open what happened', async () => {
    const bomb = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const body = gzipSync(new Uint8Array(16 * 1024 * 1024 + 1));
    const answer = { status: 201, headers: bomb, body };
    expect(await answered(answer, 'push')).toMatchObject({ code: 11, stdout: '', requests: 1 });
  });

  test('prints the link of a response that is nested 100,000 deep', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const body = CREATED.replace(/}\s*$/, `,"more":${deep}}`);
    const { code, stdout } = await asking([json(201, body)], ['push', '--json'], { stdin: 'x' });
    expect({ code, html_url: JSON.parse(stdout).html_url }).toEqual({
      code: 0,
      html_url: 'https://pw.test/p/quyul5r5w08/r',
    });
  });

  test('an answer over 16 MiB is not read on', async () => {
    const answer = { ...json(200, ''), body: new Uint8Array(16 * 1024 * 1024 + 1) };
    expect(await answered(answer, 'version')).toMatchObject({ code: 1, stdout: '', requests: 1 });
  });
});

test('odd but harmless: numbers as strings, nulls, unknown fields and another content type', async () => {
  const body = changed(RETRIEVED, { views_remaining: '2', days_remaining: '6', note: null, x: [] });
  const headers = { 'content-type': 'application/vnd.api+json' };
  const answer = { status: 200, headers, body };
  const outcome = await asking([answer], ['get', 'quyul5r5w08']);
  expect({ ...outcome, sent: lines(outcome) }).toEqual({
    code: 0,
    stdout: 'hunter2',
    stderr: '',
    sent: ['GET https://pw.test/api/v2/pushes/quyul5r5w08'],
    waits: [],
  });
});
