const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** An ISO 8601 time relative to now: `5 min ago`, `3 h ago`, `2 days ago`, then the date. */
export function ago(time: string | null | undefined, now: Date): string {
  const at = Date.parse(time ?? '');
  if (Number.isNaN(at)) return time ?? '';
  const past = now.getTime() - at;
  if (past < MINUTE) return 'just now';
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min ago`;
  if (past < DAY) return `${Math.floor(past / HOUR)} h ago`;
  if (past < 30 * DAY) return `${count(Math.floor(past / DAY), 'day')} ago`;
  return new Date(at).toISOString().slice(0, 10);
}

/** `1 view`, `2 views`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
