#!/bin/sh
# quickstart.sh [FOLDER] - sets everything up and runs the main job on data that the repository ships.
#
# The traces are those of a simulated job of 8 ranks, in which the host of rank 3 is late in steps 2 and 3 (see
# data/make_trace.c).  Results go to FOLDER (default: quickstart/ in build/).  Safe to run twice.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$top/build/quickstart}

echo "== set-up: packages, configuration, build (a first time takes a minute or two)"
sh "$top/jobs/setup.sh"
# shellcheck source=jobs/mpi_env.sh
. "$top/jobs/mpi_env.sh"

echo "== a job of 8 ranks, 5 steps"
mkdir -p "$folder"
"$top/build/make_trace" -o "$folder/traces" --ranks 8 --steps 5 --late-rank 3 --late-us 8000 --late-steps 2-3 --no-truth

echo "== mpirun -n 4 tlmpi -f -o $folder/result $folder/traces"
mpirun -n 4 "$top/build/tlmpi" -f -o "$folder/result" "$folder/traces"

echo
echo "The traces are in  $folder/traces"
echo "The result is      $folder/result.h5"
echo "Ask it:            $top/build/tlmpi ask $folder/result.h5"
echo "Look at it:        $top/build/tlmpi show $folder/result.h5 breakdown --step -1"
echo "                   $top/build/tlmpi show $folder/result.h5 interval --rank 3 --top 10"
echo "What it means:     $top/build/tlmpi describe breakdown"
