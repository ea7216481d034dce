#!/usr/bin/env python3
"""doubts.py TLMPI MAKE_TRACE - what speaks against an answer is said: simulated jobs whose traces are edited, so that
one is of another job, or they lack marks or device work, or lose time where nobody is judged.
"""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

from traces import Checks


class Job:
    """A simulated job: its traces, to be edited, and what the program says of them."""

    def __init__(self, program, make_trace, folder, *options):
        self.program, self.traces, self.out = program, os.path.join(folder, "traces"), os.path.join(folder, "out")
        self.status, self.stderr = None, ""
        shutil.rmtree(self.traces, ignore_errors=True)
        subprocess.run([make_trace, "-o", self.traces, "--no-truth", "--ranks", "8", "--steps", "8", *options], check=True)

    def edit(self, rank, change):
        path = os.path.join(self.traces, f"rank-{rank}.json")
        with open(path, encoding="utf-8") as f:
            trace = json.load(f)
        change(trace)
        with open(path, "w", encoding="utf-8") as f:
            json.dump(trace, f)

    def analyse(self, *options):
        done = subprocess.run([self.program, "-f", "-o", self.out, *options, self.traces], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        self.status, self.stderr = done.returncode, done.stderr.decode("utf-8")
        return done.stdout.decode("utf-8")

    def answers(self):
        self.analyse("-q")
        return json.loads(self.show("ask", "--json"))

    def show(self, command, *options):
        done = subprocess.run([self.program, command, self.out + ".h5", *options], stdout=subprocess.PIPE, check=True)
        return done.stdout.decode("utf-8")

    def table(self, name):
        return list(csv.DictReader(io.StringIO(self.show("show", name, "--format", "csv"))))


def is_mark(event):
    return event["name"].startswith("ProfilerStep#")


def keep(trace, wanted):
    trace["traceEvents"] = [e for e in trace["traceEvents"] if wanted(e)]


def two_traces_of_a_rank(checks, job):
    """One more trace of rank 6, of a job of the same size and time, in a folder of its own."""
    other = os.path.join(job.traces, "other")
    os.mkdir(other)
    shutil.copy(os.path.join(job.traces, "rank-6.json"), other)
    job.edit(6, lambda trace: trace.update(baseTimeNanoseconds=trace["baseTimeNanoseconds"] + 1000000))
    said = job.answers()
    checks.that("duplicate_ranks" in said["which_rank"]["doubts"] and said["which_rank"]["confidence"] == "low",
                "two traces of a rank", said["which_rank"])
    job.analyse()
    checks.that(job.status == 1 and "rank 6: left out: 1 other trace" in job.stderr, "two traces of a rank: it is told", job.stderr)


def no_device_work(checks, job):
    job.edit(3, lambda trace: keep(trace, lambda e: e.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset", "cuda_sync")))
    said = job.answers()
    checks.that(said["which_rank"]["doubts"] == ["communication_unknown", "ranks_without_device_work"], "no device work",
                said["which_rank"])
    checks.that("No rank whose trace shows device work holds the job up." in " ".join(job.analyse().split()),
                "no device work: the words")
    row = job.table("straggler")[3]
    checks.that(row["verdict"] == "inconclusive" and row["gain_ns"] == "-1", "no device work: its row", row)


def waits_without_work(checks, job):
    job.edit(3, lambda trace: keep(trace, lambda e: e.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset")))
    checks.that(job.table("straggler")[3]["verdict"] == "inconclusive", "recorded waits are no work", job.table("straggler")[3])


def first_step(checks, job):
    said = job.answers()
    row = job.table("straggler")[3]
    # The profiler's own start may do so: nobody is named, and that is told with less than high confidence.
    checks.that(said["which_rank"]["answer"] is None and said["which_rank"]["confidence"] != "high", "a slow first step", said)
    checks.that("excess" in said["which_rank"]["doubts"] and row["verdict"] == "ok", "a slow first step: whose", row)


def without_durations(checks, job):
    """A kernel in fifty of the rank that is late has a duration below 0."""
    def damage(trace):
        kernels = [e for e in trace["traceEvents"] if e.get("cat") == "kernel"]
        for event in kernels[::50]:
            event["dur"] = -event["dur"]

    sure = job.answers()
    checks.that("events_without_duration" not in sure["which_rank"]["doubts"], "durations as they are", sure["which_rank"])
    job.edit(3, damage)
    said, row = job.answers(), job.table("rank")[3]
    checks.that(int(row["untimed"]) > 0 and row["untimed"] == row["repaired"], "durations below 0: counted", row)
    checks.that(said["which_rank"]["answer"] == 3 and "events_without_duration" in said["which_rank"]["doubts"],
                "durations below 0: a doubt", said["which_rank"])
    checks.that(said["which_rank"]["confidence"] != "high" and said["which_phase"]["confidence"] != "high",
                "durations below 0: nothing is sure", said)
    checks.that("have no valid duration" in " ".join(job.show("ask").split()), "durations below 0: the words",
                job.show("ask"))


def hidden_waits(checks, job):
    """Clocks can tell of one collective who came last; that of a healthy job is nobody's verdict."""
    said = job.answers()
    checks.that(said["trust"]["matched"] > 100 and said["which_rank"]["evidence"].get("collectives_judged", 0) <= 1,
                "clocks hide all but one", said["which_rank"])
    checks.that(said["verdict"] != "straggler" or said["which_rank"]["confidence"] == "low", "clocks hide all but one: trust",
                said["which_rank"])


def outside_of_steps(checks, job):
    for rank in range(8):
        job.edit(rank, lambda trace: keep(trace, lambda e: not (is_mark(e) and int(e["name"].split("#")[1]) < 4)))
    said = job.answers()
    checks.that("outside_steps" in said["which_rank"]["doubts"], "half of it outside of steps", said["which_rank"])
    waits = sum(int(r["wait_sum_ns"]) for r in job.table("collective"))
    blame = sum(int(r["direct_ns"]) + int(r["indirect_ns"]) for r in job.table("blame"))
    ranks = sum(int(r["blame_ns"]) for r in job.table("straggler"))
    steps = sum(int(r["blame_ns"]) for r in job.table("blame_step"))
    checks.that(waits == blame == ranks > steps > 0, "outside of steps: the books balance", waits, blame, ranks, steps)
    quality = {r["check"]: r for r in job.table("quality")}
    checks.that(quality["collective_outside_steps"]["count"] == "6", "outside of steps: how many collectives",
                quality["collective_outside_steps"])
    checks.that(int(quality["wait_inconclusive"]["of"]) == waits, "outside of steps: all waits are counted",
                quality["wait_inconclusive"])


def large_numbers(checks, job):
    def enlarge(trace):
        for event in filter(is_mark, trace["traceEvents"]):
            event["name"] = "ProfilerStep#%d" % (2**31 - 4 + int(event["name"].split("#")[1]))

    for rank in range(8):
        job.edit(rank, enlarge)
    job.analyse()
    checks.that("found others; left out 5 marks" in job.stderr, "steps beyond 2^31", job.stderr)
    checks.that("traces_damaged" in json.loads(job.show("ask", "--json"))["which_rank"]["doubts"], "steps beyond 2^31: a doubt")


def one_without_marks(checks, job):
    job.edit(3, lambda trace: keep(trace, lambda e: not is_mark(e)))
    said = job.answers()
    checks.that(said["which_rank"]["answer"] == 3 and said["which_rank"]["doubts"] == ["steps_of_others"],
                "a late rank without marks", said["which_rank"])
    job.edit(4, lambda trace: keep(trace, lambda e: not is_mark(e) and "nccl" not in e["name"]))
    said = job.answers()
    checks.that("steps_unmarked" in said["which_rank"]["doubts"] or said["trust"]["ranks_unmarked"] == 1,
                "one that meets nobody either", said["which_rank"])


def other_numbers(checks, job):
    """Ranks 2 and 3 meet each other more often than the rest; either may number its steps otherwise."""
    def renumber(trace):
        for event in filter(is_mark, trace["traceEvents"]):
            event["name"] = "ProfilerStep#%d" % (100 + int(event["name"].split("#")[1]))

    before = job.answers()["culprits"][0]
    for rank in (2, 3):
        job.edit(rank, renumber)
        said = job.answers()
        after = said["culprits"][0] if said["culprits"] else {}
        checks.that("steps_of_others" in said["which_rank"]["doubts"], "other numbers of steps", said["which_rank"])
        checks.that(said["trust"]["steps"] == 8 and all(after.get(k) == before[k] for k in
                    ("rank", "pattern", "first_step", "last_step")) and abs(after["gain_ns"] - before["gain_ns"]) <
                    0.05 * before["gain_ns"], "other numbers of steps: the same verdict", before, after)


def a_trace_is_away(checks, job):
    """That of the late rank: it is the suspect.  That of another: the late rank is named, and nobody without a trace."""
    away, path = job.traces + ".away", {rank: os.path.join(job.traces, f"rank-{rank}.json") for rank in (3, 6)}
    for gone in (3, 6):
        os.rename(path[gone], away)
        said = job.answers()
        first = said["culprits"][0] if said["culprits"] else {}
        checks.that([c["rank"] for c in said["culprits"]] == [3] and first["kind"] == ("untraced" if gone == 3 else "rank"),
                    f"rank {gone} has no trace: rank 3 is late", said["culprits"])
        checks.that(0.03 < first.get("gain_share", 0) <= 0.18 and said["which_rank"]["confidence"] != "high",
                    f"rank {gone} has no trace: a step of 1.2 could be 1", first)
        os.rename(away, path[gone])


def nothing_but_steps(checks, job):
    """Marks of steps, kernels and their launches: a step is no place where a host is late in it."""
    for rank in range(8):
        job.edit(rank, lambda trace: keep(trace, lambda e: is_mark(e) or e.get("cat") in ("kernel", "cuda_runtime")))
    said = job.answers()
    first = said["culprits"][0] if said["culprits"] else {}
    checks.that(first.get("rank") == 3 and first.get("cause") == "host_late", "steps and launches alone: who", said["culprits"])
    checks.that("ProfilerStep" not in job.show("ask"), "steps and launches alone: a step is no place", job.show("ask"))


def clocks_without_hosts(checks, job):
    """No trace names its host: process ids follow upon one another, and every other clock is ahead by 375 us."""
    for rank in range(8):
        def change(trace, rank=rank):
            trace.pop("host_name", None)
            for e in trace["traceEvents"]:
                e["ts"] = e.get("ts", 0) + (375 if rank % 2 == 0 else 0)
        job.edit(rank, change)
    said = job.answers()["which_rank"]
    checks.that(said["confidence"] != "high" and "clocks" in said["doubts"], "clocks of unnamed hosts", said)


def steps_lost(checks, job):
    """Rank 3 has lost all device work of steps 5 and 6, in which it is as late as before: what it costs is the least."""
    def lose(trace):
        events = trace["traceEvents"]
        begin = min(e["ts"] for e in events if is_mark(e) and e["name"] in ("ProfilerStep#5", "ProfilerStep#6"))
        lost = {e["args"]["correlation"] for e in events if e.get("cat") == "cuda_runtime" and e["ts"] >= begin}
        keep(trace, lambda e: e.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset") or
             e["args"]["correlation"] not in lost)
    job.edit(3, lose)
    said = " ".join(job.analyse().split())
    checks.that("Rank 3" in said and "it costs at least" in said and "gain at least" in said, "steps lost", said)


def first_collective_lost(checks, job):
    """Rank 3 has lost its first collective of three steps, which no number tells: what is left is not counted as the first."""
    def lose(trace):
        events, lost = trace["traceEvents"], set()
        called = {e["args"]["correlation"]: e["ts"] for e in events if e.get("cat") == "cuda_runtime"}
        for name in ("ProfilerStep#2", "ProfilerStep#5", "ProfilerStep#7"):
            begin = next(e["ts"] for e in events if is_mark(e) and e["name"] == name)
            lost.add(min((called[e["args"]["correlation"]], e["args"]["correlation"]) for e in events
                         if e.get("cat") == "kernel" and "nccl" in e["name"] and called[e["args"]["correlation"]] >= begin)[1])
        keep(trace, lambda e: e.get("cat") != "kernel" or e["args"]["correlation"] not in lost)
    job.edit(3, lose)
    said = job.answers()["culprits"]
    checks.that([c["rank"] for c in said] == [5] and abs(said[0]["gain_share"] - 0.3 / 1.3) < 0.01, "first collective lost", said)
    ends = next(row for row in job.table("quality") if row["check"] == "suspect_ends")
    checks.that(ends["count"] == "0", "first collective lost: the others end together", ends)


CASES = (
    (two_traces_of_a_rank, ()), (no_device_work, ()), (waits_without_work, ()),
    (first_step, ("--seed", "3", "--fault", "host_late", "--fault-rank", "3", "--fault-pattern", "one_off", "--fault-steps", "1-1",
                  "--fault-cost", "0.8")),
    (outside_of_steps, ()), (large_numbers, ()),
    (other_numbers, ("--tp", "2", "--fault", "throttled", "--fault-rank", "3", "--fault-cost", "0.2", "--fault-pattern", "bounded",
                     "--fault-steps", "3-5")),
    (without_durations, ("--fault", "compute_slow", "--fault-rank", "3", "--fault-cost", "0.3")),
    (hidden_waits, ("--ranks", "2", "--ep", "2", "--gpus", "1", "--steps", "12", "--seed", "739059", "--p2p", "batch", "--no-seq",
                    "--clock-offset-us", "500", "--flavour", "rocm", "--tp-stream", "compute")),
    (a_trace_is_away, ("--fault", "host_late", "--fault-rank", "3", "--fault-cost", "0.2", "--fault-pattern", "bounded",
                       "--fault-steps", "3-5")),
    (a_trace_is_away, ("--tp", "4", "--fault", "throttled", "--fault-rank", "3", "--fault-cost", "0.2")),
    (nothing_but_steps, ("--fault", "host_late", "--fault-style", "pause", "--fault-rank", "3", "--fault-cost", "0.2")),
    (clocks_without_hosts, ("--fault", "host_late", "--fault-rank", "3", "--fault-cost", "0.3")),
    (steps_lost, ("--steps", "6", "--fault", "compute_slow", "--fault-rank", "3", "--fault-cost", "0.6")),
    (first_collective_lost, ("--layers", "4", "--no-seq", "--fault", "host_late", "--fault-rank", "5", "--fault-cost", "0.3")),
    (one_without_marks, ("--fault", "host_late", "--fault-rank", "3", "--fault-cost", "0.2")),
)


def main():
    program, make_trace = (os.path.abspath(p) for p in sys.argv[1:3])
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="tlmpi-test.") as folder:
        for case, options in CASES:
            case(checks, Job(program, make_trace, folder, *options))
    checks.close()


if __name__ == "__main__":
    main()
