import { expect } from 'vitest';
import { History, type Call as Noted, ofAnswer, ofReading, resultOrRefused } from './history';
import { released } from './memory';
import { type Answer, type Call, call, create, type TestService, testService } from './service';
import { sqliteIn } from './stores';

// What a service does with pushes and requests, once each, and what must be true afterwards, wherever it broke off.

type Asked = Pick<TestService, 'fetch'>;

/** In all payloads, so that they are found where they must not be. */
export const MARKER = 'MARKER-';
const SECRETS = {
  held: `${MARKER}held`,
  made: `${MARKER}made`,
  doomed: `${MARKER}doomed`,
} as const;
const ANSWER = `${MARKER}answer`;

export interface Stock {
  readonly owner: string;
  /** Pushes of one view: one to take, one to expire, one whose time has passed. */
  readonly held: string;
  readonly doomed: string;
  readonly passed: string;
  readonly asked: string;
}

/** The service of a test, at the time of those that are started. */
export const opened = (settings: Parameters<typeof testService>[0], ago = () => 0) =>
  testService({
    ...settings,
    clock: { now: () => new Date(Date.now() - ago()), advance: () => {} },
  });

export const overSocket = ({ url }: { readonly url: string }): Asked => ({
  fetch: (request) => fetch(new Request(request.url.replace('http://pw.test', url), request)),
});

export async function stocked(settings: Parameters<typeof testService>[0]): Promise<Stock> {
  let ago = 3_600_000;
  const service = await opened(settings, () => ago);
  const once = (payload: string, more = {}) => create(service, { payload, expire_after_views: 1, ...more });
  const passed = await once(`${MARKER}passed`, { expires_in: 60 });
  ago = 0;
  const owner = service.adminToken;
  const [held, doomed] = [await once(SECRETS.held), await once(SECRETS.doomed)];
  const body = { request: { request: 'Which password?' } };
  const made = await call(service, 'POST', '/api/v2/requests', { token: owner, body });
  await service.close();
  return { owner, held, doomed, passed, asked: made.json.url_token };
}

/** What a session was answered: nothing for what it did not get to, the status 0 where no response came. */
export interface Answers {
  made?: Answer;
  viewHeld?: Answer;
  viewMade?: Answer;
  expired?: Answer;
  responded?: Answer;
  read?: Answer;
}

const NO_RESPONSE = { status: 0, json: undefined } as Answer;

const calls = (service: Asked, { owner, asked, doomed, held }: Stock) => {
  /** Each call has its own, and its repetition the same; services that do not know it pass it over. */
  const once = (step: string, token?: string): Call => ({
    headers: { 'idempotency-key': `"${step}-of-session-${held}"` },
    ...(token === undefined ? {} : { token }),
  });
  return {
    make: () => {
      const push = { payload: SECRETS.made, expire_after_views: 1 };
      return call(service, 'POST', '/api/v2/pushes', { ...once('make'), body: { push } });
    },
    view: (token: string, how = `view-${token}`) => call(service, 'GET', `/api/v2/pushes/${token}`, once(how)),
    expire: () => call(service, 'DELETE', `/api/v2/pushes/${doomed}`),
    respond: (how = 'respond') => {
      const body = { request: { response: ANSWER } };
      return call(service, 'PATCH', `/api/v2/requests/${asked}/respond`, { ...once(how), body });
    },
    read: (how = 'read') => call(service, 'GET', `/api/v2/requests/${asked}`, once(how, owner)),
  };
};

/** Runs it until no response comes. */
export async function session(service: Asked, stock: Stock): Promise<Answers> {
  const answers: Answers = {};
  const { make, view, expire, respond, read } = calls(service, stock);
  const steps: [keyof Answers, () => Promise<Answer>][] = [
    ['made', make],
    ['viewHeld', () => view(stock.held)],
    ['viewMade', () => view(tokenOf(answers.made) ?? 'none')],
    ['expired', expire],
    ['responded', respond],
    ['read', read],
  ];
  for (const [step, ask] of steps) {
    const answer = await ask().catch(() => NO_RESPONSE);
    answers[step] = answer;
    if (answer.status === 0) break;
  }
  return answers;
}

