import type { Argument, Command, Option } from 'commander';
import { optionOf, readLine } from '../../cli/command-line';
import { valueKind } from '../../cli/declare';
import { globalOptions } from '../../cli/options';
import { safe } from '../../cli/terminal/safe';
import type { Context } from '../../platform/context';
import { storedProfiles } from '../../profile/config-file';
import { settingNames } from '../../profile/settings';

/** Candidates for a shell to offer, a kind of words that it completes itself, or links that this machine knows. */
type Offer = readonly Candidate[] | 'files' | 'commands' | 'links';

interface Candidate {
  readonly word: string;
  readonly description?: string;
}

interface Known {
  readonly topics: readonly string[];
  readonly profiles: () => Candidate[];
}

/**
 * The output of `pwpush __complete WORD...`, which the scripts call. The words are those after `pwpush` up to the
 * cursor; the last one is being typed and may be empty. The first line says what fits there:
 *
 * - `words`: the candidates follow, one a line, with a tab and a description where there is one. They are not
 *   filtered by the last word: each shell matches in its own way;
 * - `files` or `commands`: the shell completes paths, or the names of programs.
 *
 * `program` has the typed command in full, or all commands by name; `topics` are those of `pwpush help`.
 *
 * @throws what reading the config file or the receipts throws, where these are wanted.
 */
export async function complete(
  program: Command,
  line: readonly string[],
  topics: readonly string[],
  context: Context,
): Promise<string> {
  const found = offerFor(program, line, { topics, profiles: () => profileNames(context) });
  const offer = found === 'links' ? await ownLinks(program, line, context) : found;
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

function offerFor(program: Command, line: readonly string[], known: Known): Offer {
  const current = line.at(-1) ?? '';
  const { command, operands, open, rest } = readLine(program, before(line));
  if (rest) return command.name() === 'run' && rest.length === 0 ? 'commands' : 'files';
  const help = command === program && operands[0] === 'help';
  const values = operands.length - (help ? 1 : 0);
  const [assignment, name = ''] = /^(--[^=]+)=/.exec(current) ?? [];
  if (!open && assignment) {
    const offer = optionValues(optionOf(command, name), known);
    return typeof offer === 'string'
      ? offer
      : offer.map(({ word }) => ({ word: `${assignment}${word}` }));
  }
  if (current.startsWith('-') && (!open || open.variadic))
    return help
      ? words(values === 0 ? ['--json'] : [])
      : command.createHelp().visibleOptions(command).flatMap(optionWords);
  if (open) return optionValues(open, known);
  if (help) return values === 0 ? words([...namesOf(program), ...known.topics]) : [];
  if (values === 0 && command.commands.length > 0) return commandWords(command);
  const { registeredArguments: all } = command;
  const last = all.at(-1);
  return argumentValues(all[values] ?? (last?.variadic ? last : undefined), command, known);
}

const words = (list: readonly string[]): Candidate[] => list.map((word) => ({ word }));

const shown = (command: Command) => command.createHelp().visibleCommands(command);

const namesOf = (command: Command) => shown(command).map((one) => one.name());

function commandWords(command: Command): Candidate[] {
  const all = shown(command).map((one) => ({ word: one.name(), description: one.summary() }));
  return command.parent
    ? all
    : [...all, { word: 'help', description: 'help on a command or a topic' }];
}

function optionWords({ short, long, description }: Option): Candidate[] {
  const names = [short, long].filter((name) => typeof name === 'string');
  return names.map((word) => ({ word, description }));
}

function optionValues(option: Option | undefined, known: Known): Offer {
  if (option?.long === '--encrypt') return words(['link', 'words']);
  if (!option?.required) return [];
  if (option.argChoices) return words(option.argChoices);
  if (option.long === '--profile') return known.profiles();
  return valueKind(option) === 'path' ? 'files' : [];
}

function argumentValues(argument: Argument | undefined, command: Command, known: Known): Offer {
  if (!argument) return [];
  if (argument.argChoices) return words(argument.argChoices);
  const name = argument.name();
  if (name === 'key') return words(settingNames);
  if (/^links?$/.test(name) && command.name() !== 'respond') return 'links';
  if (name === 'name' && command.parent?.name() === 'profile') return known.profiles();
  return /^(path|file|folder)$/.test(name) ? 'files' : [];
}

/** Anybody may have written the config file: a name that means something to a shell is left out. */
function profileNames(context: Context): Candidate[] {
  const names = Object.keys(storedProfiles(context).profiles);
  return words(names.filter((name) => /^[a-z\d][\w.-]*$/i.test(name)));
}

/** The pushes that have a receipt, newest first: by ID at the instance in use, which shells do not split as a link. */
async function ownLinks(
  program: Command,
  line: readonly string[],
  context: Context,
): Promise<Candidate[]> {
  const [{ createSession }, { parseReference }] = await Promise.all([
    import('../../profile/session'),
    import('../../client/link'),
  ]);
  const session = createSession(context, {
    ...globalOptions(program, context.env),
    ...given('profile', before(line)),
    ...given('url', before(line)),
  });
  const base = await session.target().then(
    (target) => target.base,
    () => undefined,
  );
  const receipts = session.receipts().active();
  const known = receipts.map(({ html_url, name }) => {
    const { token, base: at } = parseReference(html_url);
    return { word: at === base ? token : html_url, description: safe(`${name ?? ''}`) };
  });
  return [{ word: 'last', description: 'the push created last' }, ...known];
}

/** A global option with its value, joined to it or not. */
function given(name: 'profile' | 'url', words: readonly string[]) {
  const at = words.findLastIndex((word) => word.split('=', 1)[0] === `--${name}`);
  const [option, joined] = words[at]?.split(/=(.*)/s) ?? [];
  const value = option && (joined ?? words[at + 1]);
  return value ? { [name]: value } : {};
}
