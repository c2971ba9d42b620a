import type { AuditEntry } from '../contract';
import type { Api } from './client';
import { pages } from './pages';

/**
 * The whole audit log of a push, sorted by time; events of the same time stay as they came. Instances differ in the
 * order of the log and in the length of its pages (docs/wire.md, "What a client must not rely on"), so neither is relied on.
 * @throws CliError as `Api.audit` does
 */
export async function readAuditLog(
  api: Pick<Api, 'audit'>,
  token: string,
  first: 'oldest' | 'newest',
): Promise<AuditEntry[]> {
  const events: AuditEntry[] = [];
  const log = pages((page) => api.audit(token, page), { key: eventKey });
  for await (const page of log) for (const event of page) events.push(event);
  const timed = withTimes(events);
  timed.sort(([one], [other]) =>
    one === other ? 0 : one < other === (first === 'oldest') ? -1 : 1,
  );
  return timed.map(([, event]) => event);
}

/** What tells an event from others: the fields that never change. Those of an e-mail change while it is sent. */
export function eventKey({ kind, created_at, ip, user_agent }: AuditEntry): string {
  return JSON.stringify([kind, created_at, ip, user_agent]);
}

/** Each event with its time in milliseconds; one without a time has that of the event before it. */
function withTimes(events: readonly AuditEntry[]): [number, AuditEntry][] {
  let time = Number.NEGATIVE_INFINITY;
  return events.map((event) => {
    const told = Date.parse(event.created_at ?? '');
    if (!Number.isNaN(told)) time = told;
    return [time, event];
  });
}
