"""files.py - files that are no plain text of a trace: compressed, cut, too large, of something else, pipes; and crowds in one."""

import gzip
import json
import os
import shutil
import socket
import subprocess
import tempfile
import zlib

from damages import witness
from traces import EVENTS, STEP_US, TAIL, Run, document, events, head, kernel, launch, write


def gzips(checks, program):
    """Compressed files, whole and not."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
        os.mkdir(data)
        write(data, 0, document(0))
        text = document(1).encode()
        members = gzip.compress(text[:700]) + gzip.compress(text[700:1500]) + gzip.compress(text[1500:])
        write(data, 1, members, ".gz")
        write(data, 2, gzip.compress(document(2).encode()) + b"\0" * 512, ".gz")
        write(data, 3, gzip.compress(document(3).encode()) + b"no member at all", ".gz")
        packed = bytearray(gzip.compress(document(4).encode()))
        packed[-5] ^= 0xff
        write(data, 4, bytes(packed), ".gz")
        packed = bytearray(gzip.compress(document(5).encode()))
        packed[len(packed) // 2] ^= 0x55
        write(data, 5, bytes(packed), ".gz")
        cuts = {}
        whole = len(gzip.compress(document(100).encode()))
        for rank, at in enumerate(range(1, whole - 1, 3), 100):
            packed = gzip.compress(document(rank).encode())[:at]
            cuts[rank] = (at, zlib.decompressobj(31).decompress(packed))
            write(data, rank, packed, ".gz")
        run = Run(program, [data], out)
        rows = run.ranks()
        checks.that(run.status == 1, "gzip: exit status 1", run.status, run.stderr[-300:])
        witness(checks, run, "gzip")
        row = rows.get(1, {})
        checks.that(row.get("status") == "ok" and row.get("intervals") == EVENTS, "three gzip members are one text", row)
        row = rows.get(2, {})
        checks.that(row.get("intervals") == EVENTS, "zero bytes behind the last member", row)
        for rank, what in ((3, "bytes behind the last member"), (4, "a wrong checksum")):
            row = rows.get(rank, {})
            checks.that(row.get("intervals") == EVENTS and row.get("status") in ("damaged", "cut") and row.get("error"),
                        what + ": all is read, the fault is named", row)
        row = rows.get(5, {})
        checks.that(row.get("status") in ("damaged", "cut", "unreadable") and "gzip" in row.get("error", ""), "a broken gzip stream", row)
        # The other text that a flipped bit makes of the data is not what is wrong.
        for flipped in range(len(packed) // 3, len(packed) // 2, 7):
            packed = bytearray(gzip.compress(document(6).encode()))
            packed[flipped] ^= 4
            run_of = Run(program, [write(folder, 6, bytes(packed), ".gz")], out + "-flipped", ("-f",))
            checks.that("gzip" in run_of.stderr and run_of.stderr.count("rank-6.json.gz") <= 1 + run_of.stderr.count("\n"),
                        "a bit flipped at byte %d: the gzip stream is named, once" % flipped, run_of.status, run_of.stderr[-400:])
        for rank, (at, inflated) in cuts.items():
            what, row = "gzip cut at byte %d" % at, rows.get(rank)
            # What comes out of the last block may differ by a few bytes from one library to another.
            most, least = inflated.count(b'"kernel"'), inflated[:-200].count(b'"kernel"') - 1
            if b'"traceEvents": [' not in inflated:
                checks.that(row is None or row["status"] in ("unreadable", "cut"), what + ": nothing to be had", row)
            elif inflated.rstrip().endswith(TAIL.strip().encode()):
                checks.that(row is not None and row["intervals"] == EVENTS and row["status"] in ("cut", "damaged"),
                            what + ": the text is whole, the file is not", row)
            elif checks.that(row is not None and row["status"] == "cut", what + ": status cut", row):
                checks.that(least <= row["intervals"] <= most, "%s: %d to %d kernels" % (what, least, most), row["intervals"])


def huge(checks, program):
    """A gigabyte of one text: in the name of an event, and in front of the array.  Memory stays bounded."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
        os.mkdir(data)
        write(data, 0, document(0))
        block = b"x" * (1 << 20)
        names = {3: "greeting.json.gz", 4: "profile.json.gz"}
        for rank, before, after in ((3, '{"note": "', '"}'), (4, '{"traceName": "', '", "traceEvents": []}'), (1, head(1) + ",\n".join(events()) + ',\n{"name": "', '"}' + TAIL),
                                    (2, '{"note": "', '", ' + document(2)[1:])):
            name = names.get(rank, "rank-%d.json.gz" % rank)
            with gzip.open(os.path.join(data, name), "wb", compresslevel=1) as f:
                f.write(before.encode())
                for _ in range(1024 if rank < 3 else 100):
                    f.write(block)
                f.write(after.encode())
        run = Run(program, [data], out, timeout=300)
        rows = run.ranks()
        checks.that(run.status == 1, "1 GB texts: exit status 1", run.status, run.stderr[-300:])
        witness(checks, run, "1 GB texts")
        row = rows.get(1, {})
        checks.that(row.get("intervals") == EVENTS and row.get("dropped") == 1, "a name of 1 GB: that entry is lost", row)
        row = rows.get(2, {})
        checks.that(row.get("status") == "unreadable" and "searched no further" in row.get("error", ""),
                    "1 GB before the array: the rank is named with the reason", row)
        checks.that("not a trace: " in run.stderr and "/greeting.json.gz: " in run.stderr, "a large file of something else",
                    run.stderr[-600:])
        checks.that("cannot be read: " in run.stderr and "/profile.json.gz: " in run.stderr, "it begins as a trace does",
                    run.stderr[-600:])
        os.remove(os.path.join(data, names[3]))
        for rank in (1, 2):
            os.remove(os.path.join(data, "rank-%d.json.gz" % rank))
        run = Run(program, [data], out + "-begun")
        checks.that(run.status == 1, "a trace that is searched in vain: exit status 1", run.status)
        checks.that(run.peak_bytes < 300 << 20, "1 GB texts: less than 300 MB of memory", run.peak_bytes)


