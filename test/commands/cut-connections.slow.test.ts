import { beforeEach, expect, test } from 'vitest';
import { type Service, startService } from '../../src/server/service';
import { type CuttingProxy, cuttingProxy } from '../helpers/cutting-proxy';
import { long } from '../helpers/long';
import { seed } from '../helpers/seed';
import { defaults } from '../helpers/service';
import { overSocket } from '../helpers/sockets';

// Each connection of a command is cut after some bytes, then after some more, until it is not cut.

const SECRET = 'MARKER-correct-horse-battery-staple';
const step = long ? 60 : 100;
const first = seed % step;

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

const cut = (stdin: string, PWPUSH_TOKEN: string, ...words: string[]) =>
  overSocket(words, { stdin, env: { PWPUSH_URL: proxy.url, PWPUSH_TOKEN } });

// biome-ignore lint/suspicious/noExplicitAny: tests compare it whole
async function ask(method: string, path: string, body?: object): Promise<any> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  return (await fetch(`${service.url}/api/v2/${path}`, init)).json();
}
const ids = async (path: string) => (await ask('GET', path)).map(({ url_token }: { url_token: string }) => url_token);
/** What a push or a request has in its audit log, oldest first. */
const events = async (path: string) =>
  (await ask('GET', `${path}/audit`)).logs.map(({ kind }: { kind: string }) => kind);

const push = () => ask('POST', 'pushes', { push: { payload: SECRET, expire_after_views: 1 } });
const request = () => ask('POST', 'requests', { request: { request: '?' } });
const respond = (id: string) => ask('PATCH', `requests/${id}/respond`, { request: { response: SECRET } });

test('push: one push is created, and its link is printed', async () => {
  await proxy.eachCut({ first, step }, async () => {
    const { code, stdout } = await cut(SECRET, token, 'push', '--views', '1');
    const [id = 'none', ...others] = await ids('pushes/active');
    expect([code, stdout, others]).toEqual([0, `${proxy.url}/p/${id}/r\n`, []]);
    expect((await ask('GET', `pushes/${id}`)).payload).toBe(SECRET);
    await ask('DELETE', `pushes/${id}`);
  });
});

test('get of the last view: it is printed, and one view is used', async () => {
  await proxy.eachCut({ first, step }, async () => {
    const { url_token } = await push();
    const { code, stdout } = await cut('', '', 'get', url_token);
    expect([code, stdout]).toEqual([0, SECRET]);
    expect(await events(`pushes/${url_token}`)).toEqual(['creation', 'view']);
  });
});

test('request: one is created, and its link is printed', async () => {
  await proxy.eachCut({ first, step }, async () => {
    const { code, stdout } = await cut('', token, 'request', 'Which?', '--no-encrypt');
    const [id = 'none', ...others] = await ids('requests/open');
    expect([code, stdout, others]).toEqual([0, `${proxy.url}/r/${id}\n`, []]);
    await ask('DELETE', `requests/${id}`);
  });
});

test('respond: one answer arrives', async () => {
  await proxy.eachCut({ first, step }, async () => {
    const { url_token } = await request();
    const { code } = await cut(SECRET, '', 'respond', `${proxy.url}/r/${url_token}`);
    const { response } = await ask('GET', `requests/${url_token}`);
    const all = await events(`requests/${url_token}`);
    const answers = all.filter((kind: string) => kind.endsWith('response'));
    expect([code, response, answers]).toEqual([0, SECRET, ['response']]);
  });
});

test('get of an answer: it is printed, and taken once', async () => {
  await proxy.eachCut({ first, step }, async () => {
    const { url_token } = await request();
    await respond(url_token);
    const { code, stdout } = await cut('', token, 'get', `${proxy.url}/r/${url_token}`);
    const all = await events(`requests/${url_token}`);
    const readings = all.filter((kind: string) => kind === 'response_view');
    expect([code, stdout, readings]).toEqual([0, SECRET, ['response_view']]);
  });
});
