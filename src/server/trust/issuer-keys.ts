import { isObject, parseJson } from '../../contract/json';
import { orUndefined } from '../../contract/or-undefined';
import { raceWithLimit } from '../../platform/files/abort';
import { systemCode } from '../service-errors';
import type { FetchingClient, ServiceIo } from '../service-settings';
import { ExchangeRefusal, type KeySet } from './identity-token';
import { type Issuer, reachOf } from './issuer-address';

interface KeySettings extends Pick<ServiceIo, 'transport' | 'env'> {
  readonly now: () => Date;
  /** Milliseconds for discovery and keys together. */
  readonly limit?: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LIMIT_MS = 5000;
const MOST_BYTES = 64 * 1024;

/** Keeps the keys of issuers. What may be fetched from private networks is kept apart from what may not. */
export class IssuerKeys {
  private readonly sources = new Map<string, KeySource>();

  constructor(private readonly settings: KeySettings) {}

  /**
   * Returns keys of which one has the ID `kid`; without a `kid`, any keys.
   * @throws ExchangeRefusal (signature) for an unknown key, (unavailable) while the issuer is away
   */
  async find(of: Issuer, kid: string | undefined): Promise<KeySet> {
    const name = `${of.private_issuer} ${of.issuer}`;
    const source = this.sources.get(name) ?? new KeySource(of, this.settings);
    this.sources.set(name, source);
    return source.find(kid);
  }
}

class KeySource {
  private known: { readonly set: KeySet; readonly at: number; readonly maxAge: number } | undefined;
  private fetching: Promise<void> | undefined;
  private failure: { readonly at: number; readonly reason: string } | undefined;
  /** When an unknown key last had the keys fetched. */
  private soughtAt: number | undefined;

  constructor(
    private readonly of: Issuer,
    private readonly settings: KeySettings,
  ) {}

  async find(kid: string | undefined): Promise<KeySet> {
    if (this.isPast(this.known?.at, this.known?.maxAge)) {
      const refreshed = this.refresh();
      // A token whose key is known does not wait again for an issuer that was away.
      if (!this.failure || !this.setWith(kid)) await refreshed;
    }
    if (!this.setWith(kid) && this.isPast(this.soughtAt) && this.isPast(this.failure?.at)) {
      this.soughtAt = this.time();
      await this.refresh();
    } else if (!this.setWith(kid)) await this.fetching;
    const set = this.setWith(kid);
    if (set) return set;
    if (!this.failure)
      throw new ExchangeRefusal('signature', 'the issuer does not have the key of the token');
    const { at, reason } = this.failure;
    const retryAfter = Math.max(1, Math.ceil((at + MINUTE - this.time()) / 1000));
    const message = 'the keys of the issuer cannot be fetched now';
    throw new ExchangeRefusal('unavailable', message, { reason, retryAfter });
  }

  private time(): number {
    return this.settings.now().getTime();
  }

  /** Whether a time is that long ago; so is one that is ahead, as the clock was set back since. */
  private isPast(at: number | undefined, milliseconds = MINUTE): boolean {
    const age = this.time() - (at ?? Number.NEGATIVE_INFINITY);
    return age < 0 || age >= milliseconds;
  }

  private setWith(kid: string | undefined): KeySet | undefined {
    if (!this.known || this.isPast(this.known.at, DAY)) return undefined;
    const { set } = this.known;
    return kid === undefined || set.keys.some((key) => key.kid === kid) ? set : undefined;
  }

  /** Fetches the keys, unless a fetch is under way, or failed within the last minute. */
  private async refresh(): Promise<void> {
    if (!this.fetching && this.isPast(this.failure?.at)) this.fetching = this.fetch();
    await this.fetching;
  }

  private async fetch(): Promise<void> {
    try {
      this.known = { ...(await fetchKeys(this.of, this.settings)), at: this.time() };
      this.failure = undefined;
    } catch (error) {
      const reason = `no keys of ${this.of.issuer}: ${reasonOf(error)}`;
      this.failure = { at: this.time(), reason };
    }
    this.fetching = undefined;
  }
}

/** The message is for the log, and has no text of the issuer. */
class FetchFailure extends Error {}

function reasonOf(error: unknown): string {
  if (error instanceof FetchFailure) return error.message;
  const code = systemCode((error as Error).cause) || systemCode(error);
  if (code === 'ADDRESS_REFUSED') return 'an address of it is in a private network';
  return `unreachable (${/^\w{1,64}$/.test(code) ? code : '?'})`;
}

type Get = (what: string, address: unknown) => ReturnType<typeof fetchJson>;

async function fetchKeys(of: Issuer, { transport, env = {}, limit = LIMIT_MS }: KeySettings) {
  if (!transport) throw new FetchFailure('this service fetches nothing');
  const { allowed, refuses } = reachOf(of);
  const client = await transport({ timeout: limit / 1000, env, refuses });
  const get: Get = (what, address) => fetchJson(client, what, allowed(address));
  const late = () => {
    throw new FetchFailure(`no response within ${limit / 1000} s`);
  };
  try {
    return await raceWithLimit(discover(of.issuer, get), { milliseconds: limit }, late);
  } finally {
    await client.close();
  }
}

/** Fetches the configuration of an issuer (OpenID Connect Discovery 1.0, 4), and the keys that it names. */
async function discover(issuer: string, get: Get): Promise<{ set: KeySet; maxAge: number }> {
  const discovery = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { body: configuration } = await get('its configuration', discovery);
  if (configuration.issuer !== issuer)
    throw new FetchFailure('its configuration names another issuer');
  const { body, headers } = await get('its key set', configuration.jwks_uri);
  const { keys } = body;
  if (!Array.isArray(keys) || !keys.every(isObject))
    throw new FetchFailure('its key set is not valid');
  const [, seconds = 0] =
    /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(`${headers['cache-control']}`) ?? [];
  return { set: { keys }, maxAge: Math.min(Math.max(Number(seconds) * 1000, MINUTE), HOUR) };
}

async function fetchJson(client: FetchingClient, what: string, url: string | undefined) {
  if (url === undefined) throw new FetchFailure(`the address of ${what} is not allowed`);
  const headers = { accept: 'application/json', 'accept-encoding': 'identity' };
  const response = await client.send({ method: 'GET', url, headers });
  if (response.status !== 200) throw new FetchFailure(`${what} has status ${response.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new FetchFailure(`${what} is larger than 64 KiB`);
    chunks.push(chunk);
  }
  const body = orUndefined(() => parseJson(Buffer.concat(chunks)));
  if (!isObject(body)) throw new FetchFailure(`${what} is no JSON object`);
  return { body, headers: response.headers };
}
