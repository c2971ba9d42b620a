import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { silent } from '../cli/terminal/transfer-meter';
import { plainVariables } from '../cli/variables';
import { toolsFor } from '../deliver/download';
import { newFile } from '../deliver/new-file';
import { safeName } from '../deliver/safe-name';
import { saveFile } from '../deliver/save-file';
import type { Child, Context, Environment } from '../platform/context';
import { asCliError, attempt, CliError, failedError, phrase, usageError } from '../platform/errors';
import type { Retrieval } from '../take/retrieval';
import { parseDotenv } from './dotenv';
import { checkAvailable, type NameRules, permitted } from './unsafe-variables';

export interface WantedFile {
  readonly variable: string;
  /** A file's name, or `-` for the text; undefined for the only file, or the text of a push without files. */
  readonly of: string | undefined;
}

export interface InputPlan extends NameRules {
  /** The variables that get the texts, one per link; empty to read the texts as dotenv. */
  readonly variables: readonly string[];
  /** What the command reads: the text, nothing, or what this program would read. */
  readonly input: 'text' | 'none' | 'inherited';
  readonly files: readonly WantedFile[];
}

export interface ChildInputs {
  readonly variables: ReadonlyMap<string, string>;
  readonly paths: ReadonlyMap<string, string>;
  readonly input: string | undefined;
  readonly unused: { readonly text: boolean; readonly files: readonly string[] };
}

/**
 * Makes variables, standard input and files from the retrieved pushes. `folder` gets the files of the first push.
 * @throws CliError if that is not possible; the caller must save the pushes then
 */
export async function childInputs(
  pushes: readonly Retrieval[],
  plan: InputPlan,
  folder: MemoryFolder | undefined,
): Promise<ChildInputs> {
  const paths = new Map<string, string>();
  const [first] = pushes;
  let textUsed = plan.input === 'text';
  const filesUsed = new Set<string>();
  for (const wanted of plan.files) {
    if (!first || !folder) break;
    const { path, file } = await writeFile(wanted, first, folder);
    paths.set(wanted.variable, path);
    if (file === undefined) textUsed = true;
    else filesUsed.add(file);
  }
  const variables = new Map(paths);
  if (!textUsed || plan.variables.length > 0) textUsed = addTexts(variables, pushes, plan);
  const files = pushes.flatMap(({ push }) => (push.files ?? []).map((file) => file.filename));
  return {
    variables,
    paths,
    input: plan.input === 'text' ? textOf(first) : plan.input === 'none' ? '' : undefined,
    unused: { text: !textUsed, files: files.filter((name) => !filesUsed.has(name)) },
  };
}

const textOf = (retrieval: Retrieval | undefined) => retrieval?.push.payload ?? '';

/** Sets variables from the texts. Returns false if one is left over: with `--file`, a text need not be dotenv. */
function addTexts(
  variables: Map<string, string>,
  pushes: readonly Retrieval[],
  plan: InputPlan,
): boolean {
  const available = new Set<string>();
  for (const [index, retrieval] of pushes.entries()) {
    const text = textOf(retrieval);
    const variable = plan.variables[index];
    if (text === '' && plan.files.length > 0 && variable === undefined) continue;
    const which = pushes.length === 1 ? 'the push' : `the push of link ${index + 1}`;
    if (text === '') throw noText(retrieval, which);
    if (variable !== undefined) {
      // No variable can contain NUL (execve(2)).
      if (text.includes('\0'))
        throw usageError(
          `the text of ${which} contains a NUL character, which variables cannot`,
          phrase('use-stdin-or-file'),
        );
      variables.set(variable, text);
      continue;
    }
    const dotenv = parseDotenv(text, plan.only);
    if ('tooLong' in dotenv)
      throw usageError(
        `the text of ${which} has more than a command can get as variables`,
        phrase('use-stdin-or-file'),
      );
    if ('wrongLine' in dotenv) {
      if (plan.files.length > 0 && plan.only.length === 0) return false;
      throw usageError(
        `the text of ${which} is not made of NAME=value lines (line ${dotenv.wrongLine})`,
        phrase('set-variable'),
      );
    }
    for (const name of dotenv.variables.keys()) available.add(name);
    for (const [name, value] of permitted(dotenv.variables, plan, retrieval.context, which))
      variables.set(name, value);
  }
  checkAvailable(plan.only, available, pushes.length === 1 ? 'the push has' : 'the pushes have');
  return true;
}

