#!/bin/sh
# cli.sh TLMPI - the command line from end to end: statuses, help, suggestions, show in all its formats, nothing said twice
# under mpirun.
#
# The traces are made here, three small ranks.  Prints what failed and, last, "N passed, N failed, N skipped".
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
. "$here/lib.sh"
tlmpi=$(program "${1:?usage: cli.sh TLMPI}") || exit 2
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

echo "-- help, version, usage"
status 0 "$tlmpi" --version
python "one line with a version" "import re; assert re.fullmatch(r'tlmpi \d+\.\d+\.\d+\n', out), out"
silent err
for command in run check show ask describe augment compat; do
    status 0 "$tlmpi" "$command" --help
    says out "tlmpi $command"
    says out "Exit status"
    check "help of $command fits 80 columns" awk 'length > 80 { exit 1 }' out
done
status 0 "$tlmpi" --help
says out "--reproducible"
check "the help fits 80 columns" awk 'length > 80 { exit 1 }' out
cp out helped
status 0 "$tlmpi" help
check "the word help is --help" cmp out helped
rm helped
status 0 "$tlmpi" help show
says out "tlmpi show"
status 0 "$tlmpi" -h
for word in run check show ask describe compat; do
    says out "$word"
done
status 2 "$tlmpi"
silent out
says err "no traces named"
status 2 "$tlmpi" shwo x.h5
says err "did you mean tlmpi show?"
status 2 "$tlmpi" show --fromat=csv x.h5
says err "did you mean --format?"
status 2 "$tlmpi" --top=3 traces
says err "--top is an option of tlmpi show"
status 2 "$tlmpi" --no-such-thing traces
says err "there is no option --no-such-thing"
status 2 "$tlmpi" -X traces
status 2 "$tlmpi" traces --force=yes
status 2 "$tlmpi" traces -o
says err "--output wants a value"
for option in output rules run idle fail-on; do
    status 2 "$tlmpi" traces "--$option" ""
    says err "--$option wants a value"
done
status 2 "$tlmpi" show x.h5 breakdown --rank ""
says err "--rank wants a value"
status 2 "$tlmpi" show x.h5 breakdown -o ""
says err "--output wants a value"
status 2 "$tlmpi" traces --output --force
says err "--output wants a value"
status 2 "$tlmpi" traces --run=0
says err "--run takes"
status 2 "$tlmpi" show x.h5 breakdown --rank=3-1
status 2 "$tlmpi" show x.h5 breakdown --format=xml
says err "--format takes table, csv"
status 2 "$tlmpi" compat htaa traces -o d
says err "did you mean hta?"
status 2 "$tlmpi" compat hta traces
says err "-o DIR"
status 2 "$tlmpi" compat hta diff a b -o d
says err "this version has no compat hta diff yet"
silent out
status 2 "$tlmpi" compat hta traces -o -
says err "expected DIR"
status 2 "$tlmpi" diff a.h5 b.h5
says err "this version has no tlmpi diff yet"
status 2 "$tlmpi" ask
says err "no result file named: tlmpi ask FILE.h5"
status 2 "$tlmpi" ask a.h5 b.h5
says err "one file at a time"
for gates in straggler 'straggler>5' 'waiting>5%' 'straggler>5%,straggler>6%'; do
    status 2 "$tlmpi" traces --fail-on "$gates"
    says err "--fail-on takes NAME>PERCENT%,... with straggler, link, idle or comm for NAME"
done
sed -n 's/.*(j, "\([a-z_]*\)".*/\1/p' "$here/../src/report/ask/json.c" | sort -u > keys
while read -r key; do
    check "ask.h explains the key $key" grep -qw "$key" "$here/../include/tlmpi/report/ask.h"
done < keys
rm keys
status 2 "$tlmpi" traces --json --digest
says err "--json and --digest both want standard output"
for output in - . no/where/ ..; do
    status 2 "$tlmpi" traces -o "$output"
    says err "tlmpi: -o $output: "
done
status 2 "$tlmpi" nowhere/at/all -o -
check "a refused command leaves nothing behind" test "$(ls)" = "$(printf 'cut\nempty\nerr\nhopeless\nout\ntraces')"

