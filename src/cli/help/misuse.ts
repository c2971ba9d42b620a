import type { Argument, Command, CommanderError } from 'commander';
import { type CliError, usageError } from '../../platform/errors';
import { lineage, subjectOf } from '../declare';
import { nearest } from '../near-words';
import otherNames from './other-names.json';

export function misuse(error: CommanderError, command: Command): CliError {
  const quoted = /'(.*)'/s.exec(error.message)?.[1] ?? '';
  const [name = ''] = /--[\w-]+/.exec(quoted) ?? [];
  switch (error.code) {
    case 'commander.unknownOption':
      return unknownOption(quoted, command);
    case 'commander.unknownCommand':
      return unknownSubcommand(quoted, command);
    case 'commander.missingArgument':
      return missingArgument(quoted, command);
    case 'commander.optionMissingArgument':
      return usageError(`${name} requires a value`, helpOf(command));
    // An argument that is too much may be a secret, and is not quoted.
    case 'commander.excessArguments':
      if (command.commands.length > 0) return unknownSubcommand(command.args[0] ?? '', command);
      return usageError('too many arguments', userOption(command) ?? helpOf(command));
    default:
      return usageError(error.message.replace(/^error: /, ''), helpOf(command));
  }
}

/** A command that takes all users or one is given a name, as `serve token revoke` takes it. */
const userOption = ({ options }: Command) =>
  options.some(({ long }) => long === '--user') ? 'for one user: --user NAME' : undefined;

export function missingArgument(name: string, command: Command): CliError {
  const argument = command.registeredArguments.find((declared) => declared.name() === name);
  const [what, see] = [name.toUpperCase(), helpOf(command)];
  if (!argument || !isLink(argument)) return usageError(`missing ${what}`, see);
  const last = subjectOf(argument) === 'push' ? ' or last (your newest push)' : '';
  return usageError(`missing ${what}`, `${what} can be - (standard input)${last}; see ${see}`);
}

const isLink = (argument: Argument) => /^(?:push|request)$/.test(`${subjectOf(argument)}`);

/** Returns our name for a word of another tool or of the API, which people type by mistake. */
const meantBy = (typed: string, kind: keyof typeof otherNames) =>
  Object.entries(otherNames[kind]).find(([, words]) => words.includes(typed))?.[0];

const unknown = (what: string, meant: string | undefined, otherwise: string) =>
  usageError(`unknown ${what}`, meant ? `did you mean ${meant}?` : otherwise);

export function unknownSubcommand(word: string, command: Command): CliError {
  const names = command.commands.map((child) => child.name());
  const alike = Object.entries(otherNames.subcommands).map(([name, words]) => [name, ...words]);
  const same = alike.find((group) => group.includes(word)) ?? [];
  const meant = names.find((name) => same.includes(name)) ?? nearest(names, word);
  return unknown(`command "${word}"`, meant, helpOf(command));
}

/** Returns the way to the help, or for a command whose arguments have an order that order. */
function helpOf(command: Command): string {
  const order = command.registeredArguments.filter(({ required }) => required);
  const words =
    order.length > 1 ? order.map((argument) => argument.name().toUpperCase()) : ['--help'];
  return [...lineage(command).map((parent) => parent.name()), ...words].join(' ');
}

/** Options with these names, which tools like this one have, would show a secret to other users. */
const SECRETS = /^--(?:api-?key|pass(?:w(?:or)?d)?|pwd?|secret|token)$/;

export const COMMAND_AFTER =
  'put the command after --, for example: pwpush run LINK -- ./deploy.sh';

/** The error names the option only: a value joined to it may be a secret. */
export function unknownOption(typed: string, command: Command): CliError {
  const [name = ''] = /^(?:--[^=']+|-[^-])/.exec(typed) ?? [];
  const options = lineage(command)
    .flatMap((parent) => parent.options)
    .filter(({ hidden }) => !hidden);
  const names = options.flatMap(({ long }) => long ?? []);
  const isSecret = SECRETS.test(name);
  // Commander treats a value for a switch as an unknown option.
  if (typed.startsWith(`${name}=`) && names.includes(name))
    return usageError(`${name} takes no value`, helpOf(command));
  if (names.includes(name) && !isSecret)
    return usageError(`${name} does not apply to ${command.name()}`, helpOf(command));
  const { short } =
    options.find((option) => option.short?.toLowerCase() === typed.toLowerCase()) ?? {};
  const other = meantBy(name, 'options');
  const isOurs = [...names, command.name()].includes(`${other}`.replace(/ .*/, ''));
  const known = isOurs ? other : undefined;
  const views =
    names.includes('--views') && /^-[1-9]\d?$/.test(typed)
      ? `--views ${typed.slice(1)}`
      : undefined;
  const meant = known ?? (name.startsWith('--') ? nearest(names, name) : short) ?? views;
  const what = `option ${name}`.trimEnd();
  if (isSecret) return unknown(what, undefined, safeWay(name, names));
  return unknown(what, meant, otherUse(typed, command));
}

function safeWay(name: string, names: readonly string[]): string {
  return `options cannot hold secrets, because other users can read them: ${
    name.startsWith('--p') && names.includes('--passphrase-file')
      ? '-p asks for it, --passphrase-file PATH reads it'
      : 'pipe the secret in, let pwpush ask, or use a file or variable'
  }`;
}

function otherUse(typed: string, command: Command): string {
  // Commander takes only the first path after --file if it begins with a dash.
  if (typed.startsWith('-=')) return 'repeat the option: --file -=NAME';
  if (command.usage().includes(' -- ')) return COMMAND_AFTER;
  const hasLinks = command.registeredArguments.some(isLink);
  if (/^-[\d.]/.test(typed) && !hasLinks)
    return 'put -- before an argument that begins with a dash';
  if (hasLinks && /^-[^-]./.test(typed)) return 'put an ID that begins with a dash after --';
  const see = helpOf(command);
  return command.parent ? see : `an option of a command stands after its name; see ${see}`;
}

export function unknownWord(word: string, names: readonly string[]): CliError {
  const isLink = /^https?:/i.test(word);
  const near = isLink ? 'pwpush get LINK' : (meantBy(word, 'commands') ?? nearest(names, word));
  return unknown(`command "${word}"`, near, 'pwpush help lists all commands and topics');
}
