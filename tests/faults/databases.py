#!/usr/bin/env python3
"""databases.py TLMPI - SQLite exports made to do harm: no crash, no hang, bounded memory, nothing written, a message or an answer."""

import os
import resource
import sqlite3
import subprocess
import sys
import tempfile

from traces import Checks

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
KERNEL_COLUMNS = "start INT, end INT, deviceId INT, streamId INT, correlationId INT, globalPid INT, demangledName INT"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
SLOW = "length(hex(zeroblob(7000000 + start % 3)))"
MOST_BYTES, MOST_S = 600 << 20, 20  # making a file takes most of it


def base(db, kernels=True):
    db.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
    db.execute("INSERT INTO StringIds VALUES (1, 'gemm')")
    if kernels:
        db.execute("CREATE TABLE %s (%s)" % (KERNELS, KERNEL_COLUMNS))
        fill(db)


def fill(db, n=100, **changes):
    row = {"start": "i * 1000", "end": "i * 1000 + 500", "deviceId": "0", "streamId": "7", "correlationId": "i",
           "globalPid": str(144 << 24), "demangledName": "1", **changes}
    db.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO %s (%s) SELECT %s FROM n"
               % (n, KERNELS, ", ".join(row), ", ".join(row.values())))


def view(table, text):
    def make(db):
        base(db, table != KERNELS)
        db.execute("DROP TABLE IF EXISTS " + table)
        db.execute("CREATE VIEW %s AS %s" % (table, text))
    return make


def generated(db):
    base(db)
    fill(db, 5000)
    db.execute("ALTER TABLE %s ADD COLUMN bytes INT GENERATED ALWAYS AS (%s)" % (KERNELS, SLOW))


def values(n=10, **changes):
    def make(db):
        base(db)
        fill(db, n, **changes)
    return make


def columns(db):
    base(db, False)
    db.execute("CREATE TABLE %s (%s, %s)" % (KERNELS, KERNEL_COLUMNS, ", ".join("c%d INT" % i for i in range(1990))))
    fill(db)


def text(size):
    def make(db):
        base(db)
        db.execute("INSERT INTO StringIds VALUES (2, CAST(zeroblob(%d) AS TEXT))" % size)
        fill(db, 10, demangledName="2", start="i * 1000 + 1000000", end="i * 1000 + 1000500")
    return make


def module(sql):
    def make(db):
        base(db, False)
        db.execute(sql)
    return make


def trigger(db):
    base(db)
    db.execute("CREATE TRIGGER META_DATA_EXPORT AFTER INSERT ON StringIds BEGIN DELETE FROM StringIds; END")


CASES = {  # what, how it is made, kernels that must be read
    "an export": (base, 100),
    "an endless view of kernels": (view(KERNELS, ENDLESS + ", ".join("i AS " + c.split()[0] for c in KERNEL_COLUMNS.split(", ")) + " FROM n"),
                                   0),
    "an endless view of names": (view("StringIds", ENDLESS + "i AS id, 'x' AS value FROM n"), None),
    "an endless view of what the export says": (view("META_DATA_EXPORT", ENDLESS + "'x' AS name, 'true' AS value FROM n"), 100),
    "a view of memory": (view("META_DATA_CAPTURE", ENDLESS + "hex(zeroblob(1000000)) || i AS name, 'x' AS value FROM n ORDER BY 1"),
                         100),
    "a view of a file": (view("TARGET_INFO_SESSION_START_TIME", "SELECT readfile('/etc/passwd') AS utcEpochNs"), 100),
    "a view of a view": (view("META_DATA_EXPORT", "SELECT * FROM META_DATA_EXPORT"), 100),
    "a trigger named as a table": (trigger, 100),
    "columns that are computed": (generated, 0),
    "2,000 columns": (columns, 100),
    "huge numbers": (values(start="9223372036854775807 - i", end="9223372036854775807", deviceId="9223372036854775807", streamId="-9223372036854775807 - 1",
                            correlationId="-9223372036854775807 - 1"), None),
    "negative numbers": (values(start="-i", end="-5 * i", globalPid="-1", deviceId="-7", demangledName="-1"), None),
    "no numbers": (values(start="'soon'", end="9e999 - 9e999", deviceId="9e999", streamId="x'00'", globalPid="1.5"), None),
    "ends before starts": (values(start="9223372036854775807", end="-9223372036854775807 - 1"), None),
    "a text of 100 MB": (text(100000000), None),
    "a text of 10 MB": (text(10000000), 110),
    "a table of text search": (module("CREATE VIRTUAL TABLE %s USING fts5(start, end, deviceId)" % KERNELS), 0),
    "a table of rectangles": (module("CREATE VIRTUAL TABLE %s USING rtree(start, end, deviceId)" % KERNELS), 0),
}


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_S, MOST_S + 1))


def run(checks, program, what, path, expected, folder):
    before = sorted(os.listdir(os.path.dirname(path)))
    out = os.path.join(folder, "out")
    for words in ([program, "check", path], [program, "-f", "-o", out, path]):
        child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit)
        said = b"".join(child.communicate())
        checks.that(child.returncode in (0, 1, 3), "%s: a result or a message" % what, child.returncode, said[-300:])
    if expected is not None and "asan" not in program:
        shown = [b"0"]
        if child.returncode < 3:
            shown = subprocess.run([program, "show", out + ".h5", "rank", "--columns", "intervals", "--format", "csv"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.split()
        checks.that(shown[-1:] == [b"%d" % expected], "%s: %d kernels" % (what, expected), shown)
    if os.path.exists(out + ".h5"):
        os.remove(out + ".h5")
    checks.that(sorted(os.listdir(os.path.dirname(path))) == before, what + ": nothing is written beside it", os.listdir(os.path.dirname(path)))


def main():
    checks, program = Checks(), os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="tlmpi-test.") as folder:
        os.mkdir(os.path.join(folder, "in"))
        for what, (make, expected) in CASES.items():
            path = os.path.join(folder, "in", "it.sqlite")
            db = sqlite3.connect(path)
            try:
                make(db)
                db.commit()
            except (sqlite3.Error, MemoryError) as fault:
                checks.skip("%s: %s" % (what, fault))
                continue
            finally:
                db.close()
            run(checks, program, what, path, expected, folder)
            os.remove(path)
        for name in ("a?mode=rwc.sqlite", "a#b%41.sqlite", "it's \"so\".sqlite", "file:x.sqlite", "a b;DROP TABLE.sqlite", "%00.sqlite"):
            path = os.path.join(folder, "in", name)
            db = sqlite3.connect(path)
            base(db)
            db.commit()
            db.close()
            run(checks, program, "a file named " + name, path, 100, folder)
            os.remove(path)
        path = os.path.join(folder, "in", "wal.sqlite")
        db = sqlite3.connect(path)
        db.execute("PRAGMA journal_mode=WAL")
        base(db)
        db.commit()
        run(checks, program, "a file that is being written (WAL)", path, None, folder)
        child = subprocess.run([program, "check", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        checks.that(child.returncode == 3 and b"wal.sqlite-wal" in child.stdout, "rows in a WAL are told", child.returncode, child.stdout)
        db.close()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    checks.that(peak < MOST_BYTES or "asan" in program, "memory is bounded", peak)
    checks.close()


main()
