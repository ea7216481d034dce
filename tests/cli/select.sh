#!/bin/sh
# select.sh TLMPI - a run of some ranks, steps or a part of the time: what is left, what is said of it, what is refused.
#
# Prints what failed and, last, "N passed, N failed, N skipped".
# shellcheck source=tests/cli/job.sh
. "$(dirname "$0")/job.sh"

# of TABLE PYTHON - what holds of the rows of the result
of()
{
    "$tlmpi" show traces.h5 "$1" --format json > out
    python "$1: $2" "r = rows(); assert $2, r"
}

echo "-- ranks"
status 0 "$tlmpi" -f --ranks 0,2 traces
says out "2 traces, 2 of 3 ranks"
says out "Selected: ranks 0,2"
of rank "[x['rank'] for x in r] == [0, 2]"
status 0 "$tlmpi" -f -q --ranks 1 traces
of rank "[x['rank'] for x in r] == [1]"
status 0 "$tlmpi" -f -q --ranks=1-2 traces/rank-2.json -o traces
of rank "[x['rank'] for x in r] == [2]"
cp traces.h5 before.h5
status 2 "$tlmpi" -f --ranks 7-9 traces
says err "nothing is selected by ranks 7-9: there are ranks 0-2"
status 2 "$tlmpi" -f --ranks x traces
says err "numbers and ranges"
check "what is refused writes nothing" cmp traces.h5 before.h5

echo "-- steps"
status 0 "$tlmpi" -f --steps 5 traces
says out "Selected: steps 5 "
says out "step 5"
of step "[(x['rank'], x['step']) for x in r] == [(0, 5), (1, 5), (2, 5)]"
of kernel "sum(x['count'] for x in r) == 9"
of breakdown "{x['step'] for x in r} == {-1, 5} and all(x['wall_ns'] == 550000 for x in r if x['rank'] >= 0)"
check "the result has it" h5dump -a /settings traces.h5
status 0 h5dump -a /selection traces.h5
says out '"steps 5"'
status 0 "$tlmpi" -f -q --steps 4,6 --ranks 0-1 traces
of step "[(x['rank'], x['step'], x['start_ns'] % 10**6) for x in r] == [(0, 4, 0), (0, 6, 0), (1, 4, 0), (1, 6, 0)]"
of step "[x['end_ns'] - x['start_ns'] for x in r] == [1000000] * 4"
of collective "len(r) == 2 and all(x['n'] == 2 and x['state'] == 'partial' for x in r)"
status 0 "$tlmpi" -f -q traces
cp traces.h5 whole.h5
status 0 "$tlmpi" -f -q --steps 4-6 --digest traces
cp out selected
status 0 "$tlmpi" show --digest whole.h5
check "all steps of all ranks are everything" cmp out selected
status 2 "$tlmpi" -f --steps 7-9 traces
says err "nothing is selected by steps 7-9: there are steps 4-6"
check "and leaves what there was" test -e traces.h5
status 2 "$tlmpi" -f --steps 5-4 traces
status 2 "$tlmpi" -f --steps 4 --time 2-3 traces
says err "nothing is selected by steps 4; time 2ms-3ms"

echo "-- steps by name"
status 0 "$tlmpi" -f -q --step-name 'Step#[56]' --steps 5-6 traces
of step "[(x['rank'], x['step']) for x in r] == [(k, s) for k in range(3) for s in (5, 6)]"
status 0 "$tlmpi" -f --step-name nothing traces
says err "--step-name: no range of the host has such a name: there are no steps"
of step "r == []"
status 2 "$tlmpi" -f --step-name '(' traces
says err "--step-name: '(' is no pattern"

