import { durations } from '../../src/contract/lifetime';
import type { HttpRequest, HttpResponse, Transport } from '../../src/platform/context';
import { NOW } from './run';
import { answering, json } from './wire';

/**
 * What is not known of the commercial edition, and of services like it (docs/wire.md, "Editions and versions"): each a
 * switch, so that the client works either way.
 */
export interface Guesses {
  /** How its version names the edition. */
  readonly edition?: string | undefined;
  /** Its version names its features: API 2.0 does not. */
  readonly features?: boolean;
  /** How it lists accounts; `none` if only its requests are there. */
  readonly accounts?: 'array' | 'object' | 'none';
  /** Where it has no requests, their calls are 404. */
  readonly requests?: boolean;
  /** Answers may have files. */
  readonly answerFiles?: boolean;
  /** The name of the parts of a form that are files. */
  readonly fileParts?: string;
  /** It keeps an answer after the owner has read it. */
  readonly keepsAnswer?: boolean;
  /** Its listings return all rows on every page. */
  readonly pages?: boolean;
  /** Preview needs no token. */
  readonly openPreview?: boolean;
  /** It has a listing of open and ready requests. */
  readonly active?: boolean;
  /** The kind of an answer in its log. */
  readonly answerKind?: string;
  /** Its page encrypts: it keeps `public_key` and returns it. */
  readonly encrypts?: boolean;
}

const ACCOUNTS = [7, 8, 42].map((id) => ({ id, name: `Account ${id}` }));
export const OWNER = 't0ken';
export const PRO = 'https://pro.test';
const LINK = 'https://pw.test/p/quyul5r5w08';

interface StoredRequest {
  readonly token: string;
  readonly account_id: number;
  readonly fields: Record<string, unknown>;
  state: 'open' | 'ready' | 'closed';
  response: string | null;
  files: File[];
  readonly logs: { kind: string; created_at: Date; ip: string }[];
}

export interface StandIn {
  readonly send: Transport;
  /** Method, path and query of each call. */
  readonly asked: string[];
  /** The bodies of creations of pushes. */
  readonly bodies: object[];
  readonly requests: Map<string, StoredRequest>;
  /** URL pushes by token, whose links are `/r/TOKEN` too. */
  readonly pushes: Map<string, string>;
}

