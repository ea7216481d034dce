#!/bin/sh
# readback.sh TLMPI MAKE_TRACE - results read back by h5py, pandas and h5dump: a generated job, and the odd stories.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
. "$here/../lib.sh"
tlmpi=$(program "${1:?usage: readback.sh TLMPI MAKE_TRACE}") || exit 2
make_trace=$(program "${2:?}") || exit 2
work=$(scratch)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mpi_settings

"$make_trace" -o "$work/job" --ranks 3 --layers 30
for data in "$work/job" "$here/../../data/stories/truncated" "$here/../../data/stories/sync_is_not_work" \
    "$here/../../data/stories/no_gpu"; do
    mpirun -n 2 env SLURM_JOB_ID=4711 "$tlmpi" -f -o "$work/out" "$data" > "$work/words" 2>&1
    # Debian's modules are those of its own python3.
    SLURM_JOB_ID=4711 /usr/bin/python3 "$here/readback.py" "$tlmpi" "$work/out.h5" > "$work/readback" 2>&1
    grep -v ' passed, ' "$work/readback"
    # shellcheck disable=SC2046  # three numbers
    set -- $(tail -1 "$work/readback" | tr -d a-z,)
    if [ $# -eq 3 ]; then
        passed=$((passed + $1)) failed=$((failed + $2))
    else
        check "$data: readback.py comes to its end" false
    fi
done
summary
