// How help is laid out.
import {
  type Argument,
  Help,
  type HelpConfiguration,
  Option,
  type Command as Parser,
} from 'commander';
import type { Command } from '../command';
import { isCommon } from '../declare';
import { GLOBAL } from '../options';

/** The topics of `pwpush help <topic>`. */
export const topics = ['options', 'environment', 'exit-codes'] as const;

const files = import.meta.glob<string>('./*.txt', { query: '?raw', import: 'default' });

/** The text about a topic, which is written for 80 columns. */
export async function topicText(topic: (typeof topics)[number]): Promise<string> {
  return (await files[`./${topic}.txt`]?.()) ?? '';
}

export function layoutOf(command: Command): HelpConfiguration {
  return {
    showGlobalOptions: false,
    minWidthToWrap: 1,
    padWidth,
    formatItem,
    subcommandTerm,
    optionDescription,
    argumentDescription,
    formatItemList: listFor(command),
    formatHelp: command.parent ? pageOf(command) : indexOf,
  };
}

/** The number of options that fit on a screen with their help. */
const FEW = 10;

const ownOptions = (command: Parser) =>
  Help.prototype.visibleOptions(command).filter((one) => one.helpGroupHeading !== GLOBAL);

/** The command's own options that `-h` shows: the common ones, if there are many. */
export function shownBriefly(command: Parser): Option[] {
  const own = ownOptions(command);
  return own.length > FEW ? own.filter(isCommon) : own;
}

/** Lays out a short page. */
const SHORT: HelpConfiguration = {
  visibleOptions: shownBriefly,
  visibleArguments: () => [],
  groupItems: (items, visible, groupOf) =>
    Help.prototype.groupItems(items, visible, (one) =>
      one instanceof Option ? 'Common options:' : groupOf(one),
    ),
};

/** Usage, what it does, examples, and then everything else. */
const pageOf =
  (command: Command): Help['formatHelp'] =>
  (_, help) => {
    const short = command.briefly && shownBriefly(command).length < ownOptions(command).length;
    if (short) Object.assign(help, SHORT);
    const page = Help.prototype.formatHelp.call(help, command, help).trimEnd();
    const [usage, sentence, ...lists] = page.split('\n\n');
    const manual = command.manual.trimEnd();
    const [examples = ''] = /^Examples?:$[\s\S]*/m.exec(manual) ?? [];
    const text = manual.slice(0, manual.length - examples.length).trimEnd();
    const more = short ? `pwpush help ${command.name()} shows all options.` : text;
    const parts = [usage, sentence, examples, ...lists, more].filter(Boolean);
    return `${parts.join('\n\n')}\n`;
  };

/** All commands, in two columns where there is room. */
const indexOf: Help['formatHelp'] = (program, help) => {
  const commands = help.visibleCommands(program);
  const groups = help.groupItems(commands, commands, (one) => one.helpGroup());
  const wide = (help.helpWidth ?? 80) >= 80;
  const rows = Array.from(groups, ([heading, commands]) => {
    const items = commands.map((one) => `${one.name().padEnd(11)}${one.summary()}`);
    if (!wide) return [heading, ...items.map((item) => `  ${item}`)];
    const pairs = items.flatMap((item, at) =>
      at % 2 === 0 ? [`${item.padEnd(36)}${items[at + 1] ?? ''}`] : [],
    );
    return pairs.map((pair, at) => `${(at === 0 ? heading : '').padEnd(8)}${pair}`.trimEnd());
  });
  const usage = `Usage: ${help.commandUsage(program)}`;
  const { manual } = program as Command;
  return `${[usage, program.description(), rows.flat().join('\n'), manual].join('\n\n')}\n`;
};

/** Leaves 40 columns to the descriptions, on a terminal of 56 or more. */
function padWidth(command: Parser, help: Help): number {
  const room = Math.max(12, (help.helpWidth ?? 80) - 44);
  return Math.min(Help.prototype.padWidth(command, help), room);
}

/** A term that is wider than its column stands above its description. */
const formatItem: Help['formatItem'] = (term, width, description, help) => {
  const item = (of: string) => Help.prototype.formatItem.call(help, of, width, description, help);
  return term.length > width && description ? `  ${term}\n${item('')}` : item(term);
};

/** Without its choices if they are many, which the text below the options has, or if its description names them. */
function namesChoices({ argChoices = [], description }: Option | Argument): boolean {
  return argChoices.length > 10 || argChoices.every((one) => description.includes(one));
}

const optionDescription = (option: Option) =>
  option.argChoices && namesChoices(option)
    ? option.description
    : Help.prototype.optionDescription(option);

const argumentDescription = (argument: Argument) =>
  argument.argChoices && namesChoices(argument)
    ? argument.description
    : Help.prototype.argumentDescription(argument);

/** Name and arguments only: every command takes options. */
function subcommandTerm(command: Parser): string {
  const words = command.registeredArguments.map((one) =>
    one.required ? `<${one.name()}>` : `[${one.name()}]`,
  );
  return [command.name(), ...words].join(' ');
}

/** Only names the global options, which would fill a terminal. */
function listFor(command: Command): Help['formatItemList'] {
  return (heading, items, help) => {
    if (items.length === 0) return [];
    return heading === GLOBAL ? globalNames(command, help) : [heading, ...items, ''];
  };
}

function globalNames(command: Parser, help: Help): string[] {
  const names = help
    .visibleOptions(command)
    .filter(({ helpGroupHeading }) => helpGroupHeading === GLOBAL)
    .map(({ short, long }) => (short ? `${short}/${long}` : long));
  const lines = help.boxWrap(names.join(', '), (help.helpWidth ?? 80) - 2);
  return ['Global options (see pwpush help options):', lines.replaceAll(/^/gm, '  '), ''];
}
