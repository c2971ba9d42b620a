import { isUtf8 } from 'node:buffer';
import { limits } from '../contract/api';
import type { Context } from '../platform/context';
import { type CliError, type Hint, usageError } from '../platform/errors';
import { NOT_UTF8, whyUnreadable } from '../platform/files/file-error';
import { bytesIn, smallText } from '../platform/private-folder';
import { beforeSending, filledIn } from './ask-until';
import type { Values } from './declare';
import type { fileRows, sourceRows } from './options';
import { type GeneratedSecret, generate, parseGenerate } from './random-secret';
import { pipedFileName } from './values';

export type Source =
  | { readonly name: 'text' | 'file' | 'env'; readonly value: string }
  | { readonly name: 'generate'; readonly wanted: GeneratedSecret }
  | { readonly name: 'stdin' | 'prompt' };

/** What the text is for: a push, the answer to a request, or a question. */
export type Purpose = 'push' | 'send' | 'ask';

const nounOf = (purpose: Purpose) => (purpose === 'ask' ? 'question' : 'secret');

export type Content =
  | { readonly text: TextSource; readonly files?: undefined }
  | {
      /** Paths, of which `-` and `-=NAME` are standard input. */
      readonly files: readonly string[];
      readonly message: string | undefined;
    };

/** A single line from a pipe or the terminal loses its line end unless `raw` is true. */
interface TextSource {
  readonly from: Source;
  readonly raw: boolean;
}

/** At most one of these options names a source; without one, it is piped standard input, or else a prompt. */
type Sourced = Partial<Values<ReturnType<typeof sourceRows>>> & {
  readonly text?: string | undefined;
};

/** @throws CliError (usage) if no source is named and the user cannot be asked, or if a file cannot be attached */
export function contentOf(
  options: Sourced & Values<ReturnType<typeof fileRows>>,
  context: Context,
  purpose: Purpose = 'push',
): Content {
  const { file: files, message, raw = false } = options;
  if (files !== undefined) {
    checkPaths(files, context.stdin.isTTY);
    return { files, message };
  }
  return { text: { from: chooseSource(options, context, purpose), raw } };
}

/** @throws CliError (usage) for too many files, and for standard input that cannot be attached */
export function checkPaths(paths: readonly string[], stdinIsTTY: boolean): void {
  if (paths.length > limits.filesPerPush)
    throw usageError(
      `a push can have at most ${limits.filesPerPush} files, not ${paths.length}`,
      'pack them into one, with tar or zip',
    );
  if (stdinIsTTY && paths.some((path) => pipedFileName(path) !== undefined))
    throw usageError('--file - reads standard input, which is a terminal', 'pipe the file in');
}

/** In bytes; the reference implementation accepts 1 MiB. */
const MAX_BYTES = 16 * 1024 * 1024;

/** @throws CliError (usage) if no source is named and the user cannot be asked */
export function chooseSource(
  { text, from, env, generate: length }: Sourced,
  { stdin, canPrompt }: Pick<Context, 'stdin' | 'canPrompt'>,
  purpose: Purpose = 'push',
): Source {
  // A dash is standard input, even if that is a terminal.
  if (text === '-' || from === '-') return { name: 'stdin' };
  if (text !== undefined) return { name: 'text', value: text };
  if (from !== undefined) return { name: 'file', value: from };
  if (env !== undefined) return { name: 'env', value: env };
  if (length !== undefined) return { name: 'generate', wanted: parseGenerate(length) };
  if (!stdin.isTTY) return { name: 'stdin' };
  if (canPrompt()) return { name: 'prompt' };
  throw usageError(
    `no ${nounOf(purpose)} to ${purpose}, and no terminal to ask on`,
    purpose === 'ask'
      ? 'give it as an argument, or pipe it in'
      : 'pipe it in, or use --from FILE, --env NAME or --generate',
  );
}

