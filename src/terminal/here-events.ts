import type { HereEvent } from '../here-event';
import { safe } from './safe';

/** One line for a person who watches: `10.0.0.7 viewed it: 1 of 3`. */
export function hereText(
  { event, ip, count = 0 }: HereEvent,
  views: number,
  files: number,
): string {
  const what = {
    opened: 'opened the page',
    viewed: `viewed it: ${count} of ${views}`,
    passphrase: 'gave no passphrase or a wrong one',
    fetched: files === 1 ? 'fetched the file' : 'fetched a file',
    deleted: 'deleted it',
    expired: 'it has expired',
  }[event];
  return event === 'expired' ? what : `${safe(ip ?? 'somebody')} ${what}`;
}
