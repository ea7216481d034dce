#!/bin/sh
# oracles.sh TLMPI MAKE_TRACE - generated traces are traces to others, too: to the slow references of the corpus, which were
# written from the specifications alone, and to HTA's tables, recomputed.
#
# TLMPI_CORPUS names the folder with golden/reference; without it there is nobody to ask.  Prints what differs and, last,
# "N passed, N failed, N skipped".
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
. "$here/../lib.sh"
tlmpi=$(program "${1:?usage: oracles.sh TLMPI MAKE_TRACE}") || exit 2
make_trace=$(program "${2:?usage: oracles.sh TLMPI MAKE_TRACE}") || exit 2

reference=${TLMPI_CORPUS:-}/golden/reference
if [ ! -f "$reference/collectives_reference.py" ]; then
    skip "TLMPI_CORPUS does not name a folder with golden/reference"
    summary
    exit
fi
work=$(scratch)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mpi_settings

# rows SCRIPT FILE... - how many lines it prints; nothing when it fails
rows()
{
    script=$1
    shift
    # Debian's modules are those of its own python3.
    /usr/bin/python3 "$reference/$script" "$@" > "$work/rows" 2> "$work/stderr" && grep -c . "$work/rows"
}

# recomputed - every number of every table of compat hta
recomputed()
{
    rm -rf "$work/hta"
    # shellcheck disable=SC2086  # the files are words
    "$tlmpi" compat hta $files -o "$work/hta/job" > "$work/stdout" 2>&1 || return
    echo "set job $files" > "$work/jobs.txt"
    /usr/bin/python3 "$reference/hta_check_spec.py" "$work/hta" "$work/jobs.txt" > "$work/stdout" 2>&1
    grep -Eq '^job/ +ok=[1-9][0-9]* bad=0$' "$work/stdout" || return
    /usr/bin/python3 "$reference/hta_check_stacks.py" "$work/hta" "$work/jobs.txt" > "$work/stdout" 2>&1
    grep -Eq "^job .*'old': [1-9].* OK$" "$work/stdout"
}

# job NAME COLLECTIVES OPTION... - COLLECTIVES: yes where every rank is to have a row of waiting times
job()
{
    name=$1 collectives=$2
    shift 2
    rm -rf "$work/job"
    check "$name: is made" "$make_trace" -o "$work/job" --steps 3 --ranks 4 "$@" || return
    files="$work/job/rank-0.json $work/job/rank-1.json $work/job/rank-2.json $work/job/rank-3.json"
    # shellcheck disable=SC2086  # the files are words
    found=$(rows collectives_reference.py $files)
    if [ "$collectives" = yes ]; then
        check "$name: collectives of four ranks, found ${found:-none}" test "${found:-0}" -eq 4 || tail -3 "$work/stderr"
    fi
    found=$(rows idle_reference.py "$work/job/rank-2.json")
    check "$name: idle time" test "${found:-0}" -gt 0 || tail -3 "$work/stderr"
    check "$name: HTA's tables" recomputed || tail -5 "$work/stdout"
}

job "data parallel" yes
job "tensor parallel, AMD, frames" yes --tp 2 --flavour rocm --python-share 0.2
job "pipeline" yes --pp 2 --layers 1 --fault allocator --fault-rank 1 --fault-cost 0.1
job "experts, clocks" yes --ep 2 --clock-offset-us 800 --gpus 2
job "sharded, of 2024" yes --shard --age 2024
job "of 2022" no --tp 2 --age 2022
job "cut" no --sync 0 --cut-head-us 4000 --cut-tail-us 500
summary
