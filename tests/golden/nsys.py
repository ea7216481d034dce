#!/usr/bin/python3
"""nsys.py TLMPI [MPI] - real exports of Nsight Systems, against sums of their rows and a count of their waits by another program.

In TLMPI_CORPUS: nsys/*.sqlite, and in golden/nsys/NAME.csv a row a device.  Of each file the tables must be equal to the
nanosecond, and on any number of procs (TLMPI with MPI) the same.  Where the ranks of a file send to each other in kernels of
NCCL, the k-th of each rank is one exchange: who came first waited for the other.  Prints what fails and, last, "N passed, N
failed, N skipped".
"""
import collections
import csv
import glob
import io
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

TLMPI = os.path.abspath(sys.argv[1])
PROCS = [1, 2, 3, 5] if len(sys.argv) > 2 else [0]
CORPUS = os.environ.get("TLMPI_CORPUS", "")
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {str(more)[:800]}")


def run(path, result, procs):
    words = (["mpirun", "-n", str(procs)] if procs > 0 else []) + [TLMPI, "-f", "--digest", "-o", result, path]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    check(f"{path} on {procs} procs: status 0", done.returncode == 0, done.stderr)
    return done.stdout


def table(result, name, *more):
    shown = subprocess.run([TLMPI, "show", result, name, "--format=csv", "--top=0", "--unit=ns", *more], capture_output=True,
                           text=True)
    check(f"show {name}", shown.returncode == 0, shown.stderr)
    return list(csv.DictReader(io.StringIO(shown.stdout)))


def total(rows, column, rank):
    return sum(int(r[column]) for r in rows if int(r["rank"]) == rank)


def compare(path, golden, result):
    ranks, times = table(result, "rank"), table(result, "breakdown")
    launches, kernels, copies = table(result, "launch"), table(result, "kernel"), table(result, "copy")
    operators = [r for r in table(result, "operator") if r["name"].startswith("aten::")]
    with open(golden) as f:
        devices = list(csv.DictReader(f))
    check(f"{path}: a rank a device", len(ranks) == len(devices), ranks)
    for device, row in zip(devices, ranks):
        rank = int(row["rank"])
        want = {k: int(v) for k, v in device.items()}
        got = {"device": int(row["device"]), "kernel_sum_ns": int(row["kernel_ns"]),
               "wall_ns": int(row["last_ns"]) - int(row["first_ns"]), "launches": total(launches, "calls", rank),
               "operators": total(operators, "count", rank)}
        time = next(r for r in times if int(r["rank"]) == rank and int(r["step"]) == -1)
        for name in "wall", "busy", "compute", "comm", "comm_exposed", "copy_exposed", "idle":
            got[name + "_ns"] = int(time[name + "_ns"])
        is_copy = [r for r in kernels if r["kind"] in ("memcpy", "memset")]
        got["copies"] = total(is_copy, "count", rank)
        got["kernels"] = total(kernels, "count", rank) - got["copies"]
        check(f"{path}: copies by name are those of the kernels' table",
              total(copies, "count", rank) <= got["copies"], copies)
        for name, value in got.items():
            check(f"{path}, device {want['device']}: {name}", value == want[name], f"{value}, not {want[name]}")


def exchanges(path):
    """By process: start and end of each kernel that sends and receives."""
    found = collections.defaultdict(list)
    db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    for pid, start, end in db.execute("select globalPid >> 24 & 16777215, start, end from CUPTI_ACTIVITY_KIND_KERNEL join StringIds "
                                      "on id = shortName where value like '%SendRecv%' order by start"):
        found[pid].append((start, end))
    db.close()
    return [found[pid] for pid in sorted(found)]


def waits(path, result):
    ranks = exchanges(path)
    if len(ranks) < 2:
        return
    arrivals = table(result, "arrival")
    check(f"{path}: as many of each rank", len({len(r) for r in ranks}) == 1, [len(r) for r in ranks])
    check(f"{path}: all are matched", len(arrivals) == sum(len(r) for r in ranks), len(arrivals))
    base = min(int(r["start_ns"]) for r in arrivals) - min(s for r in ranks for s, _ in r)
    for k, together in enumerate(zip(*ranks)):
        last = max(s for s, _ in together)
        want = sorted((rank, s + base, max(0, min(last, e) - s)) for rank, (s, e) in enumerate(together))
        got = sorted((int(r["rank"]), int(r["start_ns"]), int(r["wait_ns"])) for r in arrivals if int(r["collective"]) == k)
        check(f"{path}: exchange {k}", got == want, f"{got}, not {want}")
    waited = sum(int(r["wait_ns"]) for r in arrivals)
    balance = [r for r in table(result, "quality") if r["check"] == "wait_balance"]
    check(f"{path}: waits are balanced", len(balance) == 1 and int(balance[0]["count"]) == 0 and int(balance[0]["of"]) == waited,
          balance)


def main():
    files = sorted(glob.glob(os.path.join(CORPUS, "nsys", "*.sqlite"))) if CORPUS else []
    folder = tempfile.mkdtemp(prefix="tlmpi-test.")
    for path in files:
        own = shutil.copy(path, folder)
        result = os.path.join(folder, "result.h5")
        if "without libsqlite3" in subprocess.run([TLMPI, "check", own], capture_output=True, text=True, cwd=folder).stderr:
            files = []
            break
        told = [run(own, result, n) for n in PROCS]
        check(f"{path}: the same on {PROCS} procs", all(t == told[0] for t in told) and told[0] != "", told)
        golden = os.path.join(CORPUS, "golden", "nsys", os.path.basename(path).replace(".sqlite", ".csv"))
        if os.path.exists(golden):
            compare(path, golden, result)
        waits(path, result)
        with open(path, "rb") as a, open(own, "rb") as b:
            check(f"{path}: is as it was", a.read() == b.read())
        check(f"{path}: nothing lies beside it", not glob.glob(own + "-*"), os.listdir(folder))
        os.unlink(own)
    shutil.rmtree(folder)
    if not files:
        counts["skipped"] += 1
        print("SKIPPED: exports of Nsight Systems: TLMPI_CORPUS has none, or tlmpi was made without libsqlite3")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
