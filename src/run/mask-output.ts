import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { refuseToPrint } from '../cli/agent';
import type { Entry } from '../cli/terminal/output';
import type { Output } from '../platform/context';
import { asCliError } from '../platform/errors';
import { codeOf } from '../platform/files/file-error';
import { automatonOf } from './automaton';
import type { ChildInputs } from './child-inputs';
import { assignments } from './dotenv';
import { maskedStream } from './mask';
import { formsOf, type NamedSecret } from './secret-forms';

/** Lists at most 20 names in a message, since a text may have any number of variables. */
const few = (names: readonly string[]) =>
  names.length > 20 ? `${names.slice(0, 20).join(', ')} and others` : names.join(', ');

export type MaskedOutput = Awaited<ReturnType<typeof maskedOutput>>;

type Writable = Pick<Output, 'write' | 'isTTY'>;

/** @throws CliError (usage) as `maskedOutput` does */
export async function maskedInputs(entry: Entry, inputs: ChildInputs): Promise<MaskedOutput> {
  const { secrets, cut } = await secretsOf(inputs);
  return maskedOutput(entry, secrets, entry.context, cut);
}

/**
 * Masks secrets in the output of a command, and warns of secrets that it cannot find in it.
 * @param streams get the masked output
 * @param cut names of secrets of which `secrets` has only a part
 * @throws CliError (usage) if an agent reads the output and some of a secret cannot be masked
 */
export async function maskedOutput(
  { context, say }: Entry,
  secrets: readonly NamedSecret[],
  { stdout, stderr }: Readonly<Record<'stdout' | 'stderr', Writable>>,
  cut: readonly string[] = [],
) {
  const { patterns, short, long, beyond } = formsOf(secrets);
  const unmasked = [...new Set([...cut, ...beyond])];
  if (unmasked.length > 0)
    await refuseToPrint(
      context,
      `what is too long to be masked, in ${few(unmasked)},`,
      'run-unmasked',
    );
  if (cut.length > 0) await say.warn(`not masked: what follows the first MiB, in ${few(cut)}`);
  if (beyond.length > 0)
    await say.warn(`not masked, as there is too much: some or all of ${few(beyond)}`);
  if (short.length > 0)
    await say.note(`not masked: values and lines of less than 4 characters, in ${few(short)}`);
  if (long.length > 0) await say.warn(`too long to be masked in base64: ${few(long)}`);
  // `formsOf` may take long, so signals that came meanwhile are handled first.
  await setImmediate();
  const automaton = automatonOf(patterns);
  let failure: unknown;
  const streamTo = (to: Writable) =>
    maskedStream(
      automaton,
      async (bytes) => {
        try {
          await to.write(bytes);
        } catch (error) {
          if (codeOf(error) !== 'EPIPE') failure ??= error;
          throw error;
        }
      },
      to.isTTY,
    );
  const streams = { stdout: streamTo(stdout), stderr: streamTo(stderr) };
  return {
    output: { stdout: streams.stdout.take, stderr: streams.stderr.take },
    /** Writes the bytes that are held back. Returns the first error of a write, but none for a closed pipe. */
    end: async () => {
      await Promise.allSettled([streams.stdout.end(), streams.stderr.end()]);
      return failure === undefined ? undefined : asCliError(failure);
    },
  };
}

/** In bytes: what follows these in a text or file is not masked. */
const LONGEST = 1024 * 1024;

/** `cut` has the names of secrets that are longer than `LONGEST`. */
async function secretsOf({ variables, paths, input }: ChildInputs) {
  const secrets: NamedSecret[] = [];
  const cut = new Set<string>();
  const add = (name: string, bytes: Buffer) => {
    const whole = bytes.length <= LONGEST;
    if (!whole) cut.add(name);
    // `end` is after a whole line, since a part of a line would not be found.
    const end = whole ? LONGEST : bytes.lastIndexOf('\n', LONGEST) + 1 || LONGEST;
    for (const text of textsOf(bytes.subarray(0, end)))
      for (const secret of valuesIn({ name, text }, whole)) secrets.push(secret);
  };
  for (const [name, text] of variables) if (paths.get(name) !== text) add(name, Buffer.from(text));
  if (input !== undefined) add('standard input', Buffer.from(input));
  for (const [name, path] of paths) add(name, await beginningOfFile(path));
  return { secrets, cut: [...cut] };
}

/**
 * Decodes bytes as UTF-8, or as latin1 if they are not UTF-8. Also returns the text with CR and NUL as line ends, and
 * decoded from UTF-16 if it begins like that.
 */
function textsOf(bytes: Buffer): Iterable<string> {
  const plain = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
  const texts = new Set([plain, plain.replace(/\r(?!\n)|\0/g, '\n')]);
  const head = bytes.toString('latin1', 0, 4);
  if (/^(?:\xff\xfe|[^\0]\0[^\0]\0)/.test(head)) texts.add(bytes.toString('utf16le'));
  if (/^(?:\xfe\xff|\0[^\0]\0[^\0])/.test(head))
    texts.add(new TextDecoder('utf-16be').decode(bytes));
  return texts;
}

/** Reads `LONGEST` bytes of a file, and one more, which shows that the file is longer. */
async function beginningOfFile(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(LONGEST + 1) });
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/**
 * Returns the values of NAME=value lines, parsed and as written, since other programs parse such lines in other ways. A
 * text of one line is also returned itself, as it may be a secret with an equals sign. A text that is not `whole` may
 * end within a value, so that a wrong line does not rule out the values before it.
 */
function valuesIn(secret: NamedSecret, whole: boolean): readonly NamedSecret[] {
  const values: NamedSecret[] = [];
  let count = 0;
  for (const line of assignments(secret.text)) {
    if ('wrongLine' in line) return whole ? [secret] : [secret, ...values];
    count += 1;
    const texts = line.text === '' ? [] : new Set([line.text, ...line.written]);
    for (const text of texts) values.push({ name: line.name, text });
  }
  if (values.length === 0) return [secret];
  return count > 1 ? values : [secret, ...values.map(({ text }) => ({ ...secret, text }))];
}
