import type { AuditEntry } from '../api/contract';
import type { Column } from './table';
import { ago } from './time';

/** Columns of `audit`; in a pipe: time, kind, address, user agent, referrer. */
export const auditColumns: readonly Column<AuditEntry>[] = [
  {
    title: 'WHEN',
    shown: (entry, look) => ago(entry.created_at, look.now),
    exact: (entry) => entry.created_at ?? '',
  },
  { title: 'WHAT', shown: (entry) => entry.kind },
  { title: 'ADDRESS', shown: (entry) => entry.ip ?? '' },
  { title: 'USER AGENT', shown: (entry) => entry.user_agent ?? '', elastic: true },
  { title: 'REFERRER', shown: (entry) => entry.referrer ?? '', elastic: true },
];
