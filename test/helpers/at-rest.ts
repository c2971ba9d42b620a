import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { instanceKey } from '../../src/server/keyring';
import { unseal } from '../../src/server/seal';
import type { Database } from '../../src/server/store/sql';
import { type TestService, testService } from './service';
import type { Room } from './stores';

/** A service, and its data as they lie there. */
export interface AtRest {
  readonly data: string;
  readonly service: TestService;
  /** A second connection that stays open: closing one empties the log, which is the service's to do here. */
  readonly beside: Database;
  /** All that is kept, but for the instance key. */
  remains(): Promise<Buffer>;
  /** The keys in what remains that the instance key opens, for pushes of those tokens. */
  opened(remains: Buffer, ...tokens: string[]): Promise<Buffer[]>;
  close(): Promise<void>;
}

export async function atRest(room: Room): Promise<AtRest> {
  const { data } = room.settings;
  const service = await testService(room.settings);
  const beside = await room.beside();
  return {
    data,
    service,
    beside,
    remains: room.remains,
    async opened(remains, ...tokens) {
      const key = Buffer.from(await readFile(join(data, 'instance.key'), 'utf8'), 'base64');
      return keysIn(remains, instanceKey(key).wrapping, tokens);
    },
    async close() {
      await beside.close();
      await service.close();
    },
  };
}

/** Of a sealed key, and of one that a passphrase sealed before. */
const LENGTHS = [61, 90];

/** Tries to unseal whatever may be a sealed key: all of them begin with a 1. */
function keysIn(remains: Buffer, wrapping: Uint8Array, tokens: readonly string[]): Buffer[] {
  const found: Buffer[] = [];
  for (let at = remains.indexOf(1); at !== -1; at = remains.indexOf(1, at + 1)) {
    for (const token of tokens) {
      for (const what of ['data key', 'note key', 'verifier']) {
        for (const length of LENGTHS) {
          const sealed = remains.subarray(at, at + length);
          const key = attempt(() => unseal(wrapping, sealed, `pwpush push ${token} ${what}`));
          if (key) found.push(key);
        }
      }
    }
  }
  return found;
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