/** @throws CliError (usage) if the secret is empty, not valid UTF-8, or cannot be read */
export async function readSecret(
  { from: source, raw }: TextSource,
  context: Context,
  purpose: Purpose = 'push',
): Promise<string> {
  const filled = (text: string, place: string) => {
    if (text !== '') return text;
    const files = purpose === 'ask' ? '' : '; attach an empty file with --file';
    throw usageError(
      `${place} is empty: nothing to ${purpose}`,
      `check the variable or command that fills it${files}`,
    );
  };
  switch (source.name) {
    case 'text':
      return filled(source.value, 'the text argument');
    case 'env': {
      const value = context.env[source.value];
      if (value === undefined) throw usageError(`the variable "${source.value}" is not set`);
      return filled(value, `the variable "${source.value}"`);
    }
    case 'file': {
      const place = `"${source.value}"`;
      return filled(toText(await bytesOf(source.value, context), place), place);
    }
    case 'generate':
      return generate(source.wanted);
    case 'stdin': {
      const text = toText(await standardInput(context, nounOf(purpose)), 'standard input');
      return filled(raw ? text : withoutOneLineEnd(text), 'standard input');
    }
    case 'prompt': {
      const { text, secret } = await context.prompter();
      const question = { ask: 'Question:', send: 'Answer:', push: 'Secret:' }[purpose];
      const ask = purpose === 'ask' ? text : (message: string) => secret(message, 'lines');
      return withoutOneLineEnd(await beforeSending(() => filledIn(question, ask)));
    }
  }
}

/** Keeps several lines to the byte: `echo hunter2 |` pushes `hunter2`, and a piped private key comes back whole. */
export function withoutOneLineEnd(text: string): string {
  const first = text.indexOf('\n');
  if (first === -1 || first !== text.length - 1) return text;
  return text.endsWith('\r\n') ? text.slice(0, -2) : text.slice(0, -1);
}

function toText(bytes: Buffer, place: string): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw usageError(
    `${place} is not valid UTF-8 text`,
    'attach binary content with --file PATH, or --file - for standard input',
  );
}

/** @throws CliError (usage) if the file, which for a dash is standard input, cannot be read */
export async function* bytesFrom(path: string, context: Context): AsyncGenerator<Uint8Array> {
  if (path === '-') return yield* context.stdin.bytes();
  try {
    yield* bytesIn(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

/**
 * Reads a file, or standard input for a dash, up to `MAX_BYTES`, as a device has no end.
 * @param noun what is to be typed if standard input is a terminal
 * @throws CliError (usage)
 */
export async function bytesOf(path: string, context: Context, noun = 'text'): Promise<Buffer> {
  if (path === '-') return standardInput(context, noun);
  return readAll(bytesFrom(path, context), `"${path}"`);
}

export async function textIn(path: string, context: Context, noun: string): Promise<string> {
  return smallText(await bytesOf(path, context, noun), placeOf(path));
}

/**
 * Reads a passphrase or key without the end of a single line.
 * @throws CliError (usage) if it is empty or not UTF-8
 */
export async function secretIn(path: string, context: Context, noun: string): Promise<string> {
  const bytes = await bytesOf(path, context, noun);
  const place = `the ${noun} from ${path === '-' ? 'standard input' : `"${path}"`}`;
  const text = withoutOneLineEnd(smallText(bytes, place));
  if (!isUtf8(bytes)) throw usageError(`${place} is not valid UTF-8 text`);
  if (text === '') throw usageError(`${place} is empty`);
  return text;
}

/** Asks the user on a terminal, as a plain read would show what is typed and not say how to end it. */
async function standardInput({ stdin, prompter }: Context, noun: string): Promise<Buffer> {
  if (!stdin.isTTY) return readAll(stdin.bytes());
  return Buffer.from(await (await prompter()).secret(`Type the ${noun}, then Ctrl-D:`, 'all'));
}

export function placeOf(path: string): string {
  return path === '-' ? 'standard input' : path;
}

export function unreadable(path: string, error: unknown, hint?: Hint): CliError {
  const why = whyUnreadable(error);
  const byShell =
    'have the shell open it: --file -=NAME <FILE attaches it; elsewhere, - is standard input';
  return usageError(`cannot read "${path}": ${why}`, why === NOT_UTF8 ? byShell : hint);
}

/** @throws CliError (usage) if the stream is longer than 16 MiB */
export async function readAll(
  stream: AsyncIterable<Uint8Array>,
  place = 'standard input',
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.byteLength;
    if (length > MAX_BYTES)
      throw usageError(
        `${place} is too long for a text, which can have 16 MiB`,
        'attach it with --file',
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
