-- The instance key that secrets may be sealed with.
CREATE TABLE instance_keys (
  number {identity},
  id TEXT NOT NULL UNIQUE
);

-- Keys for link tokens, sealed with an instance key.
CREATE TABLE link_keys (
  number {identity},
  sealed {blob} NOT NULL,
  key_id TEXT NOT NULL REFERENCES instance_keys (id)
);

CREATE TABLE owners (
  id {identity},
  name TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL
);

-- An issuer of identity tokens, and what one must claim to get a token of `owner_id`; `claims` is JSON, `lifetime` in seconds.
-- `maker` is in the tokens that it gives, and in the pushes of these.
CREATE TABLE trusts (
  id {identity},
  name TEXT NOT NULL UNIQUE,
  issuer TEXT NOT NULL,
  audience TEXT,
  claims TEXT NOT NULL,
  owner_id BIGINT NOT NULL REFERENCES owners (id),
  scope TEXT NOT NULL,
  lifetime BIGINT NOT NULL,
  private_issuer BIGINT NOT NULL,
  maker TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL
);

-- `replaces` is the selector of the token whose place this one takes with its first use, and has its `maker`; that one has
-- an earlier `ends_at` than the end that it was given. One of a trust has the subject of the identity token.
CREATE TABLE tokens (
  selector TEXT PRIMARY KEY,
  owner_id BIGINT NOT NULL REFERENCES owners (id),
  label TEXT NOT NULL,
  scope TEXT NOT NULL,
  maker TEXT NOT NULL,
  digest {blob} NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT,
  ends_at BIGINT,
  given_end BIGINT,
  replaces TEXT,
  trust_id BIGINT REFERENCES trusts (id),
  subject TEXT
);

CREATE INDEX tokens_by_end ON tokens (ends_at);

CREATE INDEX tokens_by_trust ON tokens (trust_id) WHERE trust_id IS NOT NULL;

-- A request is a push of kind `request`, whose one view is its answer, a push of kind `answer` without a link. `maker` is that
-- of the token that made it, if one did.
CREATE TABLE pushes (
  id {identity},
  lookup TEXT NOT NULL UNIQUE,
  sealed_token {blob} NOT NULL,
  link_key BIGINT NOT NULL,
  owner_id BIGINT REFERENCES owners (id),
  maker TEXT,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  expire_after_days BIGINT NOT NULL,
  expire_after_views BIGINT NOT NULL,
  views BIGINT NOT NULL,
  deletable_by_viewer BIGINT NOT NULL,
  retrieval_step BIGINT NOT NULL,
  protected BIGINT NOT NULL,
  sealed_with TEXT,
  key_proof TEXT,
  key_salt TEXT,
  deleted BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  expired_at BIGINT,
  answer_id BIGINT,
  public_key TEXT,
  include_requestor BIGINT NOT NULL DEFAULT 0,
  response_file_attachments BIGINT NOT NULL DEFAULT 0
);

-- Covering indexes: a page of a listing reads nothing else, however many pushes of the other kind there are. None has
-- `views`: PostgreSQL changes a row without its indexes only if they have none of the changed columns.
CREATE INDEX pushes_active ON pushes (owner_id, created_at, id, expires_at, expired_at, kind)
  WHERE expired_at IS NULL AND owner_id IS NOT NULL AND kind NOT IN ('request', 'answer');

CREATE INDEX pushes_expired ON pushes (owner_id, created_at, id, expired_at, kind)
  WHERE expired_at IS NOT NULL AND owner_id IS NOT NULL AND kind NOT IN ('request', 'answer');

CREATE INDEX requests_active ON pushes (owner_id, created_at, id, expires_at, answer_id, expired_at, kind)
  WHERE expired_at IS NULL AND owner_id IS NOT NULL AND kind = 'request';

CREATE INDEX requests_closed ON pushes (owner_id, created_at, id, expired_at, kind)
  WHERE expired_at IS NOT NULL AND owner_id IS NOT NULL AND kind = 'request';

CREATE INDEX pushes_by_end ON pushes (expires_at, id, kind) WHERE expired_at IS NULL;

