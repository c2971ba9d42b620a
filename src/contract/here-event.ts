/** Something that happened to what `--here` serves. */
export interface HereEvent {
  readonly event: 'opened' | 'viewed' | 'passphrase' | 'fetched' | 'deleted' | 'expired' | 'lost';
  /** Null when it is unknown. */
  readonly ip: string | null;
  /** Of `viewed`: how many views have been taken. */
  readonly count?: number;
}
