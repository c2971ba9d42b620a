import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { issuer, type TestIssuer } from './issuer';
import { type Listening, listening } from './listen';
import { pwpush, type Served } from './program';

interface Trusted extends TestIssuer {
  /** The environment of a job of GitHub Actions, whose runner gives identity tokens. */
  readonly github: Record<string, string>;
}

/** An issuer that a built service trusts, for the tests of a file: jobs of `org/app` get tokens that can push. */
export function trusting(service: Served, env: Record<string, string>): Trusted {
  const from = { github: {} } as Trusted;
  let runner: Listening;
  beforeAll(async () => {
    Object.assign(from, await issuer({ now: () => new Date(), audience: service.url }));
    const words = `serve trust add deploy --issuer ${from.url} --claim repository=org/app --user ci --scope push`;
    const data = ['--data', join(env.HOME ?? '', 'data')];
    expect(await pwpush([...words.split(' '), ...data], { env })).toMatchObject({ code: 0 });
    runner = await listening((request, response) => {
      const aud = new URL(request.url ?? '', 'http://runner').searchParams.get('audience');
      const known = request.headers.authorization === 'Bearer of-the-runner';
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(known ? { value: from.token({ aud }) } : {}));
    });
    Object.assign(from.github, {
      GITHUB_ACTIONS: 'true',
      ACTIONS_ID_TOKEN_REQUEST_URL: `${runner.url}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-runner',
    });
  });
  afterAll(async () => {
    await runner?.close();
    await from.leave?.();
  });
  return from;
}
