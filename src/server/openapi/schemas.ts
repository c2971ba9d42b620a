import * as v from 'valibot';
import {
  APPLICATION,
  type AuditEntry,
  auditKinds,
  type InstanceVersion,
  kinds,
  limits,
  type NewPush,
  type Notification,
  type Preview,
  type Push,
  type PushFile,
} from '../../contract';
import { PASSPHRASE_CHARACTERS } from '../rules/new-push';
import type { Bounds } from '../service-settings';

// What this service says, field by field and no less: the contract's own schemas are the client's, who takes what it
// gets. Their types are the contract's, so that what stands here is what a client of ours can read.

const said = <const S extends v.GenericSchema>(schema: S, words: string) =>
  v.pipe(schema, v.description(words));
const time = v.pipe(v.string(), v.isoTimestamp());
const address = v.pipe(v.string(), v.url());
const count = (min: number) => v.pipe(v.number(), v.integer(), v.minValue(min));

const pushFields = {
  url_token: said(v.pipe(v.string(), v.regex(/^[a-z0-9_-]{1,128}$/)), 'What addresses the push.'),
  html_url: said(address, 'What a person opens.'),
  json_url: said(address, 'The same as a retrieval.'),
  expire_after_days: count(limits.days.min),
  expire_after_views: count(limits.views.min),
  days_remaining: count(0),
  views_remaining: count(0),
  expired: v.boolean(),
  expired_on: v.nullable(time),
  deletable_by_viewer: said(v.nullable(v.boolean()), 'null for a push of kind url.'),
  retrieval_step: v.boolean(),
  deleted: said(v.boolean(), 'Whether somebody expired it, rather than its limits.'),
  passphrase: said(
    v.nullable(v.literal('')),
    'null when there is one, which is never sent back, and once the push has expired.',
  ),
  created_at: time,
  updated_at: time,
};

const noted = {
  name: v.string(),
  note: said(v.string(), 'Gone once the push has expired.'),
};

const file = v.object({
  filename: v.string(),
  content_type: v.string(),
  url: said(address, 'Answers the file, for five minutes; needs no token and takes no view.'),
}) satisfies v.GenericSchema<unknown, PushFile>;

const push = v.object(pushFields) satisfies v.GenericSchema<unknown, Push>;
const notedPush = v.object({ ...pushFields, ...noted }) satisfies v.GenericSchema<unknown, Push>;
const retrievedPush = v.object({
  ...pushFields,
  payload: said(v.nullable(v.string()), 'null once the push has expired.'),
  files: v.array(file),
}) satisfies v.GenericSchema<unknown, Push>;

const auditEntry = v.object({
  ip: v.nullable(v.string()),
  user_agent: said(v.string(), 'Empty when the request named none.'),
  referrer: said(v.string(), 'Empty when the request named none.'),
  kind: v.picklist(auditKinds),
  count: said(
    v.optional(count(2)),
    'How many failures of one kind, from one place, this entry stands for; left out for one.',
  ),
  created_at: time,
  updated_at: said(time, 'Of the last of them.'),
}) satisfies v.GenericSchema<unknown, AuditEntry>;

const enabled = v.object({ enabled: v.boolean() });

const version = v.object({
  application_version: v.string(),
  api_version: v.string(),
  edition: v.string(),
  application: said(v.literal(APPLICATION), 'Tells this service from others with the same API.'),
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
    }),
    requests: enabled,
  }),
}) satisfies v.GenericSchema<unknown, InstanceVersion>;

const messages = v.optional(v.pipe(v.array(v.string()), v.minLength(1)));
/** The fields of a creation that this instance accepts: it sends no e-mail. */
type Field = Exclude<keyof NewPush, keyof Notification>;

const fieldErrors = v.object({
  payload: messages,
  kind: messages,
  expire_after_days: messages,
  expire_after_views: messages,
  deletable_by_viewer: messages,
  retrieval_step: messages,
  passphrase: messages,
  name: messages,
  note: messages,
  files: messages,
  notify_emails_to: messages,
} satisfies Record<Field | 'files' | 'notify_emails_to', v.GenericSchema>);

/** The schemas of all answers with a body, by the name they have in the document. */
export const answers = {
  Push: push,
  NotedPush: notedPush,
  NotedPushes: v.array(notedPush),
  RetrievedPush: retrievedPush,
  File: file,
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
  FieldErrors: said(fieldErrors, 'What is wrong, by field.'),
};

export type AnswerName = keyof typeof answers;
export type Answer<N extends AnswerName> = v.InferOutput<(typeof answers)[N]>;

/** The fields of a creation in JSON, within the bounds of this instance. */
export function creation({ days, views }: Bounds) {
  return v.object({
    payload: said(
      v.pipe(v.string(), v.minLength(1), v.maxLength(limits.textBytes)),
      `Not blank; up to ${limits.textBytes} bytes of UTF-8, for qr up to ${limits.qrCharacters} characters, for url one http or https address.`,
    ),
    kind: v.optional(v.picklist(kinds.filter((kind) => kind !== 'file')), 'text'),
    expire_after_days: within(days),
    expire_after_views: said(within(views), 'Retrievals, the owner’s own aside.'),
    deletable_by_viewer: v.optional(v.boolean(), true),
    retrieval_step: v.optional(v.boolean(), true),
    passphrase: said(
      v.optional(v.pipe(v.string(), v.maxLength(PASSPHRASE_CHARACTERS)), ''),
      'Not blank; empty for none.',
    ),
    name: v.optional(v.pipe(v.string(), v.maxLength(limits.nameCharacters)), ''),
    note: v.optional(v.pipe(v.string(), v.maxLength(limits.noteCharacters)), ''),
  } satisfies Record<Field, v.GenericSchema>);
}

function within({ min, max, default: fallback }: Bounds['days']) {
  const days = v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
  return v.optional(days, fallback);
}
