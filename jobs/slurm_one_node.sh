#!/bin/bash
# One node reads the traces of one job:  sbatch jobs/slurm_one_node.sh TRACES [RESULT]
# Several jobs, one folder each:         sbatch --array=1-20 jobs/slurm_one_node.sh 'runs/%a/traces' 'runs/%a/result'
#
# As many procs as --ntasks says; more or fewer than traces gives the same result.  About 25 MB of memory a proc and 64 bytes
# for each device event that its largest trace holds.
#SBATCH --job-name=tlmpi
#SBATCH --nodes=1
#SBATCH --ntasks=16
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=2G
#SBATCH --time=00:30:00
#SBATCH --output=%x-%j.out
#SBATCH --signal=B:USR1@60
set -eu
index=${SLURM_ARRAY_TASK_ID:-}
traces=${1:?usage: sbatch slurm_one_node.sh TRACES [RESULT]}
traces=${traces//%a/$index}
result=${2:-result-$SLURM_JOB_ID}
result=${result//%a/$index}
# The batch system runs a copy of this script: TLMPI says where the program is when it is not in PATH or in ./build.
tlmpi=${TLMPI:-$(command -v tlmpi || echo "$SLURM_SUBMIT_DIR/build/tlmpi")}

# Procs that wait must leave the cores to those that work; Open MPI does so by itself only where it knows of too few.
export OMPI_MCA_mpi_yield_when_idle=1
# A minute before the time limit Slurm tells this shell (B), which tells the run: it reads no more, and writes a result with
# the ranks that it has read.
mpirun "$tlmpi" -o "$result" "$traces" &
run=$!
trap 'ended=1; echo "$SLURM_JOB_NAME: the time limit is near: $result gets the ranks that have been read" >&2; kill -USR1 $run' USR1
status=0
wait $run || status=$?
[ -z "${ended:-}" ] || wait $run || status=$?
exit $status
