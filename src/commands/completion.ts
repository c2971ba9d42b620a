import { Argument, Command } from 'commander';
import { addOutputOptions } from '../cli/options';
import type { Context } from '../platform/context';
import bash from './completion/pwpush.bash?raw';
import fish from './completion/pwpush.fish?raw';
import powershell from './completion/pwpush.ps1?raw';
import zsh from './completion/pwpush.zsh?raw';

/**
 * They pass what was typed to `pwpush __complete` as arguments (completion/complete.ts describes the protocol), and evaluate
 * neither that nor its output. For bash 3.2 and later, with or without the package bash-completion, zsh, as a file of $fpath
 * or by eval, fish 3 and later, and PowerShell 5.1 and later, which itself completes paths where nothing is offered.
 */
const scripts = { bash, zsh, fish, powershell };

const EXAMPLES = `
Completes commands, options, values, files, and the links of pushes made here.
It runs nothing that you typed.

Add the line for your shell (below) to
  bash        ~/.bashrc
  zsh         ~/.zshrc, after compinit
  fish        ~/.config/fish/config.fish
  powershell  $PROFILE
Or save the script, so that no new shell has to start pwpush, as
  bash        ~/.local/share/bash-completion/completions/pwpush
  zsh         _pwpush, in a folder of $fpath
  fish        ~/.config/fish/completions/pwpush.fish

Examples:
  $ eval "$(pwpush completion bash)"
  $ eval "$(pwpush completion zsh)"
  $ pwpush completion fish | source
  $ pwpush completion powershell | Out-String | Invoke-Expression`;

export function define(context: Context): Command {
  const command = new Command('completion')
    .description('Print a completion script for a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
    .addHelpText('after', EXAMPLES)
    .action((shell: keyof typeof scripts) => context.stdout.write(scripts[shell]));
  return addOutputOptions(command);
}