function noText({ push }: Retrieval, which: string): CliError {
  return push.files?.length
    ? usageError(`${which} has files and no text`, phrase('set-variable-of-file'))
    : usageError(`${which} has no text`);
}

/** In the result, `file` is the name of the file in the push; undefined for the text. */
async function writeFile(
  { of }: WantedFile,
  retrieval: Retrieval,
  { path }: MemoryFolder,
): Promise<{ readonly path: string; readonly file?: string }> {
  const files = retrieval.push.files ?? [];
  const folder = { path, force: false, taken: new Set<string>() };
  if (of === '-' || (of === undefined && files.length === 0)) {
    const file = await newFile(folder, 'text');
    await file.handle.writeFile(textOf(retrieval));
    return { path: await file.keep() };
  }
  const matching = files.filter(
    ({ filename }) => of === undefined || filename === of || safeName(filename) === of,
  );
  const [file] = matching;
  if (!file || matching.length > 1) {
    const names = files.map(({ filename }) => safeName(filename)).join(', ');
    const what = `the push has ${of === undefined ? `${files.length} files` : `no file "${of}", or several`}`;
    throw usageError(what, names === '' ? undefined : `its files: ${names}`);
  }
  const tools = toolsFor(retrieval, silent, 0, safeName(file.filename));
  const saved = await attempt(() => saveFile(file, folder, tools));
  if (saved instanceof CliError) throw saved;
  return { path: saved.path, file: file.filename };
}

/** Removes `PWPUSH_` variables, which may hold tokens, passphrases, keys or paths of these, unless they are allowed. */
export function childOf(
  { file, words, allow }: Pick<Child, 'file' | 'words'> & Pick<NameRules, 'allow'>,
  { variables, input }: Pick<ChildInputs, 'variables' | 'input'>,
  { env, platform }: Pick<Context, 'env' | 'platform'>,
): Child {
  const isPrivate = (name: string) => /^PWPUSH_/.test(name) && !plainVariables.includes(name);
  const kept = Object.entries(env).filter(
    ([name]) =>
      allow.includes(name) || !isPrivate(platform === 'win32' ? name.toUpperCase() : name),
  );
  return {
    file,
    words,
    env: { ...Object.fromEntries(kept), ...Object.fromEntries(variables) },
    ...(input === undefined ? {} : { input }),
  };
}

/** Only the code of a system error is printed, since its message may quote arguments. */
export function startFailure(error: unknown, name: string): CliError {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (code === undefined || !syscall?.startsWith('spawn'))
    return asCliError(error).and(phrase('nothing-started'));
  const why = code === 'E2BIG' ? phrase('too-long-for-variable') : code;
  return failedError(phrase('not-started', name, why), {
    hints: code === 'E2BIG' ? phrase('use-stdin-or-file') : undefined,
    cause: error,
  });
}

export type MemoryFolder = ReturnType<typeof memoryFolder>;

/** File system types of tmpfs and ramfs, which keep files in memory (statfs(2)). */
const IN_MEMORY = [0x01021994, 0x858458f6];

/** Makes a folder in memory, for which Linux has file systems; elsewhere, among the temporary files. */
export function memoryFolder(env: Environment) {
  const madeIn = (place: string) => mkdtempSync(join(place, 'pwpush-run-'));
  for (const place of [env.XDG_RUNTIME_DIR ?? '', '/dev/shm']) {
    try {
      if (isAbsolute(place) && IN_MEMORY.includes(statfsSync(place).type))
        return folder(madeIn(place), true);
    } catch {
      // The place is missing, or this user cannot write to it.
    }
  }
  return folder(madeIn(tmpdir()), false);
}

function folder(path: string, inMemory: boolean) {
  // The umask may have removed even the owner's permissions.
  chmodSync(path, 0o700);
  return { path, inMemory, remove: () => rmSync(path, { recursive: true, force: true }) };
}
