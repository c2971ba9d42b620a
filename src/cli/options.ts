import { type Command, Option } from 'commander';
import { type Edition, type Expiry, parseDuration, parseExpiry } from '../contract/lifetime';
import type { Environment } from '../platform/context';
import { usageError } from '../platform/errors';

/** Options every command takes, before or after its name. */
export interface GlobalOptions {
  readonly profile?: string;
  readonly url?: string;
  readonly tokenFile?: string;
  readonly anonymous: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
  /** False with `--no-input`: never prompt. */
  readonly input: boolean;
  /** Seconds. */
  readonly timeout?: number;
  readonly caFile?: string;
  /** The id or name of an account of the commercial edition. */
  readonly account?: string;
  readonly insecure: boolean;
  /** `Name: value`; may contain secrets. */
  readonly header?: readonly string[];
  /** Paths of a client certificate and its private key. */
  readonly cert?: string;
  readonly key?: string;
  /** False with `--no-color`. */
  readonly color: boolean;
  readonly debug: boolean;
}

/** Whether a CI job runs us, whose log may be parsed for commands. Most set CI; GitHub, Azure and TeamCity one of their own. */
export function isCi(env: Environment): boolean {
  return ['CI', 'GITHUB_ACTIONS', 'TF_BUILD', 'TEAMCITY_VERSION'].some((name) => isOn(env[name]));
}

/** Whether a variable switches something on: set, and neither empty, `0` nor `false`. */
export function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value.toLowerCase() !== 'false';
}

/** The heading of the global options in help. */
export const GLOBAL = 'Global options:';

/** Declares the global options on the program and on each command, so that they can be given before and after its name. */
export function addGlobalOptions(command: Command): Command {
  command
    .optionsGroup(GLOBAL)
    .option('--profile <name>', 'use this profile (PWPUSH_PROFILE)')
    .option('--url <url>', 'address of the instance (PWPUSH_URL)')
    .option('--token-file <path>', 'file with the API token; - is stdin (PWPUSH_TOKEN_FILE)')
    .option('--anonymous', 'send no token');
  // `wait` has its own --timeout.
  if (!command.options.some(({ long }) => long === '--timeout'))
    command.option(
      '--timeout <seconds>',
      'seconds to wait for a response (default: 30)',
      seconds('--timeout'),
    );
  command
    .option('--ca-file <path>', 'also trust the CAs in this PEM file (PWPUSH_CA_FILE)')
    .option('--insecure', 'do not verify certificates; warns each time')
    .option('--account <id|name>', 'account of a commercial instance', filled('--account'))
    .option('--header <line>', "'Name: value'; for secrets: PWPUSH_HEADERS_FILE", repeated)
    .option('--cert <path>', 'client certificate, PEM (PWPUSH_CERT_FILE)')
    .option('--key <path>', 'its private key, PEM (PWPUSH_CERT_KEY_FILE)');
  return addOutputOptions(command);
}

/** Declares the global options of a command that only works on profiles. */
export function addProfileOptions(command: Command): Command {
  command.optionsGroup(GLOBAL).option('--profile <name>', 'use this profile (PWPUSH_PROFILE)');
  return addOutputOptions(command);
}

/** Declares the global options of a command that sends nothing. */
export function addOutputOptions(command: Command): Command {
  return command
    .optionsGroup(GLOBAL)
    .option('--json', 'print JSON, errors included')
    .option('-q, --quiet', 'print only the result, warnings and errors')
    .option('--no-input', 'never prompt (PWPUSH_NO_INPUT, CI)')
    .option('--no-color', 'no colors (NO_COLOR)')
    .option('--debug', 'log requests to stderr, without secrets')
    .helpOption('-h, --help', 'show help')
    .enablePositionalOptions();
}

/** Declares where the passphrase of a retrieval comes from. */
export function addPassphraseOptions(command: Command): Command {
  return command
    .optionsGroup('Passphrase:')
    .option('-p, --passphrase', 'ask for the passphrase')
    .option('--passphrase-file <path>', 'read the passphrase from a file; - is stdin')
    .option('--passphrase-env <name>', 'read it from a variable (else PWPUSH_PASSPHRASE)');
}

/**
 * The option that asks for a new passphrase. Declared as if it took a value: `-p hunter2`, which other programs accept,
 * must not send "hunter2".
 * @param what it protects
 * @param argument what is given before it on the command line
 */
export function newPassphraseOption(what: 'push' | 'page', argument: 'text' | 'question'): Option {
  const option = new Option('-p, --passphrase', `ask for a passphrase that protects the ${what}`);
  option.optional = true;
  return option.argParser((value?: string) => {
    if (value === undefined) return true;
    throw usageError(
      '-p accepts no passphrase: other users of this machine can read the command line',
      `use -p alone to be asked for one, or --passphrase-file PATH or --passphrase-env NAME; put a ${argument} before -p, or after --`,
    );
  });
}

