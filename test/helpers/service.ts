import { onTestFinished } from 'vitest';
import { lazy } from '../../src/contract/lazy';
import { openService } from '../../src/server/open-service';
import type { PassphraseCost, ServiceIo, ServiceSettings } from '../../src/server/service-settings';
import type { Database } from '../../src/server/store/sql';
import { nameOf, published } from './openapi';

interface Reached {
  fetch(request: Request): Promise<Response>;
  readonly adminToken: string;
}

export type TestService = Awaited<ReturnType<typeof testService>>;

export type TestClock = Omit<ReturnType<typeof testClock>, 'serverNow'>;

/** A clock that stands at 2026-08-20T11:06:45.000Z until it is moved. */
export function testClock() {
  let time = Date.UTC(2026, 7, 20, 11, 6, 45);
  const now = () => new Date(time);
  return {
    now,
    /** That of the database server, too. */
    serverNow: now,
    advance: (milliseconds: number): void => {
      time += milliseconds;
    },
  };
}

export const defaults: ServiceSettings = {
  host: '127.0.0.1',
  port: 0,
  data: '',
  ephemeral: true,
  anonymous: true,
  trustProxy: false,
};

/** Hashes a passphrase in microseconds, for tests that are about something else. */
export const QUICK: PassphraseCost = { N: 16, r: 1, p: 1 };

export interface TestOptions extends Partial<ServiceSettings> {
  readonly clock?: TestClock;
  readonly serverClock?: TestClock | undefined;
  readonly passphraseCost?: PassphraseCost;
  readonly env?: ServiceIo['env'];
}

/** The same for the test that runs, after which it is closed unless it has been. */
export async function opened(options?: TestOptions): Promise<TestService> {
  const service = await testService(options);
  onTestFinished(() => service.close());
  return service;
}

/** As `pwpush serve` has it, loaded where something is fetched. */
export const transport: ServiceIo['transport'] = async (settings) =>
  (await import('../../src/client/transport/undici')).undiciTransport(settings);

/** The embedded service without a socket: in memory, or in the folder `data`. */
export async function testService(options: TestOptions = {}) {
  const { clock = testClock(), passphraseCost = QUICK, serverClock, env, ...settings } = options;
  const lines: string[] = [];
  const warnings: string[] = [];
  const service = await openService(
    { ...defaults, ephemeral: settings.data === undefined, ...settings },
    {
      log: (line) => lines.push(line),
      warn: (line) => warnings.push(line),
      now: clock.now,
      serverNow: (serverClock ?? clock).now,
      version: '0.1.0',
      passphraseCost,
      env,
      transport,
    },
  );
  const { token: adminToken } = await service.owners.add('admin');
  const { token: otherToken } = await service.owners.add('bob');
  const fetch = (request: Request) => service.app(request, { ip: '127.0.0.1' });
  return {
    ...askedOf({ fetch, adminToken }),
    fetch,
    adminToken,
    otherToken,
    asOther: { token: otherToken },
    clock,
    lines,
    warnings,
    service,
    close: lazy(service.close),
  };
}

/** A part of a form: a field, or a file when it has a filename. */
export interface FormPart {
  readonly name: string;
  readonly value: string | Uint8Array;
  /** As it stands in the quotes. */
  readonly filename?: string;
  readonly type?: string;
}

