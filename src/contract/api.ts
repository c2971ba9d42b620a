/**
 * Routes, limits and request bodies of API v2 (docs/wire.md), for the client and the service. Response bodies are in
 * `decode.ts`. This file must not import anything, as help and completion load it and have to start quickly.
 */

export const API_PATH = '/api/v2';

export const API_VERSION = '2.1';

/** Value of the field `application`, which only our own service sends. */
export const APPLICATION = 'pwpush';

/** Value of `error` when our own service refuses to return an encrypted push without a proof of its key. */
export const LINK_INCOMPLETE = 'link_incomplete';

/** Value of `error` when our own service refuses to return a push to public keys to a client without a private key. */
export const IDENTITY_NEEDED = 'identity_needed';

/** The path of our own service's OpenAPI document, relative to `API_PATH`. */
export const OPENAPI_PATH = '/openapi.json';

/** `path` is relative to `API_PATH`; `:token` is the `url_token` of a push. */
export const routes = {
  version: { method: 'GET', path: '/version' },
  create: { method: 'POST', path: '/pushes' },
  active: { method: 'GET', path: '/pushes/active' },
  expired: { method: 'GET', path: '/pushes/expired' },
  retrieve: { method: 'GET', path: '/pushes/:token' },
  preview: { method: 'GET', path: '/pushes/:token/preview' },
  audit: { method: 'GET', path: '/pushes/:token/audit' },
  expire: { method: 'DELETE', path: '/pushes/:token' },
} as const satisfies Record<string, Route>;

/** Only the commercial edition and our own service have requests (docs/wire.md, "Requests"). */
export const requestRoutes = {
  create: { method: 'POST', path: '/requests' },
  open: { method: 'GET', path: '/requests/open' },
  ready: { method: 'GET', path: '/requests/ready' },
  closed: { method: 'GET', path: '/requests/closed' },
  active: { method: 'GET', path: '/requests/active' },
  read: { method: 'GET', path: '/requests/:token' },
  preview: { method: 'GET', path: '/requests/:token/preview' },
  respond: { method: 'PATCH', path: '/requests/:token/respond' },
  audit: { method: 'GET', path: '/requests/:token/audit' },
  close: { method: 'DELETE', path: '/requests/:token' },
} as const satisfies Record<string, Route>;

/** A request has these states in this order; each has a listing in `requestRoutes`. */
export const REQUEST_STATES = ['open', 'ready', 'closed'] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

/** Only our own service exchanges identity tokens (docs/wire.md, "Token exchange"). */
export const exchangeRoute: Route = { method: 'POST', path: '/token' };

/** Values of a token exchange (RFC 8693, 2.1, 2.2.1 and 3). */
export const EXCHANGE = {
  grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
  jwt: 'urn:ietf:params:oauth:token-type:jwt',
  idToken: 'urn:ietf:params:oauth:token-type:id_token',
  accessToken: 'urn:ietf:params:oauth:token-type:access_token',
} as const;

/** Only the commercial edition has accounts. */
export const accountsRoute: Route = { method: 'GET', path: '/accounts' };

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
}

/** Limits and defaults of the reference (docs/wire.md, "Limits"); instances may have others. */
export const limits = {
  days: { min: 1, max: 90, default: 7 },
  views: { min: 1, max: 100, default: 5 },
  /** Bytes of UTF-8. */
  textBytes: 1024 * 1024,
  qrCharacters: 1024,
  nameCharacters: 255,
  noteCharacters: 10_000,
  filesPerPush: 10,
  /** Bytes; the operator of a service can change it. */
  bytesPerFile: 100 * 1024 ** 2,
  page: { min: 1, max: 200, default: 1 },
  rowsPerPage: 50,
  passphraseTriesPerMinute: 5,
  notifiedAtOnce: 5,
} as const;

export const pushFlags = ['deletable_by_viewer', 'retrieval_step'] as const;

/** Boolean fields of a request. `response_file_attachments` allows files in the answer. */
export const requestFlags = [
  'retrieval_step',
  'include_requestor',
  'response_file_attachments',
] as const;

type Flags<Names extends readonly string[], Value> = Partial<Record<Names[number], Value>>;

export const kinds = ['text', 'file', 'url', 'qr'] as const;
export type Kind = (typeof kinds)[number];

/** Values of the query `?locale=` of a link (docs/wire.md, "Tokens and addresses"). */
export const locales =
  'ca cs cy da de en en-GB es eu fi fr ga hi hu id is it ja ko lv nl no pl pt-BR pt-PT ro ru sk sr sv th uk ur zh-CN'.split(
    ' ',
  );

