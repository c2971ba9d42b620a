import type { HttpRequest, Transport } from '../../src/platform/context';

/** GUESSED: what is not known of the commercial edition (docs/wire.md, "Editions and versions"). */
export interface Guesses {
  /** What becomes of `expire_after_days`. */
  readonly days: 'accepted' | 'dropped';
  /** Fields that the edition does not know are refused with 422; dropped days are then such a field. */
  readonly strict: boolean;
  /** The version has `edition`. */
  readonly named: boolean;
  /** The version has `features`; without, it is API 2.0. */
  readonly features: boolean;
  /** `none` if only its requests are there. */
  readonly accounts: 'array' | 'object' | 'none';
  /** Its edition is written `Commercial`. */
  readonly capital: boolean;
  /** Answers have `expires_in`. */
  readonly expiresIn: boolean;
  /** A month is 30 days, or one of the calendar: 31. */
  readonly month: 30 | 31;
}

export const LIKELY: Guesses = {
  days: 'dropped',
  strict: false,
  named: true,
  features: true,
  accounts: 'array',
  capital: false,
  expiresIn: true,
  month: 30,
};

const unnamed = { named: false, features: false } as const;
const others: readonly Partial<Guesses>[] = [
  ...([{ days: 'accepted' }, { strict: true }, { named: false }, { features: false }] as const),
  ...([unnamed, { ...unnamed, accounts: 'object' }, { ...unnamed, accounts: 'none' }] as const),
  ...([{ capital: true }, { expiresIn: false }, { month: 31 }] as const),
];
/** All that differ from `LIKELY` in one guess. */
export const GUESSES: readonly Guesses[] = [{}, ...others].map((one) => ({ ...LIKELY, ...one }));

export interface StandIn {
  readonly send: Transport;
  /** Method, path and query of each request. */
  readonly asked: string[];
  /** The bodies of creations, parsed if they are JSON. */
  readonly bodies: unknown[];
}

interface StandInOptions {
  readonly now: () => Date;
  readonly guesses?: Partial<Guesses>;
}

const MINUTES = [15, 30, 45, 60, 360, 720];
const DAYS = [1, 2, 3, 4, 5, 6, 7, 14, 21];
const known = [
  ...['payload', 'kind', 'expire_after_duration', 'expire_after_views', 'passphrase', 'name'],
  ...['note', 'deletable_by_viewer', 'retrieval_step'],
];
const TIMES = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' };
const ACCOUNTS = [
  { id: 41, name: 'Personal', ...TIMES },
  { id: 42, name: 'Work', ...TIMES },
];

/** An instance that answers as the commercial edition is said to, from memory. */
export function standIn({ now, guesses = {} }: StandInOptions): StandIn {
  const guessed = { ...LIKELY, ...guesses };
  const asked: string[] = [];
  const bodies: unknown[] = [];
  const active: Record<string, unknown>[] = [];
  const answer = async ({
    method,
    url,
    headers,
    body,
  }: HttpRequest): Promise<[number, unknown]> => {
    const { pathname, search, searchParams } = new URL(url);
    const path = pathname.replace('/api/v2', '');
    asked.push(`${method} ${path}${search}`);
    if (path === '/version') return [200, versionOf(guessed)];
    if (path === '/requests/open') return [200, []];
    if (path === '/accounts' && guessed.accounts !== 'none')
      return [200, guessed.accounts === 'array' ? ACCOUNTS : { accounts: ACCOUNTS }];
    if (method === 'POST' && path === '/pushes') {
      const read = await readBody(body, headers);
      bodies.push(read);
      const [status, push] = created(read, guessed, now());
      if (status === 201) active.push(push);
      return [status, push];
    }
    const [, , token, call] = path.split('/');
    if (method === 'DELETE') {
      for (const [at, push] of active.entries()) if (push.url_token === token) active.splice(at, 1);
      return [200, { url_token: token, expired: true, deleted: true }];
    }
    if (call === 'audit') return [200, { logs: [] }];
    if (token === 'expired') return [200, []];
    if (token !== 'active') return [404, { error: 'not-found' }];
    const account = Number(searchParams.get('account_id') ?? ACCOUNTS[0]?.id);
    const listed = active.filter(({ account_id }) => account_id === account);
    return [200, searchParams.get('page') === '1' ? listed : []];
  };
  const send: Transport = async (request) => {
    const [status, body] = await answer(request);
    return responseOf(status, Buffer.from(JSON.stringify(body)));
  };
  return { send, asked, bodies };
}

