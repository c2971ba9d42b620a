#compdef pwpush
# Completion of pwpush for zsh, printed by: pwpush completion zsh

_pwpush() {
  local line
  local -a answer offers
  answer=("${(@f)$(command pwpush __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case $answer[1] in
  words)
    # _describe takes word:description, and quotes the word.
    for line in "${(@)answer[2,-1]}"; do
      line=${line//\\/\\\\}
      line=${line//:/\\:}
      offers+=("${line/$'\t'/:}")
    done
    # -V keeps their order: of pushes the newest comes first.
    _describe -V pwpush offers
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
