import type { Argument, Command, Option } from 'commander';
import { valueIn, valueKind } from './declare';
import { exitCodes, isGlobal, shownBriefly, topics, topicText } from './help/help-layout';
import { toJson } from './terminal/output';

export interface CommandEntry extends ReturnType<typeof ownEntry> {
  readonly commands: readonly CommandEntry[];
}

export async function programJson(program: Command, version: string): Promise<string> {
  const titles = topics.map(async (name) => ({
    name,
    title: (await topicText(name)).split('\n', 1)[0],
  }));
  const codes = await exitCodes();
  const options = program.createHelp().visibleOptions(program);
  return `${toJson({
    name: program.name(),
    version,
    description: program.description(),
    options: options.map((option) => ({ ...optionEntry(option, options), group: undefined })),
    exit_codes: codes.map((code) => ({ ...code, meaning: code.meaning.replaceAll('\n', ' ') })),
    topics: await Promise.all(titles),
    commands: program.commands.map(commandEntry),
  })}\n`;
}

function commandEntry(command: Command): CommandEntry {
  return { ...ownEntry(command), commands: command.commands.map(commandEntry) };
}

function ownEntry(command: Command) {
  const options = command.createHelp().visibleOptions(command);
  const common = shownBriefly(command);
  return {
    name: command.name(),
    aliases: command.aliases(),
    group: heading(command.helpGroup()),
    summary: command.summary(),
    description: command.description(),
    usage: command.createHelp().commandUsage(command),
    arguments: command.registeredArguments.map(argumentEntry),
    options: options
      .filter((option) => !isGlobal(option))
      .map((option) => ({ ...optionEntry(option, options), common: common.includes(option) })),
    global_options: options.filter(isGlobal).flatMap(({ long }) => long ?? []),
  };
}

const heading = (text: string | undefined) => text?.replace(/:$/, '') || undefined;

function argumentEntry(argument: Argument) {
  const { required, variadic, description, argChoices: choices } = argument;
  return { name: argument.name(), required, variadic, description, choices };
}

function optionEntry(option: Option, all: readonly Option[]) {
  const { flags, long, short, description, argChoices: choices } = option;
  const no = long?.replace(/^--/, '--no-');
  return {
    flags,
    long: long ?? undefined,
    short: short ?? undefined,
    description,
    group: heading(option.helpGroupHeading),
    type: valueKind(option),
    value: valueIn(option),
    choices,
    default: option.defaultValue as string | number | undefined,
    negatable: all.some((other) => other.long === no),
  };
}
