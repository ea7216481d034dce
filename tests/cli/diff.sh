#!/bin/sh
# diff.sh TLMPI [MAKE_TRACE] - two runs compared: what is said, what is printed in which format, what passes a threshold, what is
# refused; of jobs made small here, simulated, and recorded (TLMPI_CORPUS).
#
# Prints what failed and, last, "N passed, N failed, N skipped".
make_trace=${2:+$(cd "$(dirname "$2")" && pwd)/$(basename "$2")}
# shellcheck source=tests/cli/job.sh
. "$(dirname "$0")/job.sh"

# The same job, in which a kernel takes half as long again, and a copy is gone.
python3 - <<'PYTHON'
import json, os
os.mkdir("slower")
for rank in range(3):
    trace = json.load(open(f"traces/rank-{rank}.json"))
    for event in trace["traceEvents"]:
        if event["cat"] == "kernel" and event["name"].startswith("gemm"):
            event["dur"] *= 1.5
    trace["traceEvents"] = [e for e in trace["traceEvents"] if not e["name"].startswith("Memcpy")]
    json.dump(trace, open(f"slower/rank-{rank}.json", "w"))
PYTHON
status 0 "$tlmpi" -q traces
status 0 "$tlmpi" -q slower

echo "-- what is said"
status 0 "$tlmpi" diff traces.h5 slower.h5
says out "B takes as long as A per step: 1.00 ms in A, 1.00 ms in B"
says out 'in `gemm<"a,b", 1>'
says out "(each takes 1.5 times as long)"
says out 'gone: 1 `Memcpy DtoH (Device -> Pageable)` per step'
cp out text
export TMPDIR="$PWD"
status 0 "$tlmpi" diff traces traces.h5
check "nothing is named where nothing differs" test "$(sed '/^diff_run$/q' out | grep -c '^ ')" -eq 1
status 0 "$tlmpi" diff traces slower
check "traces give what their results give" sh -c 'sed "/^diff_run/,/^$/d" text > a; sed "/^diff_run/,/^$/d" out > b; cmp a b'
check "no file is left" test -z "$(find . -maxdepth 1 -name 'tlmpi-diff-*')"
unset TMPDIR
status 0 mpirun -q -n 3 "$tlmpi" diff traces slower
check "with three procs, too" sh -c 'sed "/^diff_run/,/^$/d" out > b; cmp a b'

# Of a folder with two runs the newest is compared, which is said.
two_runs
status 0 "$tlmpi" diff traces.h5 runs
says out "run: the only one in A, 2 of 2 (alone compared) in B."
status 0 "$tlmpi" diff traces.h5 runs --run 1
says out "run: the only one in A, 1 of 2 (alone compared) in B."
status 0 "$tlmpi" diff runs runs --run 1,newest
says out "run: 1 of 2 (alone compared) in A, 2 of 2 (alone compared) in B."
status 2 "$tlmpi" diff traces.h5 runs --run list
says err "--run takes a number from 1 or 'newest', or two such, as 1,2, not 'list'"

echo "-- tables"
status 0 "$tlmpi" diff traces.h5 slower.h5 diff_step --format json
python "parts sum up" "
r = rows()
assert r[0]['part'] == 'step' and sum(x['change_ns'] for x in r[1:]) == r[0]['change_ns'], r
assert {x['part']: x['change_ns'] for x in r}['compute'] == 155000, r"
status 0 "$tlmpi" diff traces.h5 slower.h5 --json
python "one object" "
r = rows()
assert list(r) == ['diff', 'diff_run', 'diff_step', 'diff_breakdown', 'diff_kernel', 'diff_operator', 'diff_call_path',
                   'diff_collective', 'diff_idle'], list(r)
k = {x['name'][:6]: x for x in r['diff_kernel']}
assert k['gemm<\"']['change'] == 'time' and k['Memcpy']['change'] == 'removed', k
assert [x['step_ns'] for x in r['diff_breakdown']] == [0, 0, 0], r['diff_breakdown']"
status 0 "$tlmpi" diff traces.h5 slower.h5 --format csv -o tables.csv
silent out
check "each table has its name" test "$(grep -c '^# diff' tables.csv)" -eq 9
status 4 "$tlmpi" diff traces.h5 slower.h5 -o tables.csv
status 4 "$tlmpi" diff traces hopeless -o tables.csv
status 3 "$tlmpi" diff traces hopeless -o never.csv
check "nothing is left of what is not printed" test -z "$(ls never.csv* 2> /dev/null)"
status 2 "$tlmpi" diff -f traces.h5 traces/rank-0.json -o traces/rank-0.json
status 0 "$tlmpi" diff -f traces.h5 slower.h5 -o tables.csv

echo "-- thresholds"
status 5 "$tlmpi" diff traces.h5 slower.h5 --fail-on 'step>+5%,kernel>+20%'
says err "tlmpi: --fail-on kernel>+20%: +50.0 %"
lines 1 err
status 0 "$tlmpi" diff traces.h5 slower.h5 --fail-on 'kernel>+60%,idle>+3%'
silent err
status 5 "$tlmpi" diff traces.h5 slower.h5 --fail-on 'compute > + 10%'
says err "--fail-on compute>+10%: +15.5 %"
for gates in step 'step>5' 'link>5%' 'step>5%,step>6%'; do
    status 2 "$tlmpi" diff traces.h5 slower.h5 --fail-on "$gates"
    says err "--fail-on takes NAME>+PERCENT%,... with step, kernel"
