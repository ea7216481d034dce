# hosts.sh - several hosts on one machine, for as long as a script runs.  Sourced, from bash.
#
#     sandbox "$@"            runs the rest of the script, which was called with "$@", in namespaces of its own, in which all that
#                             it starts ends with it; $SANDBOX_DIR is a folder that is removed at the end
#     hosts_up N              hosts n1 to nN, 10.64.0.1 and so on, on one bridge; the script itself is `login`, 10.64.0.254.  Each
#                             has its own network, pid space, host name and /dev/shm; files are shared
#     host_run HOST COMMAND   the command on that host, with its exit status
#     host_kill HOST          ends every process of the host
#
# Needs root, and the programs below.
# shellcheck shell=bash
# shellcheck disable=SC2034  # for the scripts
hosts_tools="unshare nsenter setpriv ip ps"

sandbox()
{
    if [ "${SANDBOX_DIR-}" ] && [ $$ = 1 ]; then
        ip link set lo up
        hostname login
        mount -t tmpfs none /dev/shm
        mkdir -p /run/netns && mount -t tmpfs none /run/netns
        echo "127.0.0.1 localhost" > "$SANDBOX_DIR/hosts"
        mount --bind "$SANDBOX_DIR/hosts" /etc/hosts
        return
    fi
    SANDBOX_DIR=$(mktemp -d "${TMPDIR:-/tmp}/tlmpi-hosts.XXXXXX") || exit 2
    chmod 755 "$SANDBOX_DIR"
    export SANDBOX_DIR
    setpriv --pdeathsig KILL unshare --mount --pid --net --uts --ipc --fork --kill-child --mount-proc bash "$0" "$@" < /dev/null &
    inner=$!
    trap 'kill -KILL $inner 2> /dev/null; wait $inner 2> /dev/null; rm -rf "$SANDBOX_DIR"; exit 130' INT TERM HUP
    wait $inner
    rc=$?
    rm -rf "$SANDBOX_DIR"
    exit $rc
}

hosts_up()
{
    ip link add br0 type bridge
    ip addr add 10.64.0.254/24 dev br0
    ip link set br0 up
    echo "10.64.0.254 login" >> /etc/hosts
    for ((i = 1; i <= $1; i++)); do
        echo "10.64.0.$i n$i" >> /etc/hosts
        ip netns add "n$i"
        ip link add "v-n$i" type veth peer name eth0 netns "n$i"
        ip link set "v-n$i" master br0 up
        ip -n "n$i" link set lo up
        ip -n "n$i" addr add "10.64.0.$i/24" dev eth0
        ip -n "n$i" link set eth0 up
    done
    for ((i = 1; i <= $1; i++)); do # the host's first process: its end ends the host
        nsenter --net="/run/netns/n$i" unshare --mount --pid --uts --ipc --fork --kill-child --mount-proc bash -c '
            hostname "$1"; mount -t tmpfs none /dev/shm; : > "$2"
            while :; do sleep 3600 & wait; done' - "n$i" "$SANDBOX_DIR/n$i.up" < /dev/null > /dev/null 2>&1 &
        outer[i]=$!
    done
    for ((i = 1; i <= $1; i++)); do
        while [ ! -e "$SANDBOX_DIR/n$i.up" ]; do sleep .01; done
        ps -o pid= --ppid "${outer[i]}" | tr -d ' ' > "$SANDBOX_DIR/n$i.pid"
    done
    # host_run as a program, in the place of ssh: as that, it gives the command a fresh environment, and 255 where the host is lost.
    cat > "$SANDBOX_DIR/agent" << 'AGENT'
#!/bin/sh
pid=$(cat "$SANDBOX_DIR/$1.pid") || exit 255
shift
env -i PATH="$PATH" HOME="$HOME" LANG="${LANG-C}" SANDBOX_DIR="$SANDBOX_DIR" \
    nsenter --target "$pid" --root --mount --pid --net --uts --ipc --wdns=/ sh -c "$*"
rc=$?
test $rc -le 128 || exit 255
exit $rc
AGENT
    chmod +x "$SANDBOX_DIR/agent"
    export OMPI_MCA_btl_tcp_if_include=10.64.0.0/24 OMPI_MCA_oob_tcp_if_include=10.64.0.0/24 \
        OMPI_MCA_orte_tmpdir_base="$SANDBOX_DIR/ompi"
    mkdir -p "$SANDBOX_DIR/ompi"
}

host_run()
{
    host=$1
    shift
    nsenter --target "$(cat "$SANDBOX_DIR/$host.pid")" --root --mount --pid --net --uts --ipc --wdns="$PWD" "$@"
}

host_kill() { kill -KILL "$(cat "$SANDBOX_DIR/$1.pid")"; }