def names(checks, program):
    """Names of megabytes, each another one, and then no memory: the one rank is read in little or given up, the others stay."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
        os.mkdir(data)
        write(data, 0, document(0))
        path = os.path.join(data, "rank-1.json.gz")

        def fill(entries):
            with gzip.open(path, "wt", compresslevel=1) as f:
                f.write(head(1))
                f.writelines(entries)
                f.write(events()[0] + TAIL)

        fill(kernel(i, name="%d" % i + "n" * (4 << 20), args={"correlation": i}) + ",\n" for i in range(30))
        runs = [Run(program, [data], out + str(i), options) for i, options in
                enumerate(((), ("--parser", "yajl")))]
        for run in runs:
            row = run.ranks().get(1, {})
            checks.that(run.status == 0 and row.get("intervals") == row.get("repaired") == 30, "long names are cut", row)
            checks.that(run.rows("interval") == runs[0].rows("interval"), "long names are cut to the same texts")
        checks.that(len({r["name"] for r in runs[0].rows("interval") if r["rank"] == 1}) == 30, "long names stay apart")
        checks.that(runs[0].peak_bytes < 150 << 20, "long names: less than 150 MB of memory", runs[0].peak_bytes)
        fill(kernel(i, name="k%d" % i) + ",\n" for i in range(200000))

        def limited(kilobytes, path):
            prefix = ("sh", "-c", 'ulimit -v %d; exec "$@"' % kilobytes, "sh")
            return Run(program, [path], out + str(kilobytes), ("-f",), prefix=prefix)

        least = 20000           # what the program itself takes
        while least < 10**6 and limited(least, os.path.join(data, "rank-0.json")).status != 0:
            least += 10000
        for more in (5000, 10000, 20000, 40000, 60000):
            run = limited(least + more, data)
            row = run.ranks().get(1, {})
            what = "%d kB of memory" % (least + more)
            checks.that(run.status == 1 and row.get("status") == "unreadable" and "more than memory has room for" in row.get("error", ""),
                        what + ": the rank is given up", run.status, row, run.stderr[-300:])
            witness(checks, run, what)


def bounded(checks, program):
    """A million equal kernels in 4 MB of gzip, and a bound on memory: it holds, and what was read is kept."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
        os.mkdir(data)
        write(data, 0, document(0))
        with gzip.open(os.path.join(data, "rank-1.json.gz"), "wt", compresslevel=1) as f:
            f.write(head(1))
            for _ in range(1000):
                f.write((kernel(1) + ",\n") * 1000)
            f.write(kernel(1) + TAIL)
        run = Run(program, [data], out, ("--max-memory", "150M"))
        row = run.ranks().get(1, {})
        checks.that(run.status == 1 and row.get("status") == "cut" and "than --max-memory has room for" in row.get("error", ""),
                    "--max-memory: the rank is cut and told", run.status, row, run.stderr[-300:])
        checks.that("--max-memory" in run.stderr + run.stdout, "--max-memory: the words name it", run.stderr[-300:])
        witness(checks, run, "--max-memory")
        checks.that(row.get("intervals", 0) > 200000, "--max-memory: what there was room for is kept", row)
        checks.that(run.peak_bytes < 150 << 20, "--max-memory: it is held", run.peak_bytes)
        for size in ("0", "-1", "1X", "4GB", "", "99999999999G", "1.5G"):
            bad = Run(program, ["check", data, "--max-memory=" + size])
            checks.that(bad.status == 2, "--max-memory %r is refused" % size, bad.status, bad.stderr)


