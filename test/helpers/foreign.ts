import type { TransportError } from '../../src/client/transport/network-errors';
import { type Conditions, type Outcome, type PlaceOptions, place } from './run';
import { type Literal, wire } from './wire';

/** What an outcome is besides, when a foreign instance was asked. */
export interface ForeignOutcome extends Outcome {
  /** Each request, as `wire` spells it. */
  readonly sent: string[];
  /** Seconds of each wait. */
  readonly waits: number[];
}

/** An instance that gives these answers in turn, at https://pw.test, asked by one command line. */
export async function asking(
  answers: readonly (Literal | TransportError)[],
  argv: readonly string[],
  conditions: Conditions & Pick<PlaceOptions, 'invented'> = {},
): Promise<ForeignOutcome> {
  const { send, sent, check } = wire(answers);
  const here = place({
    ...conditions,
    env: { PWPUSH_URL: 'https://pw.test', ...conditions.env },
    send,
  });
  try {
    const outcome = await here.run(...argv);
    check();
    return { ...outcome, sent, waits: here.sleeps.map((milliseconds) => milliseconds / 1000) };
  } finally {
    here.close();
  }
}

/** The request lines alone: method and address. */
export function lines({ sent }: Pick<ForeignOutcome, 'sent'>): string[] {
  return sent.map((request) => request.split('\n')[0] ?? '');
}
