import { isVariableName } from '../delivery/dotenv';
import { isDangerous, isDangerousForFile, type NameRules } from '../delivery/unsafe-variables';
import { usageError } from '../errors';

/** A file for the child: the variable that holds its path, and which one. */
export interface FileWish {
  readonly variable: string;
  /** A file's name, `-` for the text, or undefined for the only one there is. */
  readonly of: string | undefined;
}

/** How the child is to be given the secrets. */
export interface Wishes extends NameRules {
  /** A variable for each link's text; empty to read the texts as dotenv. */
  readonly as: readonly string[];
  readonly stdin: boolean;
  readonly file: readonly FileWish[];
}

/** `--file NAME` or `--file NAME=FILE`. */
export function fileWish(value: string): FileWish {
  const [, variable = '', of] = /^([^=]*)(?:=(.*))?$/s.exec(value) ?? [];
  if (isVariableName(variable) && of !== '') return { variable, of };
  throw usageError(
    `--file takes NAME or NAME=FILE, not "${value}"`,
    'NAME is the variable for its path',
  );
}

/** @throws CliError (usage) for wishes that contradict each other, or a name that is none or dangerous */
export function checkWishes({ as, stdin, file, allow, only }: Wishes, links: number): void {
  const wrong = [...as, ...allow, ...only].find((name) => !isVariableName(name));
  if (wrong !== undefined) throw usageError(`"${wrong}" is no name of a variable`);
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
    ...[...as, ...only].filter(isDangerous),
    ...file.map(({ variable }) => variable).filter(isDangerousForFile),
  ].find((name) => !allow.includes(name));
  if (refused !== undefined)
    throw usageError(
      `${refused} would change what is loaded and run`,
      `if that is what you want: --allow ${refused}`,
    );
}
