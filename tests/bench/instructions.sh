#!/bin/sh
# instructions.sh TLMPI-SERIAL MAKE_TRACE - reading has not become dearer: instructions a byte of text, by valgrind.
#
# Nor has a run of next to nothing.  And of these instructions, classifying idle time takes a small part only; and of
# what a trace can have many of, twice as many take little more than twice as many.
#
# Seconds differ from machine to machine and from minute to minute; this count hardly differs at all.  Start-up, the
# count of an almost empty trace, is left out, and has a limit of its own.  A limit is what was measured (gcc 12, -O2, yajl and HDF5 of Debian 12)
# and 15 % more: where a change makes reading dearer on purpose, measure and raise it here.  Prints, last,
# "N passed, N failed, N skipped".
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
. "$here/../lib.sh"
tlmpi=$(program "${1:?usage: instructions.sh TLMPI-SERIAL MAKE_TRACE}") || exit 2
make_trace=$(program "${2:?usage: instructions.sh TLMPI-SERIAL MAKE_TRACE}") || exit 2

if ! command -v valgrind > /dev/null; then
    skip "instructions a byte: there is no valgrind"
    summary
    exit
fi
work=$(scratch)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# trace NAME OPTION... - $work/NAME/rank-0.json
trace()
{
    folder=$work/$1
    shift
    "$make_trace" -o "$folder" --ranks 1 --plain "$@"
}

# count TRACE COMMAND OPTION... - the instructions of it, by exp-bbv, or of the functions in $only, by callgrind, which takes
# half as long again; nothing when the run or the count fails
only=
count()
{
    path=$work/$1/rank-0.json command=$2
    shift 2
    if [ "$command" = run ]; then
        set -- "$@" -f -o "$work/out"
    fi
    if [ -n "$only" ]; then
        tool="--tool=callgrind --callgrind-out-file=/dev/null $only"
    else
        tool="--tool=exp-bbv --instr-count-only=yes --bb-out-file=/dev/null"
    fi
    # shellcheck disable=SC2086  # some options
    valgrind $tool "$tlmpi" "$command" -q "$@" "$path" > "$work/stdout" 2> "$work/stderr" &&
        sed -n 's/.* Collected : \([0-9]*\)$/\1/p; s/.*Total instructions: \([0-9]*\)$/\1/p' "$work/stderr"
}

# start_of COMMAND OPTION... - what the almost empty trace takes, counted once
start_of()
{
    memo=$work/start-$(echo "$*" | tr -c 'a-z\n' _)
    [ -f "$memo" ] || count tiny "$@" > "$memo"
    cat "$memo"
}

# at_most LIMIT - whether the last count is; LIMIT in hundredths of an instruction a byte
at_most()
{
    test "$((100 * spent))" -le "$(($1 * bytes))"
}

# limit WORDS TRACE LIMIT COMMAND OPTION... - counts, and checks the count against the limit
limit()
{
    words=$1 trace=$2 most=$3
    shift 3
    all=$(count "$trace" "$@")
    start=$(start_of "$@")
    if ! check "$words: is counted" test "${all:-0}" -gt "${start:-0}"; then
        tail -n 5 "$work/stderr"
        return
    fi
    spent=$((all - start))
    bytes=$(($(wc -c < "$work/$trace/rank-0.json") - $(wc -c < "$work/tiny/rank-0.json")))
    found=$((100 * spent / bytes))
    echo "$words: $((found / 100)).$(printf %02d $((found % 100))) instructions a byte"
    check "$words: at most $most hundredths of an instruction a byte, found $found" at_most "$most"
}

# whole WORDS MILLIONS COMMAND - what the almost empty trace takes: to write the result, most of it
whole()
{
    words=$1 most=$2
    shift 2
    found=$(start_of "$@")
    if check "$words: is counted" test "${found:-0}" -gt 0; then
        found=$((found / 1000000))
        echo "$words: $found million instructions"
        check "$words: at most $most million, found $found" test "$found" -le "$most"
    fi
}

