import type { Transport } from './transport';

interface Paced {
  readonly send: Transport;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Told before a wait, in seconds. */
  readonly waiting: (seconds: number, status: number) => void | Promise<void>;
}

/** Makes what one call was told to wait for hold for all calls of a client, and be told once. */
export function paced({ send, sleep, waiting }: Paced): Paced {
  let waits: Promise<unknown> | undefined;
  return {
    send: async (request) => {
      while (waits !== undefined) await waits;
      return send(request);
    },
    waiting: (seconds, status) => (waits === undefined ? waiting(seconds, status) : undefined),
    sleep: async (milliseconds) => {
      const all = Promise.all([waits, sleep(milliseconds)]).finally(() => {
        if (waits === all) waits = undefined;
      });
      waits = all;
      await all;
    },
  };
}
