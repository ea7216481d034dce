#!/bin/bash
# run.sh TLMPI MAKE_TRACE - jobs on several hosts, of which one dies, and in Slurm, on hosts that this machine plays: the result is
# that of one process, and a job that is ended says so and leaves nothing half.
#
# The scripts are those of jobs/, the controller of Slurm a real one.  Prints what failed and, last, "N passed, N failed, N skipped".
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
. "$here/../lib.sh"
# shellcheck source=tests/cluster/hosts.sh
. "$here/hosts.sh"
tlmpi=$(program "${1:?usage: run.sh TLMPI MAKE_TRACE}") || exit 2
make_trace=$(program "${2:?usage: run.sh TLMPI MAKE_TRACE}") || exit 2

without()
{
    skip "$1"
    summary
    exit
}

for tool in mpirun $hosts_tools; do
    command -v "$tool" > /dev/null || without "several hosts, and Slurm: there is no $tool"
done
unshare --mount --pid --net --uts --ipc --fork --mount-proc sh -c 'hostname login && ip link add br0 type bridge &&
    mkdir -p /run/netns && mount -t tmpfs none /run/netns && ip netns add n1' 2> /dev/null ||
    without "several hosts, and Slurm: this machine lets nobody play hosts (namespaces and a bridge, as root)"
sandbox "$@"
mpi_settings
hosts_up 3
cd "$SANDBOX_DIR" || exit 2

for i in 1 2; do
    mkdir -p "runs/$i"
    "$make_trace" -o "runs/$i/traces" --ranks 6 --steps 3 --seed "$i" --late-rank 2 --late-us 8000 --no-truth
    "$tlmpi" -q -o "runs/$i/alone" "runs/$i/traces"
done
mkfifo endless && exec 9<> endless # a pipe with a writer who writes nothing: who reads it waits

digest() { "$tlmpi" show "$1" --digest; }

# as_alone WHAT RESULT [RUN] - the result is that of one process
as_alone() { check "$1: the result of one process" test "$(digest "$2")" = "$(digest "runs/${3:-1}/alone.h5")"; }

# waits SECONDS COMMAND... - whether it succeeds within that time
waits()
{
    last=$((SECONDS + $1))
    shift
    until "$@" > waited 2>&1; do
        [ $SECONDS -lt $last ] || { tail -n 5 waited && return 1; }
        sleep .1
    done
}

# ------------------------------------------------------------------------------------------------------------------- Slurm

