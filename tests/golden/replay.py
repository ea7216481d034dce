#!/usr/bin/python3
"""replay.py TLMPI MAKE_TRACE - the dependency graph explains all of the time: on simulated jobs and on public traces, its replay with
nothing changed is done with every node when that was measured, to the nanosecond.

The program compares them (error_ns of a judgement) and tells the largest difference in model_error of table whatif.  Prints what
fails and, last, "N passed, N failed, N skipped".
"""
import collections
import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile

TLMPI, MAKE_TRACE = (os.path.abspath(p) for p in sys.argv[1:3])
CORPUS = os.environ.get("TLMPI_CORPUS", "")
counts = collections.Counter()

# Jobs of all kinds: clocks of hosts and devices that are off, sends and receives, ranks that begin late or are missing, no groups
# told, no waits recorded.
JOBS = (
    "--ranks 8 --steps 4",
    "--ranks 8 --steps 3 --tp 4 --clock-offset-us 3000 --clock-drift-ppb 20000",
    "--ranks 8 --steps 3 --pp 4 --layers 1 --device-clock-us 10 --no-sync-events",
    "--ranks 16 --steps 3 --tp 2 --pp 2 --ep 2 --layers 1 --gpus 4 --clock-offset-us 3000",
    "--ranks 4 --steps 3 --flavour rocm --tp 4 --tp-stream compute --no-groups",
    "--ranks 8 --steps 4 --shard --missing 1,4 --age 2022 --no-seq",
    "--ranks 8 --steps 5 --sync 0 --cut-head-us 4000 --cut-tail-us 500 --fault allocator --fault-rank 1",
    "--ranks 1 --steps 3",
)


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {more}")


def table(path, name):
    text = subprocess.run([TLMPI, "show", path, name, "--format", "csv"], capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def replayed(work, name, folder):
    """False where the folder holds no trace."""
    out = os.path.join(work, "out")
    got = subprocess.run([TLMPI, "-f", "-q", "-o", out, folder], capture_output=True, text=True)
    if got.returncode == 3:
        return False
    check(f"{name}: the run works", got.returncode in (0, 1), got.stderr[-300:])
    unchanged = [r for r in table(out + ".h5", "whatif") if r["scenario"] == "unchanged"]
    check(f"{name}: one replay is unchanged", len(unchanged) == 1, unchanged)
    for row in unchanged:
        check(f"{name}: it gives the measured times", float(row["model_error"]) == 0, row)
        # What runs on a device lies within the time of the job.
        ranks = [r for r in table(out + ".h5", "rank") if int(r["intervals"]) > 0]
        longest = max((int(r["last_ns"]) - int(r["first_ns"]) for r in ranks), default=0)
        check(f"{name}: it takes as long as the job", int(row["time_ns"]) > 0.5 * longest or longest == 0, (row["time_ns"], longest))
    return True


def main():
    with tempfile.TemporaryDirectory() as work:
        for options in JOBS:
            folder = os.path.join(work, "job")
            shutil.rmtree(folder, ignore_errors=True)
            subprocess.run([MAKE_TRACE, "-o", folder, "--op-share", "0.1", *options.split()], check=True, capture_output=True)
            check(f"{options}: there are traces", replayed(work, options, folder))
        traces = os.path.join(CORPUS, "traces")
        if CORPUS and os.path.isdir(traces):
            read = sum(replayed(work, name, os.path.join(traces, name)) for name in sorted(os.listdir(traces))
                       if os.path.isdir(os.path.join(traces, name)))
            check("public traces are there", read > 0)
        else:
            counts["skipped"] += 1
            print("SKIPPED: public traces: TLMPI_CORPUS names no folder with traces/")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


sys.exit(main())
