import { describe, expect, test } from 'vitest';
import { type Row, valueKind } from '../../src/cli/declare';
import { inWords } from '../../src/cli/in-words';
import { globalRows } from '../../src/cli/options';
import type { CommandObject } from '../../src/commands/planned';
import { commands as names } from '../../src/commands/program';
import type { CliError } from '../../src/platform/errors';
import { type Conditions, eachPlace, place } from '../helpers/run';

// What may read standard input says so in its row, and no line reads it twice. A link may come from there, too.

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
    row.input === undefined || (row.argument && !row.link) ? [] : [{ long: row.label, row }],
  );
}

const dash = ({ long, row }: Reader) => (row.argument ? '-' : `${long}=-`);

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
  one.input?.what === other.input?.what && (one.conflicting.length > 0 || other.conflicting.length > 0);

const pairs = commands.flatMap(([name, object]) => {
  const readers = readersOf(object);
  return readers.flatMap((first, at) =>
    readers.slice(at).flatMap((second) => {
      const isMany = first.row.many || first.row.argument?.variadic;
      const isOther = first === second ? isMany : !excludes(first.row, second.row);
      return isOther ? [[name, first, second, object] as const] : [];
    }),
  );
});

test.each(pairs.map(([name, first, second, object]) => ({ name, first, second, object })))(
  '$name: $first.long and $second.long do not both read it',
  async ({ name, first, second, object }) => {
    const line = words(name, object, [first, second].map(dash));
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
    piped[name] === undefined || piped[name] === row.input?.what ? [] : [{ name, long, row, object }],
  ),
);

test.each(besidePiped)('$name: $long does not read what is piped in', async (reader) => {
  const { name, row, object } = reader;
  const message = await refusal(words(name, object, [dash(reader)]), { stdin: 's' });
  expect(message).toBe(`standard input cannot be both ${piped[name]} and ${row.input?.what}`);
});

test('there are many', () => {
  expect([pairs.length > 30, besidePiped.length > 8]).toEqual([true, true]);
});

/** What is written, where a dash is standard output or standard error. */
const OUTPUT = ['get --output', 'request --output', 'push --passphrase-out', 'request --passphrase-out'];

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

describe('a link', () => {
  const LINK = 'https://pwpush.test/p/abcdefghi/r#Zm9v-_YmFyIGJhego0MjEx';
  const taking = commands.flatMap(([name, { rows }]) => {
    const row = Object.values(rows).find(({ link }) => link);
    if (Object.values(rows).some(({ argument }) => argument?.required)) return [];
    const after = name === 'respond' ? ['--env', 'A'] : name === 'run' ? ['--', 'true'] : [];
    return row ? [{ name, several: row.argument?.variadic === true, after }] : [];
  });
  const here = eachPlace({ env: { PWPUSH_URL: 'https://pwpush.test', A: 's' } });
  const plan = async (conditions: Conditions, ...argv: string[]) => {
    const made = (await here.under(conditions).plan(...argv)) as object;
    // With a link from standard input, a command that is run has none.
    return { ...made, inputs: undefined } as Record<string, unknown>;
  };
  const typed = {
    terminals: ['stdin'] as const,
    prompts: [{ secret: 'Link:', answer: ` ${LINK}\n` }],
  };

  test.each(taking)('of $name is an argument, or read, or typed', async ({ name, after }) => {
    const byArgument = await plan({}, name, LINK, ...after);
    expect(await plan({ stdin: `\n${LINK}\n` }, name, '-', ...after)).toEqual(byArgument);
    expect(await plan(typed, name, ...after)).toEqual(byArgument);
    expect(await plan(typed, name, '-', ...after)).toEqual(byArgument);
  });

  test.each(taking.filter(({ several }) => several))('of $name is one a line', async (command) => {
    const stdin = `${LINK}\r\n\nand ${LINK.replace('abc', 'xyz')} for Bob`;
    const made = await plan({ stdin }, command.name, 'id', '-', ...command.after);
    expect(made.items).toMatchObject([{ token: 'id' }, { token: 'abcdefghi' }, { token: 'xyzdefghi' }]);
  });

  test.each<[what: string, conditions: Conditions, words?: readonly string[]]>([
    ['no terminal', {}],
    ['a pipe that may have it', { ...typed, stdin: LINK, terminals: ['stderr'] }],
    ['--no-input', typed, ['--no-input']],
    ['an agent', { ...typed, env: { CLAUDECODE: '1' } }],
    ['CI', { ...typed, env: { CI: 'true' } }],
  ])('is not asked for with %s', async (_, { prompts, ...conditions }, words = []) => {
    const asking = { ...conditions, ...(prompts && { prompts: [] }) };
    await expect(plan(asking, 'get', ...words)).rejects.toMatchObject({
      code: 'usage',
      message: 'missing LINK',
    });
  });

  test.each(['', '\n \n', 'two words', `${LINK} ${LINK}x`])('is one: %j', async (stdin) => {
    for (const name of ['get', 'expire']) {
      const error = await plan({ stdin }, name, '-').catch((error) => error);
      expect(error).toMatchObject({ code: 'usage' });
      expect(await inWords(error)).not.toContain('pwpush.test');
    }
  });
});

describe('a text argument', () => {
  const of = { push: 'TEXT', request: 'QUESTION' };
  test.each(Object.entries(of))('of %s is no label of what is piped in', async (name, label) => {
    const message = await refusal([name, 'x'], { stdin: 's' });
    expect(message).toBe(`${label} cannot be combined with standard input, which is not empty`);
  });
});
