import { locales } from '../contract/api';
import type { Environment } from '../platform/context';
import { usageError } from '../platform/errors';
import { readVariable } from '../platform/files/read-variable';
import { isOn } from '../platform/surroundings';
import type { Command } from './command';
import {
  bareFlag,
  choice,
  count,
  declare,
  filledText,
  flag,
  group,
  inputFile,
  inputFiles,
  lineage,
  list,
  operand,
  optional,
  parsed,
  Row,
  type Rows,
  storedFile,
  switchOff,
  text,
  type Values,
  valuesOf,
} from './declare';
import { accountId, attachedFile, pageNumber, pipedFileName, port, seconds } from './values';

export const GLOBAL = 'Global options:';

const profileRow = group(GLOBAL, {
  profile: text('--profile <name>', 'use this profile (PWPUSH_PROFILE)')
    .names('profile')
    .needsInstance(),
});

const instanceRows = group(GLOBAL, {
  url: text('--url <url>', 'address of the instance (PWPUSH_URL)').needsInstance(),
  tokenFile: inputFile(
    '--token-file <path>',
    'file with the API token; - is stdin (PWPUSH_TOKEN_FILE)',
    'the token',
  ).needsInstance(),
  anonymous: flag('--anonymous', 'send no token'),
  timeout: parsed(
    '--timeout <time>',
    'seconds, or 2m, to wait for a response (default: 30)',
    seconds,
  ),
  caFile: storedFile(
    '--ca-file <path>',
    'also trust the CAs in this PEM file (PWPUSH_CA_FILE)',
  ).needsInstance(),
  insecure: flag('--insecure', 'do not verify certificates; warns each time').needsInstance(),
  account: parsed('--account <id>', 'account of a commercial instance', accountId).needsInstance(),
  headersFile: storedFile(
    '--headers-file <path>',
    'headers for an access proxy (PWPUSH_HEADERS_FILE)',
  ).needsInstance(),
  cert: storedFile('--cert <path>', 'client certificate, PEM (PWPUSH_CERT_FILE)').needsInstance(),
  certKey: storedFile(
    '--cert-key <path>',
    'its private key, PEM (PWPUSH_CERT_KEY_FILE)',
  ).needsInstance(),
});

/** A command that sends nothing has no other global options. */
export const outputRows = group(GLOBAL, {
  json: flag('--json', 'print JSON, errors included'),
  quiet: flag('-q, --quiet', 'print only the result, warnings and errors'),
  input: switchOff('--no-input', 'never prompt (PWPUSH_NO_INPUT, CI)'),
  color: switchOff('--no-color', 'no colors (NO_COLOR)'),
  debug: flag('--debug', 'log requests to stderr, without secrets'),
  reveal: flag('--reveal', 'for agents: print secrets all the same'),
});

export const globalRows = { ...profileRow, ...instanceRows, ...outputRows };
/** A command that only works on profiles has no other global options. */
export const profileGlobals = { ...profileRow, ...outputRows };

export type GlobalOptions = Values<typeof globalRows>;

/** Each command declares the global options too, so that they can be given before and after its name. */
export function addGlobals(command: Command, rows: Rows = globalRows): Command {
  return declare(command, rows)
    .optionsGroup(GLOBAL)
    .helpOption('-h, --help', 'show help')
    .enablePositionalOptions();
}

/** The link is there when a command plans: if it was not typed, a terminal has asked for it. */
export const linkRow = (help: string, of: 'push' | 'request') =>
  new Row<string>('[link]', help).names(of).asksForLink();

export const pushRow = () => linkRow('link, ID or last; - is standard input', 'push');
export const pushesRow = () =>
  operand('[link...]', 'links, IDs or last; - is stdin, one a line').names('push').asksForLink();

const passphraseFile = () =>
  inputFile(
    '--passphrase-file <path>',
    'from a file; - is stdin (PWPUSH_PASSPHRASE)',
    'the passphrase',
  );

export const passphraseRows = () =>
  group('Passphrase:', {
    passphrase: flag('-p, --passphrase', 'ask for the passphrase')
      .common()
      .conflicts(['passphraseFile']),
    passphraseFile: passphraseFile(),
  });

/**
 * Declares the sources of a passphrase for a new push or page. `-p` is declared as if it took a value: `-p hunter2`,
 * which other programs accept, must not send "hunter2".
 * @param what is protected by the passphrase
 * @param argument precedes the passphrase on the command line
 */
export function newPassphraseRows(what: 'push' | 'page', argument: 'text' | 'question') {
  const ask = `ask for a passphrase that protects the ${what}`;
  const passphrase = bareFlag('-p, --passphrase', ask, () => {
    throw usageError(
      '--passphrase takes no value: other users of this machine can read the command line',
      `use -p alone to be asked for one, --passphrase-file PATH or PWPUSH_PASSPHRASE; put a ${argument} before -p, or after --`,
    );
  });
  return {
    passphrase: passphrase.common().conflicts(['passphraseFile', 'passphraseOut']),
    passphraseFile: passphraseFile().conflicts(['passphraseOut']),
    passphraseOut: filledText(
      '--passphrase-out <file>',
      'generate one into a new file (0600); - is stderr',
    ).names('path'),
  };
}

