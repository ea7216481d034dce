#!/bin/sh
# digest.sh TLMPI MAKE_TRACE [TLMPI-SERIAL] - one answer, whatever the number of procs, the compression, the white space, the
# parser and the filter.
#
# Digests leave out where the data came from.  Prints what differs and, last, "N passed, N failed, N skipped".
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
. "$here/../lib.sh"
tlmpi=$(program "${1:?usage: digest.sh TLMPI MAKE_TRACE [TLMPI-SERIAL]}") || exit 2
make_trace=$(program "${2:?}") || exit 2
serial=${3:-}
work=$(scratch)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mpi_settings

# digest NAME COMMAND... - the digest of a run, in $work/NAME.digest
digest()
{
    name=$1
    shift
    "$@" -f --digest -o "$work/out" > "$work/$name.digest" 2> "$work/stderr"
    got=$?
    check "$name: the run works" test "$got" -le 1 || tail -5 "$work/stderr"
    check "$name: a line a table" grep -q '^breakdown [0-9a-f]*$' "$work/$name.digest" || head -5 "$work/$name.digest"
}

same()
{
    check "$2 as $1" cmp -s "$work/$1.digest" "$work/$2.digest" || diff "$work/$1.digest" "$work/$2.digest"
}

# every_way NAME FOLDER PROCS... - the same folder read in all the ways that must not matter, on so many procs
every_way()
{
    way=$1 folder=$2
    shift 2
    digest "$way-1" mpirun -n 1 "$tlmpi" "$folder"
    for procs in "$@"; do
        digest "$way-$procs" mpirun -n "$procs" "$tlmpi" "$folder"
        same "$way-1" "$way-$procs"
    done
    digest "$way-alone" "$tlmpi" "$folder"
    same "$way-1" "$way-alone"
    digest "$way-yajl" "$tlmpi" --parser yajl "$folder"
    same "$way-1" "$way-yajl"
    if [ -n "$serial" ]; then
        digest "$way-serial" "$serial" "$folder"
        same "$way-1" "$way-serial"
    fi
}

# One job in several layouts.  The frames make sure that the filter has something to drop.
for flavour in nvidia rocm; do
    set -- --ranks 5 --steps 3 --layers 6 --seed 7 --flavour "$flavour" --python-share 0.3
    "$make_trace" -o "$work/$flavour" "$@"
    "$make_trace" -o "$work/$flavour-gz" "$@" --gzip
    "$make_trace" -o "$work/$flavour-oneline" "$@" --style oneline
    "$make_trace" -o "$work/$flavour-indent" "$@" --style indent
    for layout in gz oneline indent; do
        digest "$flavour-$layout" "$tlmpi" "$work/$flavour-$layout"
        digest "$flavour-$layout-yajl" "$tlmpi" --parser yajl "$work/$flavour-$layout"
        same "$flavour-$layout" "$flavour-$layout-yajl"
    done
    every_way "$flavour" "$work/$flavour" 2 3 5 64
    for layout in gz oneline indent; do
        same "$flavour-1" "$flavour-$layout"
    done
    digest "$flavour-gz-3" mpirun -n 3 "$tlmpi" "$work/$flavour-gz"
    same "$flavour-1" "$flavour-gz-3"
done

# Jobs of other kinds, whole and cut, healthy and not, of old software and of new.  Nothing in them is unusable: status 0.
kinds=0
while read -r options <&3; do
    kinds=$((kinds + 1))
    # shellcheck disable=SC2086  # options are words
    "$make_trace" -o "$work/kind-$kinds" --steps 3 $options
    digest "kind-$kinds" mpirun -n 1 "$tlmpi" "$work/kind-$kinds"
    check "$options: everything is used" test "$got" -eq 0
    digest "kind-$kinds-3" mpirun -n 3 "$tlmpi" "$work/kind-$kinds"
    digest "kind-$kinds-yajl" "$tlmpi" --parser yajl "$work/kind-$kinds"
    for way in 3 yajl; do
        same "kind-$kinds" "kind-$kinds-$way"
    done
