import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
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
 * Masks secrets in the output of a command, and says which it cannot find there.
 * @param streams where the output goes
 */
export async function maskedOutput(
  { say }: Entry,
  secrets: readonly NamedSecret[],
  { stdout, stderr }: Readonly<Record<'stdout' | 'stderr', Writable>>,
) {
  const { patterns, short, long, beyond } = formsOf(secrets);
  if (short.length > 0)
    await say.note(`not masked: values and lines of less than 4 characters, in ${few(short)}`);
  if (long.length > 0) await say.warn(`too long to be masked in base64: ${few(long)}`);
  if (beyond.length > 0)
    await say.warn(`not masked, as there is too much: some or all of ${few(beyond)}`);
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

/** What a command gets that is to be masked; `unread` are the variables of files that cannot be, `cut` those of which only the beginning is. */
export async function secretsOf({ variables, paths, input }: ChildInputs): Promise<{
  readonly secrets: readonly NamedSecret[];
  readonly unread: readonly string[];
  readonly cut: readonly string[];
}> {
  const secrets: NamedSecret[] = [];
  const unread: string[] = [];
  const cut: string[] = [];
  const add = (name: string, text: string, whole = text.length <= LONGEST_TEXT) => {
    if (!whole) cut.push(name);
    const values = valuesIn({ name, text: whole ? text : beginningOf(text) }, whole);
    for (const one of values) secrets.push(one);
  };
  for (const [name, text] of variables) if (paths.get(name) !== text) add(name, text);
  if (input !== undefined) add('standard input', input);
  for (const [name, path] of paths) {
    const bytes = await beginningOfFile(path);
    const whole = bytes.length <= LONGEST_TEXT;
    try {
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, {
        stream: !whole,
      });
      if (!text.includes('\0')) add(name, text, whole);
      else unread.push(name);
    } catch {
      unread.push(name);
    }
  }
  return { secrets, unread, cut };
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
