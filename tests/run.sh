#!/bin/sh
# run.sh - all tests, set-up included.  On a bare Debian 12 it installs what they need (as root), then builds and checks:
#
#     gcc and clang without warnings, unit tests, the same with clang's ASan and UBSan, the serial program, layers, clang-tidy,
#     stories, the tables of HTA and TraceLens, idle time and waiting against oracles, copies with tracks added, clocks, collectives,
#     verdicts, faults, digests on 1 to 64 procs, jobs on several hosts and in Slurm, reading back with h5py and pandas, the
#     generator, the first run, the recorder against Python's json and as it is installed, shell scripts.
#
# A line a stage; then what was skipped and why; last "N passed, N failed, N skipped".  Logs are in build/test-logs/.  Exit
# status 1 when anything failed.  Safe to run twice: only what has changed is built.
#
# TLMPI_CORPUS names the folder with public traces and the results of other tools on them; ../shared where that is there.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
# shellcheck source=tests/lib.sh
. tests/lib.sh
if [ -z "${TLMPI_CORPUS:-}" ] && [ -d ../shared/traces ]; then
    TLMPI_CORPUS=$(cd ../shared && pwd)
fi
export TLMPI_CORPUS="${TLMPI_CORPUS:-}"
cores=$(nproc)

sh jobs/setup.sh --tests -DTLMPI_WERROR=ON || {
    echo "FAILED: set-up"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
}
logs=$top/build/test-logs
rm -rf "$logs"
mkdir -p "$logs"
: > "$logs/skipped"
: > "$logs/counts"
mpi_settings
export PYTHONDONTWRITEBYTECODE=1
export LSAN_OPTIONS="suppressions=$top/tests/lsan-mpi.supp:print_suppressions=0"

# stage NAME COMMAND... - runs it, adds its closing line to the counts; a command without one counts as one check.
stage()
{
    name=$1
    shift
    log=$logs/$name.log
    from=$(date +%s)
    "$@" > "$log" 2>&1
    status=$?
    closing=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -1)
    if [ -z "$closing" ]; then
        closing="$((status == 0)) passed, $((status != 0)) failed, 0 skipped"
    fi
    # shellcheck disable=SC2046  # three numbers
    set -- $(echo "$closing" | tr -d 'a-z,')
    if [ "$status" -ne 0 ] && [ "$2" -eq 0 ]; then
        set -- "$1" 1 "$3"
        echo "FAILED: $name ended with status $status" >> "$log"
    fi
    echo "$1 $2 $3" >> "$logs/counts"
    {
        printf '%-22s %5d passed %3d failed %3d skipped %5d s\n' "$name" "$1" "$2" "$3" $(($(date +%s) - from))
        if [ "$2" -gt 0 ]; then
            { grep -A 20 '^FAILED' "$log" || tail -n 40 "$log"; } | head -n 60 | sed 's/^/    /'
        fi
    } > "$log.told"
    cat "$log.told"
    grep -iE '^skipped' "$log" | sed "s/^/$name: /" >> "$logs/skipped"
}

# build FOLDER TARGET OPTION... - another build
build()
{
    folder=$1 target=$2
    shift 2
    if [ ! -f "$folder/CMakeCache.txt" ]; then
        set -- -G Ninja "$@"
    fi
    cmake -S . -B "$folder" -DTLMPI_WERROR=ON "$@" && cmake --build "$folder" --target "$target"
}

# units FOLDER - its ctest, a test at a time, with our closing line
units()
{
    ctest --test-dir "$1" --output-on-failure | tee "$1/ctest.log"
    total=$(sed -n 's/.*tests failed out of \([0-9]*\)$/\1/p' "$1/ctest.log")
    bad=$(sed -n 's/.*, \([0-9]*\) tests failed out of [0-9]*$/\1/p' "$1/ctest.log")
    skips=$(grep -c '\*\*\*Skipped' "$1/ctest.log")
    grep '\*\*\*Skipped' "$1/ctest.log" | sed 's/^/SKIPPED: /'
    # A test that failed, and what it said, less what passed.
    awk '/^ *[0-9]+\/[0-9]+ Test /{bad = /\*\*\*(Failed|Timeout|Exception)/; if (bad) print "FAILED: " $0; next}
        /^ *Start +[0-9]+:/{next} /^[0-9]+% tests passed/{bad = 0} bad && NF > 0 && !/\.\.\.passed$/' "$1/ctest.log"
    if [ "${total:-0}" -eq 0 ]; then
        echo "FAILED: no test was found"
        bad=1 total=1
    fi
    echo "$((total - bad - skips)) passed, $bad failed, $skips skipped"
    test "$bad" -eq 0
}

