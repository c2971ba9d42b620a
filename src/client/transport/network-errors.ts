import type { HttpSettings } from '../../platform/context';
import { CliError, type ErrorDetails, type Fact, phrase } from '../../platform/errors';
import type { FactName } from '../../words/facts';
import type { HintName } from '../../words/hints';
import type { ChosenProxy } from './connect-options';

/** Thrown when no whole response was received. The code is `unreachable` if nothing was sent, else `failed`. */
export class TransportError extends CliError {
  /** False only if no part of the request can have been sent. */
  declare readonly sent: boolean;
  /** No data was transferred for the time allowed. */
  declare readonly timedOut?: boolean;
  /** The other side does not speak HTTP, or sends headers that are too long, so that a repetition would fail, too. */
  declare readonly foreign?: boolean;

  constructor(
    facts: Fact,
    details: Pick<TransportError, 'sent' | 'timedOut' | 'foreign'> &
      Pick<ErrorDetails, 'hints' | 'cause'>,
  ) {
    super(details.sent ? 'failed' : 'unreachable', facts, details);
  }
}

/** The name has neither user name nor password. */
export function proxyName({ url, socks }: ChosenProxy): string {
  return `${socks ?? url.protocol.slice(0, -1)}://${url.host}`;
}

export class ProxyError extends Error {
  constructor(
    readonly fact: 'proxy-needs-login' | 'proxy-refused' | 'proxy-timeout' | 'proxy-unreachable',
    readonly proxy: ChosenProxy,
    cause?: unknown,
  ) {
    super(fact, { cause });
  }
}

type Fault = readonly [FactName, HintName?];

const NO_TLS: Fault = ['no-tls', 'check-port'];
const TLS_ONLY: Fault = ['tls-only', 'use-tls'];
const NO_CERTIFICATE: Fault = ['certificate-needed', 'send-certificate'];
const REFUSED_CERTIFICATE: Fault = ['certificate-refused', 'check-certificate'];
const TOO_OLD: Fault = ['tls-too-old', 'update-server'];
const UNKNOWN_CA: Fault = ['certificate-of-unknown-ca', 'trust-certificate'];

const faults: Readonly<Record<string, Fault>> = {
  ENOTFOUND: ['host-unknown', 'check-host-name'],
  EAI_AGAIN: ['host-unresolved', 'check-host-name'],
  ECONNREFUSED: ['connection-refused', 'check-running'],
  EHOSTUNREACH: ['no-route'],
  ENETUNREACH: ['network-unreachable'],
  ETIMEDOUT: ['connection-timeout'],
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  ERR_TLS_CERT_ALTNAME_INVALID: ['certificate-of-another'],
  CERT_HAS_EXPIRED: ['certificate-expired'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['certificate-self-signed', 'trust-certificate'],
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_CA,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['certificate-unverified', 'trust-certificate'],
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_CA,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_CA,
  TOO_WEAK: ['certificate-weak', 'update-server'],
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: TOO_OLD,
  ERR_SSL_UNSUPPORTED_PROTOCOL: TOO_OLD,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: NO_CERTIFICATE,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: ['handshake-refused', 'send-certificate-if-needed'],
  ECONNRESET: ['connection-reset', 'try-tls'],
  EPIPE: ['connection-closed', 'try-tls'],
  UND_ERR_SOCKET: ['connection-closed', 'try-tls'],
  TLS_ALERT: TLS_ONLY,
  UND_ERR_HEADERS_OVERFLOW: ['headers-too-long'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['response-cut'],
  STOPPED: ['stopped'],
  INTERIM_ONLY: ['interim-only'],
};

export function timeoutError(fact: Fact, sent: boolean, cause?: unknown): TransportError {
  return new TransportError(fact, { sent, timedOut: true, hints: phrase('allow-time'), cause });
}

/**
 * Converts an error of undici or Node. The message has the host and what failed, never path, query or headers.
 * @param left whether any part of the HTTP request may have been sent
 * @param options with `isDirect` if no response began, and no proxy was asked
 */
export function networkError(
  error: unknown,
  url: URL,
  left: boolean,
  { timeout, ca, isDirect = false }: Pick<HttpSettings, 'timeout' | 'ca'> & { isDirect?: boolean },
): TransportError {
  if (error instanceof ProxyError) return proxyError(error, url);
  const code = codeOf(error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return timeoutError(phrase('no-response', url.host, timeout), left, error);
  const isHttp = !code.startsWith('HPE_');
  const fault = faults[code];
  // A client of TLS 1.3 may learn only after a write that the handshake failed (RFC 8446, 4.4.2.4 and E.1.2).
  const sent =
    left && fault !== NO_CERTIFICATE && fault !== REFUSED_CERTIFICATE && fault !== TLS_ONLY;
  const [, usual] = fault ?? [];
  const hint = ca !== undefined && usual === 'trust-certificate' ? 'complete-chain' : usual;
  const why = isHttp ? reason(code) : phrase('no-http');
  return new TransportError(phrase(sent ? 'incomplete' : 'unreachable', url.host, why), {
    sent,
    foreign: !isHttp || code === 'UND_ERR_HEADERS_OVERFLOW',
    hints: hintFor(hint, url, isDirect),
    cause: error,
  });
}

/** Many servers close a connection without a word if they expect TLS on it. */
function hintFor(hint: HintName | undefined, url: URL, isDirect: boolean) {
  if (hint === 'check-running') return phrase(hint, url.hostname);
  if (hint === 'use-tls') return phrase(hint, `//${url.host}`);
  if (hint !== 'try-tls') return hint && phrase(hint);
  return isDirect && url.protocol === 'http:' ? phrase(hint, `//${url.host}`) : undefined;
}

/** Converts an error of the proxy, through which nothing was sent to the instance. */
export function proxyError(error: ProxyError, url: URL): TransportError {
  const { proxy, cause } = error;
  const inner = codeOf(cause);
  const why = cause === undefined ? [] : [reason(inner)];
  const fact = phrase(error.fact, proxyName(proxy), proxy.variable, ...why);
  const [, hint] = faults[inner] ?? [];
  return new TransportError(phrase('unreachable', url.host, fact), {
    sent: false,
    hints:
      hint === 'trust-certificate' ? phrase('trust-proxy') : phrase('check-proxy', proxy.variable),
    cause: error,
  });
}

const reason = (code: string): Fact => {
  const [name] = faults[code] ?? [];
  return name ? phrase(name) : phrase('connection-failed', code);
};

/** Returns the innermost code: undici wraps errors, and a host with several addresses throws an AggregateError. */
function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { code, name, cause, errors, data, message } = error as Record<string, unknown>;
  // Node has no codes for these results of OpenSSL (X509_V_ERR_CA_MD_TOO_WEAK, EE_KEY_TOO_SMALL), but its text.
  if (code === 'UNSPECIFIED' && /too weak/.test(`${message}`)) return 'TOO_WEAK';
  // undici 7 leaves the code of this error undefined. An alert is a record that begins with 21 and 3 (RFC 8446, 5.1).
  if (name === 'HTTPParserError') return `${data}`.startsWith('\x15\x03') ? 'TLS_ALERT' : 'HPE_';
  const inner = Array.isArray(errors) ? errors[0] : cause;
  const innerCode = inner === undefined ? '' : codeOf(inner);
  if (innerCode in faults) return innerCode;
  // OpenSSL 3.5, of Node.js 22 and later, renamed SSLv3 in its messages.
  return typeof code === 'string' ? code.replace('_SSL/TLS_ALERT_', '_SSLV3_ALERT_') : innerCode;
}