def files(checks, program):
    """What is no trace at all."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
        os.mkdir(data)
        write(data, 0, document(0))
        write(data, 1, "")
        os.symlink("/nonexistent/file", os.path.join(data, "rank-2.json"))
        write(data, 3, b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
        write(data, 4, gzip.compress(b""), ".gz")
        write(data, 5, json.dumps({"schema": "1.0.2-chakra", "nodes": [{"id": 1, "name": "x"}]}))
        write(data, 6, json.dumps({"some": ["other", "json"]}))
        for rank, code in ((8, "utf-16"), (9, "utf-16-le"), (10, "utf-16-be")):
            write(data, rank, document(rank).encode(code))
        os.chmod(folder, 0o755)
        prefix = ()
        write(data, 7, document(7))
        os.chmod(os.path.join(data, "rank-7.json"), 0)
        if os.geteuid() == 0:
            # Modes mean nothing to root: the program runs as somebody else.
            if shutil.which("setpriv") is None:
                checks.skip("a file without read permission: root may read all, and setpriv is not there")
                os.remove(os.path.join(data, "rank-7.json"))
            else:
                prefix = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
        os.chmod(folder, 0o777)
        os.chmod(data, 0o755)
        run = Run(program, [data], out, prefix=prefix)
        rows = run.ranks()
        checks.that(run.status == 1, "files that are no traces: exit status 1", run.status, run.stderr[-500:])
        witness(checks, run, "files that are no traces")
        words = run.stderr + run.stdout
        for rank, what in ((1, "an empty file"), (2, "a dangling link"), (3, "a picture"), (4, "an empty gzip file"),
                           (7, "a file without read permission")):
            if os.path.lexists(os.path.join(data, "rank-%d.json" % rank)) or rank == 4:
                checks.that("rank-%d.json" % rank in words, what + ": is named", words[-600:])
                checks.that(rank not in rows or rows[rank]["status"] == "unreadable", what + ": is unreadable", rows.get(rank))
        for rank in (8, 9, 10):
            checks.that("expected UTF-8, found UTF-16" in rows.get(rank, {}).get("error", ""), "UTF-16 is named", rows.get(rank))
        checks.that(5 not in rows, "other JSON is no rank", rows.get(5))
        row = rows.get(6, {})
        checks.that((row.get("status"), row.get("rank_from")) == ("unreadable", "file_name"), "other JSON in a rank's place loses it", row)

        empty = os.path.join(folder, "empty")
        os.mkdir(empty)
        for what, path in (("a folder without traces", empty), ("a path that is not there", empty + "/no"),
                           ("an empty file alone", os.path.join(data, "rank-1.json"))):
            run = Run(program, [path], os.path.join(folder, "none"))
            checks.that(run.status == 3, what + ": exit status 3", run.status, run.stderr[-300:])
            checks.that(os.path.basename(path) in run.stderr, what + ": is named", run.stderr[-300:])
            checks.that(not os.path.exists(os.path.join(folder, "none.h5")), what + ": no result file")


def pipes(checks, program):
    """Pipes: read as a stream where they are named and somebody writes; else said, and never waited for."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
        os.mkdir(data)
        write(data, 0, document(0))
        os.mkfifo(os.path.join(data, "rank-1.json"))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.join(data, "rank-2.json"))
        run = Run(program, [data], out, timeout=60)
        checks.that(run.status == 1, "a pipe and a socket in a folder: exit status 1", run.status, run.stderr[-300:])
        witness(checks, run, "a pipe and a socket in a folder")
        for rank, word in ((1, "a pipe"), (2, "a socket")):
            row = run.ranks().get(rank, {})
            checks.that(row.get("status") == "unreadable" and word in row.get("error", ""), word + " in a folder is named", row)
            checks.that("rank-%d.json" % rank in run.stderr + run.stdout, word + ": its path", run.stderr[-300:])
        for what, path, word in (("a pipe without a writer", os.path.join(data, "rank-1.json"), "writer"),
                                 ("a socket", os.path.join(data, "rank-2.json"), "a socket"),
                                 ("a device", "/dev/zero", "a device")):
            for command in (["run"], ["check"], ["compat", "hta"]):
                into = None if command == ["check"] else os.path.join(folder, "none")
                run = Run(program, [path], into, command, timeout=60)
                checks.that(run.status == 3 and (word in run.stderr or "pipe" in run.stderr),
                            "%s is refused with words, %s" % (what, " ".join(command)), run.status, run.stderr[-300:])
        for what, packed in (("text", document(3).encode()), ("gzip", gzip.compress(document(3).encode()))):
            source = write(folder, 3, packed)
            named = os.path.join(folder, "named-%s.json" % what)
            os.mkfifo(named)
            writer = subprocess.Popen(["sh", "-c", 'sleep 1; cat "$1" > "$2"', "sh", source, named])
            run = Run(program, [named], os.path.join(folder, "late-" + what), timeout=60)
            row = run.ranks().get(3, {})
            checks.that(run.status == 0 and row.get("intervals") == EVENTS, "a named pipe of %s, its writer late" % what, row)
            writer.wait()
            with open(source, "rb") as f, subprocess.Popen(["cat"], stdin=f, stdout=subprocess.PIPE) as cat:
                fd = cat.stdout.fileno()
                shown = subprocess.run([program, "check", "/dev/fd/%d" % fd], stdout=subprocess.PIPE, pass_fds=[fd],
                                       stderr=subprocess.PIPE, check=False, timeout=60)
            checks.that(shown.returncode == 0 and str(2 * EVENTS) in shown.stdout.decode(), "a pipe of the shell, " + what,
                        shown.returncode, shown.stderr[-300:])


