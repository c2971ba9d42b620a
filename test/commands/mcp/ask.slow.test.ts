import { readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { undiciTransport } from '../../../src/client/transport/undici';
import { answersTo } from '../../helpers/answers';
import { lose } from '../../helpers/here';
import { BASE, eachInstance, overFetch } from '../../helpers/instance';
import { eras, SECRET, type ShowPage, served, serving } from '../../helpers/mcp';
import { changed } from '../../helpers/reference';
import { eachPlace, place } from '../../helpers/run';
import { rewriting } from '../../helpers/wire';

/** Open for long: the clock of the instance runs while someone waits. */
const QUESTION = { question: 'The password of db1?', file: 'db.env', expire: '4w' };

/** A short pause between two looks. */
const nap = () => new Promise<void>((resolve) => void setTimeout(resolve, 50));

const here = eachInstance();
/** Someone with a browser on this machine. */
const person = eachPlace({ transport: (options) => undiciTransport(options) });

/** Where the question is asked: at the instance, or from this machine without one. */
const places = ['instance', 'machine'] as const;
const cases = eras.flatMap((era) => places.map((where) => ({ era, where })));

function server({ era, where }: (typeof cases)[number], showPage?: ShowPage) {
  // Of the operator, which no question has.
  const passphrase = { PWPUSH_PASSPHRASE: 'open sesame' };
  const nowhere = { PWPUSH_URL: undefined, PWPUSH_TOKEN: undefined };
  const env = { ...(where === 'machine' && nowhere), ...passphrase };
  return serving(here, [], { era, ...(showPage && { showPage }), conditions: { env } });
}

async function respond(link: string): Promise<number> {
  const at = /127\.0\.0\.1/.test(link) ? person : here;
  const { code } = await at.under({ stdin: SECRET }).run('respond', link);
  return code;
}

const saved = () => readFileSync(here.file('root/db.env'), 'utf8');
const files = () => readdirSync(here.file('root'));
const linkIn = (text: string) => /https?:\/\/\S+/.exec(text)?.[0] ?? '';

describe.each(cases)('version $era, a question of the $where', (one) => {
  test('is answered on the page that the client shows', async () => {
    const { call } = await server(one, async (url) => {
      expect(url).toMatch(/^http.*\/r\/[\w-]+#age1/);
      await respond(url);
      return 'accept';
    });
    expect(await call('ask', QUESTION)).toBe('saved db.env (17 B)');
    expect([saved(), statSync(here.file('root/db.env')).mode & 0o777]).toEqual([SECRET, 0o600]);
  });

  test('is closed if the person declines', async () => {
    let link = '';
    const { call } = await server(one, async (url) => {
      link = url;
      return 'decline';
    });
    expect(await call('ask', QUESTION)).toMatch(/\(decline\); the question is closed/);
    expect(await respond(link)).not.toBe(0);
    expect(files()).toEqual([]);
  });

  test('is a link in the answer if the client shows no pages; wait takes it up', async () => {
    const { call } = await server(one);
    const told = await call('ask', QUESTION);
    expect(told).toMatch(/^Give this link to the person .*\n.* call wait with this link/);
    const link = linkIn(told);
    expect(await call('wait', { link, seconds: 1 })).toMatch(/^no answer within 1 s/);
    expect(await call('save', { link, file: 'other' })).toMatch(/^! .*call wait with this link/);
    expect(await call('ask', QUESTION)).toMatch(/^! another answer is to be saved to "db.env"/);
    await respond(link);
    expect(await call('wait', { link })).toBe('saved db.env (17 B)');
    expect(saved()).toBe(SECRET);
  });

  test('is left with the person who looks at the page for long', async () => {
    let link = '';
    const { call } = await server(one, async (url) => {
      link = url;
      return 'accept';
    });
    expect(await call('ask', { ...QUESTION, seconds: 1 })).toMatch(/^no answer within 1 s/);
    await respond(link);
    expect(await call('wait', { link })).toBe('saved db.env (17 B)');
  });

  test('ends with the server, and leaves nothing', async () => {
    const { call, close } = await server(one);
    const link = linkIn(await call('ask', QUESTION));
    expect((await close()).code).toBe(0);
    expect(files()).toEqual([]);
    // A request stays at the instance, with its key here.
    expect(await respond(link)).toBe(one.where === 'instance' ? 0 : 9);
  });

  test.each([
    [{ file: '../out' }, 'is outside the folder'],
    [{ expire: '1s' }, 'cannot close after 1 second'],
    [{ expire: 'never' }, 'must be a duration'],
    [{ question: '' }, 'question: Too small'],
  ])('%j is refused', async (given, why) => {
    const { call } = await server(one);
    expect(await call('ask', { ...QUESTION, ...given })).toContain(why);
    expect(files()).toEqual([]);
  });
});

test('an instance without requests is not asked: this machine is', async () => {
  const version = { edition: 'commercial', features: { requests: { enabled: false } } };
  const { send } = answersTo({ 'GET /version': version });
  const { call } = await served(place({ send, env: { PWPUSH_URL: BASE, PWPUSH_TOKEN: 't0ken' } }));
  const told = await call('ask', QUESTION);
  expect(told).toMatch(/http:\/\/127\.0\.0\.1.* It opens in a browser on this machine\./);
  await respond(linkIn(told));
  expect(await call('wait', { link: linkIn(told) })).toBe('saved db.env (17 B)');
});

test('is saved at once, also if the page of the person may not know', async () => {
  const { call } = await server({ era: eras[1], where: 'machine' });
  const link = linkIn(await call('ask', QUESTION));
  const { origin, pathname } = new URL(link);
  const path = `${origin}/api/v2/requests/${pathname.split('/').at(-1)}/respond`;
  const body = JSON.stringify({ request: { response: SECRET } });
  await lose(path, 'Jk3dF8s-Qw2mZx0pLr7tVg', { method: 'PATCH', body });
  expect(await call('wait', { link })).toMatch(/^saved db\.env/);
  expect(saved()).toBe(SECRET);
});

test('of a client that fails to show a page the model gets the link', async () => {
  const { call } = await server({ era: eras[0], where: 'machine' }, async () => {
    throw new Error('no browser');
  });
  expect(await call('ask', QUESTION)).toMatch(/^Give this link to the person/);
});

test('only so many questions are open at once, and one for each file', async () => {
  const { call } = await server({ era: eras[1], where: 'machine' });
  const ask = (file: string) => call('ask', { question: 'Q', file });
  const both = await Promise.all([ask('answer-0'), ask('answer-0')]);
  const other = '! another answer is to be saved to "answer-0"; name another file';
  expect(both.filter((told) => told === other)).toHaveLength(1);
  const asked = await Promise.all(Array.from({ length: 25 }, (_, at) => ask(`answer-${at + 1}`)));
  const many = '! 20 questions are open; wait for their answers';
  expect(asked.filter((told) => told === many)).toHaveLength(6);
});

test.each([
  ['names no request', `${BASE}/`],
  ['names another one', `${BASE}/r/another`],
  ['is elsewhere', 'https://elsewhere.test/r/another'],
])('the link of an instance that %s is told, neither opened nor followed', async (_, html_url) => {
  const send = rewriting(overFetch(here.service, here.asked), (body, { method }) =>
    method === 'POST' ? changed(body, { html_url }) : body,
  );
  const lied = place({ asleep: nap, send, env: { PWPUSH_URL: BASE, ...here.admin } });
  const { call } = await served(lied, [], { showPage: async () => 'accept' });
  const told = await call('ask', QUESTION);
  expect(told).toContain(`Give this link to the person who knows the answer: ${html_url}#age1`);
  expect(told).toMatch(new RegExp(`\\nThen call wait with ${BASE}/r/[\\w-]+\\.`));
  if (!html_url.startsWith(BASE)) expect(told).toContain('\nwarning: the link is on https://elsewhere');
  expect(here.asked.join()).not.toContain('another');
});

test('a client that invents the state of a question gets nothing', async () => {
  const { client } = await server({ era: eras[1], where: 'machine' });
  const params = { name: 'ask', arguments: QUESTION, requestState: 'x' };
  const { content } = await client.callTool(params as never);
  expect(content).toMatchObject([{ text: 'no such question' }]);
});
