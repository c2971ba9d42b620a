import { Argument, Command } from 'commander';
import { type Place, placesOf } from '../completion/tree';
import type { Context } from '../context';
import { addOutputOptions } from '../options';

/** All commands in full, and what `pwpush help` knows besides. */
export interface Whole {
  readonly program: Command;
  readonly topics: readonly string[];
}

const scripts: Readonly<Record<string, () => Promise<(places: readonly Place[]) => string>>> = {
  bash: async () => (await import('../completion/bash')).bashScript,
  zsh: async () => (await import('../completion/zsh')).zshScript,
  fish: async () => (await import('../completion/fish')).fishScript,
  powershell: async () => (await import('../completion/powershell')).powershellScript,
};

const EXAMPLES = `
The script completes commands, options, their values and files. It starts
pwpush for the names of profiles alone.

Install it for every shell to come:
  bash        in ~/.bashrc: eval "$(pwpush completion bash)"
  zsh         in ~/.zshrc, behind compinit: eval "$(pwpush completion zsh)"
  fish        in ~/.config/fish/config.fish: pwpush completion fish | source
  powershell  in $PROFILE:
              pwpush completion powershell | Out-String | Invoke-Expression
Or once and for all, without a start of pwpush in every shell, as a file:
  bash        ~/.local/share/bash-completion/completions/pwpush
  zsh         _pwpush, in a folder of $fpath
  fish        ~/.config/fish/completions/pwpush.fish

Examples:
  $ eval "$(pwpush completion bash)"
  $ pwpush completion fish | source`;

export function completionCommand(context: Context, whole: () => Promise<Whole>): Command {
  const command = new Command('completion')
    .description('Print a script that completes command lines of pwpush.')
    .addArgument(new Argument('<shell>', 'the shell it is for').choices(Object.keys(scripts)))
    .addHelpText('after', EXAMPLES)
    .action(async (shell: string) => {
      const { program, topics } = await whole();
      const script = await scripts[shell]?.();
      await context.stdout.write(script?.(placesOf(program, topics)) ?? '');
    });
  return addOutputOptions(command);
}
