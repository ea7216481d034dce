#!/bin/sh
# full_shm.sh COMMAND...: runs it where /dev/shm has no room left, as in a container after a run whose files were left there.  The
# procs find other ways to each other; none may wait for one that has failed.  77: not allowed to make such a place.
unshare -m true 2> /dev/null || exit 77
exec unshare -m sh -c '
    mount -t tmpfs -o size=64k none /dev/shm || exit 77
    dd if=/dev/zero of=/dev/shm/filler bs=4k 2> /dev/null
    exec "$@"' - "$@"
