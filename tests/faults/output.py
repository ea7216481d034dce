#!/usr/bin/env python3
"""output.py TLMPI MAKE_TRACE - results that cannot be written, and runs that are killed: the old file, the new one or none."""

import glob
import json
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
    run = Run(program, [data], os.path.join(disk, "tables"), ("compat", "hta"), prefix=READ_ONLY + (disk,))
    refused(checks, run, "a folder on a read-only disk", "tables")
    checks.that("Read-only file system" in run.stderr, "a folder on a read-only disk: is called so", run.stderr[-300:])
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


def part_appears(path, child):
    """Waits until the run has begun its file; whether it has."""
    for _ in range(2000):
        if os.path.exists(path):
            return True
        if child.poll() is not None:
            return False
        time.sleep(0.002)
    return False


def ended(checks, program, make_trace, folder, big):
    """A signal that can be caught leaves nothing half; what SIGKILL leaves is replaced by the next run."""
    endless = os.path.join(folder, "rank-9.json")       # a pipe that nobody writes: the run waits for it
    os.mkfifo(endless)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for name in ("HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "XCPU", "KILL"):
        number = getattr(signal, "SIG" + name)
        out = os.path.join(folder, "ended")
        with subprocess.Popen([program, "-f", "-o", out, big, endless], **quiet) as child:
            begun = part_appears(out + ".h5.part", child)
            child.send_signal(number)
        # Nothing has been read: there is nothing to finish with.
        expected = 128 + number if name in ("INT", "TERM", "USR1") else -number
        checks.that(begun and child.returncode == expected, "SIG%s ends the run" % name, begun, child.returncode)
        left = [os.path.basename(path) for path in glob.glob(out + "*")]
        checks.that(left == (["ended.h5.part"] if name == "KILL" else []), "after SIG%s" % name, left)
    checks.that(Run(program, [big], out).status == 0, "the part of a run that was killed is replaced, without -f")
    left = [os.path.basename(path) for path in glob.glob(out + "*")]
    checks.that(left == ["ended.h5"], "the part of a run that was killed is gone", left)

    # What the shell has told it to ignore, it ignores.
    out = os.path.join(folder, "nohup")
    with subprocess.Popen(["sh", "-c", 'trap "" HUP; exec "$@"', "sh", program, "-o", out, big], **quiet) as child:
        part_appears(out + ".h5.part", child)
        child.send_signal(signal.SIGHUP)
    checks.that(child.returncode == 0 and os.path.exists(out + ".h5"), "an ignored SIGHUP is ignored", child.returncode)

    # A table that show prints, and HTA's tables.
    for arguments in (["show", out + ".h5", "interval", "-o", os.path.join(folder, "shown")],
                      ["compat", "hta", big, "-o", os.path.join(folder, "hta")]):
        pattern = os.path.join(folder, arguments[-1], "*.part") if arguments[0] == "compat" else arguments[-1] + ".part"
        with subprocess.Popen([program] + arguments, **quiet) as child:
            while child.poll() is None and not glob.glob(pattern):
                time.sleep(0.001)
            child.send_signal(signal.SIGTERM)
        checks.that(child.returncode == -signal.SIGTERM and not glob.glob(pattern), "SIGTERM in %s" % arguments[0],
                    child.returncode, glob.glob(pattern))

    if shutil.which("mpirun") is None or "serial" in program:
        checks.skip("a job of mpirun that is ended: no mpirun, or a program without MPI")
        return
    out = os.path.join(folder, "job")
    with subprocess.Popen(["mpirun", "-n", "3", program, "-o", out, big, endless], **quiet) as child:
        begun = part_appears(out + ".h5.part", child)
        child.send_signal(signal.SIGTERM)
    checks.that(begun and child.returncode != 0, "SIGTERM to mpirun ends the job", begun, child.returncode)
    checks.that(not glob.glob(out + "*"), "SIGTERM to mpirun: nothing half is left", glob.glob(out + "*"))
    os.remove(endless)
    ended_at_work(checks, program, make_trace, folder)


def finished_early(checks, program, data, folder):
    """SIGUSR1, SIGTERM, SIGINT: the run reads no more, and writes the ranks that it has read."""
    out, pipe = os.path.join(folder, "early"), os.path.join(folder, "rank-8.json")
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)                   # that writes nothing: the run waits
    runs = [[program]] if shutil.which("mpirun") is None or "serial" in program else [[program], ["mpirun", "-q", "-n", "3", program]]
    for run in runs:
        for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT)[:3 if len(run) == 1 else 1]:
            with subprocess.Popen(run + ["-f", "-o", out, data, pipe], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE) as child:
                begun = part_appears(out + ".h5.part", child)
                time.sleep(2)                           # for the other ranks, which are small
                child.send_signal(number)
                said = child.communicate(timeout=60)[1].decode(errors="replace")
            what = "signal %d, %s" % (number, run[0])
            checks.that(begun and child.returncode == 128 + number, what + ": the status tells", begun, child.returncode)
            checks.that("rank-8.json: not read: a signal" in said and "complete = 0" in said, what + ": it says so", said)
            shown = Run(program, ["show", out + ".h5", "rank", "--where", "status=ok", "--format", "json"])
            checks.that(shown.status == 0 and len(json.loads(shown.stdout)) == 1, what + ": the rank is there", shown.stdout)
            os.remove(out + ".h5")
    os.close(writer)


