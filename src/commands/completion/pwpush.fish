# Completion of pwpush for fish, printed by: pwpush completion fish

function __pwpush
    set -l cur (commandline -ct)
    set -l typed (commandline -opc)
    set -l answer (command pwpush __complete $typed[2..-1] "$cur" 2>/dev/null)
    switch "$answer[1]"
        case words
            string join \n -- $answer[2..-1]
        case files
            set -l option (string match -r -- '^--[^=]*=' "$cur")
            for path in (__fish_complete_path (string replace -- "$option" '' "$cur"))
                echo "$option$path"
            end
        case commands
            # It evaluates what was typed, so that is to be a plain name.
            string match -qr '^[\w./+-]*$' -- "$cur"; and __fish_complete_command
    end
end

complete -c pwpush -f -k -a '(__pwpush)'
