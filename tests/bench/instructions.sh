#!/bin/sh
# instructions.sh TLMPI-SERIAL MAKE_TRACE - reading has not become dearer: instructions a byte of text, by callgrind.
#
# Seconds differ from machine to machine and from minute to minute; this count hardly differs at all.  Start-up, the
# count of an almost empty trace, is left out.  A limit is what was measured (gcc 12, -O2, yajl and HDF5 of Debian 12)
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

# count TRACE COMMAND OPTION... - the instructions of it; nothing when the run or the count fails
count()
{
    path=$work/$1/rank-0.json command=$2
    shift 2
    if [ "$command" = run ]; then
        set -- "$@" -f -o "$work/out"
    fi
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$tlmpi" "$command" -q "$@" "$path" \
        > "$work/stdout" 2> "$work/stderr" && sed -n 's/.* Collected : \([0-9]*\)$/\1/p' "$work/stderr"
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
    start=$(count tiny "$@")
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

made=yes
check "a tiny trace is made" trace tiny --steps 1 --layers 1 || made=no
check "a trace is made" trace plain --mb 8 || made=no
check "a trace with Python frames is made" trace python --mb 8 --python-share 0.5 --style indent || made=no
if [ "$made" = no ]; then
    summary
    exit
fi
limit "check, no Python frames" plain 1250 check --no-filter
limit "check, half Python frames, indented" python 1245 check --no-filter
limit "check, yajl alone" plain 5400 check --no-filter --parser yajl
limit "run, no Python frames" plain 2330 run
# The limit bites: a byte takes more than a tenth of an instruction.
if check "an absurd limit can be asked" test "${bytes:-0}" -gt 0; then
    check "an absurd limit is not kept" eval '! at_most 10'
fi
summary