echo "-- run"
status 0 "$tlmpi" traces
says out "3 traces, 3 of 3 ranks"
says out "3 steps (4-6)"
says out "Next: tlmpi ask traces.h5"
check "the summary fits 80 columns" awk 'length > 80 { exit 1 }' out
check "no escape sequences in a file" sh -c '! grep -q "$(printf "\033")" out'
status 4 "$tlmpi" traces
says err "-f"
status 0 "$tlmpi" run -f traces
status 0 "$tlmpi" -f -o other traces/
check "PREFIX.h5 is written" test -s other.h5
status 0 "$tlmpi" -fo third -- traces
check "-fo PREFIX" test -s third.h5
status 1 "$tlmpi" cut
says out "rank 1"
status 3 "$tlmpi" empty
status 3 "$tlmpi" hopeless
status 3 "$tlmpi" nowhere/at/all
echo '{"hello": 1}' > hello.json
mkdir greetings && cp hello.json greetings && cp -r traces mixed && cp hello.json mixed
for vain in nowhere.json empty hello.json greetings /dev/null; do
    status 1 "$tlmpi" -f -o other traces "$vain"
    says err ": $vain: "
    says out "3 traces, 3 of 3 ranks"
    status 1 "$tlmpi" check traces "$vain"
    says err ": $vain: "
done
status 1 "$tlmpi" augment -o other traces hello.json empty
says err "empty: expected traces"
status 1 "$tlmpi" compat hta -o tables traces hello.json
status 3 "$tlmpi" -f -o other empty nowhere.json hello.json
says err ": nowhere.json: "
status 0 "$tlmpi" -f -o other mixed
says err "left alone: mixed/hello.json: "
rm -r hello.json greetings mixed other tables
status 4 "$tlmpi" traces -o nowhere/at/all
check "no file of a run that failed" test ! -e hopeless.h5 -a ! -e empty.h5
mkdir show && cp traces/rank-0.json show
status 2 "$tlmpi" show
status 0 "$tlmpi" ./show
check "./show names a folder" test -s show.h5
(cd traces && "$tlmpi" . > /dev/null 2>&1)
check ". writes tlmpi.h5" test -s traces/tlmpi.h5
rm -f traces/tlmpi.h5
status 0 "$tlmpi" check traces
says out "rank-2.json"
check "check writes nothing" test ! -e check.h5
mkdir -p runs/one runs/two
cp traces/rank-*.json runs/one
for rank in 0 1 2; do
    sed 's/"baseTimeNanoseconds": 17/"baseTimeNanoseconds": 18/' "traces/rank-$rank.json" > "runs/two/rank-$rank.json"
done
status 0 "$tlmpi" --run list runs
lines 3 out
cp out listed
status 0 "$tlmpi" check --run list runs
check "check lists the runs, too" cmp listed out
status 0 "$tlmpi" check --run 1 runs
says out "runs/one/rank-2.json"
rm listed
# A rank and a world that stand behind the events are known once these have been read; of two the first counts.
mkdir behind
python3 - <<'PYTHON'
import gzip, json
trace = json.load(open("traces/rank-0.json"))
events = trace.pop("traceEvents")
told = lambda rank, world: '"distributedInfo": {"rank": %d, "world_size": %d}' % (rank, world)
text = '{"traceEvents": %s, %%s, "traceName": "t"}' % json.dumps(events)
open("behind/one.json", "w").write(text % told(5, 8))
gzip.open("behind/one.json.gz", "wt").write(text % told(5, 8))
open("behind/two.json", "w").write(text % (told(1, 4) + ", " + told(6, 16)))
open("behind/both.json", "w").write("{" + told(2, 4) + ", " + text[1:] % told(7, 16))
PYTHON
for trace in one.json one.json.gz; do
    for procs in 1 3; do
        status 0 mpirun -n "$procs" "$tlmpi" -f -o behind/result "behind/$trace"
        says out "1 trace, 1 of 8 ranks"
        says out "No trace of 7 ranks: 0-4, 6-7"
    done
