// How help is laid out.
import { type Command, Help, type HelpConfiguration, type Option } from 'commander';
import { GLOBAL } from '../options';

/** The topics of `pwpush help <topic>`. */
export const topics = ['options', 'environment', 'exit-codes'] as const;

const files = import.meta.glob<string>('./*.txt', { query: '?raw', import: 'default' });

/** The text about a topic, which is written for 80 columns. */
export async function topicText(topic: (typeof topics)[number]): Promise<string> {
  return (await files[`./${topic}.txt`]?.()) ?? '';
}

/** @param lastGroup the last group of commands in the help of the program */
export function layoutOf(command: Command, lastGroup: string | undefined): HelpConfiguration {
  return {
    showGlobalOptions: false,
    minWidthToWrap: 1,
    padWidth,
    formatItem,
    subcommandTerm,
    optionDescription,
    formatItemList: listFor(command, lastGroup),
  };
}

/** Leaves 40 columns to the descriptions, on a terminal of 56 or more. */
function padWidth(command: Command, help: Help): number {
  const room = Math.max(12, (help.helpWidth ?? 80) - 44);
  return Math.min(Help.prototype.padWidth(command, help), room);
}

/** A term that is wider than its column stands above its description. */
const formatItem: Help['formatItem'] = (term, width, description, help) => {
  const item = (of: string) => Help.prototype.formatItem.call(help, of, width, description, help);
  return term.length > width && description ? `  ${term}\n${item('')}` : item(term);
};

/** Without a long list of choices, which is in the text below the options. */
function optionDescription(option: Option): string {
  const { argChoices = [], description } = option;
  return argChoices.length > 10 ? description : Help.prototype.optionDescription(option);
}

/** Name and arguments only: every command takes options. */
function subcommandTerm(command: Command): string {
  const words = command.registeredArguments.map((one) =>
    one.required ? `<${one.name()}>` : `[${one.name()}]`,
  );
  return [command.name(), ...words].join(' ');
}

/** Only names the global options, which would fill a terminal: below the groups of the program's help, which has no room between them. */
function listFor(command: Command, lastGroup: string | undefined): Help['formatItemList'] {
  let options: string[] = [];
  return (heading, items, help) => {
    if (items.length === 0) return [];
    const program = command.parent === null;
    if (heading !== GLOBAL) {
      const below = heading === lastGroup ? ['', ...options] : [];
      return program ? [heading, ...items, ...below] : [heading, ...items, ''];
    }
    options = globalNames(command, help);
    return program ? [] : options;
  };
}

function globalNames(command: Command, help: Help): string[] {
  const names = help
    .visibleOptions(command)
    .filter(({ helpGroupHeading }) => helpGroupHeading === GLOBAL)
    .map(({ short, long }) => (short ? `${short}/${long}` : long));
  const lines = help.boxWrap(names.join(', '), (help.helpWidth ?? 80) - 2);
  return ['Global options (see pwpush help options):', lines.replaceAll(/^/gm, '  '), ''];
}
