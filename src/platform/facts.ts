/**
 * What is known of a failure, and of a link, where the words are those of the command line: `cli/clauses.ts` has them. Their
 * values are named there.
 */
export type FactName =
  /** A fact and what it consists in. */
  'detailed' | OfInstance | OfNetwork | OfFile | OfLink | OfInput;

/** What an instance answers, or a proxy in front of it. */
type OfInstance =
  | 'answer-key-missing'
  | 'answered-already'
  | 'certificate-needed-here'
  | 'failed'
  | 'files-need-token'
  | 'in-front'
  | 'key-missing'
  | 'key-refused'
  | 'key-words-needed'
  | 'leaves-origin'
  | 'login-page'
  | 'login-redirect'
  | 'no-api'
  | 'no-requests'
  | 'no-such'
  | 'none-of-yours'
  | 'opens-elsewhere'
  | 'owners-log'
  | 'owners-only'
  | 'passphrase-needed'
  | 'passphrase-wrong'
  | 'push-not-expired'
  | 'rate-limited'
  | 'redirects'
  | 'redirects-too-often'
  | 'refused'
  | 'request-closed'
  | 'request-not-closed'
  | 'request-still-open'
  | 'response-too-long'
  | 'sealed-to-key'
  | 'setup-redirect'
  | 'token-needed'
  | 'token-refused'
  | 'token-withheld'
  | 'unexpected'
  | OfBody;

/** What a response says, besides its own words. */
type OfBody = 'body-empty' | 'body-field' | 'body-hidden' | 'body-line' | 'body-size' | 'body-text';

type OfNetwork =
  | 'certificate-expired'
  | 'certificate-needed'
  | 'certificate-of-another'
  | 'certificate-of-unknown-ca'
  | 'certificate-refused'
  | 'certificate-self-signed'
  | 'certificate-unverified'
  | 'connection-closed'
  | 'connection-failed'
  | 'connection-refused'
  | 'connection-reset'
  | 'connection-timeout'
  | 'handshake-refused'
  | 'headers-too-long'
  | 'host-unknown'
  | 'host-unresolved'
  | 'incomplete'
  | 'interim-only'
  | 'network-unreachable'
  | 'no-http'
  | 'no-response'
  | 'no-route'
  | 'no-tls'
  | 'proxy-needs-login'
  | 'proxy-refused'
  | 'proxy-timeout'
  | 'proxy-unreachable'
  | 'response-cut'
  | 'stopped'
  | 'takes-no-more'
  | 'too-slow'
  | 'unreachable';

type OfFile =
  | 'cut-short'
  | 'file-link-expired'
  | 'file-link-of-scheme'
  | 'file-link-no-file'
  | 'file-link-open'
  | 'file-link-redirects-down'
  | 'file-link-redirects-nowhere'
  | 'file-link-redirects-too-often'
  | 'file-link-returned'
  | 'longer-than-announced'
  | 'no-file-link'
  | 'not-resumable';

type OfLink = 'link-built' | 'link-elsewhere' | 'link-repaired' | 'links-repaired' | Repair;

/** What a pasted link had that it does not have now. */
export type Repair =
  | 'repaired-hash'
  | 'repaired-outlook'
  | 'repaired-proofpoint'
  | 'repaired-surroundings'
  | 'repaired-tail'
  | 'repaired-wrapper';

type OfInput =
  | 'link-empty'
  | 'link-with-login'
  | 'no-email-address'
  | 'no-email-address-at'
  | 'no-language'
  | 'no-link'
  | 'no-proxy-address'
  | 'proxy-login-long'
  | 'too-many-addresses';