def ended_at_work(checks, program, make_trace, folder):
    """mpirun kills the others once the first has ended by the signal: the one that writes needs a processor before that."""
    data, out = os.path.join(folder, "slow"), os.path.join(folder, "at_work")
    subprocess.run([make_trace, "-o", data, "--ranks", "3", "--mb", "120", "--plain"], check=True)
    processor = str(min(os.sched_getaffinity(0)))       # that somebody else wants all of
    proc = [program, "-f", "--parser=yajl", "-o", out, data]
    job = ["mpirun", "-q", "-n", "1", "nice", "-n", "10", "taskset", "-c", processor] + proc + [":", "-n", "2"] + proc
    left, begun = [], 0
    for number in (signal.SIGTERM, signal.SIGINT):
        with subprocess.Popen(["taskset", "-c", processor, sys.executable, "-c", "while True: pass"]) as busy:
            with subprocess.Popen(job, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
                begun += part_appears(out + ".h5.part", child)
                child.send_signal(number)
            busy.kill()
        left += glob.glob(out + "*")
    shutil.rmtree(data)
    checks.that(begun == 2 and not left, "a job at work that mpirun ends: nothing is left", begun, left)


def links_in_the_way(checks, program, folder, data):
    """A link where an output or its part goes: what the link leads to keeps its content."""
    at = os.path.join(folder, "links")
    os.mkdir(at)
    victim, out, result = (os.path.join(at, name) for name in ("victim", "out", "result"))
    with open(victim, "w", encoding="ascii") as f:
        f.write("precious")
    checks.that(Run(program, [data], result).status == 0, "links: a result")
    for what in (["ask", result + ".h5"], ["show", result + ".h5", "rank"], ["html", result + ".h5"], ["compat", "hta", data]):
        name = os.path.join(out, "names.csv") if what[0] == "compat" else out
        for link in (os.symlink, os.link):
            for suffix, status in ((".part", 0), ("", 4 if link == os.symlink else 0)):
                if what[0] == "compat":
                    os.mkdir(out)
                link(victim, name + suffix)
                run = Run(program, what + ["-f"], out)
                with open(victim, encoding="ascii") as f:
                    kept = f.read() == "precious"
                checks.that(run.status == status and kept, "%s: %s at %s" % (what[0], link.__name__, "names" + suffix), run.status,
                            kept, run.stderr[-200:])
                if what[0] == "compat":
                    shutil.rmtree(out)
                for left in glob.glob(out + "*"):
                    os.remove(left)


def file_size_limit(checks, program, folder, big):
    """A file that may not grow (ulimit -f) is an output that cannot be written."""
    out = os.path.join(folder, "limited")
    run = Run(program, [big], out, prefix=("sh", "-c", 'ulimit -f 100; exec "$@"', "sh"))
    refused(checks, run, "a limit of file size", out)
    checks.that(not glob.glob(out + "*"), "a limit of file size: nothing half is left", glob.glob(out + "*"))


def main():
    checks = Checks()
    program, make_trace = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        data, big = os.path.join(folder, "traces"), os.path.join(folder, "big")
        os.mkdir(data)
        write(data, 0, document(0))
        subprocess.run([make_trace, "-o", big, "--ranks", "4", "--mb", "20"], check=True)
        cannot_write(checks, program, folder, data)
        links_in_the_way(checks, program, folder, data)
        bad_disks(checks, program, folder, data, big)
        file_size_limit(checks, program, folder, big)
        killed(checks, program, folder, big)
        ended(checks, program, make_trace, folder, big)
        finished_early(checks, program, data, folder)
    checks.close()


if __name__ == "__main__":
    main()
