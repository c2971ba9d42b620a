/** Responses of API v2 (docs/wire.md): their schemas, and types of these. */
import * as v from 'valibot';
import { webAddress } from './address';
import { limits, pushFlags, requestFlags } from './api';

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
/** The link for a browser: undefined if it is no web address. Missing in the response to a creation at some instances. */
const address = v.pipe(
  v.string(),
  v.transform((text) => webAddress(text)),
);
const link = v.fallback(v.nullish(address), undefined);
const flag = v.fallback(v.nullish(v.boolean()), undefined);
const token = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,128}$/));

/** Fields that the program itself adds to the objects that `--json` prints (docs/json.md): an instance cannot set them. */
const OURS = 'earlier_views encrypted error generated line pwpush saved_as warning'.split(' ');

/** An object of a response: unknown fields are kept, except for those of `OURS` that are not among `entries`. */
function object<const Entries extends v.ObjectEntries>(entries: Entries) {
  const ours = OURS.filter((name) => !Object.hasOwn(entries, name));
  return v.pipe(
    v.looseObject(entries),
    v.transform((fields) => {
      for (const name of ours) if (name in fields) Reflect.deleteProperty(fields, name);
      return fields;
    }),
  );
}

/** Each file of a response is requested up to three times, with pauses. */
const MOST_FILES = 10 * limits.filesPerPush;

const isNamed = ({ url_token }: { readonly url_token: string }) => url_token !== '';

const file = object({
  filename: v.string(),
  content_type: text,
  /** Absolute and signed; expires within minutes. */
  url: v.string(),
});
export interface PushFile extends v.InferOutput<typeof file> {}

const pushFields = {
  html_url: link,
  expire_after_days: integer,
  expire_after_views: integer,
  days_remaining: integer,
  views_remaining: integer,
  expired: flag,
  /** ISO 8601, UTC, as all times. */
  expired_on: text,
  /** Commercial edition and our own service. */
  expires_at: text,
  /** An index of `durations`: commercial edition. */
  expire_after_duration: integer,
  ...v.entriesFromList(pushFlags, flag),
  deleted: flag,
  created_at: text,
  updated_at: text,
  name: text,
  note: text,
  /** In the response to a retrieval only, as the files; null if expired. */
  payload: text,
  files: v.fallback(v.nullish(validElements(file)), undefined),
};

export const pushSchema = object({ ...pushFields, url_token: token });
/** A push in a response (docs/wire.md, "Push object"). Unknown fields are kept. */
export interface Push extends v.InferOutput<typeof pushSchema> {}

/** The response to a creation, which needs a link or a token; the token is empty if it is missing. */
export const createdSchema: v.GenericSchema<unknown, Push> = v.pipe(
  object({ ...pushFields, url_token: v.fallback(token, '') }),
  v.check((push) => isNamed(push) || push.html_url != null),
);

/** The response to a retrieval, whose payload must be valid. */
export const retrievedSchema: v.GenericSchema<unknown, Push> = v.pipe(
  object({
    ...pushFields,
    url_token: v.fallback(token, ''),
    payload: v.nullish(v.string()),
  }),
  v.check((push) => 'payload' in push || (push.files ?? []).length > 0 || push.expired === true),
  v.check(({ files }) => (files ?? []).length <= MOST_FILES),
);

/** The valid elements of an array; fails if all of several are invalid. */
function validElements<T>(element: v.GenericSchema<unknown, T>) {
  return v.pipe(
    v.array(v.fallback(v.nullable(element), null)),
    v.check((all) => all.length === 0 || all.some((valid) => valid !== null)),
    v.transform((all) => all.filter((valid): valid is NonNullable<typeof valid> => valid !== null)),
  );
}

/** `encrypted`, where the list says so: our service tells what opens a push, as `sealed_with`, and null for clear text. */
const listedPush = v.pipe(
  pushSchema,
  v.transform((push): Push => {
    const { sealed_with: opener } = push;
    return opener === undefined ? push : { ...push, encrypted: opener !== null };
  }),
);

export const pushListSchema: v.GenericSchema<unknown, Push[]> = validElements(listedPush);

/** A bare array, or one in an object: of accounts, only that they are there is known. */
export const accountsSchema: v.GenericSchema<unknown, unknown> = v.union([
  v.array(v.unknown()),
  object({ accounts: v.array(v.unknown()) }),
]);

const requestFields = {
  html_url: link,
  /** `open`, `ready` (answered) or `closed`. */
  state: text,
  /** The question. */
  request: text,
  ...v.entriesFromList(requestFlags, flag),
  public_key: text,
  close_after_duration: integer,
  /** Seconds. */
  close_after: integer,
  close_after_at: text,
  days_remaining: integer,
  created_at: text,
  updated_at: text,
  name: text,
  note: text,
  /** Of the answer; in the owner's retrieval only. */
  files: pushFields.files,
};

/** The response to a request's creation, which needs a link or a token. */
export const createdRequestSchema: v.GenericSchema<unknown, SecretRequest> = v.pipe(
  object({ ...requestFields, response: text, url_token: v.fallback(token, '') }),
  v.check((request) => isNamed(request) || request.html_url != null),
);

/**
 * A request, whose answer must be valid; that is in the owner's retrieval only. It says at least which request it is, or in
 * what state that is, or has an answer.
 */
export const requestSchema = v.pipe(
  object({
    ...requestFields,
    url_token: v.fallback(token, ''),
    response: v.nullish(v.string()),
  }),
  v.check((it) => isNamed(it) || ['state', 'request', 'response'].some((name) => name in it)),
  v.check(({ files }) => (files ?? []).length <= MOST_FILES),
);
/** A request in a response (docs/wire.md, "Requests"); its token is empty if it is missing. Unknown fields are kept. */
export interface SecretRequest extends v.InferOutput<typeof requestSchema> {}

/** The response to an answer, which says at least of which request, or in what state that is. */
export const answeredSchema: v.GenericSchema<unknown, SecretRequest> = v.pipe(
  requestSchema,
  v.check((request) => isNamed(request) || typeof request.state === 'string'),
);

export const requestListSchema: v.GenericSchema<unknown, SecretRequest[]> = validElements(
  object({ ...requestFields, response: text, url_token: token }),
);

/** Its `url` is the link for a browser; undefined if that is no web address. */
export const previewSchema = object({ url: address });
export interface Preview extends v.InferOutput<typeof previewSchema> {}

export const notifiedSchema = object({ message: text });

const auditEntry = object({
  kind: v.string(),
  ip: text,
  user_agent: text,
  referrer: text,
  created_at: text,
});
export interface AuditEntry extends v.InferOutput<typeof auditEntry> {}

export const auditSchema = object({ logs: validElements(auditEntry) });

export const versionSchema = object({
  application_version: text,
  api_version: text,
  edition: text,
  /** `APPLICATION` at our service. */
  application: text,
  /** `keyEcho` of the `Idempotency-Key` that it was asked with. */
  idempotency_key: text,
  features: v.nullish(v.record(v.string(), v.unknown())),
});
/** The version of an instance (docs/wire.md, "Editions and versions"). */
export interface InstanceVersion extends v.InferOutput<typeof versionSchema> {}
