import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { passphraseRecipient } from '../../src/age/age';
import { encodeManifest } from '../../src/age/manifest';
import type { Push } from '../../src/contract/decode';
import { RescueStore } from '../../src/keep/rescue-store';
import { decryptPush } from '../../src/take/decrypt';
import type { Retrieval } from '../../src/take/retrieval';
import { encryptStream, encryptText, pieces } from '../helpers/age';
import { eachPlace, NOW } from '../helpers/run';

const FILE = 'https://pw.test/1.age';

const here = eachPlace();
const rescued = () => Object.values(here.rescued());

interface World {
  readonly signal?: AbortSignal;
  /** Called once the armor is in the safe. */
  readonly held?: () => void;
  readonly file?: AsyncIterable<Uint8Array>;
}

function open(armor: string, { signal = new AbortController().signal, held, file }: World) {
  const uid = process.geteuid?.();
  const env = { PWPUSH_STATE_DIR: here.file('state') };
  const stderr = { isTTY: false, columns: 80, rows: 24, closed: true, write: async () => {} };
  const context = {
    env,
    platform: 'linux',
    home: here.folder,
    now: () => NOW,
    uid,
    signal,
    stderr,
  };
  const store = new RescueStore(context);
  const hold = store.hold.bind(store);
  store.hold = async (received) => {
    await hold(received);
    held?.();
  };
  const files = file && [{ filename: '1.age', content_type: '', url: FILE }];
  const push = { url_token: 'abc', payload: armor, views_remaining: 0, files } as Push;
  const openFile = async () => ({ length: undefined, body: file });
  const retrieval = { context, signal, store, link: '', push, sealed: push, openFile };
  const text = 'Pass phrase 1';
  const keys = { text, identities: [], decrypt: true, givenBy: 'PWPUSH_KEY' };
  return decryptPush(retrieval as unknown as Retrieval, keys);
}

test('armor that takes much memory to open is saved before, and removed after', async () => {
  const armor = await encryptText('hunter2', [passphraseRecipient('Pass phrase 1', 17)]);
  const interrupt = new AbortController();
  const ended = open(armor, { signal: interrupt.signal, held: () => interrupt.abort('SIGINT') });
  await expect(ended).rejects.toMatchObject({ code: 'interrupted' });
  expect(rescued()).toEqual([armor]);
  rmSync(here.file('state'), { recursive: true });
  let saved: string[] = [];
  const opened = await open(armor, {
    held: () => {
      saved = rescued();
    },
  });
  expect([opened.push.payload, saved, rescued()]).toEqual(['hunter2', [armor], []]);
});

test.each([
  ['shorter', 'hunter', 'hunter'],
  ['longer', 'hunter22', ''],
])('a file %s than the manifest says fails, and no byte too many is handed out', async (...row) => {
  const [, content, handed] = row;
  const recipients = [passphraseRecipient('Pass phrase 1', 1)];
  const manifest = encodeManifest({ files: [{ name: 'a', type: 'text/plain', size: 7 }] });
  const { bytes } = await encryptStream(pieces(Buffer.from(content)), recipients);
  const opened = await open(await encryptText(manifest, recipients), { file: bytes });
  const { body } = await opened.openFile(FILE);
  let got = '';
  const reading = async () => {
    for await (const chunk of body) got += Buffer.from(chunk);
  };
  await expect(reading()).rejects.toMatchObject({ facts: [{ name: 'size-differs' }] });
  expect(got).toBe(handed);
});
