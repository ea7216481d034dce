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


# --- how sure offsets are -------------------------------------------------------------------------------------------------

CLOCKS = {"two hosts of four": ["--ranks", "8", "--gpus", "4", "--layers", "2"],
          "four hosts of eight": ["--ranks", "32", "--gpus", "8", "--layers", "1"],
          "hosts of two": ["--ranks", "8", "--gpus", "2", "--layers", "2"],
          "hosts of one": ["--ranks", "8", "--gpus", "1", "--layers", "2"],
          "sharded": ["--ranks", "8", "--gpus", "4", "--layers", "2", "--shard"],
          "tensor parallel": ["--ranks", "16", "--gpus", "4", "--tp", "4", "--layers", "1"],
          "a single collective": ["--ranks", "4", "--gpus", "2", "--layers", "1", "--steps", "1"]}


def offsets(work):
    """Of each pair of hosts the distance that was found is off by no more than the table says that it may be."""
    folder = os.path.join(work, "job")
    for name, options in CLOCKS.items():
        for seed in ("1", "2", "3"):
            truth = make(folder, "--steps", "5", "--clock-offset-us", "2000", "--seed", seed, *options)
            rows, share = table(run(work, folder)[0], "clock"), int(options[options.index("--gpus") + 1])
            off = [int(r["offset_ns"]) - truth["hosts"][int(r["rank"]) // share]["offset_ns"] for r in rows]
            sure = max(3 * int(r["sigma_ns"]) + int(r["leeway_ns"]) for r in rows)
            check(f"clocks, {name}, seed {seed}: as sure as is said", max(off) - min(off) <= sure,
                  f"off by {max(off) - min(off)} ns, said {sure}")
            check(f"clocks, {name}, seed {seed}: sure to 50 us", sure <= 55000, sure)


def main():
    with tempfile.TemporaryDirectory() as work:
        withheld(work)
        offsets(work)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


sys.exit(main())
