#!/bin/sh
# whatif.sh TLMPI - the job replayed with what a user names otherwise: what is asked for, printed and refused.
#
# Prints what failed and, last, "N passed, N failed, N skipped".
# shellcheck source=tests/cli/job.sh
. "$(dirname "$0")/job.sh"

# whatif PYTHON OPTION... - PYTHON holds for o, the answer as JSON
whatif()
{
    holds=$1
    shift
    status 0 "$tlmpi" whatif -q traces --format json "$@"
    python "$holds" "
import json
o = json.loads(out)
assert $holds, o"
}

echo "-- changes"
whatif "[(c['place'], c['gain_ns'], c['pieces']) for c in o['change']] == [(1, 0, 9)]" --scale 'name~gemm:1'
whatif "o['change'][0]['pieces'] == 3 and o['change'][0]['change'].startswith('--scale rank=1')" --scale 'rank=1,kind=compute:0.5'
whatif "o['change'][0]['pieces'] == 1 and o['change'][0]['own_ns'] == 320000" --scale 'rank=2,step=5,name~gemm:0.5'
whatif "[c['place'] for c in o['change']] == [1, 2, 3, 4, 0]" --scale 'kind=copy:0' --remove-sync --no-launch-overhead \
    --overlap kind=all_reduce
whatif "o['change'][-1]['time_ns'] == sum(s['time_ns'] for s in o['step']) == sum(p['time_ns'] for p in o['path'])" \
    --scale 'name~gemm:0.5' --overlap kind=comm
whatif "o['change'][0]['gain_ns'] > 0 and sum(s['recorded_ns'] - s['time_ns'] for s in o['step']) == o['change'][0]['gain_ns']" \
    --scale 'name~gemm:0.5'
whatif "[(s['recorded_bound'], s['bound'], s['unsure']) for s in o['step']][2] == ('compute', 'launch_overhead', 0)" \
    --scale kind=compute:0
whatif "list(o) == ['top'] and len(o['top']) == 2 and o['top'][0]['gain_ns'] >= o['top'][1]['gain_ns']" --top 2

status 0 "$tlmpi" whatif -q traces --format json --scale 'name~gemm:0.5'
cp out long
status 0 "$tlmpi" whatif -q traces --json --scale 'name~gemm:0.5'
check "--json is short for --format json" cmp out long

echo "-- what is printed"
status 0 "$tlmpi" whatif traces --scale 'name~gemm:0.5'
says out "Replayed without a change: the same"
says out "With all changes"
says out "Not modelled"
check "no rank is missing" sh -c "! grep -q 'as before' out"
status 0 "$tlmpi" whatif traces --ranks 0 --scale 'name~gemm:0.5'
says out "as before: no trace of"
status 1 "$tlmpi" whatif traces --scale 'name=nothing:0.5' --scale 'name~gemm:0.5'
says err "nothing in these traces is selected by: --scale name=nothing:0.5"
says out "With all changes"
for table in change step path top; do
    status 0 "$tlmpi" describe "whatif_$table"
    cp out page
    "$tlmpi" whatif -q traces --scale kind=copy:0 --top 3 --format csv > all
    check "every column of $table has its line" sh -c "sed -n '/^# whatif_$table\$/{n;s/,/\n/gp}' all > columns; test -s columns && while read -r c; do grep -q \"^  \$c \" page || exit 1; done < columns"
done
check "no file is written" test ! -e traces.h5

echo "-- what is refused"
status 2 "$tlmpi" whatif traces
says err "name a change"
status 2 "$tlmpi" whatif traces --scale 'name~gemm'
says err "ends in no factor"
status 2 "$tlmpi" whatif traces --scale 'kind=gemm:0.5'
says err "there is no kind 'gemm'"
status 2 "$tlmpi" whatif traces --overlap 'colour=red'
says err "expected KEY=TEXT"
"$tlmpi" -q --reproducible traces
status 2 "$tlmpi" whatif traces.h5 --remove-sync
says err "does not say which traces it was made of"
status 3 "$tlmpi" whatif hopeless --remove-sync
status 1 "$tlmpi" whatif cut --remove-sync

echo "-- of a result"
mkdir elsewhere
(cd elsewhere && "$tlmpi" -q --steps 5 -o result ../traces)
"$tlmpi" whatif -q traces --steps 5 --top 2 > of_traces
status 0 "$tlmpi" whatif -q elsewhere/result.h5 --top 2
check "its traces are read again, with its options" cmp of_traces out
"$tlmpi" whatif -q traces --steps 4 --top 2 > of_traces
status 0 "$tlmpi" whatif -q elsewhere/result.h5 --steps 4 --top 2
check "an option that is given counts" cmp of_traces out
status 2 "$tlmpi" whatif elsewhere/result.h5 traces --top 2
says err "one result file, or traces"
echo '[{"contains": "nothing", "kind": "memset"}]' > elsewhere/rules.json
(cd elsewhere && "$tlmpi" -q --rules rules.json -o ruled ../traces 2> /dev/null)
status 0 "$tlmpi" whatif -q elsewhere/ruled.h5 --top 2
cp -r traces folder.h5
status 0 "$tlmpi" whatif -q folder.h5 --steps 4 --top 2
check "a folder is no result, whatever it is called" cmp of_traces out
cp -r traces moved
"$tlmpi" -q -o moved moved
rm -r moved
status 3 "$tlmpi" whatif moved.h5 --top 2
says err "moved: No such file"

cp -r traces changing
"$tlmpi" -q -o changing changing
status 0 "$tlmpi" whatif -q changing.h5 --top 2
sed -i 's/"dur": 3/"dur": 4/' changing/*0.json
status 3 "$tlmpi" whatif changing.h5 --top 2
says err "the trace of rank 0 has changed since changing.h5 was made: it has"
status 0 "$tlmpi" whatif -q changing --top 2
sed -i 's/"dur": 4/"dur":  4/' changing/*0.json
status 3 "$tlmpi" whatif changing.h5 --top 2 --steps 5
says err "the trace of rank 0 has changed since changing.h5 was made: it has"
status 0 "$tlmpi" whatif -q changing.h5 --top 2 --ranks 1-2
rm changing/*0.json
status 3 "$tlmpi" whatif changing.h5 --top 2
says err "rank 0 has no trace, unlike when changing.h5 was made"

echo "-- any number of procs"
"$tlmpi" whatif -q traces --scale 'name~gemm:0.5' --scale kind=comm:0.3 --overlap kind=all_reduce --top 4 --format json > one
if ! command -v mpirun > /dev/null || mpirun -n 2 "$tlmpi" --version 2>&1 | grep -q "built without MPI"; then
    skip "no mpirun, or a program built without MPI"
else
    for n in 2 3 5; do
        mpirun -n "$n" "$tlmpi" whatif -q traces --scale 'name~gemm:0.5' --scale kind=comm:0.3 --overlap kind=all_reduce --top 4 \
            --format json > many 2> err
        check "$n procs say the same" cmp one many
    done
fi

summary
