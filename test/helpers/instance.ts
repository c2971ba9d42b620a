import { beforeEach, onTestFinished } from 'vitest';
import type { Transport } from '../../src/platform/context';
import { type Place, type PlaceOptions, place } from './run';
import { type TestService, testService } from './service';

/** Where the embedded service is reached: nothing but the transport below knows that name. */
export const BASE = 'https://pw.test';

/** A place whose requests the embedded service answers. */
export interface Instance extends Omit<Place, 'close'> {
  readonly service: TestService;
  /** Method and path of each request that was sent, in order. */
  readonly asked: string[];
  /** The environment of the owner `admin`. */
  readonly admin: { readonly PWPUSH_TOKEN: string };
  /** Creates a push and answers its token. */
  push(push: Record<string, unknown>, token?: string): Promise<string>;
  close(): Promise<void>;
}

type InstanceOptions = PlaceOptions & { readonly settings?: Parameters<typeof testService>[0] };

/** A place and its service, made anew before each test of a file or suite. */
export function eachInstance(options?: InstanceOptions): Instance {
  const here = {} as Instance;
  beforeEach(async () => {
    Object.assign(here, await instance(options));
  });
  return here;
}

/** A place and its service for the test that runs, after which both are closed. */
export async function instance(options: InstanceOptions = {}): Promise<Instance> {
  const service = await testService(options.settings);
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= service.close();
    return closed;
  };
  onTestFinished(close);
  const asked: string[] = [];
  const here = place({
    send: overFetch(service, asked),
    now: service.clock.now,
    // What the program waits passes at the service too, or a limit of that would never end; others get their turn.
    asleep: async (milliseconds) => {
      service.clock.advance(milliseconds);
      await new Promise((resolve) => void setImmediate(resolve));
    },
    ...options,
    env: { PWPUSH_URL: BASE, ...options.env },
  });
  return {
    ...here,
    service,
    asked,
    admin: { PWPUSH_TOKEN: service.adminToken },
    push: async (push, token) => {
      const response = await service.fetch(
        new Request(`${BASE}/api/v2/pushes`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          },
          body: JSON.stringify({ push }),
        }),
      );
      return ((await response.json()) as { url_token: string }).url_token;
    },
    close: async () => {
      here.close();
      await close();
    },
  };
}

/** The service as a transport, which notes what was asked. */
export function overFetch({ fetch }: TestService, asked: string[] = []): Transport {
  return async ({ method, url, headers, body }) => {
    asked.push(`${method} ${new URL(url).pathname}`);
    const half = { duplex: 'half' } as const;
    const init = body === undefined ? { method, headers } : { method, headers, body, ...half };
    const response = await fetch(new Request(url, init));
    const bytes = new Uint8Array(await response.arrayBuffer());
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: (async function* () {
        yield bytes;
      })(),
    };
  };
}
