import type { AsyncLocalStorage } from 'node:async_hooks';
import { LINK_TIME } from '../claim';
import type { Tally } from '../tally';

/** Something that happened to the push, and the address it came from. */
export interface HereEvent {
  readonly event: 'opened' | 'viewed' | 'passphrase' | 'fetched' | 'deleted' | 'expired';
  readonly ip: string | null;
  /** How many views that makes. */
  readonly count?: number;
}

/** A request, and whether it took a view. */
export interface Visit {
  readonly ip: string | null;
  viewed: boolean;
}

export type Watch = ReturnType<typeof watching>;

/** Tells what happens, and when there is no more to be had: all views taken, and with the last one all files. */
export function watching(
  visits: AsyncLocalStorage<Visit>,
  files: number,
  tell: (event: HereEvent) => void,
) {
  let views = 0;
  let allowed = Number.POSITIVE_INFINITY;
  const fetched = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let end = (_: number) => {};
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  const ip = () => visits.getStore()?.ip ?? null;
  const tally: Tally = {
    created: () => {},
    missed: () => {},
    fileBytes: () => {},
    viewed: () => {
      const visit = visits.getStore();
      if (visit) visit.viewed = true;
      views += 1;
      tell({ event: 'viewed', ip: ip(), count: views });
      if (views < allowed) return;
      if (files === 0) return end(views);
      timer = setTimeout(() => end(views), LINK_TIME);
    },
    wrongPassphrase: () => tell({ event: 'passphrase', ip: ip() }),
    expired: (reason, pushes = 1) => {
      if (reason === 'views' || pushes === 0) return;
      tell({ event: reason === 'deleted' ? 'deleted' : 'expired', ip: ip() });
      end(views);
    },
  };
  return {
    tally,
    ended,
    views: () => views,
    expect: (granted: number) => {
      allowed = granted;
    },
    opened: (from: string | null) => tell({ event: 'opened', ip: from }),
    /** A file whose download began when there had been so many views. */
    fetched: (path: string, from: string | null, began: number) => {
      if (fetched.has(path)) return;
      if (began === views) fetched.add(path);
      tell({ event: 'fetched', ip: from });
      if (views >= allowed && fetched.size >= files) end(views);
    },
    stop: () => clearTimeout(timer),
  };
}