function versionOf({ named, features, capital }: Guesses): object {
  const on = { enabled: true };
  return {
    application_version: '2.11.4',
    api_version: features ? '2.1' : '2.0',
    ...(named && { edition: capital ? 'Commercial' : 'commercial' }),
    ...(features && { features: { accounts: on, requests: on, pushes: { enabled: true } } }),
  };
}

interface Creation {
  readonly push: Readonly<Record<string, unknown>>;
  readonly account_id?: unknown;
}

function created(
  { push, account_id }: Creation,
  guesses: Guesses,
  now: Date,
): [number, Record<string, unknown>] {
  const { expire_after_days: days, expire_after_duration: index } = push;
  if ([days, index].every((one) => one !== undefined)) throw new Error('both were sent');
  const accepts = (name: string) =>
    known.includes(name) || (name === 'expire_after_days' && guesses.days === 'accepted');
  const strange = Object.keys(push).filter((name) => !accepts(name));
  if (guesses.strict && strange.length > 0)
    return [422, Object.fromEntries(strange.map((name) => [name, ['is unknown']]))];
  const granted = {
    url_token: 'quyul5r5w08',
    html_url: 'https://pw.test/p/quyul5r5w08',
    expire_after_views: push.expire_after_views ?? 5,
    passphrase: push.passphrase ?? '',
    created_at: now.toISOString(),
  };
  const taken = guesses.days === 'accepted' && days !== undefined ? Number(days) * 1440 : undefined;
  const minutes = taken ?? minutesOf(Number(index ?? 12), guesses);
  return [
    201,
    {
      ...granted,
      account_id: Number(account_id ?? 41),
      ...(taken === undefined && { expire_after_duration: Number(index ?? 12) }),
      expires_at: new Date(now.getTime() + minutes * 60_000).toISOString(),
      ...(guesses.expiresIn && { expires_in: minutes * 60 }),
    },
  ];
}

function minutesOf(index: number, { month }: Guesses): number {
  return MINUTES[index] ?? (DAYS[index - MINUTES.length] ?? (index - 14) * month) * 1440;
}

async function readBody(body: HttpRequest['body'], headers: HttpRequest['headers']) {
  if (typeof body === 'string') return JSON.parse(body);
  const form = [...(await formOf(body, headers))];
  const push = form.flatMap(([name, value]) => {
    const inner = /^push\[(\w+)\]$/.exec(name)?.[1];
    return inner === undefined ? [] : [[inner, value]];
  });
  const account = form.filter(([name]) => name === 'account_id');
  return { push: Object.fromEntries(push), ...Object.fromEntries(account) };
}

/** The fields and files of a `multipart/form-data` body. */
export async function formOf(
  body: HttpRequest['body'] = '',
  headers: HttpRequest['headers'],
): Promise<FormData> {
  const type = { 'content-type': headers['content-type'] ?? '' };
  const pieces: Uint8Array[] = [];
  for await (const piece of body as AsyncIterable<Uint8Array>) pieces.push(Uint8Array.from(piece));
  return new Response(Buffer.concat(pieces), { headers: type }).formData();
}

/** A response with those bytes. */
export function responseOf(
  status: number,
  bytes: Uint8Array,
  type = 'application/json; charset=utf-8',
) {
  const body = (async function* () {
    yield bytes;
  })();
  return { status, headers: { 'content-type': type }, body };
}