done
status 0 "$tlmpi" check behind/one.json
says out "7 of 8 ranks have no trace here"
for traces in behind/two.json behind/both.json "behind/two.json behind/both.json"; do
    # shellcheck disable=SC2086  # one file or two
    status 0 "$tlmpi" -f -o behind/result $traces
    says out "of 4 ranks"
    status 0 "$tlmpi" show behind/result.h5 rank --columns rank,world_size --format csv
    check "the rank table has the first, too: $traces" sh -c '! grep -qvE "rank|^[12],4" out'
done

# A pipe has no name of its own: neither rank 63 nor 63.h5.  Several count in the order in which they are named.
sed 's/"distributedInfo": {[^}]*}, //' traces/rank-0.json > behind/nobody.json
mkfifo 63 62
cat behind/nobody.json > ./63 &
status 0 "$tlmpi" ./63
check "a pipe: tlmpi.h5" test -s tlmpi.h5 -a ! -e 63.h5
says out "1 trace, 1 of 1 rank,"
status 0 "$tlmpi" -f /dev/fd/9 9< behind/one.json
says out "1 trace, 1 of 8 ranks"
check "what is open: tlmpi.h5" test ! -e 9.h5
status 0 "$tlmpi" -f /dev/fd/9 9< behind/nobody.json
status 0 "$tlmpi" show tlmpi.h5 rank --columns rank,rank_from --format csv
says out "0,order"
cat traces/rank-1.json > ./62 & cat traces/rank-0.json > ./63 &
status 0 "$tlmpi" -f -o behind/result ./63 ./62
says out "2 traces, 2 of 3 ranks"
status 0 "$tlmpi" show behind/result.h5 rank --columns rank,file --format csv
says out "0,63"
says out "1,62"
cat traces/rank-2.json > ./62 & cat traces/rank-0.json > ./63 &
status 0 "$tlmpi" -f -o behind/result ./63 ./62
says err "62: counts as rank 1 by its place among the paths; the trace calls itself rank 2"
rm -r behind 62 63 tlmpi.h5
mkdir host_only
sed 's/"kernel"/"cpu_op"/g; s/"gpu_memcpy"/"cpu_op"/g' traces/rank-0.json > host_only/rank-0.json
status 0 "$tlmpi" host_only
says out "Next: tlmpi show host_only.h5 rank"
status 0 "$tlmpi" show host_only.h5 rank --columns status --format csv
says out "no_gpu_events"
status 0 "$tlmpi" check host_only
says out "no_gpu_events"

ln -s rank-1.json traces/newest.json
status 0 "$tlmpi" -f traces traces/rank-0.json
says err "traces/rank-0.json is named more than once: it is read once"
says err "traces/newest.json is another name of traces/rank-1.json: the file is read once"
says out "3 traces, 3 of 3 ranks"
rm traces/newest.json tlmpi.h5
deep=$(printf 'folder%02d/' $(seq 1 40))
mkdir -p "$deep" && cp traces/rank-1.json "$deep" && : > "${deep}rank-2.json"
status 1 "$tlmpi" -f -o deep folder01
check "a deep file that is empty is named once" test "$(grep -o 'expected a trace' err | wc -l)" -eq 1
status 0 "$tlmpi" show deep.h5 rank --columns file --format csv
check "a deep path keeps the file's name" grep -q '^\.\.\./folder.*/folder40/rank-1.json$' out
rm -r folder01 deep.h5

printf '[\n{"contains": "gemm", "kind": "comm"},\n{"contains": "x", "starts": "y", "kind": "comm"}]\n' > rules.json
status 2 "$tlmpi" -f --rules rules.json traces
says err "tlmpi: rules.json:3: expected one of contains, starts and equals in a rule, found two"
sed -i '$d' rules.json && sed -i 's/},/}]/' rules.json
status 0 "$tlmpi" -f --rules rules.json traces
status 0 "$tlmpi" show traces.h5 interval --format json
python "a rule of one's own" "assert {r['kind'] for r in rows() if r['name'].startswith('gemm')} == {'comm'}"
status 0 "$tlmpi" -f traces
cp traces/rank-0.json itself.h5
cp traces/rank-0.json other.h5.part
ln traces/rank-1.json linked.h5
for words in "itself itself.h5" "other other.h5.part" "linked traces"; do
    # shellcheck disable=SC2086  # two words
    status 2 "$tlmpi" -f -o $words
    says err "would be written over"
