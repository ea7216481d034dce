#!/bin/sh
# compat_hta.sh TLMPI - the tables of `tlmpi compat hta` against those that HTA itself wrote, in its three modes.
#
# TLMPI_CORPUS names the folder with traces/, golden/ and tools/; without it there is nothing to compare with.  A case
# is a job in one mode; all tables named here must be equal.  Prints what differs and, last, "N passed, N failed,
# N skipped".
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
. "$here/../lib.sh"
tlmpi=$(program "${1:?usage: compat_hta.sh TLMPI}") || exit 2
tables="load_summary profiler_steps temporal_breakdown comm_comp_overlap comm_comp_overlap_unrounded events_by_category
    idle_time_breakdown idle_time_breakdown_thresholds idle_interval_stats queue_length_time_series queue_length_summary
    time_blocked_on_full_queue memory_bw_time_series memory_bw_summary counter_events gpu_kernels_with_user_annotation
    gpu_kernels_by_user_annotation aten_op_kernels_and_delay events_by_iteration gpu_events profiler_step_windows
    filter_counts kernel_type_breakdown kernel_type_breakdown_no_memory kernel_breakdown_all kernel_breakdown_default
    launch_stats launch_stats_summary cpu_user_annotation_breakdown gpu_user_annotation_breakdown names timeline_gpu
    callgraph_* callstack_old_* frequent_patterns_* patterns_overlay_* cupti_counters_* critical_path_* execution_trace_links"
set -f # the names are patterns for compare_tables.py

corpus=${TLMPI_CORPUS:-}
if [ ! -f "$corpus/golden/reference/jobs.txt" ]; then
    skip "TLMPI_CORPUS does not name a folder with golden/reference/jobs.txt"
    summary
    exit
fi
work=$(scratch)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mpi_settings

# Whether one of the tables is in the folder.
has_tables()
{
    for table in $tables; do
        if [ -n "$(find "$1" -maxdepth 1 -name "$table.csv*" 2> /dev/null)" ]; then
            return 0
        fi
    done
    return 1
}

# no_more GOLDEN OUT - whether no table has rows that HTA could not make.  It was asked for all tables in its default mode
# alone: where there is errors.txt.
no_more()
{
    for table in $tables; do
        if [ -f "$2/$table.csv" ] && [ ! -f "$1/$table.csv" ] && [ ! -f "$1/$table.csv.gz" ] &&
            [ "$(wc -l < "$2/$table.csv")" -gt 1 ]; then
            echo "$table: HTA has none"
            return 1
        fi
    done
}

# same_absence GOLDEN OUT OPTION - a table that HTA has no rows for is not there on either side, and the notes say why.
# Of names and bars there is only one mode to compare with.
same_absence()
{
    sometimes="cpu_user_annotation_breakdown gpu_user_annotation_breakdown"
    test -n "$3" || sometimes="$sometimes names timeline_gpu"
    for table in $sometimes; do
        if [ -f "$1/$table.csv" ] || [ -f "$1/$table.csv.gz" ]; then
            continue
        fi
        if [ -f "$2/$table.csv" ] || ! grep -q "^$table: " "$2/notes.txt"; then
            echo "$table should not be there, and a line of notes.txt should say why"
            return 1
        fi
    done
}

# reorder GOLDEN OUT - HTA's order of the counters of cupti_counters is another in each run: ours are given its order where
# both have the same.
reorder()
{
    find "$1" -maxdepth 1 -name "cupti_counters_*.csv" | while read -r table; do
        python3 - "$table" "$2/$(basename "$table")" << 'EOF'
import csv, sys
csv.field_size_limit(1 << 30)
head = next(csv.reader(open(sys.argv[1], newline="")))
with open(sys.argv[2], newline="") as table:
    rows = list(csv.reader(table))
at = [rows[0].index(column) for column in head]
if len(at) == len(rows[0]):
    with open(sys.argv[2], "w", newline="") as table:
        csv.writer(table, lineterminator="\n").writerows([row[i] for i in at] for row in rows)
EOF
    done
}

# as_few GOLDEN OUT - of the tables of stacks that HTA was asked for in its default mode alone, none is there that HTA has not;
# where it has refused a call graph, the notes say so.
as_few()
{
    find "$2" -name "callgraph_threads*" -o -name "frequent_*" -o -name "patterns_*" -o -name "cupti_*" | while read -r table; do
        [ -f "$1/$(basename "$table")" ] || echo "$(basename "$table"): HTA has none"
    done > "$work/more"
    cat "$work/more"
    [ ! -s "$work/more" ] && { ! grep -q "^call_graph" "$1/errors.txt" || grep -q "^callgraph: " "$2/notes.txt"; }
}

