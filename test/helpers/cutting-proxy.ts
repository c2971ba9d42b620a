import { createServer, type Socket } from 'node:net';
import { listen, relay } from './listen';

interface Cut {
  readonly connection: number;
  readonly direction: 'to' | 'from';
  readonly bytes: number;
}

interface Places {
  readonly first: number;
  readonly step: number;
}

export type CuttingProxy = Awaited<ReturnType<typeof cuttingProxy>>;

export async function cuttingProxy(port: number) {
  let cut: Cut | undefined;
  let connections = 0;
  let done = false;
  const server = createServer((client) => {
    const connection = ++connections;
    const upstream = relay(client, port);
    const pass = (from: Socket, to: Socket, direction: Cut['direction']) => {
      let passed = 0;
      from.on('data', (data: Buffer) => {
        const isHere = cut?.connection === connection && cut.direction === direction;
        const left = cut && isHere ? cut.bytes - passed : Number.POSITIVE_INFINITY;
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
  const withCut = async <T>(here: Cut, work: () => Promise<T>) => {
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
    /**
     * Runs `work` with the first connection cut at the first place, then a step later, and so on, until it is not cut; then
     * with the second connection, and so on; in both directions. What comes before a cut is passed on.
     */
    async eachCut({ first, step }: Places, work: (cut: Cut) => Promise<void>) {
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
