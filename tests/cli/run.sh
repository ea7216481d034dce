#!/bin/sh
# run.sh TLMPI - the command line of a run: help, usage, statuses, what is read and where it goes.
#
# Prints what failed and, last, "N passed, N failed, N skipped".
# shellcheck source=tests/cli/job.sh
. "$(dirname "$0")/job.sh"

echo "-- help, version, usage"
status 0 "$tlmpi" --version
python "one line with a version" "import re; assert re.fullmatch(r'tlmpi \d+\.\d+\.\d+\n', out), out"
silent err
for command in run check show ask describe augment reps whatif compat; do
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
for word in run check show ask describe reps whatif compat; do
    says out "$word"
done
status 2 "$tlmpi"
silent out
says err "no trace given"
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
status 2 "$tlmpi" compat hta diff a -o d
says err "1 jobs to compare, not two"
silent out
status 2 "$tlmpi" compat hta traces -o -
says err "expected DIR"
status 2 "$tlmpi" ask
says err "no result file named: tlmpi ask FILE.h5"
status 2 "$tlmpi" ask a.h5 b.h5
says err "one file at a time"
for gates in straggler 'straggler>5' 'waiting>5%' 'straggler>5%,straggler>6%'; do
    status 2 "$tlmpi" traces --fail-on "$gates"
    says err "--fail-on takes NAME>PERCENT%,... with straggler, link, idle or comm for NAME"
done
# keys stand in the code as names of values, in lists of columns, and in a table of counts
grep -oE '"[a-z_? ]+"' "$here/../../src/report/ask/json.c" | tr -d '"?' | tr ' ' '\n' | grep -E '^[a-z_]{3,}$' | sort -u > keys
"$tlmpi" describe json > explained
while read -r key; do
    check "describe json explains the key $key" grep -qw "$key" explained
done < keys
rm keys explained
for thresholds in full full=1.5; do
    status 2 "$tlmpi" traces --launch "$thresholds"
    says err "--launch: full takes a whole number, 0 or more, not '"
done
status 2 "$tlmpi" traces --launch delay=-1
says err "--launch: delay takes a time in us, from 0 to an hour, not '-1'"
status 2 "$tlmpi" traces --launch delay=1,noise=3
says err "there is no threshold 'noise' in --launch. It has: runtime, delay, full"
status 2 "$tlmpi" traces --idle noise=1,anomaly-pct=200
says err "--idle: anomaly-pct takes a whole number of percent, from 0 to 100, not '200'"
status 2 "$tlmpi" traces --idle anomaly-pc=20
says err "there is no threshold 'anomaly-pc' in --idle; did you mean anomaly-pct?"
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
says out "steps 4-6"
says out "Next: tlmpi ask traces.h5"
check "the summary fits 80 columns" awk 'length > 80 { exit 1 }' out
check "no escape sequences in a file" sh -c '! grep -q "$(printf "\033")" out'
status 4 "$tlmpi" traces
says err "-f"
status 0 "$tlmpi" run -f traces
status 0 "$tlmpi" -f -o other --launch full=9,delay=2.5 traces/
check "PREFIX.h5 is written" test -s other.h5
check "thresholds are recorded" grep -aq '^launch=full=9,delay=2.5$' other.h5
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
says err "not a trace: mixed/hello.json: "
rm -r hello.json greetings mixed other tables
status 4 "$tlmpi" traces -o nowhere/at/all
check "no file of a run that failed" test ! -e hopeless.h5 -a ! -e empty.h5
mkdir show && cp traces/rank-0.json show
status 2 "$tlmpi" show
status 0 "$tlmpi" ./show
check "./show names a folder" test -s show.h5
(cd traces && "$tlmpi" . > /dev/null 2>&1)
check ". writes tlmpi.h5" test -s traces/tlmpi.h5
status 3 "$tlmpi" traces/tlmpi.h5
says err "found a result of tlmpi, which is for tlmpi ask and tlmpi show"
rm -f traces/tlmpi.h5
status 0 "$tlmpi" check traces
says out "rank-2.json"
check "check writes nothing" test ! -e check.h5
mkdir marks
for mark in 4 -1 4294967296; do # in place of step 6
    sed "s/ProfilerStep#6/ProfilerStep#$mark/" traces/rank-0.json > marks/rank-0.json
    status 1 "$tlmpi" -f -q marks
    status 1 "$tlmpi" -f marks
    cp err said
    status 1 "$tlmpi" check marks
    check "check says of a mark $mark what a run does" cmp err said
    says out "damaged"
    says err "left out 1 mark"
done
two_runs
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
# One trace comes late: how far reading is, on stderr, once it has taken 2 s; nothing with --quiet.
for quiet in "" -q; do
    (head -c 300 traces/rank-0.json; sleep 3; tail -c +301 traces/rank-0.json) > ./63 &
    # shellcheck disable=SC2086
    status 0 "$tlmpi" -f $quiet -o behind/result ./63 traces/rank-1.json traces/rank-2.json
    check "what is told of progress: '$quiet'" test "$(grep -cE '^2 of 3 traces read, .* of .*, [0-9]+ s left$' err)" -eq $((1 - ${#quiet} / 2))
done
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
says err "tlmpi: rules.json: rule 2: expected one of contains, starts and equals, found several"
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
summary
