import { Command } from 'commander';
import { type FileWish, fileWish, type Wishes } from '../child/child-variables';
import type { Context } from '../context';
import { addGlobalOptions, type GlobalOptions, nameList, optionsOf } from '../options';

export interface RunOptions extends GlobalOptions, Wishes {
  readonly links: readonly string[];
  /** The program and its arguments. */
  readonly words: readonly string[];
  readonly passphrase: boolean;
  readonly passphraseFile?: string;
  readonly passphraseEnv?: string;
}

const EXAMPLES = `
A text of NAME=value lines (dotenv) becomes those variables; of several links,
later ones win. Their names are said on stderr, and --only takes just those that
you expect. Refused unless --allow names it: what decides which code is loaded
and run, such as PATH, LESS or GIT_*, and what replaces a variable that is set.
For any other text --as NAME names a variable. Nothing is written to disk,
unless the text cannot be used and would be lost, the view being the last one.
The exit code is the command's own; 127 and 126 say that it was not found, or
cannot be run, and then no view was taken.

Examples:
  $ pwpush run "$LINK" -- ./deploy.sh
  $ pwpush run "$LINK" --only DB_USER,DB_PASSWORD -- ./deploy.sh
  $ pwpush run "$LINK" --as DB_PASSWORD -- sh -c 'psql "host=db password=$DB_PASSWORD"'
  $ pwpush run "$LINK" --stdin -- docker login --username ci --password-stdin
  $ pwpush run "$LINK" --file KUBECONFIG -- kubectl get pods`;

export function runCommand(context: Context): Command {
  const command = new Command('run')
    .description('Run a command with the secret in its environment. Takes a view.')
    .usage('[options] <link...> -- <command> [args...]')
    .argument('<link...>', 'links or tokens of the pushes')
    .option(
      '--as <name>',
      "the variable for the text, whatever it looks like; again for each further link's",
      collect,
    )
    .option('--stdin', "the text becomes the command's standard input")
    .option(
      '--file <name[=file]>',
      'the variable for the path of a file (0600, in memory where possible), removed at the end: ' +
        "the push's file of that name, - for its text; without =file the only one",
      (value: string, all: FileWish[] = []) => [...all, fileWish(value)],
    )
    .option(
      '--only <names>',
      'take just these variables, such as A,B, and leave the others of the text',
      nameList,
    )
    .option(
      '--allow <names>',
      'let the secret set PATH, LD_PRELOAD and the like, or replace what is set',
      nameList,
    )
    .option('-p, --passphrase', 'ask for the passphrase')
    .option('--passphrase-file <path>', 'read the passphrase from a file; - is standard input')
    .option(
      '--passphrase-env <name>',
      'read the passphrase from a variable (else from PWPUSH_PASSPHRASE)',
    )
    .addHelpText('after', EXAMPLES)
    .action((operands: string[]) => {
      const words = behindDashes(command);
      const links = operands.slice(0, Math.max(0, operands.length - words.length));
      return run(context, { ...optionsOf(command, context.env, DEFAULTS), links, words });
    });
  return addGlobalOptions(command);
}

const DEFAULTS = { as: [], stdin: false, file: [], allow: [], only: [], passphrase: false };

function collect(value: string, all: readonly string[] = []): string[] {
  return [...all, value];
}

/** Commander tells operands apart no more: the line itself does. */
function behindDashes({ parent }: Command): readonly string[] {
  const { rawArgs } = parent as Command & { readonly rawArgs: readonly string[] };
  const at = rawArgs.indexOf('--');
  return at === -1 ? [] : rawArgs.slice(at + 1);
}

async function run(context: Context, options: RunOptions): Promise<void> {
  const { runWithSecrets } = await import('./run/with-secrets');
  return runWithSecrets(context, options);
}