export const keyRows = () =>
  group('Encrypted pushes:', {
    keyFile: inputFile(
      '--key-file <path>',
      'key or words from a file; - is stdin (PWPUSH_KEY)',
      'the key',
    ).common(),
    identity: inputFiles(
      '-i, --identity <file>',
      'decrypt with this age or SSH private key',
      'an identity',
    ).common(),
    decrypt: switchOff(
      '--no-decrypt',
      'take text and files as they are, encrypted or not',
    ).conflicts(['keyFile', 'identity']),
  });

export function keySources({
  keyFile,
  identity = [],
  decrypt,
}: Values<ReturnType<typeof keyRows>>) {
  const option = keyFile === undefined ? '--identity' : '--key-file';
  return { file: keyFile, identities: identity, decrypt, option };
}

export const sourceRows = () => ({
  from: inputFile('--from <file>', 'read the text from a file; - is standard input', 'the secret')
    .takesPiped('the secret', ['text', 'env', 'generate', 'file', 'each'])
    .common()
    .conflicts(['env', 'generate']),
  env: text('--env <name>', 'read the text from an environment variable').conflicts(['generate']),
  generate: optional('--generate [length]', 'generate it: 24 (default), words:5, hex:32').common(),
  raw: flag('--raw', 'do not drop the last newline of a single line'),
});

/** @param what of the command standard input can be */
export const attachments = (help: string, what: string) =>
  list('-f, --file <path...>', help, attachedFile)
    .names('path')
    .readsStandardInput(what, (path) => pipedFileName(path) !== undefined);

export const fileRows = () => ({
  file: attachments('attach files, up to 10; - or -=NAME is stdin', 'the secret')
    .common()
    .conflicts(
      ['from', 'env', 'generate'],
      undefined,
      'add a text to the files with --message TEXT',
    ),
  message: filledText('--message <text>', 'text to go with the files').requires(
    'file',
    'pipe in a text without files, or give it as [text]',
  ),
});

export const labelRows = () => ({
  name: text('-n, --name <name>', 'label, shown to you in lists; not encrypted').needsInstance(),
  note: text('--note <text>', 'note, shown to you only; not encrypted').needsInstance(),
});

export const linkRows = () => ({
  copy: flag('-c, --copy', 'also copy the link to the clipboard').common(),
  qr: flag('--qr', 'also draw the link as a QR code, on stderr').common(),
  locale: choice('--locale <code>', 'language of the page and the e-mail, such as fr', locales),
  notify: list(
    '--notify <email...>',
    'let the instance e-mail the link to up to 5',
  ).needsInstance(),
});

export const tlsRows = () => ({
  tlsCert: storedFile('--tls-cert <path>', 'certificate chain (PEM)'),
  tlsKey: storedFile('--tls-key <path>', 'private key of the certificate (PEM)'),
});

export const hereRows = (host: string) => ({
  host: filledText('--host <address>', host).requires('here'),
  port: parsed('--port <n>', 'port to listen on (default: any free one)', port).requires('here'),
});

export const pageRows = () => ({
  page: parsed('--page <n>', 'show page N of 50 each', pageNumber).conflicts(['all', 'limit']),
  all: flag('--all', 'show all pages'),
  limit: count('--limit <n>', 'show at most N'),
});

/**
 * Returns the global options from anywhere on the line, with their defaults.
 * @throws CliError (usage) for an invalid value
 */
export function globalOptions(command: Command, env: Environment): GlobalOptions {
  return { ...valuesOf(globalRows, lineage(command)), ...mannerOf(command, env) };
}

/** Returns the options for printing, also of a line that cannot be parsed. */
export function mannerOf(command: Command, env: Environment): Values<typeof outputRows> {
  const manner = valuesOf(outputRows, lineage(command));
  return { ...manner, debug: manner.debug || isOn(readVariable(env, 'PWPUSH_DEBUG')) };
}

export function globalWords(options: GlobalOptions): string[] {
  const values = new Map<string, unknown>(Object.entries(options));
  return Object.entries(globalRows).flatMap(([name, { label, fallback }]) => {
    const value = values.get(name);
    if (name in outputRows || value === undefined || value === fallback) return [];
    return value === true ? [label] : [`${label}=${value}`];
  });
}

/** A command's row replaces the global one of the same name, such as `--anonymous` of `serve`. */
export const lineRows = (rows: Rows): Rows => ({ ...rows, ...globalRows, ...rows });

export type Closed<R> = { [K in keyof R]: Row<unknown, (keyof R | keyof GlobalOptions) & string> };

export type Options<R> = GlobalOptions & Values<R>;

/** Merges a command's own options with the global ones. */
export function optionsOf<R extends Rows>(command: Command, env: Environment, rows: R): Options<R> {
  const own = valuesOf(rows, lineage(command).slice(1), env);
  return { ...globalOptions(command, env), ...own };
}
