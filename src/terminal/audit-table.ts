import type { AuditEntry } from '../contract';
import type { Style } from './style';
import type { Column } from './table';
import { ago } from './time';

const styles: Readonly<Record<string, Style>> = {
  view: 'green',
  failed_view: 'red',
  failed_passphrase: 'red',
  expire: 'yellow',
};

/** Columns of `audit`; in a pipe: time, kind, address, user agent, referrer. */
export const auditColumns: readonly Column<AuditEntry>[] = [
  {
    title: 'WHEN',
    shown: (entry, look) => ago(entry.created_at, look.now),
    exact: (entry) => entry.created_at ?? '',
  },
  {
    title: 'WHAT',
    shown: ({ kind, count = 1 }) => (Number(count) > 1 ? `${kind} ×${count}` : kind),
    exact: ({ kind }) => kind,
    style: ({ kind }) => styles[kind],
  },
  { title: 'ADDRESS', shown: (entry) => entry.ip ?? '' },
  { title: 'USER AGENT', shown: (entry) => entry.user_agent ?? '', elastic: true },
  { title: 'REFERRER', shown: (entry) => entry.referrer ?? '', elastic: true },
];
