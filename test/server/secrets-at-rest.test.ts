import { beforeEach, describe, expect, test } from 'vitest';
import { readLinks } from '../../src/server/keys/keyring';
import type { SecretRow, StoredPush } from '../../src/server/store/push-rows';
import { type AtRest, atRest, keyIn } from '../helpers/at-rest';
import { at, filePart, partsOf } from '../helpers/service';
import { onEachStore, type Room } from '../helpers/stores';

const MINUTE = 60_000;
const DAY = 86_400_000;

const push = { payload: 'MARKER-payload '.repeat(200), note: 'MARKER-note', passphrase: 'MARKER-passphrase' };
const open = '?passphrase=MARKER-passphrase';
const file = filePart('MARKER-name', 'MARKER-content '.repeat(8_000), 'application/x-marker');

onEachStore((store) => {
  let room: Room;
  let here: AtRest;

  beforeEach(async () => {
    room = await store.room();
    here = await atRest(room);
    return here.close;
  });

  const retrieve = (token: string) => here.service.retrieve(`${token}${open}`);
  const expire = (token: string) => here.service.expire(`${token}${open}`);
  const inRemains = (remains: Buffer, told: readonly (string | Buffer)[]) =>
    told.filter((value) => remains.includes(value));
  const sweep = () => here.service.service.housekeeping.sweep();

  const form = partsOf({ ...push, expire_after_views: 1, expire_after_days: 1 });
  const createFile = () => here.service.createWithFiles(file, ...form);

  test('the database alone tells nothing', async () => {
    const { service } = here;
    const token = await service.createOwn(push);
    await service.retrieve(`${token}?passphrase=MARKER-wrong`);
    await retrieve(token);
    await service.call('GET', at('active'), service.asAdmin);
    const held = await service.createWithFiles(file, ...form.slice(0, 3));
    const [{ url }] = (await retrieve(held)).json.files;
    expect((await service.fetchLink(url)).bytes).toHaveLength(120_000);
    const remains = await here.remains();
    expect(remains.includes('failed_passphrase')).toBe(true);
    const { bytes: key } = await keyIn(room.settings);
    const others = [service.adminToken.slice(4), url.split('/files/')[1], key];
    expect(inRemains(remains, [token, held, 'MARKER', 'x-marker', ...others])).toEqual([]);
  });

  /** The first bytes of all that is sealed; a long value is spread over pages, those stand in one. */
  async function traces(): Promise<Buffer[]> {
    const { sql } = here.beside;
    const secrets = await sql<SecretRow>`SELECT * FROM secrets`;
    const chunks = await sql<{ sealed: Uint8Array }>`SELECT sealed FROM chunks`;
    const headers = await sql<{ header: Uint8Array }>`SELECT header FROM files`;
    const values = [
      ...secrets.flatMap((row) => [row.data_key, row.payload, row.note_key, row.note]),
      ...secrets.flatMap((row) => [row.salt, row.verifier]),
      ...chunks.map(({ sealed }) => sealed),
      ...headers.map(({ header }) => header),
    ];
    return values.flatMap((value) => (value ? [Buffer.from(value).subarray(0, 48)] : []));
  }

  describe('a request and its answer', () => {
    const ask = (method: string, path: string, how = {}) => here.service.call(method, `/api/v2/requests${path}`, how);
    const asOwner = (method: string, path: string) => ask(method, path, here.service.asAdmin);

    async function answered(more: object): Promise<string> {
      const fields = { request: 'MARKER-question', note: 'MARKER-note', ...more };
      const token = await here.service.createRequest({ ...fields, response_file_attachments: true });
      const answer = { name: 'request[response]', value: 'MARKER-answer' };
      const form = [answer, { ...file, name: 'request[files][]' }];
      expect((await ask('PATCH', `/${token}/respond${open}`, { form })).status).toBe(200);
      return token;
    }

    const answerToken = async () => {
      const [row] = await here.beside.sql<StoredPush>`SELECT * FROM pushes WHERE kind = 'answer'`;
      const links = await readLinks(here.beside.sql, await keyIn(room.settings));
      return links.open(row as StoredPush);
    };

    test('the database alone tells nothing of them, and a passphrase seals the answer too', async () => {
      const token = await answered({ passphrase: 'MARKER-passphrase' });
      expect(inRemains(await here.remains(), [token, 'MARKER', 'x-marker'])).toEqual([]);
      const [secret] = await here.beside.sql<SecretRow>`
        SELECT secrets.* FROM secrets JOIN pushes ON id = push_id WHERE kind = 'answer'`;
      // A version, a nonce, a tag, and the same of the key inside.
      expect(secret?.data_key).toHaveLength(29 + 29 + 32);
      const { json } = await asOwner('GET', `/${token}${open}`);
      expect(json.response).toBe('MARKER-answer');
    });

    test.each([
      ['read', (token: string) => asOwner('GET', `/${token}`), 5 * MINUTE],
      ['closed', (token: string) => asOwner('DELETE', `/${token}`), 0],
      ['swept', async () => here.service.clock.advance(7 * DAY), 0],
    ])('are gone once %s, with the instance key in hand', async (_, end, wait) => {
      const token = await answered({});
      const tokens = [token, await answerToken()];
      const sealed = await traces();
      const before = await here.remains();
      expect(inRemains(before, sealed)).toEqual(sealed);
      expect(await here.opened(before, ...tokens)).not.toEqual([]);
      await end(token);
      here.service.clock.advance(wait);
      await sweep();
      await here.service.service.pushes.finish();
      const after = await here.remains();
      expect(inRemains(after, sealed)).toEqual([]);
      expect(await here.opened(after, ...tokens)).toEqual([]);
    });
  });

  describe('expired means gone, with the instance key in hand', () => {
    const each = (work: (token: string) => Promise<unknown>) => (tokens: string[]) => Promise.all(tokens.map(work));

    test.each<[string, number, (tokens: string[]) => Promise<unknown>]>([
      [
        'by the last view, once the links to its files have run out',
        0,
        async (tokens) => {
          for (const token of tokens) expect((await retrieve(token)).json.payload).not.toBeNull();
          here.service.clock.advance(5 * MINUTE);
          await sweep();
        },
      ],
      ['by hand', 0, each(expire)],
      ['by time, when somebody asks', 1, each(retrieve)],
      ['by time, when someone deletes it', 1, each(expire)],
      ['by time, when nobody asks', 1, sweep],
    ])('%s', async (_, days, end) => {
      const limits = { expire_after_views: 1, expire_after_days: 1 };
      const tokens = [await here.service.create({ ...push, ...limits }), await createFile()];
      const sealed = await traces();
      expect(sealed).toHaveLength(2 * 6 + 2 + 1);
      const before = await here.remains();
      expect(inRemains(before, sealed)).toEqual(sealed);
      // Each has a data key, a note's key and a verifier, and a dump is taken in two ways.
      expect(new Set((await here.opened(before, ...tokens)).map(String)).size).toBe(6);
      here.service.clock.advance(days * DAY);
      await end(tokens);
      await here.service.service.pushes.finish();
      const after = await here.remains();
      expect([...inRemains(before, tokens), ...inRemains(after, tokens)]).toEqual([]);
      expect(inRemains(after, sealed)).toEqual([]);
      expect(await here.opened(after, ...tokens)).toEqual([]);
    });

    test('after the last view, while the links still open the files, and its reader can repeat it', async () => {
      const token = await createFile();
      const how = { headers: { 'idempotency-key': '"0123456789abcdef"' } };
      const read = () => here.service.retrieve(`${token}${open}`, how);
      const [{ url }] = (await read()).json.files;
      expect(await here.opened(await here.remains(), token)).toEqual([]);
      expect((await read()).json.payload).toBe(push.payload);
      expect((await here.service.fetchLink(url)).status).toBe(200);
    });
  });
});
