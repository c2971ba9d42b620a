import { beforeEach, expect, test } from 'vitest';
import { type Database, plain } from '../../../src/server/store/sql';
import { type AtRest, atRest } from '../../helpers/at-rest';
import { filePart, fileRows, opened, type TestService } from '../../helpers/service';
import { onSqlite } from '../../helpers/stores';

const NOBODY = { owner: undefined, ip: null, userAgent: null, referrer: null };

const MINUTE = 60_000;
const CHUNK = 64 * 1024;

const store = onSqlite();
let here: AtRest;
let service: TestService;
let beside: Database;

beforeEach(async () => {
  here = await atRest(await store.room());
  ({ service, beside } = here);
  return here.close;
});

const rows = async () => {
  await service.service.pushes.finish();
  return fileRows(beside);
};
const swept = async () => {
  await service.service.housekeeping.sweep();
  return rows();
};
async function begun(chunks: number, text = '') {
  const upload = service.service.pushes.upload(NOBODY);
  const bytes = (async function* () {
    yield Buffer.alloc(chunks * CHUNK, text);
  })();
  await upload.add({ name: `${text}-name`, type: 'text/plain' }, bytes);
  return upload;
}

test('of a file that is being received the database alone tells nothing', async () => {
  const upload = await begun(50, 'MARKER');
  expect((await rows())[2]).toBeGreaterThan(0);
  expect((await here.remains()).includes('MARKER')).toBe(false);
  await upload.discard();
  expect(await rows()).toEqual([0, 0, 0]);
});

test('chunks that were not deleted before the end are deleted after the next start', async () => {
  const token = await service.createWithFiles(filePart('a', Buffer.alloc(40 * CHUNK)));
  // As if it had been killed: nothing but the answer was done.
  service.service.housekeeping.halt();
  expect((await service.expire(token)).status).toBe(200);
  expect(await rows()).toEqual([1, 1, 40]);
  service = await opened({ data: here.data });
  expect(await swept()).toEqual([0, 0, 0]);
});

const three = filePart('a', Buffer.alloc(3 * CHUNK, 'a'));

async function downloadAfter(change: () => Promise<unknown>): Promise<string> {
  const token = await service.createWithFiles(three, filePart('b', Buffer.alloc(3 * CHUNK)));
  const { files } = (await service.retrieve(token)).json;
  await change();
  const answer = await service.fetchLink(files[0].url).catch(() => undefined);
  if (!answer) return 'broke off';
  return answer.status === 200 ? 'whole' : `${answer.status}`;
}

const one = 'position = 0 AND number = 1';
const set = (value: string, where: string) => () =>
  beside.sql(plain(`UPDATE chunks SET sealed = ${value} WHERE ${where}`));
// One letter alone could be the byte that is there.
const another = "iif(substr(sealed, 5001, 1) = x'78', 'y', 'x')";
const from = (where: string) => `(SELECT sealed FROM chunks WHERE ${where})`;

test.each<[string, () => Promise<unknown>, string?]>([
  ['nothing', async () => {}, 'whole'],
  ['a byte', set(`CAST(substr(sealed, 1, 5000) || ${another} || substr(sealed, 5002) AS BLOB)`, one)],
  ['the end of a chunk', set('substr(sealed, 1, 65564)', one)],
  ['all of a chunk', set("x''", one)],
  ['the order of chunks', set(from('position = 0 AND number = 0'), one)],
  ['the chunks of two files', set(from('position = 1 AND number = 1'), one)],
  ['a chunk that is left out', () => beside.sql`DELETE FROM chunks WHERE number = 1`],
  ['the last chunk, left out', () => beside.sql`DELETE FROM chunks WHERE number = 2`],
  ['a file cut short', set(from('position = 0 AND number = 1'), 'position = 0 AND number = 2')],
  [
    'the files of two pushes',
    async () => {
      await service.createWithFiles(three);
      await beside.sql`
        UPDATE chunks SET sealed = (
          SELECT sealed FROM chunks AS other WHERE other.number = chunks.number AND upload_id = 2)
        WHERE upload_id = 1 AND position = 0`;
    },
  ],
  [
    'what is known of a file',
    () => beside.sql`
      UPDATE files SET header = (SELECT header FROM files WHERE position = 1) WHERE position = 0`,
    '500',
  ],
])('what was tampered with is not handed out %s', async (_, change, expected = 'broke off') => {
  expect(await downloadAfter(change)).toBe(expected);
  const line = /^2026-08-20T11:06:45.000Z error \w+ (?:\w+ )?at /;
  const failures = service.lines.filter((entry) => line.test(entry));
  expect(failures).toHaveLength(expected === 'whole' ? 0 : 1);
});

test('uploads that nobody goes on with are swept, and cannot become a push any more', async () => {
  const upload = await begun(40);
  service.clock.advance(2 * MINUTE - 1);
  expect((await swept())[0]).toBe(1);
  service.clock.advance(1);
  expect(await swept()).toEqual([0, 0, 0]);
  await expect(service.service.pushes.create({}, NOBODY, upload)).rejects.toThrow('The upload stalled for too long.');
  await upload.discard();
  expect(await beside.sql`SELECT id FROM pushes`).toEqual([]);
});

test('an upload that was swept takes nothing of one that begins later', async () => {
  const upload = await begun(40);
  service.clock.advance(2 * MINUTE);
  expect(await swept()).toEqual([0, 0, 0]);
  const later = await begun(40);
  const created = service.service.pushes.create({}, NOBODY, upload);
  await expect(created).rejects.toThrow('The upload stalled for too long.');
  await upload.discard();
  const { push } = await service.service.pushes.create({}, NOBODY, later);
  expect((await service.retrieve(push.url_token)).json.files).toHaveLength(1);
});

test.each([1, 40])('an upload of %i chunks that was discarded becomes no push', async (chunks) => {
  const upload = await begun(chunks);
  await upload.discard();
  const created = service.service.pushes.create({}, NOBODY, upload);
  await expect(created).rejects.toThrow('The upload stalled for too long.');
  expect(await rows()).toEqual([0, 0, 0]);
});

test('uploads that nobody goes on with but not while something comes, however slowly, nor by a second service that starts', async () => {
  const upload = await begun(40);
  await opened({ data: here.data });
  for (let i = 0; i < 5; i += 1) {
    service.clock.advance(MINUTE);
    await upload.touch();
    await service.service.housekeeping.sweep();
  }
  const { push } = await service.service.pushes.create({}, NOBODY, upload);
  await upload.discard();
  expect((await service.retrieve(push.url_token)).json.files).toHaveLength(1);
});
