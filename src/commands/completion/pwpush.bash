# Completion of pwpush for bash, printed by: pwpush completion bash

_pwpush() {
  local cur=${COMP_WORDS[COMP_CWORD]} kind= word rest
  # bash splits --option=value at the sign.
  [[ $cur == = ]] && cur=
  COMPREPLY=()
  {
    read -r kind
    # Readline itself completes paths where nothing is offered.
    [[ $kind == files ]] || compopt +o default 2>/dev/null
    # Since bash 4.4: of pushes the newest comes first.
    [[ $kind == words ]] && compopt -o nosort 2>/dev/null
    while IFS=$'\t' read -r word rest; do
      if [[ $word == "$cur"* ]]; then
        # bash inserts it as it is.
        printf -v word %q "$word"
        COMPREPLY+=("$word")
      fi
    done
  } < <(command pwpush __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ $kind == commands ]]; then
    while read -r word; do
      printf -v word %q "$word"
      COMPREPLY+=("$word")
    done < <(compgen -c -- "$cur")
  fi
  return 0
}

complete -o default -F _pwpush pwpush
