import { Argument, Command } from 'commander';
import { addOutputOptions } from '../cli/options';
import type { Context } from '../platform/context';

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
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(stubs)))
    .addHelpText('after', EXAMPLES)
    .action((shell: keyof typeof stubs) => context.stdout.write(stubs[shell]));
  return addOutputOptions(command);
}

/**
 * The scripts that `pwpush completion` prints. They pass what was typed to `pwpush __complete` as arguments
 * (completion/complete.ts describes the protocol), and evaluate neither that nor its output.
 */
const stubs = {
  /** bash 3.2 and later, with or without the package bash-completion. */
  bash: `# Completion of pwpush for bash, printed by: pwpush completion bash

_pwpush() {
  local cur=\${COMP_WORDS[COMP_CWORD]} kind= word rest
  # bash splits --option=value at the sign.
  [[ $cur == = ]] && cur=
  COMPREPLY=()
  {
    read -r kind
    # Readline itself completes paths where nothing is offered.
    [[ $kind == files ]] || compopt +o default 2>/dev/null
    while IFS=$'\\t' read -r word rest; do
      [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
    done
  } < <(command pwpush __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ $kind == commands ]]; then
    while read -r word; do COMPREPLY+=("$word"); done < <(compgen -c -- "$cur")
  fi
  return 0
}

complete -o default -F _pwpush pwpush
`,
  /** As a file of $fpath, or by eval. */
  zsh: `#compdef pwpush
# Completion of pwpush for zsh, printed by: pwpush completion zsh

_pwpush() {
  local line
  local -a answer offers
  answer=("\${(@f)$(command pwpush __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case $answer[1] in
  words)
    # _describe takes word:description.
    for line in "\${(@)answer[2,-1]}"; do
      line=\${line//:/\\\\:}
      offers+=("\${line/$'\\t'/:}")
    done
    _describe pwpush offers
    ;;
  files)
    compset -P '--*='
    _files
    ;;
  commands) _command_names -e ;;
  esac
}

if [[ $funcstack[1] == _pwpush ]]; then
  _pwpush "$@"
else
  compdef _pwpush pwpush
fi
`,
  /** fish 3 and later. */
  fish: `# Completion of pwpush for fish, printed by: pwpush completion fish

function __pwpush
    set -l cur (commandline -ct)
    set -l typed (commandline -opc)
    set -l answer (command pwpush __complete $typed[2..-1] "$cur" 2>/dev/null)
    switch "$answer[1]"
        case words
            string join \\n -- $answer[2..-1]
        case files
            set -l option (string match -r -- '^--[^=]*=' "$cur")
            for path in (__fish_complete_path (string replace -- "$option" '' "$cur"))
                echo "$option$path"
            end
        case commands
            # It evaluates what was typed, so that is to be a plain name.
            string match -qr '^[\\w./+-]*$' -- "$cur"; and __fish_complete_command
    end
end

complete -c pwpush -f -k -a '(__pwpush)'
`,
  /** PowerShell 5.1 and later, which itself completes paths where nothing is offered. */
  powershell: `# Completion of pwpush for PowerShell, printed by: pwpush completion powershell

Register-ArgumentCompleter -Native -CommandName pwpush -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $typed = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { "$_" })
    # Quotes and empty arguments are lost on the way to a program, and cmd.exe may evaluate the rest.
    $words = @(@($typed) + "$wordToComplete" | ForEach-Object {
        ($_ -replace '[^\\w./:=,@+-]', '_') -replace '^$', '_'
    })
    $kind, $offers = pwpush __complete @words 2>$null
    if ($kind -ne 'words') { return }
    $offers | ForEach-Object {
        $word, $text = $_ -split "\`t", 2
        if ($word -and $word.StartsWith($wordToComplete)) {
            if (-not $text) { $text = $word }
            $type = if ($word.StartsWith('-')) { 'ParameterName' } else { 'ParameterValue' }
            [System.Management.Automation.CompletionResult]::new($word, $word, $type, $text)
        }
    }
}
`,
} as const;
