#!/bin/sh
# store.sh STORE_SAMPLE - the result file seen from outside: h5dump, h5py, pandas; a full disk; a killed run.
. "$(dirname "$0")/../lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
sample=$(program "$1") || exit 2
dir=$(scratch)
trap 'rm -rf "$dir"' EXIT

python=/usr/bin/python3
if $python -c 'import h5py, tables, pandas' 2> /dev/null; then
    for n in 0 1 4096 100000; do
        check "a file of $n rows" "$sample" "$dir/$n.h5" $n 5
        check "h5py and pandas read $n rows" $python "$here/read_back.py" "$dir/$n.h5"
    done
    check "a file of 1,025 ranks" "$sample" "$dir/ranks.h5" 5000 1025
    check "h5py and pandas read 1,025 ranks" $python "$here/read_back.py" "$dir/ranks.h5"
else
    skip "$python has no h5py, tables or pandas"
    "$sample" "$dir/100000.h5" 100000 5
fi

# dumps PATTERN OPTION... - whether h5dump's text of the file has a line like that
dumps()
{
    pattern=$1
    shift
    h5dump "$@" "$dir/100000.h5" | tr -s ' \n' ' ' | grep -q "$pattern"
}
if command -v h5dump > /dev/null; then
    check "h5dump shows the enum" dumps 'H5T_ENUM { H5T_STD_U8LE; "red" 0; "green" 1; "blue" 2; } "color"' \
        -d /tables/sample -H
    check "h5dump shows labels in rows" dumps '(1): { 0, 1005, green, ' -d /tables/sample -s 1 -c 1
    check "h5dump shows a unit" dumps '"ns' -a /tables/sample/column_units
    check "h5dump shows the question" dumps '(0): "does every cell come back?"' -a /tables/sample/description
    check "h5dump shows a view" dumps '(0): { 4, .* 75000 } } } }' -d /ranks/00004/sample -s 0 -c 1 -A 0
else
    skip "h5dump is not installed"
fi

# full SIZE - writes to a disk of that size; the disk and its files are gone afterwards.
full()
{
    mkdir -p "$dir/disk"
    unshare --mount sh -c 'mount -t tmpfs -o "size=$1" none "$2" || exit 70
        "$3" "$2/out.h5" 600000 4 2> "$4"; rc=$?
        ls "$2" > "$4.left"; exit $rc' - "$1" "$dir/disk" "$sample" "$dir/full.err"
}
if unshare --mount sh -c "mount -t tmpfs none '$dir'" 2> /dev/null; then
    for size in 4k 64k 400k 1m 2m 3m; do
        full $size
        check "a disk of $size: exit status" test $? -eq 4
        check "a disk of $size: nothing is left" test ! -s "$dir/full.err.left"
        check "a disk of $size: one line, which names file and cause" \
            grep -q '^.*/out.h5.part: .*No space left on device$' "$dir/full.err"
        check "a disk of $size: only that line" test "$(wc -l < "$dir/full.err")" -eq 1
    done
    full 8m
    check "a disk that is large enough" test $? -eq 0
else
    skip "cannot mount a small disk here (needs root and unshare)"
fi

# A run that is killed while it writes; the next one is not disturbed by what it left.
i=0
while [ $i -lt 10 ]; do
    i=$((i + 1))
    "$sample" "$dir/killed.h5" 3000000 4 &
    pid=$!
    sleep 0.0$i
    kill -9 $pid 2> /dev/null
    wait $pid 2> /dev/null
    check "killed after 0.0$i s: no file under the final name" test ! -e "$dir/killed.h5"
done
check "the run after it" "$sample" "$dir/killed.h5" 1000 4
check "leaves no part" test ! -e "$dir/killed.h5.part"

summary
