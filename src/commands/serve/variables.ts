import type { Command, Option } from 'commander';
import type { Environment } from '../../context';
import { CliError, usageError } from '../../errors';

/** The variable of each option of `serve` itself, by the option's name in `opts()`. */
export function variablesOf(serve: Command): Map<string, string> {
  const own = serve.options.filter(
    ({ helpGroupHeading }) => helpGroupHeading !== 'Global options:',
  );
  return new Map(
    own.map((option) => {
      const words = option.attributeName().replace(/[A-Z]/g, (letter) => `_${letter}`);
      return [option.attributeName(), `PWPUSH_SERVE_${words.toUpperCase()}`];
    }),
  );
}

/**
 * What is not on the line is taken from the environment, by `serve` and by those of its words that have the same
 * option. An empty variable is none. Throws a `CliError` (usage) that names the variable.
 */
export function readVariables(serve: Command, env: Environment): void {
  serve.hook('preAction', (_, word) => {
    for (const [name, variable] of variablesOf(serve)) {
      const text = env[variable];
      const option = word.options.find((one) => one.attributeName() === name);
      if (!text || !option || serve.getOptionValueSource(name) === 'cli') continue;
      serve.setOptionValueWithSource(name, parsed(option, variable, text), 'env');
    }
  });
}

function parsed(option: Option, variable: string, text: string): unknown {
  if (option.isBoolean() || option.negate) return flag(variable, text);
  try {
    return option.parseArg ? option.parseArg(text, undefined) : text;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw usageError(error.message.replace(option.long ?? '', variable), error.hint);
  }
}

function flag(variable: string, text: string): boolean {
  if (/^(?:1|true|yes|on)$/i.test(text)) return true;
  if (/^(?:0|false|no|off)$/i.test(text)) return false;
  throw usageError(`${variable} takes true or false`);
}
