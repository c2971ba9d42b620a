import { choice } from '../cli/declare';
import { outputRows } from '../cli/options';
import bash from './completion/pwpush.bash?raw';
import fish from './completion/pwpush.fish?raw';
import powershell from './completion/pwpush.ps1?raw';
import zsh from './completion/pwpush.zsh?raw';
import help from './help/completion.txt?raw';
import { command } from './planned';

/**
 * The scripts pass the typed words to `pwpush __complete` as arguments (completion/complete.ts describes the protocol),
 * and evaluate neither these words nor the output. They work in bash 3.2 and later, with or without the package
 * bash-completion; in zsh as a file of $fpath or by eval; in fish 3 and later; and in PowerShell 5.1 and later, which
 * completes paths by itself if nothing is offered.
 */
const scripts = { bash, zsh, fish, powershell };

export default command({
  description: 'Print a completion script for a shell.',
  help,
  globals: outputRows,
  rows: { shell: choice('<shell>', 'the shell', Object.keys(scripts)) },
  plan: ({ shell }) => shell as keyof typeof scripts,
  run: ({ context }, shell) => context.stdout.write(scripts[shell]),
});
