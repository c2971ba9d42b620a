import type { Kind } from '../../contract';

/** Is told what happens to pushes, by those who see to it. */
export interface Tally {
  created(kind: Kind): void;
  viewed(by: 'viewer' | 'owner'): void;
  /** A view that came too late. */
  missed(): void;
  expired(reason: 'views' | 'time' | 'deleted', pushes?: number): void;
  wrongPassphrase(): void;
  /** Bytes of files, as the client has them. */
  fileBytes(direction: 'in' | 'out', bytes: number): void;
}

/** Tells both. */
export function both(one: Tally, other: Tally): Tally {
  const each = (tell: (tally: Tally) => void) => {
    tell(one);
    tell(other);
  };
  return {
    created: (kind) => each((tally) => tally.created(kind)),
    viewed: (by) => each((tally) => tally.viewed(by)),
    missed: () => each((tally) => tally.missed()),
    expired: (reason, pushes) => each((tally) => tally.expired(reason, pushes)),
    wrongPassphrase: () => each((tally) => tally.wrongPassphrase()),
    fileBytes: (direction, bytes) => each((tally) => tally.fileBytes(direction, bytes)),
  };
}
