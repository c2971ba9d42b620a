import { limits, type RouteName } from '../../contract';
import type { BodyName } from './schemas';

/** What the document says of a call and the contract does not. */
export interface Operation {
  readonly summary: string;
  readonly description?: string;
  /** Who may call it: anybody, anybody if the instance is anonymous, or owners of a token. */
  readonly caller: 'anybody' | 'permitted' | 'owner';
  readonly parameters?: readonly (keyof typeof parameters)[];
  /** By status. */
  readonly responses: Readonly<
    Record<number, { readonly words: string; readonly schema: BodyName }>
  >;
  /** Besides `everyCall`. */
  readonly refusals: readonly Refused[];
}

export type Refused = keyof typeof refusals;

const { min, max, default: fallback } = limits.page;

export const parameters = {
  token: {
    name: 'token',
    in: 'path',
    required: true,
    description: 'The `url_token` of a push.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,128}$' },
  },
  passphrase: {
    name: 'passphrase',
    in: 'query',
    description: 'Needed where the push has one.',
    schema: { type: 'string' },
  },
  page: {
    name: 'page',
    in: 'query',
    description: `Of ${limits.rowsPerPage} rows; one past the end is empty.`,
    schema: { type: 'integer', minimum: min, maximum: max, default: fallback },
  },
} as const;

/** Responses of refused calls, by status. */
export const refusals = {
  400: { words: 'The request makes no sense.', schema: 'Error' },
  401: { words: 'A token is needed, or is not valid.', schema: 'Error' },
  403: { words: 'The caller may not do this.', schema: 'Error' },
  404: { words: 'There is no such push.', schema: 'Error' },
  413: { words: 'The body, or a file, is too large.', schema: 'Error' },
  422: { words: 'Values were refused.', schema: 'FieldErrors' },
  429: { words: 'The caller asks, or tries passphrases, too often.', schema: 'Error' },
  500: { words: 'The service failed.', schema: 'Error' },
  503: {
    words: 'The service is busy, its database away, or its disk short of space.',
    schema: 'Error',
  },
} as const satisfies Record<number, { words: string; schema: BodyName }>;

/** Of every call except version, which checks no token and uses no database. */
export const everyCall = [401, 429, 500, 503] as const satisfies readonly Refused[];

/** The calls of this instance: it sends no e-mail, and answers 404 to `notify` (docs/wire.md, "Endpoints"). */
export type CallName = Exclude<RouteName, 'notify'>;

export const operations: Readonly<Record<CallName, Operation>> = {
  version: {
    summary: 'What the instance is and can do',
    description: 'Answers whatever token is sent.',
    caller: 'anybody',
    responses: { 200: { words: 'Version and features.', schema: 'Version' } },
    refusals: [429],
  },
  create: {
    summary: 'Create a push',
    description:
      'Files are sent as multipart/form-data, with a token unless the version says that they need none. Not to be repeated lightly.',
    caller: 'permitted',
    responses: { 201: { words: 'The push was created.', schema: 'NotedPush' } },
    refusals: [400, 403, 413, 422],
  },
  active: {
    summary: 'List your active pushes',
    caller: 'owner',
    parameters: ['page'],
    responses: { 200: { words: 'Pushes, newest first.', schema: 'NotedPushes' } },
    refusals: [400],
  },
  expired: {
    summary: 'List your expired pushes',
    caller: 'owner',
    parameters: ['page'],
    responses: { 200: { words: 'Pushes, newest first.', schema: 'NotedPushes' } },
    refusals: [400],
  },
  retrieve: {
    summary: 'Retrieve the secret',
    description:
      'Takes a view, except from the owner. The last one ends the push. Not to be repeated lightly.',
    caller: 'permitted',
    parameters: ['token', 'passphrase'],
    responses: {
      200: { words: 'The push; without its secret once expired.', schema: 'RetrievedPush' },
    },
    refusals: [400, 404],
  },
  preview: {
    summary: 'The full link of a push',
    caller: 'permitted',
    parameters: ['token'],
    responses: { 200: { words: 'The link. Takes no view.', schema: 'Preview' } },
    refusals: [404],
  },
  audit: {
    summary: 'Who looked at your push, and when',
    caller: 'owner',
    parameters: ['token', 'page'],
    responses: { 200: { words: 'Events, oldest first.', schema: 'AuditLog' } },
    refusals: [400, 403, 404],
  },
  expire: {
    summary: 'Expire a push',
    description:
      'For its owner, and for anybody where viewers may. One that has expired stays as it is.',
    caller: 'permitted',
    parameters: ['token'],
    responses: { 200: { words: 'The push, expired.', schema: 'Push' } },
    refusals: [403, 404],
  },
};
