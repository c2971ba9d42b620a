import { type OpenService, openService } from '../../src/server/open';
import type { ServiceSettings } from '../../src/server/settings';

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

/** The embedded service without a socket: in memory, or in the folder `data`. */
export async function testService(
  options: Partial<ServiceSettings> & { clock?: TestClock } = {},
): Promise<TestService> {
  const { clock = testClock(), ...settings } = options;
  const lines: string[] = [];
  const warnings: string[] = [];
  const service = await openService(
    { ...defaults, ephemeral: settings.data === undefined, ...settings },
    {
      log: (line) => lines.push(line),
      warn: (line) => warnings.push(line),
      now: clock.now,
      version: '0.1.0',
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

export interface Call {
  readonly token?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
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
  { token, body, headers = {} }: Call = {},
): Promise<Answer> {
  const response = await fetch(
    new Request(`http://pw.test${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
