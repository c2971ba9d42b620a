/** The part that failed: `mac` means that the header was changed, `no-match` that no identity decrypts the file. */
type AgeReason =
  | 'armor'
  | 'header'
  | 'mac'
  | 'no-match'
  | 'payload'
  /** A recipient, an identity or a typed key is invalid or not supported. */
  | 'key'
  /** An SSH public key is whole, but of a type that is not encrypted to. */
  | 'key-type'
  /** A private key has a passphrase, with which it cannot be read. */
  | 'key-passphrase';

/** An error of this room. Its message never contains a key, a passphrase or a line of a key file. */
export class AgeError extends Error {
  override readonly name = 'AgeError';

  constructor(
    readonly reason: AgeReason,
    message: string,
  ) {
    super(message);
  }
}

/** Returns what `parse` does; throws what `explain` makes of an error of this room. */
export function explaining<T>(parse: () => T, explain: (error: AgeError) => Error): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof AgeError ? explain(error) : error;
  }
}
