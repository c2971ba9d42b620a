import type { Argument, Option } from 'commander';
import { type Command, reach } from '../../cli/command';
import { lineage, subjectOf } from '../../cli/declare';
import { topics } from '../../cli/help/help-layout';
import { globalOptions } from '../../cli/options';
import { entryOf } from '../../cli/terminal/output';
import { safe } from '../../cli/terminal/safe';
import { shorten } from '../../cli/terminal/text-width';
import { ago } from '../../cli/terminal/wording';
import { pushLink } from '../../contract/address';
import type { Context } from '../../platform/context';
import { CliError, tried } from '../../platform/errors';
import { storedProfiles } from '../../profile/config-file';
import { settingNamed, settingNames } from '../../profile/settings';

/** A shell completes `files` and `commands` by itself; `links` are the pushes with a receipt on this machine. */
type Offer = readonly Candidate[] | 'files' | 'commands' | 'links';

interface Candidate {
  readonly word: string;
  readonly description?: string;
}

/**
 * Returns the output of `pwpush __complete WORD...`, which the scripts call. The words are those after `pwpush` up to
 * the cursor; the last one is being typed and may be empty. The first line says what can be at the cursor:
 *
 * - `words`: the candidates follow, one a line, with a tab and a description where there is one. They are not
 *   filtered by the last word: each shell matches in its own way;
 * - `files` or `commands`: the shell completes paths, or the names of programs.
 *
 * @param load declares the options and operands of a command
 * @throws what reading the config file or the receipts throws
 */
export async function complete(
  program: Command,
  line: readonly string[],
  load: (command: Command) => Promise<void>,
  context: Context,
): Promise<string> {
  const place = await placeOfLast(program, line, load);
  const kind = offerFor(place, context);
  const offer = kind === 'links' ? await ownLinks(place.command, context) : kind;
  if (typeof offer === 'string') return `${offer}\n`;
  const lines = offer.map(({ word, description }) =>
    description ? `${word}\t${description}` : word,
  );
  return ['words', ...lines, ''].join('\n');
}

interface Place {
  readonly word: string;
  readonly command: Command;
  readonly operands: readonly string[];
  readonly open: Option | undefined;
  /** Counts the words between `--` and the typed word; undefined without `--`. */
  readonly rest: number | undefined;
}

/** Replaces the typed word: where Commander stores this shows what the word is. No argument can contain NUL. */
const HERE = '\0here';

async function placeOfLast(
  program: Command,
  line: readonly string[],
  load: (command: Command) => Promise<void>,
): Promise<Place> {
  // bash splits `--kind=qr` into three words; Commander reads `--kind qr` in the same way.
  const before = line
    .slice(0, -1)
    .filter((word, index) => word !== '=' || !line[index - 1]?.startsWith('--'));
  const { command, operands } = await reach(program, [...before, HERE], load);
  const commands = lineage(command);
  const open = commands
    .flatMap(({ options }) => options)
    .find((option) => option.required && holds(commands, option));
  const dashes = before.indexOf('--');
  return {
    word: line.at(-1) ?? '',
    command,
    operands: operands.filter((operand) => operand !== HERE),
    open,
    rest: dashes === -1 || open ? undefined : before.length - dashes - 1,
  };
}

function holds(commands: readonly Command[], option: Option): boolean {
  const values = commands.map((command) => command.getOptionValue(option.attributeName()));
  return values.flat().includes(HERE);
}

