#!/bin/sh
# compat_tracelens.sh TLMPI - the tables of `tlmpi compat tracelens` against those that TraceLens itself wrote.
#
# TLMPI_CORPUS names the folder with traces/, golden/ and tools/; without it there is nothing to compare with.  A case is a trace
# or a set of ranks of golden/INDEX.csv; all its tables must be equal.  A set must also give the same from 3 procs.  Prints
# what differs and, last, "N passed, N failed, N skipped".
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
. "$here/../lib.sh"
tlmpi=$(program "${1:?usage: compat_tracelens.sh TLMPI}") || exit 2

corpus=${TLMPI_CORPUS:-}
if [ ! -f "$corpus/golden/INDEX.csv" ] || [ ! -d "$corpus/golden/tracelens" ]; then
    skip "TLMPI_CORPUS does not name a folder with golden/INDEX.csv and golden/tracelens"
    summary
    exit
fi
work=$(scratch)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mpi_settings

# tables FOLDER FILE... - one run, its tables in FOLDER, its words in $work/log
tables()
{
    folder=$1
    shift
    rm -rf "$folder"
    $launch "$tlmpi" compat tracelens "$@" -o "$folder" > "$work/log" 2>&1 < /dev/null
    got=$?
    test "$got" -le 1
}

# equal GOLDEN FILE... - a run's tables and the golden ones
equal()
{
    golden=$1
    shift
    tables "$work/out" "$@" && python3 "$corpus/tools/compare_tables.py" "$golden" "$work/out" --skip "reference_*" \
        --any-order --drop "Parent op category" >> "$work/log" 2>&1
}

# same FILE... - the tables that lie in $work/out, from several procs
same()
{
    launch="mpirun -n 3"
    tables "$work/procs" "$@" && diff -r "$work/out" "$work/procs" >> "$work/log" 2>&1
    status=$?
    launch=
    return "$status"
}

launch=
while IFS=, read -r traces _ name; do
    golden=$corpus/golden/tracelens/$name
    if [ -z "$name" ] || [ "$name" = tracelens ]; then
        continue
    fi
    first=${traces%% *}
    if [ -d "$corpus/traces/$first" ]; then
        set -- "$corpus/traces/$first"
    else
        # shellcheck disable=SC2086  # a pattern
        set -- "$corpus"/traces/$first
    fi
    if [ ! -e "$1" ] || [ ! -d "$golden" ]; then
        skip "$name: $traces or $golden is not there"
        continue
    fi
    check "$name" equal "$golden" "$@" || sed "s/^/    /;\$a\\    exit status $got" "$work/log"
    if [ $# -gt 1 ] && command -v mpirun > /dev/null; then
        check "$name from 3 procs" same "$@" || sed 's/^/    /' "$work/log"
    fi
    # Where TraceLens itself did not come to an end, a slow reference has made the tables of gaps.
    if [ -f "$golden/reference_idle_intervals.csv" ]; then
        mkdir -p "$work/reference"
        for table in idle_intervals idle_noise; do
            cp "$golden/reference_$table.csv" "$work/reference/$table.csv"
        done
        check "$name: the reference" python3 "$corpus/tools/compare_tables.py" "$work/reference" "$work/out" --any-order
    fi
done < "$corpus/golden/INDEX.csv"
summary
