import { describe, expect, test } from 'vitest';
import { failureText } from '../../src/cli/report-error';
import { type Api, apiClient } from '../../src/client/client';
import type { routes } from '../../src/contract/api';
import { CliError, type ErrorCode } from '../../src/platform/errors';
import {
  AUDITED,
  CREATED,
  EXPIRED,
  NOTIFIED,
  PREVIEWED,
  RETRIEVED,
  VERSION,
} from '../helpers/reference';
import { html, json, type Literal, wire } from '../helpers/wire';

// Every call of the client, with its answer in every form that the wire is free to give it (docs/wire.md, "What a
// client must not rely on").

interface Answered {
  readonly status: number;
  readonly body: string;
  /** The fields without which it is no answer. */
  readonly needed: readonly string[];
  readonly ask: (api: Api) => Promise<unknown>;
  /** What it holds is not for an error message. */
  readonly secret?: boolean;
  /** Of a success that cannot be read, and when the instance fails. */
  readonly unread: ErrorCode;
}

const FILE = '{"filename":"a.txt","content_type":"text/plain","url":"https://pw.test/x"}';

const answers: Readonly<Record<keyof typeof routes, Answered>> = {
  version: {
    status: 200,
    body: VERSION,
    needed: [],
    ask: (api) => api.version(),
    unread: 'failed',
  },
  create: {
    status: 201,
    body: CREATED,
    needed: ['url_token'],
    ask: (api) => api.create({ payload: 'hunter2' }),
    secret: true,
    unread: 'unknown',
  },
  retrieve: {
    status: 200,
    body: RETRIEVED.replace('"files":[]', `"files":[${FILE}]`),
    needed: ['url_token', 'payload', 'filename', 'url'],
    ask: (api) => api.retrieve('quyul5r5w08'),
    secret: true,
    unread: 'unknown',
  },
  preview: {
    status: 200,
    body: PREVIEWED,
    needed: ['url'],
    ask: (api) => api.preview('quyul5r5w08'),
    unread: 'failed',
  },
  audit: {
    status: 200,
    body: AUDITED,
    needed: ['logs', 'kind'],
    ask: (api) => api.audit('quyul5r5w08', 1),
    unread: 'failed',
  },
  expire: {
    status: 200,
    body: EXPIRED,
    needed: ['url_token'],
    ask: (api) => api.expire('quyul5r5w08'),
    unread: 'failed',
  },
  active: {
    status: 200,
    body: `[${CREATED}]`,
    needed: ['url_token'],
    ask: (api) => api.list('active', 1),
    unread: 'failed',
  },
  expired: {
    status: 200,
    body: `[${EXPIRED}]`,
    needed: ['url_token'],
    ask: (api) => api.list('expired', 1),
    unread: 'failed',
  },
  notify: {
    status: 201,
    body: NOTIFIED,
    needed: [],
    ask: (api) => api.notify('quyul5r5w08', { notify_emails_to: 'ann@example.com' }),
    unread: 'unknown',
  },
};

type Fields = Readonly<Record<string, unknown>>;
type Change = (fields: Fields, needed: readonly string[]) => Fields;

/** The JSON with every object in it changed, from the inside. */
function rewritten(body: string, needed: readonly string[], change: Change): string {
  const isFields = (value: unknown): value is Fields =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  return JSON.stringify(
    JSON.parse(body, (_, value) => (isFields(value) ? change(value, needed) : value)),
  );
}

const mapped = (fields: Fields, value: (of: unknown, name: string) => unknown) =>
  Object.fromEntries(Object.entries(fields).map(([name, of]) => [name, value(of, name)]));

const changes: Readonly<Record<string, Change>> = {
  'more fields': (fields) => ({ ...fields, added: { later: [1] }, kind_of: null }),
  'null in every field that may be missing': (fields, needed) =>
    mapped(fields, (of, name) => (needed.includes(name) ? of : null)),
  'no field but those it needs': (fields, needed) =>
    mapped(fields, (of, name) => (needed.includes(name) ? of : undefined)),
};

const headers = { 'content-type': 'application/json' };

/** What a call of the client makes of that JSON. */
function decodedFrom(body: string): unknown {
  const value = JSON.parse(body);
  return value.logs ?? value;
}

/** What a call comes to: its value, or the code of its error. */
async function outcome({ ask, secret }: Answered, answer: Literal): Promise<unknown> {
  const { send } = wire(Array(5).fill(answer));
  const now = () => new Date('2026-08-20T11:06:45Z');
  const sleep = async () => {};
  const api = apiClient({ base: 'https://pw.test', userAgent: 'test', send, now, sleep });
  return ask(api).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error;
    if (secret) expect(failureText(error, { json: false, debug: false })).not.toContain('hunter2');
    return error.code;
  });
}

describe.each(Object.entries(answers))('a success of %s', (_name, answered) => {
  const { status, body, needed, unread } = answered;

  test.each(Object.entries(changes))('with %s', async (_form, change) => {
    const changed = rewritten(body, needed, change);
    expect(await outcome(answered, json(status, changed))).toEqual(decodedFrom(changed));
  });

  test('with numbers as strings', async () => {
    const strings = rewritten(body, needed, (fields) =>
      mapped(fields, (of) => (typeof of === 'number' ? `${of}` : of)),
    );
    expect(await outcome(answered, json(status, strings))).toEqual(decodedFrom(body));
  });

  test.each<[string, Literal]>([
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

const codes: Readonly<Record<number, ErrorCode>> = {
  400: 'rejected',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  413: 'rejected',
  422: 'rejected',
  429: 'rate_limited',
};

describe.each(Object.entries(answers))('a refusal of %s has its code', (_name, answered) => {
  const failures = Object.fromEntries(
    [500, 502, 503, 504].map((status) => [status, answered.unread]),
  );
  const all = Object.entries({ ...codes, ...failures });
  const statuses = all.map(([status, code]) => ({ status: +status, code }));

  test.each(statuses)('$status, with whatever body', async ({ status, code }) => {
    const bodies: Literal[] = [
      { status },
      { status, headers },
      html(status, '<html><h1>Sorry</h1></html>'),
      { status, headers: { 'content-type': 'text/plain' }, body: 'Sorry\n' },
      ...[
        '{"error":"So',
        '{"error":null}',
        '{"error":{"a":[1]}}',
        '{"base":[null]}',
        '[]',
        '5',
      ].map((body) => json(status, body)),
      json(status, '\ufeff{"error":"Sorry","status":1,"more":{}}'),
    ];
    for (const answer of bodies)
      expect([answer.body, await outcome(answered, answer)]).toEqual([answer.body, code]);
  });
});

describe('an element that cannot be read', () => {
  const asked = async <T>(body: string, ask: (api: Api) => Promise<T>) => {
    const { send } = wire([json(200, body)]);
    const settings = { base: 'https://pw.test', userAgent: 'test', send, now: () => new Date() };
    return ask(apiClient({ ...settings, sleep: async () => {} }));
  };

  test('of a listing does not hide the others', async () => {
    const body = `[{"name":"no token"},${CREATED},1]`;
    expect(await asked(body, (api) => api.list('active', 1))).toEqual([JSON.parse(CREATED)]);
  });

  test('of an audit log does not hide the others', async () => {
    const body = '{"logs":[{"ip":"192.0.2.1"},{"kind":"view"},null]}';
    expect(await asked(body, (api) => api.audit('abc', 1))).toEqual([{ kind: 'view' }]);
  });
});
