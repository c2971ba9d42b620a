import { randomBytes } from 'node:crypto';
import { fstatSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { GLOBAL, type GlobalOptions, optionsOf } from '../../cli/options';
import { type Invocation, invocation } from '../../cli/terminal/output';
import type { Context, Environment } from '../../platform/context';
import { CliError, usageError } from '../../platform/errors';
import { makeFile } from '../../platform/files/atomic-file';
import { isForeign, type User } from '../../platform/files/owner';
import { checkFolder } from '../../platform/private-folder';
import { dataFolder } from '../../profile/folders';

/** The option for the service's folder, on `serve` and all its subcommands. */
export const DATA = ['--data <folder>', 'folder of the database (default: data folder)'] as const;

/** The option for its PostgreSQL. */
export const DATABASE = [
  '--database <url>',
  'PostgreSQL to use: postgres://… (DATABASE_URL)',
] as const;

export const DEFAULTS = { host: '127.0.0.1', port: 5100, ephemeral: false, trustProxy: false };

export interface DataOptions {
  readonly data?: string;
  readonly database?: string;
  readonly ephemeral?: boolean;
}

/**
 * Where the data are: in the named PostgreSQL, or else in the folder.
 * @throws CliError (usage) for --ephemeral with a database, and if another user prepared the folder, or can
 */
export function dataPlace(context: Context, { data, database, ephemeral }: DataOptions) {
  if (ephemeral && database)
    throw usageError('--ephemeral and --database cannot be combined', 'use only one of them');
  const url = ephemeral ? undefined : database || context.env.DATABASE_URL;
  const folder = data ?? dataFolder(context);
  if (!ephemeral) checkData(folder, context.uid);
  return { data: folder, ...(url ? { database: url } : {}) };
}

/** Its group may write to it, as in Kubernetes (`fsGroup`). */
function checkData(path: string, user: User): void {
  const instead = 'choose another folder with --data';
  try {
    checkFolder(path, { user, what: 'the data folder', instead, closed: 0o002 });
  } catch (error) {
    // exFAT and SMB show all files with the mode that they were mounted with.
    if (isForeign(statSync(path), user) || hasModes(path)) throw error;
  }
}

function hasModes(folder: string): boolean {
  const path = join(folder, `.modes.${randomBytes(6).toString('hex')}`);
  let mode = 0o600;
  try {
    // Of the open file: others could exchange it.
    makeFile(path, (file) => {
      mode = fstatSync(file).mode & 0o777;
    });
    rmSync(path);
  } catch {
    // It cannot be written to either.
  }
  return mode === 0o600;
}

/** Where the instance key is, if not beside the data. */
export const keyFile = ({ env }: Context) =>
  env.PWPUSH_INSTANCE_KEY_FILE ? { instanceKeyFile: env.PWPUSH_INSTANCE_KEY_FILE } : {};

/** The warning about a database password on the command line; undefined without one. */
export function passwordWarning(command: Command): string | undefined {
  for (let one: Command | null = command; one; one = one.parent) {
    const typed = one.getOptionValueSource('database') === 'cli';
    const url = String(one.opts().database);
    if (typed && /^\w+:\/\/[^@/?#:]*:[^@/?#]+@|[?&]password=[^&]/.test(url)) {
      return 'other users of this machine can read the password in --database; use DATABASE_URL or PGPASSWORD';
    }
  }
  return undefined;
}

/** Begins a subcommand: its options, with those given before it. Warns of a password on the command line. */
export async function beginSubcommand<T extends object>(
  context: Context,
  subcommand: Command,
): Promise<Invocation & { readonly options: T & GlobalOptions }> {
  const before: object[] = [];
  for (let one = subcommand.parent; one; one = one.parent) before.unshift(one.opts());
  const options = Object.assign({}, ...before, optionsOf(subcommand, context.env, {})) as T &
    GlobalOptions;
  const run = invocation(context, options);
  const warning = passwordWarning(subcommand);
  if (warning) await run.say.warn(warning);
  return { ...run, options };
}

/**
 * Makes `serve` and its subcommands refuse empty values, such as that of an unset shell variable: with an empty host it
 * would listen on all addresses, and with an empty certificate it would not use TLS.
 */
export function refuseEmpty(serve: Command): void {
  serve.hook('preAction', (_, subcommand) => {
    for (const command of [serve, subcommand]) {
      const empty = command.options.find((one) => command.opts()[one.attributeName()] === '');
      if (empty) throw usageError(`${empty.long} must not be empty`);
    }
  });
}

export type LogFormat = 'text' | 'json';

export function logFormat(value: string): LogFormat {
  if (value === 'text' || value === 'json') return value;
  throw usageError(`--log must be text or json, not "${value}"`);
}

/** Parses requests per second or minute, or `off`. */
export function rate(value: string): 'off' | { requests: number; milliseconds: number } {
  if (value === 'off') return value;
  const [, count = '0', unit] = /^(\d{1,7})\/([sm])$/.exec(value) ?? [];
  if (Number(count) >= 1) {
    return { requests: Number(count), milliseconds: unit === 's' ? 1000 : 60_000 };
  }
  throw usageError(`--rate-limit must be a number such as 50/s or 600/m, or off, not "${value}"`);
}

/** Parses bytes; K, M, G, T and KiB … are powers of 1024, KB … of 1000. */
export function size(option: string, least = 1): (value: string) => number {
  return (value) => {
    const [, digits = '', unit = '', suffix = ''] =
      /^(\d{1,13}(?:\.\d{1,3})?)([kmgt]?)(i?b)?$/i.exec(value.trim()) ?? [];
    const base = suffix.toLowerCase() === 'b' ? 1000 : 1024;
    const bytes = Number(digits) * base ** ' kmgt'.indexOf(unit.toLowerCase() || ' ');
    if (digits !== '' && bytes >= least && bytes <= 1024 ** 4) return Math.floor(bytes);
    throw usageError(`${option} must be a size such as 500M or 1GiB, not "${value}"`);
  };
}

/** Parses a whole number of days, 0 included. */
export function days(value: string): number {
  if (/^\d{1,9}$/.test(value)) return Number(value);
  throw usageError(`--keep-days must be a whole number of days, not "${value}"`);
}

/** The variable of each option of `serve` itself, by the option's name in `opts()`. */
export function variablesOf(serve: Command): Map<string, string> {
  const own = serve.options.filter(({ helpGroupHeading }) => helpGroupHeading !== GLOBAL);
  return new Map(
    own.map((option) => {
      const words = option.attributeName().replace(/[A-Z]/g, (letter) => `_${letter}`);
      return [option.attributeName(), `PWPUSH_SERVE_${words.toUpperCase()}`];
    }),
  );
}

/** A warning for each variable that looks like one of `serve` but is not: the service would run with its default. */
export function unknownVariables(serve: Command, env: Environment): string[] {
  const known = new Set(variablesOf(serve).values());
  return Object.keys(env)
    .filter((name) => /^PWPUSH_SERVE_/.test(name) && !known.has(name))
    .map((name) => {
      const positive = name.replace('_SERVE_NO_', '_SERVE_');
      const meant = known.has(positive) ? `; did you mean ${positive}=false?` : '';
      return `the variable ${name} is unknown and has no effect${meant}`;
    });
}

/**
 * Makes `serve` and its subcommands take options that are not on the command line from the environment. An empty
 * variable counts as not set.
 * @throws CliError (usage) that names the variable
 */
export function readVariables(serve: Command, env: Environment): void {
  serve.hook('preAction', (_, subcommand) => {
    for (const [name, variable] of variablesOf(serve)) {
      const text = env[variable];
      const option = subcommand.options.find((one) => one.attributeName() === name);
      if (!text || !option || serve.getOptionValueSource(name) === 'cli') continue;
      serve.setOptionValueWithSource(name, parsed(option, variable, text), 'env');
    }
  });
}

function parsed(option: Option, variable: string, text: string): unknown {
  if (option.isBoolean() || option.negate) return flag(variable, text);
  try {
    return option.parseArg ? option.parseArg(text, undefined) : text;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw usageError(error.message.replace(option.long ?? '', variable), error.hint);
  }
}

function flag(variable: string, text: string): boolean {
  if (/^(?:1|true|yes|on)$/i.test(text)) return true;
  if (/^(?:0|false|no|off)$/i.test(text)) return false;
  throw usageError(`${variable} must be true or false`);
}
