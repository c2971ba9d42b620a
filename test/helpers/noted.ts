import { type Call as Asked, History, type resultOf, resultOrRefused, type Said } from './history';
import type { Call } from './service';

interface Retrieval extends Call {
  readonly key?: string;
  readonly query?: string;
}

/**
 * Calls about pushes by clients, who have numbers, as `ask` sends them. All are noted, and judged in the end.
 * @param said what a response says, if not all errors are refusals
 */
export function noted<A extends Said>(
  ask: (client: number, method: string, path: string, how: Call) => Promise<A>,
  said: typeof resultOf = resultOrRefused,
) {
  const history = new History();
  let waves = 0;
  const note = async (client: number, token: string | undefined, call: Asked, work: () => Promise<A>) => {
    const answer = await history.note(`client ${client}`, token, call, work, said);
    const { status, json } = answer;
    if (status >= 500 && status !== 503) throw new Error(`${status} ${JSON.stringify(json)}`);
    return answer;
  };
  const at = (path: string) => `/api/v2/pushes${path}`;

  function retrieve(client: number, token: string, { key, query = '', ...how }: Retrieval = {}) {
    const call: Asked = { name: 'retrieve', ...(key === undefined ? {} : { key }) };
    const headers = key === undefined ? {} : { headers: { 'idempotency-key': `"${key}"` } };
    return note(client, token, call, () => ask(client, 'GET', at(`/${token}${query}`), { ...how, ...headers }));
  }

  return {
    retrieve,
    async create(
      push: { readonly expire_after_views: number; readonly payload?: string },
      how: Call = {},
      client = 0,
    ): Promise<string> {
      const { payload = 'x' } = push;
      const call = { name: 'create', views: push.expire_after_views, payload } as const;
      const body = { push: { ...push, payload } };
      const { status, json } = await untilServed(() =>
        note(client, undefined, call, () => ask(client, 'POST', at(''), { ...how, body })),
      );
      if (status !== 201) throw new Error(`not created: ${status} ${JSON.stringify(json)}`);
      return json.url_token;
    },
    /** So many clients, whom the service serves in the end: of each four, two have no `Idempotency-Key`, and two the same. */
    atOnce(count: number, token: string, how: Retrieval = {}): Promise<A[]> {
      waves += 1;
      const keyOf = (n: number) => (n % 4 < 2 ? {} : { key: `${token}-${waves}-${n >> 2}` });
      const asked = Array.from({ length: count }, (_, n) =>
        untilServed(() => retrieve(n, token, { ...how, ...keyOf(n) })),
      );
      return Promise.all(asked);
    },
    expire: (client: number, token: string, how: Call = {}) =>
      note(client, token, { name: 'expire' }, () => ask(client, 'DELETE', at(`/${token}`), how)),
    /** Now its time is over, or that of all keys. */
    over: (token: string, name: 'time' | 'forget') => history.found('the clock', token, { status: 'done' }, { name }),
    judge: () => history.judge(),
  };
}

/** Asks again as long as the service is too busy: on a busy machine that can be nearly always. */
export async function untilServed<A extends Said>(ask: () => Promise<A>): Promise<A> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
    await new Promise((resolve) => void setImmediate(resolve));
  }
}

export const viewsIn = (answers: readonly Said[]) =>
  new Set(answers.flatMap(({ json }) => (json?.payload ? json.views_remaining : []))).size;
