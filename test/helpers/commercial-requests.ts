import { durations } from '../../src/contract/lifetime';
import type { HttpRequest, Transport } from '../../src/platform/context';
import { formOf, responseOf } from './commercial';

/** What is not known of the commercial edition, and of services like it: each a switch, so that the client works either way. */
export interface Guesses {
  /** Its version names its features: API 2.0 does not. */
  readonly features?: boolean;
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
  /** It has accounts; a list of all requests, or of one account's. */
  readonly accounts?: boolean;
  /** It has a listing of open and ready requests. */
  readonly active?: boolean;
  /** The kind of an answer in its log. */
  readonly answerKind?: string;
  /** Its page encrypts: it keeps `public_key` and returns it. */
  readonly encrypts?: boolean;
}

const ACCOUNTS = [
  { id: 7, name: 'Personal' },
  { id: 8, name: 'Team' },
] as const;
export const OWNER = 'owner-token-of-the-stand-in';
export const PRO = 'https://pro.test';

interface StoredRequest {
  readonly token: string;
  readonly fields: Record<string, unknown>;
  state: 'open' | 'ready' | 'closed';
  response: string | null;
  files: { filename: string; content_type: string; bytes: Buffer }[];
  readonly logs: { kind: string; created_at: string; ip: string }[];
}

export interface StandIn {
  readonly send: Transport;
  /** Method and path of each call. */
  readonly asked: string[];
  readonly requests: Map<string, StoredRequest>;
  /** URL pushes by token, whose links are `/r/TOKEN` too. */
  readonly pushes: Map<string, string>;
}

const NOW = '2026-08-20T11:06:45.000Z';

