#!/bin/sh
# read.sh TLMPI - what is read back from a result file: ask, thresholds, digests, show in all its formats; and the manual.
#
# Prints what failed and, last, "N passed, N failed, N skipped".
# shellcheck source=tests/cli/job.sh
. "$(dirname "$0")/job.sh"

"$tlmpi" -q traces

echo "-- how do I find"
"$tlmpi" describe howto | sed -n 's/^      //p' | tr -d '"' > finds
check "ways to find things" test "$(wc -l < finds)" -ge 10
sed 's/--rank 3/--rank 2/' finds > asked
while read -r words; do
    # shellcheck disable=SC2086  # a table and options
    status 0 "$tlmpi" show traces.h5 $words
    check "$words: asks for what is there" eval '! grep "no row of" err | grep -qv "fulfils --where"'
done < asked
status 0 "$tlmpi" show traces.h5 idle_summary --rank -1 --where "place>0" --sort place --top 10 --columns place,total_ns --format csv
check "why devices were idle: the largest first" awk -F, 'NR > 1 && ($1 != NR - 1 || (NR > 2 && $2 > last)) { exit 1 }
    NR > 1 { last = $2 } END { if (NR < 2) exit 1 }' out

echo "-- ask"
status 0 "$tlmpi" ask traces.h5
silent err
for question in "Which rank holds the job up?" "In which phase, and why?" "Do others wait?" "Always, or only for a while?"; do
    says out "$question"
done
check "four confidences" test "$(grep -c '^  Trust: ' out)" -eq 4
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
says err "tlmpi: traces/rank-0.json: is no result file of this version of tlmpi"
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
    says err "tlmpi: notable.h5: result is damaged: it was changed after tlmpi wrote it; run tlmpi again"
    silent out
    /usr/bin/python3 "$here/../faults/seal.py" notable.h5 nopath.h5
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
assert [{k: '' if v is None else str(v) for k, v in r.items()} for r in j] == c"
PAGER='sed s/^/paged:/' TERM=xterm script -qec "'$tlmpi' show traces.h5 interval" /dev/null < /dev/null > out 2> err
check "on a terminal, a pager has it, with times as there" grep -q '^paged: .* us ' out
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
status 0 "$tlmpi" show traces.h5 blame --rank 0-2 --format json
python "who is charged is a rank, too" "assert {x['to_rank'] for x in rows()} <= {0, 1, 2}"
status 0 "$tlmpi" show traces.h5 breakdown --step=-1 --rank=-1 --unit ms --format csv
python "times in ms" "assert 'wall_ms' in out and 'wall_ns' not in out, out"
status 0 "$tlmpi" show traces.h5 breakdown --step=-1 --rank=-1 --unit auto
python "times for people" "import re; assert re.search(r'\d (us|ms|s)\b', out) and '_ns' not in out, out"
status 0 "$tlmpi" show traces.h5 breakdown --rank -1 --format json
python "a negative number may follow" "assert {x['rank'] for x in rows()} == {-1} and len(rows()) == 4"
status 0 "$tlmpi" show traces.h5 breakdown --rank 0,2 --step 5-6 --columns step,rank --format csv
python "ranks, steps and columns" "assert out == 'step,rank\n5,0\n6,0\n5,2\n6,2\n', out"
status 0 "$tlmpi" show traces.h5 interval --rank 1-2 --format json
python "intervals of two ranks" "
assert rows() == [r for r in json.load(open('interval.json')) if r['rank'] in (1, 2)]"
status 0 "$tlmpi" show traces.h5 counter --format csv
lines 1 out
says err "table counter has no rows: not available: no trace has hardware counters"
status 0 "$tlmpi" show traces.h5 memory --columns rank,peak_bytes --rank 1 --format csv
python "columns of a table that is not there" "assert out == 'rank,peak_bytes\n', out"
status 2 "$tlmpi" show traces.h5 memory --columns nosuch
says err "there is no column 'nosuch' in table memory"
status 2 "$tlmpi" show traces.h5 counter --where nosuch=3
status 0 "$tlmpi" show traces.h5 phase_verdict
says err "table phase_verdict has no rows: not available: no files of phases"
status 0 "$tlmpi" show traces.h5 interval --rank 7 --format csv
lines 1 out
says err "no row of table interval of rank 7"
status 0 "$tlmpi" show traces.h5 breakdown --rank 7,9-10 --step 4 --sort rank
says err "no row of table breakdown of rank 7,9-10 of step 4"
status 0 "$tlmpi" show traces.h5 breakdown --rank 1 --step 4 --sort rank
silent err
status 0 "$tlmpi" show traces.h5 interval --top 2 --format json
python "the first two rows" "assert rows() == json.load(open('interval.json'))[:2]"
for table in kernel "kernel --rank 1" kernel_ranks "kernel --sort max_ns" "kernel --sort name"; do
    # shellcheck disable=SC2086  # a table and options
    "$tlmpi" show traces.h5 $table --format json > all.json
    for top in 1 2 4; do
        # shellcheck disable=SC2086
        status 0 "$tlmpi" show traces.h5 $table --top "$top" --format json
        python "$table: after $top rows all others together" "
import math
whole, r = json.load(open('all.json')), rows()
left = whole[$top:]
if not left:
    assert r == whole
    raise SystemExit
