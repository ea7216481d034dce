#!/bin/sh
# readback.sh TLMPI MAKE_TRACE - results read back by h5py, pandas and h5dump: a generated job, and the odd stories;
# and the examples of data/examples.
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

# The examples, on the generated job; the picture is one.
cd "$here/../../data/examples" || exit 2
python() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$@" > "$work/words" 2>&1 || { tail -3 "$work/words"; false; }; }
"$tlmpi" -q -f -o "$work/out" "$work/job"
check "slow_kernels.py" python slow_kernels.py "$work/out.h5" 3
check "three lines, of compute" test "$(grep -c ' ms on rank [0-2]: ' "$work/words")" -eq 3
check "communication_by_operator.py" python communication_by_operator.py "$work/out.h5" 1
check "what was launched in all-reduces" grep -q 'nccl:all_reduce' "$work/words"
"$make_trace" -o "$work/experts" --ranks 4 --ep 4 --layers 4
"$tlmpi" -q -f -o "$work/out4" "$work/experts"
check "expert_load.py" python expert_load.py "$work/out4.h5"
check "a line for each rank" test "$(grep -c '^[0-3] ' "$work/words")" -eq 4
if /usr/bin/python3 -c 'import matplotlib' 2> /dev/null; then
    check "time_of_ranks.py" python time_of_ranks.py "$work/out.h5" "$work/out.svg"
    check "a bar for each rank" test "$(grep -c '<!-- rank [0-2]' "$work/out.svg")" -eq 3
else # what it would draw, by a stand-in
    mkdir -p "$work/stand-in/matplotlib"
    echo "def use(backend): pass" > "$work/stand-in/matplotlib/__init__.py"
    cat > "$work/stand-in/matplotlib/pyplot.py" << 'PYTHON'
class Nothing:
    def barh(self, names, widths, **_):
        print(*(f"{name} {width > 0}" for name, width in zip(names, widths)), sep="\n")
    def __getattr__(self, _):
        return lambda *_, **__: None
def subplots(**_):
    return Nothing(), Nothing()
PYTHON
    check "time_of_ranks.py" env PYTHONPATH="$work/stand-in" sh -c '/usr/bin/python3 time_of_ranks.py "$1" none > "$2"' - "$work/out.h5" "$work/words"
    check "compute of each rank" test "$(head -n 3 "$work/words" | grep -c '^rank [0-2].* True$')" -eq 3
    check "four bars of each" test "$(grep -c '^rank [0-2]' "$work/words")" -eq 12
    skip "a picture of a result: there is no matplotlib"
fi
summary
