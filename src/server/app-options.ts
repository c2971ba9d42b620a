import type { MiddlewareHandler } from 'hono';
import type { Env } from './http/env';
import type { Log } from './ops/log';
import type { PushEvents } from './ops/metrics';
import type { Owners } from './owners/owners';
import type { Pushes } from './pushes/pushes';
import type { Requests } from './requests/requests';
import type { Files } from './rules/files';
import type { CheckedSettings } from './service-settings';
import type { Site } from './site-identity';
import type { TokenExchange } from './trust/token-exchange';

export interface AppSettings extends CheckedSettings {
  readonly site: Site;
  readonly version: string;
}

export interface AppOptions {
  readonly pushes: Pushes;
  readonly requests: Requests;
  readonly files: Files;
  readonly owners: Owners;
  readonly exchange: TokenExchange;
  readonly isUp: () => Promise<boolean>;
  readonly events: PushEvents;
  readonly now: () => Date;
  readonly log: Log;
  readonly settings: AppSettings;
}

export interface PartOptions extends AppOptions {
  /** Refuses callers that exceed the rate limit; each part renders the refusal in its own format. */
  readonly limited: MiddlewareHandler<Env>;
}
