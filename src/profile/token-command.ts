import type { Invocation } from '../cli/terminal/output';
import { usageError } from '../platform/errors';
import { LIMIT_MS, runHelper } from '../platform/helper-program';
import { parseToken } from './api-token';

/**
 * Runs a command, without a shell, and returns the first line of its output as an API token. Lines of its standard error
 * are passed on: at once on a terminal, as it may ask for a touch of a key, else at its end, without the token.
 * @param from what messages call the command
 * @throws CliError (usage) when it fails or takes more than 10 s; CliError when the run is interrupted
 */
export async function runTokenCommand(
  run: Invocation,
  words: readonly [string, ...string[]],
  from: string,
): Promise<string> {
  const { context, say } = run;
  const [name] = words;
  let errors = '';
  let token = '';
  const flush = async (all: boolean) => {
    const lines = errors.split('\n');
    errors = all ? '' : (lines.pop() ?? '');
    for (const line of lines.filter((one) => one.trim() !== '')) {
      const text = `${name}: ${token === '' ? line : line.replaceAll(token, '***')}`;
      await (say.manner.json ? say.warn(text) : say.announce(text));
    }
  };
  let flushed = Promise.resolve();
  const ended = await runHelper(context, {
    words,
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
