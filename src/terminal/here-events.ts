import { safe } from './safe';

/** Something that happened to a push that is served from here. */
export interface Happening {
  readonly event: 'opened' | 'viewed' | 'passphrase' | 'fetched' | 'deleted' | 'expired';
  readonly ip: string | null;
  readonly count?: number;
}

/** What happened, for whoever waits: `10.0.0.7 viewed it: 1 of 3`. */
export function hereText(
  { event, ip, count = 0 }: Happening,
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
