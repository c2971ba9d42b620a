import { Argument } from 'commander';
import type { Command } from '../cli/command';
import { addOutputOptions } from '../cli/options';
import type { Context } from '../platform/context';
import bash from './completion/pwpush.bash?raw';
import fish from './completion/pwpush.fish?raw';
import powershell from './completion/pwpush.ps1?raw';
import zsh from './completion/pwpush.zsh?raw';

export { default as help } from './help/completion.txt?raw';

/**
 * They pass what was typed to `pwpush __complete` as arguments (completion/complete.ts describes the protocol), and evaluate
 * neither that nor its output. For bash 3.2 and later, with or without the package bash-completion, zsh, as a file of $fpath
 * or by eval, fish 3 and later, and PowerShell 5.1 and later, which itself completes paths where nothing is offered.
 */
const scripts = { bash, zsh, fish, powershell };

export function define(command: Command, context: Context): void {
  command
    .description('Print a completion script for a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
    .action((shell: keyof typeof scripts) => context.stdout.write(scripts[shell]));
  addOutputOptions(command);
}
