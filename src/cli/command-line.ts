import type { Command, Option } from 'commander';

/** A command line, read as Commander does; it need not be complete or correct. */
export interface CommandLine {
  /** The command that it leads to. */
  readonly command: Command;
  /** The words before `--` that are neither commands nor options nor their values. */
  readonly operands: readonly string[];
  /** The options before `--`, with a value that is joined to them. */
  readonly options: readonly string[];
  /** Help is wanted, or an option is unknown: the word after it may be its value, and a secret. */
  readonly unsure: boolean;
  /** The option whose value comes next. */
  readonly open: Option | undefined;
  /** The words after `--`, if there is one, that are not commands. */
  readonly rest: readonly string[] | undefined;
}

/** @param program with the commands that are to be found */
export function readLine(program: Command, argv: readonly string[]): CommandLine {
  const operands: string[] = [];
  const options: string[] = [];
  let rest: string[] | undefined;
  let command = program;
  let unsure = false;
  let open: Option | undefined;
  for (const word of argv) {
    const dashed = /^-./s.test(word);
    if (open && !(open.variadic && dashed)) {
      if (!open.variadic) open = undefined;
    } else if (word === '--' && !rest) {
      open = undefined;
      rest = [];
    } else if (dashed && !rest) {
      options.push(word);
      const found = optionOf(command, word);
      // --help is not among the command's options.
      unsure ||= operands.length === 0 && !found;
      open = found && takesNext(word, found) ? found : undefined;
    } else {
      open = undefined;
      const below = operands.length + (rest?.length ?? 0) === 0 && subcommand(command, word);
      if (below) command = below;
      else (rest ?? operands).push(word);
    }
  }
  return { command, operands, options, unsure, open, rest };
}

/** The words after `--`. Commander merges the operands before and after it, so this looks at the command line itself. */
export function afterDashes({ parent }: Command): readonly string[] {
  const program = parent as Command & { readonly rawArgs: readonly string[] };
  return readLine(program, program.rawArgs).rest ?? [];
}

/** An ID of a push that begins with a dash. Words of options have no digits. */
const DASHED_ID = /^-(?=.*\d)[\w-]{10,63}$/;

/**
 * Marks the IDs that begin with a dash by a space before them, which links may have, so that they are taken for no options.
 * A word that may be an option, or a value that is joined to one, stays.
 * @param program with the typed command
 */
export function withIds(program: Command, argv: readonly string[]): readonly string[] {
  return argv.map((word, at) => {
    if (!DASHED_ID.test(word)) return word;
    const { command, open, rest } = readLine(program, argv.slice(0, at));
    const option = optionOf(command, word.startsWith('--') ? word : word.slice(0, 2));
    const taken = option || rest || (open && !open.variadic) || /^-[hV]/.test(word);
    return taken || !takesLinks(command) ? word : ` ${word}`;
  });
}

export function takesLinks({ registeredArguments }: Command): boolean {
  return registeredArguments.some((one) => /^links?$/.test(one.name()));
}

function subcommand({ commands }: Command, word: string): Command | undefined {
  return commands.find((one) => one.name() === word || one.aliases().includes(word));
}

/**
 * The option of a word, on the command or one above it: of several letters, as in `-qn`, the first that takes a value,
 * else the first.
 */
export function optionOf(command: Command, word: string): Option | undefined {
  const all: Option[] = [];
  for (let one: Command | null = command; one; one = one.parent) all.push(...one.options);
  if (word.startsWith('--')) return all.find(({ long }) => long === word.replace(/=.*/s, ''));
  const letters = Array.from(word.slice(1), (letter) =>
    all.find(({ short }) => short === `-${letter}`),
  );
  return letters.find((one) => one?.required) ?? letters[0];
}

/** Whether the next word is the value of the option: it is for `-qn`, whereas `-nq` has its own. */
function takesNext(word: string, { required, long, short = '-' }: Option): boolean {
  return (
    required &&
    (word === long || (!word.startsWith('--') && word.indexOf(short.slice(1)) === word.length - 1))
  );
}
