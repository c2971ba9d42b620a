/** An event that `push --here` or `request --here` reports. */
export interface HereEvent {
  readonly event: 'opened' | 'viewed' | 'passphrase' | 'fetched' | 'deleted' | 'expired' | 'lost';
  readonly ip: string | null;
  /** With `viewed`, the number of views so far. */
  readonly count?: number;
}