/** Declares what opens an encrypted push. */
export function addKeyOptions(command: Command): Command {
  return command
    .optionsGroup('Encrypted pushes:')
    .option('--key-file <path>', 'key or words from a file; - is stdin (PWPUSH_KEY)')
    .option('-i, --identity <file>', 'decrypt with this age or SSH private key', repeated)
    .option('--no-decrypt', 'take text and files as they are, encrypted or not');
}

/** The global options as given anywhere on the line, with their defaults. */
export function globalOptions(command: Command, env: Environment): GlobalOptions {
  const given: Partial<GlobalOptions>[] = [];
  for (let one: Command | null = command; one; one = one.parent) given.push(explicit(one));
  given.reverse();
  const header = given.flatMap((one) => one.header ?? []);
  return {
    anonymous: false,
    json: false,
    quiet: false,
    input: true,
    insecure: false,
    color: true,
    debug: isOn(env.PWPUSH_DEBUG),
    ...Object.assign({}, ...given),
    ...(header.length === 0 ? {} : { header }),
  };
}

/** A command's own options over their defaults, and the global ones. */
export function optionsOf<Own extends object>(
  command: Command,
  env: Environment,
  defaults: Own,
): Own & GlobalOptions {
  return { ...defaults, ...command.opts(), ...globalOptions(command, env) };
}

/** Only what was typed: Commander's own defaults would hide what was given before the command's name. */
function explicit(command: Command): Partial<GlobalOptions> {
  const options = Object.entries(command.opts());
  return Object.fromEntries(
    options.filter(([name]) => command.getOptionValueSource(name) === 'cli'),
  );
}

/** Collects the values of an option that may be given several times. */
function repeated(value: string, all: readonly string[] = []): string[] {
  return [...all, value];
}

/** Collects the names of an option that may be given several times, or separated by commas. */
export function nameList(value: string, all: readonly string[] = []): string[] {
  return [...all, ...value.split(',').map((name) => name.trim())];
}

/** Refuses an empty value: an unset variable of the shell. */
function filled(option: string): (value: string) => string {
  return (value) => {
    if (value !== '') return value;
    throw usageError(`${option} must not be empty`);
  };
}

export const editions = ['oss', 'commercial', 'pwpush'] as const satisfies Edition[];

/** @throws CliError (usage) that names `source` */
export function parseEdition(text: string, source: string): Edition {
  const found = editions.find((edition) => edition === text);
  if (found) return found;
  throw usageError(`${source} must be one of ${editions.join(', ')}, not "${text}"`);
}

/** Parses when a push expires. */
export function expiry(option: string): (value: string) => Expiry {
  return (value) => {
    const parsed = parseExpiry(value);
    if (parsed) return parsed;
    throw usageError(
      `${option} must be a duration or a time, not "${value}"`,
      'use 45m, 6h, 3d, 2w or 1mo, or a time such as 2026-12-01T09:00Z',
    );
  };
}

/** The most that `--timeout` waits, in seconds: a push lives for 90 days. */
export const LONGEST_WAIT = 90 * 86_400;

/** Parses seconds, as a bare number or as a duration such as `6h`: more than 0, at most `most`. */
export function duration(option: string, most: number): (value: string) => number {
  const bare = seconds(option, most);
  return (value) => {
    const parsed = parseDuration(value);
    if (parsed !== undefined) return within(option, most, parsed, value);
    if (/^[\d.]+$/.test(value)) return bare(value);
    throw usageError(`${option} must be a time such as 90, 45m or 6h, not "${value}"`);
  };
}

/** Parses a whole number of 1 or more. */
export function positive(option: string): (value: string) => number {
  return (value) => {
    if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
    if (/^[1-9]\d*$/.test(value)) throw usageError(`${option} must be at most 999999999`);
    throw usageError(`${option} must be a whole number of 1 or more, not "${value}"`);
  };
}

/** Parses seconds: more than 0, fractions allowed, at most `most`. */
export function seconds(option: string, most = 86_400): (value: string) => number {
  return (value) => {
    if (/^\d+(\.\d+)?$/.test(value)) return within(option, most, Number(value), value);
    throw usageError(`${option} must be a number of seconds above 0, not "${value}"`);
  };
}

function within(option: string, most: number, seconds: number, value: string): number {
  if (seconds > most) throw usageError(`${option} must be at most ${most} seconds, not "${value}"`);
  if (seconds > 0) return seconds;
  throw usageError(`${option} must be a number of seconds above 0, not "${value}"`);
}

/** Parses a port; 0 means any free one. */
export function port(option: string): (value: string) => number {
  return (value) => {
    if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value);
    throw usageError(`${option} must be a number from 0 to 65535, not "${value}"`);
  };
}

/** Parses the number of a page, 1 to 200 (docs/wire.md). */
export function pageNumber(value: string): number {
  if (/^[1-9]\d{0,2}$/.test(value) && Number(value) <= 200) return Number(value);
  throw usageError(`--page must be a whole number from 1 to 200, not "${value}"`);
}
