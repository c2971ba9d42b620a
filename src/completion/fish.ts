import { type Arm, type Offer, type Place, positionArms, stepArms, takingArms } from './tree';

/** In single quotes fish knows two escapes. */
const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;

/** A completion for fish 3. */
export function fishScript(places: readonly Place[]): string {
  const options = places.map(({ path, options: all }) => ({
    path,
    offers: all.flatMap(({ names, summary }) => names.map((name) => ({ name, summary }))),
  }));
  const words = places.filter((place) => place.words.length > 0);
  return `# Completion of pwpush for fish, made by: pwpush completion fish

# What has to follow an option: words, paths, profiles or nothing.
function __pwpush_takes
    switch "$argv[1] $argv[2]"
${casesOf(takingArms(places), 'echo')}
    end
end

# Names of profiles, which anybody may have written: such as a shell would act on are left out.
function __pwpush_profiles
    command pwpush profile list 2>/dev/null </dev/null | string match -rg '^([A-Za-z0-9][A-Za-z0-9._-]*)\\t'
end

function __pwpush_offer
    switch "$argv[1]"
        case '*paths'
            __fish_complete_path "$argv[2]"
        case '*words:*'
            string split ' ' -- (string replace -r '.*words:' '' -- "$argv[1]")
        case '*profiles'
            __pwpush_profiles
    end
end

function __pwpush
    set -l tokens (commandline -opc)
    set -l cur (commandline -ct)
    set -l place ''
    set -l want ''
    set -l at 0
    set -l dashes 0
    for word in $tokens[2..-1]
        if test $dashes -gt 0
            set dashes (math $dashes + 1)
            continue
        else if test -n "$want"; and not string match -q 'many *' -- $want
            set want ''
            continue
        else if test -n "$want"; and not string match -q -- '-*' $word
            continue
        end
        set want ''
        switch "$word"
            case --
                set dashes 1
                continue
            case '-*'
                set want (__pwpush_takes "$place" $word)
                continue
        end
        switch "$place/$word"
${casesOf(stepArms(places), 'set place', '        ')}
            case '*'
                set at (math $at + 1)
        end
    end
    if test $dashes -gt 0
        if test "$place" = run; and test $dashes -eq 1
            __fish_complete_command
        else
            __fish_complete_path $cur
        end
    else if test -z "$want"; and string match -q -- '--*=*' $cur
        set -l name (string replace -r '=.*' '' -- $cur)
        set want (__pwpush_takes "$place" $name)
        for value in (__pwpush_offer "$want" (string replace -r '^[^=]*=' '' -- $cur))
            echo $name=$value
        end
    else if string match -q -- '-*' $cur; and begin
            test -z "$want"; or string match -q 'many *' -- $want
        end
        switch "$place"
${options.map(({ path, offers }) => offering(path, offers)).join('\n')}
        end
    else if test -n "$want"
        __pwpush_offer "$want" $cur
    else
        switch "$place $at"
${casesOf(positionArms(places), '__pwpush_offer', '        ', ' $cur')}
        end
        test $at -eq 0; or return
        switch "$place"
${words.map((place) => offering(place.path, place.words)).join('\n')}
        end
    end
end

complete -c pwpush -f -k -a '(__pwpush)'
`;
}

/** A star in quotes is a pattern, and none of our words has another. */
function casesOf(arms: readonly Arm[], set: string, indent = '    ', rest = ''): string {
  return arms
    .map(
      ({ patterns, answer }) =>
        `${indent}    case ${patterns.map(quoted).join(' ')}\n${indent}        ${set} ${quoted(answer)}${rest}`,
    )
    .join('\n');
}

function offering(path: string, offers: readonly Offer[]): string {
  const entries = offers.map(({ name, summary }) => quoted(`${name}\t${summary}`));
  return `            case ${quoted(path)}\n                printf '%s\\n' ${entries.join(' ')}`;
}