/** The same session if it had broken off after so many responses. */
export function brokenOff(answers: Answers, responses: number): Answers {
  const got = Object.entries(answers).slice(0, responses + 1);
  const last = got.splice(responses).map(([step]) => [step, NO_RESPONSE]);
  return Object.fromEntries([...got, ...last]);
}

const tokenOf = (made: Answer | undefined): string | undefined =>
  made?.status === 201 ? made.json.url_token : undefined;

export interface Ending {
  readonly where: string;
  /** Whether a response of an error does not say that nothing was done, as when a sync failed. */
  readonly unsure?: boolean;
}

const RETRIEVE = { name: 'retrieve' } as const;
const made = (payload: string) => ({ name: 'create', views: 1, payload }) as const;

/** Tries all that is left, at a service that was started again, and judges the history of both. */
export async function judge(
  service: Asked,
  stock: Stock,
  answers: Answers,
  { where, unsure = false }: Ending,
): Promise<void> {
  const version = await call(service, 'GET', '/api/v2/version');
  const repeats = version.json.features?.pushes?.idempotency === true;
  const { make, view, respond, read } = calls(service, stock);
  const history = new History();
  const once = (asked: Noted) => (repeats ? ({ ...asked, key: Object.values(asked).join() } as Noted) : asked);

  type Push = string | undefined;
  const replay = async (push: Push, asked: Noted, answer?: Answer, said = resultOrRefused) => {
    if (!answer) return;
    const isLost = answer.status === 0 || (unsure && answer.status >= 500);
    const known = async () => answer;
    await history.note('the session', push, once(asked), known, isLost ? () => undefined : said);
  };
  const ask = async (push: Push, asked: Noted, send: () => Promise<Answer>, said = resultOrRefused) => {
    const answer = await history.note('a client', push, asked, send, said);
    expect(answer.status, where).toBeLessThan(500);
    return answer;
  };
  /** What the session may have taken, and then what is left. */
  const takeAll = async (
    push: string,
    first: Answer | undefined,
    take: (how?: string) => Promise<Answer>,
    said = resultOrRefused,
  ) => {
    if (first && repeats) await ask(push, once(RETRIEVE), () => take(), said);
    await ask(push, RETRIEVE, () => take('another'), said);
  };
  const viewAll = (push: string, first?: Answer) =>
    takeAll(push, first, (how) => view(push, how && `${how}-of-${push}`));

  for (const name of ['held', 'doomed'] as const)
    history.found('before', stock[name], { status: 'made' }, made(SECRETS[name]));
  const { asked } = stock;
  await replay(undefined, made(SECRETS.made), answers.made);
  await replay(stock.held, RETRIEVE, answers.viewHeld);
  await replay(tokenOf(answers.made), RETRIEVE, answers.viewMade);
  await replay(stock.doomed, { name: 'expire' }, answers.expired);
  await replay(asked, made(ANSWER), answers.responded, ofAnswer);
  await replay(asked, RETRIEVE, answers.read, ofReading);

  await viewAll(stock.held, answers.viewHeld);
  await viewAll(stock.doomed);
  const again = answers.made && repeats ? await ask(undefined, once(made(SECRETS.made)), make) : answers.made;
  const token = tokenOf(again);
  if (token !== undefined) await viewAll(token, answers.viewMade);
  expect((await view(stock.passed)).text, where).not.toContain(MARKER);
  // An answer is there or can be given.
  if (answers.responded?.status !== 200) await ask(asked, once(made(ANSWER)), () => respond(), ofAnswer);
  await takeAll(asked, answers.read, read, ofReading);
  try {
    history.judge();
  } catch (error) {
    throw new Error(`${where}: ${(error as Error).message}`);
  }
}

export async function isSound(data: string): Promise<void> {
  const database = await sqliteIn(data);
  expect(await database.sql`PRAGMA integrity_check`).toEqual([{ integrity_check: 'ok' }]);
  await database.close();
  await released(data);
}