# One file a call: clang-tidy 14 takes va_start for something else in the second.
tidy()
{
    find src data -name '*.c' | sort > "$logs/sources"
    xargs -n 1 clang-tidy -p build-clang-asan --quiet --warnings-as-errors='*' < "$logs/sources" > "$logs/tidy.raw" 2>&1
    found=$?
    sed -n "s|^$top/\(.*: error: .*\)|FAILED: \1|p" "$logs/tidy.raw" | sort -u
    findings=$(sed -n "s|^$top/\(.*: error: .*\)|\1|p" "$logs/tidy.raw" | sort -u | wc -l)
    if [ "$found" -ne 0 ] && [ "$findings" -eq 0 ]; then
        tail -n 20 "$logs/tidy.raw"
        findings=1
    fi
    echo "$(wc -l < "$logs/sources") passed, $findings failed, 0 skipped"
    test "$findings" -eq 0
}

scripts()
{
    # SC2016: what stands in single quotes is for awk, or for another shell.
    find jobs tests data -name '*.sh' | sort | xargs shellcheck -x -P SCRIPTDIR -e SC2016 .ci/run
}

# shown FILE - what the README shows of a first run, from a file that has it; how long it took is left out.
shown()
{
    sed -n '/^tlmpi [0-9]/,/^Wrote\|^```$/p' "$1" | sed '/^Wrote\|^```$/d; s/ [0-9.]* s on / _ s on /'
}

# The first run of the README, into a folder of its own, twice; and it prints what the README says.
first_run()
(
    folder=$(scratch)
    sh jobs/quickstart.sh "$folder" && sh jobs/quickstart.sh "$folder" > "$folder/said"
    check "the first run works, twice" test $? -eq 0
    check "its result has ranks" build/tlmpi show "$folder/result.h5" rank
    shown README.md > "$folder/shown"
    shown "$folder/said" > "$folder/printed"
    check "the README shows what it prints" diff "$folder/shown" "$folder/printed"
    check "and that is a verdict" grep -q '^Rank 3 ' "$folder/shown"
    rm -rf "$folder"
    summary
)

# start NAME COMMAND... - a stage beside others, as soon as one of the cores is free.
mkfifo "$logs/cores"
exec 3<> "$logs/cores"
for _ in $(seq "$cores"); do
    echo free >&3
done
start()
{
    read -r _ <&3
    {
        stage "$@"
        echo free >&3
    } &
}

