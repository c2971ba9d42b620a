/** No response, or only a part of one, was received. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  /** False only if no part of the request can have been sent. */
  declare readonly sent: boolean;
  /** No data was transferred for the time allowed. */
  declare readonly timedOut?: boolean;
  /** What responds does not speak HTTP. */
  declare readonly foreign?: boolean;
  declare readonly hint?: string | undefined;

  constructor(
    message: string,
    { cause, ...details }: Omit<TransportError, keyof Error> & ErrorOptions,
  ) {
    super(message, { cause });
    Object.assign(this, details);
  }
}

const DNS = 'check the spelling; pwpush doctor shows where the address comes from, and what works';
const REFUSED = 'check that the instance is running, and the port';
const PROXY = 'check HTTPS_PROXY or HTTP_PROXY, or exclude the instance with NO_PROXY';
const CERTIFICATE = 'if the instance uses a private CA, name its certificate with --ca-file';

type Explanation = readonly [text: string, hint?: string];

const NO_TLS: Explanation = [
  'it does not use TLS on this port',
  'check the port, and whether the address begins with http',
];
const CLIENT_CERTIFICATE = 'send one with --cert and --cert-key; see ACCESS PROXIES in pwpush(1)';
const NO_CERTIFICATE: Explanation = ['it requires a client certificate', CLIENT_CERTIFICATE];
const REFUSED_CERTIFICATE: Explanation = [
  'it refused the client certificate',
  'check that it has not expired, and that the server trusts its issuer',
];
const UNKNOWN_CA: Explanation = ['its certificate comes from an unknown CA', CERTIFICATE];

/** By the error code of Node or undici. */
const explanations: Readonly<Record<string, Explanation>> = {
  ENOTFOUND: ['its host name does not resolve', DNS],
  EAI_AGAIN: ['its host name cannot be resolved at the moment', DNS],
  ECONNREFUSED: ['the connection was refused', REFUSED],
  EHOSTUNREACH: ['no route to the host'],
  ENETUNREACH: ['the network is unreachable'],
  ETIMEDOUT: ['the connection timed out'],
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  UND_ERR_CONNECT_TIMEOUT: ['the connection timed out'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['its certificate is for another name'],
  CERT_HAS_EXPIRED: ['its certificate has expired'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['its certificate is self-signed', CERTIFICATE],
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_CA,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['its certificate cannot be verified', CERTIFICATE],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_CA,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: NO_CERTIFICATE,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: [
    'it refused the TLS handshake',
    'if it requires a client certificate, send one with --cert and --cert-key',
  ],
  ECONNRESET: ['the connection was reset'],
  EPIPE: ['the connection was closed'],
  UND_ERR_SOCKET: ['the connection was closed'],
  UND_ERR_HEADERS_OVERFLOW: ['its headers are too long'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['the response was cut short'],
  STOPPED: ['the request was stopped'],
  INTERIM_ONLY: ['it sends interim responses only'],
  PROXY_REFUSED: ['the proxy refused to connect to it'],
  PROXY_AUTHENTICATION: ['the proxy requires a user name and password', PROXY],
  PROXY_TIMEOUT: ['the proxy did not respond in time', PROXY],
};

/** No data was transferred in time. */
export function timeoutError(message: string, sent: boolean, cause?: unknown): TransportError {
  const hint = 'allow more time with --timeout SECONDS';
  return new TransportError(message, { sent, timedOut: true, hint, cause });
}

const timeouts = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/**
 * Converts an error of undici or Node. The message contains the host and what failed, never path, query or headers.
 * @param left whether any part of the request may have been sent
 * @param timeout in seconds, for the message
 */
export function networkError(
  error: unknown,
  url: URL,
  left: boolean,
  timeout: number,
): TransportError {
  const code = codeOf(error);
  if (timeouts.has(code))
    return timeoutError(`${url.host} did not respond within ${timeout} s`, left, error);
  const foreign = code.startsWith('HPE_');
  const unknown = foreign
    ? 'it does not speak HTTP'
    : `the connection failed (${code || 'no code'})`;
  const [what, hint] = explanations[code] ?? [unknown];
  // The handshake failed: in TLS 1.3 a client learns that after it has written (RFC 8446, 4.4.2.4 and E.1.2).
  if (what === NO_CERTIFICATE[0] || what === REFUSED_CERTIFICATE[0]) left = false;
  const verb = left ? 'sent no complete response' : 'cannot be reached';
  return new TransportError(`${url.host} ${verb}: ${what}`, {
    sent: left,
    foreign,
    hint,
    cause: error,
  });
}

/** The innermost code: undici wraps errors, and a host with several addresses throws an AggregateError. */
function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { code, name, cause, errors } = error as Record<string, unknown>;
  // undici 7 leaves its code undefined.
  if (name === 'HTTPParserError') return 'HPE_';
  const inner = Array.isArray(errors) ? errors[0] : cause;
  const innerCode = inner === undefined ? '' : codeOf(inner);
  if (innerCode in explanations) return innerCode;
  // OpenSSL 3.5, of Node.js 22 and later, has another name for SSLv3 in its messages.
  return typeof code === 'string' ? code.replace('_SSL/TLS_ALERT_', '_SSLV3_ALERT_') : innerCode;
}