start_slurm()
{
    for tool in slurmctld slurmd munged sbatch srun; do
        command -v $tool > /dev/null || { skip "Slurm: there is no $tool (packages slurmctld slurmd slurm-client munge)" && return 1; }
    done
    D=$SANDBOX_DIR/slurm
    mkdir -p "$D"/{state,log,munge,{spool,tmp}-n{1,2}}
    export SLURM_CONF=$D/slurm.conf
    cat > "$SLURM_CONF" << CONF
ClusterName=test
SlurmctldHost=login(10.64.0.254)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$D/munge/socket
CredType=cred/munge
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SlurmdParameters=config_overrides
PropagateResourceLimits=NONE
ReturnToService=2
KillWait=5
StateSaveLocation=$D/state
SlurmdSpoolDir=$D/spool-%n
TmpFS=$D/tmp-%n
SlurmctldPidFile=$D/slurmctld.pid
SlurmdPidFile=$D/slurmd-%n.pid
SlurmctldLogFile=$D/log/slurmctld.log
SlurmdLogFile=$D/log/slurmd-%n.log
NodeName=n1 NodeAddr=10.64.0.1 CPUs=64 RealMemory=1000000
NodeName=n2 NodeAddr=10.64.0.2 CPUs=64 RealMemory=1000000
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    head -c 1024 /dev/urandom > "$D/munge/key"
    chmod 400 "$D/munge/key"
    munged --foreground --key-file="$D/munge/key" --socket="$D/munge/socket" --pid-file="$D/munge/pid" \
        --log-file="$D/log/munged.log" --seed-file="$D/munge/seed" > "$D/log/munged.out" 2>&1 &
    waits 10 test -S "$D/munge/socket"
    slurmctld -D -i > "$D/log/slurmctld.out" 2>&1 &
    for host in n1 n2; do
        host_run $host slurmd -D -N $host > "$D/log/slurmd-$host.out" 2>&1 &
    done
    check "Slurm comes up" waits 30 sh -c 'test "$(timeout 5 sinfo -h -t idle -o %D)" = 2' || {
        tail -n 5 "$D"/log/*.out
        return 1
    }
    export TLMPI=$tlmpi
}

# job SCRIPT... - submits it, with options that fit hosts of any size; prints its number
job() { sbatch --parsable --output=job-%A-%a.out --mem-per-cpu=10M "$@"; }

# state NUMBER - the states of its tasks, once none is going on; "" before
is_over() { scontrol -o show job "$1" > states && ! grep -qE ' JobState=(PENDING|RUNNING|COMPLETING|CONFIGURING)' states; }
state() { scontrol -o show job "$1" | sed 's/.* JobState=\([A-Z]*\).*/\1/' | sort -u | xargs; }

# ends WHAT NUMBER STATE [SECONDS]
ends()
{
    check "$1 ends within ${4:-60} s" waits "${4:-60}" is_over "$2"
    check "$1 ends as $3" test "$(state "$2")" = "$3" || { state "$2" && tail -n 20 job-"$2"-*.out; }
}

if start_slurm; then
    # It takes a minute at most, less the 60 s before which it is told, as often as Slurm looks; the others run meanwhile.
    limited=$(job --time=1 --ntasks=2 "$here/../../jobs/slurm_one_node.sh" endless limited)
    node=$(job --ntasks=3 "$here/../../jobs/slurm_one_node.sh" runs/1/traces node)
    nodes=$(job --nodes=2 --ntasks-per-node=3 "$here/../../jobs/slurm_many_nodes.sh" runs/1/traces nodes)
    srun=$(LAUNCH="srun -K --mpi=pmix" job --nodes=2 --ntasks-per-node=3 "$here/../../jobs/slurm_many_nodes.sh" runs/1/traces srun)
    array=$(job --array=1-2 --ntasks=2 "$here/../../jobs/slurm_one_node.sh" runs/%a/traces runs/%a/result)
    ends "a job on a node" "$node" COMPLETED
    as_alone "a job on a node" node.h5
    ends "mpirun on two nodes" "$nodes" COMPLETED
    as_alone "mpirun on two nodes" nodes.h5
    ends "srun on two nodes" "$srun" COMPLETED
    as_alone "srun on two nodes" srun.h5
    ends "an array over folders" "$array" COMPLETED
    as_alone "the first task" runs/1/result.h5
    as_alone "the second task" runs/2/result.h5 2
    ends "a job at its time limit" "$limited" FAILED 70
    check "which says what it does" grep -q "the time limit is near: limited gets the ranks that have been read" job-"$limited"-*.out
    check "and the run says so" grep -q "a signal (10) ended the reading" job-"$limited"-*.out
    check "nothing was read, nothing half is left" test -z "$(ls limited* 2> /dev/null)"
fi

# ------------------------------------------------------------------------------------------------------------ several hosts

export OMPI_MCA_plm_rsh_agent="$SANDBOX_DIR/agent" OMPI_MCA_plm=rsh OMPI_MCA_ras=^slurm
printf 'n1 slots=2\nn2 slots=2\nn3 slots=2\n' > hostfile
check "mpirun on three hosts" mpirun --hostfile hostfile -n 6 "$tlmpi" -q -o "$PWD/hosts" "$PWD/runs/1/traces"
as_alone "three hosts" hosts.h5
mpirun --hostfile hostfile -n 6 "$tlmpi" -o "$PWD/died" "$PWD/endless" > died.out 2>&1 &
mpirun=$!
check "a run on three hosts begins" waits 20 test -e died.h5.part
host_kill n3
check "a host dies: mpirun ends" waits 30 sh -c "! kill -0 $mpirun"
wait $mpirun
check "with a status" test $? -ne 0
check "which says so" grep -qiE "lost|daemon|terminated" died.out
check "nothing half is left" waits 5 sh -c '! ls died.h5*'
summary
