import type { Kind } from '../contract';

/** Receives what happens to pushes: metrics count it, and `push --here` reports it. */
export interface PushEvents {
  created(kind: Kind): void;
  /** A page asked for the passphrase, or to press a button, before a view is taken; `ip` is null when it is unknown. */
  opened(ip: string | null): void;
  viewed(by: 'viewer' | 'owner', ip: string | null): void;
  /** A retrieval of a push that had expired. */
  missed(): void;
  /** `ip` is null when nobody asked for it. */
  expired(reason: 'views' | 'time' | 'deleted', pushes: number, ip: string | null): void;
  wrongPassphrase(ip: string | null): void;
  /** Bytes of files, as the client has them. */
  fileBytes(direction: 'in' | 'out', bytes: number): void;
}

/** Passes each event to both; `some` need not take all of them. */
export function bothEvents(all: PushEvents, some: Partial<PushEvents>): PushEvents {
  const each = (report: (events: Partial<PushEvents>) => void) => {
    report(all);
    report(some);
  };
  return {
    created: (kind) => each((events) => events.created?.(kind)),
    opened: (ip) => each((events) => events.opened?.(ip)),
    viewed: (by, ip) => each((events) => events.viewed?.(by, ip)),
    missed: () => each((events) => events.missed?.()),
    expired: (reason, pushes, ip) => each((events) => events.expired?.(reason, pushes, ip)),
    wrongPassphrase: (ip) => each((events) => events.wrongPassphrase?.(ip)),
    fileBytes: (direction, bytes) => each((events) => events.fileBytes?.(direction, bytes)),
  };
}