# share WORDS TRACE MOST - of the whole run's instructions, those that classify idle time, in percent
share()
{
    words=$1 trace=$2 most=$3
    only=--collect-atstart=yes
    all=$(count "$trace" run)
    start=$(count tiny run)
    only="--toggle-collect=idle_per_rank --toggle-collect=idle_reduce"
    spent=$(count "$trace" run)
    only=
    if ! check "$words: is counted" test "${spent:-0}" -gt 0 -a "${all:-0}" -gt "${start:-0}"; then
        tail -n 5 "$work/stderr"
        return
    fi
    found=$((1000 * spent / (all - start)))
    echo "$words: $((found / 10)).$((found % 10)) % of the run, start-up left out"
    check "$words: at most $most thousandths of the run, found $found" test "$found" -le "$most"
}

# nested N - $work/nested-N/rank-0.json: one gap, and N operators in it, each within the one before
nested()
{
    mkdir -p "$work/nested-$1" && awk -v n="$1" '
        function event(cat, name, ts, dur, args) {
            printf ",\n{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": 1, \"tid\": 1, \"ts\": %d, \"dur\": %d, " \
                "\"args\": {%s}}", cat, name, ts, dur, args
        }
        BEGIN {
            printf "{\"traceEvents\": [{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1}"
            for (k = 0; k < 2; k++) {
                event("cuda_runtime", "cudaLaunchKernel", 10 + k * 4 * n, 5, "\"correlation\": " k + 1)
                event("kernel", "work", 20 + k * 4 * n, 10, "\"device\": 0, \"stream\": 7, \"correlation\": " k + 1)
            }
            for (i = 0; i < n; i++)
                event("cpu_op", "aten::op" i % 10, 40 + i, 3 * n - 2 * i, "")
            print "]}"
        }' > "$work/nested-$1/rank-0.json"
}

# crowd SHAPE N - $work/SHAPE-N/rank-0.json: N kernels with a gap behind each, and
#   threads   each launched by a thread of its own, which has an operator at the beginning and one at the end
#   syncs     N waits over all of it, each on a thread of its own
#   depth     N waits on the launching thread, each within the one before
#   comms     each an all-reduce, without steps
#   steps     each an all-reduce, in one step
#   meets     N collectives of hosts that overlap, and an operator in each gap
#   devices   N kernels of communication on another device, which the host waits for as often
#   nested    see above
crowd()
{
    if [ "$1" = nested ]; then
        nested "$2"
        return
    fi
    mkdir -p "$work/$1-$2" && awk -v shape="$1" -v n="$2" '
        function event(cat, name, tid, ts, dur, args) {
            printf ",\n{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": 1, \"tid\": %d, \"ts\": %d, " \
                "\"dur\": %d, \"args\": {%s}}", cat, name, tid, ts, dur, args
        }
        BEGIN {
            comm = shape == "comms" || shape == "steps"
            printf "{\"distributedInfo\": {\"rank\": 0, \"world_size\": 2}, \"traceEvents\": "
            printf "[{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1}"
            for (i = 0; i < n; i++) {
                launching = shape == "threads" ? i : 1
                event("cuda_runtime", "cudaLaunchKernel", launching, n + i * 20, 2, "\"correlation\": " i + 1)
                event("kernel", comm ? "ncclDevKernel_AllReduce_Sum_bf16_RING_LL" : "work", 7, n + i * 20 + 5, 8, \
                    "\"device\": 0, \"stream\": 7, \"correlation\": " i + 1 (comm ? ", \"Collective name\": " \
                    "\"allreduce\", \"Process Group Name\": \"0\", \"Process Group Ranks\": \"[0, 1]\", \"Group size\": 2" : ""))
                if (shape == "threads") {
                    event("cpu_op", "aten::op" i, i, i, 1, "")
                    event("cpu_op", "aten::op" i, i, 22 * n + i, 1, "")
                }
                if (shape == "syncs")
                    event("cuda_runtime", "cudaDeviceSynchronize", n + i, n, 20 * n, "\"correlation\": " n + i + 1)
                if (shape == "meets") {
                    event("user_annotation", "gloo:all_reduce", 1, n + 2 * i, 18 * n + i, "")
                    event("cpu_op", "aten::mm", 1, n + i * 20 + 1, 3, "")
                }
                if (shape == "devices") {
                    event("cuda_runtime", "cudaDeviceSynchronize", 1, n + i, 20 * n + i, "\"correlation\": " n + i + 1)
                    event("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20 + i % 100, n + i * 5, 15 * n, \
                        "\"device\": 1, \"stream\": " 20 + i % 100)
                }
                if (shape == "depth")
                    event("cuda_runtime", "cudaDeviceSynchronize", 1, n + i, 20 * n - 2 * i, "\"correlation\": " n + i + 1)
            }
            if (shape == "steps")
                event("user_annotation", "ProfilerStep#1", 1, 1, 22 * n, "")
            print "]}"
        }' > "$work/$1-$2/rank-0.json"
}

