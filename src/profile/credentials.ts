// Reads headers, certificates and tokens, for an instance or a proxy in front of it, from files and commands.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { askUntil } from '../cli/ask-until';
import type { Entry } from '../cli/terminal/output';
import type { ClientCertificate, Context, HeaderFields } from '../platform/context';
import { type Hint, phrase, usageError } from '../platform/errors';
import type { User } from '../platform/files/owner';
import { readText } from '../platform/private-folder';
import { parseToken } from './api-token';

/** The program sets these headers itself, or they frame a message (RFC 9110, 7.6.1). */
const ours = new Set(
  'accept accept-encoding authorization connection content-encoding content-length content-type expect host keep-alive range te trailer transfer-encoding upgrade user-agent'.split(
    ' ',
  ),
);

/**
 * Reads a file with one header a line; empty lines and those that begin with `#` are ignored. Values are visible ASCII
 * with spaces (RFC 9110, 5.5), and no message quotes them.
 * @param user the user whose file it must be; undefined on Windows
 * @throws CliError (usage) that names file and line
 */
export async function readHeadersFile(path: string, user: User): Promise<HeaderFields> {
  const fields = new Map<string, string>();
  const instead = 'use another file, as headers may contain secrets';
  const rule = { user, what: 'the headers file', instead, closed: 0o077 };
  const lines = (await readText(path, 'headers file', rule)).split(/\r?\n/);
  for (const [index, text] of lines.entries()) {
    if (/^\s*(#|$)/.test(text)) continue;
    const place = `line ${index + 1} of the headers file "${path}"`;
    const [, name, value = ''] = /^([!#$%&'*+.^`|~\w-]+):[ \t]*(.*?)[ \t]*$/s.exec(text) ?? [];
    if (name === undefined) throw usageError(`${place} is not of the form 'Name: value'`);
    const key = name.toLowerCase();
    if (value === '') throw usageError(`${place} has no value`);
    if (!/^[\x20-\x7e]+$/.test(value))
      throw usageError(`the value of ${place} has control or non-ASCII characters`);
    if (ours.has(key) || key.startsWith('proxy-'))
      throw usageError(`${place} sets ${key}, which pwpush sets itself`);
    if (fields.has(key)) throw usageError(`${place} repeats ${key}`);
    fields.set(key, value);
  }
  if (fields.size === 0) throw usageError(`the headers file "${path}" contains no header`);
  return Object.fromEntries(fields);
}

/** Matches what precedes each certificate in PEM (RFC 7468). */
const BEGIN = /-----BEGIN (?=(?:X509 |TRUSTED )?CERTIFICATE-----)/;

/**
 * Reads PEM certificates that are trusted in addition to Node's. Node silently ignores one that is indented, on one
 * line, or has `\n` for line ends, as variables and YAML produce.
 * @throws CliError (usage) for a file that cannot be read, has no certificate, or has a damaged one
 */
export async function readCertificates(path: string): Promise<string> {
  const text = await readText(path, 'CA file');
  const [, ...parts] = text.split(BEGIN);
  const certificates = parts.map((part, index) => {
    const [label, body = ''] = part.split('-----');
    const lines = body.replaceAll(/\\[nr]|\s/g, '').match(/.{1,64}/g) ?? [];
    const pem = [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
    const problem = `certificate ${index + 1} of the CA file "${path}" is damaged`;
    parsed(() => new X509Certificate(pem), problem);
    return pem;
  });
  if (certificates.length > 0) return certificates.join('');
  throw usageError(`the CA file "${path}" contains no PEM certificate`);
}

/**
 * Reads a client certificate and its private key, which may be in the same file, and asks for the passphrase of an
 * encrypted key.
 * @throws CliError (usage) when a file cannot be used, or the key is encrypted and there is no terminal
 */
export async function readClientCertificate(
  { cert: certPath, key: path = certPath }: { cert: string; key?: string | undefined },
  context: Context,
): Promise<ClientCertificate> {
  const cert = await readText(certPath, 'client certificate');
  const pem = path === certPath ? cert : await readText(path, 'private key');
  const noCertificate = `the client certificate "${certPath}" contains no PEM certificate`;
  const certificate = parsed(() => new X509Certificate(cert), noCertificate);
  const noKey = `the private key "${path}" contains no PEM private key`;
  const key = isEncrypted(pem)
    ? await decrypted(pem, path, context)
    : parsed(() => createPrivateKey(pem), noKey, phrase('name-certificate-key'));
  if (!certificate.checkPrivateKey(key))
    throw usageError(`the private key "${path}" does not belong to the client certificate`);
  return { cert, key: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

function parsed<T>(parse: () => T, problem: string, hint?: Hint): T {
  try {
    return parse();
  } catch {
    throw usageError(problem, hint);
  }
}

/** Matches PKCS #8 (RFC 5958, 3), and the older form with `Proc-Type` (RFC 1421, 4.6.1.1). */
function isEncrypted(pem: string): boolean {
  return /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem);
}

async function decrypted(pem: string, path: string, context: Context): Promise<KeyObject> {
  if (!context.canPrompt())
    throw usageError(
      `the private key "${path}" is encrypted, and there is no terminal to ask for its passphrase`,
      'decrypt it with openssl pkey, and keep the file readable by you only',
    );
  const prompter = await context.prompter();
  const wrong = usageError(`wrong passphrase for the private key "${path}"`);
  return askUntil(
    async (failure) => {
      const question = failure ? 'Wrong, try again:' : 'Passphrase of the private key:';
      const passphrase = await prompter.secret(question);
      try {
        return createPrivateKey({ key: pem, passphrase });
      } catch {
        throw wrong;
      }
    },
    (failure) => failure === wrong,
  );
}

/**
 * Runs a command, without a shell, and returns the first line of its output as an API token. Lines of its standard
 * error are passed on: at once on a terminal, as the command may ask the user to touch a security key, else at its end,
 * without the token.
 * @param from names the command in messages
 * @param typed the user chose the program
 * @throws CliError (usage) when it fails or takes more than 10 s; CliError when the run is interrupted
 */
export async function runTokenCommand(
  { context, say }: Entry,
  words: readonly [string, ...string[]],
  from: string,
  typed = true,
): Promise<string> {
  const [name] = words;
  const { LIMIT_MS, runHelper } = await import('../platform/helper-program');
  let errors = '';
  let token = '';
  const flush = async (all: boolean) => {
    const lines = errors.split('\n');
    errors = all ? '' : (lines.pop() ?? '');
    for (const line of lines.filter((text) => text.trim() !== '')) {
      const text = `${name}: ${token === '' ? line : line.replaceAll(token, '***')}`;
      await (say.manner.json ? say.warn(text) : say.announce(text));
    }
  };
  let flushed = Promise.resolve();
  const ended = await runHelper(context, {
    words,
    typed,
    onError: (text) => {
      errors += text;
      if (context.stderr.isTTY) flushed = flushed.then(() => flush(false));
    },
  });
  if ('status' in ended) token = (ended.output.split(/\r?\n/, 1)[0] ?? '').trim();
  await flushed;
  await flush(true);
  if ('failure' in ended)
    throw ended.failure === 'missing'
      ? usageError(`${from} cannot be started: there is no program "${name}"`)
      : usageError(
          `${from} did not end within ${LIMIT_MS / 1000} s`,
          'it has no terminal and cannot ask: unlock what it reads first',
        );
  if (ended.status !== 0)
    throw usageError(
      `${from} failed with exit code ${ended.status}`,
      'run it by hand: it must print the token as its first line',
    );
  return parseToken(token, from);
}
