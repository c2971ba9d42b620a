import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Api } from '../../src/client/client';
import { routes } from '../../src/contract/api';
import { CliError, type ErrorCode } from '../../src/platform/errors';
import { clientOver } from '../helpers/foreign';
import { create, FORM_TYPE, formBytes, type TestService, testService } from '../helpers/service';
import { wire } from '../helpers/wire';

// What Password Pusher 2.11.4 answered, literally: the client decodes it, and the embedded service is asked the same.

interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As text, or as the fields of a form with files, whose content is not recorded. */
  readonly body?: string | readonly [string, string | RecordedFile][];
}

interface RecordedFile {
  readonly filename: string;
  readonly type: string;
  readonly size: number;
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** How many rows the list had that `body` shows the first two of. */
  readonly rows?: number;
}

interface Step {
  readonly name: string;
  readonly exchanges: readonly { readonly request: Recorded; readonly response: Reply }[];
}

const { steps }: { steps: Step[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'recordings/password-pusher-2.11.4.json'), 'utf8'),
);
const exchanges = steps.flatMap(({ name, exchanges }) =>
  exchanges.map((exchange, at) => ({ ...exchange, title: at === 0 ? name : `${name}, then` })),
);
const BASE = 'https://pwpush.example';

/** The differences that are meant to be; `any` where one of the recorded requests is enough. */
const decisions = readFileSync(join(import.meta.dirname, 'decisions.txt'), 'utf8')
  .split(/\n\n/)
  .slice(1)
  .map((block) => {
    const [name = '', ...lines] = block.trim().split(/\n */);
    const [steps = [], differences = []] = [true, false].map((asked) =>
      lines.filter((line) => line.startsWith('$ ') === asked),
    );
    const named = steps.flatMap((line) => line.slice(2).split('; '));
    return { name, differences, steps: named[0] === 'any' ? ('any' as const) : named };
  });

describe('the client decodes', () => {
  const codeOf: Readonly<Record<number, ErrorCode>> = {
    400: 'rejected',
    401: 'unauthorized',
    403: 'forbidden',
    404: 'not_found',
    422: 'rejected',
    429: 'rate_limited',
    500: 'failed',
  };
  const codeOfStep: Readonly<Record<string, ErrorCode>> = {
    'get all no passphrase': 'passphrase',
    'get all wrong passphrase': 'passphrase',
    'get all empty passphrase': 'passphrase',
    'get all owner no passphrase': 'passphrase',
    'delete by viewer forbidden, then': 'forbidden',
    'delete by other forbidden': 'forbidden',
  };

  const calls = exchanges.flatMap((exchange) => {
    const call = callOf(exchange.request);
    return call ? [{ ...exchange, ...call }] : [];
  });

  test.each(calls)('$title: $name', async ({ title, name, request, response, ask }) => {
    const body = response.body === '' ? '' : JSON.stringify(response.body);
    const { send } = wire(Array(5).fill({ ...response, body }));
    const token = request.headers.authorization?.replace(/^\w+ /, '');
    const outcome = await ask(clientOver({ base: BASE, token, send })).catch((error: unknown) => {
      if (error instanceof CliError) return error.code;
      throw error;
    });
    const open = response.status === 500 && name === 'create' ? 'unknown' : undefined;
    const refused = codeOfStep[title] ?? open ?? codeOf[response.status];
    const { logs } = Object(response.body) as { logs?: unknown };
    expect(outcome).toEqual(refused ?? (name === 'audit' ? logs : response.body));
  });

  test('a success of every call there is', () => {
    const succeeded = calls.filter(({ response }) => response.status < 300);
    expect([...new Set(succeeded.map(({ name }) => name))].sort()).toEqual(Object.keys(routes).sort());
  });
});

/** The call of the client that a recorded request stands for, if there is one. */
function callOf({ method, path, body }: Recorded) {
  const { pathname, searchParams } = new URL(path, BASE);
  const name = (Object.keys(routes) as (keyof typeof routes)[]).find((name) => {
    const route = routes[name];
    const pattern = new RegExp(`^/api/v2${route.path.replace(':token', '[\\w-]+')}$`);
    return route.method === method && pattern.test(pathname);
  });
  if (name === undefined) return undefined;
  const token = pathname.split('/')[4] ?? '';
  const page = Number(searchParams.get('page') ?? 1);
  const passphrase = searchParams.get('passphrase') ?? undefined;
  const ask: Record<keyof typeof routes, (api: Api) => Promise<unknown>> = {
    version: (api) => api.version(),
    create: (api) => api.create({ payload: typeof body === 'string' ? 's3cret' : '' }),
    active: (api) => api.list('active', page),
    expired: (api) => api.list('expired', page),
    retrieve: (api) => api.retrieve(token, passphrase),
    preview: (api) => api.preview(token),
    audit: (api) => api.audit(token, page),
    expire: (api) => api.expire(token),
  };
  return { name, ask: ask[name] };
}

