import type { Argument, Option } from 'commander';
import { type Command, reach } from '../../cli/command';
import { lineage, valueKind } from '../../cli/declare';
import { globalOptions } from '../../cli/options';
import { entryOf } from '../../cli/terminal/output';
import { safe } from '../../cli/terminal/safe';
import { shorten } from '../../cli/terminal/text-width';
import { ago } from '../../cli/terminal/wording';
import { pushLink } from '../../contract/address';
import type { Context } from '../../platform/context';
import { CliError, tried } from '../../platform/errors';
import { storedProfiles } from '../../profile/config-file';
import { aboutSetting, settingNames } from '../../profile/settings';

/** Candidates for a shell to offer, a kind of words that it completes itself, or links that this machine knows. */
type Offer = readonly Candidate[] | 'files' | 'commands' | 'links';

interface Candidate {
  readonly word: string;
  readonly description?: string;
}

/** What the program knows besides its options. */
interface Known {
  readonly topics: readonly string[];
  /** Declares what a command takes. */
  load(command: Command): Promise<void>;
}

/**
 * The output of `pwpush __complete WORD...`, which the scripts call. The words are those after `pwpush` up to the
 * cursor; the last one is being typed and may be empty. The first line says what fits there:
 *
 * - `words`: the candidates follow, one a line, with a tab and a description where there is one. They are not
 *   filtered by the last word: each shell matches in its own way;
 * - `files` or `commands`: the shell completes paths, or the names of programs.
 *
 * @throws what reading the config file or the receipts throws, where these are wanted.
 */
export async function complete(
  program: Command,
  line: readonly string[],
  known: Known,
  context: Context,
): Promise<string> {
  const stands = await standing(program, before(line), known);
  const found = offerFor(program, line.at(-1) ?? '', stands, known, context);
  const offer = found === 'links' ? await ownLinks(stands.command, context) : found;
  if (typeof offer === 'string') return `${offer}\n`;
  const lines = offer.map(({ word, description }) =>
    description ? `${word}\t${description}` : word,
  );
  return ['words', ...lines, ''].join('\n');
}

/** The words before the one that is typed. bash splits `--kind=qr` into three words. */
function before(line: readonly string[]): readonly string[] {
  return line.slice(0, -1).filter((word, at) => word !== '=' || !line[at - 1]?.startsWith('--'));
}

/** Where the typed word stands. */
interface Standing {
  readonly command: Command;
  /** How many operands of the command are before it. */
  readonly operands: number;
  /** The option whose value it is. */
  readonly open: Option | undefined;
  /** How many words are between `--` and it, if there is one. */
  readonly rest: number | undefined;
}

/** Stands for the typed word: where Commander puts it is what fits there. No line can have it. */
const HERE = '\0here';

async function standing(
  program: Command,
  typed: readonly string[],
  known: Known,
): Promise<Standing> {
  const { command, operands } = await reach(program, [...typed, HERE], known.load);
  const commands = lineage(command);
  const open = commands
    .flatMap(({ options }) => options)
    .find((one) => one.required && holds(commands, one));
  const dashes = typed.indexOf('--');
  return {
    ...{ command, operands: operands.filter((one) => one !== HERE).length, open },
    rest: dashes === -1 || open ? undefined : typed.length - dashes - 1,
  };
}

/** Whether the typed word is the value of an option. */
function holds(commands: readonly Command[], option: Option): boolean {
  const values = commands.map((one) => one.getOptionValue(option.attributeName()));
  return values.flat().includes(HERE);
}

function offerFor(
  program: Command,
  current: string,
  { command, operands, open, rest }: Standing,
  known: Known,
  context: Context,
): Offer {
  if (rest !== undefined) return command.name() === 'run' && rest === 0 ? 'commands' : 'files';
  const [assignment, name = ''] = /^(--[^=]+)=/.exec(current) ?? [];
  if (!open && assignment) {
    const option = lineage(command).flatMap(({ options }) => options);
    const offer = optionValues(
      option.find(({ long }) => long === name),
      context,
    );
    return typeof offer === 'string'
      ? offer
      : offer.map(({ word }) => ({ word: `${assignment}${word}` }));
  }
  const help = command.name() === 'help';
  if (current.startsWith('-') && (!open || open.variadic))
    return help ? words(operands === 0 ? ['--json'] : []) : optionsFor(command);
  if (open) return optionValues(open, context);
  if (help && operands > 0) return [];
  if (help) return [...namedCommands(program), ...told(known.topics, 'topic')];
  if (operands === 0 && command.commands.length > 0) return commandWords(command);
  const { registeredArguments: all } = command;
  const last = all.at(-1);
  return argumentValues(all[operands] ?? (last?.variadic ? last : undefined), command, context);
}

const words = (list: readonly string[]): Candidate[] => list.map((word) => ({ word }));
const told = (list: readonly string[], description: string) =>
  list.map((word) => ({ word, description }));

const shown = (command: Command) => command.createHelp().visibleCommands(command);

const namedCommands = (command: Command): Candidate[] =>
  shown(command).map((one) => ({ word: one.name(), description: one.summary() }));

function commandWords(command: Command): Candidate[] {
  const below = namedCommands(command);
  return command.parent
    ? below
    : [...below, { word: 'help', description: 'help on a command or a topic' }];
}

/** Its own and the global ones, without what it always refuses. */
function optionsFor(command: Command): Candidate[] {
  const options = command.createHelp().visibleOptions(command);
  const refused = command.name() === 'list' ? '--anonymous' : undefined;
  return options.filter(({ long }) => long !== refused).flatMap(optionWords);
}

function optionWords({ short, long, description }: Option): Candidate[] {
  const names = [short, long].filter((name) => typeof name === 'string');
  return names.map((word) => ({ word, description }));
}

function optionValues(option: Option | undefined, context: Context): Offer {
  if (option?.long === '--encrypt') return words(['link', 'words']);
  if (!option?.required) return [];
  if (option.argChoices) return words(option.argChoices);
  if (option.long === '--profile') return profileNames(context);
  return valueKind(option) === 'path' ? 'files' : [];
}

function argumentValues(argument: Argument | undefined, command: Command, context: Context): Offer {
  if (!argument) return [];
  if (argument.argChoices) return words(argument.argChoices);
  const name = argument.name();
  if (name === 'key')
    return settingNames.map((word) => ({ word, description: aboutSetting(word) }));
  if (/^links?$/.test(name) && command.name() !== 'respond') return 'links';
  if (name === 'name' && command.parent?.name() === 'profile') return profileNames(context);
  return /^(path|file|folder)$/.test(name) ? 'files' : [];
}

/** Anybody may have written the config file. */
function profileNames(context: Context): Candidate[] {
  return offered(words(Object.keys(storedProfiles(context).profiles)));
}

/**
 * What others chose, as far as bash, zsh, fish and PowerShell take it for one word that means nothing to them, and Commander
 * for no option.
 */
function offered(candidates: readonly Candidate[]): Candidate[] {
  return candidates.filter(({ word }) => /^\w[\w.:/-]*$/.test(word));
}

/** How many pushes are offered, and the columns of a name beside them: more is read by nobody while typing. */
const MOST_LINKS = 10;
const NAME_COLUMNS = 40;

/** The newest pushes that have a receipt: by ID at the instance in use, which shells do not split as a link. */
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