done 3<< END
--ranks 16 --tp 2 --pp 2 --ep 2 --layers 1 --gpus 4 --clock-offset-us 3000 --clock-drift-ppb 20000 --group-names megatron
--tp 4 --flavour rocm --tp-stream compute --fault throttled --fault-rank 5 --fault-cost 0.1
--pp 4 --p2p batch --layers 1 --fault gc --fault-rank 2 --fault-us 5000 --python-share 0.2
--ep 8 --age 2022 --flavour rocm --fault more_work --fault-rank 3 --fault-style tokens --fault-share 0.2
--shard --age 2024 --device-clock-us 10 --fault h2d --fault-rank 3 --fault-style pageable
--ranks 40 --tp 2 --layers 1 --steps 2 --group-names local
--sync 0 --cut-head-us 4000 --cut-tail-us 500 --age 2022 --fault allocator --fault-rank 1 --fault-steps 2-3
END

# Ranks in other files, in another order, are the same ranks.
mkdir "$work/shuffled"
for rank in 0 1 2 3 4; do
    cp "$work/nvidia/rank-$rank.json" "$work/shuffled/trace_$(((rank * 3 + 2) % 5)).json"
done
for procs in 1 3; do
    digest "shuffled-$procs" mpirun -n "$procs" "$tlmpi" "$work/shuffled"
    same nvidia-1 "shuffled-$procs"
done

# A trace large enough for a team of procs; damaged, it is read again by one.
"$make_trace" -o "$work/large" --ranks 1 --steps 3 --mb 40 --seed 9 --python-share 0.2
mkdir "$work/hurt"
sed '100000s/"name"/"na"me"/' "$work/large/rank-0.json" > "$work/hurt/rank-0.json"
for folder in large hurt; do
    digest "$folder-1" "$tlmpi" "$work/$folder"
    for procs in 2 3 5; do
        digest "$folder-$procs" mpirun -n "$procs" "$tlmpi" "$work/$folder"
        same "$folder-1" "$folder-$procs"
    done
done

# --reproducible: equal bytes, too, in any batch job.
for procs in 1 3 5; do
    mpirun -n "$procs" env SLURM_JOB_ID="$procs" "$tlmpi" -f --quiet --reproducible -o "$work/bytes-$procs" "$work/nvidia" 2> "$work/stderr"
    check "--reproducible: equal bytes on $procs procs" cmp "$work/bytes-1.h5" "$work/bytes-$procs.h5"
done

echo '[{"contains": "my_ring", "kind": "comm"}]' > "$work/my_rules"
"$tlmpi" -f --quiet --reproducible -o "$work/bytes-idle" --idle noise=20 --rules "$work/my_rules" "$work/nvidia" 2> "$work/stderr"
for setting in idle=noise=20 alpha=0.01 least-cost=0.01 launch=runtime clock=auto run=newest events= rules=given; do
    check "--reproducible: the file has $setting" grep -aq "$setting" "$work/bytes-idle.h5"
done
for word in my_rules output=; do
    check "--reproducible: the file has no $word" sh -c '! grep -aqF "$1" "$2"' sh "$word" "$work/bytes-idle.h5"
done

# Damage, odd devices and missing launches must not depend on the number of procs either.
every_way truncated "$here/../../data/stories/truncated" 2 3 5 64
for story in several_devices graph_launch no_gpu two_runs cut_windows desync send_recv wrong_clock; do
    every_way "$story" "$here/../../data/stories/$story" 2 5
done

# Real traces, every public one.
if [ -d "${TLMPI_CORPUS:-}/traces" ]; then
    for folder in "$TLMPI_CORPUS"/traces/*/; do
        job=real-$(basename "$folder")
        "$tlmpi" check "$folder" > "$work/stdout" 2> "$work/stderr"
        test $? -eq 3 && continue       # holds no trace of a device: an execution trace, a memory timeline
        digest "$job" "$tlmpi" "$folder"
        digest "$job-yajl" "$tlmpi" --parser yajl "$folder"
        same "$job" "$job-yajl"
        digest "$job-3" mpirun -n 3 "$tlmpi" "$folder"
        same "$job" "$job-3"
    done
else
    skip "real traces: TLMPI_CORPUS names no folder with traces/"
fi

# Another job is another digest: the hash sees the rows.
"$make_trace" -o "$work/other" --ranks 5 --steps 3 --layers 6 --seed 8 --python-share 0.3
digest other "$tlmpi" "$work/other"
check "another seed gives another digest" \
    test "$(grep '^breakdown' "$work/nvidia-1.digest")" != "$(grep '^breakdown' "$work/other.digest")"
summary
