import type { Context } from 'hono';
import type { Owner } from '../owners/owners';
import type { Visitor } from '../rules/access';
import type { MemoryUse } from './body-memory';
import {
  baseOf,
  type CallerSettings,
  type ClientSocket,
  idempotencyKey,
  ipOf,
} from './request-origin';

export interface Env {
  Bindings: ClientSocket;
  Variables: {
    /** The client whose share of limited resources the HTTP request counts against; undefined for none. */
    readonly client: string | undefined;
    /** Memory that the HTTP request takes until its response has been sent. */
    readonly memory: MemoryUse;
  };
}

const HEADER_CHARACTERS = 1024;

/** Returns who sent an HTTP request. `owner` is set only where a token has authenticated the owner. */
export function visitorOf(c: Context<Env>, settings: CallerSettings, owner?: Owner): Visitor {
  const signal = c.env.signal ?? c.req.raw.signal;
  const header = (name: string) => c.req.header(name)?.slice(0, HEADER_CHARACTERS) ?? null;
  return {
    ip: ipOf(c.req.raw, c.env),
    userAgent: header('user-agent'),
    referrer: header('referer'),
    owner,
    signal,
    idempotencyKey: idempotencyKey(c.req.raw),
    kept: c.env.kept,
    keyProof: c.req.header('x-key-proof'),
    withoutIdentity: c.req.header('x-age-identity') === 'none',
    bases: [baseOf(c.req.raw, settings), new URL(c.req.url).origin],
    client: c.get('client'),
  };
}

/** The service as a function from request to response, without a socket. */
export type App = (request: Request, connection?: ClientSocket) => Promise<Response>;
