import { randomBytes } from 'node:crypto';
import { fstatSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../../cli/command';
import {
  filledText,
  flag,
  group,
  lineage,
  negatable,
  optional,
  parsed,
  type Row,
  storedFile,
  type Values,
} from '../../cli/declare';
import { type Options, tlsRows } from '../../cli/options';
import type { Entry } from '../../cli/terminal/output';
import { days, port, positive, truth } from '../../cli/values';
import { wholeSize } from '../../contract/byte-size';
import {
  HOST,
  type NumberSetting,
  numbers,
  optionName,
  PORT,
  REQUESTS_PER_SECOND,
  variableName,
} from '../../contract/serve-settings';
import type { Context } from '../../platform/context';
import { usageError } from '../../platform/errors';
import { actAs } from '../../platform/files/acting';
import { makeFile } from '../../platform/files/atomic-file';
import { isForeign, type User } from '../../platform/files/owner';
import { readVariable } from '../../platform/files/read-variable';
import { checkFolder } from '../../platform/private-folder';
import { folderOf, fromHome } from '../../profile/folders';
import { type ServiceModule, withService } from '../../profile/load-service';
import type { Invocation } from '../planned';

/** Each of the rows can be set by a variable, too. */
export function settable<
  R extends Readonly<Record<string, Pick<Row<never>, 'label' | 'variable'>>>,
>(rows: R): R {
  for (const row of Object.values(rows)) row.variable = variableName(row.label);
  return rows;
}

/** The options of `serve` and its subcommands that say where the data are. */
export const dataRows = () =>
  settable({
    data: filledText('--data <folder>', 'folder of the database (default: data folder)')
      .names('path')
      .common(),
    database: filledText('--database <url>', 'PostgreSQL to use: postgres://… (DATABASE_URL)'),
  });

/** `least` is 0 or 1; the service itself checks the rest of the range. */
const readers = {
  count: positive,
  days: (text: string, name: string, least: number) =>
    text === '0' && least === 0 ? 0 : days(text, name),
  size,
};

function numberRow(name: string, { unit, help = '', range: [least], preset }: NumberSetting) {
  const isSize = unit === 'size';
  const shown = isSize ? wholeSize(preset ?? 0).replace(' ', '') : preset;
  const row = parsed(
    `${optionName(name)} <${isSize ? 'size' : 'n'}>`,
    preset === undefined ? help : `${help} (default: ${shown})`,
    (text, label) => readers[unit](text, label, least === 0 ? 0 : 1),
  );
  return help === '' ? row.byVariable() : row;
}

const numberRows = Object.fromEntries(
  Object.entries(numbers).map(([name, setting]) => [name, numberRow(name, setting)]),
) as { readonly [Name in keyof typeof numbers]: ReturnType<typeof numberRow> };

/** A default that only the help names is set by the service. */
export const rows = settable({
  ...group('Network:', {
    host: filledText('--host <address>', 'address to listen on').or(HOST),
    port: parsed('--port <n>', 'port to listen on; 0 for any', port).or(PORT),
    publicUrl: filledText('--public-url <url>', 'address in links (default: as requested)'),
  }),
  ...group('Data:', {
    ...dataRows(),
    ephemeral: flag('--ephemeral', 'keep everything in memory, nothing on disk').conflicts([
      'database',
    ]),
    maxData: parsed('--max-data <size>', '', (text, name) =>
      size(text, name, 1024 ** 2),
    ).byVariable(),
    firstToken: negatable('--first-token', 'print no token, where a log would keep it'),
  }),
  ...group('Limits:', {
    // The global option `--anonymous` has another meaning.
    anonymous: negatable('--anonymous', 'require a token, but not to open a link'),
    anonymousFiles: flag('--anonymous-files', 'allow files without a token, too'),
    ...numberRows,
    rateLimit: parsed(
      '--rate-limit <n/s>',
      `requests per address, such as 600/m (default: ${REQUESTS_PER_SECOND}/s)`,
      rate,
    ),
  }),
  ...group('Pages:', {
    title: filledText('--title <text>', 'name on the pages (default: pwpush)'),
    logo: storedFile('--logo <file>', 'image for the pages: PNG, JPEG, WebP or SVG'),
    contact: filledText('--contact <text>', 'contact on the pages: e-mail, URL or name'),
  }),
  ...group('Proxy and TLS:', {
    trustProxy: optional(
      '--trust-proxy [networks]',
      'trust X-Forwarded-* headers; only behind a proxy',
      proxies,
    ),
    ...tlsRows(),
  }),
  ...group('Log and metrics:', {
    log: parsed('--log <format>', 'format of the log: text or json (default: text)', logFormat),
    metricsPort: parsed(
      '--metrics-port <n>',
      'serve Prometheus metrics on it (default: off)',
      port,
    ),
    metricsHost: filledText('--metrics-host <address>', '').byVariable(),
  }),
});

export type DataPlace = Parameters<ServiceModule['dataName']>[0];

/**
 * Returns where the data are: in the named PostgreSQL, or else in the folder.
 * @param asOwner whether root acts as the owner of the folder, so that only others must not be able to write to it
 * @throws CliError (usage) if another user owns the folder or can write to it
 */
export function dataPlace(
  context: Context,
  options: Values<ReturnType<typeof dataRows>> & { readonly ephemeral?: boolean },
  asOwner = false,
): DataPlace {
  if (options.ephemeral) return { data: '' };
  const { data, database: url = readVariable(context.env, 'DATABASE_URL') } = options;
  const key = readVariable(context.env, 'PWPUSH_INSTANCE_KEY_FILE');
  const folder = data === undefined ? folderOf('data', context) : fromHome(data, context);
  const owner = () => statSync(folder, { throwIfNoEntry: false })?.uid;
  checkData(folder, asOwner && context.uid === 0 ? owner() : context.uid);
  return {
    data: folder,
    ...(url ? { database: url } : {}),
    ...(key ? { instanceKeyFile: fromHome(key, context) } : {}),
  };
}

/** The group of the folder may write to it, as in Kubernetes (`fsGroup`). */
function checkData(path: string, user: User): void {
  const instead = 'choose another folder with --data';
  const ofOther = 'run this as its owner';
  try {
    checkFolder(path, { user, what: 'the data folder', instead, ofOther, closed: 0o002 });
  } catch (error) {
    // exFAT and SMB have no modes of files: all files have the mode of the mount, which is no reason to refuse.
    if (isForeign(statSync(path), user) || hasModes(path)) throw error;
  }
}

function hasModes(folder: string): boolean {
  const path = join(folder, `.modes.${randomBytes(6).toString('hex')}`);
  let mode = 0o600;
  try {
    // The mode is read from the open file, because others could replace the file at the path.
    makeFile(path, (file) => {
      mode = fstatSync(file).mode & 0o777;
    });
    rmSync(path);
  } catch {
    // A folder that cannot be written to counts as one with modes.
  }
  return mode === 0o600;
}

export function passwordWarnings(command: Command): string[] {
  const shown = ['database', 'to'].find((name) =>
    lineage(command).some(
      (level) =>
        level.getOptionValueSource(name) === 'cli' &&
        /^\w+:\/\/[^@/?#:]*:[^@/?#]+@|[?&]password=[^&]/.test(String(level.opts()[name])),
    ),
  );
  const instead = `${shown === 'database' ? 'DATABASE_URL or ' : ''}PGPASSWORD`;
  const text = `other users of this machine can read the password in --${shown}; use ${instead}`;
  return shown === undefined ? [] : [text];
}

export type DataOptions<R> = Options<R> & { readonly place: DataPlace };

export async function warnOfPassword({ command, say }: Invocation): Promise<void> {
  for (const warning of passwordWarnings(command)) await say.warn(warning);
}

/** Plans a command that needs only the data of a service. */
export async function planWithData<Given extends Values<ReturnType<typeof dataRows>>>(
  options: Given,
  invocation: Invocation,
): Promise<Given & { readonly place: DataPlace }> {
  // Warns first, because `dataPlace` may throw.
  await warnOfPassword(invocation);
  return { ...options, place: dataPlace(invocation.context, options, true) };
}

/**
 * Runs the work of a command of the operator. Names the data first, which may be others than meant: a shell does not
 * have the variables of the service. Acts as the owner of the folder, if root runs the command.
 * @throws CliError in place of an error of the service
 */
export function onData<T>(
  { context, say }: Entry,
  place: DataPlace,
  work: (service: ServiceModule, data: string) => Promise<T>,
  owned = place,
): Promise<T> {
  return withService(async (service) => {
    const data = service.dataName(place, context.env);
    await say.note(`data: ${data}`);
    if (owned.database !== undefined) return work(service, data);
    // The owner may not be able to read the folder of this program.
    await service.sqliteDriver(context.quietly);
    const back = actAs(owned.data);
    return work(service, data).finally(back);
  });
}

export const variables: ReadonlyMap<string, string> = new Map(
  Object.entries(rows).map(([name, row]) => [name, `${row.variable}`]),
);

function logFormat(value: string, name: string): 'text' | 'json' {
  if (value === 'text' || value === 'json') return value;
  throw usageError(`${name} must be text or json, not "${value}"`);
}

/** Parses `on`, `off`, or addresses and networks, which the service itself checks. */
function proxies(value: string, name: string): boolean | readonly string[] {
  return /[.:/]/.test(value)
    ? value.split(',').map((network) => network.trim())
    : truth(value, name);
}

/** Parses requests per second or minute, or `off`. */
function rate(value: string, name: string): 'off' | { requests: number; milliseconds: number } {
  if (value === 'off') return value;
  const [, count = '0', unit] = /^(\d{1,7})\/([sm])$/.exec(value) ?? [];
  if (Number(count) >= 1)
    return { requests: Number(count), milliseconds: unit === 's' ? 1000 : 60_000 };
  throw usageError(`${name} must be a number such as 50/s or 600/m, or off, not "${value}"`);
}

/** Parses bytes; K, M, G, T and KiB … are powers of 1024, KB … of 1000. */
function size(value: string, name: string, least: number): number {
  const [, digits = '', unit = '', suffix = ''] =
    /^(\d{1,13}(?:\.\d{1,3})?)([kmgt]?)(i?b)?$/i.exec(value.trim()) ?? [];
  const base = suffix.toLowerCase() === 'b' ? 1000 : 1024;
  const bytes = Number(digits) * base ** ' kmgt'.indexOf(unit.toLowerCase() || ' ');
  if (digits !== '' && bytes >= least && bytes <= 1024 ** 4) return Math.floor(bytes);
  throw usageError(`${name} must be a size such as 500M or 1GiB, not "${value}"`);
}