echo "-- time"
status 0 "$tlmpi" -f --time 1-2 traces
says out "time 1ms-2ms from 1700000000004000000 ns"
of step "[(x['rank'], x['step']) for x in r] == [(0, 5), (1, 5), (2, 5)]"
status 0 "$tlmpi" -f -q --time 1ms-2000us --digest traces
cp out selected
status 0 "$tlmpi" -f -q --steps 5 --digest traces
check "a step's time is the step" cmp out selected
status 0 "$tlmpi" -f -q --time 0-500us,1500us-0.0025s traces
of step "r == []"
of kernel "sum(x['count'] for x in r) == 18"
status 2 "$tlmpi" -f --time 5-6 traces
says err "nothing is selected by time 5ms-6ms"
says err "there are events from 0 to 2.6 ms"
for wrong in x 1- -1 '1-2,' '1-2,,3-4' 1m-2 1e3-2e3 5 1-2-3 99999999999999999999-3; do
    status 2 "$tlmpi" -f "--time=$wrong" traces
    says err "--time takes spans of time"
done
while read -r option wrong fault; do
    status 2 "$tlmpi" -f "--$option=$wrong" traces
    says err "--$option: $fault"
done << 'LIST'
time 2s-1s 2s-1s runs backwards: it ends before it begins
time 0-1,3-3ms 3-3ms is empty: it ends where it begins
steps 1,5-3,7 5-3 runs backwards
ranks 3--1 3--1 runs backwards
ranks 0,-1 -1 is below 0: ranks begin with 0
steps -3-2 -3-2 is below 0: steps begin with 0
LIST
for wrong in x "1," ,1 1,,2 1-2-3 1x 99999999999999999999; do
    status 2 "$tlmpi" -f "--steps=$wrong" traces
    says err "--steps takes numbers and ranges, as 0-3,7, not '$wrong'"
done
for option in ranks steps time; do
    status 2 "$tlmpi" -f "--$option=" traces
    says err "--$option wants a value: --$option=LIST"
done
mkfifo pipe
cat traces/rank-0.json > pipe &
status 2 "$tlmpi" -f --time 1-2 pipe -o piped
says err "can be read but once"
kill $! 2> /dev/null
wait 2> /dev/null

echo "-- parts that select nothing"
# The words are of all ranks, whichever proc read them.
for n in 1 2 3; do
    status 0 mpirun -n "$n" "$tlmpi" -f -o parts --steps=99,5,5,9999999999999 traces
    says err "nothing is selected by steps 99,9999999999999: there are steps 4-6"
    says out "Selected: steps 5 - everything below describes only that; nothing is selected by"
    status 0 mpirun -n "$n" "$tlmpi" -f -o parts --ranks=99,2,0-1,1 traces
    says err "nothing is selected by ranks 99: there are ranks 0-2"
    status 0 mpirun -n "$n" "$tlmpi" -f -o parts --time=30s-40s,0-1s,0.5ms-1.5s,90us-91us traces
    says err "nothing is selected by time 90us-91us,30s-40s: there are events from 0 to 2.6 ms"
done
status 0 h5dump -a /selection parts.h5
says out '"time 0s-1500ms,30s-40s from 1700000000004000000 ns"'
status 0 "$tlmpi" -f -o parts --steps=4-5,7 --ranks 0-1,3 --time 1-2,8-9 traces
says err "nothing is selected by ranks 3; steps 7; time 8ms-9ms: there are ranks 0-2; steps 4-6; events from 0 to 2.6 ms"
says out "Selected: ranks 0-1; steps 5; time 1ms-2ms,8ms-9ms from"
status 0 "$tlmpi" ask parts.h5
says out "ranks 3; steps 7;"
status 0 "$tlmpi" ask --json parts.h5
says out '"selection_notes": "nothing is selected by ranks 3; steps 7; time 8ms-9ms: there are ranks 0-2; steps 4-6;'
status 0 "$tlmpi" -f -o parts --steps=4-99 --ranks 0-7 traces
silent err
status 0 "$tlmpi" ask parts.h5
says out "Selected: ranks 0-2; steps 4-6 - everything below describes only that."

status 2 "$tlmpi" -f -o parts "--steps=$(seq -s , 101 2 999)" traces
says err "nothing is selected by steps 101,103,105,"
says err ",...: there are steps 4-6"

