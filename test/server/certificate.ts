import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (name: string) => readFileSync(join(import.meta.dirname, 'certificates', `${name}.pem`), 'utf8');

/** For localhost, 127.0.0.1 and proxied.test: it signs itself, is good for a hundred years, and for tests alone. */
export const [cert, key] = [read('cert'), read('key')];
/** Another, as it follows the first. */
export const [nextCert, nextKey] = [read('next-cert'), read('next-key')];
/** One for the same names that ended in February 2020. */
export const [expiredCert, expiredKey] = [read('expired-cert'), read('expired-key')];
/** One for the same names that an issuing CA signed; the root of that CA is nowhere. */
export const [issuedCert, issuedKey, issuingCa] = [read('issued-cert'), read('issued-key'), read('issuing-ca')];
/** The same with a signature by SHA-1. */
export const sha1Cert = read('sha1-cert');
/** For the same key, by a CA whose own certificate ended in 2020 and was renewed. */
export const [renewedCert, expiredCa, renewedCa] = [read('renewed-cert'), read('expired-ca'), read('renewed-ca')];
/** A CA of the same name with another key. */
export const earlierCa = read('earlier-ca');

/** That of a key of 2047 bits. */
export const weakCert = read('2047-bits-cert');

/** Writes a certificate and its key to a folder, and returns the variables of `serve` that name them. */
export function tlsFiles(folder: string, certificate = cert, privateKey = key) {
  const [PWPUSH_SERVE_TLS_CERT, PWPUSH_SERVE_TLS_KEY] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(PWPUSH_SERVE_TLS_CERT, certificate);
  writeFileSync(PWPUSH_SERVE_TLS_KEY, privateKey);
  return { PWPUSH_SERVE_TLS_CERT, PWPUSH_SERVE_TLS_KEY };
}
