#!/usr/bin/python3
"""oddities.py TLMPI MAKE_TRACE - recordings that are odd, of made jobs of which the answer is known: it stays the same.

Each oddity is one of public bug reports or of other writers of traces.  Prints what fails and, last,
"N passed, N failed, N skipped".
"""
import copy
import json
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "faults"))
from traces import Checks  # noqa: E402

TLMPI, MAKE = (os.path.abspath(p) for p in sys.argv[1:3])
JOB = ("--ranks", "4", "--steps", "8", "--layers", "2", "--seed", "5", "--hiccups", "0", "--fault", "compute_slow", "--fault-rank",
       "2", "--fault-cost", "0.3")


def make(folder):
    """The traces, by rank."""
    subprocess.run([MAKE, "-o", folder, "--plain", "--no-truth", *JOB], check=True)
    traces = []
    for rank in range(4):
        with open(os.path.join(folder, "rank-%d.json" % rank), encoding="utf-8") as f:
            traces.append(json.load(f))
    return traces


def run(folder, traces):
    """What a run says as JSON, and in words."""
    with tempfile.TemporaryDirectory(dir=folder) as inner:
        for rank, trace in enumerate(traces):
            with open(os.path.join(inner, "rank-%d.json" % rank), "w", encoding="utf-8") as f:
                json.dump(trace, f)
        out = os.path.join(folder, "out")
        said = subprocess.run([TLMPI, "-f", "-o", out, inner], capture_output=True, text=True, check=False).stdout
        told = subprocess.run([TLMPI, "--json", "-f", "-o", out, inner], capture_output=True, text=True, check=False).stdout
    return json.loads(told), " ".join(said.split())


def marks(trace):
    return [e for e in trace["traceEvents"] if e.get("name", "").startswith("ProfilerStep#") and e["cat"] == "user_annotation"]


def two_profilers(traces):
    """A second profiler counts from 0, within the steps of the first."""
    for trace in traces:
        for number, e in enumerate(marks(trace)):
            inner = dict(copy.deepcopy(e), name="ProfilerStep#%d" % number, ts=e["ts"] + 0.5, dur=e["dur"] - 1)
            trace["traceEvents"].append(inner)


def not_measured(traces):
    """CUPTI writes 0 for both times of work that it did not measure (kineto #109)."""
    kernels = [e for e in traces[1]["traceEvents"] if e.get("cat") == "kernel" and "nccl" not in e["name"]]
    for e in kernels[10::25]:
        e["ts"] = e["dur"] = 0


def too_long(traces):
    """Two kernels of rank 1 outlast what follows on their stream by seconds (TraceLens #669)."""
    kernels = [e for e in traces[1]["traceEvents"] if e.get("cat") == "kernel" and "nccl" not in e["name"]]
    for i in (20, 70):
        kernels[i]["dur"] = 3400000.123


def other_windows(traces):
    """Rank 1 is recorded from the third step on, rank 3 up to the seventh."""
    for rank, (first, last) in {1: (2, 7), 3: (0, 6)}.items():
        m = marks(traces[rank])
        begin, end = m[first]["ts"], m[last]["ts"] + m[last]["dur"]
        traces[rank]["traceEvents"] = [e for e in traces[rank]["traceEvents"] if begin <= e.get("ts", begin) < end]


def other_device(traces):
    """The late rank has another device."""
    for properties in traces[2]["deviceProperties"]:
        properties["name"] = "NVIDIA L40S"


ODDITIES = {
    two_profilers: "in all 8 steps (1-8)",
    not_measured: "were not recorded",
    too_long: "cannot have run as long",
    other_device: "elsewhere (device NVIDIA L40S, others have NVIDIA A100",
    other_windows: "in all 5 whole steps (3-7)",
}


def main(checks, work):
    made = make(os.path.join(work, "made"))
    usual = run(work, made)[0]["culprits"]
    checks.that([c["ranks"] for c in usual] == [[2]], "the late rank is named, alone", usual)
    for change, words in ODDITIES.items():
        traces = copy.deepcopy(made)
        change(traces)
        told, said = run(work, traces)
        found, before = told["culprits"], usual[0]
        name = change.__name__
        if not checks.that([c["ranks"] for c in found] == [[2]], name + ": the late rank is named, alone", found, said):
            continue
        checks.that(found[0]["cause"] == before["cause"], name + ": with the same cause", found[0]["cause"])
        off = abs(found[0]["gain_share"] / before["gain_share"] - 1)
        checks.that(off < 0.1, name + ": with the same gain", found[0]["gain_share"], before["gain_share"])
        checks.that(words in said, name + ": the words are right", said)


with tempfile.TemporaryDirectory(prefix="tlmpi-test.") as scratch:
    counted = Checks()
    main(counted, scratch)
counted.close()
