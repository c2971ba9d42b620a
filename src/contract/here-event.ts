/** `push --here` and `request --here` report what a visitor did. */
export interface HereEvent {
  readonly event: 'opened' | 'viewed' | 'passphrase' | 'fetched' | 'deleted' | 'expired' | 'lost';
  readonly ip: string | null;
  /** `viewed` counts all views until then. */
  readonly count?: number;
}
