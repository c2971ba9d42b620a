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

/** A text may have any number of variables. */
const few = (names: readonly string[]) =>
  names.length > 20 ? `${names.slice(0, 20).join(', ')} and others` : names.join(', ');

export type MaskedOutput = Awaited<ReturnType<typeof maskedOutput>>;

type Writable = Pick<Output, 'write' | 'isTTY'>;

/**
 * Masks what a command gets in its output.
 * @throws CliError (usage) as `maskedOutput` does
 */
export async function maskedInputs(entry: Entry, inputs: ChildInputs): Promise<MaskedOutput> {
  const { secrets, cut } = await secretsOf(inputs);
  return maskedOutput(entry, secrets, entry.context, cut);
}

/**
 * Masks secrets in the output of a command, and says which it cannot find there.
 * @param streams where the output goes
 * @param cut names of secrets that have more than `secrets` has of them
 * @throws CliError (usage) where nothing may be printed that cannot be masked
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
  // It took a while: a signal may have come.
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
    /** Writes the rest. Returns the error if something could not be written, unless it is that of a closed pipe. */
    end: async () => {
      await Promise.allSettled([streams.stdout.end(), streams.stderr.end()]);
      return failure === undefined ? undefined : asCliError(failure);
    },
  };
}

/** Of a longer text only the beginning is masked, in characters, or in bytes of a file. */
const LONGEST_TEXT = 1024 * 1024;

/** What a command gets that is to be masked; `cut` are the names of what has more than that. */
async function secretsOf({ variables, paths, input }: ChildInputs) {
  const secrets: NamedSecret[] = [];
  const cut = new Set<string>();
  const add = (name: string, text: string, whole = text.length <= LONGEST_TEXT) => {
    if (!whole) cut.add(name);
    const masked = whole ? text : beginningOf(text);
    // CR and NUL end lines, too.
    for (const lines of new Set([masked, masked.replace(/\r(?!\n)|\0/g, '\n')]))
      for (const one of valuesIn({ name, text: lines }, whole)) secrets.push(one);
  };
  for (const [name, text] of variables) if (paths.get(name) !== text) add(name, text);
  if (input !== undefined) add('standard input', input);
  for (const [name, path] of paths) {
    const bytes = await beginningOfFile(path);
    const whole = bytes.length <= LONGEST_TEXT;
    for (const text of textsOf(bytes, whole)) add(name, text, whole);
  }
  return { secrets, cut: [...cut] };
}

/** What a file says in UTF-8, else its bytes as characters, and in UTF-16 if it begins so. */
function textsOf(bytes: Uint8Array, whole: boolean): readonly string[] {
  const plain = Buffer.from(bytes).toString('latin1');
  const decoded = (encoding: string) => {
    try {
      const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
      return decoder.decode(bytes, { stream: !whole });
    } catch {
      return plain;
    }
  };
  const wide = /^(?:\xff\xfe|[^\0]\0[^\0]\0)|^(?:\xfe\xff|\0[^\0]\0[^\0])/.exec(plain)?.[0];
  if (wide === undefined) return [decoded('utf-8')];
  return [decoded('utf-8'), decoded(/^\0|^\xfe/.test(wide) ? 'utf-16be' : 'utf-16le')];
}

/** Whole lines, if there are any. */
function beginningOf(text: string): string {
  return text.slice(0, text.lastIndexOf('\n', LONGEST_TEXT) + 1 || LONGEST_TEXT);
}

/** What is masked of a file, and a byte more if there is more. */
async function beginningOfFile(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(LONGEST_TEXT + 1) });
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/**
 * Of NAME=value lines the values, also as they are written there: other programs read these lines in other ways. One alone may
 * be a secret with an equals sign: it is also taken as it is. A text that is not whole may end within a value.
 */
function valuesIn(secret: NamedSecret, whole: boolean): readonly NamedSecret[] {
  const values: NamedSecret[] = [];
  let count = 0;
  for (const one of assignments(secret.text)) {
    if (one.name === undefined) return whole ? [secret] : [secret, ...values];
    count += 1;
    const texts = one.text === '' ? [] : new Set([one.text, ...one.written]);
    for (const text of texts) values.push({ name: one.name, text });
  }
  if (values.length === 0) return [secret];
  return count > 1 ? values : [secret, ...values.map(({ text }) => ({ ...secret, text }))];
}
