import { beforeEach, onTestFinished } from 'vitest';
import type { Transport } from '../../src/platform/context';
import { type PlaceOptions, place } from './run';
import { create, type TestService, testService } from './service';
import { answering } from './wire';

/** Where the embedded service is reached: nothing but the transport below knows that name. */
export const BASE = 'https://pw.test';

export type Instance = Awaited<ReturnType<typeof instance>>;

type InstanceOptions = PlaceOptions & { readonly settings?: Parameters<typeof testService>[0] };

/** A place and its service, made anew before each test of a file or suite. */
export function eachInstance(options?: InstanceOptions): Instance {
  const here = {} as Instance;
  beforeEach(async () => {
    Object.assign(here, await instance(options));
  });
  return here;
}

/** A place whose requests the embedded service answers, for the test that runs, after which both are closed. */
export async function instance(options: InstanceOptions = {}) {
  const service = await testService(options.settings);
  onTestFinished(service.close);
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
    push: (push: Record<string, unknown>, token?: string) => create(service, push, token),
    close: async () => {
      here.close();
      await service.close();
    },
  };
}

/** The service as a transport, which notes what was asked. */
export function overFetch({ fetch }: TestService, asked: string[] = []): Transport {
  return async ({ method, url, headers, body = null }) => {
    asked.push(`${method} ${new URL(url).pathname}`);
    const response = await fetch(new Request(url, { method, headers, body, duplex: 'half' }));
    return answering({
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: new Uint8Array(await response.arrayBuffer()),
    });
  };
}