/** The requests of the commercial edition, as far as its documentation and clients show them. */
export function commercialRequests(guesses: Guesses = {}): StandIn {
  const known = {
    ...{ features: true, requests: true, accounts: true, active: true, pages: true },
    ...{ answerFiles: true, fileParts: 'request[files][]', answerKind: 'response' },
    ...{ keepsAnswer: true, openPreview: true, encrypts: false },
    ...guesses,
  };
  const requests: StandIn['requests'] = new Map();
  const pushes: StandIn['pushes'] = new Map();
  const asked: string[] = [];
  const send: Transport = async (request) => {
    const { pathname } = new URL(request.url);
    asked.push(`${request.method} ${pathname}`);
    const { status, body } = await answerTo(request);
    return Buffer.isBuffer(body)
      ? responseOf(status, body, 'x/y')
      : responseOf(status, Buffer.from(JSON.stringify(body)));
  };

  async function answerTo(sent: HttpRequest): Promise<{ status: number; body: unknown }> {
    const url = new URL(sent.url);
    const owner = sent.headers.authorization === `Bearer ${OWNER}`;
    const path = url.pathname.replace(/^\/api\/v2/, '');
    const file = /^\/files\/(\w+)\/(\d+)$/.exec(path);
    if (file) return ok(requests.get(file[1] ?? '')?.files[Number(file[2])]?.bytes);
    if (path === '/version') return ok(version());
    if (path === '/accounts' && known.accounts) return ok(ACCOUNTS);
    const push = /^\/pushes\/(\w+)$/.exec(path)?.[1] ?? '';
    if (pushes.has(push)) return ok({ url_token: push, payload: pushes.get(push), files: [] });
    if (!known.requests || !path.startsWith('/requests')) return error(404, 'not-found');
    if (path === '/requests') return owner ? create(await fieldsOf(sent)) : error(401, 'sign in');
    const state = /^\/requests\/(open|ready|closed|active)$/.exec(path)?.[1];
    if (state === 'active' && !known.active) return error(404, 'not-found');
    if (state) return owner ? list(state, url.searchParams) : error(401, 'sign in');
    const [, token = '', call] = /^\/requests\/(\w+)(?:\/(\w+))?$/.exec(path) ?? [];
    const request = requests.get(token);
    if (!request) return error(404, 'not-found');
    if (call === 'preview')
      return owner || known.openPreview ? ok({ url: linkOf(token) }) : error(401, 'sign in');
    if (call === 'audit') return owner ? logs(request, url) : error(403, 'not yours');
    const { passphrase = '' } = request.fields;
    if (!owner && passphrase !== '' && url.searchParams.get('passphrase') !== passphrase)
      return error(401, 'unauthorized', { message: 'wrong passphrase', status: 'unauthorized' });
    if (call === 'respond') return respond(request, await fieldsOf(sent));
    if (sent.method === 'DELETE') {
      if (!owner) return error(403, 'not yours');
      close(request);
      return ok(whole(request));
    }
    return ok(owner ? taken(request) : publicFields(request));
  }

  function version() {
    const features = { requests: { enabled: known.requests, email_auto_dispatch: true } };
    const base = { application_version: '1.80.0', api_version: '2.1', edition: 'commercial' };
    return known.features ? { ...base, features } : { ...base, api_version: '2.0' };
  }

  function create({ fields, files }: Fields) {
    if (!fields.request) return invalid({ request: ["can't be blank"] });
    const token = `request${requests.size + 1}`;
    const { public_key, ...others } = fields;
    const kept = known.encrypts ? { ...others, public_key } : others;
    requests.set(token, {
      token,
      fields: { name: '', note: '', passphrase: '', ...kept, attached: files.length },
      state: 'open',
      response: null,
      files: [],
      logs: [{ kind: 'creation', created_at: NOW, ip: '203.0.113.7' }],
    });
    return { status: 201, body: whole(requests.get(token) as StoredRequest) };
  }

  function respond(request: StoredRequest, { fields, files }: Fields) {
    if (request.state !== 'open') return error(409, 'already answered');
    if (!known.answerFiles && files.length > 0) return invalid({ files: ['are not accepted'] });
    if (!fields.response && files.length === 0) return invalid({ response: ["can't be blank"] });
    Object.assign(request, { response: fields.response ?? '', files, state: 'ready' });
    request.logs.push({ kind: known.answerKind, created_at: NOW, ip: '198.51.100.1' });
    return ok(publicFields(request));
  }

  function close(request: StoredRequest) {
    Object.assign(request, { state: 'closed', response: null, files: [] });
  }

  /** The owner's look; the links of files outlive it. */
  function taken(request: StoredRequest) {
    const files = request.files.map(({ filename, content_type }, at) => {
      return { filename, content_type, url: `${PRO}/files/${request.token}/${at}` };
    });
    const body = { ...publicFields(request), response: request.response, files };
    if (!known.keepsAnswer && request.state === 'ready')
      Object.assign(request, { state: 'closed', response: null });
    return body;
  }

  function list(state: string, query: URLSearchParams) {
    const account = Number(query.get('account_id') ?? ACCOUNTS[0].id);
    const rows = [...requests.values()].filter((one) =>
      state === 'active' ? one.state !== 'closed' : one.state === state,
    );
    const own = rows.map(whole).filter(({ account_id }) => account_id === account);
    return ok(known.pages && query.get('page') !== '1' ? [] : own);
  }

  function logs(request: StoredRequest, url: URL) {
    return ok({ logs: url.searchParams.get('page') === '1' ? request.logs : [] });
  }

  async function fieldsOf({ headers, body }: HttpRequest): Promise<Fields> {
    if (typeof body === 'string') {
      const { request, account_id } = JSON.parse(body);
      return { fields: { ...request, ...(account_id && { account_id }) }, files: [] };
    }
    const fields: Record<string, unknown> = {};
    const files: StoredRequest['files'] = [];
    for (const [name, value] of await formOf(body, headers)) {
      if (typeof value === 'string') fields[/\[(\w+)\]/.exec(name)?.[1] ?? name] = value;
      else if (name === known.fileParts) {
        const bytes = Buffer.from(await value.arrayBuffer());
        files.push({ filename: value.name, content_type: value.type, bytes });
      }
    }
    return { fields, files };
  }

  return { send, asked, requests, pushes };
}

interface Fields {
  readonly fields: Record<string, unknown>;
  readonly files: StoredRequest['files'];
}

const ok = (body: unknown) => ({ status: 200, body });
const error = (status: number, text: string, more: object = {}) => ({
  ...{ status, body: { error: text, ...more } },
});
const invalid = (body: object) => ({ status: 422, body });
const linkOf = (token: string) => `${PRO}/r/${token}`;

function publicFields({ token, fields, state }: StoredRequest) {
  const { request, response_file_attachments = false, close_after_duration = 11 } = fields;
  const seconds = durations[Number(close_after_duration)] ?? 0;
  return {
    ...{ url_token: token, html_url: linkOf(token), json_url: `${linkOf(token)}.json` },
    ...{ state, request, passphrase: fields.passphrase, response_file_attachments },
    ...{ retrieval_step: false, include_requestor: false, close_after_duration },
    close_after_at: new Date(Date.parse(NOW) + seconds * 1000).toISOString(),
    days_remaining: Math.ceil(seconds / 86_400),
    ...{ created_at: NOW, updated_at: NOW },
    ...(fields.public_key === undefined ? {} : { public_key: fields.public_key }),
  };
}

function whole(request: StoredRequest) {
  const { name, note } = request.fields;
  const account_id = Number(request.fields.account_id ?? ACCOUNTS[0].id);
  return { account_id, ...publicFields(request), name, note };
}
