import { type OpenService, openService } from '../../src/server/open-service';
import type { PassphraseCost, ServiceSettings } from '../../src/server/service-settings';
import type { Database } from '../../src/server/store/sql';

export interface TestService {
  /** The embedded service in process, as it answers a caller at 127.0.0.1. */
  fetch(request: Request): Promise<Response>;
  /** Of the owner `admin`. */
  readonly adminToken: string;
  /** Of the owner `bob`. */
  readonly otherToken: string;
  readonly clock: TestClock;
  /** The request log. */
  readonly lines: string[];
  readonly warnings: string[];
  readonly service: OpenService;
  close(): Promise<void>;
}

export interface TestClock {
  now(): Date;
  /** Moves on by that many milliseconds. */
  advance(milliseconds: number): void;
}

/** A clock that stands at 2026-08-20T11:06:45.000Z until it is moved. */
export function testClock(): TestClock {
  let time = Date.UTC(2026, 7, 20, 11, 6, 45);
  return {
    now: () => new Date(time),
    advance: (milliseconds) => {
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

/** The embedded service without a socket: in memory, or in the folder `data`. */
export async function testService(
  options: Partial<ServiceSettings> & {
    clock?: TestClock;
    /** Of the database; by default the same. */
    serverClock?: TestClock | undefined;
    passphraseCost?: PassphraseCost;
  } = {},
): Promise<TestService> {
  const { clock = testClock(), passphraseCost = QUICK, serverClock, ...settings } = options;
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
    },
  );
  return {
    fetch: (request) => service.app(request, { ip: '127.0.0.1' }),
    adminToken: await service.owners.add('admin'),
    otherToken: await service.owners.add('bob'),
    clock,
    lines,
    warnings,
    service,
    close: () => service.close(),
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

/** The part of a form that is a file of a push. */
export function filePart(filename: string, value: string | Uint8Array, type = 'text/plain') {
  return { name: 'push[files][]', filename, value, type } satisfies FormPart;
}

export interface Call {
  readonly token?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as `multipart/form-data`. */
  readonly form?: readonly FormPart[];
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

/** One request to `http://pw.test`, answered with its body read. */
export async function call(
  { fetch }: Pick<TestService, 'fetch'>,
  method: string,
  path: string,
  { token, body, form, headers = {}, signal }: Call = {},
): Promise<Answer> {
  const content = form ? formBytes(form) : body === undefined ? undefined : JSON.stringify(body);
  const type = form ? FORM_TYPE : 'application/json';
  const response = await fetch(
    new Request(`http://pw.test${path}`, {
      method,
      headers: {
        ...(content === undefined ? {} : { 'content-type': type }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content }),
      ...(signal ? { signal } : {}),
    }),
  );
  const bytes = Buffer.from(await response.arrayBuffer());
  const text = bytes.toString();
  return { status: response.status, headers: response.headers, bytes, text, json: parsed(text) };
}

/** Creates a push and answers its token. */
export async function create(
  service: Pick<TestService, 'fetch'>,
  push: Record<string, unknown>,
  token?: string,
): Promise<string> {
  const answer = await call(service, 'POST', '/api/v2/pushes', {
    body: { push },
    ...(token === undefined ? {} : { token }),
  });
  if (answer.status !== 201) throw new Error(`not created: ${answer.status} ${answer.text}`);
  return answer.json.url_token;
}

/** Creates a push with files and answers its token. */
export async function createWithFiles(
  service: Pick<TestService, 'fetch' | 'adminToken'>,
  ...form: FormPart[]
): Promise<string> {
  const answer = await call(service, 'POST', '/api/v2/pushes', { form, token: service.adminToken });
  if (answer.status !== 201) throw new Error(`not created: ${answer.status} ${answer.text}`);
  return answer.json.url_token;
}

/** How many uploads, files and chunks a database has. */
export async function fileRows({ sql }: Pick<Database, 'sql'>): Promise<number[]> {
  const [row] = await sql<object>`
    SELECT (SELECT count(*) FROM uploads) AS uploads, (SELECT count(*) FROM files) AS files,
      (SELECT count(*) FROM chunks) AS chunks`;
  return Object.values(row as object).map(Number);
}

/** Fetches what a link of a retrieval leads to. */
export function fetchLink(
  service: Pick<TestService, 'fetch'>,
  url: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Answer> {
  return call(service, method, new URL(url).pathname, { headers });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
