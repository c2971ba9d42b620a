import type { Account, AuditEntry, Push, SecretRequest } from '../../contract/api';
import type { Look, Style } from './output';
import { type Column, type Pair, pairs } from './table';
import { ago, ahead, leftOnLastDay } from './wording';

const isProtected = ({ passphrase }: { readonly [field: string]: unknown }) =>
  passphrase === null || (typeof passphrase === 'string' && passphrase !== '');

const flagsOf = (push: Push, words: readonly [string, string, string]) =>
  [isProtected(push), push.retrieval_step, push.deletable_by_viewer]
    .flatMap((set, at) => (set ? [words[at]] : []))
    .join(',');

const FLAGS = ['passphrase', 'step', 'deletable'] as const;
/** On 80 columns the full words would leave little room for a name. */
const SHORT_FLAGS = ['pass', 'step', 'del'] as const;
const WIDE = 100;

const of = (left: number | null | undefined, all: number | null | undefined) =>
  `${left ?? '?'}/${all ?? '?'}`;
/** The last view, or the last day. */
const ending = (left: number | null | undefined): Style | undefined =>
  typeof left === 'number' && left <= 1 ? 'yellow' : undefined;
const number = (value: number | null | undefined) =>
  typeof value === 'number' ? String(value) : '';

const timeColumn = <Row>(
  title: string,
  timeOf: (row: Row) => string | null | undefined,
): Column<Row> => ({
  title,
  shown: (row, look) => ago(timeOf(row), look.now),
  exact: (row) => timeOf(row) ?? '',
});

const common: readonly Column<Push>[] = [
  { title: 'ID', shown: (push) => push.url_token },
  { title: 'NAME', shown: (push) => push.name ?? '', elastic: true },
  timeColumn('CREATED', ({ created_at }) => created_at),
];

/** Columns of `list active`; in a pipe: token, name, created, views left, views, days left, days, flags, expiry. */
export const activeColumns: readonly Column<Push>[] = [
  ...common,
  {
    title: 'VIEWS LEFT',
    right: true,
    style: (push) => ending(push.views_remaining),
    shown: (push) => of(push.views_remaining, push.expire_after_views),
    exact: (push) => [number(push.views_remaining), number(push.expire_after_views)],
  },
  {
    title: 'DAYS LEFT',
    right: true,
    style: (push) => ending(push.days_remaining),
    shown: (push, { now }) =>
      leftOnLastDay(push, now)
        ? ahead(push.expires_at ?? '', now)
        : of(push.days_remaining, push.expire_after_days),
    exact: (push) => [number(push.days_remaining), number(push.expire_after_days)],
  },
  {
    title: 'FLAGS',
    shown: (push, look) => flagsOf(push, look.columns < WIDE ? SHORT_FLAGS : FLAGS),
    // After all others, whose numbers scripts know.
    exact: (push) => [flagsOf(push, FLAGS), ...(push.expires_at ? [push.expires_at] : [])],
    elastic: true,
  },
];

/** Columns of `list expired`; in a pipe: token, name, created, expired, how. */
export const expiredColumns: readonly Column<Push>[] = [
  ...common,
  timeColumn('EXPIRED', ({ expired_on }) => expired_on),
  { title: 'HOW', shown: (push) => (push.deleted ? 'deleted' : 'limit') },
];

/** Columns of `list --local`; in a pipe: link, name, created, expiry, views. */
export const receiptColumns: readonly Column<Push>[] = [
  { title: 'LINK', shown: (push) => push.html_url ?? '' },
  ...common.slice(1),
  {
    title: 'EXPIRES',
    shown: ({ expires_at }, look) => ahead(expires_at ?? '', look.now),
    exact: ({ expires_at }) => expires_at ?? '',
  },
  { title: 'VIEWS', right: true, shown: (push) => number(push.expire_after_views) },
];

/** Columns of `accounts`; in a pipe: id, name. */
export const accountColumns: readonly Column<Account>[] = [
  { title: 'ID', right: true, shown: ({ id }) => String(id) },
  { title: 'NAME', shown: ({ name }) => name ?? '', elastic: true },
];

/** Columns of `requests`; in a pipe: token, name, state, created, closes. */
export const requestColumns: readonly Column<SecretRequest>[] = [
  { title: 'ID', shown: ({ url_token }) => url_token },
  { title: 'NAME', shown: ({ name }) => name ?? '', elastic: true },
  {
    title: 'STATE',
    shown: ({ state }) => state ?? '',
    style: ({ state }) => (state === 'ready' ? 'green' : undefined),
  },
  timeColumn('CREATED', ({ created_at }) => created_at),
  {
    title: 'DAYS LEFT',
    right: true,
    shown: ({ days_remaining }) => number(days_remaining),
    exact: ({ close_after_at }) => close_after_at ?? '',
  },
];