done
check "what is read is as it was" cmp traces/rank-0.json itself.h5
check "what is read is not taken for a rest" test -s other.h5.part -a -s linked.h5
rm itself.h5 other.h5.part linked.h5

echo "-- ask"
status 0 "$tlmpi" ask traces.h5
silent err
for question in "Which rank holds the job up?" "In which phase, and why?" "Do others wait?" "Always, or only for a while?"; do
    says out "$question"
done
check "four confidences" test "$(grep -c '^  Confidence: ' out)" -eq 4
check "ask fits 80 columns" awk 'length > 80 { exit 1 }' out
status 0 "$tlmpi" ask traces.h5 --json
silent err
cp out asked
python "the answers are one object" "
a = rows()
assert a['format'] == 1 and a['file'] == 'traces.h5' and a['verdict'] == 'none', a
for question in 'which_rank', 'which_phase', 'others_waiting', 'persistent':
    assert a[question]['confidence'] in ('high', 'medium', 'low') and isinstance(a[question]['tables'], list)
    assert all(isinstance(v, (int, float, str, list, dict, type(None))) for v in a[question]['evidence'].values())
assert a['trust']['ranks'] == 3 and a['trust']['steps'] == 3 and a['culprits'] == []"
status 0 "$tlmpi" -f --json traces
check "run says the same as ask" cmp asked out
status 0 "$tlmpi" -f -q --json traces
check "--quiet does not silence what was asked for" cmp asked out
status 0 "$tlmpi" ask traces.h5 -o answers
check "-o FILE" test -s answers
status 4 "$tlmpi" ask traces.h5 -o answers
says err "-f"
rm answers
status 3 "$tlmpi" ask traces/rank-0.json
says err "cannot be read as an HDF5 file"
status 3 "$tlmpi" ask nowhere.h5
/usr/bin/python3 - <<'PYTHON' 2> err
import shutil
try:
    import h5py
except ImportError:
    h5py = None
if h5py is not None:
    for name, change in (("notable", lambda f: f["tables"].pop("straggler")), ("nopath", lambda f: f["tables"].pop("link"))):
        shutil.copy("traces.h5", name + ".h5")
        with h5py.File(name + ".h5", "r+") as f:
            change(f)
PYTHON
if [ -s notable.h5 ]; then
    status 3 "$tlmpi" ask notable.h5
    says err "tlmpi: notable.h5: the file has no table straggler; another version of tlmpi has written the file"
    silent out
    status 0 "$tlmpi" ask nopath.h5
    rm notable.h5 nopath.h5
else
    skip "no h5py: files without a table"
fi

echo "-- thresholds"
status 5 "$tlmpi" ask traces.h5 --fail-on 'idle>10%'
says err "tlmpi: --fail-on idle>10%: "
says out "Which rank holds the job up?"
status 0 "$tlmpi" ask traces.h5 --fail-on 'idle>99%,straggler>0%'
silent err
status 5 "$tlmpi" -f traces --fail-on 'straggler>5%,idle>10%'
check "the result is written all the same" test -s traces.h5
status 5 "$tlmpi" -f cut --fail-on 'idle>10%'
status 1 "$tlmpi" -f cut --fail-on 'idle>99%'
status 0 "$tlmpi" -f traces

echo "-- critical path"
status 0 "$tlmpi" show traces.h5 whatif --format json
cp out whatif.json
status 0 "$tlmpi" show traces.h5 critical_path --format json
python "the path is the simulated time, of all and by rank" "
time = [r['time_ns'] for r in json.load(open('whatif.json')) if r['scenario'] == 'unchanged'][0]
before = sum(r['path_ns'] for r in rows() if r['activity'] == 'before')
assert sum(r['path_ns'] for r in rows() if r['rank'] == -1) == time > 0, (rows(), time)
assert sum(r['path_ns'] for r in rows() if r['rank'] >= 0) == time - before"
rm whatif.json

echo "-- digest"
status 0 "$tlmpi" -f --digest traces
silent err
cp out digest
check "a digest is lines of a table and a hash" awk 'NF != 2 || $2 !~ /^[0-9a-f]+$/ { exit 1 }' digest
says digest "breakdown "
rm traces.h5
status 0 "$tlmpi" --digest traces
check "--digest writes the file all the same" test -s traces.h5
status 0 "$tlmpi" show traces.h5 --digest
check "show gives the digest of the run" cmp digest out