export const BOUNDARY = 'xXx-boundary-xXx';
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** `multipart/form-data`, its boundary being `BOUNDARY`. */
export function formBytes(parts: readonly FormPart[]): Buffer {
  const pieces = parts.flatMap(({ name, value, filename, type }) => [
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"` +
        (filename === undefined ? '' : `; filename="${filename}"`) +
        (type === undefined ? '' : `\r\nContent-Type: ${type}`) +
        '\r\n\r\n',
    ),
    Buffer.from(value as Uint8Array),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

export function filePart(filename: string, value: string | Uint8Array, type = 'text/plain') {
  return { name: 'push[files][]', filename, value, type } satisfies FormPart;
}

export const partsOf = (push: object): FormPart[] =>
  Object.entries(push).map(([name, value]) => ({ name: `push[${name}]`, value: `${value}` }));

export interface Call {
  readonly token?: string;
  readonly body?: unknown;
  readonly form?: readonly FormPart[];
  /** Sent as a browser sends a form without files. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly content?: string | Uint8Array | ReadableStream;
  readonly headers?: Record<string, string>;
  /** When it is aborted, the client has gone. */
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;
  /** The text as JSON; undefined when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests compare it whole
  readonly json: any;
}

/** Headers that a browser sends when it opens a page in a tab. */
export const inTab = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

export async function call(
  { fetch }: Pick<Reached, 'fetch'>,
  method: string,
  path: string,
  { token, headers, signal, ...how }: Call = {},
): Promise<Answer> {
  const response = await fetch(
    new Request(`http://pw.test${path}`, {
      method,
      headers: {
        ...typeOf(how),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...bodyOf(how),
      ...(signal ? { signal } : {}),
    }),
  );
  const bytes = Buffer.from(await response.arrayBuffer());
  const text = bytes.toString();
  return { status: response.status, headers: response.headers, bytes, text, json: parsed(text) };
}

function typeOf({ body, form }: Call): Record<string, string> {
  if (form) return { 'content-type': FORM_TYPE };
  return body === undefined ? {} : { 'content-type': 'application/json' };
}

function bodyOf({ body, form, fields, content }: Call): RequestInit {
  if (form) return { body: formBytes(form) };
  if (fields) return { body: new URLSearchParams(fields) };
  const sent = body === undefined ? content : JSON.stringify(body);
  return sent === undefined ? {} : ({ body: sent, duplex: 'half' } as RequestInit);
}

export const at = (token: string, rest = '') => `/api/v2/pushes/${token}${rest}`;

interface Entry {
  readonly kind: string;
  readonly count?: number;
  readonly [field: string]: unknown;
}

/** What is asked of a service; tokens may have a query. */
export function askedOf({ fetch, adminToken }: Reached) {
  const asAdmin = { token: adminToken };
  const ask = async (method: string, path: string, how?: Call) =>
    asDescribed(method, path, await call({ fetch }, method, path, how));
  const logOf = async (token: string, of = 'pushes'): Promise<Entry[]> =>
    (await ask('GET', `/api/v2/${of}/${token}/audit`, asAdmin)).json.logs;
  return {
    asAdmin,
    call: ask,
    create: (push: object, token?: string) => create({ fetch }, { ...push }, token),
    /** Creates a push of the owner `admin`, with the payload `x` unless it has another. */
    createOwn: (push: object = {}) => create({ fetch }, { payload: 'x', ...push }, adminToken),
    createWithFiles: (...form: FormPart[]) => createWithFiles({ fetch, adminToken }, ...form),
    retrieve: (token: string, how?: Call) => ask('GET', at(token), how),
    expire: (token: string, how?: Call) => ask('DELETE', at(token), how),
    /** A listing of pushes of the owner `admin`, or of the one who asks. */
    list: async (state: string, how: Call = asAdmin) => (await ask('GET', at(state), how)).json,
    fetchLink: (url: string, headers: Record<string, string> = {}, method = 'GET') =>
      call({ fetch }, method, new URL(url).pathname, { headers }),
    /** Creates a request of the owner `admin` and answers its token. */
    createRequest: async (fields: object = {}) => {
      const body = { request: { request: 'x', ...fields } };
      return tokenOf(await ask('POST', '/api/v2/requests', { ...asAdmin, body }));
    },
    respond: (token: string, response: string, { fields = {}, ...how }: Answering = {}) => {
      const body = { request: { response, ...fields } };
      return ask('PATCH', `/api/v2/requests/${token}/respond`, { body, ...how });
    },
    logOf,
    /** What an audit log has, with how often where that is told. */
    kindsOf: async (token: string, of?: string) =>
      (await logOf(token, of)).map(({ kind, count }) => (count === undefined ? kind : `${kind} ${count}`)),
  };
}

/** @throws if the API has answered otherwise than its document says; nobody reads what a client that has gone gets */
function asDescribed(method: string, path: string, answer: Answer): Answer {
  const name = nameOf(method, path);
  const { calls, faults } = published();
  if (!(name in calls) || answer.status === 499) return answer;
  const found = faults(name, answer);
  if (found.length > 0) throw new Error(`${name}, ${answer.status}: ${JSON.stringify(found)}`);
  return answer;
}

interface Answering extends Call {
  readonly fields?: Record<string, string>;
}

export async function create(
  service: Pick<Reached, 'fetch'>,
  push: Record<string, unknown>,
  token?: string,
): Promise<string> {
  const how = token === undefined ? {} : { token };
  return tokenOf(await call(service, 'POST', '/api/v2/pushes', { body: { push }, ...how }));
}

export async function createWithFiles(service: Reached, ...form: FormPart[]): Promise<string> {
  const how = { form, token: service.adminToken };
  return tokenOf(await call(service, 'POST', '/api/v2/pushes', how));
}

function tokenOf({ status, text, json }: Answer): string {
  if (status !== 201) throw new Error(`not created: ${status} ${text}`);
  return json.url_token;
}

export async function fileRows({ sql }: Pick<Database, 'sql'>): Promise<number[]> {
  const [row] = await sql<object>`
    SELECT (SELECT count(*) FROM uploads) AS uploads, (SELECT count(*) FROM files) AS files,
      (SELECT count(*) FROM chunks) AS chunks`;
  return Object.values(row as object).map(Number);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
