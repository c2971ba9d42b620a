import type { Automaton } from './automaton';
import { type Spelling, signsOf } from './spellings';

/**
 * Holds the bytes of a stream that are still needed. Positions count all bytes of the stream. The store doubles when it
 * is full, so that many small pieces are not copied again and again.
 */
export class HeldBytes {
  #store = new Uint8Array(0);
  bytes: Uint8Array = this.#store;
  base = 0;

  get end(): number {
    return this.base + this.bytes.length;
  }

  add(more: Uint8Array): void {
    const { length } = this.bytes;
    if (length === 0) {
      this.bytes = more;
      return;
    }
    const size = length + more.length;
    if (!this.#isStored() || this.bytes.byteOffset + size > this.#store.length) {
      this.#store = new Uint8Array(2 * size);
      this.#store.set(this.bytes);
      this.bytes = this.#store.subarray(0, length);
    }
    const from = this.bytes.byteOffset;
    this.#store.set(more, from + length);
    this.bytes = this.#store.subarray(from, from + size);
  }

  /** Forgets the bytes before a position. The rest of an added chunk is copied, as the caller may reuse its memory. */
  drop(to: number): void {
    const rest = this.bytes.subarray(to - this.base);
    this.bytes = this.#isStored() ? rest : rest.slice();
    this.base = to;
  }

  #isStored(): boolean {
    return this.bytes.buffer === this.#store.buffer;
  }
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Indices at which escapes may begin. Only the first `count` are valid: emptying the array would free its memory. */
interface Marks {
  readonly indices: number[];
  count: number;
}

interface LastReading {
  from: number;
  /** `states[0]` is the state at `from`, and `states[n]` the state after `n` bytes. */
  states: Int32Array;
  /** For the signs of each spelling, where they stand in the bytes that were read, counted from `from`. */
  readonly marks: ReadonlyMap<string, Marks>;
}

type PlainReading = ReturnType<typeof plainReading>;

/** Searches a stream for secrets as they are, and marks the bytes with which escapes begin. */
export function plainReading(
  { table, rows, step, depth, match }: Automaton,
  spellings: readonly Spelling[],
) {
  const spans = spanList();
  const marks = new Map<string, Marks>();
  for (const { begins } of spellings) marks.set(begins, { indices: [], count: 0 });
  const marksOf: Marks[][] = Array.from({ length: 256 }, () => []);
  for (const [signs, own] of marks) for (const byte of Buffer.from(signs)) marksOf[byte]?.push(own);
  const begins = signsOf(...spellings);
  const meansAnother = signsOf(...spellings.filter(({ itself }) => !itself));
  let end = 0;
  let state = 0;
  const last: LastReading = { from: 0, states: new Int32Array(1), marks };
  return {
    ...spans,
    last,
    read: (held: HeldBytes) => {
      const { bytes, base } = held;
      const from = end;
      end = held.end;
      last.from = from;
      const count = end - from;
      if (last.states.length <= count) last.states = new Int32Array(2 * count);
      const { states } = last;
      for (const own of marks.values()) own.count = 0;
      const offset = from - base;
      let now = state;
      for (let index = 0; index < count; index++) {
        const byte = bytes[offset + index] as number;
        states[index] = now;
        now = now < rows ? (table[256 * now + byte] as number) : step(now, byte);
        if (begins[byte] === 1 && (now > 0 || meansAnother[byte] === 1))
          for (const own of marksOf[byte] as Marks[]) own.indices[own.count++] = index;
        const length = match[now] as number;
        if (length > 0) spans.add(from + index + 1 - length, from + index + 1, held);
      }
      states[count] = now;
      state = now;
    },
    /** Returns how many of the last bytes may begin a secret. */
    begun: () => depth[state] as number,
    /** Returns the position of the first byte that may begin a secret. */
    undecided: () => end - (depth[state] as number),
  };
}

/**
 * Searches a stream for secrets with the escapes of a spelling. It decodes only where a secret may have begun that
 * contains an escape; elsewhere, the plain reading finds the secrets.
 */
