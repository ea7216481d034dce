#!/bin/sh
# run.sh FOLDER SECONDS [TARGET...] - feeds the fuzz targets, which were built with clang and -DTLMPI_SANITIZE=ON -DTLMPI_FUZZ=ON
# in FOLDER, their seeds, and then what libFuzzer makes of them, together for SECONDS on one core; by default all targets.
#
# The seeds of a target are a check; so is its search.  What crashes, hangs or is read in two ways stays in FOLDER/findings;
# again, of `reader`, `phases` and `memory` by a program of their own, of the others by fuzz_parts:
#
#     FOLDER/tests/fuzz/fuzz_reader FOLDER/findings/reader-crash-...
#     TLMPI_FUZZ=rules FOLDER/tests/fuzz/fuzz_parts -minimize_crash=1 -runs=10000 FOLDER/findings/rules-crash-...
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
. "$here/../lib.sh"
build=${1:?usage: run.sh FOLDER SECONDS [TARGET...]}
seconds=${2:?usage: run.sh FOLDER SECONDS [TARGET...]}
shift 2

build=$(cd "$build" && pwd) || exit 2
work=$(scratch)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$build/findings"

# fuzz ARGUMENT... - the target, its words in $work/log
fuzz()
{
    "$program" -timeout=20 -rss_limit_mb=1024 -artifact_prefix="$build/findings/$TLMPI_FUZZ-" "$@" > "$work/log" 2>&1
}

# What stops the target is said; the rest of its log is noise.
tell()
{
    grep -aE 'DIFFERENCE|ERROR|runtime error|SUMMARY|Test unit written|^Running' "$work/log" | tail -n 6
}

# search TARGET LENGTH TENTHS - the seeds of the target, and what comes of them in inputs of up to LENGTH bytes, in tenths of a
# second of each 24
search()
{
    TLMPI_FUZZ=$1 program=$build/tests/fuzz/fuzz_$1 seeds=$here/seeds/$1 corpus=$work/$1 length=$2
    time=$(($3 * seconds / 240))
    export TLMPI_FUZZ
    test -x "$program" || program=$build/tests/fuzz/fuzz_parts
    mkdir -p "$corpus"
    check "$1, its seeds" fuzz "$seeds"/* || tell
    set --
    if [ "$TLMPI_FUZZ" = reader ]; then
        set -- -dict="$here/trace.dict"
    fi
    if check "$TLMPI_FUZZ, the search of $time s" fuzz -max_total_time="$((time + (time == 0)))" -max_len="$length" \
        -close_fd_mask=1 -print_final_stats=1 -verbosity=1 "$@" "$corpus" "$seeds"; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log")
        echo "$TLMPI_FUZZ: $runs inputs, $(find "$corpus" -type f | wc -l) of them new to the target"
        check "$TLMPI_FUZZ searches" test "${runs:-0}" -gt "$(find "$seeds" -type f | wc -l)"
    else
        tell
    fi
}

# A small result, for what begins with one.
"$build/make_trace" -o "$work/traces" --ranks 2 --steps 2 --no-truth > "$work/log" &&
    "$build/tlmpi-serial" -q -o "$work/result" "$work/traces" || exit 2
export TLMPI_FUZZ_RESULT="$work/result.h5"

# TARGET LENGTH TENTHS
while read -r target length tenths; do
    case " ${*:-$target} " in
    *" $target "*) search "$target" "$length" "$tenths" ;;
    esac
done << END
reader 8192 60
phases 8192 20
memory 8192 20
decimal 64 10
packing 8192 15
execution 8192 15
rules 4096 10
options 1024 10
where 1024 10
result 512 25
database 20000 20
pftrace 8192 15
metadata 512 10
END
summary
