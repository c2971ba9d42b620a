import type { Answer } from './service';

/** What a client asks of a push, or what happens to it. */
export type Call =
  | {
      readonly name: 'create';
      readonly views: number;
      readonly payload: string;
      readonly key?: string;
    }
  | { readonly name: 'retrieve'; readonly key?: string }
  /** `look` reads it without taking a view, `time` ends it, and `forget` the windows of all keys. */
  | { readonly name: 'look' | 'expire' | 'time' | 'forget' };

export interface Result {
  /** `late`: there is one with that name. */
  readonly status: 'made' | 'late' | 'missing' | 'shown' | 'gone' | 'done';
  readonly payload?: string;
  readonly left?: number;
  readonly deleted?: boolean;
}

export interface Operation {
  readonly client: string;
  readonly push: string;
  readonly call: Call;
  readonly start: number;
  /** Neither when there was no response: it may have happened at any time after the start, or not at all. */
  readonly end?: number;
  readonly result?: Result;
}

interface State {
  readonly payload?: string;
  readonly maker?: string | undefined;
  readonly left: number;
  readonly ended?: 'views' | 'time' | 'hand';
  /** The views that were left after the one that was taken with a key. */
  readonly holds: Readonly<Record<string, number>>;
}

export const NOTHING: State = { left: 0, holds: {} };

/** The sequential specification: what a call does and answers when it is alone; the same state if it does nothing. */
export function apply(state: State, call: Call): [State, Result] {
  const { payload, left, ended, holds } = state;
  const missing = payload === undefined;
  const key = 'key' in call ? call.key : undefined;
  switch (call.name) {
    case 'create': {
      if (missing && !ended)
        return [{ ...state, payload: call.payload, left: call.views, maker: key }, { status: 'made' }];
      return [state, { status: key !== undefined && key === state.maker ? 'made' : 'late' }];
    }
    case 'retrieve': {
      const held = key === undefined ? undefined : holds[key];
      if (missing) return [state, { status: ended ? 'gone' : 'missing', left }];
      if (held !== undefined) return [state, { status: 'shown', payload, left: held }];
      if (ended) return [state, { status: 'gone', left, deleted: ended === 'hand' }];
      const rest = left - 1;
      const taken = { ...state, left: rest, ...(rest === 0 ? { ended: 'views' as const } : {}) };
      const holding = key === undefined ? taken : { ...taken, holds: { ...holds, [key]: rest } };
      return [holding, { status: 'shown', payload, left: rest }];
    }
    case 'look':
      if (ended) return [state, { status: 'gone', left, deleted: ended === 'hand' }];
      return [state, missing ? { status: 'missing' } : { status: 'shown', payload, left }];
    case 'expire': {
      const over = ended ?? 'hand';
      const idle = ended !== undefined && Object.keys(holds).length === 0;
      const next = idle ? state : { ...state, ended: over, holds: {} };
      return [next, { status: 'done', left, deleted: over === 'hand' }];
    }
    case 'time':
      return [{ ...state, ended: ended ?? 'time', holds: {} }, { status: 'done' }];
    case 'forget':
      return [{ ...state, holds: {} }, { status: 'done' }];
  }
}

export const matches = (said: Result, due: Result) =>
  Object.entries(said).every(([name, value]) => value === undefined || due[name as keyof Result] === value);

/**
 * Whether the operations on one push, each done at a moment between its start and its end, have results as if they had
 * followed one another (Wing and Gong 1993; Lowe 2017 remembers what was tried).
 */
export function isLinearizable(operations: readonly Operation[]): boolean {
  const all = [...operations].sort((a, b) => a.start - b.start);
  const ids = new Map(all.map((one, id) => [one, id]));
  const tried = new Set<string>();
  const visit = (pending: readonly Operation[], state: State): boolean => {
    let rest = pending;
    for (;;) {
      const first = firstEnd(rest);
      // What does nothing can as well be done now.
      const others = rest.filter((one) => one.start > first || !one.result || changes(one, state));
      if (others.length === rest.length) break;
      rest = others;
    }
    if (rest.every(({ result }) => !result)) return true;
    if (rest.some((one) => isTooLate(one, state))) return false;
    const position = `${rest.map((one) => ids.get(one))} ${JSON.stringify(state)}`;
    if (tried.has(position)) return false;
    tried.add(position);
    const first = firstEnd(rest);
    const lost = new Set<string>();
    return rest.some((one) => {
      if (one.start > first) return false;
      // Of those that differ in nothing but their start, the first is enough.
      const call = JSON.stringify(one.call);
      if (!one.result && lost.has(call)) return false;
      if (!one.result) lost.add(call);
      const [next, due] = apply(state, one.call);
      if (one.result ? !matches(one.result, due) : next === state) return false;
      return visit(
        rest.filter((other) => other !== one),
        next,
      );
    });
  };
  return visit(all, NOTHING);
}

/** Views do not come back: without this, each lost response would be tried before each other operation. */
function isTooLate({ call, result }: Operation, { payload, left, ended, holds }: State): boolean {
  if (result?.status !== 'shown' || payload === undefined) return false;
  if ('key' in call && call.key !== undefined && call.key in holds) return false;
  const most = call.name === 'look' ? left : left - 1;
  return ended !== undefined || (result.left ?? 0) > most;
}

