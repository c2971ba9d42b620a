import type { AsyncLocalStorage } from 'node:async_hooks';
import { LINK_TIME } from '../rules/claim';
import type { Tally } from '../rules/events';

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

/** Tells what happens, and when there is no more to be had: all views taken, and all files fetched that go with them. */
export function watching(
  visits: AsyncLocalStorage<Visit>,
  files: number,
  tell: (event: HereEvent) => void,
) {
  let views = 0;
  let allowed = Number.POSITIVE_INFINITY;
  let running = 0;
  const fetched = new Set<string>();
  let late = false;
  let timer: NodeJS.Timeout | undefined;
  let end = (_: number) => {};
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  const ip = () => visits.getStore()?.ip ?? null;
  const endIfOver = () => {
    if (views >= allowed && running === 0 && (late || fetched.size >= views * files)) end(views);
  };
  const tally: Tally = {
    created: () => {},
    missed: () => {},
    fileBytes: () => {},
    viewed: () => {
      const visit = visits.getStore();
      if (visit) visit.viewed = true;
      views += 1;
      tell({ event: 'viewed', ip: ip(), count: views });
      endIfOver();
      if (views < allowed) return;
      timer = setTimeout(() => {
        late = true;
        endIfOver();
      }, LINK_TIME);
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
    expect: (granted: number) => {
      allowed = granted;
    },
    opened: (from: string | null) => tell({ event: 'opened', ip: from }),
    /** Begins the download of that link; answers what ends it. */
    download: (path: string, from: string | null) => {
      running += 1;
      return (whole: boolean) => {
        running -= 1;
        if (whole) tell({ event: 'fetched', ip: from });
        if (whole) fetched.add(path);
        endIfOver();
      };
    },
    stop: () => clearTimeout(timer),
  };
}
