import { isVariableName } from '../delivery/dotenv';
import { isUnsafe, isUnsafeForFile, type NameRules } from '../delivery/unsafe-variables';
import { usageError } from '../errors';

/** A file for the child. */
export interface FileOption {
  /** The variable for its path. */
  readonly variable: string;
  /** A file's name, `-` for the text, or undefined for the only one there is. */
  readonly of: string | undefined;
}

/** How the child gets the secrets. */
export interface ChildOptions extends NameRules {
  /** A variable for each link's text; empty to read the texts as dotenv. */
  readonly as: readonly string[];
  readonly stdin: boolean;
  readonly file: readonly FileOption[];
}

/** Parses `--file NAME` or `--file NAME=FILE`. */
export function fileOption(value: string): FileOption {
  const [, variable = '', of] = /^([^=]*)(?:=(.*))?$/s.exec(value) ?? [];
  if (isVariableName(variable) && of !== '') return { variable, of };
  throw usageError(
    `--file takes NAME or NAME=FILE, not "${value}"`,
    'NAME is the variable for its path',
  );
}

/** @throws CliError (usage) for options that contradict each other, and for names that are invalid or unsafe */
export function checkChildOptions(
  { as, stdin, file, allow, only }: ChildOptions,
  links: number,
): void {
  const wrong = [...as, ...allow, ...only].find((name) => !isVariableName(name));
  if (wrong !== undefined) throw usageError(`"${wrong}" is not a valid variable name`);
  if (as.length > 0 && as.length !== links)
    throw usageError(`--as names one variable for each link: ${links}, not ${as.length}`);
  if (stdin && as.length > 0)
    throw usageError('--as and --stdin are two places for the same text', 'leave one out');
  if (only.length > 0 && (stdin || as.length > 0))
    throw usageError(
      `--only and ${stdin ? '--stdin' : '--as'} exclude each other`,
      'leave one out',
    );
  if (links > 1 && (stdin || file.length > 0))
    throw usageError(`${stdin ? '--stdin' : '--file'} goes with one link`);
  const refused = [
    ...[...as, ...only].filter(isUnsafe),
    ...file.map(({ variable }) => variable).filter(isUnsafeForFile),
  ].find((name) => !allow.includes(name));
  if (refused !== undefined)
    throw usageError(
      `${refused} would change what is loaded and run`,
      `if that is what you want: --allow ${refused}`,
    );
}