export function spelledReading(
  automaton: Automaton,
  { begins: signs, read, itself }: Spelling,
  { last }: Pick<PlainReading, 'last'>,
) {
  const begins = signsOf({ begins: signs });
  const marks = last.marks.get(signs) as Marks;
  const spans = spanList();
  const decoded = decodedSearch(automaton, spans.add);
  let isApart = false;
  /** All bytes before this position were read. */
  let offset = 0;
  let sinceEscape = 0;

  /** Decodes until what may begin a secret contains no escape, the bytes end, or an escape is incomplete. */
  const readApart = (held: HeldBytes) => {
    const { bytes, base, end } = held;
    while (isApart && offset < end) {
      const byte = bytes[offset - base] as number;
      const sequence = begins[byte] === 1 ? read(bytes, offset - base) : undefined;
      if (sequence === 'open') break;
      const from = offset;
      offset += sequence?.length ?? 1;
      if (sequence) {
        for (const meant of sequence.means) decoded.take(meant, from, offset, held);
        sinceEscape = 0;
      } else {
        decoded.take(byte, from, offset, held);
        sinceEscape++;
      }
      // The plain reading has marks only from `last.from`, and cannot take over before.
      isApart = sinceEscape < decoded.begun() || offset < last.from;
    }
  };
  return {
    ...spans,
    read: (held: HeldBytes) => {
      readApart(held);
      const { from, states } = last;
      for (let mark = 0; mark < marks.count && !isApart; mark++) {
        const index = marks.indices[mark] as number;
        const position = from + index;
        if (position < offset || (itself && states[index + 1] === 0)) continue;
        const sequence = read(held.bytes, position - held.base);
        if (sequence === undefined) continue;
        const state = states[index] as number;
        isApart = sequence === 'open' || goesOn(automaton, state, sequence.means);
        offset = position + (isApart ? 0 : sequence.length);
        if (!isApart) continue;
        decoded.begin(position, state);
        readApart(held);
      }
      if (!isApart) offset = held.end;
    },
    begun: () => (isApart ? decoded.begun() : 0),
    undecided: () => (isApart ? decoded.undecided(offset) : offset),
    next: () => offset,
  };
}

function goesOn({ step, depth, match }: Automaton, state: number, means: readonly number[]) {
  let now = state;
  for (const meant of means) {
    now = step(now, meant);
    if ((match[now] as number) > 0) return true;
  }
  return (depth[now] as number) > 0;
}

/** Up to this many unneeded origins stay in the array, since dropping some copies the others. */
const UNNEEDED = 1024;

/** Searches decoded bytes. It notes where each is written, as an escape has several bytes. */
function decodedSearch({ step, depth, match }: Automaton, add: SpanList['add']) {
  let state = 0;
  /** Decoding began at position `first`; `origins` has the position where each byte decoded since then is written. */
  let first = 0;
  let origins: number[] = [];
  /** Returns the position of the first of the last `length` bytes; `end` if `length` is 0. */
  const originOf = (length: number, end: number) => {
    const index = origins.length - length;
    return index < 0 ? first + index : (origins[index] ?? end);
  };
  return {
    begin: (position: number, before: number) => {
      first = position;
      state = before;
      origins.length = 0;
    },
    take: (byte: number, from: number, to: number, held: HeldBytes) => {
      state = step(state, byte);
      origins.push(from);
      const length = match[state] as number;
      if (length > 0) add(originOf(length, to), to, held);
      if (origins.length <= UNNEEDED) return;
      const begun = depth[state] as number;
      if (origins.length > 2 * begun + UNNEEDED) origins = origins.slice(origins.length - begun);
    },
    begun: () => depth[state] as number,
    undecided: (end: number) => originOf(depth[state] as number, end),
  };
}

type SpanList = ReturnType<typeof spanList>;

const isLineEnd = (byte: number) => byte === 0x0a || byte === 0x0d || byte === 0;

/** Keeps the places of secrets in order, and joins places that overlap or touch. */
function spanList() {
  const spans: Span[] = [];
  return {
    /** Line ends at the end of a secret are not part of its place. */
    add: (begin: number, end: number, { bytes, base }: HeldBytes) => {
      let from = begin;
      let to = end;
      while (to > begin && to > base && isLineEnd(bytes[to - 1 - base] as number)) to--;
      for (let last = spans.at(-1); last && last.to >= from; last = spans.at(-1)) {
        from = Math.min(from, last.from);
        to = Math.max(to, last.to);
        spans.pop();
      }
      spans.push({ from, to });
    },
    take: (end: number): readonly Span[] => {
      const rest = spans.findIndex(({ from }) => from > end);
      return spans.splice(0, rest < 0 ? spans.length : rest);
    },
  };
}
