#!/bin/sh
# run.sh FOLDER SECONDS - feeds the fuzz targets of the readers of traces, of phases and of memory timelines, which were built
# with clang and -DTLMPI_SANITIZE=ON -DTLMPI_FUZZ=ON in FOLDER, their seeds, and then what libFuzzer makes of them, together for
# SECONDS on one core.
#
# Each seed is a check; so is the search.  What crashes, hangs or is read in two ways stays in FOLDER/findings; again:
#
#     FOLDER/tests/fuzz/fuzz_reader FOLDER/findings/crash-...
#     FOLDER/tests/fuzz/fuzz_reader -minimize_crash=1 -runs=10000 FOLDER/findings/crash-...
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
. "$here/../lib.sh"
build=${1:?usage: run.sh FOLDER SECONDS}
seconds=${2:?usage: run.sh FOLDER SECONDS}

build=$(cd "$build" && pwd) || exit 2
work=$(scratch)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# fuzz ARGUMENT... - the target, its words in $work/log
fuzz()
{
    "$target" -timeout=20 -rss_limit_mb=1024 -artifact_prefix="$build/findings/" "$@" > "$work/log" 2>&1
}

# What stops the target is said; the rest of its log is noise.
tell()
{
    grep -E 'DIFFERENCE|ERROR|runtime error|SUMMARY|Test unit written' "$work/log" || tail -n 5 "$work/log"
}

# search NAME SEEDS SECONDS ARGUMENT... - the seeds of a target, and what comes of them
search()
{
    target=$build/tests/fuzz/$1 seeds=$here/$2 corpus=$work/$1 time=$3
    shift 3
    mkdir -p "$build/findings" "$corpus"
    for seed in "$seeds"/*; do
        check "$(basename "$target"), seed $(basename "$seed")" fuzz "$seed" || tell
    done
    if check "$(basename "$target"), the search of $time s" fuzz -max_total_time="$time" -max_len=8192 -print_final_stats=1 \
        -verbosity=1 "$@" "$corpus" "$seeds"; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log")
        echo "$runs inputs, $(find "$corpus" -type f | wc -l) of them new to the target"
        check "$(basename "$target") searches" test "${runs:-0}" -gt "$(find "$seeds" -type f | wc -l)"
    else
        tell
    fi
}

search fuzz_reader seeds $((seconds * 2 / 3)) -dict="$here/trace.dict"
search fuzz_phases seeds_phases $((seconds / 6))
search fuzz_memory seeds_memory $((seconds / 6))
summary
