import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { commonHeaders } from '../../src/server/common-headers';
import type { ClientSocket } from '../../src/server/http/request-origin';
import { times } from '../helpers/long';
import { collectGarbage } from '../helpers/memory';
import { nameOf, published } from '../helpers/openapi';
import { seed } from '../helpers/seed';
import { createWithFiles, filePart, opened, partsOf, type TestService } from '../helpers/service';
import { inRoom, onSqlite, type Room } from '../helpers/stores';
import { type Asked, requests, type There } from './fuzz/requests';

// On sockets: ./service.test.ts, ./http/abuse-sockets.slow.test.ts.
const RUNS = times(2400);

const store = onSqlite();
let room: Room;
let service: TestService;
let there: There;

beforeEach(async () => {
  room = await store.room();
  service = await opened({ ...room.settings, maxViews: 1_000_000 });
  there = await pushes(service);
  service.lines.length = 0;
});

/** Pushes of each kind, the last one expired; some belong to somebody who does not take part, and outlast it all. */
async function pushes(on: TestService): Promise<There> {
  const many = { payload: 'x', expire_after_views: 1_000_000, deletable_by_viewer: false };
  const { token } = await on.service.owners.add('carol');
  const file = await createWithFiles(
    { fetch: on.fetch, adminToken: token },
    filePart('a.txt', 'hello'),
    ...partsOf({ expire_after_views: 1_000_000, deletable_by_viewer: false }),
  );
  const gone = await on.create({ payload: 'x' });
  await on.expire(gone);
  const tokens = [
    await on.create({ ...many, retrieval_step: false }, token),
    await on.create(many, token),
    await on.create({ ...many, passphrase: 'p' }, token),
    await on.create({ ...many, payload: 'http://example.com', kind: 'url' }, on.adminToken),
    await on.create({ payload: 'x' }, on.otherToken),
    ...[file, gone],
  ];
  for (const fields of [{}, {}, { response_file_attachments: true }, { passphrase: 'p' }]) {
    const how = { token, body: { request: { request: 'x', ...fields } } };
    tokens.push((await on.call('POST', '/api/v2/requests', how)).json.url_token);
  }
  const { json } = await on.retrieve(file);
  const files = json.files.map(({ url }: { url: string }) => new URL(url).pathname);
  return { tokens, files, apiTokens: [on.adminToken, on.otherToken] };
}

/** What was asked as a `Request` and its connection; nothing for what no `Request` can be. */
function asRequest({ method, path, headers, body = Buffer.alloc(0), split, breaks }: Asked) {
  const at = split % (body.length + 1);
  const connection: ClientSocket = {
    ip: '127.0.0.1',
    async *body() {
      if (at > 0) yield body.subarray(0, at);
      if (breaks) throw new Error('ECONNRESET in /some/path');
      if (at < body.length) yield body.subarray(at);
    },
  };
  try {
    const pairs = headers.map(([name, value]): [string, string] => [name, value]);
    const request = new Request(`http://pw.test${path}`, { method, headers: pairs });
    return { request, connection };
  } catch {
    return undefined;
  }
}

/** Words of our inside that no refusal may have. */
const INSIDE = /\bat \S+:\d+|node:|node_modules|\.ts\b|SELECT|INSERT|sqlite|ECONN|TypeError|stack/;

/** The lines of requests; an exchange of an identity token has another one, with the reason. */
const logged = () => service.lines.filter((line) => !/^\S+Z exchange /.test(line));

/** What is left of uploads that no push has, and whether each request has one line of the log. */
async function expectNothingLeft(requests: number): Promise<void> {
  const told = 'X-Forwarded-For came from 127.0.0.1, which is not trusted: see --trust-proxy';
  expect(service.warnings.filter((one) => one !== told)).toEqual([]);
  const line = /^\S+Z \S+ \S+ [1-4]\d\d \d+ms \d+B$/;
  expect(logged().filter((one) => !line.test(one))).toEqual([]);
  expect(logged()).toHaveLength(requests);
  const left = inRoom(
    room,
    ({ sql }) => sql`
      SELECT uploads.id FROM uploads WHERE push_id IS NULL
      UNION SELECT upload_id FROM chunks WHERE upload_id NOT IN (SELECT id FROM uploads)`,
  );
  expect(await left).toEqual([]);
}

function heapAfterCollection(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test('no request causes a failure, or leaves anything behind', async () => {
  const api = published();
  let [made, heap] = [0, 0];
  await fc.assert(
    fc.asyncProperty(requests(there), async (asked) => {
      const { request, connection } = asRequest(asked) ?? {};
      if (!request) return;
      const response = await service.service.app(request, connection);
      made += 1;
      expect(logged().length).toBe(made);
      const text = Buffer.from(await response.arrayBuffer()).toString();
      const { status, headers } = response;
      expect(status).toBeLessThan(500);
      expect(Object.fromEntries(headers)).toMatchObject(commonHeaders);
      // The pages' scripts catch errors by their names.
      const said = text.replace(/<(time|script|style)\b.*?<\/\1>/gs, '');
      if (status >= 400 && INSIDE.test(said)) throw new Error(`${status} says: ${said}`);
      const name = nameOf(request.method, new URL(request.url).pathname);
      // A call that is not described has another method, or is no call.
      if (name in api.calls) expect(api.faults(name, { status, headers, json: JSON.parse(text) })).toEqual([]);
      if (made === Math.floor(RUNS / 4)) heap = heapAfterCollection();
    }),
    { numRuns: RUNS, seed },
  );
  expect(made).toBeGreaterThan(0.8 * RUNS);
  await expectNothingLeft(made);
  expect(heapAfterCollection() - heap).toBeLessThan(16 * 1024 ** 2);
});
