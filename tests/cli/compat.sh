#!/bin/sh
# compat.sh TLMPI - the tables of other programs; and that nothing is said twice under mpirun.
#
# Prints what failed and, last, "N passed, N failed, N skipped".
# shellcheck source=tests/cli/job.sh
. "$(dirname "$0")/job.sh"

"$tlmpi" -q traces
two_runs

echo "-- compat"
status 0 "$tlmpi" compat hta traces -o hta/deep
check "HTA's tables" test -s hta/deep/temporal_breakdown.csv -a -s hta/deep/profiler_steps.csv
for table in idle_time_breakdown idle_time_breakdown_thresholds idle_interval_stats queue_length_time_series \
    queue_length_summary time_blocked_on_full_queue memory_bw_time_series memory_bw_summary counter_events; do
    check "$table of HTA" test -s "hta/deep/$table.csv"
done
for table in events_by_iteration gpu_events profiler_step_windows filter_counts kernel_type_breakdown \
    kernel_type_breakdown_no_memory kernel_breakdown_all kernel_breakdown_default launch_stats launch_stats_summary \
    cpu_user_annotation_breakdown names timeline_gpu; do
    check "HTA's $table" sh -c "test \$(wc -l < hta/deep/$table.csv) -gt 1"
done
check "no annotation of the device, and a note of it" sh -c \
    '! test -e hta/deep/gpu_user_annotation_breakdown.csv && grep -q ^gpu_user_annotation hta/deep/notes.txt'
check "stragglers, or a note of it" sh -c \
    'test -e hta/deep/potential_stragglers.csv || grep -q ^potential_stragglers hta/deep/notes.txt'
check "of each rank, too" test -s hta/deep/callgraph_rank0.csv -a -s hta/deep/callstack_old_by_depth_rank2.csv
echo '{"schema": "1.0.1", "nodes": [{"name": "a", "id": 1, "rf_id": -1}]}' > nodes.json
status 0 "$tlmpi" compat hta traces nodes.json -o hta/nodes
check "links to an execution trace" test -s hta/nodes/execution_trace_links.csv -a ! -e hta/deep/execution_trace_links.csv
status 3 "$tlmpi" compat hta nodes.json -o hta/none
cp nodes.json more.json
status 1 "$tlmpi" compat hta traces nodes.json more.json -o hta/twice
status 1 "$tlmpi" compat tracelens traces nodes.json -o lens/nodes
rm -r hta/nodes hta/twice lens/nodes nodes.json more.json
status 4 "$tlmpi" compat hta traces -o hta/deep
says err "-f"
printf '[[-1, 1, 512, 7], [20, 1, 256, 4], [20, 1, 8, 4], [30, 3, -256, 4]]' > job.raw.gz
status 0 "$tlmpi" compat hta job.raw.gz -o hta/memory
check "a memory timeline alone" test -s hta/memory/memory_timeline.csv -a ! -e hta/memory/load_summary.csv
status 0 "$tlmpi" compat hta traces job.raw.gz -o hta/both
check "and beside traces" test -s hta/both/memory_timeline_summary.csv -a -s hta/both/load_summary.csv
cp job.raw.gz other.raw.json.gz
status 2 "$tlmpi" compat hta job.raw.gz other.raw.json.gz -o hta/two
says err "those of one"
echo '[[1, 2, 3]]' > job.raw.gz
status 3 "$tlmpi" compat hta job.raw.gz -o hta/bad
says err "job.raw.gz: byte 9: expected [time, action, bytes, category], whole numbers, found [1, 2, 3]"
status 3 "$tlmpi" compat hta nowhere.raw.gz -o hta/nowhere
rm -r hta/memory hta/both hta/bad hta/nowhere job.raw.gz other.raw.json.gz
first=$(find traces -type f | sort | head -1)
status 0 "$tlmpi" compat hta diff traces "$first" -o hta/diff
for table in compare_all compare_cpu_short compare_gpu_all_iterations ops_diff_all; do
    check "HTA's $table" sh -c "test \$(wc -l < hta/diff/$table.csv) -gt 1"
done
check "nothing differs from itself" sh -c "! grep -qv '^change\|^unchanged' hta/diff/ops_diff_all.csv"
status 4 "$tlmpi" compat hta diff traces "$first" -o hta/diff
status 0 "$tlmpi" compat hta diff traces traces --ns -f --test-rank 1 --control-iteration 0-99 --run newest -o hta/diff
status 2 "$tlmpi" compat hta diff traces traces -f --test-rank 77 -o hta/diff
says err "--test-rank: there is no such rank"
status 2 "$tlmpi" compat hta diff traces traces -f --test-iteration 777 -o hta/diff
says err "--test-iteration: there is no such step"
status 2 "$tlmpi" compat hta diff traces traces --top-k 4 -f -o hta/diff
status 2 "$tlmpi" compat hta traces --instance-id 1 -o hta/none
says err "what --annotation=TEXT names"
status 2 "$tlmpi" compat hta traces --test-rank 1 -o hta/none
says err "for tlmpi compat hta diff alone"
status 3 "$tlmpi" compat hta diff traces empty -o hta/none
status 1 "$tlmpi" compat hta diff traces cut -f -o hta/diff
touch hta/deep/callgraph_rank77.csv hta/deep/mine.csv
status 0 "$tlmpi" compat hta traces -f -o hta/deep
check "no table of an earlier job stays" test ! -e hta/deep/callgraph_rank77.csv -a -e hta/deep/mine.csv
rm hta/deep/mine.csv
check "critical paths of steps and of the whole" test -s hta/deep/critical_path_step0_rank0_edges.csv -a \
    -s hta/deep/critical_path_whole_stats.csv
