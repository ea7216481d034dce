#!/usr/bin/python3
"""health.py TLMPI MAKE_TRACE - is what is missing in a recording told, and nothing else: on simulated jobs with records taken away.

Prints what fails and, last, "N passed, N failed, N skipped".
"""
import collections
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile

TLMPI, MAKE_TRACE = (os.path.abspath(p) for p in sys.argv[1:3])
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
JOB = ("--ranks", "4", "--gpus", "4", "--steps", "8", "--first-step", "10", "--layers", "2", "--seed", "5")
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {more}")


def make(folder, *options):
    """{rank: trace}"""
    subprocess.run([MAKE_TRACE, "-o", folder, "--plain", *JOB, *options], check=True)
    os.remove(os.path.join(folder, "truth.json"))
    traces = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="ascii") as f:
            trace = json.load(f)
        traces[trace["distributedInfo"]["rank"]] = trace
    return traces


def run(work, traces):
    """The tables of the result by name, and what is said of it."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        for rank, trace in traces.items():
            with open(os.path.join(folder, f"rank{rank}.json"), "w", encoding="ascii") as f:
                json.dump(trace, f)
        out = os.path.join(work, "out")
        got = subprocess.run([TLMPI, "-f", "-o", out, folder], capture_output=True, text=True)
    check("the run works", got.returncode in (0, 1), got.stderr[-300:])

    def table(name):
        shown = subprocess.run([TLMPI, "show", out + ".h5", name, "--format", "csv"], capture_output=True, text=True).stdout
        return list(csv.DictReader(io.StringIO(shown)))

    return table, " ".join(got.stdout.split())


def named(table):
    return [r["rank"] for r in table("straggler") if r["verdict"] == "straggler"]


def step_of(trace, ns):
    for e in trace["traceEvents"]:
        if e.get("cat") == "user_annotation" and e["name"].startswith("ProfilerStep#") and e["ts"] <= ns < e["ts"] + e["dur"]:
            return int(e["name"][13:])
    return -1


def lose(trace, lost):
    """Takes the device work away that `lost` says of; {step: launches}, of kernels."""
    gone = {e["args"]["correlation"]: e for e in trace["traceEvents"] if e.get("cat") == "kernel" and lost(e)}
    trace["traceEvents"] = [e for e in trace["traceEvents"]
                            if not (e.get("cat") in DEVICE and e["args"]["correlation"] in gone)]
    calls = [e for e in trace["traceEvents"] if e.get("cat") in ("cuda_runtime", "cuda_driver") and
             e["args"].get("correlation") in gone]
    return collections.Counter(step_of(trace, c["ts"]) for c in calls)


def launches(work):
    """In blocks and at random, on a rank that is late and on one that is not."""
    rng = random.Random(1)
    for fault in ((), ("--fault", "compute_slow", "--fault-rank", "2", "--fault-cost", "0.2")):
        whole = make(os.path.join(work, "whole%d" % len(fault)), *fault)
        table, said = run(work, whole)
        check("of a whole recording nothing is told", not table("health") and "Recording:" not in said, table("health"))
        usual = named(table)
        for share in (0.01, 0.1, 0.3):
            traces = {int(r): t for r, t in json.loads(json.dumps(whole)).items()}
            truth = lose(traces[1], lambda e: rng.random() < share)
            table, said = run(work, traces)
            rows = {int(r["step"]): int(r["count"]) for r in table("health") if r["rank"] == "1" and r["defect"].startswith("work_lost")}
            told, true = sum(rows.values()), sum(truth.values())
            check(f"{share} of a rank's kernels at random: all are told, by step", rows == dict(truth), f"{told} of {true}")
            check(f"{share}: no other rank is said to lack any", {r["rank"] for r in table("health")} <= {"1", "-1"})
            check(f"{share}: nobody is named who was not", set(named(table)) <= set(usual), named(table))
            check(f"{share}: it is said", "launches of rank 1" in said)
        traces = {int(r): t for r, t in json.loads(json.dumps(whole)).items()}
        marks = {int(e["name"][13:]): e for e in traces[1]["traceEvents"] if e.get("name", "").startswith("ProfilerStep#") and
                 e.get("cat") == "user_annotation"}
        truth = lose(traces[1], lambda e: marks[12]["ts"] <= e["ts"] < marks[13]["ts"] + marks[13]["dur"])
        table, said = run(work, traces)
        rows = {int(r["step"]): int(r["count"]) for r in table("health") if r["defect"].startswith("work_lost")}
        check("a block of two steps: all of it is told", rows == dict(truth), f"{rows} {truth}")
        check("a block: nobody is named who was not", named(table) == usual, named(table))


def windows(work):
    """A rank that begins to record in the middle of the first step is not what the others wait for there."""
    whole = make(os.path.join(work, "open"))
    later = 5_000_000
    for rank in (0, 1, 2):
        for e in whole[rank]["traceEvents"]:
            if e.get("name") == "ProfilerStep#10" and e.get("cat") == "user_annotation":
                e["ts"] -= later
                e["dur"] += later
    table, said = run(work, whole)
    rows = [r for r in table("health") if r["defect"] == "begins_later"]
    check("it is told which step is left out", [(r["rank"], r["step"]) for r in rows] == [("3", "10")] and "step 10 left out" in said,
          table("health"))
    check("nobody is named", not named(table), named(table))
    steps = [r for r in table("breakdown") if r["step"] == "-2" and r["rank"] == "0"]
    check("shares are of the other steps", steps and int(steps[0]["wall_ns"]) < later * 1000, steps)


with tempfile.TemporaryDirectory() as scratch:
    launches(scratch)
    windows(scratch)
print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
sys.exit(counts["failed"] > 0)
