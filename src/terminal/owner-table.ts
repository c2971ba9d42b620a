import type { Column } from './table';
import { ago } from './time';

/** A user of the embedded service, as `serve token list` shows one. */
export interface ShownOwner {
  readonly name: string;
  readonly tokens: number;
  /** ISO 8601. */
  readonly created_at: string;
  readonly last_used_at: string | null;
}

/** Columns of `serve token list`; in a pipe: name, tokens, created, last used. */
export const ownerColumns: readonly Column<ShownOwner>[] = [
  { title: 'NAME', shown: ({ name }) => name, elastic: true },
  { title: 'TOKENS', right: true, shown: ({ tokens }) => String(tokens) },
  {
    title: 'CREATED',
    shown: (owner, look) => ago(owner.created_at, look.now),
    exact: ({ created_at }) => created_at,
  },
  {
    title: 'LAST USED',
    shown: (owner, look) =>
      owner.last_used_at === null ? 'never' : ago(owner.last_used_at, look.now),
    exact: ({ last_used_at }) => last_used_at ?? '',
  },
];
