import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { instanceKey } from '../../src/server/keys/instance-key';
import { readLinks } from '../../src/server/keys/keyring';
import type { SecretRow, StoredPush } from '../../src/server/store/push-rows';
import { type AtRest, atRest } from '../helpers/at-rest';
import { call, create, createWithFiles, fetchLink, filePart } from '../helpers/service';
import { onEachStore } from '../helpers/stores';

const MINUTE = 60_000;
const DAY = 86_400_000;

const push = {
  payload: 'MARKER-payload '.repeat(200),
  note: 'MARKER-note',
  passphrase: 'MARKER-passphrase',
};
const open = '?passphrase=MARKER-passphrase';
const file = filePart('MARKER-name', 'MARKER-content '.repeat(8_000), 'application/x-marker');

onEachStore((store) => {
  let here: AtRest;

  beforeEach(async () => {
    here = await atRest(await store.room());
    return here.close;
  });

  const at = (token: string) => `/api/v2/pushes/${token}`;
  const retrieve = (token: string) => call(here.service, 'GET', `${at(token)}${open}`);
  const expire = (token: string) => call(here.service, 'DELETE', at(token));
  const sweep = () => here.service.service.housekeeping.sweep();

  const fields = Object.entries({ ...push, expire_after_views: '1', expire_after_days: '1' });
  const form = fields.map(([name, value]) => ({ name: `push[${name}]`, value }));
  const createFile = () => createWithFiles(here.service, file, ...form);

  test('the database alone tells nothing', async () => {
    const { service } = here;
    const token = await create(service, push, service.adminToken);
    await call(service, 'GET', `${at(token)}?passphrase=MARKER-wrong`);
    await retrieve(token);
    await call(service, 'GET', '/api/v2/pushes/active', { token: service.adminToken });
    const held = await createWithFiles(service, file, ...form.slice(0, 3));
    const [{ url }] = (await retrieve(held)).json.files;
    expect((await fetchLink(service, url)).bytes).toHaveLength(120_000);
    const remains = await here.remains();
    expect(remains.includes('failed_passphrase')).toBe(true);
    const key = Buffer.from(await readFile(join(here.data, 'instance.key'), 'utf8'), 'base64');
    const links = [token, held];
    const told = [
      ...links,
      'MARKER',
      'x-marker',
      service.adminToken.slice(4),
      url.split('/files/')[1],
      key,
    ];
    expect(told.filter((value) => remains.includes(value))).toEqual([]);
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
    const asOwner = () => ({ token: here.service.adminToken });
    const ask = (method: string, path: string, how = {}) =>
      call(here.service, method, `/api/v2/requests${path}`, how);

    async function answered(fields: object): Promise<string> {
      const request = { request: 'MARKER-question', note: 'MARKER-note', ...fields };
      const { json } = await ask('POST', '', {
        ...asOwner(),
        body: { request: { ...request, response_file_attachments: true } },
      });
      const { status } = await ask('PATCH', `/${json.url_token}/respond${open}`, {
        form: [
          { name: 'request[response]', value: 'MARKER-answer' },
          { ...file, name: 'request[files][]' },
        ],
      });
      expect(status).toBe(200);
      return json.url_token;
    }

    const answerToken = async () => {
      const [row] = await here.beside.sql<StoredPush>`SELECT * FROM pushes WHERE kind = 'answer'`;
      const text = await readFile(join(here.data, 'instance.key'), 'utf8');
      const links = await readLinks(here.beside.sql, instanceKey(Buffer.from(text, 'base64')));
      return links.open(row as StoredPush);
    };

    test('the database alone tells nothing of them', async () => {
      const token = await answered({ passphrase: 'MARKER-passphrase' });
      const remains = await here.remains();
      const told = [token, 'MARKER', 'x-marker'];
      expect(told.filter((value) => remains.includes(value))).toEqual([]);
    });

    test('a passphrase seals the answer too, besides the instance key', async () => {
      const token = await answered({ passphrase: 'MARKER-passphrase' });
      const [secret] = await here.beside.sql<SecretRow>`
        SELECT secrets.* FROM secrets JOIN pushes ON id = push_id WHERE kind = 'answer'`;
      // A version, a nonce, a tag, and the same of the key inside.
      expect(secret?.data_key).toHaveLength(29 + 29 + 32);
      const { json } = await ask('GET', `/${token}${open}`, asOwner());
      expect(json.response).toBe('MARKER-answer');
    });

    test.each([
      ['read', (token: string) => ask('GET', `/${token}`, asOwner()), 5 * MINUTE],
      ['closed', (token: string) => ask('DELETE', `/${token}`, asOwner()), 0],
      ['swept', async () => here.service.clock.advance(7 * DAY), 0],
    ])('are gone once %s, with the instance key in hand', async (_, end, wait) => {
      const token = await answered({});
      const tokens = [token, await answerToken()];
      const sealed = await traces();
      const before = await here.remains();
      expect(sealed.filter((trace) => !before.includes(trace))).toEqual([]);
      expect(await here.opened(before, ...tokens)).not.toEqual([]);
      await end(token);
      here.service.clock.advance(wait);
      await sweep();
      await here.service.service.pushes.finish();
      const after = await here.remains();
      expect(sealed.filter((trace) => after.includes(trace))).toEqual([]);
      expect(await here.opened(after, ...tokens)).toEqual([]);
    });
  });

  describe('expired means gone, with the instance key in hand', () => {
    test.each([
      [
        'by the last view, once the links to its files have run out',
        async (tokens: string[]) => {
          for (const token of tokens) expect((await retrieve(token)).json.payload).not.toBeNull();
          here.service.clock.advance(5 * MINUTE);
          await sweep();
        },
      ],
      ['by hand', async (tokens: string[]) => void (await Promise.all(tokens.map(expire)))],
      [
        'by time, when somebody asks',
        async (tokens: string[]) => {
          here.service.clock.advance(DAY);
          await Promise.all(tokens.map(retrieve));
        },
      ],
      [
        'by time, when someone deletes it',
        async (tokens: string[]) => {
          here.service.clock.advance(DAY);
          await Promise.all(tokens.map(expire));
        },
      ],
      [
        'by time, when nobody asks',
        async () => {
          here.service.clock.advance(DAY);
          await sweep();
        },
      ],
    ] as [string, (tokens: string[]) => Promise<void>][])('%s', async (_, end) => {
      const limits = { expire_after_views: 1, expire_after_days: 1 };
      const tokens = [await create(here.service, { ...push, ...limits }), await createFile()];
      const sealed = await traces();
      expect(sealed).toHaveLength(2 * 6 + 2 + 1);
      const before = await here.remains();
      expect(sealed.filter((trace) => !before.includes(trace))).toEqual([]);
      // Each has a data key, a note's key and a verifier, and a dump is taken in two ways.
      expect(new Set((await here.opened(before, ...tokens)).map(String)).size).toBe(6);
      await end(tokens);
      await here.service.service.pushes.finish();
      const after = await here.remains();
      expect(tokens.filter((token) => before.includes(token) || after.includes(token))).toEqual([]);
      expect(sealed.filter((trace) => after.includes(trace))).toEqual([]);
      expect(await here.opened(after, ...tokens)).toEqual([]);
    });

    test('after the last view, while the links still open the files', async () => {
      const token = await createFile();
      const [{ url }] = (await retrieve(token)).json.files;
      expect(await here.opened(await here.remains(), token)).toEqual([]);
      expect((await fetchLink(here.service, url)).status).toBe(200);
    });

    test('only what expired goes', async () => {
      const kept = await create(here.service, { payload: 'kept' });
      const gone = await create(here.service, { payload: 'gone' });
      await expire(gone);
      expect((await call(here.service, 'GET', at(kept))).json.payload).toBe('kept');
    });
  });
});
