/** Schemas of the responses of API v2 (docs/wire.md). */
import * as v from 'valibot';
import { webAddress } from './address';
import {
  type AuditEntry,
  type InstanceVersion,
  limits,
  type Notified,
  type Preview,
  type Push,
  pushFlags,
  requestFlags,
  type SecretRequest,
} from './api';

// Schemas of responses are lenient, so that an invalid field does not lose a link or a secret: unknown fields are kept,
// numbers may be strings, and an invalid optional field counts as missing.
const integer = v.fallback(
  v.nullish(
    v.pipe(
      v.union([v.number(), v.pipe(v.string(), v.regex(/^-?\d{1,15}$/), v.transform(Number))]),
      v.integer(),
    ),
  ),
  undefined,
);
const text = v.fallback(v.nullish(v.string()), undefined);
const flag = v.fallback(v.nullish(v.boolean()), undefined);
const token = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,128}$/));

/** Fields that the program itself adds to the objects that `--json` prints (docs/json.md): an instance cannot set them. */
const OURS: readonly string[] = [
  'earlier_views',
  'encrypted',
  'error',
  'generated',
  'line',
  'pwpush',
  'saved_as',
  'warning',
];

/** An object of a response: unknown fields are kept, except for those of `OURS` that are not among `entries`. */
function object<const Entries extends v.ObjectEntries>(entries: Entries) {
  const ours = OURS.filter((name) => !Object.hasOwn(entries, name));
  return v.pipe(
    v.looseObject(entries),
    v.transform((found) => {
      for (const name of ours) if (name in found) Reflect.deleteProperty(found, name);
      return found;
    }),
  );
}

const file = object({ filename: v.string(), content_type: text, url: v.string() });

/** The optional fields of a push. */
const pushFields = {
  html_url: text,
  expire_after_days: integer,
  expire_after_views: integer,
  days_remaining: integer,
  views_remaining: integer,
  expired: flag,
  expired_on: text,
  expires_at: text,
  expire_after_duration: integer,
  ...v.entriesFromList(pushFlags, flag),
  deleted: flag,
  created_at: text,
  updated_at: text,
  name: text,
  note: text,
  payload: text,
  files: v.fallback(v.nullish(validElements(file)), undefined),
};

export const pushSchema: v.GenericSchema<unknown, Push> = object({
  ...pushFields,
  url_token: token,
});

/** The response to a creation, which needs a link or a token; the token is empty if it is missing. */
export const createdSchema: v.GenericSchema<unknown, Push> = v.pipe(
  object({ ...pushFields, url_token: v.fallback(token, '') }),
  v.check((push) => push.url_token !== '' || webAddress(push.html_url) !== undefined),
);

/** The response to a retrieval, whose payload must be valid. */
export const retrievedSchema: v.GenericSchema<unknown, Push> = v.pipe(
  object({
    ...pushFields,
    url_token: v.fallback(token, ''),
    payload: v.nullish(v.string()),
  }),
  v.check((push) => 'payload' in push || (push.files ?? []).length > 0 || push.expired === true),
  // Each file is requested up to three times, with pauses.
  v.check((push) => (push.files ?? []).length <= 10 * limits.filesPerPush),
);

/** The valid elements of an array; fails if all of several are invalid. */
function validElements<T>(element: v.GenericSchema<unknown, T>) {
  return v.pipe(
    v.array(v.fallback(v.nullable(element), null)),
    v.check((all) => all.length === 0 || all.some((one) => one !== null)),
    v.transform((all) => all.filter((one): one is NonNullable<typeof one> => one !== null)),
  );
}

export const pushListSchema: v.GenericSchema<unknown, Push[]> = validElements(pushSchema);

/** Accounts, of which only that they are there is known: a bare array, or one in an object. */
export const accountsSchema: v.GenericSchema<unknown, unknown> = v.union([
  v.array(v.unknown()),
  object({ accounts: v.array(v.unknown()) }),
]);

/** The optional fields of a request. */
const requestFields = {
  html_url: text,
  state: text,
  request: text,
  ...v.entriesFromList(requestFlags, flag),
  public_key: text,
  close_after_duration: integer,
  close_after: integer,
  close_after_at: text,
  days_remaining: integer,
  created_at: text,
  updated_at: text,
  name: text,
  note: text,
  files: pushFields.files,
};

/** The response to a request's creation, which needs a link or a token. */
export const createdRequestSchema: v.GenericSchema<unknown, SecretRequest> = v.pipe(
  object({ ...requestFields, response: text, url_token: v.fallback(token, '') }),
  v.check((one) => one.url_token !== '' || webAddress(one.html_url) !== undefined),
);

/** A request, whose answer must be valid. */
export const requestSchema: v.GenericSchema<unknown, SecretRequest> = v.pipe(
  object({
    ...requestFields,
    url_token: v.fallback(token, ''),
    response: v.nullish(v.string()),
  }),
  v.check((one) => (one.files ?? []).length <= 10 * limits.filesPerPush),
);

/** The response to an answer, which says at least of which request, or in what state that is. */
export const answeredSchema: v.GenericSchema<unknown, SecretRequest> = v.pipe(
  requestSchema,
  v.check((one) => one.url_token !== '' || typeof one.state === 'string'),
);

export const requestListSchema: v.GenericSchema<unknown, SecretRequest[]> = validElements(
  object({ ...requestFields, response: text, url_token: token }),
);

export const previewSchema: v.GenericSchema<unknown, Preview> = object({
  url: v.string(),
});

export const notifiedSchema: v.GenericSchema<unknown, Notified> = object({
  message: text,
});

export const auditSchema: v.GenericSchema<unknown, { logs: AuditEntry[] }> = object({
  logs: validElements(
    object({
      kind: v.string(),
      ip: text,
      user_agent: text,
      referrer: text,
      created_at: text,
    }),
  ),
});

export const versionSchema: v.GenericSchema<unknown, InstanceVersion> = object({
  application_version: text,
  api_version: text,
  edition: text,
  application: text,
  features: v.nullish(v.record(v.string(), v.unknown())),
});