# linear WORDS SHAPE N TENTHS COLLECT - whether twice as many of a shape cost no more than so many tenths of what they cost
# (what grows with the square takes 40); COLLECT: the one function that counts, or nothing for the whole run
linear()
{
    words=$1 shape=$2 n=$3 tenths=$4
    only=${5:+--toggle-collect=$5}
    if ! check "$words: traces are made" eval 'crowd "$shape" "$n" && crowd "$shape" $((2 * n))'; then
        return
    fi
    once=$(count "$shape-$n" run)
    twice=$(count "$shape-$((2 * n))" run)
    start=0
    if [ -z "$only" ]; then
        start=$(start_of run)
    fi
    only=
    if check "$words: is counted" test "${once:-0}" -gt "${start:-0}" -a "${twice:-0}" -gt 0; then
        once=$((once - start)) twice=$((twice - start))
        echo "$words: $((once / n)) instructions for each, $((twice / 2 / n)) where there are twice as many"
        check "$words: $twice at most $tenths tenths of $once" test $((10 * twice)) -le $((tenths * once))
    fi
}

made=yes
check "a tiny trace is made" trace tiny --steps 1 --layers 1 || made=no
check "a trace is made" trace plain --mb 8 || made=no
check "a trace with Python frames is made" trace python --mb 8 --python-share 0.5 --style indent || made=no
check "a trace whose host is too slow is made" trace starved --mb 8 --fault host_late --fault-style launches \
    --fault-rank 0 --fault-share 1.5 || made=no
if [ "$made" = no ]; then
    summary
    exit
fi
limit "check, no Python frames" plain 730 check
limit "check, half Python frames, indented" python 570 check
limit "check, yajl alone" plain 5430 check --parser yajl
limit "run, no Python frames" plain 1770 run
limit "run, half Python frames, indented" python 920 run
whole "run of next to nothing" 51 run
share "classifying idle time, no Python frames" plain 41
share "classifying idle time, host too slow" starved 69
linear "operators nested in a gap" nested 10000 22 idle_per_rank
linear "collectives of hosts" meets 3000 22 idle_per_rank
linear "waits for another device" devices 3000 22 idle_per_rank
# The whole run of few takes less for each: a chunk of a table is not full.
linear "operators nested in a gap, the whole run" nested 10000 30
linear "threads that launch" threads 3000 30
linear "waits that overlap" syncs 3000 30
linear "waits within waits" depth 3000 30
linear "collectives without steps" comms 3000 30
linear "collectives in one step" steps 3000 30
# Jobs of two ranks and more, whose judging is all that grows: many steps, many groups, one rank late in every other step.
if command -v python3 > /dev/null; then
    for shape in steps groups late; do
        check "judging, $shape" python3 "$here/growth.py" "$tlmpi" "$work/growth" 150 "$shape"
    done
    # 32, 128 and 512 ranks.
    check "judging, ranks" python3 "$here/growth.py" "$tlmpi" "$work/growth" 256 ranks
    check "judging, ranks and faults" python3 "$here/growth.py" "$tlmpi" "$work/growth" 256 faults
    check "judging, ranks and experts" python3 "$here/growth.py" "$tlmpi" "$work/growth" 256 experts
    # Groups of 20, 80 and 320 ranks that pass waits on.
    check "delay costs, large groups" python3 "$here/growth.py" "$tlmpi" "$work/growth" 320 mesh:tl_delay_costs_find
    check "clocks of ranks" python3 "$here/growth.py" "$tlmpi" "$work/growth" 256 clocks
else
    skip "judging: there is no python3"
fi
# The limit bites: a byte takes more than a tenth of an instruction.
if check "an absurd limit can be asked" test "${bytes:-0}" -gt 0; then
    check "an absurd limit is not kept" eval '! at_most 10'
fi
summary
