import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open as openFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Invocation } from '../cli/terminal/output';
import { variablesSet } from '../cli/terminal/wording';
import type { Context } from '../platform/context';
import { failedError, usageError } from '../platform/errors';
import { isPlanted, type User } from '../platform/files/owner';
import { isVariableName } from '../run/dotenv';
import { isUnsafe } from '../run/unsafe-variables';
import { type Destination, linkTarget, noFollow, planted, unwritable } from './destination';

/** Where in a job of GitHub Actions a text goes. */
export interface CiOptions {
  readonly githubOutput?: string;
  /** Name of a variable for the steps that follow. */
  readonly githubEnv?: string;
}

/**
 * Opens the files of the job.
 * @throws CliError (usage) for a name that is invalid or unsafe, or outside of such a job
 */
export async function ciDestination(
  { context, say }: Invocation,
  options: CiOptions,
): Promise<Destination> {
  checkNames(options);
  const { githubOutput, githubEnv } = options;
  const files: { readonly file: FileHandle; readonly name: string }[] = [];
  const close = async () => {
    for (const { file } of files) await file.close().catch(() => {});
  };
  try {
    for (const [name, variable, option] of [
      [githubOutput, 'GITHUB_OUTPUT', '--github-output'],
      [githubEnv, 'GITHUB_ENV', '--github-env'],
    ] as const)
      if (name !== undefined)
        files.push({ file: await runnersFile(variable, option, context), name });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    commit: async (bytes) => {
      const text = bytes.toString();
      try {
        if (text.includes('\0'))
          throw failedError(
            'the text contains a NUL character, which outputs and variables cannot have',
          );
        if (context.stdout.closed)
          throw failedError('standard output is closed, so nothing can be masked');
        // Before anything else can print it.
        await context.stdout.write(maskCommands(text));
        for (const { file, name } of files) await append(file, heredoc(name, text));
        if (githubEnv !== undefined) await say.note(variablesSet([githubEnv]));
      } finally {
        await close();
      }
    },
    discard: close,
  };
}

function checkNames({ githubOutput, githubEnv }: CiOptions): void {
  if (githubOutput !== undefined && !/^[A-Za-z_][\w-]*$/.test(githubOutput))
    throw usageError(`"${githubOutput}" is not a valid output name`);
  if (githubEnv === undefined) return;
  if (!isVariableName(githubEnv)) throw usageError(`"${githubEnv}" is not a valid variable name`);
  // Those of the runners, too.
  if (isUnsafe(githubEnv) || /^(GITHUB|RUNNER|ACTIONS|CI|GITLAB)(_|$)/i.test(githubEnv))
    throw usageError(
      `${githubEnv} would change what later steps run`,
      'use another name, or pwpush run, which sets variables for one command',
    );
}

async function runnersFile(
  variable: 'GITHUB_OUTPUT' | 'GITHUB_ENV',
  option: string,
  { env, uid }: Context,
): Promise<FileHandle> {
  const path = env[variable];
  // The runner's, which is another user in the container of a job, where root may run it.
  if (path) return appending(path, uid);
  throw usageError(
    `${option} requires ${variable}, which GitHub Actions sets`,
    'nothing was fetched; outside of GitHub Actions use pwpush run or --output',
  );
}

/** The mode bit of a folder that everybody can write to. */
const EVERYBODY = 0o002;

async function appending(named: string, user: User): Promise<FileHandle> {
  const path = linkTarget(named, user);
  const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDWR } = constants;
  let file: FileHandle | undefined;
  try {
    file = await openFile(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | noFollow(path), 0o600);
    if (!isPlanted(await file.stat(), await stat(dirname(path)), user, EVERYBODY)) return file;
  } catch (error) {
    await file?.close();
    throw unwritable(path, error);
  }
  await file.close();
  throw planted(path, 'file');
}

/** Begins a new line if the last one has no line end. */
async function append(file: FileHandle, text: string): Promise<void> {
  const { size } = await file.stat();
  const last = Buffer.alloc(1);
  if (size > 0) await file.read(last, 0, 1, size - 1);
  await file.appendFile(size > 0 && last[0] !== 0x0a ? `\n${text}` : text);
}

/** Makes the runner of GitHub Actions mask every line of a text in its log (GitHub, "Workflow commands"). */
export function maskCommands(text: string): string {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '');
  return [...new Set(lines)].map((line) => `::add-mask::${escaped(line)}\n`).join('');
}

/** The escapes that the runner undoes in a command's data. */
function escaped(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** A value of several lines for the files `GITHUB_OUTPUT` and `GITHUB_ENV`; the delimiter is random, so no text contains it. */
export function heredoc(name: string, value: string): string {
  const delimiter = `pwpush_${randomBytes(16).toString('hex')}`;
  return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
}