/** Fields that ask the instance to e-mail the link (API 2.1). */
export interface Notification {
  /** E-mail addresses, separated by commas. */
  notify_emails_to: string;
  notify_emails_to_locale?: string;
}

/** Fields of a creation request (docs/wire.md, "Creation bodies"); a missing field gets the instance's default. */
export interface NewPush extends Partial<Notification>, Flags<typeof pushFlags, boolean> {
  payload?: string;
  kind?: Kind;
  /** A push has at most one of `expire_after_days`, `expire_after_duration` and `expires_in`. */
  expire_after_days?: number;
  /** Index of `durations`; only for the commercial edition and our own service. */
  expire_after_duration?: number;
  /** Seconds; only for our own service. */
  expires_in?: number;
  expire_after_views?: number;
  passphrase?: string;
  name?: string;
  note?: string;
  /** Our own service returns an encrypted payload only to readers who send a proof derived from this (`ProofCheck`). */
  key_proof?: string;
  /** The salt with which words are stretched to make `key_proof`. */
  key_salt?: string;
}

/** Fields of a request for a secret (docs/wire.md, "Requests"); the instance has defaults for missing fields. */
export interface NewRequest extends Partial<Notification>, Flags<typeof requestFlags, boolean> {
  /** The question. */
  request: string;
  close_after_duration?: number;
  /** Seconds. Our own service prefers it to `close_after_duration`. */
  close_after?: number;
  passphrase?: string;
  name?: string;
  note?: string;
  /** The age recipient (`age1…`) to which answers are encrypted. */
  public_key?: string;
}

/** A feature is `true`, or an object with `enabled: true`. */
export function hasFeature(features: unknown, name: string): boolean {
  const feature = (features as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return (
    feature === true || (feature as { enabled?: unknown } | null | undefined)?.enabled === true
  );
}

/** Returns `APPLICATION` for our own service, which sends `oss` as its edition for other clients (docs/wire.md). */
export function toldEdition({
  edition,
  features,
}: {
  readonly edition?: string | null | undefined;
  readonly features?: Readonly<Record<string, unknown>> | null | undefined;
}): string | undefined {
  return hasFeature(features?.pushes, 'expires_in') ? APPLICATION : (edition ?? undefined);
}

/** Compares the length first, as an array of the characters of a long text takes a hundred times its size. */
export function hasAtMost(text: string, characters: number): boolean {
  // A character is one or two UTF-16 code units.
  return text.length <= 2 * characters && [...text].length <= characters;
}

/** What an API token may do: everything that its owner may, or create, and reach only what it created. */
export const scopes = ['all', 'push'] as const;
export type Scope = (typeof scopes)[number];

/** The public data of an API token, or of all of a trust, as `serve token list --json` prints it. */
export interface TokenSummary {
  /** The first 8 hexadecimal digits of the token's SHA-256 hash; `trust:NAME` for all tokens of a trust. */
  readonly id: string;
  /** The name of its owner. */
  readonly name: string;
  readonly label: string;
  readonly scope: Scope;
  /** The name of the trust; null for a token that no trust gave. */
  readonly trust: string | null;
  /** How many valid tokens these are. The times are the latest of all. */
  readonly tokens: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC, to the minute; null if it has not been used. */
  readonly last_used_at: string | null;
  /** ISO 8601, UTC; null if it does not end. */
  readonly expires_at: string | null;
}

/** Who gets tokens for identity tokens, as `serve trust list --json` prints it. */
export interface TrustSummary {
  readonly name: string;
  readonly issuer: string;
  /** Null for the address of the service. */
  readonly audience: string | null;
  readonly claims: Readonly<Record<string, string>>;
  readonly user: string;
  readonly scope: Scope;
  /** In seconds, of its tokens. */
  readonly lifetime: number;
  readonly private_issuer: boolean;
  readonly created_at: string;
  /** How many are valid. */
  readonly tokens: number;
}

/** An open push or request, as `serve pushes --json` prints it. */
export interface OpenPush {
  /** A number for the operator, which opens nothing. */
  readonly id: number;
  readonly kind: Kind | 'request';
  /** The name of the owner; null if it was made without a token. */
  readonly owner: string | null;
  readonly name: string;
  readonly created_at: string;
  readonly expires_at: string;
  /** Null for a request. */
  readonly views_remaining: number | null;
}