/** The commercial edition, as far as its documentation and clients show it. */
export function commercialEdition(guesses: Guesses = {}): StandIn {
  const known = {
    ...{ edition: 'commercial', features: true, requests: true, accounts: 'array' },
    ...{ answerFiles: true, fileParts: 'request[files][]', answerKind: 'response' },
    ...{ keepsAnswer: true, openPreview: true, active: true, pages: true, encrypts: false },
    ...guesses,
  };
  const requests: StandIn['requests'] = new Map();
  const pushes: StandIn['pushes'] = new Map();
  const [asked, bodies, made]: [string[], object[], Listed[]] = [[], [], []];

  async function send(request: HttpRequest): Promise<HttpResponse> {
    const url = new URL(request.url);
    const path = url.pathname.replace('/api/v2', '');
    asked.push(`${request.method} ${path}${url.search}`);
    const [, kind, token = '', call = ''] = path.split('/');
    if (kind === 'version') return ok(version());
    if (kind === 'accounts' && known.accounts !== 'none')
      return ok(known.accounts === 'array' ? ACCOUNTS : { accounts: ACCOUNTS });
    if (kind === 'files') {
      const file = requests.get(token)?.files[Number(call)] as File;
      return answering({ status: 200, body: Buffer.from(await file.arrayBuffer()) });
    }
    if (kind === 'pushes') return push(request, token, call, url.searchParams);
    if (kind !== 'requests' || !known.requests) return error(404);
    return aboutRequests(request, token, call, url.searchParams);
  }

  function version() {
    const on = { enabled: true };
    const features = { accounts: on, pushes: on, requests: { enabled: known.requests } };
    return {
      ...{ application_version: '1.80.0', edition: known.edition },
      ...(known.features ? { api_version: '2.1', features } : { api_version: '2.0' }),
    };
  }

  async function push(request: HttpRequest, token: string, call: string, query: URLSearchParams) {
    if (call === 'audit') return ok({ logs: [] });
    if (token === 'active') return list(made, query);
    if (token !== '')
      return pushes.has(token)
        ? ok({ url_token: token, payload: pushes.get(token), files: [] })
        : error(404);
    const { fields, account_id } = await sentIn(request, 'push');
    bodies.push({ push: fields, account_id });
    const { expire_after_duration = 12, expire_after_views = 5, passphrase = '' } = fields;
    const granted = {
      ...{ url_token: 'quyul5r5w08', html_url: LINK, account_id: accountOf(account_id) },
      ...{ expire_after_duration, expire_after_views, passphrase, created_at: NOW },
      expires_at: after(expire_after_duration),
    };
    made.push(granted);
    return ok(granted, 201);
  }

  async function aboutRequests(
    sent: HttpRequest,
    token: string,
    call: string,
    query: URLSearchParams,
  ) {
    const isOwner = sent.headers.authorization === `Bearer ${OWNER}`;
    const request = requests.get(token);
    const isOpen = request && (call === 'respond' || (call === '' && sent.method === 'GET'));
    if (!isOwner && !isOpen && !(call === 'preview' && known.openPreview)) return error(401);
    if (token === '') return create(await sentIn(sent, 'request'));
    if (/^(open|ready|closed|active)$/.test(token)) {
      if (token === 'active' && !known.active) return error(404);
      const rows = [...requests.values()].filter(({ state }) =>
        token === 'active' ? state !== 'closed' : state === token,
      );
      return list(rows.map(whole), query);
    }
    if (!request) return error(404);
    if (call === 'preview') return ok({ url: linkOf(token) });
    if (call === 'audit') return ok({ logs: query.get('page') === '1' ? request.logs : [] });
    if (call === 'respond') return respond(request, await sentIn(sent, 'request'));
    if (sent.method !== 'DELETE') return ok(isOwner ? taken(request) : publicFields(request));
    Object.assign(request, { state: 'closed', response: null, files: [] });
    return ok(whole(request));
  }

  function create({ fields, account_id }: Sent) {
    const { public_key, ...others } = fields;
    const request: StoredRequest = {
      token: `request${requests.size + 1}`,
      account_id: accountOf(account_id),
      fields: known.encrypts ? fields : others,
      ...{ state: 'open', response: null, files: [] },
      logs: [{ kind: 'creation', created_at: NOW, ip: '203.0.113.7' }],
    };
    requests.set(request.token, request);
    return ok(whole(request), 201);
  }

  function respond(request: StoredRequest, { fields: { response = '' }, form }: Sent) {
    const files = form.getAll(known.fileParts) as File[];
    if (request.state !== 'open') return error(409);
    if (!known.answerFiles && files.length > 0) return ok({ files: ['are not accepted'] }, 422);
    if (!response && files.length === 0) return ok({ response: ["can't be blank"] }, 422);
    Object.assign(request, { response, files, state: 'ready' });
    request.logs.push({ kind: known.answerKind, created_at: NOW, ip: '198.51.100.1' });
    return ok(publicFields(request));
  }

  /** The owner's look; the links of files outlive it. */
  function taken(request: StoredRequest) {
    const files = request.files.map(({ name, type }, at) => {
      return { filename: name, content_type: type, url: `${PRO}/files/${request.token}/${at}` };
    });
    const body = { ...publicFields(request), response: request.response, files };
    if (!known.keepsAnswer && request.state === 'ready')
      Object.assign(request, { state: 'closed', response: null });
    return body;
  }

  function list(rows: readonly Listed[], query: URLSearchParams) {
    const account = accountOf(query.get('account_id') ?? undefined);
    const own = rows.filter(({ account_id }) => account_id === account);
    return ok(known.pages && query.get('page') !== '1' ? [] : own);
  }

  return { send, asked, bodies, requests, pushes };
}

interface Listed {
  readonly account_id: number;
}

interface Sent {
  readonly fields: Record<string, unknown>;
  readonly account_id?: unknown;
  readonly form: FormData;
}

/** What is sent about a push or a request, as JSON or in a form. */
async function sentIn({ headers, body }: HttpRequest, kind: 'push' | 'request'): Promise<Sent> {
  if (typeof body === 'string') {
    const { [kind]: fields, account_id } = JSON.parse(body);
    return { fields, account_id, form: new FormData() };
  }
  const type = { 'content-type': headers['content-type'] ?? '' };
  const form = await new Response(body as unknown as ReadableStream, { headers: type }).formData();
  const fields = [...form].flatMap(([name, value]) => {
    const [, inner] = new RegExp(`^${kind}\\[(\\w+)\\]$`).exec(name) ?? [];
    return inner === undefined ? [] : [[inner, value]];
  });
  return {
    fields: Object.fromEntries(fields),
    account_id: form.get('account_id') ?? undefined,
    form,
  };
}

const ok = (body: unknown, status = 200) => answering(json(status, JSON.stringify(body)));
const error = (status: number) => ok({ error: `${status}` }, status);
const linkOf = (token: string) => `${PRO}/r/${token}`;
const accountOf = (id: unknown = 7) => Number(id);

/** When it is over, by an index of durations. */
const after = (index: unknown) =>
  new Date(NOW.getTime() + (durations[Number(index)] ?? 0) * 1000).toISOString();

function publicFields({ token, fields, state }: StoredRequest) {
  const { request, response_file_attachments = false, close_after_duration = 11 } = fields;
  const { passphrase = '', public_key } = fields;
  return {
    ...{ url_token: token, html_url: linkOf(token), state, request, passphrase, public_key },
    ...{ response_file_attachments, close_after_duration, created_at: NOW },
    close_after_at: after(close_after_duration),
  };
}

function whole(request: StoredRequest) {
  const { account_id, fields } = request;
  return { account_id, ...publicFields(request), name: fields.name ?? '', note: fields.note ?? '' };
}
