import type { OpenPush, TokenSummary, TrustSummary } from '../../contract/api';
import type { AuditEntry, Push, SecretRequest } from '../../contract/decode';
import { durationText } from '../../contract/lifetime';
import { listed } from '../../words/grammar';
import type { Look, Style } from './output';
import type { Column, Listing, Pair } from './table';
import { ago, ahead, timeLeft } from './wording';

const isProtected = ({ passphrase }: { readonly [field: string]: unknown }) =>
  passphrase === null || (typeof passphrase === 'string' && passphrase !== '');

const contentFlags = (push: Push) => [
  ...(push.encrypted === true ? ['encrypted'] : []),
  ...(push.kind === 'file' ? ['files'] : []),
  ...(isProtected(push) ? ['passphrase'] : []),
];

const pageFlags = (push: Push) => [
  ...(push.retrieval_step ? ['click'] : []),
  ...(push.deletable_by_viewer ? ['deletable'] : []),
];

const text = (value: string | number | null | undefined) => String(value ?? '');

const timeColumn = <Row>(
  title: string,
  timeOf: (row: Row) => string | null | undefined,
): Column<Row> => ({ title, shown: (row, look) => ago(timeOf(row), look.now) });

/** In columns. Names are often longer, and get what is left of the terminal. */
const NAME_WIDTH = 16;

const nameColumn: Column<Pick<Push, 'name'>> = {
  title: 'NAME',
  shown: ({ name }) => text(name),
  elastic: NAME_WIDTH,
};
const idColumn: Column<Pick<Push, 'url_token'>> = {
  title: 'ID',
  shown: ({ url_token }) => url_token,
  least: 8,
};
const createdColumn = timeColumn<Pick<Push, 'created_at'>>('CREATED', (row) => row.created_at);

const ending = (left: number | null | undefined): Style | undefined =>
  typeof left === 'number' && left <= 1 ? 'yellow' : undefined;

const expiresColumn: Column<Push> = {
  title: 'EXPIRES',
  style: ({ days_remaining }) => ending(days_remaining),
  shown: timeLeft,
};

/** Formats `list active`. A pipe gets ID, name, created, views left, views, days left, days, flags, any expiry. */
export const activePushes: Listing<Push> = {
  columns: [
    nameColumn,
    {
      title: 'VIEWS LEFT',
      right: true,
      style: (push) => ending(push.views_remaining),
      shown: (push) => `${push.views_remaining ?? '?'}/${push.expire_after_views ?? '?'}`,
    },
    expiresColumn,
    createdColumn,
    idColumn,
    // `pageFlags`, which most pushes have, would leave no room for `contentFlags`: the command `preview` has them.
    { title: 'FLAGS', shown: (push) => contentFlags(push).join(',') },
  ],
  optional: ['CREATED', 'FLAGS', 'EXPIRES', 'ID', 'VIEWS LEFT'],
  fields: (push) => [
    ...[push.url_token, text(push.name), text(push.created_at)],
    ...[push.views_remaining, push.expire_after_views].map(text),
    ...[push.days_remaining, push.expire_after_days].map(text),
    [...contentFlags(push), ...pageFlags(push)].join(','),
    // The field is the last one, as scripts know the numbers of the others.
    ...(push.expires_at ? [push.expires_at] : []),
  ],
};

/** Who deleted a push is not known: its owner, a recipient or the operator of the instance. */
const howEnded = ({ deleted, views_remaining: left }: Push) => {
  if (deleted) return 'deleted';
  if (typeof left !== 'number') return 'limit';
  return left === 0 ? 'last view' : 'time';
};

/** Formats `list expired`. A pipe gets ID, name, created, expired, how. */
export const expiredPushes: Listing<Push> = {
  columns: [
    nameColumn,
    timeColumn('EXPIRED', ({ expired_on }) => expired_on),
    { title: 'HOW', shown: howEnded },
    createdColumn,
    idColumn,
  ],
  optional: ['CREATED', 'HOW', 'ID', 'EXPIRED'],
  fields: (push) => [
    ...[push.url_token, text(push.name), text(push.created_at)],
    ...[text(push.expired_on), howEnded(push)],
  ],
};

/** Formats `list receipts`. A pipe gets link, name, created, expiry, views. */
export const receiptsOfPushes: Listing<Push> = {
  columns: [
    { ...nameColumn, elastic: 12 },
    { title: 'VIEWS', right: true, shown: (push) => text(push.expire_after_views) },
    expiresColumn,
    createdColumn,
    {
      title: 'PUSH',
      // The ID takes the place of a link that would wrap.
      shown: ({ html_url, url_token }, { columns }) =>
        (html_url?.length ?? 0) > columns ? url_token : text(html_url),
    },
  ],
  optional: ['CREATED', 'VIEWS', 'EXPIRES', 'NAME'],
  fields: (push) =>
    [push.html_url, push.name, push.created_at, push.expires_at, push.expire_after_views].map(text),
};

