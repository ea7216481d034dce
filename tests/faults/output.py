#!/usr/bin/env python3
"""output.py TLMPI MAKE_TRACE - results that cannot be written, and runs that are killed: the old file, the new one or none."""

import glob
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from traces import Checks, Run, document, write

# The command runs with a full small disk, or a read-only folder, at its first argument; both go away with it.
FULL = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o "size=$2" none "$1" || exit 97\nshift 2\n"$@"\nstatus=$?\n'
        'ls -A "$0" >&2\nexit $status')
READ_ONLY = ("unshare", "--mount", "sh", "-c",
             'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 97\nshift\n"$@"', "sh")


def mounts_work(folder):
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    probe = subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", folder], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
    return probe.returncode == 0


def refused(checks, run, what, path):
    checks.that(run.status == 4, what + ": exit status 4", run.status, run.stderr[-300:])
    checks.that(os.path.basename(path) in run.stderr, what + ": the file is named", run.stderr[-300:])


def cannot_write(checks, program, folder, data):
    missing = os.path.join(folder, "no", "such", "out")
    refused(checks, Run(program, [data], missing), "a folder that is not there", missing)

    os.mkdir(os.path.join(folder, "is_a_folder.h5"))
    path = os.path.join(folder, "is_a_folder")
    refused(checks, Run(program, [data], path, ("-f",)), "a folder under the result's name", path)

    path = os.path.join(folder, "out")
    with open(path + ".h5", "w", encoding="ascii") as f:
        f.write("precious")
    refused(checks, Run(program, [data], path), "a result that is there, without -f", path)
    with open(path + ".h5", encoding="ascii") as f:
        checks.that(f.read() == "precious", "a result that is there, without -f: is not touched")
    run = Run(program, [data], path, ("-f",))
    checks.that(run.status == 0 and 0 in run.ranks(), "a result that is there, with -f: is replaced", run.status)
    checks.that(not glob.glob(path + "*.part*"), "nothing half is left", glob.glob(path + "*"))


def bad_disks(checks, program, folder, data, big):
    if not mounts_work(folder):
        checks.skip("a full disk and a read-only folder: this user may not mount")
        return
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    run = Run(program, [data], os.path.join(disk, "out"), prefix=READ_ONLY + (disk,))
    refused(checks, run, "a read-only folder", "out")
    for size in ("4k", "64k", "300k"):
        prefix = list(FULL) + [disk, disk, size]
        run = Run(program, [big], os.path.join(disk, "out"), prefix=prefix)
        what = "a disk of " + size
        refused(checks, run, what, "out")
        checks.that("out.h5\n" not in run.stderr.splitlines(True) and "out.h5.part\n" not in run.stderr.splitlines(True),
                    what + ": no file is left", run.stderr[-300:])


def killed(checks, program, folder, big):
    """Killed at any moment, the result is the old one or the new one, whole."""
    out = os.path.join(folder, "killed")
    start = time.monotonic()
    first = Run(program, [big], out)
    seconds = time.monotonic() - start
    checks.that(first.status == 0, "the run to be killed works", first.status)
    good = Run(program, [big], out, ("-f", "--digest")).stdout
    chance = random.Random(1)
    for i in range(12):
        if i % 2 == 0 and os.path.exists(out + ".h5"):
            os.remove(out + ".h5")
        before = os.path.exists(out + ".h5")
        with subprocess.Popen([program, "-f", "-o", out, big], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            time.sleep(seconds * chance.random())
            child.send_signal(signal.SIGKILL if i % 3 else signal.SIGTERM)
        there = os.path.exists(out + ".h5")
        if there:
            shown = subprocess.run([program, "show", out + ".h5", "rank", "--format", "json"], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, check=False)
            checks.that(shown.returncode == 0 and shown.stdout.startswith(b"["), "killed: the file is whole", shown.returncode)
        else:
            checks.that(not before, "killed: the old file is still there")
        if not there and i % 2 == 0:
            checks.that(Run(program, [big], out, ("-f",)).status == 0, "after a kill the next run works")
    again = Run(program, [big], out, ("-f", "--digest"))
    checks.that(again.status == 0 and again.stdout == good, "after kills a run gives the same", again.status)


def main():
    checks = Checks()
    program, make_trace = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        data, big = os.path.join(folder, "traces"), os.path.join(folder, "big")
        os.mkdir(data)
        write(data, 0, document(0))
        subprocess.run([make_trace, "-o", big, "--ranks", "4", "--mb", "20"], check=True)
        cannot_write(checks, program, folder, data)
        bad_disks(checks, program, folder, data, big)
        killed(checks, program, folder, big)
    checks.close()


if __name__ == "__main__":
    main()
