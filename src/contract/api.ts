/**
 * API v2: routes, limits and bodies of requests by the specification and `docs/wire.md`, for the client and the service.
 * Imports nothing, so that help and completion load it too; responses are in `decode.ts`.
 */

export const API_PATH = '/api/v2';

export const API_VERSION = '2.1';

/** The reference has no field `application`; that of our own service has this value. */
export const APPLICATION = 'pwpush';

/** Our own service refuses the retrieval of an encrypted push without its key with this `error`. */
export const LINK_INCOMPLETE = 'link_incomplete';

/** Our own service refuses the retrieval of a push to public keys without a private key with this `error`. */
export const IDENTITY_NEEDED = 'identity_needed';

/** Our service has its OpenAPI document there, relative to `API_PATH`. */
export const OPENAPI_PATH = '/openapi.json';

/** The endpoints. `path` is relative to `API_PATH`; `:token` is a push's `url_token`. */
export const routes = {
  version: { method: 'GET', path: '/version' },
  create: { method: 'POST', path: '/pushes' },
  active: { method: 'GET', path: '/pushes/active' },
  expired: { method: 'GET', path: '/pushes/expired' },
  retrieve: { method: 'GET', path: '/pushes/:token' },
  preview: { method: 'GET', path: '/pushes/:token/preview' },
  audit: { method: 'GET', path: '/pushes/:token/audit' },
  expire: { method: 'DELETE', path: '/pushes/:token' },
  notify: { method: 'POST', path: '/pushes/:token/notify_emails' },
} as const satisfies Record<string, Route>;

/** The endpoints of requests, which the commercial edition and our own service have (docs/wire.md, "Requests"). */
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

/** A request moves through these listings in this order. */
export const REQUEST_STATES = ['open', 'ready', 'closed'] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

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

/** The fields of a request that are on or off; the last says whether its answer may have files. */
export const requestFlags = [
  'retrieval_step',
  'include_requestor',
  'response_file_attachments',
] as const;

type Flags<Names extends readonly string[], Value> = Partial<Record<Names[number], Value>>;

export const kinds = ['text', 'file', 'url', 'qr'] as const;
export type Kind = (typeof kinds)[number];

/** The languages of the reference's pages, as `?locale=` of a link names them (docs/wire.md, "Tokens and addresses"). */
export const locales =
  'ca cs cy da de en en-GB es eu fi fr ga hi hu id is it ja ko lv nl no pl pt-BR pt-PT ro ru sk sr sv th uk ur zh-CN'.split(
    ' ',
  );

/** Asks the instance to e-mail the link (API 2.1). */
export interface Notification {
  /** Separated by commas. */
  notify_emails_to: string;
  notify_emails_to_locale?: string;
}

/** Fields of a creation request (docs/wire.md, "Creation bodies"); a missing field gets the instance's default. */
export interface NewPush extends Partial<Notification>, Flags<typeof pushFlags, boolean> {
  payload?: string;
  kind?: Kind;
  /** In days. A creation has at most one of these three fields. */
  expire_after_days?: number;
  /** The commercial edition and our own service take an index of `durations`. */
  expire_after_duration?: number;
  /** In seconds, for our own service. */
  expires_in?: number;
  expire_after_views?: number;
  passphrase?: string;
  name?: string;
  note?: string;
  /** Our own service checks that a reader can prove this, which needs the key of an encrypted payload. */
  key_proof?: string;
  /** The salt with which words are stretched to make `key_proof`. */
  key_salt?: string;
}

/** Fields of a request to someone for a secret (docs/wire.md, "Requests"); a missing field gets the instance's default. */
export interface NewRequest extends Partial<Notification>, Flags<typeof requestFlags, boolean> {
  /** The question. */
  request: string;
  close_after_duration?: number;
  /** In seconds. Our own service prefers it to the index. */
  close_after?: number;
  passphrase?: string;
  name?: string;
  note?: string;
  /** Answers are encrypted to this recipient, `age1…`. */
  public_key?: string;
}

/** A feature is an object, or a boolean. */
export function hasFeature(features: unknown, name: string): boolean {
  const feature = (features as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return (
    feature === true || (feature as { enabled?: unknown } | null | undefined)?.enabled === true
  );
}

/** Our own service is an edition of its own, though its `edition` is `oss` for other clients (docs/wire.md). */
export function toldEdition({
  edition,
  features,
}: {
  readonly edition?: string | null | undefined;
  readonly features?: Readonly<Record<string, unknown>> | null | undefined;
}): string | undefined {
  return hasFeature(features?.pushes, 'expires_in') ? APPLICATION : (edition ?? undefined);
}

/** Counting the characters of a long text would take a hundred times its size. */
export function hasAtMost(text: string, characters: number): boolean {
  // A character is one or two UTF-16 code units.
  return text.length <= 2 * characters && [...text].length <= characters;
}
