import { beforeEach } from 'vitest';
import { EXCHANGE } from '../../../src/contract/api';
import { issuer, type TestIssuer, trust } from '../../helpers/issuer';
import { type Call, opened, type TestService } from '../../helpers/service';
import type { Room, Store } from '../../helpers/stores';

export const PATH = '/api/v2/token';
export const publicUrl = 'https://pw.test';

/** Makes for each test a service that trusts an issuer, and what is asked of both. */
export function exchanging(store: Store) {
  const made = {} as { room: Room; service: TestService; from: TestIssuer };
  beforeEach(async () => {
    made.room = await store.room();
    made.service = await opened({ ...made.room.settings, publicUrl });
    made.from = await issuer({ now: made.service.clock.now, audience: publicUrl });
    await trust(made.room, made.from);
  });
  const post = (how: Call) => made.service.call('POST', PATH, how);
  return {
    made,
    post,
    exchange: (token = made.from.token()) => post({ fields: parametersOf(token) }),
    /** What the log has of exchanges. */
    logged: () => made.service.lines.flatMap((line) => / exchange (.*)/.exec(line)?.[1] ?? []),
    counted: async (outcome: string) => {
      const text = await made.service.service.scrape();
      return text.match(`pwpush_token_exchanges_total{outcome="${outcome}"} (\\d+)`)?.[1];
    },
  };
}

export const parametersOf = (subject_token: string) => ({
  grant_type: EXCHANGE.grantType,
  subject_token,
  subject_token_type: EXCHANGE.jwt,
});

export const refusal = (error_description: string, error = 'invalid_request') => ({
  status: 400,
  json: { error, error_description },
});
