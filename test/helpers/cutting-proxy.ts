import { createServer, type Socket } from 'node:net';
import { type Listens, listen, relay } from './listen';

/** Where a connection is cut: which one, and after how many bytes of a direction. */
export interface Cut {
  readonly connection: number;
  readonly direction: 'to' | 'from';
  readonly bytes: number;
}

/** In bytes. */
interface Places {
  readonly first: number;
  readonly step: number;
}

export interface CuttingProxy extends Listens {
  /**
   * Runs `work` with the first connection cut at the first place, then a step later, and so on, until it is not cut; then
   * with the second connection, and so on; in both directions. What comes before a cut is passed on.
   */
  eachCut(places: Places, work: (cut: Cut) => Promise<void>): Promise<void>;
  /** Runs `work` with one cut. */
  withCut<T>(cut: Cut, work: () => Promise<T>): Promise<T>;
}

/** A TCP proxy for that port of this machine. */
export async function cuttingProxy(port: number): Promise<CuttingProxy> {
  let cut: Cut | undefined;
  let connections = 0;
  let done = false;
  const server = createServer((client) => {
    const connection = ++connections;
    const upstream = relay(client, port);
    const pass = (from: Socket, to: Socket, direction: Cut['direction']) => {
      let passed = 0;
      from.on('data', (data: Buffer) => {
        const left =
          cut?.connection === connection && cut.direction === direction
            ? cut.bytes - passed
            : Number.POSITIVE_INFINITY;
        passed += data.length;
        if (data.length <= left) return void to.write(data);
        done = true;
        // Once the other side has it.
        to.write(data.subarray(0, Math.max(left, 0)), () => from.destroy());
        from.pause();
      });
    };
    pass(client, upstream, 'to');
    pass(upstream, client, 'from');
  });
  const withCut: CuttingProxy['withCut'] = async (here, work) => {
    cut = here;
    connections = 0;
    done = false;
    try {
      return await work();
    } finally {
      cut = undefined;
    }
  };
  return {
    ...(await listen(server)),
    withCut,
    async eachCut({ first, step }, work) {
      for (const direction of ['to', 'from'] as const)
        for (let connection = 1, any = true; any; connection++) {
          any = false;
          for (let bytes = first; ; bytes += step) {
            const here = { connection, direction, bytes };
            await withCut(here, () => work(here));
            if (!done) break;
            any = true;
          }
        }
    },
  };
}
