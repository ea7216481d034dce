"""phase_checks.py - what phases.py and phase_files.py share: runs of tlmpi on files of phases, and what became of the checks."""
import collections
import csv
import io
import os
import shutil
import subprocess
import sys

TLMPI = os.path.abspath(sys.argv[1])
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {more}")


def run(folder, *options, procs=1, status=0):
    out = folder + ".h5"
    command = (["mpirun", "-q", "-n", str(procs)] if procs > 1 else []) + [TLMPI, "-f", "-o", out, folder, *options]
    got = subprocess.run(command, capture_output=True, text=True)
    check(f"{os.path.basename(folder)} {' '.join(options)}: status {status}", got.returncode == status,
          f"{got.returncode} {got.stderr[-300:]}")
    return out, got


def table(path, name):
    text = subprocess.run([TLMPI, "show", path, name, "--format", "csv"], capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def judged(work, job):
    folder = os.path.join(work, "job")
    shutil.rmtree(folder, ignore_errors=True)
    job.write(folder)
    return table(run(folder, "-q")[0], "phase_verdict")


def stragglers(rows):
    return [(int(r["rank"]), r["phase"]) for r in rows[1:] if r["verdict"] == "straggler"]
