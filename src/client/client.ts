import * as v from 'valibot';
import {
  API_PATH,
  type AuditEntry,
  auditSchema,
  createdSchema,
  type InstanceVersion,
  type NewPush,
  type Notification,
  type Notified,
  notifiedSchema,
  type Preview,
  type Push,
  previewSchema,
  pushListSchema,
  pushSchema,
  type RouteName,
  retrievedSchema,
  routes,
  versionSchema,
} from '../contract';
import { CliError } from '../errors';
import { parseJson } from '../json';
import { type Asked, failureOf, nonsense, overlong, transportFailure } from './failure';
import type { FileAnswer } from './file-link';
import type { Attachment, Form } from './form';
import { type Answer, AnswerTooLong, exchange } from './transport/call';
import { paced } from './transport/shared-backoff';
import { type Transport, TransportError, type WireRequest } from './transport/transport';

export interface ApiSettings {
  /** The instance's base address, without a final slash. */
  readonly base: string;
  readonly token?: string | undefined;
  /** Where the token is from, for a message that it was refused. */
  readonly tokenFrom?: string | undefined;
  /** A profile whose token would do where none goes along. */
  readonly knownTo?: string | undefined;
  /** No token goes along because the user wants none to. */
  readonly anonymous?: boolean | undefined;
  readonly userAgent: string;
  readonly send: Transport;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Told before each wait that a 429 or 503 asks for. */
  readonly waiting?: (seconds: number, status: number) => void | Promise<void>;
}

/** One method per endpoint of API v2. All reject with a `CliError`. */
export interface Api {
  version(): Promise<InstanceVersion>;
  /** Never sent twice: a second one would leave a second secret behind. Files are read while sent. */
  create(push: NewPush, files?: readonly Attachment[]): Promise<Push>;
  /** Takes a view; never sent twice. An expired push answers too, with `expired: true`. */
  retrieve(token: string, passphrase?: string): Promise<Push>;
  /** The link a person opens; takes no view. */
  preview(token: string): Promise<Preview>;
  /** A page of the log, in the instance's order; `[]` past the end. Needs the owner's token. */
  audit(token: string, page: number): Promise<AuditEntry[]>;
  expire(token: string): Promise<Push>;
  /** Has the instance e-mail the link; never sent twice. */
  notify(token: string, notification: Notification): Promise<Notified>;
  /** A page of the user's pushes, in the instance's order; `[]` past the end. */
  list(state: 'active' | 'expired', page: number): Promise<Push[]>;
  /** Follows the `url` of a push's file; takes no view. Rejects with a `TransportError` when it breaks. */
  openFile(url: string): Promise<FileAnswer>;
}

interface Call {
  readonly route: RouteName;
  readonly token?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A body with files, instead of JSON. */
  readonly form?: Form | undefined;
  readonly secrets?: readonly (string | undefined)[];
}

export function apiClient(unpaced: ApiSettings): Api {
  const { waiting = () => {} } = unpaced;
  const settings = { ...unpaced, ...paced({ ...unpaced, waiting }) };
  const ask = <T>(call: Call, schema: v.GenericSchema<unknown, T>) =>
    request(settings, call, schema);
  return {
    version: () => ask({ route: 'version' }, versionSchema),
    create: async (push, files = []) => {
      const secrets = [push.payload, push.passphrase, push.note];
      if (files.length === 0)
        return ask({ route: 'create', body: { push }, secrets }, createdSchema);
      const { formBody } = await import('./form');
      return ask({ route: 'create', form: formBody(push, files), secrets }, createdSchema);
    },
    retrieve: (token, passphrase) =>
      ask(
        passphrase === undefined
          ? { route: 'retrieve', token }
          : { route: 'retrieve', token, query: { passphrase }, secrets: [passphrase] },
        retrievedSchema,
      ),
    preview: (token) => ask({ route: 'preview', token }, previewSchema),
    audit: async (token, page) =>
      (await ask({ route: 'audit', token, query: { page: String(page) } }, auditSchema)).logs,
    expire: async (token) => stillThere(await ask({ route: 'expire', token }, pushSchema)),
    notify: (token, notification) =>
      ask({ route: 'notify', token, body: notification }, notifiedSchema),
    list: (state, page) => ask({ route: state, query: { page: String(page) } }, pushListSchema),
    openFile: async (url) => (await import('./file-link')).openLink(settings, url),
  };
}

/** A success that says the push lives on is none. */
function stillThere(push: Push): Push {
  if (push.expired !== false) return push;
  throw new CliError('failed', 'expire: the instance answered that the push has not expired', {
    hint: 'the secret can still be read; try again, or expire it on its page',
  });
}

async function request<T>(
  settings: ApiSettings,
  call: Call,
  schema: v.GenericSchema<unknown, T>,
): Promise<T> {
  const asked = askedOf(settings, call);
  const answer = await answerTo(settings, call, asked);
  if (answer.status < 200 || answer.status > 299) throw failureOf(answer, asked, settings.now());
  return decode(answer, asked, schema);
}

async function answerTo(settings: ApiSettings, call: Call, asked: Asked): Promise<Answer> {
  try {
    return await exchange(settings.send, wireRequest(settings, call), {
      repeatable: asked.repeatable,
      waitOn429: call.route === 'create' || call.route === 'notify',
      sleep: settings.sleep,
      now: settings.now,
      waiting: settings.waiting ?? (() => {}),
    });
  } catch (error) {
    if (error instanceof TransportError) throw transportFailure(error, asked);
    throw error instanceof AnswerTooLong ? overlong(error, asked) : error;
  }
}

function askedOf(settings: ApiSettings, call: Call): Asked {
  const secrets = [settings.token, ...(call.secrets ?? [])];
  return {
    call: call.route,
    repeatable: routes[call.route].repeatable,
    authenticated: settings.token !== undefined,
    tokenFrom: settings.tokenFrom,
    knownTo: settings.knownTo,
    anonymous: settings.anonymous,
    passphrase: call.query?.passphrase !== undefined,
    files: call.form !== undefined,
    secrets: secrets.filter((secret): secret is string => secret !== undefined),
  };
}

function wireRequest(settings: ApiSettings, call: Call): WireRequest {
  const { method, path } = routes[call.route];
  const query = new URLSearchParams(call.query).toString();
  const type = call.form?.type ?? (call.body === undefined ? undefined : 'application/json');
  const address =
    settings.base + API_PATH + path.replace(':token', encodeURIComponent(call.token ?? ''));
  return {
    method,
    url: query === '' ? address : `${address}?${query}`,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': settings.userAgent,
      ...(settings.token === undefined ? {} : { authorization: `Bearer ${settings.token}` }),
      ...(type === undefined ? {} : { 'content-type': type }),
    },
    ...(type === undefined ? {} : { body: call.form ?? JSON.stringify(call.body) }),
  };
}

function decode<T>(answer: Answer, asked: Asked, schema: v.GenericSchema<unknown, T>): T {
  const decoded = v.safeParse(schema, parsed(answer, asked));
  if (decoded.success) return decoded.output;
  throw nonsense(answer, asked);
}

function parsed(answer: Answer, asked: Asked): unknown {
  try {
    return parseJson(answer.body);
  } catch {
    throw nonsense(answer, asked);
  }
}
