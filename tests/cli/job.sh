# job.sh - what the tests of the command line share: three small ranks, made in a folder of its own, and words for what a command
# should say.  $1 is the program.
# shellcheck shell=sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
. "$here/../lib.sh"
# shellcheck disable=SC2034  # for the scripts
tlmpi=$(program "${1:?usage: $0 TLMPI}") || exit 2
work=$(scratch)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mpi_settings
cd "$work" || exit 2

# Three ranks, three steps of 1 ms; in each a kernel whose name is hard to print, an all-reduce half under it, and a copy.
python3 - <<'PYTHON'
import json, os
os.mkdir("traces")
for rank in range(3):
    events = []
    def add(cat, name, ts, dur, **args):
        events.append(dict(ph="X", cat=cat, name=name, pid=rank, tid=args.get("stream", 1), ts=ts, dur=dur, args=args))
    for step in range(4, 7):
        t = step * 1000
        add("user_annotation", f"ProfilerStep#{step}", t, 1000)
        for k, (cat, name, start, dur, stream) in enumerate([
                ("kernel", 'gemm<"a,b", 1>\tn\u00e9', 100, 300 + 10 * rank, 7),
                ("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 300, 200, 20),
                ("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 600, 50, 7)]):
            correlation = step * 10 + k
            add("cuda_runtime", "cudaLaunchKernel", t + 10 + k, 5, correlation=correlation)
            add(cat, name, t + start, dur, device=rank, stream=stream, correlation=correlation)
    with open(f"traces/rank-{rank}.json", "w") as f:
        json.dump(dict(schemaVersion=1, distributedInfo=dict(backend="nccl", rank=rank, world_size=3),
                       baseTimeNanoseconds=1700000000000000000, traceEvents=events, traceName="t"), f)
os.mkdir("cut")
for rank in range(3):
    text = open(f"traces/rank-{rank}.json").read()
    open(f"cut/rank-{rank}.json", "w").write(text if rank != 1 else text[:len(text) // 2])
os.mkdir("empty")
os.mkdir("hopeless")
open("hopeless/rank-0.json", "w").close()
PYTHON

# status WANT COMMAND... - the exit status; what it says goes to out and err
status()
{
    want=$1
    shift
    "$@" > out 2> err
    got=$?
    check "status $want of: $*" test "$got" -eq "$want" || { echo "  got $got"; head -3 err; }
}

# says FILE TEXT / silent FILE / lines N FILE - what stands in out or err
says() { check "says '$2'" grep -qF -- "$2" "$1" || head -5 "$1"; }
silent() { check "$1 is silent" test ! -s "$1" || head -5 "$1"; }
lines() { check "$1 lines in $2" test "$(wc -l < "$2")" -eq "$1" || head -20 "$2"; }

# python WHAT CODE - a check in Python; out is the text of the last command, rows() what it holds as JSON
python()
{
    check "$1" python3 -c "
import csv, io, json
out = open('out', newline='').read()
def rows(): return json.loads(out)
$2"
}

# Two runs of the job in one folder, the second later.
two_runs()
{
    mkdir -p runs/one runs/two
    cp traces/rank-*.json runs/one
    for rank in 0 1 2; do
        sed 's/"baseTimeNanoseconds": 17/"baseTimeNanoseconds": 18/' "traces/rank-$rank.json" > "runs/two/rank-$rank.json"
    done
}
