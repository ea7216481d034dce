#!/bin/sh
# export.sh TLMPI MAKE_TRACE - a slice of a job for a viewer: the ranks that matter on one clock, tracks that do not overlap,
# arrows from the last rank to come to those that waited; what is asked for, printed and refused.
#
# Prints what failed and, last, "N passed, N failed, N skipped".
make_trace=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
# shellcheck source=tests/cli/job.sh
. "$(dirname "$0")/job.sh"

# slice WHAT PYTHON - the trace in `out` is as the statements say
slice()
{
    check "$1" /usr/bin/python3 - "$2" << 'PYTHON'
import collections, gzip, json, sys
data = open("out", "rb").read()
trace = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
events = trace["traceEvents"]
tracks = collections.defaultdict(list)
for e in events:
    if e["ph"] == "X":
        assert e["ts"] >= 0 and e["dur"] >= 0, e
        tracks[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"], e["name"]))
processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
def ends(ph): return {e["id"]: e for e in events if e["ph"] == ph}
def within(e): return any(a - 1e-6 <= e["ts"] <= b + 1e-6 for a, b, _ in tracks[e["pid"], e["tid"]])
exec(sys.argv[1])
PYTHON
}

"$make_trace" -o late --ranks 8 --gpus 4 --tp 2 --steps 6 --clock-offset-us 2000 --fault compute_slow --fault-rank 5 \
    --fault-cost 0.3 > /dev/null
"$tlmpi" -q -o job late

echo "-- the worst step"
"$tlmpi" export job.h5 --perfetto
check "it has the result's name" test -s job.perfetto.json.gz
cp job.perfetto.json.gz out
"$tlmpi" -q -o with late --perfetto --html
check "with the run it is the same" sh -c 'gzip -dc with.perfetto.json.gz > a && gzip -dc job.perfetto.json.gz > b && cmp a b && test -s with.html'
slice "each rank is a process, and the late one is told" "
assert len(processes) == 9 and 'critical path of the job' in processes.values(), processes
assert processes[5].endswith('<- straggler') and sum('straggler' in p for p in processes.values()) == 1, processes"
slice "slices of a track do not overlap" "
for key, v in tracks.items():
    v.sort()
    assert all(b[0] >= a[1] - 1e-6 for a, b in zip(v, v[1:])), key"
slice "others wait for the late rank, and arrows lead from it to them" "
waits = collections.Counter()
for e in events:
    if e['name'].startswith('waits for rank'):
        waits[e['name'].split(':')[0]] += e['dur']
assert waits and max(waits, key=waits.get) == 'waits for rank 5', waits
s, f = ends('s'), ends('f')
assert s and s.keys() == f.keys() and all(map(within, s.values())) and all(map(within, f.values()))
assert any(s[i]['pid'] == 5 and f[i]['pid'] != 5 for i in s)"
slice "clocks are corrected: waits, on the job's clock, begin with a kernel of the rank" "
kernels = collections.defaultdict(list)
for e in events:
    if e['ph'] == 'X' and e.get('cat') == 'comm':
        kernels[e['pid']].append(e['ts'])
for e in events:
    if e['name'].startswith('waits for rank') and e['ts'] > 0:
        assert min(abs(e['ts'] - ts) for ts in kernels[e['pid']]) < 2, e"
slice "the critical path is mostly on the late rank" "
path = [v for k, v in tracks.items() if processes[k[0]] == 'critical path of the job'][0]
assert sum(b - a for a, b, name in path if name == 'on rank 5') > 0.5 * sum(b - a for a, b, name in path), path"

echo "-- what is asked for"
"$tlmpi" export job.h5 --ranks 1,5 --steps 2-3 -o - > out
slice "these ranks and steps" "
assert sorted(processes)[:2] == [1, 5] and len(processes) == 3, processes
assert {e['args']['step'] for e in events if e['ph'] == 'X' and 'step' in e.get('args', {})} >= {2, 3}"
status 4 "$tlmpi" export job.h5
status 3 "$tlmpi" export job.h5 -f --steps 99
says err "no rank has work in these steps, or none of these ranks"
status 3 "$tlmpi" export job.h5 -f --ranks 99
status 2 "$tlmpi" export
status 3 "$tlmpi" export late/rank-0.json
check "a refusal leaves what was there" test -s job.perfetto.json.gz

summary