# same_refusals GOLDEN OUT MODE - where HTA gave up a critical path there is no table of it, and the notes say why.
same_refusals()
{
    sed -n "s/^critical_path:\([^\t]*\)\t$3\t.*/critical_path_\1/p" "$1/errors.txt" | while read -r path; do
        if [ -n "$(find "$2" -name "${path}_[bepsw]*.csv")" ] || ! grep -q "^$path: " "$2/notes.txt"; then
            echo "$path: HTA gave up, and we did not, or did not say so"
        fi
    done > "$work/refusals"
    cat "$work/refusals"
    [ ! -s "$work/refusals" ]
}

# equal GOLDEN OPTION FILE... - one run, and its tables.  Where HTA found nothing to analyse, the program must say so
# (3: nothing usable) and write no table either.
equal()
{
    golden=$1 option=$2
    shift 2
    rm -rf "$work/out"
    # shellcheck disable=SC2086  # no word or one
    "$tlmpi" compat hta "$@" -o "$work/out" $option > "$work/log" 2>&1
    got=$?
    if has_tables "$golden"; then
        test "$got" -le 1 && reorder "$golden" "$work/out" && python3 "$corpus/tools/compare_tables.py" "$golden" "$work/out" \
            --only "$(echo "$tables" | tr -s ' \n' ,)" >> "$work/log" 2>&1 &&
            { [ ! -f "$golden/errors.txt" ] || { no_more "$golden" "$work/out" && as_few "$golden" "$work/out" &&
                same_refusals "$golden" "$work/out" default; } >> "$work/log"; } &&
            { [ ! -f "$golden/load_summary.csv" ] || same_absence "$golden" "$work/out" "$option" >> "$work/log"; }
    else
        test "$got" -eq 3 && ! has_tables "$work/out"
    fi
}

# one MODE GOLDEN OPTION FILE...
one()
{
    what=$1
    shift
    check "$what" equal "$@" || sed "s/^/    /;\$a\\    exit status $got" "$work/log"
}

# jobs.txt: `single NAME=FILE` or `set NAME FILE...`, {TRACES} for the folder of the traces; no blanks in names.
while read -r kind name files; do
    case $kind in
    single)
        files=${name#*=} name=${name%%=*}
        ;;
    set) ;;
    *) continue ;;
    esac
    golden=$corpus/golden/hta/$name
    absent=
    set --
    for file in $files; do
        set -- "$@" "$corpus/traces${file#'{TRACES}'}"
        test -f "$corpus/traces${file#'{TRACES}'}" || absent=$file
    done
    if [ -n "$absent" ] || [ ! -d "$golden" ]; then
        skip "$name: ${absent:-$golden} is not there"
        continue
    fi
    one "$name" "$golden" "" "$@"
    if [ -d "$golden/ns" ]; then
        one "$name --ns" "$golden/ns" --ns "$@"
    fi
    if [ -d "$golden/include_last_step" ]; then
        one "$name --include-last-step" "$golden/include_last_step" --include-last-step "$@"
    fi
done < "$corpus/golden/reference/jobs.txt"

# A trace and the execution trace of the same run.
name=execution_trace_simple_add
set +f
set -- "$corpus/traces/$name"/* "$corpus/traces/execution_trace_et"/*
set -f
if [ -f "$1" ] && [ -f "${2:-}" ] && [ -d "$corpus/golden/hta/$name" ]; then
    one "$name" "$corpus/golden/hta/$name" "" "$@"
else
    skip "$name is not there"
fi
tables="memory_timeline memory_timeline_summary"
one "memory timeline" "$corpus/golden/hta/memory_timeline" "" "$corpus/traces/memory_timeline/memory_timeline.raw.gz"

# Pairs of jobs: lines "A -> B,GOLDEN,", of folders or files.
tables="compare_* ops_diff_*"
while IFS=, read -r pair golden _; do
    case $pair in
    *' -> '*) one "$pair" "$corpus/golden/hta/$golden" "" diff "$corpus/traces/${pair%% -> *}" "$corpus/traces/${pair##* -> }" ;;
    esac
done < "$corpus/golden/INDEX.csv"
summary
