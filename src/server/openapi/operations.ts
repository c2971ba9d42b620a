import * as v from 'valibot';
import {
  APPLICATION,
  type AuditEntry,
  auditKinds,
  type InstanceVersion,
  limits,
  locales,
  type NewPush,
  type Notification,
  type Preview,
  type Push,
  type PushFile,
  type RouteName,
  requestAuditKinds,
  type requestRoutes,
} from '../../contract';

/** What the document says of a call and the contract does not. */
export interface Operation {
  readonly summary: string;
  readonly description?: string;
  /** Who may call it: anybody, anybody if the instance is anonymous, or owners of a token. */
  readonly caller: 'anybody' | 'permitted' | 'owner';
  readonly parameters?: readonly (keyof typeof parameters)[];
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
    description: 'The `url_token` of a push or request.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,128}$' },
  },
  passphrase: {
    name: 'passphrase',
    in: 'query',
    description: 'Needed where the push or request has one.',
    schema: { type: 'string' },
  },
  page: {
    name: 'page',
    in: 'query',
    description: `Of ${limits.rowsPerPage} rows; one past the end is empty.`,
    schema: { type: 'integer', minimum: min, maximum: max, default: fallback },
  },
  locale: {
    name: 'push_locale',
    in: 'query',
    description: 'The language of the page that the link opens.',
    schema: { type: 'string', enum: locales },
  },
} as const;