CREATE INDEX pushes_ended ON pushes (expired_at) WHERE expired_at IS NOT NULL;

-- Everything that expiry destroys is in this row. Keys, plain or wrapped, come after the filler. The reference rejects
-- secrets that a service seals with an instance key that was changed.
CREATE TABLE secrets (
  push_id BIGINT PRIMARY KEY REFERENCES pushes (id),{filler}
  data_key {blob} NOT NULL,
  payload {blob},
  note_key {blob},
  note {blob},
  salt {blob},
  cost TEXT,
  verifier {blob},
  key_id TEXT REFERENCES instance_keys (id)
);

CREATE INDEX secrets_by_key ON secrets (key_id, push_id);

-- `trust` and `subject` are those of the token of a trust. `count` events of the same kind and origin share an entry; `updated_at` is the time of the last. What a view has besides is
-- for its reader, who may send the request again `until` then: `sealed` has the data keys of what it opened, which the
-- `Idempotency-Key` of its reader alone opens.
CREATE TABLE audit (
  id {identity},
  push_id BIGINT NOT NULL REFERENCES pushes (id),
  kind TEXT NOT NULL,
  ip TEXT,
  user_agent TEXT,
  referrer TEXT,
  trust TEXT,
  subject TEXT,
  created_at BIGINT NOT NULL,
  count BIGINT NOT NULL DEFAULT 1,
  updated_at BIGINT,
  until BIGINT,
  views BIGINT,
  key_hash BIGINT,
  sealed {blob}
);

CREATE INDEX audit_by_push ON audit (push_id, created_at, id);

-- Has a few rows at any time: each request with a key looks here, however long the log of its push is.
CREATE INDEX audit_kept ON audit (push_id, key_hash) WHERE until IS NOT NULL;

CREATE INDEX audit_kept_by_end ON audit (until) WHERE until IS NOT NULL;

CREATE INDEX audit_repeated ON audit (push_id, kind, ip)
  WHERE kind IN ('failed_view', 'failed_passphrase', 'request_view', 'owner_view', 'failed_response');

-- Those of its owner, those of others and wrong proofs of the key are limited by themselves: none keeps the others out.
CREATE TABLE tries (
  id {identity},
  push_id BIGINT NOT NULL REFERENCES pushes (id),
  tried_at BIGINT NOT NULL,
  whose TEXT NOT NULL
);

CREATE INDEX tries_by_push ON tries (push_id, tried_at);

CREATE INDEX tries_by_time ON tries (tried_at);

-- Pushes, requests and answers that have been made, for those who repeat that.
CREATE TABLE kept (
  key_hash TEXT PRIMARY KEY,
  push_id BIGINT NOT NULL,
  digest {blob} NOT NULL,
  kept_at BIGINT NOT NULL,
  until BIGINT NOT NULL
);

CREATE INDEX kept_by_end ON kept (until);

-- The sealed texts of pushes whose secrets are gone, while views of them are kept. Their data keys are nowhere else.
CREATE TABLE spent (
  kept_id BIGINT NOT NULL,
  push_id BIGINT NOT NULL,
  payload {blob} NOT NULL,
  PRIMARY KEY (kept_id, push_id)
);

-- `push_id` is null during the upload; `ends_at` is set when it is abandoned or the last view is used.
CREATE TABLE uploads (
  id {identity},
  push_id BIGINT UNIQUE REFERENCES pushes (id),
  touched_at BIGINT NOT NULL,
  ends_at BIGINT
);

CREATE INDEX uploads_unfinished ON uploads (touched_at) WHERE push_id IS NULL;

CREATE INDEX uploads_by_end ON uploads (ends_at) WHERE ends_at IS NOT NULL;

CREATE TABLE files (
  upload_id BIGINT NOT NULL REFERENCES uploads (id),
  position BIGINT NOT NULL,
  header {blob} NOT NULL,
  PRIMARY KEY (upload_id, position)
);

CREATE TABLE chunks (
  id {identity},
  upload_id BIGINT NOT NULL REFERENCES uploads (id),
  position BIGINT NOT NULL,
  number BIGINT NOT NULL,
  sealed {blob} NOT NULL,
  UNIQUE (upload_id, position, number)
);
