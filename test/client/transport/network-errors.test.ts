import { expect, test } from 'vitest';
import { networkError } from '../../../src/client/transport/network-errors';
import { type Hint, phrase } from '../../../src/platform/errors';
import type { FactName } from '../../../src/words/facts';

// What connections do that end so is tried in undici.test.ts and tls-options.test.ts.

const url = new URL('https://pw.test/api');

test.each<[code: string, FactName, Hint?]>([
  ['ENOTFOUND', 'host-unknown', phrase('check-host-name')],
  ['EAI_AGAIN', 'host-unresolved', phrase('check-host-name')],
  ['ECONNREFUSED', 'connection-refused', phrase('check-running', 'pw.test')],
  ['EHOSTUNREACH', 'no-route'],
  ['ENETUNREACH', 'network-unreachable'],
  ['ETIMEDOUT', 'connection-timeout'],
  ['EPROTO', 'no-tls', phrase('check-port')],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'no-tls', phrase('check-port')],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'no-tls', phrase('check-port')],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate-of-another'],
  ['CERT_HAS_EXPIRED', 'certificate-expired'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate-self-signed', phrase('trust-certificate')],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate-of-unknown-ca', phrase('trust-certificate')],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate-unverified', phrase('trust-certificate')],
  ['UNABLE_TO_GET_ISSUER_CERT', 'certificate-of-unknown-ca', phrase('trust-certificate')],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'certificate-of-unknown-ca', phrase('trust-certificate')],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'tls-too-old', phrase('update-server')],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'tls-too-old', phrase('update-server')],
  ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'handshake-refused', phrase('send-certificate-if-needed')],
  ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', 'handshake-refused', phrase('send-certificate-if-needed')],
  ['ECONNRESET', 'connection-reset'],
  ['EPIPE', 'connection-closed'],
  ['UND_ERR_SOCKET', 'connection-closed'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'response-cut'],
  ['UND_ERR_HEADERS_OVERFLOW', 'headers-too-long'],
  ['STOPPED', 'stopped'],
  ['INTERIM_ONLY', 'interim-only'],
])('%s is %s', (code, name, hint) => {
  for (const [left, fact] of [[false, 'unreachable'] as const, [true, 'incomplete'] as const])
    expect(networkError({ code }, url, left, { timeout: 30 })).toMatchObject({
      facts: [phrase(fact, 'pw.test', phrase(name))],
      hints: hint ? [hint] : [],
      sent: left,
      foreign: code === 'UND_ERR_HEADERS_OVERFLOW',
    });
});

test.each<[code: string, FactName, Hint]>([
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'certificate-needed', phrase('send-certificate')],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'certificate-refused', phrase('check-certificate')],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'certificate-refused', phrase('check-certificate')],
  ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', 'certificate-refused', phrase('check-certificate')],
  ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED', 'certificate-refused', phrase('check-certificate')],
  ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN', 'certificate-refused', phrase('check-certificate')],
  ['TLS_ALERT', 'tls-only', phrase('use-tls', '//pw.test')],
])('%s is %s, and nothing was sent, whatever has left', (code, name, hint) => {
  const facts = [phrase('unreachable', 'pw.test', phrase(name))];
  const wanted = { facts, hints: [hint], sent: false };
  expect(networkError({ code }, url, true, { timeout: 30 })).toMatchObject(wanted);
});