echo "-- show"
status 0 "$tlmpi" show traces.h5
for table in breakdown interval rank step; do
    says out "$table"
done
status 0 "$tlmpi" show traces.h5 --format json
python "the list of tables as JSON" "assert {'breakdown', 'interval'} <= {r['table'] for r in rows()}"
status 0 "$tlmpi" show traces.h5 interval --format=json
cp out interval.json
python "27 intervals with their names" "
r = rows()
assert len(r) == 27 and list(r[0])[:4] == ['rank', 'device', 'stream', 'start_ns']
assert r[0]['name'] == 'gemm<\"a,b\", 1>\tn\u00e9' and r[0]['kind'] == 'compute' and r[0]['step'] == 4"
status 0 "$tlmpi" show traces.h5 interval --format=csv
python "CSV says the same" "
c = list(csv.DictReader(io.StringIO(out)))
j = json.load(open('interval.json'))
assert [{k: str(v) for k, v in r.items()} for r in j] == c"
status 0 "$tlmpi" show traces.h5 interval
lines 28 out
check "a table holds no tab" sh -c '! grep -q "$(printf "\t")" out'
status 0 "$tlmpi" show traces.h5 interval --width 12
says out "gemm<\"a,b..."
status 0 "$tlmpi" show traces.h5 breakdown --step=-1 --rank=-1 --format json
python "the whole job is one row" "
r = rows()
assert [(x['rank'], x['step']) for x in r] == [(-1, -1)]
x = r[0]; assert x['wall_ns'] == x['compute_ns'] + x['comm_exposed_ns'] + x['copy_exposed_ns'] + x['idle_ns']"
status 0 "$tlmpi" show traces.h5 breakdown --rank -1 --format json
python "a negative number may follow" "assert {x['rank'] for x in rows()} == {-1} and len(rows()) == 4"
status 0 "$tlmpi" show traces.h5 breakdown --rank 0,2 --step 5-6 --columns step,rank --format csv
python "ranks, steps and columns" "assert out == 'step,rank\n5,0\n6,0\n5,2\n6,2\n', out"
status 0 "$tlmpi" show traces.h5 interval --rank 1-2 --format json
python "intervals of two ranks" "
assert rows() == [r for r in json.load(open('interval.json')) if r['rank'] in (1, 2)]"
status 0 "$tlmpi" show traces.h5 interval --rank 7 --format csv
lines 1 out
says err "no rows of rank 7; it has ranks 0-2"
status 0 "$tlmpi" show traces.h5 breakdown --rank 7,9-10 --step 4 --sort rank
says err "no rows of rank 7,9-10, step 4; it has ranks -1-2"
status 0 "$tlmpi" show traces.h5 breakdown --rank 1 --step 4 --sort rank
silent err
status 0 "$tlmpi" show traces.h5 interval --top 2 --format json
python "the first two rows" "assert rows() == json.load(open('interval.json'))[:2]"
for top in 1 4 26 27 100; do
    status 0 "$tlmpi" show traces.h5 interval --sort start_ns:desc --top "$top" --format json
    python "the last $top starts" "
j = json.load(open('interval.json'))
assert rows() == sorted(j, key=lambda r: -r['start_ns'])[:$top]"
done
status 0 "$tlmpi" show traces.h5 interval --sort name --format json
python "sorted by name, ties in their order" "
assert rows() == sorted(json.load(open('interval.json')), key=lambda r: r['name'].encode())"
status 0 "$tlmpi" show traces.h5 breakdown --sort compute_ns --top 1 --rank 0-2 --format json
python "a measure is sorted largest first" "assert (rows()[0]['rank'], rows()[0]['step']) == (2, -1)"
status 2 "$tlmpi" show traces.h5 brekdown
says err "did you mean breakdown?"
says err "interval"
status 2 "$tlmpi" show traces.h5 BREAKDOWN
says err "did you mean breakdown?"
status 2 "$tlmpi" show traces.h5 breakdown --columns rank,wall
says err "idle_ns"
status 2 "$tlmpi" show traces.h5 breakdown --sort wall_ns:up
status 2 "$tlmpi" show traces.h5 rank --step 4
says err "no column 'step'"
status 2 "$tlmpi" show traces.h5 --top 3
status 3 "$tlmpi" show nowhere.h5
status 3 "$tlmpi" show traces/rank-0.json
status 0 "$tlmpi" show traces.h5 step --format csv -o step.csv
silent out
lines 10 step.csv
status 4 "$tlmpi" show traces.h5 step --format csv -o step.csv
status 0 "$tlmpi" show traces.h5 step --format csv -f -o step.csv
cp traces.h5 kept.h5
ln -s traces.h5 linked
for output in traces.h5 ./traces.h5 linked; do
    status 2 "$tlmpi" show traces.h5 breakdown -f -o "$output"
    says err "would write over traces.h5"
    status 2 "$tlmpi" ask traces.h5 -f -o "$output"
    says err "would write over traces.h5"
