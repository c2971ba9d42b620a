import { Argument, Command } from 'commander';
import type { Context } from '../context';
import { addOutputOptions } from '../options';

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

const EXAMPLES = `
Completes commands, options, values and files. Nothing that was typed is run.

Install it for every new shell:
  bash        in ~/.bashrc: eval "$(pwpush completion bash)"
  zsh         in ~/.zshrc, after compinit: eval "$(pwpush completion zsh)"
  fish        in ~/.config/fish/config.fish: pwpush completion fish | source
  powershell  in $PROFILE:
              pwpush completion powershell | Out-String | Invoke-Expression
Or save it as a file, so that no new shell has to start pwpush:
  bash        ~/.local/share/bash-completion/completions/pwpush
  zsh         _pwpush, in a folder of $fpath
  fish        ~/.config/fish/completions/pwpush.fish

Examples:
  $ eval "$(pwpush completion bash)"
  $ pwpush completion fish | source`;

export function completionCommand(context: Context): Command {
  const command = new Command('completion')
    .description('Print a completion script for a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText('after', EXAMPLES)
    .action(async (shell: (typeof shells)[number]) => {
      const { stubs } = await import('../completion/stubs');
      await context.stdout.write(stubs[shell]);
    });
  return addOutputOptions(command);
}