def crowds(checks, program):
    """Thousands of devices and thousands of steps: rows and memory grow with what the trace holds, not with the product."""
    n = 3000
    marks = [launch(i, cat="user_annotation", name="ProfilerStep#%d" % i, dur=STEP_US, args={}) for i in range(n)]
    for what, start, dur, by_step in (("a piece of work a device", lambda d: d * STEP_US + 2, 3, n),
                                      ("work through all steps", lambda d: 2, n * STEP_US - 4, 0)):
        with tempfile.TemporaryDirectory() as folder:
            data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
            os.mkdir(data)
            work = [kernel(d, ts=start(d), dur=dur, args={"device": d}) for d in range(n)]
            write(data, 0, document(0, marks + work))
            run = Run(program, [data], out)
            rows = run.rows("breakdown")
            checks.that(run.status == 0, "%d devices and steps, %s: exit status 0" % (n, what), run.status, run.stderr[-300:])
            checks.that(len(rows) == 2 * (n + 1) + n + by_step, "%d devices and steps, %s: rows" % (n, what), len(rows))
            whole = sum(r["busy_ns"] for r in rows if r["rank"] == 0 and r["device"] == -1 and r["step"] == -1)
            steps = sum(r["busy_ns"] for r in rows if r["rank"] == 0 and r["device"] == -1 and r["step"] >= 0)
            devices = sum(r["busy_ns"] for r in rows if r["device"] >= 0 and r["step"] == -1)
            checks.that(whole == steps == devices == n * dur * 1000, "%d devices and steps, %s: the sums" % (n, what),
                        whole, steps, devices)
            checks.that(run.peak_bytes < 64 << 20, "%d devices and steps, %s: memory" % (n, what), run.peak_bytes)