done
check "what is shown is as it was" cmp traces.h5 kept.h5
rm kept.h5 linked
status 0 "$tlmpi" show traces.h5 step --format csv -o -
check "- is standard output" cmp out step.csv
check "a closed pipe is no failure" sh -c '
    { for i in 1 2 3 4 5 6 7 8 9 10; do "$1" show traces.h5 interval || exit 1; done; } 2> err | head -1 > /dev/null
    test ! -s err' sh "$tlmpi"
if [ -c /dev/full ]; then
    check "a full disk is status 4" sh -c '"$1" show traces.h5 interval > /dev/full 2> err; test $? -eq 4' sh "$tlmpi"
    says err "could be written"
fi

echo "-- describe"
status 0 "$tlmpi" describe
check "the manual fits 80 columns" awk 'length > 80 { exit 1 }' out
for word in breakdown interval interval_index /names /ranks comm_exposed_ns "one of: compute, comm"; do
    says out "$word"
done
cp out manual
status 0 "$tlmpi" describe breakdown
says out "idle_ns"
check "one table is less than all" test "$(wc -l < out)" -lt "$(wc -l < manual)"
"$tlmpi" show traces.h5 breakdown --format csv | head -1 | tr ',' '\n' > columns
check "every column of the file has its line" sh -c 'while read -r c; do grep -q "^  $c  *int" out || exit 1; done < columns'
says out "name: number of a row of /names, 4294967295 for none;"
status 0 "$tlmpi" describe interval_index names
says out "first_row"
says out "/names holds"
status 0 "$tlmpi" describe tables
check "the list has each table of the file" sh -c '"$1" show traces.h5 | tail -n +2 | while read -r t rest; do
    grep -q "^  $t  *[a-z]" out || exit 1; done' sh "$tlmpi"
check "and each page of the manual" sh -c 'grep "^  [a-z_]*  " out | while read -r t rest; do
    grep -q "^$t - $rest\$" manual || exit 1; done'
status 0 "$tlmpi" describe gap
says out "thresholds (--idle"
status 0 "$tlmpi" describe interval clock straggler rank
for word in my_ring "cannot leave before the last has" "the charges sum up" "Exit status 1"; do
    says out "$word"
done
status 2 "$tlmpi" describe brekdown
says err "did you mean breakdown?"

