import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { asking, lines } from '../helpers/foreign';
import { CREATED, changed, RETRIEVED } from '../helpers/reference';
import { html, json, type Literal } from '../helpers/wire';

// Answers that are none: proxies in front, bodies that are empty, cut or something else.

const PAGE = '<!DOCTYPE html>\n<html><h1>It works!</h1></html>';
const PROXY_HINT =
  'hint: check that this is the address of a Password Pusher instance, and for a proxy in between\n';

async function answered(answer: Literal, ...argv: string[]) {
  const outcome = await asking([answer], argv, { stdin: 'hunter2' });
  const { code, stdout, stderr, sent } = outcome;
  return { code, stdout, stderr, requests: sent.length };
}

const saying = (code: number, stderr: string) => ({ code, stdout: '', stderr, requests: 1 });

describe('a page of a proxy', () => {
  test.each(['version', 'preview quyul5r5w08', 'expire quyul5r5w08'])(
    'at 200 to %s is a failure, described by status, type and first line',
    async (line) => {
      const [command = '', ...rest] = line.split(' ');
      expect(await answered(html(200, PAGE), command, ...rest)).toEqual(
        saying(
          1,
          `pwpush: the instance sent an unexpected response (200): ` +
            `text/html, "<!DOCTYPE html>"\n${PROXY_HINT}`,
        ),
      );
    },
  );

  test('at 200 to get says that a view may be gone', async () => {
    expect(await answered(html(200, PAGE), 'get', 'quyul5r5w08')).toEqual(
      saying(
        11,
        'pwpush: the instance sent an unexpected response (200): ' +
          'text/html, "<!DOCTYPE html>"\nhint: a view may have been used: the owner can check with pwpush audit\n',
      ),
    );
  });

  test('at 502 to push says that a push may exist', async () => {
    expect(await answered(html(502, '<h1>502 Bad Gateway</h1>'), 'push')).toEqual(
      saying(
        11,
        'pwpush: the instance failed (502): text/html, "<h1>502 Bad Gateway</h1>"\n' +
          'hint: a push may exist; without a token it cannot be looked up, and expires by its limits\n',
      ),
    );
  });

  test('at 504 to list', async () => {
    expect(await answered(html(504, '\n\r\n  <h1>504</h1>  \n'), 'list')).toEqual(
      saying(1, 'pwpush: the instance failed (504): text/html, "<h1>504</h1>"\n'),
    );
  });

  test('that quotes the secret does not get it printed', async () => {
    expect(await answered(html(500, '<p>cannot save "hunter2"</p>'), 'push')).toEqual(
      saying(
        11,
        'pwpush: the instance failed (500): its response is not shown, as it repeats what was sent\n' +
          'hint: a push may exist; without a token it cannot be looked up, and expires by its limits\n',
      ),
    );
  });
});

describe('a success without what the API describes', () => {
  test('an empty 201: a push may exist', async () => {
    expect(await answered({ status: 201 }, 'push')).toEqual(
      saying(
        11,
        'pwpush: the instance sent an unexpected response (201): an empty body\n' +
          'hint: a push may exist; without a token it cannot be looked up, and expires by its limits\n',
      ),
    );
  });

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
    expect({ ...outcome, stderr: outcome.stderr.split(': application/json')[0] }).toEqual(
      saying(code, `pwpush: the instance sent an unexpected response (${status})`),
    );
  });

  test.each(['push', 'push --json', 'push --each', 'request Key?', 'request Key? --json'])(
    'a link that cannot be printed, and no token, leaves %s open',
    async (line) => {
      const argv = line.split(' ');
      for (const html_url of ['https://pw.test/p/x\nhttps://e.test/p/x', 'https://pw.test/p/x y']) {
        const { code, stdout, stderr } = await answered(
          json(201, JSON.stringify({ html_url })),
          ...argv,
        );
        const [, link] = /https?:\S*\/[pr]\/(\S*)/.exec(stdout) ?? [];
        expect({ code, link, stderr }).toEqual({
          code: 11,
          link: undefined,
          stderr: expect.stringContaining('the instance sent an unexpected response (201)'),
        });
      }
    },
  );

  test('a retrieved push without text and files is a failure, not an empty secret', async () => {
    const answer = json(200, changed(RETRIEVED, { payload: null }));
    expect(await answered(answer, 'get', 'quyul5r5w08')).toEqual(
      saying(1, 'pwpush: the instance returned a push without a text\n'),
    );
  });

  test.each([
    ['an array', '[]'],
    ['null', 'null'],
    ['half of it', '{"payload":"hunter2","files"'],
    ['a payload that is no text', '{"payload":5}'],
  ])('what get was answered is saved, not quoted: %s', async (_what, body) => {
    const outcome = await answered(json(200, body), 'get', 'quyul5r5w08');
    expect({ ...outcome, stderr: outcome.stderr.replace(/(?<= |')\/\S+/g, 'FILE') }).toEqual(
      saying(
        11,
        'pwpush: the instance sent an unexpected response (200): ' +
          `application/json, ${body.length} bytes; the response was saved to FILE\n` +
          "hint: delete the file when done:\n  rm 'FILE\n",
      ),
    );
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

  test('a byte order mark and a compression nobody asked for cost nobody the link', async () => {
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
    expect(await answered({ status: 201, headers: bomb, body }, 'push')).toEqual(
      saying(
        11,
        'pwpush: the response is longer than 16 MiB\n' +
          'hint: a push may exist; without a token it cannot be looked up, and expires by its limits\n',
      ),
    );
  });

  test('nested a hundred thousand deep, the link is still told', async () => {
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
    expect(await answered(answer, 'version')).toEqual(
      saying(1, 'pwpush: the response is longer than 16 MiB\n'),
    );
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