const firstEnd = (operations: readonly Operation[]) =>
  operations.reduce((first, { end = Infinity }) => Math.min(first, end), Infinity);

function changes({ call, result }: Operation, state: State): boolean {
  const [next, due] = apply(state, call);
  return next !== state || !matches(result as Result, due);
}

const withoutResult = ({ result: _, end: __, ...lost }: Operation): Operation => lost;

/** What is bad by itself, of a bad history: the shortest beginning, without what need not have happened as it says. */
function shortest(operations: readonly Operation[]): Operation[] {
  const until = (time: number) =>
    operations
      .filter(({ start }) => start <= time)
      .map((one) => ((one.end ?? Infinity) > time ? withoutResult(one) : one));
  const ends = operations.flatMap(({ end }) => end ?? []).sort((a, b) => a - b);
  // A beginning of a good history is good.
  let [good, bad] = [-1, ends.length - 1];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isLinearizable(until(ends[middle] as number))) good = middle;
    else bad = middle;
  }
  let left = until(ends[bad] as number);
  for (const one of left.filter(({ call, result }) => result && call.name !== 'create')) {
    const { status } = one.result as Result;
    const isIdle = one.call.name === 'look' || /late|missing|gone/.test(status);
    const fewer = left.flatMap((other) => (other !== one ? other : isIdle ? [] : withoutResult(other)));
    if (!isLinearizable(fewer)) left = fewer;
  }
  return left.filter(({ result }) => result);
}

function line({ client, call, start, end, result }: Operation): string {
  const { name, ...how } = call;
  const { status, ...what } = result as Result;
  const said = [name, how, '→', status, what].map((one) =>
    typeof one === 'string' ? one : JSON.stringify(one, shortened),
  );
  return `  ${start}–${end} ${client}: ${said.filter((one) => one !== '{}').join(' ')}`;
}

const shortened = (_: string, value: unknown) =>
  typeof value === 'string' && value.length > 12 ? `${value.slice(0, 12)}…` : value;

function grouped<T>(all: readonly T[], by: (one: T) => string | false | undefined) {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const name = by(one);
    if (name) groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return groups;
}

/** Operations of clients that run at once in this process, in the order of a counter. */
export class History {
  readonly operations: Operation[] = [];
  private time = 0;

  /**
   * Notes what `work` does to the push of that token, which is unknown before it is created.
   * @param said what a response says: nothing for what may have happened, and 'refused' for what has not
   */
  async note<T extends Said>(
    client: string,
    token: string | undefined,
    call: Call,
    work: () => Promise<T>,
    said: (answer: Said) => Result | 'refused' | undefined = resultOf,
  ): Promise<T> {
    const asked = { client, call, start: this.next() };
    let answer: T;
    try {
      answer = await work();
    } catch (error) {
      this.operations.push({ ...asked, push: token ?? '' });
      throw error;
    }
    const result = said(answer);
    if (result === 'refused') return answer;
    const push = token ?? answer.json?.url_token ?? '';
    this.operations.push({ ...asked, push, ...(result && { end: this.next(), result }) });
    return answer;
  }

  found(client: string, push: string, result: Result, call: Call = { name: 'look' }): void {
    this.operations.push({ client, push, call, start: this.next(), end: this.next(), result });
  }

  /** @throws Error with the shortest bad history */
  judge(): void {
    for (const [push, operations] of grouped(this.operations, (one) => one.push)) {
      if (isLinearizable(operations)) continue;
      const bad = shortest(operations);
      const others = operations.length - bad.length;
      throw new Error(
        `no order explains push ${push}, whatever ${others} more operations did:\n${bad.map(line).join('\n')}`,
      );
    }
    const made = this.operations.filter(({ call, result }) => call.name === 'create' && result);
    for (const [, [first, ...copies]] of grouped(made, ({ call }) => 'key' in call && call.key)) {
      const other = copies.find(({ push }) => push !== first?.push);
      if (other) throw new Error(`one key created two pushes:\n${[first as Operation, other].map(line).join('\n')}`);
    }
  }

  private next(): number {
    this.time += 1;
    return this.time;
  }
}

export type Said = Pick<Answer, 'status' | 'json'>;

/** What a response of the API says; nothing for what the request may have done. */
export function resultOf({ status, json }: Said): Result | 'refused' | undefined {
  if (status === 201) return { status: 'made' };
  if (status === 404) return { status: 'missing' };
  if ([401, 403, 422, 429].includes(status)) return 'refused';
  if (status !== 200) return undefined;
  const { payload, views_remaining: left, deleted } = json;
  if (payload) return { status: 'shown', payload, left };
  return { status: payload === null ? 'gone' : 'done', left, deleted };
}

/** The same where no response of an error hides what was done, as nothing is killed or cut. */
export const resultOrRefused = (answer: Said) => resultOf(answer) ?? 'refused';

/** What is said of a request, whose answer is like a push with one view: first by those who answer it. */
export const ofAnswer = ({ status }: Said): Result | 'refused' => {
  if (status === 409) return { status: 'late' };
  return status === 200 ? { status: 'made' } : 'refused';
};

/** And by those who read the answer. */
export const ofReading = ({ status, json }: Said): Result | 'refused' => {
  if (status !== 200) return 'refused';
  if (json.response) return { status: 'shown', payload: json.response };
  return { status: json.state === 'open' ? 'missing' : 'gone' };
};
