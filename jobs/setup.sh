#!/bin/sh
# setup.sh [--tests] [CMAKE OPTION...] - all set-up on a bare Debian 12: packages, configuration, build in build/.
#
# It builds the programs; --tests also installs what the tests need and builds them.  As root it installs the packages
# that are missing; as any other user it lists them.  Where no package is missing, apt is not called.  Safe to run
# twice: only what has changed is built.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)

packages="gcc libc6-dev cmake ninja-build pkg-config openmpi-bin libopenmpi-dev libhdf5-dev libyajl-dev libisal-dev
    zlib1g-dev libzstd-dev libsqlite3-dev libprotobuf-c-dev protobuf-c-compiler libcunit1-dev"
targets=programs
if [ "${1:-}" = --tests ]; then
    shift
    targets=all
    packages="$packages clang libclang-rt-14-dev clang-tidy shellcheck python3 python3-h5py python3-tables python3-pandas
        hdf5-tools valgrind zstd iproute2 procps"
fi

missing()
{
    for package in $packages; do
        if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2> /dev/null)" != installed ]; then
            printf '%s ' "$package"
        fi
    done
}

if command -v dpkg-query > /dev/null && command -v apt-get > /dev/null; then
    wanted=$(missing)
    if [ -n "$wanted" ] && [ "$(id -u)" -ne 0 ]; then
        echo "setup: packages are missing, and only root may install them:" >&2
        echo "    apt-get update && apt-get install --no-install-recommends $wanted" >&2
        exit 1
    elif [ -n "$wanted" ]; then
        echo "setup: installing $wanted"
        export DEBIAN_FRONTEND=noninteractive
        apt-get -o DPkg::Lock::Timeout=300 update -q
        # shellcheck disable=SC2086  # package names are words
        apt-get -o DPkg::Lock::Timeout=300 install -q -y --no-install-recommends $wanted
    fi
fi

# A folder that is configured already keeps its generator.
if [ ! -f "$top/build/CMakeCache.txt" ]; then
    set -- -G Ninja "$@"
fi
mkdir -p "$top/build"
if ! cmake -S "$top" -B "$top/build" "$@" > "$top/build/setup.log" 2>&1; then
    cat "$top/build/setup.log" >&2
    exit 1
fi
cmake --build "$top/build" --target "$targets"