/** Responses of refused calls, by status. */
export const refusals = {
  400: { words: 'The request is invalid.', schema: 'Error' },
  401: { words: 'A token is needed, or is not valid.', schema: 'Error' },
  403: { words: 'The caller may not do this.', schema: 'Error' },
  404: { words: 'The token is unknown.', schema: 'Error' },
  409: { words: 'The request was answered.', schema: 'Error' },
  410: { words: 'The request is closed.', schema: 'Error' },
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
    parameters: ['locale'],
    responses: { 201: { words: 'The push was created.', schema: 'CreatedPush' } },
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

/** The calls of requests. */
export const requestOperations: Readonly<Record<keyof typeof requestRoutes, Operation>> = {
  create: {
    summary: 'Ask somebody for a secret',
    description:
      'Files of the question are sent as multipart/form-data. Not to be repeated lightly.',
    caller: 'owner',
    responses: { 201: { words: 'The request was created.', schema: 'NotedRequest' } },
    refusals: [400, 403, 413, 422],
  },
  open: requestListing('List your requests that nobody has answered'),
  ready: requestListing('List your requests with an answer'),
  closed: requestListing('List your closed requests'),
  active: requestListing('List your open and ready requests'),
  read: {
    summary: 'Read the question, and as its owner the answer',
    description: 'Reading the answer closes the request. Not to be repeated lightly.',
    caller: 'permitted',
    parameters: ['token', 'passphrase'],
    responses: {
      200: { words: 'The request; without its texts once closed.', schema: 'ReadRequest' },
    },
    refusals: [400, 404],
  },
  preview: {
    summary: 'The full link of a request, and its state',
    caller: 'permitted',
    parameters: ['token'],
    responses: { 200: { words: 'The link. Takes nothing.', schema: 'RequestPreview' } },
    refusals: [404],
  },
  respond: {
    summary: 'Answer a request',
    description:
      'The first answer wins. Files are sent as multipart/form-data, where the request accepts them. Not to be repeated lightly.',
    caller: 'permitted',
    parameters: ['token', 'passphrase'],
    responses: { 200: { words: 'The request, answered.', schema: 'Request' } },
    refusals: [400, 403, 404, 409, 410, 413, 422],
  },
  audit: {
    summary: 'Who read and answered your request, and when',
    caller: 'owner',
    parameters: ['token', 'page'],
    responses: { 200: { words: 'Events, oldest first.', schema: 'AuditLog' } },
    refusals: [400, 403, 404],
  },
  close: {
    summary: 'Close your request',
    description: 'Destroys an answer that was not read. A closed request stays as it is.',
    caller: 'owner',
    parameters: ['token'],
    responses: { 200: { words: 'The request, closed.', schema: 'NotedRequest' } },
    refusals: [403, 404],
  },
};

function requestListing(summary: string): Operation {
  return {
    summary,
    caller: 'owner',
    parameters: ['page'],
    responses: { 200: { words: 'Requests, newest first.', schema: 'NotedRequests' } },
    refusals: [400],
  };
}

// All fields of this service's responses. The schemas in the contract are the client's and accept less; `satisfies`
// holds these to the contract's types, so that our client can read them.

const described = <const S extends v.GenericSchema>(schema: S, words: string) =>
  v.pipe(schema, v.description(words));
const time = v.pipe(v.string(), v.isoTimestamp());
const address = v.pipe(v.string(), v.url());
const count = (min: number) => v.pipe(v.number(), v.integer(), v.minValue(min));

const pushFields = {
  url_token: described(
    v.pipe(v.string(), v.regex(/^[a-z0-9_-]{1,128}$/)),
    'What addresses the push.',
  ),
  html_url: described(address, 'What a person opens.'),
  json_url: described(address, 'The same as a retrieval.'),
  expire_after_days: count(limits.days.min),
  expire_after_views: count(limits.views.min),
  days_remaining: count(0),
  views_remaining: count(0),
  expires_at: described(time, 'When its time is over, whether it has expired before or not.'),
  expired: v.boolean(),
  expired_on: v.nullable(time),
  deletable_by_viewer: described(v.nullable(v.boolean()), 'null for a push of kind url.'),
  retrieval_step: v.boolean(),
  deleted: described(v.boolean(), 'Whether somebody expired it, rather than its limits.'),
  passphrase: described(
    v.nullable(v.literal('')),
    'null when there is one, which is never sent back, and once the push has expired.',
  ),
  created_at: time,
  updated_at: time,
};

const ownerFields = {
  name: v.string(),
  note: described(v.string(), 'Gone once the push has expired.'),
};

const file = v.object({
  filename: v.string(),
  content_type: v.string(),
  url: described(address, 'Answers the file, for five minutes; needs no token and takes no view.'),
}) satisfies v.GenericSchema<unknown, PushFile>;

const push = v.object(pushFields) satisfies v.GenericSchema<unknown, Push>;
const pushWithNote = v.object({ ...pushFields, ...ownerFields }) satisfies v.GenericSchema<
  unknown,
  Push
>;
const createdPush = v.object({
  ...pushWithNote.entries,
  management_token: described(
    v.optional(v.string()),
    'Of a push without an owner: a bearer token for its audit log, its expiry and looks that use no view.',
  ),
}) satisfies v.GenericSchema<unknown, Push>;
const retrievedPush = v.object({
  ...pushFields,
  payload: described(v.nullable(v.string()), 'null once the push has expired.'),
  files: v.array(file),
}) satisfies v.GenericSchema<unknown, Push>;

const requestFields = {
  url_token: pushFields.url_token,
  html_url: described(address, 'What a person opens to answer.'),
  json_url: described(address, 'The same as a reading.'),
  state: v.picklist(['open', 'ready', 'closed']),
  passphrase: described(
    v.nullable(v.literal('')),
    'null when there is one, which is never sent back, and once the request is closed.',
  ),
  retrieval_step: v.boolean(),
  include_requestor: v.boolean(),
  response_file_attachments: described(v.boolean(), 'Whether the answer may have files.'),
  public_key: described(
    v.nullable(v.string()),
    'The age recipient that the answer is to be encrypted to. Prefer the one in the link.',
  ),
  close_after_duration: described(v.nullable(count(0)), 'The index of close_after, if it has one.'),
  close_after: described(count(1), 'Seconds from the creation.'),
  close_after_at: time,
  days_remaining: count(0),
  created_at: time,
  updated_at: time,
};

const request = v.object(requestFields);
const requestWithNote = v.object({ ...requestFields, account_id: v.null(), ...ownerFields });
const readRequest = v.object({
  ...requestFields,
  requestor: v.optional(v.string()),
  request: described(v.nullable(v.string()), 'The question; null once the request is closed.'),
  request_files: described(v.array(file), 'Of the question.'),
  response: described(
    v.nullable(v.string()),
    'The answer; null for all but the owner, and unless the request was ready.',
  ),
  files: described(v.array(file), 'Of the answer, likewise.'),
});

const auditEntry = v.object({
  ip: v.nullable(v.string()),
  user_agent: described(v.string(), 'Empty when the request named none.'),
  referrer: described(v.string(), 'Empty when the request named none.'),
  kind: v.picklist([...auditKinds, ...requestAuditKinds]),
  count: described(
    v.optional(count(2)),
    'How many failures of one kind, from one place, this entry stands for; left out for one.',
  ),
  created_at: time,
  updated_at: described(time, 'Of the last of them.'),
}) satisfies v.GenericSchema<unknown, AuditEntry>;

const enabled = v.object({ enabled: v.boolean() });

const version = v.object({
  application_version: v.string(),
  api_version: v.string(),
  edition: v.string(),
  application: described(
    v.literal(APPLICATION),
    'Tells this service from others with the same API.',
  ),
  features: v.object({
    anonymous_access: v.boolean(),
    api_token_authentication: v.boolean(),
    accounts: enabled,
    pushes: v.object({
      enabled: v.boolean(),
      email_auto_dispatch: v.boolean(),
      file_attachments: v.object({ enabled: v.boolean(), requires_authentication: v.boolean() }),
      url_pushes: enabled,
      qr_code_pushes: enabled,
      expires_in: enabled,
    }),
    requests: enabled,
  }),
}) satisfies v.GenericSchema<unknown, InstanceVersion>;

const messages = v.optional(v.pipe(v.array(v.string()), v.minLength(1)));
/** The fields of a creation that this instance accepts: it sends no e-mail. */
type Field = Exclude<keyof NewPush, keyof Notification> | RequestField;
type RequestField =
  | 'request'
  | 'response'
  | 'close_after_duration'
  | 'close_after'
  | 'include_requestor'
  | 'response_file_attachments'
  | 'public_key';

const fieldErrors = v.object({
  payload: messages,
  kind: messages,
  expire_after_days: messages,
  expire_after_duration: messages,
  expires_in: messages,
  expire_after_views: messages,
  deletable_by_viewer: messages,
  retrieval_step: messages,
  passphrase: messages,
  name: messages,
  note: messages,
  files: messages,
  notify_emails_to: messages,
  request: messages,
  response: messages,
  close_after_duration: messages,
  close_after: messages,
  include_requestor: messages,
  response_file_attachments: messages,
  public_key: messages,
} satisfies Record<Field | 'files' | 'notify_emails_to', v.GenericSchema>);

/** The schemas of all responses with a body, by their name in the document. */
export const bodies = {
  Push: push,
  NotedPush: pushWithNote,
  CreatedPush: createdPush,
  NotedPushes: v.array(pushWithNote),
  RetrievedPush: retrievedPush,
  File: file,
  Request: request,
  NotedRequest: requestWithNote,
  NotedRequests: v.array(requestWithNote),
  ReadRequest: readRequest,
  RequestPreview: v.object({ url: address, state: requestFields.state }),
  Preview: v.object({ url: address }) satisfies v.GenericSchema<unknown, Preview>,
  AuditEntry: auditEntry,
  AuditLog: v.object({ logs: v.array(auditEntry) }),
  Version: version,
  Error: v.object({ error: v.string() }),
  PassphraseError: v.object({
    error: v.string(),
    message: v.string(),
    status: v.literal('unauthorized'),
  }),
  FieldErrors: described(fieldErrors, 'What is wrong, by field.'),
};

export type BodyName = keyof typeof bodies;
export type ResponseBody<N extends BodyName> = v.InferOutput<(typeof bodies)[N]>;
