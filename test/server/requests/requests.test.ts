import { beforeEach, describe, expect, test } from 'vitest';
import { encodeBech32 } from '../../../src/age/bech32';
import { plain } from '../../../src/server/store/sql';
import { times } from '../../helpers/long';
import { untilServed } from '../../helpers/noted';
import {
  at,
  type Call,
  call,
  FORM_TYPE,
  type FormPart,
  filePart,
  fileRows,
  formBytes,
  opened,
  type TestOptions,
  type TestService,
} from '../../helpers/service';
import { inRoom, onEachStore, type Room } from '../../helpers/stores';

const DAY = 86_400_000;
const OTHER_KEY = encodeBech32('age', Buffer.alloc(32, 9));
const KEY = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

onEachStore((store) => {
  let service: TestService;
  let room: Room;
  const open = async (options: TestOptions) => {
    service = await opened({ ...room.settings, ...options });
  };

  beforeEach(async () => {
    room = await store.room();
    await open({ maxFileSize: 200_000 });
  });

  const ask = (method: string, path: string, how?: Call) => service.call(method, `/api/v2/requests${path}`, how);
  const asOwner = (method: string, path: string, how?: Call) => ask(method, path, { ...service.asAdmin, ...how });
  const answerOf = async (token: string) => (await asOwner('GET', `/${token}`)).json.response;
  const request = (fields: Record<string, unknown> = {}) => service.createRequest(fields);
  const respond = (token: string, response: string, how?: Parameters<TestService['respond']>[2]) =>
    service.respond(token, response, how);
  const kinds = (token: string) => service.kindsOf(token, 'requests');
  const keyed = (token: string, at: number) => ({ headers: { 'idempotency-key': `"${token}-${at}"` } });

  const listed = async (token: string) => {
    const states = [];
    for (const state of ['open', 'ready', 'closed', 'active']) {
      const { json } = await asOwner('GET', `/${state}`);
      if (json.some((one: { url_token: string }) => one.url_token === token)) states.push(state);
    }
    return states;
  };

  test('is open, then answered and ready, then read and closed, and long after that nothing', async () => {
    const token = await request({ name: 'db', note: 'for bob', public_key: KEY });
    expect(await listed(token)).toEqual(['open', 'active']);
    expect((await ask('GET', `/${token}`)).json).toMatchObject({
      state: 'open',
      request: 'x',
      response: null,
      files: [],
      public_key: KEY,
      close_after_duration: 12,
      close_after: 604_800,
      days_remaining: 7,
    });
    expect((await respond(token, 'hunter2')).json).toMatchObject({ state: 'ready' });
    expect(await listed(token)).toEqual(['ready', 'active']);
    expect((await ask('GET', `/${token}`)).json).toMatchObject({ state: 'ready', response: null });
    const read = await asOwner('GET', `/${token}`);
    expect(read.json).toMatchObject({ state: 'ready', response: 'hunter2', files: [] });
    expect(await listed(token)).toEqual(['closed']);
    expect((await asOwner('GET', `/${token}`)).json).toMatchObject({
      state: 'closed',
      request: null,
      response: null,
      days_remaining: 0,
    });
    expect(await kinds(token)).toEqual([...['creation', 'request_view 2', 'response', 'response_view', 'failed_view']]);
    service.clock.advance(91 * DAY);
    for (const _ of ['its answer', 'itself']) await service.service.housekeeping.sweep();
    const left = inRoom(room, ({ sql }) => sql`SELECT id FROM pushes UNION SELECT id FROM audit`);
    expect(await left).toEqual([]);
  });

  test('is neither listed, found nor counted as a push, and nor is its answer', async () => {
    const token = await request();
    await respond(token, 'hunter2');
    const push = (path: string) => service.call('GET', at(path), service.asAdmin);
    expect((await push('active')).json).toEqual([]);
    expect((await push(token)).status).toBe(404);
    expect((await service.call('GET', `/p/${token}`)).status).toBe(404);
    expect(await service.service.pushes.countActive()).toEqual({ pushes: 0, requests: 1 });
    service.clock.advance(8 * DAY);
    expect(await service.service.housekeeping.sweep()).toBe(1);
    expect((await push('expired')).json).toEqual([]);
  });

  test('of many simultaneous answers one wins, and of many readings by the owner one gets it', async () => {
    const token = await request();
    const count = times(500);
    const answers = await Promise.all(
      Array.from({ length: count }, (_, at) => untilServed(() => respond(token, `answer ${at}`, keyed(token, at)))),
    );
    const won = answers.flatMap(({ status }, at) => (status === 200 ? [at] : []));
    expect(won).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(count - 1);
    const reads = await Promise.all(
      Array.from({ length: times(100) }, (_, at) =>
        untilServed(() => asOwner('GET', `/${token}`, keyed(token, count + at))),
      ),
    );
    const read = reads.flatMap(({ json }) => json.response ?? []);
    expect(read).toEqual([`answer ${won[0]}`]);
  });

  test('a passphrase is needed to read the question, to answer, and to read the answer', async () => {
    const token = await request({ passphrase: 'sesame' });
    expect((await ask('GET', `/${token}`)).status).toBe(401);
    const answering = async (passphrase?: string) =>
      (await respond(token, 'hunter2', passphrase ? { fields: { passphrase } } : {})).status;
    expect(await answering()).toBe(401);
    for (let tries = 0; tries < 5; tries++) expect(await answering('no')).toBe(401);
    expect(await answering('sesame')).toBe(429);
    service.clock.advance(60_000);
    expect(await answering('sesame')).toBe(200);
    expect((await asOwner('GET', `/${token}`)).status).toBe(401);
    const read = await asOwner('GET', `/${token}?passphrase=sesame`);
    expect(read.json).toMatchObject({ response: 'hunter2', passphrase: null });
  });

  test('closes when its time is over, answered or not', async () => {
    const [open, ready] = [await request({ close_after: 60 }), await request({ close_after: 60 })];
    await respond(ready, 'hunter2');
    service.clock.advance(60_000);
    expect([await listed(open), await listed(ready)]).toEqual([['closed'], ['closed']]);
    expect((await respond(open, 'x')).status).toBe(410);
    expect((await respond(ready, 'x')).status).toBe(409);
    expect(await answerOf(ready)).toBe(null);
    expect(await service.service.housekeeping.sweep()).toBe(1);
    expect((await asOwner('DELETE', `/${open}`)).json).toMatchObject({ state: 'closed' });
  });

  test('is read and closed, with its answer, by its owner alone', async () => {
    const token = await request();
    await respond(token, 'hunter2');
    const other = service.asOther;
    expect((await ask('GET', `/${token}`, other)).json).toMatchObject({ state: 'ready', response: null, files: [] });
    expect((await ask('GET', `/${token}/audit`, other)).status).toBe(403);
    expect((await ask('GET', '/ready', other)).json).toEqual([]);
    const close = (how?: Call) => ask('DELETE', `/${token}`, how);
    expect((await close()).status).toBe(401);
    expect((await close(other)).status).toBe(403);
    expect((await close(service.asAdmin)).json).toMatchObject({ state: 'closed' });
    expect(await answerOf(token)).toBe(null);
    expect((await close(service.asAdmin)).status).toBe(200);
    expect(await kinds(token)).toEqual([...['creation', 'response', 'request_view', 'close', 'failed_view']]);
  });

  describe('limits', () => {
    test.each([
      [{}, 12, 604_800],
      [{ close_after_duration: 0 }, 0, 900],
      [{ close_after: 61, close_after_duration: 3 }, null, 61],
    ])('%j closes after %s, %i seconds', async (fields, index, seconds) => {
      const body = { request: { request: 'x', ...fields } };
      const { json } = await asOwner('POST', '', { body });
      const closesAt = service.clock.now().getTime() + seconds * 1000;
      expect(json).toMatchObject({ close_after_duration: index, close_after: seconds });
      expect(json.close_after_at).toBe(new Date(closesAt).toISOString());
    });

    // Numbers at their limits: ../pushes/new-push.test.ts.
    test.each([
      ['request', '\ud800'],
      ['close_after', '1d'],
      ['public_key', KEY.replace('ql3z', 'ql3y')],
      ['public_key', encodeBech32('age', new Uint8Array(32))],
      ['files', ['x']],
      ['notify_emails_to', 'a@b.test'],
    ])('%s is checked', async (field, value) => {
      const body = { request: { request: 'x', [field]: value } };
      const { status, json } = await asOwner('POST', '', { body });
      expect([status, Object.keys(json)]).toEqual([422, [field]]);
    });

    test('the days of the instance are the limit and the default', async () => {
      await open({ maxDays: 3 });
      const body = { request: { request: 'x', close_after_duration: 12 } };
      expect((await asOwner('POST', '', { body })).status).toBe(422);
      expect((await ask('GET', `/${await request()}`)).json.close_after).toBe(3 * 86_400);
      await open({ minDays: 9 });
      for (const field of [{ close_after: 3600 }, { close_after_duration: 10 }]) {
        const { status, json } = await asOwner('POST', '', { body: { request: { request: 'x', ...field } } });
        const [[name, said] = []] = Object.entries(json);
        expect([status, name, said]).toEqual([422, Object.keys(field)[0], [expect.stringMatching(/ 9 days\.$/)]]);
      }
      expect((await ask('GET', `/${await request()}`)).json.close_after).toBe(9 * 86_400);
    });
  });

  describe('files', () => {
    const file = (value = 'content') => ({ ...filePart('a.txt', value), name: 'request[files][]' });
    const text = (value: string): FormPart => ({ name: 'request[response]', value });
    const send = (token: string, ...form: FormPart[]) => ask('PATCH', `/${token}/respond`, { form });
    const rows = async () => {
      await service.service.pushes.finish();
      return inRoom(room, fileRows);
    };
    const withFiles = () => request({ response_file_attachments: true });

    test('of an answer are read by the owner alone, and end after a while', async () => {
      const token = await withFiles();
      expect((await send(token, file('A'.repeat(150_000)), text('both'))).status).toBe(200);
      expect((await ask('GET', `/${token}`)).json.files).toEqual([]);
      const { json } = await asOwner('GET', `/${token}`);
      expect([json.response, json.files[0].filename]).toEqual(['both', 'a.txt']);
      const link = json.files[0].url;
      expect((await service.fetchLink(link)).text).toBe('A'.repeat(150_000));
      service.clock.advance(5 * 60_000);
      expect((await service.fetchLink(link)).status).toBe(404);
      await service.service.housekeeping.sweep();
      expect(await rows()).toEqual([0, 0, 0]);
    });

    test('of a question are for everybody who may read it, until it is closed', async () => {
      const form = [{ name: 'request[request]', value: 'Sign this.' }, file('contract')];
      const { json: made } = await asOwner('POST', '', { form });
      const { json } = await ask('GET', `/${made.url_token}`);
      expect((await service.fetchLink(json.request_files[0].url)).text).toBe('contract');
      await respond(made.url_token, 'x');
      await asOwner('GET', `/${made.url_token}`);
      expect((await service.fetchLink(json.request_files[0].url)).status).toBe(404);
      expect(await rows()).toEqual([0, 0, 0]);
    });

    test('are refused where they are not allowed, too many or too large, and leave nothing', async () => {
      const [without, token] = [await request(), await withFiles()];
      const locked = await request({ response_file_attachments: true, passphrase: 'p' });
      const large = file('x'.repeat(200_001));
      const refused = [
        await send(without, text('x'), file()),
        await send(token, ...Array.from({ length: 11 }, () => file())),
        await send(token, large),
        await send(locked, file(), { name: 'request[passphrase]', value: 'p' }),
        await ask('POST', '', { form: [{ name: 'request[request]', value: 'x' }, file()] }),
      ];
      expect(refused.map(({ status }) => status)).toEqual([422, 422, 413, 401, 401]);
      expect(Object.keys(refused[0]?.json)).toEqual(['files']);
      expect(await rows()).toEqual([0, 0, 0]);
      const rest = [{ name: 'request[passphrase]', value: 'p' }, file()];
      expect((await send(locked, ...rest)).status).toBe(200);
      expect((await send(token, file())).status).toBe(200);
    });

    /** Begins an answer with more than half a mebibyte of files that does not end. */
    const begin = (token: string, { ip = '127.0.0.1', bytes = 190_000 } = {}) => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const sender = writable.getWriter();
      const send = (from: number, to?: number) => void sender.write(form.subarray(from, to)).catch(() => undefined);
      const form = formBytes(Array.from({ length: 4 }, () => file('x'.repeat(bytes))));
      send(0, -1000);
      const fetch = (request: Request) => service.service.app(request, { ip });
      const how = { content: readable, headers: { 'content-type': FORM_TYPE } };
      return {
        more: () => send(-1000, -900),
        end: () => {
          send(-1000);
          void sender.close();
        },
        leave: () => void sender.abort(new Error('gone')),
        answered: call({ fetch }, 'PATCH', `/api/v2/requests/${token}/respond`, how),
      };
    };
    const stored = async (chunks: number) => {
      while ((await rows())[2] !== chunks);
    };

    test('of many answers that do not end, two are stored, until another wins', async () => {
      const token = await withFiles();
      const first = [begin(token), begin(token)];
      await stored(16);
      const third = await send(token, file());
      expect([third.status, third.headers.get('retry-after')]).toEqual([503, '5']);
      expect(third.json.done).toBe(false);
      expect((await respond(token, 'text')).status).toBe(200);
      await stored(0);
      for (const { more } of first) more();
      const responses = await Promise.all(first.map(({ answered }) => answered));
      expect(responses.map(({ status }) => status)).toEqual([409, 409]);
      expect(await rows()).toEqual([0, 0, 0]);
      expect(await answerOf(token)).toBe('text');
    });

    test('of slow answers keep no other client from answering', async () => {
      const token = await withFiles();
      const slow = begin(token, { ip: '192.0.2.1', bytes: 140_000 });
      await stored(8);
      expect((await begin(token, { ip: '192.0.2.1' }).answered).status).toBe(503);
      const faster = begin(token, { ip: '192.0.2.2' });
      await stored(16);
      service.clock.advance(9_999);
      expect((await begin(token, { ip: '192.0.2.3' }).answered).status).toBe(503);
      service.clock.advance(1);
      const third = begin(token, { ip: '192.0.2.3' });
      await stored(16);
      slow.more();
      expect((await slow.answered).json.error).toBe('The upload stalled for too long.');
      third.end();
      expect((await third.answered).status).toBe(200);
      faster.more();
      expect((await faster.answered).status).toBe(409);
    });

    test('of an answer that was discarded take nothing of an upload that begins later', async () => {
      const token = await withFiles();
      const late = begin(token);
      await stored(8);
      expect((await respond(token, 'text')).status).toBe(200);
      await stored(0);
      const other = begin(await withFiles());
      await stored(8);
      late.leave();
      expect((await late.answered).status).toBe(400);
      other.end();
      expect((await other.answered).status).toBe(200);
    });

    test('of an answer that does not end are deleted when the request is closed', async () => {
      const token = await withFiles();
      const { more, answered } = begin(token);
      await stored(8);
      expect((await asOwner('DELETE', `/${token}`)).status).toBe(200);
      expect(await rows()).toEqual([0, 0, 0]);
      more();
      expect((await answered).status).toBe(410);
    });

    test('of an answer are taken one upload at a time where so many are allowed', async () => {
      await open({ uploadsPerRequest: 1 });
      const token = await withFiles();
      const { leave, answered } = begin(token);
      await stored(8);
      const second = await send(token, file());
      expect([second.status, second.headers.get('retry-after')]).toEqual([503, '5']);
      leave();
      expect((await answered).status).toBe(400);
      expect(await rows()).toEqual([0, 0, 0]);
      expect((await send(token, file())).status).toBe(200);
    });
  });

  test.each([
    ['nothing', '', 400],
    ['null', 'null', 400],
    ['no request', '{"response":"x"}', 400],
    ['no response', '{"request":{}}', 422],
    ['half a character', '{"request":{"response":"\\ud800"}}', 422],
    ['files in JSON', '{"request":{"response":"x","files":["x"]}}', 422],
    ['a prototype', '{"request":{"__proto__":{"response":"x"}}}', 422],
    ['very many values', `{"request":{"response":"x","a":[${'[],'.repeat(2000)}1]}}`, 400],
    ['a text of more than a mebibyte', `{"request":{"response":"${'x'.repeat(1_048_577)}"}}`, 422],
  ])('a body with %s leaves the request open', async (_, body, expected) => {
    const token = await request();
    const headers = { 'content-type': 'application/json' };
    const sent = { headers, ...(body === '' ? {} : { content: body }) };
    expect((await ask('PATCH', `/${token}/respond`, sent)).status).toBe(expected);
    expect((await ask('GET', `/${token}`)).json.state).toBe('open');
    expect((await respond(token, 'x')).status).toBe(200);
  });

  const changed = (change: string) =>
    inRoom(room, ({ sql }) => sql(plain(`UPDATE pushes SET ${change} WHERE kind = 'request'`)));

  test.each(['owner_id = 2', 'expires_at = expires_at + 86400000', 'answer_id = (SELECT max(id) FROM pushes)'])(
    'a row that was changed by hand %s: gives no answer',
    async (change) => {
      const [token, other] = [await request(), await request()];
      await respond(token, 'hunter2');
      await respond(other, 'another');
      await changed(change);
      for (const owner of [service.asAdmin, service.asOther]) {
        const { status, text } = await ask('GET', `/${token}`, owner);
        const open = owner === service.asOther && change.startsWith('answer');
        expect([status, text.match(/hunter2|another/)]).toEqual([open ? 200 : 500, null]);
      }
    },
  );

  test.each([[`'${OTHER_KEY}'`], ['NULL']])(
    'a row that was changed by hand public_key = %s: nobody is given it, nor takes an answer',
    async (key) => {
      const token = await request({ public_key: KEY });
      await changed(`public_key = ${key}`);
      const responses = [
        await ask('GET', `/${token}`),
        await service.call('GET', `/r/${token}`),
        await respond(token, 'x'),
      ];
      for (const { status, text } of responses) expect([status, text.includes(OTHER_KEY)]).toEqual([500, false]);
      await changed(`public_key = '${KEY}'`);
      const { json } = await ask('GET', `/${token}`);
      expect(json).toMatchObject({ public_key: KEY, state: 'open' });
    },
  );

  test('an answer counts though its sender has gone', async () => {
    const token = await request();
    const gone = new AbortController();
    gone.abort();
    await respond(token, 'hunter2', { signal: gone.signal });
    expect(await answerOf(token)).toBe('hunter2');
  });
});
