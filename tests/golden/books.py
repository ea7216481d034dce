#!/usr/bin/python3
"""books.py TLMPI MAKE_TRACE - do waits, charges and clocks add up: on simulated jobs, and on public traces.

Prints what fails and, last, "N passed, N failed, N skipped".
"""
import collections
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

TLMPI, MAKE_TRACE = (os.path.abspath(p) for p in sys.argv[1:3])
CORPUS = os.environ.get("TLMPI_CORPUS", "")
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {more}")


def make(folder, *options):
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([MAKE_TRACE, "-o", folder, *options], check=True)
    with open(os.path.join(folder, "truth.json")) as f:
        return json.load(f)


def run(work, folder, *options):
    """The result file and the summary."""
    out = os.path.join(work, "out")
    got = subprocess.run([TLMPI, "-f", "-o", out, *options, folder], capture_output=True, text=True)
    check(f"{folder}: the run works", got.returncode in (0, 1), got.stderr[-300:])
    return out + ".h5", " ".join(got.stdout.split())


def table(path, name):
    text = subprocess.run([TLMPI, "show", path, name, "--format", "csv"], capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


# --- clocks that are known to be off, and left so -------------------------------------------------------------------------

def withheld(work):
    job, folder = ["--ranks", "8", "--gpus", "4", "--steps", "8", "--layers", "2", "--seed", "3"], os.path.join(work, "job")
    fault = ["--fault", "host_late", "--fault-rank", "5", "--fault-cost"]
    for name, more in (("late", fault + ["0.1"]), ("healthy", [])):
        make(folder, *job, "--clock-offset-us", "20000", *more)
        path, said = run(work, folder, "--clock", "none")
        rows = table(path, "straggler")
        check(f"clocks 29 ms apart, {name}: no verdict on anybody", all(r["verdict"] == "inconclusive" for r in rows),
              [r["verdict"] for r in rows])
        check(f"clocks 29 ms apart, {name}: the summary says so", "No verdict: clocks (+-28.7 ms)" in said, said)
        check(f"clocks 29 ms apart, {name}: nothing is replayed", len(table(path, "whatif")) == 1)
    # What is smaller than the clocks leave open is withheld, what is larger is not.
    for cost, verdict in (("0.03", "inconclusive"), ("0.3", "straggler")):
        make(folder, *job, "--clock-offset-us", "300", *fault, cost)
        path, said = run(work, folder, "--clock", "none")
        row = table(path, "straggler")[5]
        check(f"clocks 0.4 ms apart, a cost of {cost}", row["verdict"] == verdict, row)
        if verdict == "inconclusive":
            check("what is withheld says why", "No verdict: rank 5 costs" in said and "less than the clocks leave open" in said,
                  said)


def main():
    with tempfile.TemporaryDirectory() as work:
        withheld(work)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


sys.exit(main())
