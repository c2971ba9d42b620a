type AgeReason =
  | 'armor'
  | 'header'
  | 'mac'
  | 'no-match'
  | 'payload'
  /** A recipient, an identity or a typed key is invalid or not supported. */
  | 'key'
  /** An SSH public key is complete, but encryption to keys of its type is not supported. */
  | 'key-type'
  /** A private key is protected with a passphrase, which is not supported. */
  | 'key-passphrase';

/** The message never contains a key, a passphrase or a line of a key file. */
export class AgeError extends Error {
  override readonly name = 'AgeError';

  constructor(
    readonly reason: AgeReason,
    message: string,
  ) {
    super(message);
  }
}

export function explaining<T>(parse: () => T, explain: (error: AgeError) => Error): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof AgeError ? explain(error) : error;
  }
}
