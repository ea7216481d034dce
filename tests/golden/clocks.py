#!/usr/bin/python3
"""clocks.py TLMPI - jobs whose ranks' clocks are set wrong at random give the answers of those whose clocks are right.

Takes public traces, shifts the times of each rank by up to 2 ms, and compares who holds the job up, in which steps and at what
cost with what is known of the job (truth.json), and with the answer for the traces as they are.  Prints what fails and, last,
"N passed, N failed, N skipped".
"""
import collections
import csv
import glob
import gzip
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile

TRACES = os.path.join(os.environ.get("TLMPI_CORPUS", ""), "traces")
MOST_NS, TIMES = 2000000, 20
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {more}")


def text_of(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as f:
        return f.read()


def shifted(text, ns):
    base = re.search(r'"baseTimeNanoseconds": *(\d+)', text)
    if base:
        return text[:base.start(1)] + str(int(base.group(1)) + ns) + text[base.end(1):]
    at = text.index("{") + 1
    return text[:at] + f'"baseTimeNanoseconds": {10 ** 15 + ns}, ' + text[at:]


def answer(tlmpi, folder):
    """(rank, first step, last step, gain in s) of who is named, most gain first."""
    out = folder + ".h5"
    got = subprocess.run([tlmpi, "-f", "-q", "-o", out, folder], capture_output=True, text=True)
    check(f"{folder}: the run works", got.returncode == 0, got.stderr[-300:])
    rows = csv.DictReader(io.StringIO(subprocess.run([tlmpi, "show", out, "straggler", "--format", "csv"],
                                                     capture_output=True, text=True).stdout))
    named = [(int(r["rank"]), int(r["first_step"]), int(r["last_step"]), int(r["gain_ns"]) / 1e9)
             for r in rows if r["verdict"] == "straggler"]
    return sorted(named, key=lambda n: -n[3])


def judge(name, named, truth):
    if truth["rank"] is None:
        check(f"{name}: nobody is named", not named, named)
        return
    check(f"{name}: the rank is named, and no other", [n[0] for n in named] == [truth["rank"]], named)
    if named:
        check(f"{name}: its steps", named[0][1:3] == (truth["first_step"], truth["last_step"]), named[0])
        check(f"{name}: its gain within 2 %", abs(named[0][3] - truth["gain_s"]) <= 0.02 * truth["gain_s"],
              f"{named[0][3]}, not {truth['gain_s']}")


def texts_of(job):
    """The traces of a job, by the names of their files."""
    paths = sorted(glob.glob(os.path.join(TRACES, job, "*.json*")))
    return {os.path.basename(p).removesuffix(".gz"): text_of(p) for p in paths if not p.endswith("truth.json")}


def truth_of(job):
    with open(os.path.join(TRACES, job, "truth.json")) as f:
        return json.load(f)


def write_shifted(folder, job, texts, k):
    """Writes the traces with the clocks set wrong at random; as they are where k is 0."""
    rng = random.Random(f"{job} {k}")
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w") as f:
            f.write(shifted(text, rng.randint(-MOST_NS, MOST_NS) if k > 0 else 0))


def compare(tlmpi, work, job, times):
    texts, truth, folder = texts_of(job), truth_of(job), os.path.join(work, job)
    os.mkdir(folder)
    first = None
    for k in range(times + 1):
        write_shifted(folder, job, texts, k)
        named = answer(tlmpi, folder)
        judge(f"{job}, set wrong for the {k}th time" if k > 0 else job, named, truth)
        first = named if k == 0 else first
        same = len(named) == len(first) and all(a[:3] == b[:3] and abs(a[3] - b[3]) <= 0.001 * b[3]
                                                for a, b in zip(named, first))
        check(f"{job}, {k}: the answer is that of the clocks as they are", same, f"{named}, not {first}")


def jobs_there():
    return [j for j in ("production_st", "production_st_x1.2", "production_ar", "production_ar_x1.3")
            if os.path.isdir(os.path.join(TRACES, j))]


def main():
    tlmpi, jobs = os.path.abspath(sys.argv[1]), jobs_there()
    if not jobs:
        counts["skipped"] += 1
        print("SKIPPED: public traces: TLMPI_CORPUS names no folder with traces/production_*")
    with tempfile.TemporaryDirectory() as work:
        for job in jobs:
            compare(tlmpi, work, job, TIMES)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
