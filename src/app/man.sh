#!/bin/sh
# man.sh TLMPI - prints the page of tlmpi for man(1): what --help says of the program and of each command.
set -eu
tlmpi=$1

# As roff prints it: a backslash and a dot or quote at the beginning of a line are escaped.
text()
{
    printf '.nf\n'
    sed -e 's/\\/\\e/g' -e "s/^\\([.']\\)/\\\\\\&\\1/" -e 's/-/\\-/g'
    printf '.fi\n'
}

version=$("$tlmpi" --version | head -n 1)
printf '.TH TLMPI 1 "" "%s" "User Commands"\n' "$version"
printf '.SH NAME\ntlmpi \\- which rank of a training job holds the others up, from the profiler traces of all of them\n'
printf '.SH SYNOPSIS\n.B mpirun \\-n\n.I N\n.B tlmpi\n.RI [ options ]\n.IR traces ...\n.br\n.B tlmpi\n.I command\n.RI [ options ]\n'
printf '.SH DESCRIPTION\n'
"$tlmpi" --help | text
for command in $("$tlmpi" --help | sed -n '/^Commands/,/^$/s/^  \([a-z][a-z]*\).*/\1/p'); do
    printf '.SH "TLMPI %s"\n' "$(printf %s "$command" | tr '[:lower:]' '[:upper:]')"
    "$tlmpi" "$command" --help | text
done
printf '.SH ENVIRONMENT\nNO_COLOR, SLURM_JOB_ID and the variables of the MPI library.\n'
printf '.SH FILES\n.I PREFIX.h5\nis written as a file of another name, and renamed when it is whole.\n'
