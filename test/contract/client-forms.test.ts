import { describe, expect, test } from 'vitest';
import { failureText } from '../../src/cli/report-error';
import type { Api } from '../../src/client/client';
import type { routes } from '../../src/contract/api';
import { CliError, type ErrorCode } from '../../src/platform/errors';
import { clientOver } from '../helpers/foreign';
import * as reference from '../helpers/reference';
import { html, json, type Literal, wire } from '../helpers/wire';

// Every call of the client, with its answer in every form that the wire is free to give it (docs/wire.md, "What a
// client must not rely on").

interface Answered {
  readonly status: number;
  readonly body: string;
  readonly ask: (api: Api) => Promise<unknown>;
  readonly unread: ErrorCode;
  readonly needed: readonly string[];
}

const call = (
  body: string,
  ask: (api: Api) => Promise<unknown>,
  needed: readonly string[],
  { status = 200, unread = 'failed' as ErrorCode } = {},
): Answered => ({ status, body, ask, needed, unread });

const TOKEN = 'quyul5r5w08';
const FILE = '{"filename":"a.txt","content_type":"text/plain","url":"https://pw.test/x"}';
const withFile = reference.RETRIEVED.replace('"files":[]', `"files":[${FILE}]`);
const { VERSION, CREATED, PREVIEWED, AUDITED, EXPIRED } = reference;
const effect = { unread: 'unknown' } as const;
const made = { ...effect, status: 201 };
const needed = ['url_token', 'payload', 'filename', 'url'];

const answers: Readonly<Record<keyof typeof routes, Answered>> = {
  version: call(VERSION, (api) => api.version(), []),
  create: call(CREATED, (api) => api.create({ payload: 'hunter2' }), ['url_token'], made),
  retrieve: call(withFile, (api) => api.retrieve(TOKEN), needed, effect),
  preview: call(PREVIEWED, (api) => api.preview(TOKEN), ['url']),
  audit: call(AUDITED, (api) => api.audit(TOKEN, 1), ['logs', 'kind']),
  expire: call(EXPIRED, (api) => api.expire(TOKEN), ['url_token'], effect),
  active: call(`[${CREATED}]`, (api) => api.list('active', 1), ['url_token']),
  expired: call(`[${EXPIRED}]`, (api) => api.list('expired', 1), ['url_token']),
};

/** The JSON with every field of every object in it changed; those that become undefined are left out. */
const rewritten = (body: string, change: (of: unknown, name: string) => unknown): string =>
  JSON.stringify(JSON.parse(body), (name, of) => (name === '' || /^\d+$/.test(name) ? of : change(of, name)));

const headers = { 'content-type': 'application/json' };

/** What a call of the client makes of that JSON. */
function decodedFrom(body: string): unknown {
  const value = JSON.parse(body);
  return value.logs ?? value;
}

const asked = <T>(answer: Literal, ask: (api: Api) => Promise<T>): Promise<T> =>
  ask(clientOver({ send: wire(Array(5).fill(answer)).send }));

/** What a call comes to: its value, or the code of its error, which quotes no secret. */
async function outcome({ ask }: Answered, answer: Literal): Promise<unknown> {
  return asked(answer, ask).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error;
    if (ask === answers.retrieve.ask || ask === answers.create.ask)
      expect(failureText(error, { json: false, debug: false })).not.toContain('hunter2');
    return error.code;
  });
}

describe.each(Object.entries(answers))('a success of %s', (_name, answered) => {
  const { status, body, needed, unread } = answered;
  const optional = (value: unknown) => rewritten(body, (of, name) => (needed.includes(name) ? of : value));

  test.each([
    ['more fields', body.replaceAll('{', '{"added":{"later":[1]},"kind_of":null,')],
    ['null in every field that may be missing', optional(null)],
    ['no field but those it needs', optional(undefined)],
  ])('with %s', async (_form, changed) => {
    expect(await outcome(answered, json(status, changed))).toEqual(decodedFrom(changed));
  });

  const strings = rewritten(body, (of) => (typeof of === 'number' ? `${of}` : of));
  test.each<[string, Literal]>([
    ['numbers as strings', json(status, strings)],
    ['a byte order mark', json(status, `\ufeff${body}`)],
    ['white space around it', json(status, `\r\n ${body}\n`)],
    ['no content type', { status, body }],
    ['another content type', { status, headers: { 'content-type': 'text/plain' }, body }],
    ['another status of success', json(203, body)],
  ])('with %s', async (_form, answer) => {
    expect(await outcome(answered, answer)).toEqual(decodedFrom(body));
  });

  test.each<[string, Literal]>([
    ['an empty body', { status, headers }],
    ['half of its JSON', json(status, body.slice(0, -20))],
    ['another JSON', json(status, '"hunter2"')],
    ['null', json(status, 'null')],
    ['a page', html(status, '<!DOCTYPE html>\n<h1>Welcome</h1>')],
  ])('that is %s is an error', async (_form, answer) => {
    expect(await outcome(answered, answer)).toBe(unread);
  });
});

const codes: Readonly<Record<number, ErrorCode | 'unread'>> = {
  400: 'rejected',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  413: 'rejected',
  422: 'rejected',
  429: 'rate_limited',
  500: 'unread',
  502: 'unread',
  503: 'unread',
  504: 'unread',
};

const plain = { 'content-type': 'text/plain' };

describe.each(Object.entries(answers))('a refusal of %s has its code', (_name, answered) => {
  test.each(Object.entries(codes))('%s, with whatever body', async (text, code) => {
    const status = Number(text);
    const objects = ['{"error":"So', '{"error":null}', '{"error":{"a":[1]}}', '{"base":[null]}'];
    const bodies: Literal[] = [
      { status },
      { status, headers },
      // Of those, a page is of what stands in front, and so is a text with 403.
      ...([401, 403].includes(status) ? [] : [html(status, '<html><h1>Sorry</h1></html>')]),
      ...(status === 403 ? [] : [{ status, headers: plain, body: 'Sorry\n' }]),
      ...[...objects, '[]', '5'].map((body) => json(status, body)),
      json(status, '\ufeff{"error":"Sorry","status":1,"more":{}}'),
    ];
    const expected = code === 'unread' ? answered.unread : code;
    for (const answer of bodies)
      expect([answer.body, await outcome(answered, answer)]).toEqual([answer.body, expected]);
  });
});

test('an element of a listing or log that cannot be read does not hide the others', async () => {
  const listed = json(200, `[{"name":"no token"},${CREATED},1]`);
  expect(await asked(listed, (api) => api.list('active', 1))).toEqual([JSON.parse(CREATED)]);
  const log = json(200, '{"logs":[{"ip":"192.0.2.1"},{"kind":"view"},null]}');
  expect(await asked(log, (api) => api.audit('abc', 1))).toEqual([{ kind: 'view' }]);
});
