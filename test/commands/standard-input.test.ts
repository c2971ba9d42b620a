import { expect, test } from 'vitest';
import { type Row, valueKind } from '../../src/cli/declare';
import { globalRows } from '../../src/cli/options';
import type { CommandObject } from '../../src/commands/planned';
import { commands as names } from '../../src/commands/program';
import type { CliError } from '../../src/platform/errors';
import { type Conditions, place } from '../helpers/run';

// What may read standard input says so in its row, and no line reads it twice.

const files = await Promise.all(
  names.map(async ({ name }) => {
    const { default: object } = await import(`../../src/commands/${name}.ts`);
    return [name, object as CommandObject] as const;
  }),
);
const commands = files.flatMap(([name, object]) => withBelow(name, object));

function withBelow(words: string, object: CommandObject): [string, CommandObject][] {
  const below = Object.entries(object.commands ?? {});
  return [[words, object], ...below.flatMap(([word, one]) => withBelow(`${words} ${word}`, one))];
}

interface Reader {
  readonly long: string;
  readonly row: Row<unknown, string>;
}

function readersOf({ rows, globals }: CommandObject): Reader[] {
  const all = { ...(globals ?? globalRows), ...rows };
  return Object.values(all).flatMap((row) =>
    row.input === undefined || row.argument ? [] : [{ long: row.label, row }],
  );
}

const words = (name: string, { rows }: CommandObject, source: readonly string[]) => [
  ...name.split(' '),
  ...source,
  ...Object.values(rows).flatMap(({ argument }) => (argument?.required ? ['abcdefgh'] : [])),
  ...(name === 'run' ? ['--', 'true'] : []),
];

/** Piped in, where no option says what it is. */
const piped: Readonly<Record<string, string>> = {
  push: 'the secret',
  respond: 'the secret',
  request: 'the question',
  mcp: 'the protocol',
};

async function refusal(argv: readonly string[], conditions: Conditions): Promise<string> {
  const env = { PWPUSH_URL: 'https://pwpush.test' };
  const made = place({ env, ...conditions }).plan(...argv);
  const error: CliError = await made.then(
    () => expect.unreachable(`a plan of ${argv.join(' ')}`),
    (error) => error,
  );
  expect(error.code).toBe('usage');
  return error.message;
}

/** Two sources of one content, which the transcripts show. */
const excludes = (one: Reader['row'], other: Reader['row']) =>
  one.input?.what === other.input?.what &&
  (one.conflicting.length > 0 || other.conflicting.length > 0);

const pairs = commands.flatMap(([name, object]) => {
  const readers = readersOf(object);
  return readers.flatMap((first, at) =>
    readers.slice(at).flatMap((second) => {
      const isOther = first === second ? first.row.many : !excludes(first.row, second.row);
      return isOther ? [[name, first, second, object] as const] : [];
    }),
  );
});

test.each(pairs.map(([name, first, second, object]) => ({ name, first, second, object })))(
  '$name: $first.long and $second.long do not both read it',
  async ({ name, first, second, object }) => {
    const line = words(name, object, [`${first.long}=-`, `${second.long}=-`]);
    const [one, other] = [`${first.row.input?.what}`, `${second.row.input?.what}`];
    const message = await refusal(line, { terminals: ['stdin'], prompts: [] });
    expect(message).toMatch(
      one === other
        ? `${one} can be read from standard input only once`
        : new RegExp(`^standard input cannot be both (${one} and ${other}|${other} and ${one})$`),
    );
  },
);

const besidePiped = commands.flatMap(([name, object]) =>
  readersOf(object).flatMap(({ long, row }) =>
    piped[name] === undefined || piped[name] === row.input?.what
      ? []
      : [{ name, long, row, object }],
  ),
);

test.each(besidePiped)('$name: $long does not read what is piped in', async (reader) => {
  const { name, long, row, object } = reader;
  const message = await refusal(words(name, object, [`${long}=-`]), { stdin: 's' });
  expect(message).toBe(`standard input cannot be both ${piped[name]} and ${row.input?.what}`);
});

test('there are many', () => {
  expect([pairs.length > 30, besidePiped.length > 8]).toEqual([true, true]);
});

/** What is written, where a dash is standard output or standard error. */
const OUTPUT = [
  ...['get --output', 'request --output'],
  ...['push --passphrase-out', 'request --passphrase-out'],
];

test('an option with the name of a file reads standard input, or refuses a dash', () => {
  const silent = commands.flatMap(([name, { rows }]) =>
    Object.values({ ...globalRows, ...rows }).flatMap(({ options, label, input, parse }) => {
      const [option] = options;
      const isFile = option && valueKind(option) === 'path' && !option.flags.includes('folder>');
      if (!isFile || input !== undefined || OUTPUT.includes(`${name} ${label}`)) return [];
      try {
        parse?.('-', label);
      } catch {
        return [];
      }
      return [`${name} ${label}`];
    }),
  );
  expect(silent).toEqual([]);
});
