import type { AuditEntry } from '../contract/decode';
import type { Item } from './item';
import { pages } from './pages';

/**
 * Reads the whole audit log of a push or request, sorted by time; events with the same time keep their order. Neither the order of
 * the log nor the length of its pages is relied on: instances differ (docs/wire.md, "What a client must not rely on").
 * @throws CliError as `Api.audit` does
 */
export async function readAuditLog(
  item: Pick<Item, 'audit'>,
  first: 'oldest' | 'newest',
): Promise<AuditEntry[]> {
  const events: AuditEntry[] = [];
  const log = pages((page) => item.audit(page), { key: eventKey });
  for await (const page of log) for (const event of page) events.push(event);
  const timed = withTimes(events);
  timed.sort(([one], [other]) =>
    one === other ? 0 : one < other === (first === 'oldest') ? -1 : 1,
  );
  return timed.map(([, event]) => event);
}

/** Identifies an event by the fields that never change; those of an e-mail change while it is sent. */
export function eventKey({ kind, created_at, ip, user_agent }: AuditEntry): string {
  return JSON.stringify([kind, created_at, ip, user_agent]);
}

/** Each event with its time in milliseconds; an event without a time gets that of the previous event. */
function withTimes(events: readonly AuditEntry[]): [number, AuditEntry][] {
  let time = Number.NEGATIVE_INFINITY;
  return events.map((event) => {
    const parsed = Date.parse(event.created_at ?? '');
    if (!Number.isNaN(parsed)) time = parsed;
    return [time, event];
  });
}
