import { armsOf, takesFunction } from './arms';
import { type Place, positionArms, stepArms } from './tree';

/** A completion for bash 3.2 and later, with or without the bash-completion package. */
export function bashScript(places: readonly Place[]): string {
  const options = places.map(({ path, options: all }) => ({
    patterns: [path],
    answer: all.flatMap(({ names }) => names).join(' '),
  }));
  const words = places
    .filter((place) => place.words.length > 0)
    .map((place) => ({
      patterns: [place.path],
      answer: place.words.map(({ name }) => name).join(' '),
    }));
  return `# Completion of pwpush for bash, made by: pwpush completion bash

${takesFunction(places)}

_pwpush_offer() {
  local word
  for word in "$@"; do
    [[ $word == "$cur"* ]] && COMPREPLY+=("$prefix$word")
  done
}

# Names of profiles, which anybody may have written: such as a shell would act on are left out.
_pwpush_profiles() {
  local name rest
  while IFS=$'\\t' read -r name rest; do
    [[ $name =~ ^[A-Za-z0-9][A-Za-z0-9._-]*$ ]] && _pwpush_offer "$name"
  done < <(command pwpush profile list 2>/dev/null </dev/null)
}

_pwpush() {
  local cur=\${COMP_WORDS[COMP_CWORD]} place= want= dashes=0 at=0 prefix= word i IFS=' '
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((dashes)); then
      continue
    elif [[ -n $want && $word == '=' ]]; then
      continue
    elif [[ -n $want && ( $want != 'many '* || $word != -* ) ]]; then
      [[ $want == 'many '* ]] || want=
      continue
    fi
    want=
    case "$word" in
    --) dashes=$i; continue ;;
    -*) _pwpush_takes "$place" "$word"; continue ;;
    esac
    case "$place/$word" in
${armsOf(stepArms(places), 'place=')}
    *) at=$((at + 1)) ;;
    esac
  done
  [[ -n $want && $cur == '=' ]] && cur=
  if ((dashes)); then
    want=paths
    [[ $place == run ]] && ((COMP_CWORD == dashes + 1)) && want=commands
  elif [[ -z $want && $cur == --*=* ]]; then
    _pwpush_takes "$place" "\${cur%%=*}"
    prefix=\${cur%%=*}=
    cur=\${cur#*=}
  elif [[ $cur == -* && ( -z $want || $want == 'many '* ) ]]; then
    case "$place" in
${armsOf(options, 'want=words:')}
    esac
  elif [[ -z $want ]]; then
    case "$place" in
${armsOf(words, 'want=words:')}
    esac
    case "$place $at" in
${armsOf(positionArms(places), 'want=')}
    esac
  fi
  # Readline completes paths by itself where nothing is offered.
  [[ $want == *paths ]] || compopt +o default 2>/dev/null
  case "$want" in
  *words:*) _pwpush_offer \${want#*words:} ;;
  *profiles) _pwpush_profiles ;;
  commands) IFS=$'\\n'; COMPREPLY=($(compgen -c -- "$cur")) ;;
  esac
  return 0
}

complete -o default -F _pwpush pwpush
`;
}