/** Formats `list requests`. A pipe gets ID, name, state, created, closes, question. */
export const requestList: Listing<SecretRequest> = {
  columns: [
    { ...nameColumn, elastic: 10 },
    { title: 'QUESTION', shown: beginning, elastic: 10 },
    {
      title: 'STATE',
      shown: ({ state }) => text(state),
      style: ({ state }) => (state === 'ready' ? 'green' : undefined),
    },
    {
      title: 'EXPIRES',
      shown: ({ state, close_after_at, days_remaining }, look) =>
        state === 'closed' ? '' : timeLeft({ expires_at: close_after_at, days_remaining }, look),
    },
    createdColumn,
    idColumn,
  ],
  optional: ['CREATED', 'EXPIRES', 'STATE', 'ID'],
  fields: (request) => [
    ...[request.url_token, request.name, request.state].map(text),
    ...[request.created_at, request.close_after_at].map(text),
    beginning(request),
  ],
};

/** Returns the first line of a question. */
function beginning({ request }: SecretRequest): string {
  return text(request).trim().split(/\r?\n/, 1)[0] ?? '';
}

const timeText = (time: string, { tty, now }: Look) => (tty ? ago(time, now) : time);
const timeToCome = (time: string, { tty, now }: Look) => (tty ? ahead(time, now) : time);

const namePairs = ({ name, note }: Partial<PushState>): readonly Pair[] => [
  name ? ['name', name] : false,
  note ? ['note', note] : false,
];

export function requestFacts(request: SecretRequest, look: Look): Pair[] {
  const { state, response_file_attachments: files, public_key: key } = request;
  return [
    ...namePairs(request),
    request.request ? ['question', request.request] : false,
    ['state', state ?? 'unknown'],
    request.created_at ? ['created', timeText(request.created_at, look)] : false,
    request.close_after_at && state !== 'closed'
      ? ['closes', timeToCome(request.close_after_at, look)]
      : false,
    // The passphrase of a closed request is null, whether it had one or not.
    state === 'closed' ? false : ['passphrase', yesNo(isProtected(request))],
    ['answer may have files', files == null ? 'unknown' : yesNo(files)],
    ['answer is encrypted', yesNo(Boolean(key))],
  ];
}

const kinds: Readonly<Record<string, readonly [words: string, style?: Style]>> = {
  creation: ['created'],
  view: ['viewed', 'green'],
  owner_view: ['viewed by you'],
  admin_view: ['viewed by an administrator'],
  failed_view: ['view refused', 'red'],
  failed_passphrase: ['wrong passphrase', 'red'],
  expire: ['expired', 'yellow'],
  edit: ['edited'],
  creation_email_send: ['link sent by e-mail'],
  request_view: ['question read'],
  response: ['answered', 'green'],
  failed_response: ['answered too late', 'red'],
  response_view: ['answer read by you'],
  close: ['closed', 'yellow'],
};
/** An instance may have other kinds of events, and send any text as a kind. */
const kindOf = ({ kind }: AuditEntry) => (Object.hasOwn(kinds, kind) ? kinds[kind] : undefined);

/** Formats `audit`. A pipe gets time, kind, address, user agent, referrer and, for a token of a trust, trust and subject. */
export const auditLog: Listing<AuditEntry> = {
  columns: [
    timeColumn('WHEN', ({ created_at }) => created_at),
    {
      title: 'WHAT',
      shown: (entry) => {
        const { count = 1 } = entry;
        // pwpush serve counts wrong passphrases and proofs; 0 stands for a reader without any, which is no mistake.
        if (count === 0)
          return entry.kind === 'failed_view' ? 'key asked for' : 'passphrase asked for';
        const [words] = kindOf(entry) ?? [entry.kind];
        return Number(count) > 1 ? `${words} ×${count}` : words;
      },
      style: (entry) => (entry.count === 0 ? undefined : kindOf(entry)?.[1]),
    },
    { title: 'ADDRESS', shown: ({ ip }) => text(ip) },
    {
      title: 'TRUST',
      shown: ({ trust, sub }) => (trust ? `${trust}: ${text(sub)}` : ''),
      rare: true,
      elastic: NAME_WIDTH,
    },
    { title: 'USER AGENT', shown: ({ user_agent }) => text(user_agent), elastic: 12 },
    { title: 'REFERRER', shown: ({ referrer }) => text(referrer), elastic: 12 },
  ],
  optional: ['REFERRER', 'USER AGENT', 'TRUST', 'ADDRESS'],
  fields: ({ created_at, kind, ip, user_agent, referrer, trust, sub }) =>
    [created_at, kind, ip, user_agent, referrer, ...(trust ? [trust, sub] : [])].map(text),
};

/** Formats `serve token list`. A pipe gets ID, user, label, created, last used, expires, scope. */
export const tokenList: Listing<TokenSummary> = {
  columns: [
    { title: 'ID', shown: ({ id }) => id },
    { ...nameColumn, title: 'USER' },
    { title: 'LABEL', shown: ({ label }) => label, elastic: NAME_WIDTH },
    { title: 'SCOPE', shown: ({ scope }) => scope },
    createdColumn,
    {
      title: 'LAST USED',
      shown: ({ last_used_at: used }, look) => (used === null ? 'never' : ago(used, look.now)),
    },
    {
      title: 'EXPIRES',
      shown: ({ expires_at: end }, look) => (end === null ? 'never' : ahead(end, look.now)),
    },
  ],
  optional: ['CREATED', 'LAST USED', 'EXPIRES', 'LABEL'],
  fields: ({ id, name, label, created_at, last_used_at, expires_at, scope }) =>
    [id, name, label, created_at, last_used_at, expires_at, scope].map(text),
};