status 0 "$tlmpi" compat hta traces --annotation ProfilerStep --instance-id 1,0-2 --launch-edges --data-load-events x -o hta/paths
check "of what is asked for" test -s hta/paths/critical_path_ProfilerStep_1_launch_edges_rank0_path.csv -a \
    -s hta/paths/critical_path_ProfilerStep_0_2_launch_edges_rank2_summary.csv -a ! -e hta/paths/critical_path_whole_stats.csv
status 0 "$tlmpi" compat hta traces --annotation '*' --overlay -o hta/whole
python "the graph is read again from its nodes and edges: its longest path is the one that is told" "
import csv, glob
found = glob.glob('hta/paths/critical_path_*_nodes.csv')
assert len(found) == 6, found
for nodes in found:
    tag = nodes[:-len('nodes.csv')]
    edges = [(int(e['begin']), int(e['end']), float(e['graph_weight'])) for e in csv.DictReader(open(tag + 'edges.csv'))]
    known = {int(n['node']): n for n in csv.DictReader(open(nodes))}
    assert {n for e in edges for n in e[:2]} <= set(known), tag
    stats = {r['key']: r['value'] for r in csv.DictReader(open(tag + 'stats.csv'))}
    assert len(known) == int(stats['nodes_in_list']) and len(edges) == int(stats['edges']), tag
    far, order = {n: 0.0 for n in known}, sorted(known)
    for _ in order: # until no way is longer
        longer = [(b, far[a] + w) for a, b, w in edges if far[a] + w > far[b]]
        if not longer:
            break
        far.update((b, max(w, far[b])) for b, w in longer)
    assert abs(max(far.values()) - float(stats['path_length_graph_weight'])) < 1e-6, tag
    path = [e for e in csv.DictReader(open(tag + 'edges.csv')) if e['critical'] == '1']
    on, told = {e['begin']: e for e in path}, [r['node'] for r in csv.DictReader(open(tag + 'path.csv'))]
    assert len(told) == len(path) + 1 and all(on[a]['end'] == b for a, b in zip(told, told[1:])), tag
    assert abs(sum(float(e['graph_weight']) for e in path) - max(far.values())) < 1e-6, tag"
check "of all" test -s hta/whole/critical_path_whole_rank2_path.csv
check "and shown" sh -c 'grep -q "\"critical\": 1" hta/whole/overlaid_critical_path_rank-2.json &&
    python3 -m json.tool hta/whole/overlaid_critical_path_rank-2.json > /dev/null'
cp traces/rank-0.json hta/
cp traces/rank-1.json hta/overlaid_critical_path_rank-0.json
status 0 "$tlmpi" compat hta hta/overlaid_critical_path_rank-0.json hta/rank-0.json -o hta --overlay -f
check "not over an input" sh -c 'grep "^overlaid_critical_path: rank 0: none: " hta/notes.txt &&
    cmp traces/rank-1.json hta/overlaid_critical_path_rank-0.json'
rm -f hta/*.*
status 0 "$tlmpi" compat hta traces --annotation nowhere -o hta/nowhere
says err 'critical_path_nowhere_0_rank0: HTA gives up: no name has "nowhere" in it, and annotations are ProfilerStep#'
check "of nothing" grep -q "^critical_path_nowhere_0_rank0: HTA gives up: no name" hta/nowhere/notes.txt
status 0 "$tlmpi" compat hta traces -f --annotation ProfilerStep --instance-id 77 -o hta/nowhere
says err "instance 77 is asked for, and there are 2, counted from 0"
rm -r hta/paths hta/whole hta/nowhere
status 2 "$tlmpi" compat tracelens traces --launch-edges -o lens/wrong
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
lines 1 err
says err "hta/first/notes.txt says what the tables lack"
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
status 2 "$tlmpi" compat tracelens traces --top-k 4 -o lens/ns
says err "for tlmpi compat hta alone"
status 2 "$tlmpi" compat hta traces --gpus-per-node 2 -o lens/hta
status 2 "$tlmpi" compat tracelens
says err "no trace given"

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
    check "one summary" test "$(grep -c "^  lost " out)" -eq 1
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
