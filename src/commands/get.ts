import {
  filledText,
  flag,
  group,
  inputFile,
  operand,
  storedFile,
  switchOff,
  text,
} from '../cli/declare';
import { keyRows, keySources, type Options, passphraseRows } from '../cli/options';
import { passphraseSource } from '../cli/passphrase';
import type { Entry } from '../cli/terminal/output';
import { isVariableName } from '../cli/values';
import type { JobEntry } from '../deliver/ci-job';
import type { PlacePlan } from '../deliver/place';
import type { Context, Environment } from '../platform/context';
import { usageError } from '../platform/errors';
import { itemAt, referenceOf } from '../profile/references';
import { sourcesOf } from '../profile/sources';
import type { GetPlan } from './get/run';
import help from './help/get.txt?raw';
import { command, type Invocation } from './planned';

const OTHER_OUTPUTS = ['output', 'json', 'copy', 'qr'] as const;

const rows = {
  link: operand('[link]', 'link, ID or last; - is standard input')
    .names('push')
    .asksForLink(['fromFile', 'resume']),
  ...group('Output:', {
    output: filledText('-o, --output <path>', 'write to a new file (0600) or into a folder')
      .names('path')
      .common(),
    files: switchOff('--no-files', 'do not download attached files').common(),
    resume: storedFile('--resume <file>', 'finish an incomplete download, without a view')
      .common()
      .conflicts(['files']),
    fromFile: inputFile(
      '--from-file <file>',
      'open a saved file instead of a link',
      'the encrypted text',
    )
      .common()
      .conflicts(['resume']),
    force: flag('--force', 'overwrite existing files').common(),
    copy: flag('-c, --copy', 'copy the text to the clipboard, do not print it')
      .common()
      .conflicts(['output', 'json']),
    qr: flag('--qr', 'draw the text as a QR code, do not print it')
      .common()
      .conflicts(['json', 'copy', 'output']),
  }),
  ...group('CI jobs:', {
    githubOutput: text(
      '--github-output <name>',
      'mask the text and make it an output of the step',
    ).conflicts(OTHER_OUTPUTS),
    githubEnv: text(
      '--github-env <name>',
      'mask the text and make it a variable of the job',
    ).conflicts(OTHER_OUTPUTS),
  }),
  ...passphraseRows(),
  ...keyRows(),
};

type GetOptions = Options<typeof rows>;

export default command({
  description: 'Get a secret: text to stdout, files to disk. Uses a view.',
  help,
  rows,
  plan: planOf,
  run: async (entry, plan) => (await import('./get/run')).run(entry, plan),
});

async function planOf(options: GetOptions, invocation: Invocation): Promise<GetPlan> {
  const { context } = invocation;
  const { link, output, files } = options;
  const passphrase = passphraseSource(options, context);
  const place = await placeOf(options, context);
  return {
    from: originOf(options, invocation, link),
    keys: keySources(options),
    passphrase,
    place,
    files,
    placed: output !== undefined,
  };
}

/** @param link empty only if `options` name a file */
function originOf(options: GetOptions, entry: Entry, link = ''): GetPlan['from'] {
  const { fromFile: file, resume: kept } = options;
  const push = link === '' ? undefined : referenceOf(link, entry.context);
  if (file !== undefined) return { file, push };
  const sources = sourcesOf(entry, options);
  if (kept !== undefined) return { kept, push, sources };
  return { push: itemAt(sources, push ?? referenceOf(link, entry.context)) };
}

async function placeOf(options: GetOptions, { env }: Context): Promise<PlacePlan> {
  const { output, force, copy, qr, githubOutput, githubEnv } = options;
  if ((githubOutput ?? githubEnv) !== undefined)
    return { to: 'job', entries: await jobEntries(githubOutput, githubEnv, env), force };
  if (copy) return { to: 'clipboard', force };
  if (qr) return { to: 'qr', force };
  if (output === undefined) return { to: 'stream', force };
  return output === '-' ? { to: 'dash', force } : { to: 'path', path: output, force };
}

/** @throws CliError (usage) for a name that is invalid or unsafe, and outside of GitHub Actions */
async function jobEntries(
  output: string | undefined,
  variable: string | undefined,
  env: Environment,
): Promise<JobEntry[]> {
  if (output !== undefined && !/^[A-Za-z_][\w-]*$/.test(output))
    throw usageError(`"${output}" is not a valid output name`);
  if (variable !== undefined) await checkJobVariable(variable);
  const places = [
    { name: output, variable: 'GITHUB_OUTPUT', option: '--github-output' },
    { name: variable, variable: 'GITHUB_ENV', option: '--github-env' },
  ] as const;
  return places.flatMap(({ name, variable, option }) => {
    if (name === undefined) return [];
    const file = env[variable];
    if (file) return [{ name, isVariable: variable === 'GITHUB_ENV', file }];
    throw usageError(
      `${option} requires ${variable}, which GitHub Actions sets`,
      'nothing was fetched; outside of GitHub Actions use pwpush run or --output',
    );
  });
}

async function checkJobVariable(name: string): Promise<void> {
  const { isUnsafe } = await import('../run/unsafe-variables');
  if (!isVariableName(name)) throw usageError(`"${name}" is not a valid variable name`);
  // Runners of GitHub and GitLab use variables with these prefixes themselves.
  if (isUnsafe(name) || /^(GITHUB|RUNNER|ACTIONS|CI|GITLAB)(_|$)/i.test(name))
    throw usageError(
      `${name} would change what later steps run`,
      'use another name, or pwpush run, which sets variables for one command',
    );
}
