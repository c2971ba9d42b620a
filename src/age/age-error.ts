/** The part that failed: `mac` means that the header was changed, `no-match` that no identity decrypts the file. */
export type AgeReason =
  | 'armor'
  | 'header'
  | 'mac'
  | 'no-match'
  | 'payload'
  /** A recipient, an identity or a typed key is invalid or not supported. */
  | 'key'
  /** A private key has a passphrase, with which it cannot be read. */
  | 'key-passphrase';

/** An error of this room. Its message never contains a key, a passphrase or a line of a key file. */
export class AgeError extends Error {
  override readonly name = 'AgeError';
  readonly reason: AgeReason;
  /** Line of a key file, from 1. */
  readonly line: number | undefined;

  constructor(reason: AgeReason, message: string, line?: number) {
    super(message);
    this.reason = reason;
    this.line = line;
  }
}