const claimsText = ({ claims }: TrustSummary) =>
  Object.entries(claims).map(([name, value]) => `${name}=${value}`);

/** Formats `serve trust list`. A pipe gets name, issuer, audience, user, scope, seconds, tokens, created, claims. */
export const trustList: Listing<TrustSummary> = {
  columns: [
    { title: 'NAME', shown: ({ name }) => name },
    { title: 'ISSUER', shown: ({ issuer }) => issuer, elastic: NAME_WIDTH },
    { title: 'CLAIMS', shown: (trust) => claimsText(trust).join(' '), elastic: NAME_WIDTH },
    { title: 'USER', shown: ({ user }) => user },
    { title: 'SCOPE', shown: ({ scope }) => scope },
    { title: 'FOR', shown: ({ lifetime }) => durationText(lifetime) },
    { title: 'TOKENS', right: true, shown: ({ tokens }) => text(tokens) },
  ],
  optional: ['FOR', 'ISSUER', 'SCOPE', 'TOKENS', 'USER', 'CLAIMS'],
  fields: (trust) => [
    ...[trust.name, trust.issuer, text(trust.audience), trust.user, trust.scope],
    ...[text(trust.lifetime), text(trust.tokens), trust.created_at, ...claimsText(trust)],
  ],
};

/** Formats `serve pushes`. A pipe gets ID, kind, user, name, created, expires, views left. */
export const openPushList: Listing<OpenPush> = {
  columns: [
    { title: 'ID', right: true, shown: ({ id }) => text(id) },
    { title: 'KIND', shown: ({ kind }) => kind },
    { title: 'USER', shown: ({ owner }) => text(owner), elastic: NAME_WIDTH },
    nameColumn,
    { title: 'VIEWS LEFT', right: true, shown: (push) => text(push.views_remaining) },
    { title: 'EXPIRES', shown: (push, look) => ahead(push.expires_at, look.now) },
    createdColumn,
  ],
  optional: ['CREATED', 'EXPIRES', 'VIEWS LEFT', 'KIND'],
  fields: ({ id, kind, owner, name, created_at, expires_at, views_remaining }) =>
    [id, kind, owner, name, created_at, expires_at, views_remaining].map(text),
};

export const yesNo = (value: boolean) => (value ? 'yes' : 'no');

/** What is known of a push: without its owner's token, that is less than lists have. */
export type PushState = Pick<Push, 'url_token'> &
  Partial<{ readonly [Key in keyof Push]: Push[Key] | null }>;

/** How a push is encrypted, and who can open it, by what `pwpush serve` says in its lists. */
const sealings: Readonly<Record<string, readonly [how: string, ...needs: string[]]>> = {
  link: ['yes, with a key in its link', 'the whole link'],
  words: ['yes, with words', 'the link', 'the words'],
  recipient: ['yes, to public keys', 'the link', 'a private key'],
};

function sealing(push: PushState): readonly [how: string, who: string] {
  if (push.encrypted == null) return ['unknown', 'unknown'];
  const [how, ...needs] = push.encrypted
    ? (sealings[`${push.sealed_with}`] ?? ['yes', 'the link', 'its key or words'])
    : ['no', 'the link'];
  if (isProtected(push)) needs.push('the passphrase');
  return [how, `anyone with ${listed(needs)}`];
}

export function pushFacts(push: PushState, look: Look): Pair[] {
  const known = (value: boolean | null | undefined) => (value == null ? 'unknown' : yesNo(value));
  const rest = (left?: number | null, all?: number | null) =>
    left == null ? 'unknown' : `${left} of ${all ?? '?'}`;
  const [encrypted, who] = sealing(push);
  const state = push.deleted ? 'deleted' : push.expired ? 'expired' : 'active';
  const fields: Pair[] = [
    ...namePairs(push),
    ['state', push.expired == null ? 'unknown' : state],
    ['views left', rest(push.views_remaining, push.expire_after_views)],
    // A terminal gets the line `expires` in place of `days left`.
    look.tty && push.expires_at
      ? false
      : ['days left', rest(push.days_remaining, push.expire_after_days)],
    push.created_at ? ['created', timeText(push.created_at, look)] : false,
    push.expires_at && !push.expired_on ? ['expires', timeToCome(push.expires_at, look)] : false,
    push.expired_on ? ['expired', timeText(push.expired_on, look)] : false,
    ['encrypted', encrypted],
  ];
  // The passphrase of an expired push is null, whether it had one or not.
  if (!push.expired)
    fields.push(
      ['opened by', who],
      ['passphrase', known(push.passphrase === undefined ? null : isProtected(push))],
      ['needs a click', known(push.retrieval_step)],
      ['recipient can delete', known(push.deletable_by_viewer)],
    );
  return fields;
}
