import type { Kind } from '../api/contract';

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
