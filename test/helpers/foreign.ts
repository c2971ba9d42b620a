import type { ApiSettings } from '../../src/client/api-settings';
import { type Api, apiClient } from '../../src/client/client';
import type { TransportError } from '../../src/client/transport/network-errors';
import { CliError } from '../../src/platform/errors';
import { type Conditions, type PlaceOptions, place } from './run';
import { type Literal, wire } from './wire';

/** An instance that gives these answers in turn, at https://pw.test, asked by one command line. */
export async function asking(
  answers: readonly (Literal | TransportError)[],
  argv: readonly string[],
  conditions: Conditions & Pick<PlaceOptions, 'invented'> = {},
) {
  const { send, sent, check } = wire(answers);
  const here = place({
    ...conditions,
    env: { PWPUSH_URL: 'https://pw.test', ...conditions.env },
    send,
  });
  try {
    const outcome = await here.run(...argv);
    check();
    return {
      ...outcome,
      sent,
      waits: here.sleeps.map((milliseconds) => milliseconds / 1000),
    };
  } finally {
    here.close();
  }
}

/** The client, at https://pw.test unless the settings say otherwise, in a time that stands still. */
export const clientOver = (settings: Partial<ApiSettings> & Pick<ApiSettings, 'send'>): Api =>
  apiClient({
    base: 'https://pw.test',
    userAgent: 'test',
    now: () => new Date('2026-08-20T11:06:45Z'),
    sleep: async () => {},
    ...settings,
  });

export async function failureOf(call: Promise<unknown>): Promise<CliError> {
  const outcome = await call.catch((error: unknown) => error);
  if (outcome instanceof CliError) return outcome;
  throw outcome instanceof Error ? outcome : new Error('did not fail');
}

export function lines({ sent }: { readonly sent: readonly string[] }): string[] {
  return sent.map((request) => request.split('\n')[0] ?? '');
}
