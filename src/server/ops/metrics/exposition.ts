/** Values of labels by name; all of a metric have the same names, and few values. */
export type Labels = Readonly<Record<string, string>>;

/** A family of the text exposition format, version 0.0.4, of Prometheus. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Each with its labels as text, and what the name ends in. */
  samples(): Iterable<readonly [suffix: string, labels: string, value: number]>;
}

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The families as text. */
export function exposition(families: readonly Family[]): string {
  return families
    .map(({ name, help, type, samples }) => {
      const lines = [...samples()].map(
        ([suffix, labels, value]) =>
          `${name}${suffix}${labels && `{${labels}}`} ${number(value)}\n`,
      );
      if (lines.length === 0) return '';
      return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
    })
    .join('');
}

export interface Counter extends Family {
  add(labels?: Labels, by?: number): void;
}

/** A sum that only grows, for each combination of labels that occurred; 0 from the start for those in `known`. */
export function counter(name: string, help: string, known: readonly Labels[] = []): Counter {
  const sums = new Map<string, number>(known.map((labels) => [text(labels), 0]));
  return {
    name,
    help,
    type: 'counter',
    add(labels = {}, by = 1) {
      const key = text(labels);
      sums.set(key, (sums.get(key) ?? 0) + by);
    },
    *samples() {
      for (const [labels, sum] of sums) yield ['', labels, sum];
    },
  };
}

/** What is read when it is asked for; nothing where that is not known. */
export function reading(
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  read: () => number | undefined,
  labels: Labels = {},
): Family {
  return {
    name,
    help,
    type,
    *samples() {
      const value = read();
      if (value !== undefined) yield ['', text(labels), value];
    },
  };
}

export interface Histogram extends Family {
  observe(value: number, labels?: Labels): void;
}

/** How many values were at most as large as each of the bounds, which ascend. */
export function histogram(name: string, help: string, bounds: readonly number[]): Histogram {
  const kept = new Map<string, { counts: number[]; sum: number }>();
  return {
    name,
    help,
    type: 'histogram',
    observe(value, labels = {}) {
      const key = text(labels);
      const seen = kept.get(key) ?? { counts: Array<number>(bounds.length + 1).fill(0), sum: 0 };
      kept.set(key, seen);
      const at = bounds.findIndex((bound) => value <= bound);
      const bucket = at === -1 ? bounds.length : at;
      seen.counts[bucket] = (seen.counts[bucket] ?? 0) + 1;
      seen.sum += value;
    },
    *samples() {
      for (const [labels, { counts, sum }] of kept) {
        const lead = labels && `${labels},`;
        let below = 0;
        for (const [at, count] of counts.entries()) {
          below += count;
          yield ['_bucket', `${lead}le="${number(bounds[at] ?? Infinity)}"`, below];
        }
        yield ['_sum', labels, sum];
        yield ['_count', labels, below];
      }
    },
  };
}

function text(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`)
    .join(',');
}

function escaped(words: string): string {
  return words.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function number(value: number): string {
  return value === Infinity ? '+Inf' : `${value}`;
}
