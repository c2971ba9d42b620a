import type { Automaton } from './automaton';
import type { Spelling } from './spellings';

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
  readonly marks: ReadonlyMap<string, readonly number[]>;
}

/** Searches a stream as it is. */
export function plainReading(
  { table, rows, step, depth, match }: Automaton,
  spellings: readonly Spelling[],
) {
  const places = newPlaces();
  const marks = new Map(spellings.map(({ begins }) => [begins, [] as number[]]));
  const marksOf: number[][][] = Array.from({ length: 256 }, () => []);
  for (const [signs, own] of marks) for (const byte of Buffer.from(signs)) marksOf[byte]?.push(own);
  const begins = beginning(spellings);
  const meansAnother = beginning(spellings.filter(({ itself }) => !itself));
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
      for (const own of marks.values()) own.length = 0;
      const offset = from - base;
      const count = end - from;
      let now = state;
      for (let read = 0; read < count; read++) {
        const byte = bytes[offset + read] as number;
        now = now < rows ? (table[256 * now + byte] as number) : step(now, byte);
        states[read] = now;
        if (begins[byte] === 1 && (now > 0 || meansAnother[byte] === 1))
          for (const own of marksOf[byte] as number[][]) own.push(read);
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

/**
 * Searches what a stream means in a spelling. Where nothing was escaped in what may be a secret, the plain reading stands for it.
 *
 * What it means has indexes of its own: positions less a shift, which changes with each escape.
 */
export function spelledReading(
  { table, rows, step, depth, match }: Automaton,
  { begins: signs, read, itself }: Spelling,
) {
  const begins = beginning([{ begins: signs }]);
  const places = newPlaces();
  const shifts = newShifts();
  let isApart = false;
  let state = 0;
  /** What is before it was read. */
  let at = 0;
  /** The index behind the last escape. */
  let escaped = 0;

  /** Whether bytes may be part of a secret after a state. */
  const goesOn = (start: number, means: readonly number[]) => {
    let now = start;
    for (const meant of means) {
      now = now < rows ? (table[256 * now + meant] as number) : step(now, meant);
      if ((match[now] as number) > 0) return true;
    }
    return (depth[now] as number) > 0;
  };
  /** Reads on, to a place where it means the same as the plain reading, to the end, or to an escape that is not whole. */
  const readApart = (stretch: Stretch) => {
    const { bytes, base, end } = stretch;
    let now = state;
    let position = at;
    while (position < end) {
      const byte = bytes[position - base] as number;
      const found = begins[byte] === 1 ? read(bytes, position - base) : undefined;
      if (found === 'open') break;
      if (found === undefined) {
        now = now < rows ? (table[256 * now + byte] as number) : step(now, byte);
        position++;
        const length = match[now] as number;
        if (length > 0)
          places.add(shifts.origin(shifts.index(position) - length), position, stretch);
      } else {
        let index = shifts.index(position);
        position += found.length;
        for (const meant of found.means) {
          now = now < rows ? (table[256 * now + meant] as number) : step(now, meant);
          index++;
          const length = match[now] as number;
          if (length > 0) places.add(shifts.origin(index - length), position, stretch);
        }
        shifts.set(index, position - index);
        escaped = index;
      }
      if (escaped <= shifts.index(position) - (depth[now] as number)) {
        isApart = false;
        break;
      }
    }
    state = now;
    at = position;
  };
  return {
    ...places,
    read: (stretch: Stretch, plain: Plain) => {
      const { bytes, base, end } = stretch;
      const { from, before, states, marks } = plain;
      if (isApart) readApart(stretch);
      for (const place of marks.get(signs) as readonly number[]) {
        if (isApart) break;
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
        state = start;
        shifts.clear();
        escaped = at;
        readApart(stretch);
      }
      if (!isApart) at = end;
    },
    begun: () => (isApart ? (depth[state] as number) : 0),
    undecided: () => {
      if (!isApart) return at;
      const first = shifts.index(at) - (depth[state] as number);
      shifts.forget(first);
      return shifts.origin(first);
    },
    /** The position of the first byte that it has still to read. */
    next: () => at,
  };
}

/** For each byte whether it begins an escape. */
function beginning(spellings: readonly Pick<Spelling, 'begins'>[]): Uint8Array {
  const begins = new Uint8Array(256);
  for (const spelling of spellings)
    for (const byte of Buffer.from(spelling.begins)) begins[byte] = 1;
  return begins;
}

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

/** How many shifts that are not needed are kept: each clearing costs a copy of the others. */
const UNNEEDED = 1024;

/** The shifts since the beginning of what may be a secret. */
function newShifts() {
  let shift = 0;
  /** Each shift is that from an index on. */
  let indexes = [Number.NEGATIVE_INFINITY];
  let values = [0];
  let head = 0;
  let count = 1;
  return {
    clear: () => {
      shift = 0;
      head = 0;
      count = 1;
      values[0] = 0;
    },
    /** The index of a position behind the last escape. */
    index: (position: number) => position - shift,
    set: (index: number, value: number) => {
      if (value === shift) return;
      shift = value;
      indexes[count] = index;
      values[count++] = value;
    },
    /** The position of an index. */
    origin: (index: number) => {
      let low = head;
      let high = count - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if ((indexes[middle] as number) <= index) low = middle;
        else high = middle - 1;
      }
      return index + (values[low] as number);
    },
    /** Nothing before an index is asked for any more. */
    forget: (index: number) => {
      while (head + 1 < count && (indexes[head + 1] as number) <= index) head++;
      if (head < UNNEEDED || 2 * head < count) return;
      indexes = indexes.slice(head, count);
      values = values.slice(head, count);
      count -= head;
      head = 0;
    },
  };
}
