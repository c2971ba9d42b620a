import { armsOf, quoted, takesFunction } from './arms';
import { type Offer, type Place, positionArms, stepArms } from './tree';

/** A completion for zsh, as a file of $fpath or by eval. */
export function zshScript(places: readonly Place[]): string {
  const options = places.map(({ path, options: all }) => ({
    path,
    offers: all.flatMap(({ names, summary }) => names.map((name) => ({ name, summary }))),
  }));
  const words = places.filter((place) => place.words.length > 0);
  return `#compdef pwpush
# Completion of pwpush for zsh, made by: pwpush completion zsh

${takesFunction(places)}

# Names of profiles, which anybody may have written: such as a shell would act on are left out.
_pwpush_profiles() {
  local name rest
  local -a names
  while IFS=$'\\t' read -r name rest; do
    [[ $name =~ '^[A-Za-z0-9][A-Za-z0-9._-]*$' ]] && names+=("$name")
  done < <(command pwpush profile list 2>/dev/null </dev/null)
  compadd -a names
}

_pwpush() {
  local cur=$words[CURRENT] place= want= word
  local -i dashes=0 at=0 i
  local -a offers
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    if ((dashes)); then
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
    *) at+=1 ;;
    esac
  done
  if ((dashes)); then
    want=paths
    [[ $place == run ]] && ((CURRENT == dashes + 1)) && want=commands
  elif [[ -z $want && $cur == --*=* ]]; then
    _pwpush_takes "$place" "\${cur%%=*}"
    compset -P '*='
  elif [[ $cur == -* && ( -z $want || $want == 'many '* ) ]]; then
    case "$place" in
${options.map(({ path, offers }) => offering(path, offers)).join('\n')}
    esac
    _describe -o option offers
    return
  elif [[ -z $want ]]; then
    case "$place" in
${words.map((place) => offering(place.path, place.words)).join('\n')}
    esac
    ((at == 0 && $#offers)) && { _describe command offers; return }
    case "$place $at" in
${armsOf(positionArms(places), 'want=')}
    esac
  fi
  case "$want" in
  *paths) _files ;;
  *words:*) compadd -- \${=want#*words:} ;;
  *profiles) _pwpush_profiles ;;
  commands) _command_names -e ;;
  esac
}

if [[ $funcstack[1] == _pwpush ]]; then
  _pwpush "$@"
else
  compdef _pwpush pwpush
fi
`;
}

function offering(path: string, offers: readonly Offer[]): string {
  const entries = offers.map(({ name, summary }) =>
    quoted(`${name}:${summary.replace(/[\\:]/g, '\\$&')}`),
  );
  return `    ${quoted(path)}) offers=(${entries.join(' ')}) ;;`;
}
