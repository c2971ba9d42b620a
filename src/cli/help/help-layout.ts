import {
  type Argument,
  Help,
  type HelpConfiguration,
  type Option,
  type Command as Parser,
} from 'commander';
import { exitStatus } from '../../platform/errors';
import type { Command } from '../command';
import { isCommon } from '../declare';
import { GLOBAL } from '../options';
import { folded } from '../terminal/bounded-write';

export const topics = ['options', 'environment', 'exit-codes'] as const;

const files = import.meta.glob<string>('./*.txt', { query: '?raw', import: 'default' });

export async function topicText(topic: (typeof topics)[number]): Promise<string> {
  const text = (await files[`./${topic}.txt`]?.()) ?? '';
  if (topic !== 'exit-codes') return text;
  const rows = (await exitCodes()).map(({ status, name, meaning }) => {
    const code = `${status}`.padStart(4);
    return `${name === 'ok' ? code : `${code}  ${name}`}\t${meaning.replaceAll('\n', '\n\t')}`;
  });
  return text.replace('{codes}', rows.join('\n'));
}

export async function exitCodes() {
  const { default: meanings } = await import('./exit-codes.json');
  const all = { ok: 0, ...exitStatus };
  const names = Object.keys(all) as (keyof typeof all)[];
  return names.map((name) => ({ status: all[name], name, meaning: meanings[name] }));
}

/**
 * A help text is written for 80 columns; on a narrower terminal its lines are joined and folded. A tab stands between
 * the two columns of a row, and before each further line of the second column.
 */
export function laidOut(text: string, columns: number): string {
  const isNarrow = columns < 80;
  const whole = isNarrow ? text.replace(/(?<=^\S.*)\n(?=\S)|\n\t/gm, ' ') : text;
  const sections = whole.split('\n\n').map((section) => {
    const lines = section.split(/\n(?!\t)/).map((line) => line.split(/\t(.*)/s));
    const indent = Math.max(...lines.map(([head = '', row]) => (row ? head.length + 2 : 0)));
    const line = ([head = '', row]: readonly string[]) => {
      if (row !== undefined) return inColumns(head, indent, row.replaceAll('\n\t', '\n'), columns);
      if (!isNarrow) return head;
      return head.startsWith('  $ ') ? example(head, columns) : fold(head, columns);
    };
    return lines.map(line).join('\n');
  });
  return sections.join('\n\n');
}

const fold = (text: string, columns: number) => folded(text, { isTTY: true, columns });

/** Puts a text beside its name, or below it if there is little room. */
function inColumns(head: string, indent: number, text: string, columns: number): string {
  const isBeside = columns >= 80 || (columns - indent >= 24 && !/\S{25}/.test(text));
  const from = isBeside ? indent : 6;
  const lines = fold(text, columns - from).replaceAll('\n', `\n${' '.repeat(from)}`);
  const hasRoom = isBeside && head.length + 2 <= indent;
  return hasRoom ? head.padEnd(indent) + lines : `${head}\n${' '.repeat(from)}${lines}`;
}