const timeText = (time: string, { tty, now }: Look) => (tty ? ago(time, now) : time);

/** One property of a request a line, two columns on a terminal, `name<TAB>value` in a pipe. */
export function requestText(request: SecretRequest, look: Look): string {
  const { state, name, note, response_file_attachments: files, public_key: key } = request;
  const fields: Pair[] = [
    ['link', request.html_url ?? ''],
    name ? ['name', name] : false,
    note ? ['note', note] : false,
    request.request ? ['question', request.request] : false,
    ['state', state === 'ready' ? 'answered' : (state ?? 'unknown')],
    request.created_at ? ['created', timeText(request.created_at, look)] : false,
    request.close_after_at ? ['closes', request.close_after_at] : false,
    // That of a closed request is null, whether it had one or not.
    state === 'closed' ? false : ['passphrase', yesNo(isProtected(request))],
    ['answer may have files', files == null ? 'unknown' : yesNo(files)],
    ['answer is encrypted', yesNo(Boolean(key))],
  ];
  return pairs(fields, look);
}

const kindStyles: Readonly<Record<string, Style>> = {
  view: 'green',
  failed_view: 'red',
  failed_passphrase: 'red',
  expire: 'yellow',
};

/** Columns of `audit`; in a pipe: time, kind, address, user agent, referrer. */
export const auditColumns: readonly Column<AuditEntry>[] = [
  timeColumn('WHEN', ({ created_at }) => created_at),
  {
    title: 'WHAT',
    shown: ({ kind, count = 1 }) => (Number(count) > 1 ? `${kind} ×${count}` : kind),
    exact: ({ kind }) => kind,
    style: ({ kind }) => kindStyles[kind],
  },
  { title: 'ADDRESS', shown: (entry) => entry.ip ?? '' },
  { title: 'USER AGENT', shown: (entry) => entry.user_agent ?? '', elastic: true },
  { title: 'REFERRER', shown: (entry) => entry.referrer ?? '', elastic: true },
];

/** A user of the service, as `serve token list` shows one. */
export interface ShownOwner {
  readonly name: string;
  readonly tokens: number;
  /** ISO 8601. */
  readonly created_at: string;
  readonly last_used_at: string | null;
}

/** Columns of `serve token list`; in a pipe: name, tokens, created, last used. */
export const ownerColumns: readonly Column<ShownOwner>[] = [
  { title: 'NAME', shown: ({ name }) => name, elastic: true },
  { title: 'TOKENS', right: true, shown: ({ tokens }) => String(tokens) },
  timeColumn('CREATED', ({ created_at }) => created_at),
  {
    title: 'LAST USED',
    shown: (owner, look) =>
      owner.last_used_at === null ? 'never' : ago(owner.last_used_at, look.now),
    exact: ({ last_used_at }) => last_used_at ?? '',
  },
];

export const yesNo = (value: boolean) => (value ? 'yes' : 'no');

/** A push as far as it is known: without its owner's token, less than its lists have. */
export type PushState = Pick<Push, 'url_token'> &
  Partial<{ readonly [Key in keyof Push]: Push[Key] | null }>;

/** One property of a push a line, two columns on a terminal, `name<TAB>value` in a pipe. */
export function pushStateText(push: PushState, look: Look): string {
  const known = (value: boolean | null | undefined) => (value == null ? 'unknown' : yesNo(value));
  const rest = (left?: number | null, all?: number | null) =>
    left == null ? 'unknown' : `${left} of ${all ?? '?'}`;
  const state = push.deleted ? 'deleted' : push.expired ? 'expired' : 'active';
  const fields: Pair[] = [
    ['link', push.html_url ?? ''],
    push.name ? ['name', push.name] : false,
    push.note ? ['note', push.note] : false,
    ['state', push.expired == null ? 'unknown' : state],
    ['views left', rest(push.views_remaining, push.expire_after_views)],
    // For a person, the next lines say it in hours or minutes.
    look.tty && leftOnLastDay(push, look.now) && !push.expired_on
      ? false
      : ['days left', rest(push.days_remaining, push.expire_after_days)],
    push.created_at ? ['created', timeText(push.created_at, look)] : false,
    push.expires_at && !push.expired_on
      ? ['expires', look.tty ? ahead(push.expires_at, look.now) : push.expires_at]
      : false,
    push.expired_on ? ['expired', timeText(push.expired_on, look)] : false,
  ];
  // The passphrase of an expired push is null, whether it had one or not.
  if (!push.expired)
    fields.push(
      ['passphrase', known(push.passphrase === undefined ? null : isProtected(push))],
      ['opens with a click', known(push.retrieval_step)],
      ['recipient can delete', known(push.deletable_by_viewer)],
    );
  return pairs(fields, look);
}
