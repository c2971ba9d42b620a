import { beforeEach, expect, test } from 'vitest';
import { type Service, startService } from '../../src/server/service';
import { type CuttingProxy, cuttingProxy } from '../helpers/cutting-proxy';
import { inTurns, long } from '../helpers/long';
import { seed } from '../helpers/seed';
import { defaults } from '../helpers/service';
import { overSocket } from '../helpers/sockets';

// Each connection of a command is cut after some bytes, then after some more, until it is not cut.

inTurns();

const SECRET = 'MARKER-correct-horse-battery-staple';
const step = long ? 20 : 300;
const first = long ? 0 : seed % step;

let service: Service;
let proxy: CuttingProxy;
let token: string;
beforeEach(async () => {
  const io = { log: () => {}, warn: () => {}, now: () => new Date(), version: '0.1.0' };
  service = await startService(defaults, io);
  token = service.firstToken ?? '';
  proxy = await cuttingProxy(Number(new URL(service.url).port));
  return async () => {
    await proxy.close();
    await service.close();
  };
});

/** Runs a command through the proxy, or without it. */
const cut = (stdin: string, PWPUSH_TOKEN: string, ...words: string[]) =>
  overSocket(words, { stdin, env: { PWPUSH_URL: proxy.url, PWPUSH_TOKEN } });
const run = (stdin: string, ...words: string[]) =>
  overSocket(words, { stdin, env: { PWPUSH_URL: service.url, PWPUSH_TOKEN: token } });
/** As somebody else than the owner. */
const take = (id: string) =>
  overSocket(['get', id], { env: { PWPUSH_URL: service.url, PWPUSH_ANONYMOUS: '1' } });
const idOf = (link: string) => /\/[pr]\/([\w-]+)/.exec(link)?.[1] ?? 'none';

const ids = async (...what: string[]): Promise<string[]> =>
  JSON.parse((await run('', 'list', ...what, '--json')).stdout).map(
    ({ url_token }: { url_token: string }) => url_token,
  );

test('push: what was created is printed, or told', async () => {
  await proxy.eachCut({ first, step }, async () => {
    const { code, stdout, stderr } = await cut(SECRET, token, 'push', '--views', '1');
    const [id = 'none', ...others] = await ids();
    expect([others, [0, 11]]).toEqual([[], expect.arrayContaining([code])]);
    if (code === 0) expect((await take(idOf(stdout))).stdout).toBe(SECRET);
    else expect([stdout, stderr.includes(id)]).toEqual(['', id !== 'none']);
    if (code === 11 && id !== 'none') await run('', 'expire', id);
  });
});

test('get of the last view: it is printed, or still there, or may be lost and is said to', async () => {
  await proxy.eachCut({ first, step }, async () => {
    const id = idOf((await run(SECRET, 'push', '--views', '1')).stdout);
    const { code, stdout } = await cut('', '', 'get', id);
    const again = await take(id);
    expect([
      [0, SECRET, ''],
      [11, '', SECRET],
      [11, '', ''],
    ]).toContainEqual([code, stdout, again.stdout]);
  });
});

test('request: what was created is printed, or told', async () => {
  await proxy.eachCut({ first, step }, async () => {
    const { code, stdout } = await cut('', token, 'request', 'Which?', '--no-encrypt');
    const [id, ...others] = await ids('requests');
    expect([others, [0, 11]]).toEqual([[], expect.arrayContaining([code])]);
    if (code === 0) {
      const link = stdout.trim().replace(proxy.url, service.url);
      expect((await run(SECRET, 'respond', link)).code).toBe(0);
      expect((await run('', 'get', id ?? 'none')).stdout).toBe(SECRET);
    } else expect(stdout).toBe('');
    if (id !== undefined) await run('', 'expire', id);
  });
});

test('respond: the answer arrived, or nothing was taken', async () => {
  await proxy.eachCut({ first, step }, async () => {
    const link = (await run('', 'request', 'Which?', '--no-encrypt')).stdout.trim();
    const there = link.replace(service.url, proxy.url);
    const { code, stderr } = await cut(SECRET, '', 'respond', there);
    const answer = (await run('', 'get', link)).stdout;
    expect([
      [0, SECRET],
      [11, SECRET],
      [11, ''],
    ]).toContainEqual([code, answer]);
    // Whoever answers takes nothing.
    expect(stderr).not.toContain('taken: the owner');
  });
});