function offerFor(place: Place, context: Context): Offer {
  const { word: typed, command, operands, open, rest } = place;
  if (rest !== undefined) return command.name() === 'run' && rest === 0 ? 'commands' : 'files';
  const commands = lineage(command);
  const [assignment, name = ''] = /^(--[^=]+)=/.exec(typed) ?? [];
  if (!open && assignment) {
    const option = commands.flatMap(({ options }) => options).find(({ long }) => long === name);
    const offer = optionValues(option, context);
    return typeof offer === 'string'
      ? offer
      : offer.map(({ word }) => ({ word: `${assignment}${word}` }));
  }
  const isHelp = command.name() === 'help';
  if (typed.startsWith('-') && (!open || open.variadic))
    return isHelp ? words(operands.length === 0 ? ['--json'] : []) : optionsFor(command);
  if (open) return optionValues(open, context);
  if (isHelp && operands.length > 0) return [];
  if (isHelp) return [...commandWords(commands[0] ?? command), ...words(topics, 'topic')];
  if (operands.length === 0 && command.commands.length > 0)
    return command.parent
      ? commandWords(command)
      : [...commandWords(command), ...words(['help'], 'help on a command or a topic')];
  const { registeredArguments: all } = command;
  const last = all.at(-1);
  const argument = all[operands.length] ?? (last?.variadic ? last : undefined);
  return argument ? valuesFor(argument, context, operands.at(-1)) : [];
}

const words = (list: readonly string[], description?: string): Candidate[] =>
  list.map((word) => ({ word, ...(description && { description }) }));

const commandWords = (command: Command): Candidate[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((command) => ({ word: command.name(), description: command.summary() }));

/** Leaves out `--anonymous` for `list`, which always refuses it. */
function optionsFor(command: Command): Candidate[] {
  const options = command.createHelp().visibleOptions(command);
  const refused = command.name() === 'list' ? '--anonymous' : undefined;
  return options
    .filter(({ long }) => long !== refused)
    .flatMap(({ short, long, description }) =>
      [short, long].flatMap((word) => (word ? [{ word, description }] : [])),
    );
}

function optionValues(option: Option | undefined, context: Context): Offer {
  if (option?.long === '--encrypt') return words(['link', 'words']);
  return option?.required ? valuesFor(option, context) : [];
}

/** @param before the operand before the typed word */
function valuesFor(declared: Option | Argument, context: Context, before = ''): Offer {
  if (declared.argChoices) return words(declared.argChoices);
  switch (subjectOf(declared)) {
    case 'path':
      return 'files';
    case 'push':
      return 'links';
    case 'profile':
      // Names may be unsafe, because another user may have written the config file.
      return offered(words(Object.keys(storedProfiles(context).profiles)));
    case 'setting':
      return settingNames.map((word) => ({ word, description: `${settingNamed(word)?.about}` }));
    case 'value': {
      const values = settingNamed(before)?.values ?? [];
      return values === 'files' ? values : words(values);
    }
    default:
      return [];
  }
}

/**
 * Keeps only candidates that bash, zsh, fish and PowerShell take for one plain word, and that Commander does not take
 * for an option, because other people may have chosen them.
 */
function offered(candidates: readonly Candidate[]): Candidate[] {
  return candidates.filter(({ word }) => /^\w[\w.:/-]*$/.test(word));
}

/** A user who is typing does not read more pushes, nor more columns of their names. */
const MOST_LINKS = 10;
const NAME_COLUMNS = 40;

/** Offers the newest pushes with a receipt, by ID if they are at the instance in use, as shells split links. */
async function ownLinks(command: Command, context: Context): Promise<Candidate[]> {
  const { sourcesOf } = await import('../../profile/sources');
  const { targetOf } = await import('../../profile/target');
  const { readReceipts } = await import('../../profile/receipts');
  const options = globalOptions(command, context.env);
  const target = tried(() => targetOf(sourcesOf(entryOf(context, options), options)));
  const used = target instanceof CliError ? undefined : target.base;
  const now = context.now();
  const known = readReceipts(context)
    .active()
    .map(({ base, token, receipt }) => ({
      word: base === used && !/^-|^last$/.test(token) ? token : pushLink(base, receipt),
      description: [
        shorten(safe(`${receipt.name ?? ''}`), NAME_COLUMNS),
        ago(receipt.created_at, now),
      ]
        .filter((part) => part !== '')
        .join(', '),
    }));
  const newest = offered(known).slice(0, MOST_LINKS);
  return [{ word: 'last', description: 'the push created last' }, ...newest];
}
