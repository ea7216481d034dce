#!/bin/bash
# Many nodes read the traces of a large job:  sbatch jobs/slurm_many_nodes.sh TRACES [RESULT]
#
# A compressed trace is read by one proc, so more procs than traces gain little.  The file is written by one proc: put
# RESULT where large sequential writes are fast.  On Lustre a result of many gigabytes wants stripes: lfs setstripe -c 8
# FOLDER.
# In a container: mpirun apptainer exec tlmpi.sif tlmpi -o RESULT TRACES, with the same Open MPI inside and outside.
#SBATCH --job-name=tlmpi
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=32
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=2G
#SBATCH --time=02:00:00
#SBATCH --output=%x-%j.out
#SBATCH --signal=B:USR1@60
set -eu
traces=${1:?usage: sbatch slurm_many_nodes.sh TRACES [RESULT]}
result=${2:-result-$SLURM_JOB_ID}
tlmpi=${TLMPI:-$(command -v tlmpi || echo "$SLURM_SUBMIT_DIR/build/tlmpi")}

export OMPI_MCA_mpi_yield_when_idle=1
# A node that drops off the network is noticed within seconds, not never.
export OMPI_MCA_oob_tcp_keepalive_time=5 OMPI_MCA_oob_tcp_keepalive_intvl=1 OMPI_MCA_oob_tcp_keepalive_probes=3
# Instead of mpirun: LAUNCH="srun -K --mpi=pmix" sbatch ... (without -K a proc that dies leaves the others waiting until the time
# limit).  Then Slurm's fences have to be rings.  By default the one at the end of MPI_Init goes by a tree, which in Slurm 22.05
# holds no node back for the others: who is sent a message before it is ready for any crashes there, in 4 of 30 starts of 64 procs
# on 4 nodes.
export SLURM_PMIX_FENCE=ring
# A minute before the time limit Slurm tells this shell (B), which tells the run: it reads no more, and writes a result with
# the ranks that it has read.
# shellcheck disable=SC2086  # a program and its options
${LAUNCH:-mpirun} "$tlmpi" -o "$result" "$traces" &
run=$!
trap 'ended=1; echo "$SLURM_JOB_NAME: the time limit is near: $result gets the ranks that have been read" >&2; kill -USR1 $run' USR1
status=0
wait $run || status=$?
[ -z "${ended:-}" ] || wait $run || status=$?
exit $status
