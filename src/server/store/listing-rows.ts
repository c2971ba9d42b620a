import type { OpenPush } from '../../contract/api';
import type { NoteRow, StoredPush } from './push-rows';
import { mapped, plain, type Sql } from './sql';

export interface RowPage {
  readonly rows: number;
  /** The first page is 1. */
  readonly number: number;
}

/** Which rows of an owner are listed: pushes, all requests, requests without an answer, or requests with an answer. */
export type Listed = 'push' | 'request' | 'open' | 'ready';

/** The conditions are those of the partial indexes word by word; otherwise, the databases would not use the indexes. */
const conditions: Readonly<Record<Listed, string>> = {
  push: "kind NOT IN ('request', 'answer')",
  request: "kind = 'request'",
  open: "kind = 'request' AND answer_id IS NULL",
  ready: "kind = 'request' AND answer_id IS NOT NULL",
};

/** Makes the statement for a page, by condition. Its subquery skips the rows of earlier pages in the index alone. */
function listings(note: string, join: string, rowsOf: (condition: string) => string) {
  return mapped(conditions, (condition) =>
    plain(`
      SELECT pushes.*, ${note}
      FROM (${rowsOf(condition)}
        ORDER BY created_at DESC, id DESC
        LIMIT ? OFFSET ?) AS page
      JOIN pushes ON pushes.id = page.id ${join}
      ORDER BY pushes.created_at DESC, pushes.id DESC`),
  );
}

const activeListings = listings(
  'secrets.key_id, secrets.note_key, secrets.note',
  'LEFT JOIN secrets ON secrets.push_id = page.id',
  (condition) => `
    SELECT id FROM pushes
    WHERE owner_id = ? AND expired_at IS NULL AND expires_at > ? AND ${condition}`,
);

// Few rows have passed their time since the last sweep. The unary `+` keeps SQLite from searching all rows of the
// owner for them.
const endedListings = listings(
  "'' AS key_id, NULL AS note_key, NULL AS note",
  '',
  (condition) => `
    SELECT id, created_at FROM pushes
    WHERE owner_id = ? AND expired_at IS NOT NULL AND ${condition}
    UNION ALL
    SELECT id, created_at FROM pushes
    WHERE +owner_id = ? AND expired_at IS NULL AND expires_at <= ? AND ${condition}`,
);

/** Returns a page of an owner's rows, newest first. Ended rows have no note any more. */
export function listRecords(
  sql: Sql,
  { ownerId, listed, ended }: { ownerId: number; listed: Listed; ended: boolean },
  now: number,
  { rows, number }: RowPage,
) {
  const from = (number - 1) * rows;
  return ended
    ? sql<StoredPush & NoteRow>(endedListings[listed], ownerId, ownerId, now, rows, from)
    : sql<StoredPush & NoteRow>(activeListings[listed], ownerId, now, rows, from);
}

/** The `ownerId` that stands for all owners, and for none. */
export const ALL = 0;

type OpenRow = Omit<OpenPush, 'created_at' | 'expires_at'> &
  Pick<StoredPush, 'created_at' | 'expires_at'>;

/** Returns open pushes and requests with an id above `after`, oldest first. */
export function listOpen(
  sql: Sql,
  { ownerId, after }: { readonly ownerId: number; readonly after: number },
  now: number,
) {
  return sql<OpenRow>`
    SELECT pushes.id, pushes.kind, owners.name AS owner, pushes.name, pushes.created_at, pushes.expires_at,
      CASE WHEN pushes.kind <> 'request' THEN expire_after_views - views END AS views_remaining
    FROM pushes LEFT JOIN owners ON owners.id = pushes.owner_id
    WHERE pushes.id > ${after} AND expired_at IS NULL AND expires_at > ${now}
      AND pushes.kind <> 'answer' AND (${ownerId} = ${ALL} OR owner_id = ${ownerId})
    ORDER BY pushes.id LIMIT 500`;
}