assert r[:-1] == whole[:$top], (len(left), len(r))
o = r[-1]
assert o['name'] == '(%d other%s)' % (len(left), 's' if len(left) > 1 else '') and o['place'] is None, o
assert o['count'] == sum(x['count'] for x in left) and o['total_ns'] == sum(x['total_ns'] for x in left)
assert o['mean_ns'] == o['total_ns'] / o['count']
share = sum(x['share'] for x in left) if len({x.get('rank') for x in left}) == 1 else None
assert o['share'] == share or math.isclose(o['share'], share, rel_tol=1e-9), (o, share)
assert {k for k in o if o[k] is not None} <= {'count', 'total_ns', 'mean_ns', 'share', 'name'}, o"
    done
done
rm all.json
status 0 "$tlmpi" show traces.h5 kernel --top 2
check "of text, too, it has no place" sh -c 'tail -1 out | grep -q "  -  -  .*([0-9]* others)$"'
status 0 "$tlmpi" show traces.h5 kernel --top 2 --columns count --format csv
lines 3 out
status 0 "$tlmpi" show traces.h5 kernel --top 1000 --format csv
check "nothing is left out, nothing is told" sh -c '! grep -q others out'
status 0 "$tlmpi" show traces.h5 kernel_ranks --format json
cp out all.json
for share in 1 50 75 99.9 100; do
    status 0 "$tlmpi" show traces.h5 kernel_ranks --top "$share%" --format json
    python "the rows that hold $share % of the time" "
whole, r = json.load(open('all.json')), rows()
total, held, n = sum(x['total_ns'] for x in whole), 0, 0
while held < total * $share / 100:
    held += whole[n]['total_ns']; n += 1
assert r[:n] == whole[:n] and len(r) == n + (n < len(whole)), (n, len(r))"
done
rm all.json
status 2 "$tlmpi" show traces.h5 kernel_ranks --top 120%
says err "--top takes a number, 0 or more, or a share as 80%"
status 2 "$tlmpi" show traces.h5 breakdown --top 80%
says err "table breakdown has none of the columns total_ns, device_self_ns and device_ns"
# Without --sort as with it: the share is of the time.
for table in call_tree operator_ranks annotation_ranks; do
    time=device_self_ns
    status 0 "$tlmpi" show traces.h5 "$table" --sort "$time:desc" --format json
    cp out all.json
    for share in 30 80 100; do
        status 0 "$tlmpi" show traces.h5 "$table" --top "$share%" --format json
        python "$table: the rows that hold $share % of $time" "
whole, r = json.load(open('all.json')), rows()
total, held, n = sum(x['$time'] for x in whole), 0, 0
while held < total * $share / 100:
    held += whole[n]['$time']; n += 1
assert r == whole[:n], n"
    done
done
rm all.json
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
for word in breakdown interval interval_index /names /ranks comm_exposed_ns "a kernel that computes"; do
    says out "$word"
done
cp out manual
status 0 "$tlmpi" describe breakdown
says out "idle_ns"
check "one table is less than all" test "$(wc -l < out)" -lt "$(wc -l < manual)"
"$tlmpi" show traces.h5 breakdown --format csv | head -1 | tr ',' '\n' > columns
check "every column of the file has its line" sh -c 'while read -r c; do grep -qE "^  $c +(int|float)" out || exit 1; done < columns'
says out "name: number of a row of /names, 4294967295 for none;"
status 0 "$tlmpi" describe interval_index names
says out "first_row"
says out "/names holds"
status 0 "$tlmpi" describe annotation
says out "(ProfilerStep) have no row"
says out "call belongs"
status 0 "$tlmpi" describe interval
python "what has no launch, no device, or an operator that is rounded" "
words = ' '.join(out.split())
for said in 'launch of the next work of its stream', 'to within 1 us', 'pid of its track':
    assert said in words, said"
status 0 "$tlmpi" describe launch
python "which median" "assert 'the mean of the middle two, rounded up' in ' '.join(out.split())"
status 0 "$tlmpi" describe bandwidth
says out "state whole, not"
status 0 "$tlmpi" describe tables
check "the list has each table of the file" sh -c '"$1" show traces.h5 | tail -n +2 | while read -r about t rest; do
    grep -q "^  $t  *[a-z]" out || exit 1; done' sh "$tlmpi"
check "and each page of the manual" sh -c 'grep "^  [a-z_]*  " out | while read -r t rest; do
    grep -q "^$t - $rest\$" manual || exit 1; done'
status 0 "$tlmpi" describe gap
says out "thresholds (--idle"
status 0 "$tlmpi" describe interval clock straggler rank
for word in my_ring "no rank can leave" "charges sum up to the waits" "Exit status 1"; do
    says out "$word"
done
for option in "" --compare --each --kernels; do
    status 0 "$tlmpi" describe "reps$(echo "$option" | sed 's/^--/_/')"
    cp out page
    "$tlmpi" reps -q $option --format csv traces/rank-0.json traces/rank-1.json | head -1 | tr ',' '\n' > columns
    "$tlmpi" reps -q $option traces/rank-0.json traces/rank-1.json > table
    check "the table of reps $option has no exponents" sh -c '! grep -q "[0-9]e+" table'
    check "every column of reps $option has its line" sh -c 'test -s columns && while read -r c; do grep -q "^  $c " page || exit 1; done < columns'
done
echo "-- describe, of words"
for word in host_late throttled waiting trust gain untraced gain_ns drain late lost; do
    status 0 "$tlmpi" describe "$word"
    check "$word has a meaning" test "$(wc -w < out)" -gt 8
    check "$word is told in 80 columns" awk 'length > 80 { exit 1 }' out
done
status 0 "$tlmpi" describe throttled breakdown
says out "a slow device"
says out "idle_ns"
status 2 "$tlmpi" describe brekdown
says err "did you mean breakdown?"
summary