echo "-- compat"
status 0 "$tlmpi" compat hta traces -o hta/deep
check "HTA's tables" test -s hta/deep/temporal_breakdown.csv -a -s hta/deep/profiler_steps.csv
status 4 "$tlmpi" compat hta traces -o hta/deep
says err "-f"
status 0 "$tlmpi" compat hta traces -f -o hta/deep
status 0 "$tlmpi" compat hta traces --ns --include-last-step -o hta/other
status 3 "$tlmpi" compat hta empty -o hta/none
status 2 "$tlmpi" compat
says err "no tool named"
status 1 "$tlmpi" compat hta cut -o hta/cut
says err "warning: rank 1: cut/rank-1.json: "
says err "hta/cut/notes.txt"
status 1 "$tlmpi" compat tracelens cut -o lens/cut
says err "warning: rank 1: cut/rank-1.json: "
says err "lens/cut/notes.txt"
status 1 "$tlmpi" compat hta runs -o hta/runs
says err "runs/one/rank-2.json: left out, a later file is of this rank, too"
status 0 "$tlmpi" compat hta runs --run list
lines 3 out
status 0 "$tlmpi" compat hta runs --run 1 -o hta/first
silent err
check "the tables of the first run" cmp hta/deep/temporal_breakdown.csv hta/first/temporal_breakdown.csv
status 0 "$tlmpi" compat tracelens runs --run newest -o lens/newest
says err "lens/newest/notes.txt says what the tables lack"
check "and it does" test -s lens/newest/notes.txt
status 2 "$tlmpi" compat tracelens runs --run 3 -o lens/third
says err "there is no run 3"
cp traces/rank-0.json hta/deep/notes.txt
status 2 "$tlmpi" compat hta traces/rank-1.json hta/deep/notes.txt -f -o hta/deep
says err "hta/deep/notes.txt might be written over"
check "an input among tables is as it was" cmp traces/rank-0.json hta/deep/notes.txt
status 0 "$tlmpi" compat hta traces -f -o hta/deep
rm -r hta/cut hta/runs hta/first lens/cut lens/newest
status 0 "$tlmpi" compat tracelens traces -o lens
check "TraceLens' tables, of each rank" test -s lens/rank0/idle_overview.csv -a -s lens/rank2/kernel_summary.csv
check "and of all" test -s lens/nccl_long.csv -a ! -e lens/idle_overview.csv
status 4 "$tlmpi" compat tracelens traces -o lens
says err "-f"
status 0 "$tlmpi" compat tracelens "$(find traces -type f | head -1)" -f -o lens/one
check "a single trace's tables lie together" test -s lens/one/idle_overview.csv -a -s lens/one/nccl_long.csv
status 0 "$tlmpi" compat tracelens traces --gpus-per-node 2 -o lens/nodes
check "nodes are told apart" grep -q "node_span$" lens/nodes/nccl_long.csv
status 3 "$tlmpi" compat tracelens empty -o lens/none
status 2 "$tlmpi" compat tracelens traces --ns -o lens/ns
status 2 "$tlmpi" compat hta traces --gpus-per-node 2 -o lens/hta
status 2 "$tlmpi" compat tracelens
says err "no traces named"

echo "-- under mpirun"
# once COMMAND... - the same words on stdout and the same status as from one process
once()
{
    "$tlmpi" "$@" > alone 2> alone.err
    want=$?
    mpirun -n 5 "$tlmpi" "$@" > out 2> err
    check "status $want under mpirun: $*" test $? -eq "$want"
    check "the same words under mpirun: $*" cmp -s alone out || diff alone out | head -5
}
if ! command -v mpirun > /dev/null; then
    skip "no mpirun"
elif mpirun -n 2 "$tlmpi" --version 2>&1 | grep -q "built without MPI"; then
    skip "mpirun: a program built without MPI"
else
    once --version
    once show --help
    once show traces.h5 interval --format csv
    once show traces.h5 interval
    once show traces.h5 nothing
    once describe
    once --bogus
    once -f --digest traces
    once -f --digest cut
    once show nowhere.h5
    check "a message is said once" test "$(grep -c '^tlmpi: ' err)" -eq 1
    status 0 mpirun -n 5 "$tlmpi" -f -o five traces
    check "one summary" test "$(grep -c '^Largest loss' out)" -eq 1
    says out "on 5 procs"
    once ask traces.h5
    once -f --json traces
    status 5 mpirun -q -n 3 "$tlmpi" -f -q traces --fail-on 'idle>10%'
    check "a threshold is said once" test "$(grep -c '^tlmpi: ' err)" -eq 1
    check "mpirun's own terminal gets no colours" sh -c '! grep -q "$(printf "\033")" out'
    status 0 mpirun -n 5 "$tlmpi" compat hta traces -o hta/five
    check "the same tables" diff -r hta/deep hta/five
    rm -rf lens/one lens/nodes lens/none
    status 0 mpirun -n 2 "$tlmpi" compat tracelens traces -o lens2
    check "the same of TraceLens" diff -r lens lens2
    status 0 mpirun -n 5 "$tlmpi" compat tracelens traces -o lens5
    check "with more procs than ranks, too" diff -r lens lens5
    once compat tracelens empty -o lens6
    once compat
fi

summary
