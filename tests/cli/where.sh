#!/bin/sh
# where.sh TLMPI - rows by conditions on their columns, against the same rows filtered in Python.
#
# Prints what failed and, last, "N passed, N failed, N skipped".
# shellcheck source=tests/cli/job.sh
. "$(dirname "$0")/job.sh"

# Operators around the launches of two steps of rank 0, and a kernel that runs once.
python3 - <<'PYTHON'
import json
trace = json.load(open("traces/rank-0.json"))
def add(cat, name, ts, dur, **args):
    trace["traceEvents"].append(dict(ph="X", cat=cat, name=name, pid=0, tid=args.get("stream", 1), ts=ts, dur=dur, args=args))
add("cpu_op", "aten::mm", 4005, 25)
add("cpu_op", "c10d::allreduce_", 5005, 25)
add("cuda_runtime", "cudaLaunchKernel", 5700, 5, correlation=1)
add("kernel", "once", 5800, 7.5, device=0, stream=7, correlation=1)
json.dump(trace, open("traces/rank-0.json", "w"))
PYTHON
"$tlmpi" -q traces
for table in interval kernel collective rank; do
    "$tlmpi" show traces.h5 $table --format json > $table.json
done

# finds TABLE PYTHON CONDITION... - the rows r of the table of which PYTHON holds, and some but not all do.
finds()
{
    table=$1
    holds=$2
    shift 2
    for condition in "$@"; do
        set -- "$@" --where "$condition"
        shift
    done
    status 0 "$tlmpi" show traces.h5 "$table" --format json "$@"
    python "$table: $holds" "
import re
everything = json.load(open('$table.json'))
wanted = [r for r in everything if $holds]
assert rows() == wanted and 0 < len(wanted) < len(everything), (len(rows()), len(wanted))"
}

echo "-- numbers and times"
ns=$(python3 -c "import json; print(sorted(r['duration_ns'] for r in json.load(open('interval.json')))[9])")
finds interval "r['duration_ns'] == $ns" "duration_ns=$ns"
finds interval "r['duration_ns'] != $ns" "duration_ns!=$ns"
finds interval "r['duration_ns'] < $ns" "duration_ns<$ns"
finds interval "r['duration_ns'] <= $ns" "duration_ns<=$ns"
finds interval "r['duration_ns'] > $ns" "duration_ns>${ns}ns"
finds interval "r['duration_ns'] >= $ns" "duration_ns>=$ns" "rank>=0"
finds interval "r['duration_ns'] > 50000" "duration_ns>50us"
finds interval "r['duration_ns'] > 50000" "duration_ns>0.05ms"
finds interval "r['duration_ns'] < 50000.5" "duration_ns<50.0005us"
finds interval "r['duration_ns'] <= 50000.5" "duration_ns<=50.0005us"
finds interval "r['duration_ns'] >= 50000.5" "duration_ns>=50.0005us"
finds interval "r['duration_ns'] == $ns" "duration_ns=${ns}e-9s" "duration_ns>=${ns}e-9s" "duration_ns<=${ns}e-6ms"
status 0 "$tlmpi" show traces.h5 interval --where "duration_ns!=8325.665270ms" # times 1e6 a double lies beside it
finds interval "r['rank'] == 1 and r['stream'] == 7" "rank=1" "stream=7"
finds kernel "r['share'] > 0.1" "share>10%"
finds kernel "r['share'] <= 0.1" "share<=0.1"

echo "-- words"
finds interval "r['kind'] == 'comm'" "kind=comm"
finds interval "r['kind'] != 'comm'" "kind!=comm"
finds interval "r['kind'].startswith('mem') or r['kind'] == 'comm'" "kind~^mem|comm"
finds interval "'AllReduce' in r['name']" "name~AllReduce"
finds interval "'AllReduce' not in r['name']" "name!~AllReduce"
finds rank "r['file'] == 'traces/rank-1.json'" "file=traces/rank-1.json"
finds rank "not re.search('[02]', r['file'])" "file!~[02]"

echo "-- no value"
finds interval "r['operator'] is None" "operator="
finds interval "r['operator'] is not None" "operator!="
finds interval "r['operator'] is not None and 'aten' in r['operator']" "operator~aten"
finds interval "r['operator'] is not None and 'aten' not in r['operator']" "operator!~aten"
finds kernel "r['std_ns'] is None" "std_ns="
finds kernel "r['std_ns'] is not None" "std_ns!="
finds kernel "r['std_ns'] is not None and r['std_ns'] < 1e9" "std_ns<1s"

echo "-- with the other options"
status 0 "$tlmpi" show traces.h5 interval --rank 1 --where kind=compute --sort duration_ns --top 1 --columns rank,duration_ns --format csv
python "the longest of a rank" "
most = max(r['duration_ns'] for r in json.load(open('interval.json')) if r['rank'] == 1 and r['kind'] == 'compute')
assert open('out').read() == 'rank,duration_ns\n1,%d\n' % most"
status 0 "$tlmpi" show traces.h5 interval --where rank=99 --format csv
lines 1 out
says err "no row of table interval fulfils --where"
status 0 "$tlmpi" show traces.h5 interval --rank 1 --where name=nothing --format csv
says err "no row of table interval of rank 1 fulfils --where"
status 0 "$tlmpi" show traces.h5 interval --rank 99 --where name=nothing --format csv
says err "no row of table interval of rank 99 fulfils --where"

echo "-- what is no condition"
for wrong in = duration_ns "duration_ns 5" "kind=com" "kind>comm" "name<a" "duration_ns~5" "duration_ns>5kg" \
    "duration_ns>5%" "duration_ns=1.5" "duration_ns>1e30" "duration_ns>nan" "name~(" "nome=x" "rank>"; do
    "$tlmpi" show traces.h5 interval --where "$wrong" > out 2> err
    check "'$wrong' is refused" test $? -eq 2
done
says err "--where: '' is no value of rank"
status 2 "$tlmpi" show traces.h5 kernel --where "mean_ns>5%"
deep=$(printf '%30000s' '' | tr ' ' '(')
status 2 "$tlmpi" show traces.h5 interval --where "name~$deep"
says err "a pattern of more than 1000 characters"
status 2 "$tlmpi" reps traces --exclude "$deep"
status 2 "$tlmpi" show traces.h5 --where rank=1
says err "want a table"

summary
