#!/bin/sh
# run.sh BUILD - the recorder as a trainer meets it: the example with and without a GPU, what the README says of its
# cost, what is installed, the header in C++, and its threads under the thread sanitizer.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
. "$here/../lib.sh"
top=$(cd "$here/../.." && pwd)
build=$(cd "${1:?usage: run.sh BUILD}" && pwd) || exit 2
work=$(scratch)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
fake=$build/tests/record/libfake_cuda.so
export TLMPI_RECORD_SO="$build/libtlmpi_record.so"

echo "driver: the tests' own, ${fake##*/}"
for program in "$build"/tests/record/test_record*; do
    test -x "$program" || continue
    "$program" > "$work/said" 2>&1
    check "${program##*/} says which driver it runs on" test "$(grep -c '^driver: ' "$work/said")" -eq 1
done

# example RANK OPTION... - the example, into $work/times
example()
{
    rank=$1
    shift
    RANK=$rank python3 "$top/jobs/record_example.py" --directory "$work/times" "$@" > "$work/said" 2> "$work/stderr"
}

# Without a driver, and with one that has no device, it runs and says why nothing is recorded.
off()
{
    example 0 --steps 20 && grep -q "^rank 0: nothing is recorded: $1" "$work/said" && test ! -e "$work/times" &&
        test "$(grep -c "phases are not recorded: $1" "$work/stderr")" -eq 1
}
TLMPI_RECORD_LIBRARY=/nowhere/libcuda.so.1
export TLMPI_RECORD_LIBRARY
check "the example runs without a driver" off "/nowhere/libcuda.so.1: "
TLMPI_RECORD_LIBRARY=$fake
export FAKE_DRIVER_INIT=100
check "and without a device" off "cuInit: CUDA_ERROR_NO_DEVICE"
unset FAKE_DRIVER_INIT

# Eight ranks, 900 steps, three phases of every tenth: as many lines, and lines as long as the README says.
for rank in 0 1 2 3 4 5 6 7; do
    check "the example runs on rank $rank" example "$rank"
    check "and says what it wrote" grep -qx "rank $rank: 270 phases written, 0 lost" "$work/said"
done
nlines=$(cat "$work"/times/*.jsonl | wc -l)
nbytes=$(cat "$work"/times/*.jsonl | wc -c)
check "eight ranks write 2160 lines ($nlines)" test "$nlines" -eq 2160
check "the README knows how long a line is ($nbytes bytes in all)" \
    grep -q "some $(((nbytes / nlines + 5) / 10 * 10)) bytes long" "$top/README.md"
rm -rf "$work/times"

# The five settings of the example.
example 1 --steps 50 --start-step 3 --end-step 30 --record-every-n-steps 7 --flush-every-n-steps 5 --ranks 1,2
steps=$(sed -n 's/.*"host_to_device".*"step": \([0-9]*\)}/\1/p' "$work/times/cuda_events_rank_1.jsonl" | tr '\n' ' ')
check "steps are chosen by the settings ($steps)" test "$steps" = "3 10 17 24 "
example 3 --steps 50 --ranks 1,2
check "other ranks write nothing" test ! -e "$work/times/cuda_events_rank_3.jsonl"
check "and say so" grep -q "rank 3 is not of those to record" "$work/said"
check "which is no news for stderr" test ! -s "$work/stderr"

# What is installed works from where it is put, for C and C++, and needs nothing else.
cat > "$work/use.c" << 'END'
#include <tlmpi_record.h>
int main(void)
{
    tlmpi_record_settings settings;
    tlmpi_record *recorder;
    tlmpi_record_defaults(&settings);
    int off = tlmpi_record_open(&settings, &recorder) == TLMPI_RECORD_OFF && settings.record_every_n_steps == 10;
    return off && tlmpi_record_close(recorder, 0) == TLMPI_RECORD_OFF ? 0 : 1;
}
END
check "it is installed" cmake --install "$build" --prefix "$work/there" > "$work/install.log"
PKG_CONFIG_PATH=$(dirname "$(find "$work/there" -name tlmpi_record.pc)")
export PKG_CONFIG_PATH
libdir=$(dirname "$PKG_CONFIG_PATH")
# shellcheck disable=SC2046  # options
check "a program finds the shared library" \
    cc -Wall -Wextra -Werror -std=c99 -pedantic "$work/use.c" -o "$work/use" $(pkg-config --cflags --libs tlmpi_record)
check "and runs with it" env LD_LIBRARY_PATH="$libdir" "$work/use"
# shellcheck disable=SC2046
check "a program takes the static library" \
    cc "$work/use.c" -o "$work/static" $(pkg-config --cflags tlmpi_record) "$libdir/libtlmpi_record.a" \
    $(pkg-config --static --libs-only-other --libs-only-l tlmpi_record | sed 's/-ltlmpi_record//')
check "and runs alone" "$work/static"
cp "$work/use.c" "$work/use.cc"
for cxx in g++ clang++; do
    if command -v "$cxx" > /dev/null; then
        check "the header is C++ to $cxx" \
            "$cxx" -Wall -Wextra -Werror -pedantic -std=c++11 -fsyntax-only -I"$top/include" "$work/use.cc"
    else
        skip "the header in C++: there is no $cxx"
    fi
done
check "only its own calls are seen from outside" test -z \
    "$(nm -D --defined-only "$TLMPI_RECORD_SO" | awk '{print $3}' | grep -v '^tlmpi_record_')"
check "it asks the system neither who it is nor what time it is" test -z \
    "$(nm -D --undefined-only "$TLMPI_RECORD_SO" | grep -E ' (getpid|gettid|clock_gettime)(@|$)')"
check "it needs the C library alone" test -z \
    "$(objdump -p "$TLMPI_RECORD_SO" | awk '/NEEDED/ {print $2}' | grep -vE '^lib(c|m|dl|pthread)[.]so')"

# Under the thread sanitizer, with the compiler that the tests have anyway.
tsan()
{
    # shellcheck disable=SC2046  # options
    clang -std=c11 -D_POSIX_C_SOURCE=200809L -DFAKE_LIBRARY="\"$work/fake.so\"" -g -O1 -fsanitize=thread \
        -I"$top/include" -I"$top/tests/unit" "$here/test_record_threads.c" "$top"/src/record/*.c "$work/fake.so" \
        $(pkg-config --cflags --libs cunit) -lm -lpthread -o "$work/threads" && "$work/threads"
}
echo 'int main(void) { return 0; }' > "$work/nothing.c"
if clang -fsanitize=thread "$work/nothing.c" -o "$work/nothing" 2> /dev/null && "$work/nothing" 2> /dev/null; then
    check "the driver of the tests is built for threads" clang -std=c11 -D_POSIX_C_SOURCE=200809L -g -O1 -fsanitize=thread \
        -shared -fPIC "$here/fake_driver.c" -lm -o "$work/fake.so"
    check "threads do not race" tsan
else
    skip "threads under the thread sanitizer: there is no clang, or its sanitizer does not run here"
fi
summary