# What takes longest comes first; damage is read under the sanitizers alone.  asan-mpi's settings: see tests/CMakeLists.txt.
product()
{
    stage cluster bash tests/cluster/run.sh build/tlmpi build/make_trace & # it waits for Slurm most of the time: without a core
    start tidy tidy
    start asan-units units build-clang-asan
    start digests sh tests/golden/digest.sh build/tlmpi build/make_trace build-serial/tlmpi-serial
    start instructions sh tests/bench/instructions.sh build/tlmpi-serial build/make_trace
    start fuzz sh tests/fuzz/run.sh build-clang-asan 24
    start idle /usr/bin/python3 tests/golden/idle.py build/tlmpi-serial
    start faults-input /usr/bin/python3 tests/faults/input.py build/tlmpi build-clang-asan/tlmpi-serial
    start augment /usr/bin/python3 tests/faults/augment.py build-clang-asan/tlmpi-serial build/tlmpi "2 3"
    start stories sh tests/golden/stories.sh build/tlmpi
    start faults-ask /usr/bin/python3 tests/faults/ask.py build-clang-asan/tlmpi-serial build/make_trace
    start hta sh tests/golden/compat_hta.sh build/tlmpi
    start cli-compat sh tests/cli/compat.sh build/tlmpi
    start hta-options /usr/bin/python3 tests/golden/hta_options.py build/tlmpi build/make_trace
    start diff-pairs /usr/bin/python3 tests/bench/diff_pairs.py build/tlmpi-serial build/make_trace --few
    start whatif-jobs /usr/bin/python3 tests/bench/whatif_jobs.py build/tlmpi-serial --jobs 1
    start hta-diff /usr/bin/python3 tests/golden/hta_diff.py build/tlmpi
    start hta-stragglers /usr/bin/python3 tests/golden/hta_stragglers.py build/tlmpi build/make_trace
    start phases /usr/bin/python3 tests/golden/phases.py build/tlmpi build/make_trace
    start names /usr/bin/python3 tests/golden/names.py build/tests/tlmpi_named build/tlmpi build/make_trace
    start cli-run sh tests/cli/run.sh build/tlmpi
    start cli-read sh tests/cli/read.sh build/tlmpi
    start cli-install sh tests/cli/install.sh build
    start cli-html sh tests/cli/html.sh build/tlmpi
    start cli-export sh tests/cli/export.sh build/tlmpi build/make_trace
    start cli-diff sh tests/cli/diff.sh build/tlmpi build/make_trace
    start cli-select sh tests/cli/select.sh build/tlmpi
    start cli-where sh tests/cli/where.sh build/tlmpi
    start cli-whatif sh tests/cli/whatif.sh build/tlmpi
    start tracelens sh tests/golden/compat_tracelens.sh build/tlmpi
    start tracelens-random /usr/bin/python3 tests/golden/compat_tracelens_random.py build/tlmpi
    start peers /usr/bin/python3 tests/golden/peers.py build/tlmpi-serial
    start generator /usr/bin/python3 tests/golden/generator.py build/make_trace
    start pftrace /usr/bin/python3 tests/golden/pftrace.py build/tlmpi-serial build/make_trace
    start nsys /usr/bin/python3 tests/golden/nsys.py build/tlmpi build/make_trace mpi
    start oracles sh tests/golden/oracles.sh build/tlmpi build/make_trace
    start stragglers /usr/bin/python3 tests/bench/stragglers_test.py
    start foreign /usr/bin/python3 tests/bench/foreign/simulate.py --check
    start clocks /usr/bin/python3 tests/golden/clocks.py build/tlmpi-serial
    start collectives /usr/bin/python3 tests/golden/collectives.py build/tlmpi build/make_trace
    start verdicts /usr/bin/python3 tests/golden/verdicts.py build/tlmpi build/make_trace
    start phase-files /usr/bin/python3 tests/golden/phase_files.py build/tlmpi
    start agree /usr/bin/python3 tests/golden/agree.py build/tlmpi build/make_trace
    start repairs /usr/bin/python3 tests/golden/repairs.py build/tlmpi build/make_trace
    start replay /usr/bin/python3 tests/golden/replay.py build/tlmpi build/make_trace
    start exact /usr/bin/python3 tests/golden/exact.py build/tlmpi build/make_trace
    start windows /usr/bin/python3 tests/golden/windows.py build/tlmpi-serial build/make_trace
    start serving /usr/bin/python3 tests/golden/serving.py build/tlmpi build/make_trace
    start launches /usr/bin/python3 tests/golden/launches.py build/tlmpi-serial build/make_trace
    start oddities /usr/bin/python3 tests/golden/oddities.py build/tlmpi build/make_trace
    start health /usr/bin/python3 tests/golden/health.py build/tlmpi-serial build/make_trace
    start books /usr/bin/python3 tests/golden/books.py build/tlmpi build/make_trace
    start trees /usr/bin/python3 tests/golden/trees.py build/tlmpi build/make_trace
    start work /usr/bin/python3 tests/golden/work.py build/tlmpi build/make_trace
    start flops /usr/bin/python3 tests/golden/flops.py build/tlmpi-serial
    start select /usr/bin/python3 tests/golden/selection.py build/tlmpi build/make_trace
    start sizes /usr/bin/python3 tests/golden/sizes.py build/tlmpi
    start series /usr/bin/python3 tests/golden/series.py build/tlmpi build/make_trace
    start memory /usr/bin/python3 tests/golden/memory.py build/tlmpi build/make_trace
    start executions /usr/bin/python3 tests/golden/executions.py build/tlmpi
    start readback sh tests/golden/readback.sh build/tlmpi build/make_trace
    start no-memory /usr/bin/python3 tests/faults/no_memory.py build/tests/tlmpi_starved build/tests/tlmpi_starved_serial build/make_trace
    start faults-folders /usr/bin/python3 tests/faults/folders.py build/tlmpi-serial
    start faults-databases /usr/bin/python3 tests/faults/databases.py build/tlmpi-serial
    start augment-tracelens /usr/bin/python3 tests/golden/augment_tracelens.py build/tlmpi
    start reps /usr/bin/python3 tests/golden/reps.py build/tlmpi "2 3"
    start faults-doubts /usr/bin/python3 tests/faults/doubts.py build/tlmpi-serial build/make_trace
    start first-run first_run
    start record-lines /usr/bin/python3 tests/record/python.py build
    start record sh tests/record/run.sh build
    start asan-mpi env ASAN_OPTIONS=fast_unwind_on_malloc=0:intercept_tls_get_addr=0 sh tests/golden/stories.sh build-clang-asan/tlmpi 2 one_straggler several_devices idle_peers truncated
    start asan-stories sh tests/golden/stories.sh build-clang-asan/tlmpi-serial 0
    start augment-waits /usr/bin/python3 tests/golden/augment_waits.py build-clang-asan/tlmpi-serial build/make_trace
    start graph /usr/bin/python3 tests/faults/graph.py build-clang-asan/tlmpi-serial
}

# The compilers take all cores; what is built is tested on each core that they leave.
start units units build
start scripts scripts
start layers sh tests/layers.sh
start numbers sh tests/numbers.sh
wait
stage clang build build-clang-asan all -DCMAKE_C_COMPILER=clang -DTLMPI_SANITIZE=ON -DTLMPI_FUZZ=ON
# With less optimization: an answer does not depend on that either.
stage serial build build-serial tlmpi-serial -DCMAKE_C_FLAGS_RELEASE=-O1 -DTLMPI_MPI=OFF -DTLMPI_ISAL=OFF -DTLMPI_ZSTD=OFF \
    -DTLMPI_SQLITE=OFF -DTLMPI_PROTOBUF=OFF -DTLMPI_SIMD=OFF
product
# Not in the background: what a shell starts there does not hear of SIGINT.
stage faults-output /usr/bin/python3 tests/faults/output.py build/tlmpi build/make_trace
wait

while read -r good bad left_out; do
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + left_out))
done < "$logs/counts"
echo
sort -u "$logs/skipped"
summary
