import type { Automaton } from './automaton';
import { type Spelling, signsOf } from './spellings';

/** Bytes of a stream that are still needed; positions count all that there were. */
export interface Stretch {
  readonly bytes: Uint8Array;
  /** The position of the first byte. */
  readonly base: number;
  readonly end: number;
}

/** The place of a secret, by positions. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** What was read last of a stream as it is. */
interface Plain {
  readonly from: number;
  /** The state before `from`. */
  readonly before: number;
  /** The states after each byte from there on. */
  readonly states: Int32Array;
  /** Where the bytes are that begin escapes, by all that begin escapes of a spelling. */
  readonly marks: ReadonlyMap<string, Marks>;
}

/** The first `count` are those of what was read last: an array that is emptied gives its memory back. */
interface Marks {
  readonly places: number[];
  count: number;
}

/** Searches a stream as it is. */
export function plainReading(
  { table, rows, step, depth, match }: Automaton,
  spellings: readonly Spelling[],
) {
  const places = newPlaces();
  const marks = new Map<string, Marks>();
  for (const { begins } of spellings) marks.set(begins, { places: [], count: 0 });
  const marksOf: Marks[][] = Array.from({ length: 256 }, () => []);
  for (const [signs, own] of marks) for (const byte of Buffer.from(signs)) marksOf[byte]?.push(own);
  const begins = signsOf(...spellings);
  const meansAnother = signsOf(...spellings.filter(({ itself }) => !itself));
  let state = 0;
  let at = 0;
  let states = new Int32Array(0);
  return {
    ...places,
    read: (stretch: Stretch): Plain => {
      const { bytes, base, end } = stretch;
      const from = at;
      const before = state;
      if (states.length < end - from) states = new Int32Array(2 * (end - from));
      for (const own of marks.values()) own.count = 0;
      const offset = from - base;
      const count = end - from;
      let now = state;
      for (let read = 0; read < count; read++) {
        const byte = bytes[offset + read] as number;
        now = now < rows ? (table[256 * now + byte] as number) : step(now, byte);
        states[read] = now;
        if (begins[byte] === 1 && (now > 0 || meansAnother[byte] === 1))
          for (const own of marksOf[byte] as Marks[]) own.places[own.count++] = read;
        const length = match[now] as number;
        if (length > 0) places.add(from + read + 1 - length, from + read + 1, stretch);
      }
      state = now;
      at = end;
      return { from, before, states, marks };
    },
    /** How many bytes of a secret may have begun. */
    begun: () => depth[state] as number,
    /** The position of the first of them. */
    undecided: () => at - (depth[state] as number),
  };
}

/** Searches what a stream means in a spelling. Where no secret has begun that goes on with an escape, the plain reading stands for it. */
export function spelledReading(
  { step, depth, match }: Automaton,
  { begins: signs, read, itself }: Spelling,
) {
  const begins = signsOf({ begins: signs });
  const places = newPlaces();
  let isApart = false;
  let state = 0;
  /** What is before it was read. */
  let at = 0;
  /** Where the reading went apart, and where each byte that the stream meant since then was written. */
  let apartFrom = 0;
  let origins: number[] = [];
  /** How many bytes it meant since the last escape. */
  let sinceEscape = 0;

  /** Where the last bytes that the stream meant began. */
  const originOf = (length: number) => {
    const index = origins.length - length;
    return index < 0 ? apartFrom + index : (origins[index] ?? at);
  };
  const mean = (byte: number, end: number, stretch: Stretch) => {
    state = step(state, byte);
    origins.push(at);
    const length = match[state] as number;
    if (length > 0) places.add(originOf(length), end, stretch);
  };
  /** Reads on, to a place where what may be a secret has no escape, to the end, or to an escape that is not whole. */
  const readApart = (stretch: Stretch, from: number) => {
    const { bytes, base, end } = stretch;
    while (isApart && at < end) {
      const byte = bytes[at - base] as number;
      const found = begins[byte] === 1 ? read(bytes, at - base) : undefined;
      if (found === 'open') break;
      const next = at + (found?.length ?? 1);
      if (found === undefined) {
        mean(byte, next, stretch);
        sinceEscape++;
      } else {
        for (const meant of found.means) mean(meant, next, stretch);
        sinceEscape = 0;
      }
      at = next;
      const begun = depth[state] as number;
      // What is before that place has no marks any more.
      if (sinceEscape >= begun && at >= from) isApart = false;
      else if (origins.length > 2 * begun + UNNEEDED)
        origins = origins.slice(origins.length - begun);
    }
  };
  /** Whether bytes may be part of a secret after a state. */
  const goesOn = (start: number, means: readonly number[]) => {
    let now = start;
    for (const meant of means) {
      now = step(now, meant);
      if ((match[now] as number) > 0) return true;
    }
    return (depth[now] as number) > 0;
  };
  return {
    ...places,
    read: (stretch: Stretch, { from, before, states, marks }: Plain) => {
      const { bytes, base, end } = stretch;
      readApart(stretch, from);
      const own = marks.get(signs) as Marks;
      for (let mark = 0; mark < own.count && !isApart; mark++) {
        const place = own.places[mark] as number;
        const position = from + place;
        if (position < at || (itself && states[place] === 0)) continue;
        const found = read(bytes, position - base);
        if (found === undefined) continue;
        const start = place === 0 ? before : (states[place - 1] as number);
        if (found !== 'open' && !goesOn(start, found.means)) {
          at = position + found.length;
          continue;
        }
        isApart = true;
        at = position;
        apartFrom = position;
        origins.length = 0;
        state = start;
        readApart(stretch, from);
      }
      if (!isApart) at = end;
    },
    begun: () => (isApart ? (depth[state] as number) : 0),
    undecided: () => (isApart ? originOf(depth[state] as number) : at),
    /** The position of the first byte that it has still to read. */
    next: () => at,
  };
}

/** How many origins that are not needed are kept: each clearing costs a copy of the others. */
const UNNEEDED = 1024;

const isLineEnd = (byte: number) => byte === 0x0a || byte === 0x0d || byte === 0;

/** The places of secrets, in order, with something between them. */
function newPlaces() {
  const spans: Span[] = [];
  return {
    /** Adds one, without line ends after it. */
    add: (begin: number, end: number, { bytes, base }: Stretch) => {
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
    /** Takes those that begin up to a position. */
    take: (end: number): readonly Span[] => {
      let count = 0;
      while (count < spans.length && (spans[count] as Span).from <= end) count++;
      return count === 0 ? spans.slice(0, 0) : spans.splice(0, count);
    },
  };
}
