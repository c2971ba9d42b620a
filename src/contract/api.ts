/**
 * API v2: routes, limits and bodies of requests by the specification and `docs/wire.md`, for the client and the service.
 * Imports nothing, so that help and completion load it too; responses are in `decode.ts`.
 */

/** Below the base address of an instance. */
export const API_PATH = '/api/v2';

export const API_VERSION = '2.1';

/** The `application` in the version of our own service; the reference has no such field. */
export const APPLICATION = 'pwpush';

/** The `error` of a retrieval without the key of an encrypted push: our own service. */
export const LINK_INCOMPLETE = 'link_incomplete';

/** The `error` of a retrieval without a private key, of a push to public keys: our own service. */
export const IDENTITY_NEEDED = 'identity_needed';

/** Our service has its document there, relative to `API_PATH`. */
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

/** The listings of an owner's requests, in the order in which a request moves through them. */
export const REQUEST_STATES = ['open', 'ready', 'closed'] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

/** The commercial edition alone has it. */
export const accountsRoute: Route = { method: 'GET', path: '/accounts' };

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
}

/** Limits and defaults of the reference (docs/wire.md, "Limits"); instances may have others. */
export const limits = {
  days: { min: 1, max: 90, default: 7 },
  views: { min: 1, max: 100, default: 5 },
  /** Bytes of UTF-8 in a text payload. */
  textBytes: 1024 * 1024,
  qrCharacters: 1024,
  nameCharacters: 255,
  noteCharacters: 10_000,
  filesPerPush: 10,
  /** Bytes of a file, unless the operator of a service says otherwise. */
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
  /** Addresses, separated by commas. */
  notify_emails_to: string;
  notify_emails_to_locale?: string;
}

/** Fields of a creation request (docs/wire.md, "Creation bodies"); a missing field gets the instance's default. */
export interface NewPush extends Partial<Notification>, Flags<typeof pushFlags, boolean> {
  payload?: string;
  kind?: Kind;
  /** Days; at most one of the three is given. */
  expire_after_days?: number;
  /** An index of `durations`: commercial edition and our own service. */
  expire_after_duration?: number;
  /** Seconds: our own service. */
  expires_in?: number;
  expire_after_views?: number;
  passphrase?: string;
  name?: string;
  note?: string;
  /** What a retrieval has to show, by which the reader has the key of an encrypted payload: our own service. */
  key_proof?: string;
  /** What the key, if it is words, is stretched with to make that. */
  key_salt?: string;
}

/** Fields of a request to someone for a secret (docs/wire.md, "Requests"); a missing field gets the instance's default. */
export interface NewRequest extends Partial<Notification>, Flags<typeof requestFlags, boolean> {
  /** The question. */
  request: string;
  /** An index of `durations` (lifetime.ts). */
  close_after_duration?: number;
  /** Seconds: at our service, which prefers it to the index. */
  close_after?: number;
  passphrase?: string;
  name?: string;
  note?: string;
  /** `age1…`: what answers are encrypted to. */
  public_key?: string;
}

/** Whether `features` of a version, or a part of it, has that feature on: it is an object or a boolean. */
export function hasFeature(features: unknown, name: string): boolean {
  const feature = (features as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return (
    feature === true || (feature as { enabled?: unknown } | null | undefined)?.enabled === true
  );
}

/** The edition that an instance tells; that of our service is its own, whose `edition` is `oss` (docs/wire.md). */
export function toldEdition({
  edition,
  features,
}: {
  readonly edition?: string | null | undefined;
  readonly features?: Readonly<Record<string, unknown>> | null | undefined;
}): string | undefined {
  return hasFeature(features?.pushes, 'expires_in') ? APPLICATION : (edition ?? undefined);
}
