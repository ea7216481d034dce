#!/bin/sh
# stories.sh TLMPI [PROCS [STORY...]] - the program on every story of data/stories, its tables compared whole with what was
# counted by hand; on each number of procs in PROCS ("1 3"; 0 starts it without mpirun).
#
# A folder expected* of a story holds the tables (NAME.csv: the columns that its header names) and, where they are not the
# usual ones, `options` for the command line and the exit `status`.  Prints a line for each comparison that fails and, last,
# "N passed, N failed, N skipped".
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
. "$here/../lib.sh"
tlmpi=$(program "${1:?usage: stories.sh TLMPI [PROCS [STORY...]]}") || exit 2
counts=${2:-1 3}
if [ $# -gt 2 ]; then
    shift 2
else
    set -- "$here"/../../data/stories/*
fi
work=$(scratch)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mpi_settings

# one EXPECTED PROCS - one run, all its tables
one()
{
    expected=$1 procs=$2
    name=$(basename "$(dirname "$expected")")/$(basename "$expected"),n=$procs
    options=$(cat "$expected/options" 2> /dev/null)
    status=$(cat "$expected/status" 2> /dev/null || echo 0)
    rm -f "$work/out.h5"
    launcher="mpirun -n $procs"
    if [ "$procs" -eq 0 ]; then
        launcher=
    fi
    # shellcheck disable=SC2086  # launcher and options are words
    $launcher "$tlmpi" $options -o "$work/out" "$(dirname "$expected")" > "$work/stdout" 2> "$work/stderr"
    got=$?
    check "$name: exit status $status" test "$got" -eq "$status" || tail -5 "$work/stderr"
    for table in "$expected"/*.csv; do
        columns=$(head -1 "$table")
        "$tlmpi" show "$work/out.h5" "$(basename "$table" .csv)" --format csv --columns "$columns" > "$work/table.csv" 2>&1
        check "$name: $(basename "$table")" cmp -s "$table" "$work/table.csv" || diff "$table" "$work/table.csv" | head -10
    done
}

for story in "$@"; do
    for expected in "$here/../../data/stories/$(basename "$story")"/expected*; do
        for procs in $counts; do
            one "$expected" "$procs"
        done
    done
done
summary
