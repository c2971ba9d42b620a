/** Schemas and types of the responses of API v2 (docs/wire.md). A run needs one or two, and each takes time to make. */
import * as v from 'valibot';
import { webAddress } from './address';
import { limits, pushFlags, requestFlags, scopes } from './api';
import { lazy } from './lazy';

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
const address = v.pipe(
  v.string(),
  v.transform((text) => webAddress(text)),
);
/** Some instances send no link with a creation. An invalid link counts as missing. */
const link = v.fallback(v.nullish(address), undefined);
const flag = v.fallback(v.nullish(v.boolean()), undefined);
const token = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,128}$/));

/** The CLI adds these fields to the output of `--json` (docs/json.md), so they are removed from responses. */
const OURS = 'earlier_views encrypted error generated line pwpush saved_as warning'.split(' ');

/** Keeps unknown fields of an object, except for those of `OURS` that are not among `entries`. */
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

/** Bounds the time of a download, as each file is requested up to three times. */
const MOST_FILES = 10 * limits.filesPerPush;

const isNamed = ({ url_token }: { readonly url_token: string }) => url_token !== '';

const file = object({
  filename: v.string(),
  content_type: text,
  /** Absolute address with a signature; it expires within minutes. */
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
  /** ISO 8601, UTC, like all times of the API. */
  expired_on: text,
  /** Sent by the commercial edition and our own service only. */
  expires_at: text,
  /** Sent by the commercial edition only. */
  expire_after_duration: integer,
  ...v.entriesFromList(pushFlags, flag),
  deleted: flag,
  created_at: text,
  updated_at: text,
  name: text,
  note: text,
  /** Only the response to a retrieval has `payload` and `files`. Null if the push has expired. */
  payload: text,
  files: v.fallback(v.nullish(validElements(file)), undefined),
};

export const pushSchema = lazy(() => object({ ...pushFields, url_token: token }));
export interface Push extends v.InferOutput<ReturnType<typeof pushSchema>> {}

/** The response to a creation must have a link or a token; a missing token becomes ''. */
export const createdSchema = lazy(
  (): v.GenericSchema<unknown, Push> =>
    v.pipe(
      object({ ...pushFields, url_token: v.fallback(token, '') }),
      v.check((push) => isNamed(push) || push.html_url != null),
    ),
);

/** The payload of a retrieval must be valid, as it would otherwise be dropped without an error. */
export const retrievedSchema = lazy(
  (): v.GenericSchema<unknown, Push> =>
    v.pipe(
      object({
        ...pushFields,
        url_token: v.fallback(token, ''),
        payload: v.nullish(v.string()),
      }),
      v.check(
        (push) => 'payload' in push || (push.files ?? []).length > 0 || push.expired === true,
      ),
      v.check(({ files }) => (files ?? []).length <= MOST_FILES),
    ),
);

/** Leaves out invalid elements, but fails if there are elements and none is valid. */
function validElements<T>(element: v.GenericSchema<unknown, T>) {
  return v.pipe(
    v.array(v.fallback(v.nullable(element), null)),
    v.check((all) => all.length === 0 || all.some((valid) => valid !== null)),
    v.transform((all) => all.filter((valid): valid is NonNullable<typeof valid> => valid !== null)),
  );
}

/** Derives `encrypted` from `sealed_with`, which our own service sends in lists; it is null for clear text. */
const listedPush = () =>
  v.pipe(
    pushSchema(),
    v.transform((push): Push => {
      const { sealed_with: opener } = push;
      return opener === undefined ? push : { ...push, encrypted: opener !== null };
    }),
  );

export const pushListSchema = lazy(
  (): v.GenericSchema<unknown, Push[]> => validElements(listedPush()),
);

/** Accepts an array, or an object with one. The client only asks whether the instance has accounts. */
export const accountsSchema = lazy(
  (): v.GenericSchema<unknown, unknown> =>
    v.union([v.array(v.unknown()), object({ accounts: v.array(v.unknown()) })]),
);

const requestFields = {
  html_url: link,
  state: text,
  /** The question. */
  request: text,
  ...v.entriesFromList(requestFlags, flag),
  public_key: text,
  close_after_duration: integer,
  /** In seconds. */
  close_after: integer,
  close_after_at: text,
  days_remaining: integer,
  created_at: text,
  updated_at: text,
  name: text,
  note: text,
  /** Only sent when the owner retrieves the request. */
  files: pushFields.files,
};

export const createdRequestSchema = lazy(
  (): v.GenericSchema<unknown, SecretRequest> =>
    v.pipe(
      object({ ...requestFields, response: text, url_token: v.fallback(token, '') }),
      v.check((request) => isNamed(request) || request.html_url != null),
    ),
);

/** A request must have a token, a state, a question or a valid `response`, which only its owner's retrieval has. */
export const requestSchema = lazy(() =>
  v.pipe(
    object({
      ...requestFields,
      url_token: v.fallback(token, ''),
      response: v.nullish(v.string()),
    }),
    v.check((it) => isNamed(it) || ['state', 'request', 'response'].some((name) => name in it)),
    v.check(({ files }) => (files ?? []).length <= MOST_FILES),
  ),
);
/** A missing token becomes ''. */
export interface SecretRequest extends v.InferOutput<ReturnType<typeof requestSchema>> {}

/** The HTTP response to an answer must have the token or the state of the request. */
export const answeredSchema = lazy(
  (): v.GenericSchema<unknown, SecretRequest> =>
    v.pipe(
      requestSchema(),
      v.check((request) => isNamed(request) || typeof request.state === 'string'),
    ),
);

export const requestListSchema = lazy(
  (): v.GenericSchema<unknown, SecretRequest[]> =>
    validElements(object({ ...requestFields, response: text, url_token: token })),
);

/** An invalid `url` counts as missing. From our own service, a token of scope `push` gets the fields of what it created. */
export const previewSchema = lazy(() => object({ ...pushFields, state: text, url: address }));
export interface Preview extends v.InferOutput<ReturnType<typeof previewSchema>> {}

const auditEntry = object({
  kind: v.string(),
  ip: text,
  user_agent: text,
  referrer: text,
  /** The trust of our own service that gave the token, and the subject that it was given for. */
  trust: text,
  sub: text,
  created_at: text,
});
export interface AuditEntry extends v.InferOutput<typeof auditEntry> {}

export const auditSchema = lazy(() => object({ logs: validElements(auditEntry) }));

/** The response to a token exchange (RFC 8693, 2.2.1). A shorter token, masked in a log, would hide common words. */
export const exchangedSchema = lazy(() =>
  v.object({
    access_token: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{16,4096}$/)),
    token_type: v.pipe(v.string(), v.regex(/^bearer$/i)),
    expires_in: v.pipe(v.number(), v.gtValue(0)),
  }),
);

const heldToken = lazy(() =>
  v.object({
    scope: v.picklist(scopes),
    expires_at: v.nullable(v.pipe(v.string(), v.isoTimestamp())),
  }),
);
export type HeldToken = v.InferOutput<ReturnType<typeof heldToken>>;

export const versionSchema = lazy(() =>
  object({
    application_version: text,
    api_version: text,
    edition: text,
    /** `APPLICATION` for our own service; others do not send it. */
    application: text,
    /** Our own service returns `keyEcho` of the `Idempotency-Key` header. */
    idempotency_key: text,
    features: v.nullish(v.record(v.string(), v.unknown())),
    /** Our own service returns what a valid token may do. An invalid field counts as no token. */
    token: v.fallback(v.optional(heldToken()), undefined),
  }),
);
export interface InstanceVersion extends v.InferOutput<ReturnType<typeof versionSchema>> {}