/** Folds an example so that a shell reads its lines as one command. */
function example(line: string, columns: number): string {
  if (line.length <= columns) return line;
  const [command = '', meaning] = line.split(/ {3,}/);
  const [first = '', ...words] = command.trim().match(/(?:'[^']*'|"[^"]*"|\S)+/g) ?? [];
  const lines: string[] = [];
  let last = `  ${first}`;
  for (const word of words) {
    const longer = `${last} ${word}`;
    if (longer.length <= columns - ' \\'.length) last = longer;
    else {
      // A pipe at the end of a line continues it in PowerShell, too.
      lines.push(/[|&]$/.test(last) ? last : `${last} \\`);
      last = `      ${word}`;
    }
  }
  return [...lines, last, ...(meaning === undefined ? [] : [`      ${meaning}`])].join('\n');
}

export function layoutOf(command: Command): HelpConfiguration {
  const page = command.parent ? pageOf : indexOf;
  return { formatHelp: (_, help) => `${page(command, help, help.helpWidth ?? 80)}\n` };
}

/** This number of options fits on a screen with their help. */
const FEW = 10;

export const isGlobal = ({ helpGroupHeading }: Option) => helpGroupHeading === GLOBAL;

const ownOptions = (command: Parser) =>
  Help.prototype.visibleOptions(command).filter((option) => !isGlobal(option));

/** Returns the options that `--help` shows: all, or the common ones if the command has more than `FEW`. */
export function shownBriefly(command: Parser): Option[] {
  const own = ownOptions(command);
  return own.length > FEW ? own.filter(isCommon) : own;
}

function pageOf(command: Command, help: Help, columns: number): string {
  const brief = shownBriefly(command);
  const isShort = !command.helpsWithAll && brief.length < ownOptions(command).length;
  const lists = listsOf(command, help, isShort ? brief : undefined);
  const wide = Math.min(columns, 100);
  const terms = lists.flatMap(([, rows]) => rows.map(([term]) => term.length));
  // Descriptions have 40 columns on a terminal of 56 or more.
  const indent = Math.min(Math.max(...terms), Math.max(12, wide - 44)) + 4;
  const laid = lists.map(([heading, rows]) => {
    if (heading === GLOBAL) return globalNames(rows, wide);
    const lines = rows.map(([term, text]) => inColumns(`  ${term}`, indent, text, wide));
    return rows.length === 0 ? '' : [heading, ...lines].join('\n');
  });
  const [text = '', examples = ''] = `\n${command.manual}`.split(/\n+(?=Examples?:$)/m);
  const more = isShort ? `pwpush help ${command.name()} shows all options.` : text;
  const usage = fold(`Usage: ${help.commandUsage(command)}`, wide);
  const sentence = fold(command.description(), wide);
  const parts = [
    usage,
    sentence,
    laidOut(examples.trim(), columns),
    ...laid,
    laidOut(more.trim(), columns),
  ];
  return parts.filter(Boolean).join('\n\n');
}

type List = readonly [heading: string, rows: readonly (readonly [term: string, text: string])[]];

/** @param brief lists only these options and the commands */
function listsOf(command: Command, help: Help, brief: readonly Option[] | undefined): List[] {
  const rows = (options: readonly Option[]) =>
    options.flatMap((option) => {
      const [name, text] = [option.attributeName(), option.description];
      const forms = options.filter(
        (one) => one.attributeName() === name && one.description === text,
      );
      if (option !== forms[0]) return [];
      const flags = forms.length > 1 ? option.flags.replace('--', '--[no-]') : option.flags;
      return [[flags, described(option, help.optionDescription(option))] as const];
    });
  const words = help
    .visibleArguments(command)
    .map(
      (argument) =>
        [argument.name(), described(argument, help.argumentDescription(argument))] as const,
    );
  const children = help.visibleCommands(command);
  const below: List = ['Commands:', children.map((child) => [usageOf(child), child.summary()])];
  if (brief) return [['Common options:', rows(brief)], below];
  const visible = help.visibleOptions(command);
  const groups = help.groupItems(
    [...command.options],
    visible,
    ({ helpGroupHeading = 'Options:' }) => helpGroupHeading,
  );
  const options = Array.from(groups, ([heading, group]): List => [heading, rows(group)]);
  return [['Arguments:', words], ...options, below];
}

/** Leaves out choices that the description names, and many choices, which the text below the options has. */
function described({ argChoices, description }: Option | Argument, whole: string): string {
  const isNamed = argChoices?.every((choice) => description.includes(choice));
  return argChoices && (argChoices.length > 10 || isNamed) ? description : whole;
}

/** Options are left out, as every command takes some. */
function usageOf(command: Parser): string {
  const words = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  return [command.name(), ...words].join(' ');
}

/** The help of the global options would fill a terminal, so that only their names are listed. */
function globalNames(rows: List[1], columns: number): string {
  const names = rows.map(([flags]) => flags.replace(', ', '/').replace(/ [<[].*/, ''));
  const lines = fold(names.join(', '), columns - 2);
  const heading = fold('Global options (see pwpush help options):', columns);
  return `${heading}\n${lines.replaceAll(/^/gm, '  ')}`;
}

function indexOf(program: Command, help: Help, columns: number): string {
  const commands = help.visibleCommands(program);
  const groups = help.groupItems(commands, commands, (command) => command.helpGroup());
  const rows = Array.from(groups, ([heading, commands]) => {
    const items = commands.map((command) => `${command.name().padEnd(11)}${command.summary()}`);
    if (columns < 80) return [heading, ...items.map((item) => `  ${item}`)];
    const pairs = items.flatMap((item, index) =>
      index % 2 === 0 ? [`${item.padEnd(36)}${items[index + 1] ?? ''}`] : [],
    );
    return pairs.map((pair, index) => `${(index === 0 ? heading : '').padEnd(8)}${pair}`.trimEnd());
  });
  const usage = `Usage: ${help.commandUsage(program)}`;
  const text = laidOut(`${usage}\n\n${program.description()}`, columns);
  return [text, rows.flat().join('\n'), laidOut(program.manual, columns)].join('\n\n');
}
