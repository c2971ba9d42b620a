import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { ServiceError } from './service-errors';

export interface PemFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** A certificate chain and its private key, both PEM. */
export type TlsPair = ReturnType<typeof tlsPair>;

/**
 * Checks that the first certificate of its file belongs to the key: OpenSSL accepts a certificate and a key of
 * different types as a pair (SSL_CTX_use_PrivateKey), and each handshake fails.
 * @throws ServiceError that names the file
 */
export function tlsPair(certificate: PemFile, privateKey: PemFile) {
  const pair = { cert: pemOf(certificate), key: pemOf(privateKey) };
  const all = pair.cert.match(/-----BEGIN (\w+ )?CERTIFICATE-----.*?-----END \1CERTIFICATE-----/gs);
  const [first, ...others] = (all ?? ['']).map((pem) => {
    const cause = broken(certificate, 'has no certificate that can be read');
    return orThrow(cause, () => new X509Certificate(pem));
  }) as [X509Certificate, ...X509Certificate[]];
  // Encryption is detected here because OpenSSL's error for a key without its passphrase differs between versions.
  if (/^-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(pair.key))
    throw broken(privateKey, 'is encrypted', 'decrypt it with openssl pkey');
  const key = orThrow(broken(privateKey, 'has no private key that can be read'), () =>
    createPrivateKey(pair.key),
  );
  const mismatch = (hint: string) =>
    new ServiceError(
      `the certificate "${certificate.path}" and the key "${privateKey.path}" do not match`,
      { hint },
    );
  if (!first.checkPrivateKey(key))
    throw others.some((other) => other.checkPrivateKey(key))
      ? mismatch('the certificate of the key must come first in its file')
      : mismatch('use PEM files that belong together');
  orThrow(broken(certificate, 'cannot be used with its key'), () => createSecureContext(pair));
  return pair;
}

/** Returns warnings about a pair that can be served but that clients refuse. */
export function tlsWarnings(pair: TlsPair | undefined, now: Date): string[] {
  if (!pair) return [];
  const { validFrom, validTo, publicKey } = new X509Certificate(pair.cert);
  const bits = publicKey.asymmetricKeyDetails?.modulusLength ?? Number.POSITIVE_INFINITY;
  const day = (time: string) => new Date(time).toISOString().slice(0, 10);
  return [
    ...(now > new Date(validTo) ? [`the TLS certificate expired on ${day(validTo)}`] : []),
    ...(now < new Date(validFrom) ? [`the TLS certificate begins on ${day(validFrom)}`] : []),
    ...(bits < 2048 ? [`the key of the TLS certificate has ${bits} bits: 2048 are needed`] : []),
  ];
}

/** Returns the text of the file without a byte order mark. */
function pemOf(file: PemFile): string {
  const text = new TextDecoder().decode(file.bytes);
  if (text.includes('-----BEGIN ')) return text;
  throw broken(
    file,
    'is not a PEM file',
    'a PEM file has a line -----BEGIN …; openssl converts others',
  );
}

function broken({ path }: PemFile, what: string, hint?: string): ServiceError {
  return new ServiceError(`"${path}" ${what}`, { hint });
}

function orThrow<T>(error: ServiceError, work: () => T): T {
  try {
    return work();
  } catch {
    throw error;
  }
}
