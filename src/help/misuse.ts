// Errors of the command line, with suggestions.
import type { Argument, Command, CommanderError, Option } from 'commander';
import { type CliError, usageError } from '../errors';

/** Replaces Commander's check of choices, whose message has the option's flags and no suggestion. */
export function checkChoices(name: string, one: Option | Argument): void {
  const { argChoices } = one;
  if (argChoices === undefined) return;
  one.argParser((word: string) => {
    if (argChoices.includes(word)) return word;
    const near = nearest(argChoices, word);
    throw usageError(
      `${name} is one of ${argChoices.join(', ')}, not "${word}"`,
      near && `did you mean ${near}?`,
    );
  });
}

/** An error of Commander's parser as one of ours. */
export function misuse(error: CommanderError, command: Command): CliError {
  const message = error.message.replace(/^error: /, '').replace(/\.$/, '');
  const quoted = /'(.*)'/s.exec(message)?.[1] ?? '';
  if (error.code === 'commander.unknownOption') return unknownOption(quoted, command);
  const names = command.commands.map((one) => one.name());
  const near = error.code === 'commander.unknownCommand' ? nearest(names, quoted) : undefined;
  return usageError(message, near ? `did you mean ${near}?` : 'see --help');
}

/** Options of tools like this one that would show a secret to other users. */
const SECRETS = /^--(?:api-?key|pass(?:word)?|secret|token)$/;

/** Names the option only: a value joined to it may be a secret. */
function unknownOption(typed: string, command: Command): CliError {
  const [name = ''] = /^(?:--[^=']+|-[^-])/.exec(typed) ?? [];
  const options = optionsOf(command);
  // Commander treats a value for a switch as an unknown option.
  if (typed.startsWith(`${name}=`) && options.some(({ long }) => long === name))
    return usageError(`${name} takes no value`, 'see --help');
  const message = `unknown option '${name}'`;
  if (SECRETS.test(name))
    return usageError(
      message,
      'no option takes a secret or a token, since other users can read options: it is piped in, typed, or in a file or variable; see --help',
    );
  const names = options.flatMap(({ long, hidden }) => (long && !hidden ? [long.slice(2)] : []));
  const near = name.startsWith('--') ? nearest(names, name.slice(2)) : undefined;
  return usageError(message, near ? `did you mean --${near}?` : 'see --help');
}

/** Those of the command and of the ones above it. */
function optionsOf(command: Command): readonly Option[] {
  return [...command.options, ...(command.parent ? optionsOf(command.parent) : [])];
}

/** @param names commands, and topics after `help` */
export function unknownWord(word: string, names: readonly string[]): CliError {
  const near = nearest(names, word);
  return usageError(
    `there is no command "${word}"`,
    near ? `did you mean ${near}?` : `commands: ${names.join(', ')}`,
  );
}

/** The closest name, if few letters of the word are wrong: one in three, two at most. */
function nearest(names: readonly string[], word: string): string | undefined {
  const most = Math.min(2, Math.max(1, Math.floor(word.length / 3)));
  const near = names.map((name) => ({ name, edits: distance(name, word) }));
  return near.sort((one, other) => one.edits - other.edits).find(({ edits }) => edits <= most)
    ?.name;
}

/**
 * Edits that turn one word into another (Damerau-Levenshtein, optimal string alignment). Our own,
 * because fastest-levenshtein counts two swapped letters, the most common slip, as two edits.
 */
function distance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, at) => at)];
  const cell = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= from.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= to.length; j++) {
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      rows[i]?.push(
        Math.min(
          cell(i - 1, j) + 1,
          cell(i, j - 1) + 1,
          cell(i - 1, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1),
          swapped ? cell(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return cell(from.length, to.length);
}
