import { ServiceError } from '../service-errors';
import { type Database, type Dialect, plain } from './sql';

/** One entry per release. Never edit an entry after its release. */
const migrations: ((dialect: Dialect) => string[])[] = [
  ({ blob, identity, filler }) => [
    `CREATE TABLE facts (
       name TEXT PRIMARY KEY,
       value TEXT NOT NULL
     )`,
    `CREATE TABLE owners (
       id ${identity},
       name TEXT NOT NULL UNIQUE,
       created_at BIGINT NOT NULL
     )`,
    `CREATE TABLE tokens (
       id ${identity},
       owner_id BIGINT NOT NULL REFERENCES owners (id),
       selector TEXT NOT NULL,
       digest ${blob} NOT NULL,
       created_at BIGINT NOT NULL,
       last_used_at BIGINT
     )`,
    'CREATE INDEX tokens_by_selector ON tokens (selector)',
    `CREATE TABLE pushes (
       id ${identity},
       url_token TEXT NOT NULL UNIQUE,
       owner_id BIGINT REFERENCES owners (id),
       kind TEXT NOT NULL,
       name TEXT NOT NULL,
       expire_after_days BIGINT NOT NULL,
       expire_after_views BIGINT NOT NULL,
       views BIGINT NOT NULL,
       deletable_by_viewer BIGINT NOT NULL,
       retrieval_step BIGINT NOT NULL,
       protected BIGINT NOT NULL,
       deleted BIGINT NOT NULL,
       created_at BIGINT NOT NULL,
       updated_at BIGINT NOT NULL,
       expires_at BIGINT NOT NULL,
       expired_at BIGINT
     )`,
    // Covering indexes: a page of a listing reads nothing else, however many pushes of the other kind there are.
    `CREATE INDEX pushes_active ON pushes (owner_id, created_at, id, expires_at, expired_at)
       WHERE expired_at IS NULL AND owner_id IS NOT NULL`,
    `CREATE INDEX pushes_expired ON pushes (owner_id, created_at, id, expired_at)
       WHERE expired_at IS NOT NULL AND owner_id IS NOT NULL`,
    'CREATE INDEX pushes_by_end ON pushes (expires_at) WHERE expired_at IS NULL',
    // Everything that expiry destroys is in this row. Keys, plain or wrapped, come after the filler.
    `CREATE TABLE secrets (
       push_id BIGINT PRIMARY KEY REFERENCES pushes (id),${filler}
       data_key ${blob} NOT NULL,
       payload ${blob},
       note_key ${blob},
       note ${blob},
       salt ${blob},
       cost TEXT,
       verifier ${blob}
     )`,
    `CREATE TABLE audit (
       id ${identity},
       push_id BIGINT NOT NULL REFERENCES pushes (id),
       kind TEXT NOT NULL,
       ip TEXT,
       user_agent TEXT,
       referrer TEXT,
       created_at BIGINT NOT NULL
     )`,
    'CREATE INDEX audit_by_push ON audit (push_id, created_at, id)',
    `CREATE TABLE tries (
       id ${identity},
       push_id BIGINT NOT NULL REFERENCES pushes (id),
       tried_at BIGINT NOT NULL
     )`,
    'CREATE INDEX tries_by_push ON tries (push_id, tried_at)',
    'CREATE INDEX tries_by_time ON tries (tried_at)',
  ],
  ({ blob, identity }) => [
    // `push_id` is null during the upload; `ends_at` is set when it is abandoned or the last view is used.
    `CREATE TABLE uploads (
       id ${identity},
       push_id BIGINT UNIQUE REFERENCES pushes (id),
       touched_at BIGINT NOT NULL,
       ends_at BIGINT
     )`,
    'CREATE INDEX uploads_unfinished ON uploads (touched_at) WHERE push_id IS NULL',
    'CREATE INDEX uploads_by_end ON uploads (ends_at) WHERE ends_at IS NOT NULL',
    `CREATE TABLE files (
       upload_id BIGINT NOT NULL REFERENCES uploads (id),
       position BIGINT NOT NULL,
       header ${blob} NOT NULL,
       PRIMARY KEY (upload_id, position)
     )`,
    `CREATE TABLE chunks (
       id ${identity},
       upload_id BIGINT NOT NULL REFERENCES uploads (id),
       position BIGINT NOT NULL,
       number BIGINT NOT NULL,
       sealed ${blob} NOT NULL,
       UNIQUE (upload_id, position, number)
     )`,
  ],
  ({ identity }) => [
    // The instance keys that secrets may be sealed with; new secrets use the last one.
    `CREATE TABLE instance_keys (
       number ${identity},
       id TEXT NOT NULL UNIQUE
     )`,
    "INSERT INTO instance_keys (id) SELECT value FROM facts WHERE name = 'instance key id'",
    'DROP TABLE facts',
    // The reference keeps a key while a secret is sealed with it, and rejects secrets sealed with a removed key.
    'ALTER TABLE secrets ADD COLUMN key_id TEXT REFERENCES instance_keys (id)',
    'UPDATE secrets SET key_id = (SELECT id FROM instance_keys)',
    'CREATE INDEX secrets_by_key ON secrets (key_id, push_id)',
  ],
  ({ blob, identity }) => [
    // Keys for link tokens, sealed with an instance key.
    `CREATE TABLE link_keys (
       number ${identity},
       sealed ${blob} NOT NULL,
       key_id TEXT NOT NULL REFERENCES instance_keys (id)
     )`,
    // While `link_key` is null, `lookup` is the token in clear text; `sealClearTokens` hashes it.
    'ALTER TABLE pushes RENAME COLUMN url_token TO lookup',
    `ALTER TABLE pushes ADD COLUMN sealed_token ${blob}`,
    'ALTER TABLE pushes ADD COLUMN link_key BIGINT',
    'CREATE INDEX pushes_in_clear ON pushes (id) WHERE link_key IS NULL',
    'CREATE TABLE chores (name TEXT PRIMARY KEY)',
    "INSERT INTO chores (name) SELECT 'rewrite' WHERE EXISTS (SELECT 1 FROM pushes)",
    'CREATE INDEX pushes_ended ON pushes (expired_at) WHERE expired_at IS NOT NULL',
    // `count` events of the same kind and origin share an entry; `updated_at` is the time of the last.
    'ALTER TABLE audit ADD COLUMN count BIGINT NOT NULL DEFAULT 1',
    'ALTER TABLE audit ADD COLUMN updated_at BIGINT',
    `CREATE INDEX audit_failures ON audit (push_id, kind, ip)
       WHERE kind IN ('failed_view', 'failed_passphrase')`,
  ],
  () => [
    // A request is a push of kind `request`, whose one view is its answer, a push of kind `answer` without a link.
    'ALTER TABLE pushes ADD COLUMN answer_id BIGINT',
    'ALTER TABLE pushes ADD COLUMN public_key TEXT',
    'ALTER TABLE pushes ADD COLUMN include_requestor BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE pushes ADD COLUMN response_file_attachments BIGINT NOT NULL DEFAULT 0',
    'DROP INDEX pushes_active',
    `CREATE INDEX pushes_active ON pushes (owner_id, created_at, id, expires_at, expired_at, kind)
       WHERE expired_at IS NULL AND owner_id IS NOT NULL AND kind NOT IN ('request', 'answer')`,
    'DROP INDEX pushes_expired',
    `CREATE INDEX pushes_expired ON pushes (owner_id, created_at, id, expired_at, kind)
       WHERE expired_at IS NOT NULL AND owner_id IS NOT NULL AND kind NOT IN ('request', 'answer')`,
    `CREATE INDEX requests_active ON pushes (owner_id, created_at, id, expires_at, views, expired_at, kind)
       WHERE expired_at IS NULL AND owner_id IS NOT NULL AND kind = 'request'`,
    `CREATE INDEX requests_closed ON pushes (owner_id, created_at, id, expired_at, kind)
       WHERE expired_at IS NOT NULL AND owner_id IS NOT NULL AND kind = 'request'`,
    'DROP INDEX pushes_by_end',
    'CREATE INDEX pushes_by_end ON pushes (expires_at, id, kind) WHERE expired_at IS NULL',
    // Readings of a question too are counted in one entry.
    'DROP INDEX audit_failures',
    `CREATE INDEX audit_repeated ON audit (push_id, kind, ip)
       WHERE kind IN ('failed_view', 'failed_passphrase', 'request_view', 'failed_response')`,
  ],
];

/**
 * Migrates the database to the current schema.
 * @throws ServiceError when a later version has migrated it
 */
export async function migrate(database: Database): Promise<void> {
  await database.exclusively(async (sql) => {
    await sql`CREATE TABLE IF NOT EXISTS migrations (id BIGINT PRIMARY KEY)`;
    const rows = await sql<{ done: number }>`SELECT count(*) AS done FROM migrations`;
    const done = Number(rows[0]?.done);
    if (done > migrations.length) throw new ServiceError('the data was written by a later version');
    for (const [index, statements] of migrations.entries()) {
      if (index < done) continue;
      for (const text of statements(database.dialect)) await sql(plain(text));
      await sql`INSERT INTO migrations (id) VALUES (${index})`;
    }
  });
}
