export type Automaton = ReturnType<typeof automatonOf>;

/**
 * A row takes 1 KiB in `table`, so only the first states have one, which are met most often; others have only children.
 */
const MOST_ROWS = 4096;

/**
 * Finds all of a set of patterns in one pass (Aho and Corasick 1975). State 0 is the beginning.
 * @param patterns not empty, with one `latin1` character per byte
 * @param most number of states with a row in `table`
 */
export function automatonOf(patterns: Iterable<string>, most = MOST_ROWS) {
  const { size, parent, label, first, depth, match } = trieOf([...new Set(patterns)].sort());
  const rows = Math.min(size, most);
  /** For a state below `rows`, `table[256 * state + byte]` is the state after `byte`. */
  const table = new Int32Array(256 * rows);
  /** `fallback[state]` is the state of the longest suffix of its bytes that is another state. */
  const fallback = new Int32Array(size);
  const step = (from: number, byte: number) => {
    let state = from;
    while (state >= rows) {
      const end = first[state + 1] as number;
      for (let child = first[state] as number; child < end; child++)
        if (label[child] === byte) return child;
      state = fallback[state] as number;
    }
    return table[256 * state + byte] as number;
  };
  for (let state = 0; state < size; state++) {
    const above = parent[state] as number;
    const shorter = above === 0 ? 0 : step(fallback[above] as number, label[state] as number);
    fallback[state] = shorter;
    if (match[state] === 0) match[state] = match[shorter] as number;
    const end = first[state + 1] as number;
    if (first[state] === end) depth[state] = depth[shorter] as number;
    if (state >= rows) continue;
    table.copyWithin(256 * state, 256 * shorter, 256 * (shorter + 1));
    for (let child = first[state] as number; child < end; child++)
      table[256 * state + (label[child] as number)] = child;
  }
  return { table, rows, step, depth, match };
}

/** Makes a state of each prefix of the texts, in order of length, so that the children of a state are consecutive. */
function trieOf(texts: readonly string[]) {
  const all = texts.map((text, index) => ({
    text,
    shared: inCommon(texts[index - 1] ?? '', text),
    state: 0,
  }));
  const size = all.reduce((sum, { text, shared }) => sum + text.length - shared, 1);
  const parent = new Int32Array(size);
  const label = new Uint8Array(size);
  /** At each state, the number of last bytes that may begin a pattern of which more bytes must follow. */
  const depth = new Int32Array(size);
  /** The length of the longest pattern that ends at a state, or 0. */
  const match = new Int32Array(size);
  let states = 1;
  let open = all;
  for (let length = 1; open.length > 0; length++) {
    let before = 0;
    let ended = false;
    for (const pattern of open) {
      if (pattern.shared >= length) pattern.state = before;
      else {
        parent[states] = pattern.state;
        label[states] = pattern.text.charCodeAt(length - 1);
        depth[states] = length;
        pattern.state = states++;
      }
      before = pattern.state;
      if (pattern.text.length > length) continue;
      match[before] = length;
      ended = true;
    }
    if (ended) open = open.filter(({ text }) => text.length > length);
  }
  return { size, parent, label, depth, match, first: childrenOf(parent) };
}

/** Returns the first child of each state; the last element is the number of states. */
function childrenOf(parent: Int32Array): Int32Array {
  const first = new Int32Array(parent.length + 1);
  let child = 1;
  for (let state = 0; state < parent.length; state++) {
    first[state] = child;
    while (parent[child] === state) child++;
  }
  first[parent.length] = parent.length;
  return first;
}

function inCommon(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}
