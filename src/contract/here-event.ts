/** Something that happened to what `--here` serves. */
export interface HereEvent {
  readonly event: 'opened' | 'viewed' | 'passphrase' | 'fetched' | 'deleted' | 'expired' | 'lost';
  /** The address it came from; null when it is unknown. */
  readonly ip: string | null;
  /** Of `viewed`: how many views have been taken. */
  readonly count?: number;
}
