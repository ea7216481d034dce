# Completion of tlmpi for fish: commands and options are read from --help.
function __tlmpi_commands
    tlmpi --help 2>/dev/null | sed -n '/^Commands/,/^$/s/^  \[\{0,1\}\([a-z]*\)\]\{0,1\}  *\(.*\)/\1\t\2/p'
end
function __tlmpi_options
    set -l words (commandline -opc)
    tlmpi $words[2] --help 2>/dev/null | sed -n 's/^  *\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\)[^ ]*  *\(.*\)/\2\t\3/p'
end
complete -c tlmpi -n __fish_use_subcommand -a '(__tlmpi_commands)'
complete -c tlmpi -n 'string match -q -- "-*" (commandline -ct)' -a '(__tlmpi_options)'
