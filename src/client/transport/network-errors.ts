import { TransportError } from './transport';

interface Known {
  readonly says: string;
  readonly hint?: string;
}

const DNS =
  'is the name spelled right? pwpush doctor tells where the address is from, and what works';
const REFUSED = 'is the instance running, and is the port right?';
const PROXY = 'check HTTPS_PROXY or HTTP_PROXY, or take the instance out with NO_PROXY';
const CERTIFICATE = 'if the instance has a certificate of a private CA, name it with --ca-file';

/** Node's and undici's codes → what a person can act on. */
const known: Readonly<Record<string, Known>> = {
  ENOTFOUND: { says: 'its host name does not resolve', hint: DNS },
  EAI_AGAIN: { says: 'its host name cannot be resolved just now', hint: DNS },
  ECONNREFUSED: { says: 'the connection was refused', hint: REFUSED },
  EHOSTUNREACH: { says: 'there is no route to it' },
  ENETUNREACH: { says: 'the network is unreachable' },
  ETIMEDOUT: { says: 'the connection timed out' },
  EPROTO: {
    says: 'it does not speak TLS there',
    hint: 'is it http instead of https, or another port?',
  },
  ERR_SSL_WRONG_VERSION_NUMBER: {
    says: 'it does not speak TLS there',
    hint: 'is it http instead of https, or another port?',
  },
  ERR_SSL_PACKET_LENGTH_TOO_LONG: {
    says: 'it does not speak TLS there',
    hint: 'is it http instead of https, or another port?',
  },
  UND_ERR_CONNECT_TIMEOUT: { says: 'the connection timed out' },
  ERR_TLS_CERT_ALTNAME_INVALID: { says: 'its certificate is for another name' },
  CERT_HAS_EXPIRED: { says: 'its certificate has expired' },
  DEPTH_ZERO_SELF_SIGNED_CERT: { says: 'its certificate is self-signed', hint: CERTIFICATE },
  SELF_SIGNED_CERT_IN_CHAIN: {
    says: 'its certificate comes from an unknown CA',
    hint: CERTIFICATE,
  },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
    says: 'its certificate cannot be verified',
    hint: CERTIFICATE,
  },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: {
    says: 'its certificate comes from an unknown CA',
    hint: CERTIFICATE,
  },
  ECONNRESET: { says: 'the connection was reset' },
  EPIPE: { says: 'the connection was closed' },
  UND_ERR_SOCKET: { says: 'the connection was closed' },
  UND_ERR_HEADERS_OVERFLOW: { says: 'its headers are too long' },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { says: 'the answer was cut short' },
  INTERIM_ONLY: { says: 'it announces an answer over and over' },
  PROXY_REFUSED: { says: 'the proxy refused to connect to it' },
  PROXY_AUTHENTICATION: { says: 'the proxy wants a user name and password', hint: PROXY },
  PROXY_TIMEOUT: { says: 'the proxy did not answer in time', hint: PROXY },
};

const timeouts = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/**
 * An error of undici or Node as a `TransportError` whose message names the host and what failed: never
 * path, query or headers.
 * @param left whether any of the request may have reached the other side
 * @param timeout the limit in force, in seconds
 */
export function explain(error: unknown, url: URL, left: boolean, timeout: number): TransportError {
  const code = codeOf(error);
  if (timeouts.has(code)) {
    return new TransportError(`${url.host} did not answer within ${timeout} s`, {
      sent: left,
      timedOut: true,
      hint: 'allow more with --timeout SECONDS',
      cause: error,
    });
  }
  const what = known[code] ?? unnamed(code);
  const verb = left ? 'gave no whole answer' : 'cannot be reached';
  return new TransportError(`${url.host} ${verb}: ${what.says}`, {
    sent: left,
    hint: what.hint,
    cause: error,
  });
}

/** A proxy that passes plain http on answers 407 in the instance's place (RFC 9110, 15.5.8). */
export function refusedByProxy(url: URL): TransportError {
  return explain({ code: 'PROXY_AUTHENTICATION' }, url, false, 0);
}

function unnamed(code: string): Known {
  return {
    says: code.startsWith('HPE_')
      ? 'it does not speak HTTP'
      : `the connection failed (${code || 'no code'})`,
  };
}

/** The innermost code: undici wraps, and trying several addresses gives an AggregateError. */
function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { code, name, cause, errors } = error as Record<string, unknown>;
  // Its code is a number that undici 7 looks up by name, so that it comes without one.
  if (name === 'HTTPParserError') return 'HPE_';
  const inner = Array.isArray(errors) ? errors[0] : cause;
  const innerCode = inner === undefined ? '' : codeOf(inner);
  if (innerCode in known) return innerCode;
  return typeof code === 'string' ? code : innerCode;
}
