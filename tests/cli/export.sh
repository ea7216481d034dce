#!/bin/sh
# export.sh TLMPI MAKE_TRACE - a slice of a job for a viewer: the ranks that matter on one clock, tracks that do not overlap,
# arrows from the last rank to come to those that waited; whole traces in one file; what is asked for, printed and refused.
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
echo "-- traces in place of a result"
"$tlmpi" export job.h5 -f -o of-result.json
status 0 mpirun -q -n 2 "$tlmpi" export late -o - > nothing
"$tlmpi" export late -o of-traces.json
check "their slice is that of their result" cmp of-result.json of-traces.json
status 4 "$tlmpi" export late -o of-traces.json
says err "of-traces.json exists; -f overwrites it"

echo "-- whole traces in one file"
"$tlmpi" export job.h5 --fuse -o fused.json
cp fused.json out
slice "all slices of hosts and devices are there, on one clock, nested, with arrows from calls to their work" "
told, kept = collections.Counter(), collections.Counter(e['cat'] for e in events if e['ph'] == 'X')
for rank in range(8):
    told.update(e.get('cat') for e in json.load(open(f'late/rank-{rank}.json'))['traceEvents'] if e['ph'] == 'X')
for cat in ('cpu_op', 'cuda_runtime', 'user_annotation', 'python_function'):
    assert told[cat] == kept[cat], (cat, told[cat], kept[cat])
assert told['kernel'] == kept['compute'] + kept['comm'], (told, kept)
for key, v in tracks.items():
    v.sort(key=lambda x: (x[0], -x[1]))
    open_to = []
    for a, b, name in v:
        while open_to and open_to[-1] <= a + 1e-6:
            open_to.pop()
        assert not open_to or b <= open_to[-1] + 1e-3, (key, a, b, name)
        open_to.append(b)
s, f = ends('s'), ends('f')
assert s.keys() == f.keys() and all(map(within, s.values())) and all(map(within, f.values()))
assert sum(e['cat'] == 'ac2g' for e in s.values()) > 8
calls = [(s[i]['ts'], f[i]['ts']) for i in s if s[i]['cat'] == 'ac2g']
assert all(a <= b for a, b in calls), [c for c in calls if c[0] > c[1]][:3]"
"$tlmpi" export late --fuse -o - > out
check "of traces the same" cmp fused.json out
"$tlmpi" export job.h5 --fuse --ranks 1,5 --steps 2 --kinds cpu_op,comm --min-us 50 -o - > out
slice "these ranks, steps, kinds and lengths" "
found = [e for e in events if e['ph'] == 'X' and e['cat'] != 'tlmpi_path']
assert {e['cat'] for e in found} == {'cpu_op', 'comm'} and {e['pid'] for e in found} == {1, 5}, {e['cat'] for e in found}
assert min(e['dur'] for e in found if 0 < e['ts']) >= 50 and len(found) < 200, len(found)"
mv late/rank-3.json kept.json
sed 's/"ph": "X"/"ph": "i"/' kept.json | head -n 400 > late/rank-3.json
status 3 "$tlmpi" export job.h5 --fuse -f -o fused.json
says err "rank-3.json has changed since"
mv kept.json late/rank-3.json
mv late later
status 3 "$tlmpi" export job.h5 --fuse -f
says err "name its traces where they are now"
mv later late

echo "-- what cannot be"
status 4 "$tlmpi" export job.h5
status 3 "$tlmpi" export job.h5 -f --steps 99
says err "no rank has work in these steps, or none of these ranks"
status 3 "$tlmpi" export job.h5 -f --ranks 99
status 2 "$tlmpi" export
status 3 "$tlmpi" export nowhere
check "a refusal leaves what was there" test -s job.perfetto.json.gz

summary