interface Replayed {
  readonly title: string;
  readonly differences: readonly string[];
}

describe('the service answers', () => {
  const ofV2 = exchanges.filter(({ request }) => request.path.startsWith('/api/v2/'));
  let replayed: Replayed[];

  beforeAll(async () => {
    const service = await testService();
    await seed(service);
    const replay = replaying(service);
    replayed = [];
    for (const { title, request, response } of ofV2)
      replayed.push({ title, differences: await replay(request, response) });
    await service.close();
  });

  test.each(ofV2.map(({ title }, at) => [at, title] as const))('%i %s', (at) => {
    const { title, differences } = replayed[at] as Replayed;
    expect(differences.filter((difference) => !decided(title, difference))).toEqual([]);
  });

  test('every decided difference still occurs', () => {
    const gone = decisions.flatMap(({ name, differences, steps }) => {
      const some = replayed
        .filter(({ title }) => steps === 'any' || steps.includes(title))
        .flatMap((one) => one.differences.map((what) => ({ title: one.title, what })))
        .filter(({ what }) => differences.includes(what));
      const titles = steps === 'any' ? [] : steps;
      return [
        ...differences.filter((it) => !some.some(({ what }) => what === it)),
        ...titles.filter((step) => !some.some(({ title }) => title === step)),
      ].map((what) => `${name}: ${what}`);
    });
    expect(gone).toEqual([]);
  });

  test('docs/wire.md names each decided difference with its reason, and no others', () => {
    const document = readFileSync(join(import.meta.dirname, '../../docs/wire.md'), 'utf8');
    const [, section = ''] = /^## Where pwpush serve differs\n(.*?)^## /ms.exec(document) ?? [];
    const rows = [...section.matchAll(/^\| (.+) \| (\S.+\S) \|$/gm)].map(([, name]) => name);
    expect(rows.slice(1)).toEqual(decisions.map(({ name }) => name));
  });
});

function decided(title: string, difference: string): boolean {
  return decisions.some(
    ({ differences, steps }) => differences.includes(difference) && (steps === 'any' || steps.includes(title)),
  );
}

/** The recorded accounts had pushes before: the owner more than a page of them. */
async function seed(service: TestService): Promise<void> {
  for (let at = 0; at < 60; at++) await create(service, { payload: 'x' }, service.adminToken);
  for (let at = 0; at < 2; at++) {
    await create(service, { payload: 'x' }, service.otherToken);
    const token = await create(service, { payload: 'x' }, service.adminToken);
    await service.fetch(new Request(`${BASE}/api/v2/pushes/${token}`, { method: 'DELETE' }));
  }
  service.clock.advance(1000);
}

/** Sends recorded requests one after another, and answers how the answers differ from the recorded ones. */
function replaying(service: TestService) {
  const tokens = new Map<string, string>();

  return async (request: Recorded, recorded: Reply): Promise<string[]> => {
    service.clock.advance(1000);
    const answer = await service.fetch(requestOf(request, service, tokens));
    const text = await answer.text();
    const type = answer.headers.get('content-type') ?? '';
    const ours = {
      status: answer.status,
      type: type.split(';')[0],
      body: type.startsWith('application/json') && text !== '' ? JSON.parse(text) : text,
    };
    if (recorded.status === 201 && ours.status === 201 && isRecord(recorded.body))
      tokens.set(`${recorded.body.url_token}`, ours.body.url_token);
    if (recorded.status !== ours.status) return [`status ${recorded.status} → ${ours.status}`];
    const types = [recorded.headers['content-type']?.split(';')[0], ours.type];
    return [
      ...(types[0] === types[1] ? [] : [`type ${types[0]} → ${types[1]}`]),
      ...bodiesDiffer(recorded, ours.body, tokens),
    ];
  };
}

