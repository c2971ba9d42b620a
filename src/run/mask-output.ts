import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import type { Invocation } from '../cli/terminal/output';
import type { Output } from '../platform/context';
import { asCliError } from '../platform/errors';
import { codeOf } from '../platform/files/file-error';
import { automatonOf } from './automaton';
import type { ChildInputs } from './child-inputs';
import { parseDotenv } from './dotenv';
import { maskedStream } from './mask';
import { formsOf, type NamedSecret } from './secret-forms';

export type MaskedOutput = Awaited<ReturnType<typeof maskedOutput>>;

type Writable = Pick<Output, 'write' | 'isTTY'>;

/**
 * Masks secrets in the output of a command, and says which it cannot find there.
 * @param streams where the output goes
 */
export async function maskedOutput(
  { say }: Invocation,
  secrets: readonly NamedSecret[],
  { stdout, stderr }: Readonly<Record<'stdout' | 'stderr', Writable>>,
) {
  const { patterns, short, long } = formsOf(secrets);
  if (short.length > 0)
    await say.note(
      `not masked: values and lines of less than 4 characters, in ${short.join(', ')}`,
    );
  if (long.length > 0)
    await say.warn(`too long to be masked in base64: ${long.join(', ')}`);
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

/** The longest file that is masked, in bytes. */
const LONGEST_FILE = 1024 * 1024;

/** What a command gets that is to be masked; `unread` are the variables of files that cannot be. */
export async function secretsOf({ variables, paths, input }: ChildInputs): Promise<{
  readonly secrets: readonly NamedSecret[];
  readonly unread: readonly string[];
}> {
  const secrets: NamedSecret[] = [];
  const unread: string[] = [];
  for (const [name, text] of variables)
    if (paths.get(name) !== text) secrets.push(...valuesIn({ name, text }));
  if (input !== undefined) secrets.push(...valuesIn({ name: 'standard input', text: input }));
  for (const [name, path] of paths) {
    const bytes = (await stat(path)).size > LONGEST_FILE ? undefined : await readFile(path);
    if (bytes === undefined || !isUtf8(bytes) || bytes.includes(0)) unread.push(name);
    else secrets.push(...valuesIn({ name, text: bytes.toString() }));
  }
  return { secrets, unread };
}

/** Of NAME=value lines the values. One alone may be a secret with an equals sign: it is also taken as it is. */
function valuesIn(secret: NamedSecret): readonly NamedSecret[] {
  const parsed = parseDotenv(secret.text);
  if (!('variables' in parsed) || parsed.variables.size === 0) return [secret];
  const values = [...parsed.variables];
  if (values.length > 1) return values.map(([name, text]) => ({ name, text }));
  return [secret, ...values.map(([, text]) => ({ ...secret, text }))];
}
