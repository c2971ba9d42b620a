import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { times } from '../../helpers/long';
import { type Call, call, type TestService, testService } from '../../helpers/service';
import { onEachStore } from '../../helpers/stores';

const DAY = 86_400_000;
const KEY = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

onEachStore((store) => {
  let service: TestService;

  beforeEach(async () => {
    service = await testService((await store.room()).settings);
  });

  afterEach(() => service.close());

  const ask = (method: string, path: string, how?: Call) =>
    call(service, method, `/api/v2/requests${path}`, how);
  const asOwner = (method: string, path: string, how?: Call) =>
    ask(method, path, { token: service.adminToken, ...how });

  async function request(fields: object = {}): Promise<string> {
    const body = { request: { request: 'Which password?', ...fields } };
    const { status, json } = await asOwner('POST', '', { body });
    expect(status).toBe(201);
    return json.url_token;
  }

  const respond = (token: string, response: string, more: object = {}) =>
    ask('PATCH', `/${token}/respond`, { body: { request: { response, ...more } } });

  const kinds = async (token: string) => {
    const { json } = await asOwner('GET', `/${token}/audit`);
    return json.logs.map(({ kind, count }: { kind: string; count?: number }) =>
      count === undefined ? kind : `${kind} ${count}`,
    );
  };

  const listed = async (token: string) => {
    const states = [];
    for (const state of ['open', 'ready', 'closed', 'active']) {
      const { json } = await asOwner('GET', `/${state}`);
      if (json.some((one: { url_token: string }) => one.url_token === token)) states.push(state);
    }
    return states;
  };

  test('is open, then answered and ready, then read and closed', async () => {
    const token = await request({ name: 'db', note: 'for bob', public_key: KEY });
    expect(await listed(token)).toEqual(['open', 'active']);
    expect((await ask('GET', `/${token}`)).json).toMatchObject({
      ...{ state: 'open', request: 'Which password?', response: null, files: [] },
      ...{ public_key: KEY, close_after_duration: 12, close_after: 604_800, days_remaining: 7 },
    });
    expect((await respond(token, 'hunter2')).json).toMatchObject({ state: 'ready' });
    expect(await listed(token)).toEqual(['ready', 'active']);
    expect((await ask('GET', `/${token}`)).json).toMatchObject({ state: 'ready', response: null });
    const read = await asOwner('GET', `/${token}`);
    expect(read.json).toMatchObject({ state: 'ready', response: 'hunter2', files: [] });
    expect(await listed(token)).toEqual(['closed']);
    expect((await asOwner('GET', `/${token}`)).json).toMatchObject({
      ...{ state: 'closed', request: null, response: null, days_remaining: 0 },
    });
    expect(await kinds(token)).toEqual([
      ...['creation', 'request_view 2', 'response', 'response_view', 'failed_view'],
    ]);
  });

  test('is neither listed, found nor counted as a push, and nor is its answer', async () => {
    const token = await request();
    await respond(token, 'hunter2');
    const push = (path: string) =>
      call(service, 'GET', `/api/v2/pushes/${path}`, { token: service.adminToken });
    expect((await push('active')).json).toEqual([]);
    expect((await push(token)).status).toBe(404);
    expect((await call(service, 'GET', `/p/${token}`)).status).toBe(404);
    expect(await service.service.pushes.countActive()).toBe(0);
    service.clock.advance(8 * DAY);
    expect(await service.service.pushes.sweep()).toBe(1);
    expect((await push('expired')).json).toEqual([]);
  });

  test('of many simultaneous answers one wins', async () => {
    const token = await request();
    const count = times(500);
    const answers = await Promise.all(
      Array.from({ length: count }, (_, at) => respond(token, `answer ${at}`)),
    );
    const won = answers.flatMap(({ status }, at) => (status === 200 ? [at] : []));
    expect(won).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(count - 1);
    expect((await asOwner('GET', `/${token}`)).json.response).toBe(`answer ${won[0]}`);
  });

  test('of many simultaneous readings by the owner one gets the answer', async () => {
    const token = await request();
    await respond(token, 'hunter2');
    const reads = await Promise.all(
      Array.from({ length: times(100) }, () => asOwner('GET', `/${token}`)),
    );
    expect(reads.filter(({ json }) => json.response === 'hunter2')).toHaveLength(1);
  });

  describe('a passphrase', () => {
    test('is needed to read the question, to answer, and to read the answer', async () => {
      const token = await request({ passphrase: 'sesame' });
      expect((await ask('GET', `/${token}`)).json).toEqual({
        error: 'This request requires a passphrase.',
        message: 'A passphrase is required: send it as the `passphrase` parameter.',
        status: 'unauthorized',
      });
      expect((await respond(token, 'x')).status).toBe(401);
      expect((await respond(token, 'x', { passphrase: 'no' })).status).toBe(401);
      expect((await respond(token, 'hunter2', { passphrase: 'sesame' })).status).toBe(200);
      expect((await asOwner('GET', `/${token}`)).status).toBe(401);
      const read = await asOwner('GET', `/${token}?passphrase=sesame`);
      expect(read.json).toMatchObject({ response: 'hunter2', passphrase: null });
    });
  });

  test('closes when its time is over, answered or not', async () => {
    const [open, ready] = [await request({ close_after: 60 }), await request({ close_after: 60 })];
    await respond(ready, 'hunter2');
    service.clock.advance(60_000);
    expect([await listed(open), await listed(ready)]).toEqual([['closed'], ['closed']]);
    expect((await respond(open, 'x')).status).toBe(410);
    expect((await respond(ready, 'x')).status).toBe(409);
    expect((await asOwner('GET', `/${ready}`)).json.response).toBe(null);
    expect(await service.service.pushes.sweep()).toBe(1);
    expect((await asOwner('DELETE', `/${open}`)).json).toMatchObject({ state: 'closed' });
  });

  test('is closed by its owner, who alone may, with its answer', async () => {
    const token = await request();
    await respond(token, 'hunter2');
    const close = (how?: Call) => ask('DELETE', `/${token}`, how);
    expect((await close()).status).toBe(401);
    expect((await close({ token: service.otherToken })).status).toBe(403);
    expect((await close({ token: service.adminToken })).json).toMatchObject({ state: 'closed' });
    expect((await asOwner('GET', `/${token}`)).json.response).toBe(null);
    expect((await close({ token: service.adminToken })).status).toBe(200);
    expect(await kinds(token)).toEqual(['creation', 'response', 'close', 'failed_view']);
  });

  test('does not give the answer to another owner', async () => {
    const token = await request();
    await respond(token, 'hunter2');
    const other = { token: service.otherToken };
    expect((await ask('GET', `/${token}`, other)).json).toMatchObject({
      ...{ state: 'ready', response: null, files: [] },
    });
    expect((await ask('GET', `/${token}/audit`, other)).status).toBe(403);
    expect((await ask('GET', '/ready', other)).json).toEqual([]);
  });
});
