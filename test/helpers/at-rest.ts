import { join } from 'node:path';
import { type InstanceKey, instanceKey } from '../../src/server/keys/instance-key';
import { readLinks } from '../../src/server/keys/keyring';
import { unseal } from '../../src/server/keys/primitives';
import { type KeyTerms, termsOf } from '../../src/server/keys/vault';
import type { StoredPush } from '../../src/server/store/push-rows';
import { keysOf } from './key-file';
import { testService } from './service';
import type { Room } from './stores';

export type AtRest = Awaited<ReturnType<typeof atRest>>;

export async function keyIn({ data }: Room['settings']): Promise<InstanceKey & { bytes: Buffer }> {
  const bytes = Buffer.from(keysOf(join(data, 'instance.key'))[0] as string, 'base64');
  return { ...instanceKey(bytes), bytes };
}

export async function atRest(room: Room) {
  const service = await testService(room.settings);
  const beside = await room.beside();
  return {
    data: room.settings.data,
    service,
    /** A second connection that stays open: closing one empties the log, which is the service's to do here. */
    beside,
    remains: room.remains,
    /** The keys in what remains that the instance key opens, for pushes of those tokens. */
    async opened(remains: Buffer, ...tokens: string[]) {
      const key = await keyIn(room.settings);
      const links = await readLinks(beside.sql, key);
      const rows = await beside.sql<StoredPush>`SELECT * FROM pushes`;
      const pushes = rows.map((row) => ({ ...row, url_token: links.open(row) }));
      const these = pushes.filter(({ url_token }) => tokens.includes(url_token));
      return keysIn(remains, key.wrapping, these);
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
function keysIn(remains: Buffer, wrapping: Uint8Array, pushes: readonly KeyTerms[]): Buffer[] {
  const found: Buffer[] = [];
  for (let at = remains.indexOf(1); at !== -1; at = remains.indexOf(1, at + 1)) {
    for (const push of pushes) {
      for (const what of ['data key', 'note key', 'verifier'] as const) {
        for (const length of LENGTHS) {
          const sealed = remains.subarray(at, at + length);
          const key = attempt(() => unseal(wrapping, sealed, termsOf(push, what)));
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
