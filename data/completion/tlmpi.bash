# Completion of tlmpi for bash, and for zsh with bashcompinit: commands and options are read from --help.
_tlmpi()
{
    local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} command=${COMP_WORDS[1]-} help
    if [ "$COMP_CWORD" -eq 1 ]; then
        help=$("$program" --help 2> /dev/null | sed -n '/^Commands/,/^$/s/^  \[\{0,1\}\([a-z]*\).*/\1/p')
    fi
    case $word in
        -*)
            case $command in
                -* | */* | *.*) command=run ;;
            esac
            help=$("$program" "$command" --help 2> /dev/null | sed -n 's/^  *\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\).*/\2/p') ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$help" -- "$word"; compgen -f -- "$word")
}
complete -o filenames -F _tlmpi tlmpi tlmpi-serial