done

mkdir lacking
cp traces/rank-0.json traces/rank-1.json lacking
status 1 "$tlmpi" diff traces lacking --fail-on 'waiting>+0%,comm>+50%'
says err "--fail-on waiting>+0%: not judged: between"

echo "-- what is refused"
status 2 "$tlmpi" diff traces.h5
says err "two runs are compared: tlmpi diff A B [TABLE]"
status 2 "$tlmpi" diff traces.h5 slower.h5 diff_kernels
says err "did you mean diff_kernel?"
status 3 "$tlmpi" diff traces.h5 nowhere.h5
says err "nowhere.h5"
status 3 "$tlmpi" diff traces.h5 hopeless
mkdir phases
echo '{"duration_ms": 1.25, "name": "training_step", "rank": 0, "step": 7}' > phases/cuda_events_rank_0.jsonl
status 3 "$tlmpi" diff traces.h5 phases
says err "phases: no kernel or copy of a device: only traces are compared, not durations of phases"
mkdir host
echo '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 5, "dur": 2}]}' > host/rank0.json
status 3 "$tlmpi" diff traces.h5 host
says err "host: no kernel or copy of a device: of a trace the device work is compared, and this one has only the host's"
status 1 "$tlmpi" diff -q traces.h5 cut
silent err
says out "damaged traces: 0 ranks in A, 1 rank in B; times may differ for that alone."

# job NAME OPTION... - a simulated job of that name, as a result
job()
{
    name=$1
    shift
    "$make_trace" -o "$name.d" "$@" > /dev/null && "$tlmpi" -q -o "$name" "$name.d" && rm -r "$name.d"
}

# verdict - what is named stands alone in `out`, without the tables
verdict() { sed '/^diff_run$/,$d' out > named && mv named out; }

echo "-- simulated jobs"
if [ -n "$make_trace" ]; then
    job base --ranks 8 --steps 8 --seed 11
    job again --ranks 8 --steps 8 --seed 12
    job late --ranks 8 --steps 8 --seed 13 --fault compute_slow --fault-rank 3 --fault-cost 0.08
    job larger --ranks 8 --steps 8 --seed 14 --scale 110
    job more --ranks 16 --steps 8 --seed 15
    status 0 "$tlmpi" diff base.h5 again.h5
    verdict
    says out "No significant difference of the step"
    lines 3 out
    status 0 "$tlmpi" diff base.h5 late.h5
    verdict
    says out "more time per step"
    says out "most of it for rank 3,"
    status 0 "$tlmpi" diff late.h5 base.h5
    says out "less time per step"
    says out "most of it for rank 3,"
    status 0 "$tlmpi" diff base.h5 larger.h5
    verdict
    says out "copy to the device: 16777216 bytes in A"
    says out "in compute (nearly all kernels take 1.1 times as long)"
    status 0 "$tlmpi" diff base.h5 more.h5
    says out "world size: 8 in A, 16 in B"
    says out "in transfer of all_reduce of ranks 0-15"
    status 0 "$tlmpi" diff base.h5 more.h5 diff_breakdown --format json
    python "ranks by what they do" "r = rows(); assert [(x['a_ranks'], x['b_ranks']) for x in r] == [('0-7', '0-15')], r"
else
    skip "no make_trace"
fi

echo "-- recorded jobs"
traces=${TLMPI_CORPUS:-}/traces
if [ -d "$traces/production_st" ]; then
    status 0 "$tlmpi" diff "$traces/production_st" "$traces/production_st_x1.2"
    says out "B takes 12.2 % more time per step"
    says out "reduce_scatter (data) and others, most of it for"
    status 0 "$tlmpi" diff "$traces/production_ar" "$traces/production_ar_x1.3"
    says out "B takes 37.8 % less time per step"
    says out "reduce_scatter (data) and others, most of it for"
    status 0 "$tlmpi" diff "$traces/torchrec_optimizer_4" "$traces/torchrec_optimizer_5"
    says out "3 and 3 steps: too few"
    status 0 "$tlmpi" diff "$traces/h100_falconsai" "$traces/mi300_falconsai"
    says out "device: NVIDIA H100 80GB HBM3 in A, AMD Instinct MI300X VF in B"
    says out "replaced by \`attn_fwd\` of aten::_flash_attention_forward"
    for folder in "$traces"/*/; do
        "$tlmpi" -f -q -o one "$folder" 2> /dev/null || [ $? -eq 1 ] || continue
        "$tlmpi" diff one.h5 one.h5 --json > out 2> err || {
            check "$folder has no device work" test $? -eq 3
            continue
        }
        python "$folder does not differ from itself" "
t = rows()
assert len(t['diff']) == 1 and all(x['change_ns'] == 0 for x in t['diff_step']), t['diff']
assert all(x['change'] == 'same' for k in t for x in t[k] if k not in ('diff', 'diff_run') and 'change' in x)"
    done
else
    skip "TLMPI_CORPUS does not name a folder with traces/production_st"
fi
summary
