# lib.sh - what the test scripts share: counting, folders, the settings that a test machine needs and a user must not.
# shellcheck shell=sh

passed=0 failed=0 skipped=0

# check WHAT COMMAND... - passes when the command does.  Says what failed; returns its status.
check()
{
    what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
        return 0
    fi
    failed=$((failed + 1))
    echo "FAILED: $what"
    return 1
}

# skip WHY
skip()
{
    skipped=$((skipped + 1))
    echo "SKIPPED: $1"
}

# The closing line; the status of the script.
summary()
{
    echo "$passed passed, $failed failed, $skipped skipped"
    test "$failed" -eq 0
}

# program PATH - its absolute path, or an end of the script
program()
{
    if [ ! -x "$1" ]; then
        echo "$1: not there; build it first (sh jobs/setup.sh)" >&2
        exit 2
    fi
    echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"
}

# A new folder for this script alone.
scratch()
{
    mktemp -d "${TMPDIR:-/tmp}/tlmpi-test.XXXXXX"
}

# More procs than cores, as whoever runs the tests, on a machine that others may use, too.
mpi_settings()
{
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
        OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
}