function requestOf(
  { method, path, headers, body }: Recorded,
  { adminToken, otherToken }: TestService,
  tokens: ReadonlyMap<string, string>,
): Request {
  const there = path.replace(
    /(?<=\/pushes\/)[\w-]+/,
    (token) => tokens.get(token) ?? tokens.get(token.toLowerCase())?.toUpperCase() ?? token,
  );
  const credentials = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    value.replace('OWNER-TOKEN', adminToken).replace('OTHER-TOKEN', otherToken),
  ]);
  const form = body !== undefined && typeof body !== 'string';
  const type: [string, string][] = form ? [['content-type', FORM_TYPE]] : [];
  return new Request(BASE + there, {
    method,
    headers: [...credentials, ['user-agent', 'node'], ...type],
    ...(body === undefined ? {} : { body: form ? formOf(body) : whole(body) }),
  });
}

/** A body of which only the first characters were recorded: the last of them goes on until the end of the JSON. */
function whole(body: string): string {
  const [, start = body, last = '', length = ''] = /^(.*(.))… \((\d+) characters\)$/s.exec(body) ?? [];
  return last === '' ? body : `${start.padEnd(Number(length) - 3, last)}"}}`;
}

/** Bytes, as Node.js 24 fails when a `FormData` is refused before it was read. */
function formOf(fields: readonly [string, string | RecordedFile][]): Buffer {
  return formBytes(
    fields.map(([name, value]) =>
      typeof value === 'string' ? { name, value } : { ...value, name, value: 'x'.repeat(value.size) },
    ),
  );
}

function bodiesDiffer({ status, body, rows }: Reply, ours: unknown, tokens: ReadonlyMap<string, string>): string[] {
  if (body === '' || ours === '') return body === ours ? [] : [`body: ${keysOf(body)} → ${keysOf(ours)}`];
  const known = Array.isArray(body) && Array.isArray(ours) && rows !== undefined;
  return differences('', body, known ? ours.slice(0, body.length) : ours, { status, tokens });
}

interface Comparing {
  readonly status: number;
  readonly tokens: ReadonlyMap<string, string>;
  /** A push from before the recording: the values are others. */
  readonly shapeOnly?: boolean;
}

/** Where two values differ: fields, types, and values but for times, signed links, versions and the words of refusals. */
function differences(at: string, theirs: unknown, ours: unknown, how: Comparing): string[] {
  if (kindOf(theirs) !== kindOf(ours)) return [`${at}: ${shown(theirs)} → ${shown(ours)}`];
  if (Array.isArray(theirs) && Array.isArray(ours)) {
    if (how.status >= 400) return ours.length > 0 ? [] : [`${at}: no words`];
    if (theirs.length !== ours.length) return [`${at}: ${theirs.length} → ${ours.length} rows`];
    return theirs.flatMap((one, index) => differences(`${at}[]`, one, ours[index], how));
  }
  if (isRecord(theirs) && isRecord(ours)) return fieldsDiffer(at, theirs, ours, how);
  if (how.shapeOnly || isFree(at, how.status)) return [];
  if (/(_at|expired_on)$/.test(at)) return theirs === null || TIME.test(`${ours}`) ? [] : [`${at}: no time`];
  return theirs === ours ? [] : [`${at}: ${shown(theirs)} → ${shown(ours)}`];
}

function fieldsDiffer(
  at: string,
  theirs: Readonly<Record<string, unknown>>,
  ours: Readonly<Record<string, unknown>>,
  how: Comparing,
): string[] {
  const { url_token: token } = theirs;
  const shapeOnly = how.shapeOnly ?? (typeof token === 'string' && !how.tokens.has(token));
  const names = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])];
  return names.flatMap((name) => {
    const path = at === '' ? name : `${at}.${name}`;
    if (!(name in theirs)) return [`${path}: added`];
    if (!(name in ours)) return [`${path}: missing`];
    const mapped = translated(theirs[name], how.tokens);
    return differences(path, mapped, ours[name], { ...how, shapeOnly });
  });
}

/** A recorded text with our tokens in place of the recorded ones. */
function translated(value: unknown, tokens: ReadonlyMap<string, string>): unknown {
  if (typeof value !== 'string') return value;
  return value.replace(/(?<=^|\/p\/)[\w-]+(?=$|\/r|\.json)/, (word) => tokens.get(word) ?? word);
}

function isFree(at: string, status: number): boolean {
  if (status >= 400) return at === 'error' || at === 'message';
  return /(^|\.)(application_version|files\[\]\.url)$/.test(at);
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function keysOf(body: unknown): string {
  return body === '' ? 'empty' : Object.keys(Object(body)).join(', ');
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function shown(value: unknown): string {
  return JSON.stringify(value).replace(/(?<=\/p\/)[\w-]+/, ':token');
}