echo "-- what has none of it"
python3 - <<'PYTHON'
import json
trace = json.load(open("traces/rank-1.json"))
trace["traceEvents"] = [e for e in trace["traceEvents"] if e["ts"] < 6000]
json.dump(trace, open("traces/rank-1.json", "w"))
PYTHON
status 0 "$tlmpi" -f --steps 6 traces
says err "rank 1"
says err "nothing of it is selected: it has steps 4-5"
of step "[(x['rank'], x['step']) for x in r] == [(0, 6), (2, 6)]"
status 2 "$tlmpi" check --steps 4 traces
says err "--steps is an option of tlmpi run"
status 0 "$tlmpi" -f -q --steps 5 -o chosen traces
status 0 "$tlmpi" ask chosen.h5
says out "Selected: steps 5 - everything below describes only that."
status 0 "$tlmpi" ask --json chosen.h5
says out '"selection": "steps 5"'
status 0 "$tlmpi" show chosen.h5
says out "Selected: steps 5 - everything below describes only that."
status 0 "$tlmpi" show --format csv chosen.h5
check "rows are rows alone" sh -c '! grep -q Selected out'
status 0 "$tlmpi" html -f -o chosen.html chosen.h5
check "a page says what is selected" grep -q "Selected: steps 5" chosen.html

echo "-- an operator without a name"
mkdir noname
cat > noname/rank-0.json << 'JSON'
{"distributedInfo": {"rank": 0, "world_size": 1}, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 10},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 2, "args": {"correlation": 1}},
{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 20, "dur": 10},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 22, "dur": 2, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 100, "args": {"correlation": 1, "stream": 7, "device": 0}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 105, "dur": 300, "args": {"correlation": 2, "stream": 7, "device": 0}}]}
JSON
status 0 "$tlmpi" -f -q -o traces noname
of operator "[(x['name'], x['device_self_ns']) for x in r] == [(None, 300000), ('a', 100000)]"
mkdir phases
echo '{"duration_ms": 1.25, "micro_step": 0, "name": "training_step", "rank": 3, "step": 7}' > phases/rank_3.jsonl
status 2 "$tlmpi" --steps 7 phases
says err "select from traces"
status 2 "$tlmpi" --ranks 2 phases
says err "nothing is selected by ranks 2: the files of phases have nothing of them"
status 0 "$tlmpi" --ranks 1,3 phases
says out "Selected: ranks 1,3 - everything below describes only that."

echo "-- phases and memory timelines beside traces"
"$tlmpi" -f -q traces
mkdir beside
cp traces/rank-?.json beside
python3 - <<'PYTHON'
import json
for rank in range(4):
    with open(f"beside/rank_{rank}.jsonl", "w") as f:
        for step in range(3, 9):
            f.write(json.dumps(dict(name="train", rank=rank, step=step, micro_step=0, duration_ms=1.5)) + "\n")
open("beside/rank_0.raw.json", "w").write("[[-1, 1, 5, 0], [1700000000004100000, 2, 7, 0]]")
PYTHON
for n in 1 2; do
    status 0 mpirun -n "$n" "$tlmpi" -f --steps 4-5 --ranks 0-1 -o traces beside
    of phase_step "sorted({(x['rank'], x['step']) for x in r}) == [(0, 4), (0, 5), (1, 4), (1, 5)]"
    of side_file "[x['entries'] for x in r if x['kind'] == 'phases'] == [6] * 4"
    status 0 mpirun -n "$n" "$tlmpi" -f --steps 5,8 -o traces beside
    says err "nothing of the traces is selected by steps 8: there are steps 4-6; memory timelines are whole"
    of phase_step "{x['step'] for x in r} == {5, 8}"
    status 0 mpirun -n "$n" "$tlmpi" -f --time 1-2 -o traces beside
    says err "phases are of any time, which their files do not tell; memory timelines are whole"
    of phase_step "{x['step'] for x in r} == set(range(3, 9))"
done
sed -i '/"step": 5/d' beside/rank_?.jsonl
status 0 "$tlmpi" -f --steps 5 -o traces beside
says err "the files of phases have nothing of it"
of phase_step "r == []"
status 0 "$tlmpi" describe selection
says out "--steps LIST"
summary
