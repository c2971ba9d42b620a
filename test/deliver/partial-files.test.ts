import { spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, linkSync, readdirSync, renameSync, truncateSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { passphraseRecipient, prepareFile } from '../../src/age/age';
import { newLinkKey } from '../../src/age/key';
import { encodeManifest } from '../../src/age/manifest';
import { claimFile } from '../../src/platform/claim';
import type { Transport } from '../../src/platform/context';
import { encryptText, joined, pieces } from '../helpers/age';
import { contents } from '../helpers/contents';
import { deferred } from '../helpers/deferred';
import { changed, RETRIEVED } from '../helpers/reference';
import { place } from '../helpers/run';
import { answering, broken, json } from '../helpers/wire';

// Two runs that finish the same download of a last view: the file that was kept, and the part of the file, are one run's.

const key = newLinkKey();
const file = 'x'.repeat(600_000).concat('y'.repeat(400_000));
const BROKEN = 600_000;

async function offered(encrypted: boolean) {
  if (!encrypted) return { payload: '', name: 'big', body: Buffer.from(file) };
  const recipients = [passphraseRecipient(key, 10)];
  const { mac, encrypt } = await prepareFile(recipients);
  const entry = { name: 'big', type: 'text/plain', size: file.length, mac };
  const body = await joined(encrypt(pieces(Buffer.from(file))));
  const payload = await encryptText(encodeManifest({ files: [entry] }), recipients);
  return { payload, name: '1.age', body };
}

/** The download of a last view, of which a part has arrived. The first that resumes it waits for `arrive` when it has begun. */
async function brokenOff({ encrypted = false, env = {}, expires = false, arrived = BROKEN } = {}) {
  const { payload, name, body } = await offered(encrypted);
  const links = [{ filename: name, content_type: '', url: '/f' }];
  const push = changed(RETRIEVED, { url_token: 'abc', payload, files: links, views_remaining: 0 });
  const [begun, arrive] = [deferred(), deferred()];
  const ranges: (string | undefined)[] = [];
  let breaks = true;
  let changedTo = 0;
  const send: Transport = async ({ url, headers: { range } }) => {
    if (!url.endsWith('/f')) return answering(json(200, push));
    const from = Number(/^bytes=(\d+)-$/.exec(`${range}`)?.[1] ?? 0);
    if (breaks && from > 0 && expires) return answering({ status: 403 });
    if (breaks && from > 0) throw broken(false);
    if (changedTo > 0 && from > 0) return answering({ status: changedTo, headers: { etag: '"2"' } });
    const headers = {
      'content-length': `${body.length - from}`,
      'content-range': `bytes ${from}-${body.length - 1}/${body.length}`,
      etag: '"1"',
    };
    const status = from > 0 ? 206 : 200;
    if (breaks) {
      const part = { body: body.subarray(0, arrived), cut: true };
      return answering({ status, headers, ...part });
    }
    const waits = ranges.push(`${range}`) === 1;
    const rest = async function* () {
      yield body.subarray(from, from + 1);
      begun.resolve();
      if (waits) await arrive.promise;
      yield body.subarray(from + 1);
    };
    return { status, headers, body: rest() };
  };
  const here = place({ send, env: { PWPUSH_URL: 'https://pw.test', ...env } });
  const link = `https://pw.test/p/abc${encrypted ? `#${key}` : ''}`;
  const { stderr } = await here.run('get', link, '--output', here.file('in/'));
  breaks = false;
  const [, kept = ''] = /--resume '(.*)'\n/.exec(stderr) ?? [];
  const resume = (...words: string[]) => here.run('get', link, '--resume', kept, ...words);
  /** The file is another one: to a request for its rest, the instance answers with that status. */
  const change = (status: number) => {
    changedTo = status;
  };
  const saved = () => contents(here.file('in'));
  const state = () => readdirSync(here.file('state'));
  return { arrive, begun: begun.promise, change, here, kept, ranges, resume, saved, state };
}

describe.each([
  ['the bytes of the file', false, ['bytes=600000-']],
  ['an encrypted file', true, ['undefined']],
])('of two runs that get the rest of %s at once', (_what, encrypted, ranges) => {
  test('one saves the whole file, and the other asks for nothing and leaves all as it is', async () => {
    const { arrive, begun, kept, resume, saved, state, ...seen } = await brokenOff({ encrypted });
    const first = resume();
    await begun;
    const before = [state(), Object.keys(saved())];
    const { code, stderr } = await resume();
    expect(code).toBe(1);
    expect(stderr).toContain(`another run is getting the rest of "${kept}"; nothing was fetched`);
    expect([state(), Object.keys(saved())]).toEqual(before);
    arrive.resolve();
    expect((await first).code).toBe(0);
    expect(saved()).toEqual({ big: file });
    expect([state(), seen.ranges]).toEqual([[], ranges]);
  });
});

test('what a run had that was killed is taken over, with the bytes that are there', async () => {
  const { arrive, here, kept, ranges, resume, saved, state } = await brokenOff();
  const { pid } = spawnSync('true');
  const [part = ''] = readdirSync(here.file('in'));
  claimFile(kept, pid);
  appendFileSync(claimFile(here.file(`in/${part}`), pid), 'yyy');
  arrive.resolve();
  expect(await resume()).toMatchObject({ code: 0 });
  expect(saved()).toEqual({ big: file });
  expect([state(), ranges]).toEqual([[], ['bytes=600003-']]);
});

test.each<[string, (part: string, elsewhere: string) => void]>([
  ['has another link', linkSync],
  ['a group can write to', (part) => chmodSync(part, 0o620)],
  ['all can write to', (part) => chmodSync(part, 0o602)],
  ['is empty', (part) => truncateSync(part)],
  ['is as long as the whole file', (part) => truncateSync(part, 1_000_000)],
])('a part that %s is removed, and the file asked for from its beginning', async (_what, change) => {
  const { arrive, here, ranges, resume, saved } = await brokenOff();
  const [part = ''] = readdirSync(here.file('in'));
  change(here.file(`in/${part}`), here.file('elsewhere'));
  arrive.resolve();
  expect(await resume()).toMatchObject({ code: 0 });
  expect([saved(), ranges]).toEqual([{ big: file }, ['undefined']]);
});

test('in another folder the file is asked for from its beginning, and its part is removed', async () => {
  const { arrive, here, ranges, resume, saved } = await brokenOff();
  arrive.resolve();
  expect(await resume('--output', here.file('other/'))).toMatchObject({ code: 0 });
  expect([saved(), contents(here.file('other')), ranges]).toEqual([{}, { big: file }, ['undefined']]);
});

test.each([200, 206, 416])('a file that has changed, as %i says, is asked for from its beginning', async (status) => {
  const { arrive, change, ranges, resume, saved } = await brokenOff();
  change(status);
  arrive.resolve();
  expect(await resume()).toMatchObject({ code: 0 });
  expect([saved(), ranges]).toEqual([{ big: file }, ['undefined']]);
});

test('of a file of which no byte arrived, no part is left', async () => {
  const { kept, saved, state } = await brokenOff({ arrived: 0 });
  expect([saved(), state()]).toEqual([{}, [kept.replace(/.*\//, '')]]);
});

test('a link that expires leaves the part that has arrived', async () => {
  const { kept, saved, state } = await brokenOff({ expires: true });
  expect([Object.values(saved()), state()]).toEqual([[file.slice(0, BROKEN)], [kept.replace(/.*\//, '')]]);
});

test('what a run on another machine has is not taken from it', async () => {
  const { kept, ranges, resume, state } = await brokenOff();
  const elsewhere = `${kept}.00000000-1-1.claim`;
  renameSync(kept, elsewhere);
  const { code, stderr } = await resume();
  expect([code, ranges]).toEqual([1, []]);
  expect(stderr).toContain(`hint: wait until it ends; if there is no such run, rename "${elsewhere}`);
  expect(state()).toEqual([elsewhere.replace(/.*\//, '')]);
});

test('a run that fails gives back what it had', async () => {
  const { here, kept, state } = await brokenOff({ encrypted: true });
  const { code } = await here.run('get', '--resume', kept, '--key-file', here.file('none'));
  expect([code, state()]).toEqual([2, [kept.replace(/.*\//, '')]]);
});

test('a file that another program wrote to meanwhile gets no name', async () => {
  const { arrive, begun, here, resume, saved } = await brokenOff();
  const running = resume();
  await begun;
  const [part = ''] = readdirSync(here.file('in'));
  appendFileSync(here.file(`in/${part}`), 'more');
  arrive.resolve();
  const { code, stderr } = await running;
  expect([code, saved()]).toEqual([1, {}]);
  expect(stderr).toContain('its file has 1000004 bytes, and 1000000 were received');
});

test('of a download that cannot be kept, no part of a file is left', async () => {
  const env = { PWPUSH_STATE_DIR: '/dev/null', TMPDIR: '/dev/null' };
  const { here, kept } = await brokenOff({ env });
  expect([kept, readdirSync(here.file('in'))]).toEqual(['', []]);
});
