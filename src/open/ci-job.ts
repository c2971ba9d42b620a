import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open as openFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Invocation } from '../cli/terminal/output';
import { variablesSet } from '../cli/terminal/wording';
import type { Context } from '../platform/context';
import { failedError, usageError } from '../platform/errors';
import { isPlanted, type User } from '../platform/files/owner';
import { type Destination, linkTarget, noFollow, planted, unwritable } from './destination';
import { isVariableName, notDotenv, parseDotenv } from './dotenv';
import { checkFound, isUnsafe, type NameRules, permitted } from './unsafe-variables';

/** Where in a CI job a text goes. */
export interface CiOptions {
  /** Name of an output of the step. */
  readonly githubOutput?: string;
  /** Name of a variable for the steps that follow. */
  readonly githubEnv?: string;
  /** Path of a report. */
  readonly gitlabDotenv?: string;
  /** The variable for a text in that report. */
  readonly as?: string;
  /** The variables that are taken from a text for that report. */
  readonly only?: readonly string[];
  /** Variables that may be set although they would be refused. */
  readonly allow?: readonly string[];
}

/**
 * Opens the files of the job; undefined if no option names one.
 * @throws CliError (usage) for a name that is invalid or unsafe, or outside of such a job
 */
export async function ciDestination(
  run: Invocation,
  options: CiOptions,
): Promise<Destination | undefined> {
  checkNames(options);
  const { context } = run;
  const { githubOutput, githubEnv, gitlabDotenv } = options;
  const files: JobFile[] = [];
  try {
    if (githubOutput !== undefined) {
      const file = await runnersFile('GITHUB_OUTPUT', '--github-output', context);
      files.push({ file, entryFor: (text) => ({ text: heredoc(githubOutput, text), names: [] }) });
    }
    if (githubEnv !== undefined) {
      const file = await runnersFile('GITHUB_ENV', '--github-env', context);
      const names = [githubEnv];
      files.push({ file, entryFor: (text) => ({ text: heredoc(githubEnv, text), names }) });
    }
    if (gitlabDotenv !== undefined)
      files.push({
        file: await appending(gitlabDotenv, context.uid),
        entryFor: (text) => report(text, options, context),
      });
  } catch (error) {
    for (const { file } of files) await file.close();
    throw error;
  }
  if (files.length === 0) return undefined;
  return destination(run, files, githubOutput !== undefined || githubEnv !== undefined);
}

/** A file of the job, and what is appended to it. */
interface JobFile {
  readonly file: FileHandle;
  entryFor(text: string): JobEntry;
}

interface JobEntry {
  readonly text: string;
  /** Of the variables that it sets, to be printed. */
  readonly names: readonly string[];
}

function destination(
  { context, say }: Invocation,
  files: readonly JobFile[],
  masked: boolean,
): Destination {
  const close = async () => {
    for (const { file } of files) await file.close().catch(() => {});
  };
  return {
    commit: async (bytes) => {
      const text = bytes.toString();
      try {
        if (text.includes('\0'))
          throw failedError(
            'the text contains a NUL character, which outputs and variables cannot have',
          );
        const entries = files.map(({ file, entryFor }) => ({ file, ...entryFor(text) }));
        // Before anything else can print it.
        if (masked) await mask(text, context.stdout);
        for (const { file, text } of entries) await append(file, text);
        const names = new Set(entries.flatMap(({ names }) => names));
        if (names.size > 0) await say.note(variablesSet(names));
      } finally {
        await close();
      }
    },
    discard: close,
  };
}

async function mask(text: string, stdout: Context['stdout']): Promise<void> {
  if (stdout.closed) throw failedError('standard output is closed, so nothing can be masked');
  await stdout.write(maskCommands(text));
}

function checkNames(options: CiOptions): void {
  const { githubOutput, githubEnv, gitlabDotenv, as, only = [], allow = [] } = options;
  if (githubOutput !== undefined && !/^[A-Za-z_][\w-]*$/.test(githubOutput))
    throw usageError(`"${githubOutput}" is not a valid output name`);
  if (only.length > 0 && (gitlabDotenv === undefined || as !== undefined))
    throw usageError('--only requires --gitlab-dotenv FILE, without --as');
  for (const name of [githubEnv, as, ...only, ...allow]) {
    if (name === undefined) continue;
    if (!isVariableName(name)) throw usageError(`"${name}" is not a valid variable name`);
    if (isRefused(name) && !allow.includes(name))
      throw usageError(
        `${name} would change what later steps run`,
        `to allow it, use --allow ${name}`,
      );
  }
}

/** Variables that are unsafe anywhere, and the runners' own. */
function isRefused(name: string): boolean {
  return isUnsafe(name) || /^(GITHUB|RUNNER|ACTIONS|CI|GITLAB)(_|$)/i.test(name);
}

async function runnersFile(
  variable: 'GITHUB_OUTPUT' | 'GITHUB_ENV',
  option: string,
  { env, uid }: Context,
): Promise<FileHandle> {
  const path = env[variable];
  // The runner's, which is another user in the container of a job, where root may run it.
  if (path) return appending(path, uid, EVERYBODY);
  throw usageError(
    `${option} requires ${variable}, which GitHub Actions sets`,
    'nothing was fetched; outside of GitHub Actions use pwpush run or --output',
  );
}

/** The mode bit of a folder that everybody can write to. */
const EVERYBODY = 0o002;

/** @param open the mode bits of a folder where a file of another user is not trusted */
async function appending(named: string, user: User, open?: number): Promise<FileHandle> {
  const path = linkTarget(named, user);
  const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDWR } = constants;
  let file: FileHandle | undefined;
  try {
    file = await openFile(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | noFollow(path), 0o600);
    if (!isPlanted(await file.stat(), await stat(dirname(path)), user, open)) return file;
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

/** Lines of a dotenv report (GitLab, "artifacts:reports:dotenv"): the text as one variable, or the variables in it. */
function report(text: string, options: CiOptions, context: Context): JobEntry {
  const { as } = options;
  const variables = as === undefined ? variablesOf(text, options, context) : new Map([[as, text]]);
  for (const [name, value] of variables) {
    const why = unfitForGitlab(value);
    if (why !== undefined)
      throw usageError(
        `the value of ${name} ${why}, which GitLab's dotenv reports do not support`,
        'next time pass the link on, and use pwpush run in the other job',
      );
  }
  return {
    text: [...variables].map(([name, value]) => `${name}=${value}\n`).join(''),
    names: [...variables.keys()],
  };
}

/** The rules look at this job's environment: those of the jobs that follow are likely the same. */
function variablesOf(
  text: string,
  { only = [], allow = [] }: CiOptions,
  context: Context,
): ReadonlyMap<string, string> {
  const found = parseDotenv(text);
  if ('wrongLine' in found) throw notDotenv('the text', found.wrongLine);
  const rules: NameRules = { only, allow };
  const effect = 'would change what later jobs run';
  const setting = { context, refuses: isRefused, effect };
  const wanted = permitted(found.variables, rules, setting, 'the text');
  checkFound(only, [...wanted.keys()], 'the text has');
  return wanted;
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

/**
 * Why GitLab would change a variable in a dotenv report, or undefined: its values have no quotes, are one line, and are
 * trimmed.
 */
function unfitForGitlab(value: string): string | undefined {
  if (/[\r\n]/.test(value)) return 'has several lines';
  if (value.trim() !== value) return 'begins or ends with white space';
  return value === '' ? 'is empty' : undefined;
}
