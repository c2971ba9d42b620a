import { Command as Parser } from 'commander';
import { usageError } from '../platform/errors';
import { unknownOption, unknownSubcommand, unknownWord } from './help/misuse';

/** Refuses words of a command line that Commander would mistake for something else. */
export class Command extends Parser {
  declare readonly commands: readonly Command[];
  /** The words after `--`. */
  rest: readonly string[] = [];
  /** True if `rest` is a command to run, and not operands. */
  takesCommand = () => false;
  /** True for `pwpush help COMMAND`; `-h` and `--help` print the common options. */
  helpsWithAll = false;
  /** The help shows this text after the options, but the examples in it before them. */
  manual = '';

  override createCommand(name?: string): Command {
    return new Command(name);
  }

  override parseOptions(argv: string[]) {
    const index = argv.indexOf('--');
    this.rest = index === -1 ? [] : argv.slice(index + 1);
    refuseMistaken(index === -1 ? argv : argv.slice(0, index), this);
    const read = this.helpLast(super.parseOptions(argv));
    if (this.takesCommand()) read.operands.splice(read.operands.length - this.rest.length);
    // An unknown subcommand is refused also before `--help`, for which Commander would print the help of this command.
    const [word] = read.operands;
    if (word !== undefined && this.commands.length > 0 && !this.below(word))
      throw this.parent ? unknownSubcommand(word, this) : unknownWord(word, this.words());
    return read;
  }

  below(word: string): Command | undefined {
    return this.commands.find(
      (command) => command.name() === word || command.aliases().includes(word),
    );
  }

  /** `-h push` means what `push -h` does. */
  private helpLast(read: ReturnType<Parser['parseOptions']>) {
    const [flag = '', word = '-', ...more] = read.unknown;
    const isBefore = this.commands.length > 0 && /^(?:-h|--help)$/.test(flag);
    if (read.operands.length > 0 || !isBefore || word.startsWith('-')) return read;
    return { operands: [word], unknown: [flag, ...more] };
  }

  words(): string[] {
    return this.createHelp()
      .visibleCommands(this)
      .map((command) => command.name());
  }
}

/**
 * Reads a command line as Commander does, but refuses nothing. Returns its command and operands, even if the line is not
 * complete or correct.
 * @param load declares the options and arguments of a command
 */
export async function reach(
  program: Command,
  argv: readonly string[],
  load: (command: Command) => Promise<void>,
) {
  let command = program;
  let words = argv;
  for (;;) {
    const { operands, unknown } = readOptions(command, words);
    const below = command.below(operands[0] ?? '');
    if (!below) return { command, operands };
    await load(below);
    command = below;
    words = [...operands.slice(1), ...unknown];
  }
}

function readOptions(command: Command, argv: readonly string[]) {
  command.exitOverride().configureOutput({ writeOut: () => {}, outputError: () => {} });
  try {
    return Parser.prototype.parseOptions.call(command, [...argv]);
  } catch {
    // Commander throws for a missing value, and for `--version`.
    return { operands: [], unknown: [] };
  }
}

/**
 * Refuses `-hxyz`, which may be the ID of a push rather than `-h`, and `-1`, which Commander takes for an argument.
 * A subcommand checks the words after its name, as it knows which of its options take a value.
 */
function refuseMistaken(words: readonly string[], command: Command): void {
  const { options, commands } = command;
  const takesNext = (word: string) =>
    options.some((option) => option.required && [option.long, option.short].includes(word));
  let isValue = false;
  for (const word of words) {
    if (!isValue && !word.startsWith('-') && commands.length > 0) return;
    if (!isValue && /^-[hV]./.test(word))
      throw usageError(
        `${word.slice(0, 2)} takes no value`,
        'put -- before an argument that begins with a dash',
      );
    if (!isValue && /^-[\d.]/.test(word)) throw unknownOption(word, command);
    isValue = !isValue && takesNext(word);
  }
}
