import { parseDotenv } from '../delivery/dotenv';
import { saveFile } from '../delivery/download';
import { attempt, toolsFor } from '../delivery/fetch-files';
import type { Retrieved } from '../delivery/reception';
import { safeName } from '../delivery/safe-name';
import { checkFound, isDangerous, permitted } from '../delivery/unsafe-variables';
import { CliError, usageError } from '../errors';
import type { FileWish, Wishes } from './child-variables';
import type { PrivateFolder } from './memory-folder';

/** What the child gets, besides what it has anyway. */
export interface Outfit {
  readonly variables: ReadonlyMap<string, string>;
  readonly input: string | undefined;
  /** Told to the user: what of the pushes went nowhere. */
  readonly unused: { readonly text: boolean; readonly files: readonly string[] };
}

/**
 * Makes variables, input and files of what was retrieved; files are put into `folder`.
 * @throws CliError that says why it cannot be done; nothing is lost yet then
 */
export async function outfit(
  pushes: readonly Retrieved[],
  wishes: Wishes,
  folder: PrivateFolder | undefined,
): Promise<Outfit> {
  const variables = new Map<string, string>();
  const [first] = pushes;
  let textUsed = wishes.stdin;
  const taken = new Set<string>();
  for (const wish of first && folder ? wishes.file : []) {
    const placed = await place(wish, first as Retrieved, folder as PrivateFolder);
    variables.set(wish.variable, placed.path);
    if (placed.file === undefined) textUsed = true;
    else taken.add(placed.file);
  }
  if (!textUsed || wishes.as.length > 0) textUsed = addTexts(variables, pushes, wishes);
  const files = pushes.flatMap(({ push }) => (push.files ?? []).map((file) => file.filename));
  return {
    variables,
    input: wishes.stdin ? textOf(first) : undefined,
    unused: { text: !textUsed, files: files.filter((name) => !taken.has(name)) },
  };
}

const textOf = (one: Retrieved | undefined) => one?.push.payload ?? '';

/** Whether the texts found their way; where files were asked for, one that is no dotenv is left over. */
function addTexts(
  variables: Map<string, string>,
  pushes: readonly Retrieved[],
  wishes: Wishes,
): boolean {
  const found: string[] = [];
  for (const [at, one] of pushes.entries()) {
    const text = textOf(one);
    const named = wishes.as[at];
    if (text === '' && wishes.file.length > 0 && named === undefined) continue;
    const which = pushes.length === 1 ? 'the push' : `the push of link ${at + 1}`;
    if (text === '') throw withoutText(one, which);
    const read = named === undefined ? parseDotenv(text) : undefined;
    if (named !== undefined) variables.set(named, withoutNul(text, which));
    else if (read && 'variables' in read) {
      found.push(...read.variables.keys());
      add(variables, read.variables, wishes, one, which);
    } else if (wishes.file.length > 0 && wishes.only.length === 0) return false;
    else throw noDotenv(which, read?.wrongLine ?? 1);
  }
  checkFound(wishes.only, found, pushes.length === 1 ? 'the push sets' : 'the pushes set');
  return true;
}

function add(
  variables: Map<string, string>,
  more: ReadonlyMap<string, string>,
  rules: Wishes,
  { context }: Retrieved,
  which: string,
): void {
  const setting = {
    context,
    refuses: isDangerous,
    effect: 'would change what is loaded and run',
  };
  for (const [name, value] of permitted(more, rules, setting, which)) variables.set(name, value);
}

function noDotenv(which: string, line: number): CliError {
  return usageError(
    `the text of ${which} does not consist of NAME=value lines (line ${line})`,
    'another time name a variable for it with --as NAME',
  );
}

function withoutText({ push }: Retrieved, which: string): CliError {
  return (push.files ?? []).length > 0
    ? usageError(`${which} has files and no text`, 'another time name them with --file NAME=FILE')
    : usageError(`${which} has no text`);
}

/** No variable can hold one (execve(2)). */
function withoutNul(text: string, which: string): string {
  if (!text.includes('\0')) return text;
  throw usageError(
    `the text of ${which} has a NUL character, which no variable can hold`,
    'another time use --stdin or --file',
  );
}

/** Where a wished file is, and the name of the push's file it is; undefined for its text. */
interface Placed {
  readonly path: string;
  readonly file?: string;
}

async function place(
  { of }: FileWish,
  retrieved: Retrieved,
  { path }: PrivateFolder,
): Promise<Placed> {
  const files = retrieved.push.files ?? [];
  const folder = { path, force: false, taken: new Set<string>() };
  if (of === '-' || (of === undefined && files.length === 0)) {
    const { newFile } = await import('../delivery/new-file');
    const file = await newFile(folder, 'text');
    await file.handle.writeFile(textOf(retrieved));
    return { path: await file.keep() };
  }
  const wanted = files.filter(
    ({ filename }) => of === undefined || filename === of || safeName(filename) === of,
  );
  const [file] = wanted;
  if (!file || wanted.length > 1) throw notOne(of, wanted.length, retrieved);
  const meter = {
    begins: () => {},
    moved: () => {},
    clear: async () => {},
    ends: async () => undefined,
  };
  const saved = await attempt(() =>
    saveFile(file, folder, toolsFor(retrieved, meter, 0, safeName(file.filename))),
  );
  if (saved instanceof CliError) throw saved;
  return { path: saved.path, file: file.filename };
}

function notOne(of: string | undefined, found: number, { push }: Retrieved): CliError {
  const names = (push.files ?? []).map(({ filename }) => safeName(filename)).join(', ');
  const what =
    of === undefined ? `the push has ${found} files` : `the push has no single file "${of}"`;
  return usageError(what, names === '' ? undefined : `its files: ${names}`);
}
