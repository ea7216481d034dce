#!/usr/bin/python3
"""launches.py TLMPI MAKE_TRACE - tables launch, queue and copy, and the counters of augment, against a slow reading of the same
traces: generated ones, and the public ones of TLMPI_CORPUS.

Calls, their work and their steps are those of idle_trace.py; what work is (its kind, its bytes), the table interval tells.
Prints what fails and, last, "N passed, N failed, N skipped".
"""
import collections
import csv
import gzip
import io
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from decimal import Decimal
from fractions import Fraction

import idle_trace

TLMPI, MAKE_TRACE = (os.path.abspath(p) for p in sys.argv[1:3])
CORPUS = os.environ.get("TLMPI_CORPUS", "")
MOST = 4            # files of a folder
THRESHOLDS = {"runtime": 50, "delay": 100, "full": 1024}, {"runtime": 3, "delay": 8, "full": 2}
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {more}")


def table(path, name):
    text = subprocess.run([TLMPI, "show", path, name, "--format", "csv"], capture_output=True, text=True, check=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def series(spans):
    """(start, end, weight) -> (instant, instant, sum) for all instants between the first and the last."""
    changes = collections.Counter()
    for start, end, weight in spans:
        changes[start] += weight
        changes[end] -= weight
    instants, now = sorted(changes), 0
    for at, following in zip(instants, instants[1:]):
        now += changes[at]
        yield at, following, now


def same(row, expected):
    """The cells that differ."""
    wrong = {}
    for column, value in expected.items():
        got = row[column]
        if isinstance(value, (float, Fraction)):
            missing = isinstance(value, float) and math.isnan(value)
            ok = got in ("", "nan") if missing else got not in ("", "nan") and math.isclose(float(got), float(value), rel_tol=1e-9)
        else:
            ok = got == str(value)
        if not ok:
            wrong[column] = (got, value)
    return wrong


def compare(what, rows, expected):
    differ = [(i, wrong) for i, (row, more) in enumerate(zip(rows, expected)) if (wrong := same(row, more))]
    check(what, len(rows) == len(expected) and not differ, (len(rows), len(expected), differ[:2]))


def ratio(a, b):
    return Fraction(a, b) if b else math.nan


# --- each table -----------------------------------------------------------------------------------------------------------

def launches(trace, limits):
    by_name = collections.defaultdict(list)
    for call in trace.launches:
        by_name[call.name or ""].append(call)
    rows = []
    for call in trace.calls:
        if re.search("Synchronize(_[a-z0-9]+)*$", call.name or ""):
            by_name[call.name, "waits"].append(call)
    for name, calls in by_name.items():
        waits = isinstance(name, tuple)
        name = name[0] if waits else name
        delays = [0 if waits else max(0, c.work[0].start - c.end) for c in calls]
        work = [sum(k.dur for k in c.work) for c in calls]
        steps = collections.Counter(trace.step_at(c.start) for c in calls)
        steps = sorted(steps[s] for _, _, s in trace.steps)
        rows.append({"calls": len(calls), "kernels": sum(len(c.work) for c in calls), "host_ns": sum(c.dur for c in calls),
                     "host_max_ns": max(c.dur for c in calls),
                     "device_ns": sum(work), "delay_ns": sum(delays), 
                     "delay_median_ns": math.ceil(statistics.median([Fraction(d) for d in delays])), "delay_max_ns": max(delays),
                     "short_calls": sum(not waits and c.dur <= limits["runtime"] * 1000 and w < c.dur for c, w in zip(calls, work)),
                     "slow_calls": sum(not waits and c.dur > limits["runtime"] * 1000 for c in calls),
                     "late_calls": sum(d > limits["delay"] * 1000 for d in delays),
                     "step_min": steps[0] if steps else -1, "step_median": steps[(len(steps) - 1) // 2] if steps else -1,
                     "step_max": steps[-1] if steps else -1, "name": name})
    rows.sort(key=lambda r: (-r["host_ns"], r["name"]))
    return [dict(r, place=i + 1) for i, r in enumerate(rows)]


def waits_of(kernels):
    return [(k.launch.start, k.start, 1) for k in kernels if k.launch is not None and k.launch.start < k.start]


def queues(trace, limits):
    by_stream = collections.defaultdict(list)
    for kernel in trace.kernels:
        by_stream[kernel.device, kernel.stream].append(kernel)
    rows = []
    for (device, stream), kernels in sorted(by_stream.items()):
        launched = [k for k in kernels if k.launch is not None]
        first = min([k.start for k in kernels] + [k.launch.start for k in launched])
        wall, lengths = max(k.end for k in kernels) - first, list(series(waits_of(kernels)))
        full = sum(b - a for a, b, n in lengths if n >= limits["full"])
        rows.append({"device": device, "stream": stream, "kernels": len(kernels), "wall_ns": wall,
                     "mean_length": ratio(sum((b - a) * n for a, b, n in lengths), wall),
                     "max_length": max((n for _, _, n in lengths), default=0),
                     "empty_ns": wall - sum(b - a for a, b, n in lengths if n), "full_ns": full})
    return rows


def bandwidth(ns, size, said):
    """byte/ns: what the trace says where it fits the duration, whole microseconds perhaps; None for not known."""
    if size <= 0 or ns <= 0:
        return None
    off = 1000 if ns % 1000 == 0 else 1
    if said is not None and math.isfinite(said) and said * (ns + off) >= size and said * max(ns - off, 1) <= size:
        return Fraction(said)
    return Fraction(size, ns)


def whole(speeds):
    """In whole byte/s."""
    return [(a, b, max(1, int(float(speed) * 1e9 + 0.5))) for a, b, speed in speeds]


def bandwidths(trace):
    """What the trace says of its copies."""
    said = {}
    for k in trace.kernels:
        value = k.args.get("memory bandwidth (GB/s)")
        try:
            value = float(value) if value is not None else None
        except (ValueError, OverflowError):
            value = None
        said[str(k.device), str(k.stream), str(k.correlation if k.correlation is not None and k.correlation > 0 else -1), k.dur] = value
    return said


def speeds_of(group, said):
    """(start, end, byte/ns or None) of rows of table interval."""
    spans = [(int(r["start_ns"]), int(r["end_ns"]), int(r["bytes"])) for r in group]
    return [(a, b, bandwidth(b - a, size, said.get((r["device"], r["stream"], r["correlation"], b - a))))
            for r, (a, b, size) in zip(group, spans)]


def copies(trace, intervals):
    said = bandwidths(trace)
    by_name = collections.defaultdict(list)
    for r in intervals:
        if r["kind"] in ("memcpy", "memset"):
            by_name[r["name"], r["kind"]].append(r)
    rows = []
    for (name, kind), group in by_name.items():
        spans = [(int(r["start_ns"]), int(r["end_ns"]), int(r["bytes"])) for r in group]
        speeds = speeds_of(group, said)
        known = [s for s in speeds if s[2] is not None]
        moved = sum((b - a) * speed for a, b, speed in known)
        together = list(series(whole(known)))
        rows.append({"kind": kind, "count": len(group), "bytes": sum(max(0, s) for _, _, s in spans),
                     "total_ns": sum(b - a for a, b, _ in spans),
                     "busy_ns": sum(b - a for a, b, n in series((x, y, 1) for x, y, _ in spans) if n),
                     "unknown": len(group) - len(known), "mean_gb_s": ratio(moved, sum(b - a for a, b, _ in known)),
                     "busy_gb_s": ratio(moved, sum(b - a for a, b, n in together if n)),
                     "max_gb_s": Fraction(max(n for _, _, n in together), 10**9) if together else math.nan, "name": name})
    rows.sort(key=lambda r: (-r["total_ns"], r["name"], r["kind"]))
    return [dict(r, place=i + 1) for i, r in enumerate(rows)]


# --- counters -------------------------------------------------------------------------------------------------------------

def points(spans):
    """Where the sum changes."""
    found, before, last = [], 0, None
    for a, b, n in series(spans):
        if n != before:
            found.append((a, n))
        before, last = n, b
    return found + [(last, 0)] if before else found


def expected_counters(trace, intervals):
    """{(name, device): points}, in ns of the trace; of the copies relative to the first, which is table interval's clock."""
    found, groups, said = {}, collections.defaultdict(list), bandwidths(trace)
    for k in trace.kernels:
        groups[k.device, k.stream].append(k)
    for (device, stream), kernels in groups.items():
        found[f"Queue (stream {stream})", device] = points(waits_of(kernels))
    groups.clear()
    off = min((k.start for k in trace.kernels), default=0) - min((int(r["start_ns"]) for r in intervals if r["kind"] != "sync"), default=0)
    for r in intervals:
        if r["kind"] in ("memcpy", "memset"):
            groups[r["name"], r["kind"], int(r["device"])].append(r)
    for (name, _, device), rows in groups.items():
        found[name, device] = [(a + off, n) for a, n in points(whole(s for s in speeds_of(rows, said) if s[2] is not None))]
    return {key: value for key, value in found.items() if value}


def counters(work, name, path, trace, intervals):
    folder = os.path.join(work, "copies")
    got = subprocess.run([TLMPI, "augment", "-q", "-f", "-o", folder, path], capture_output=True, text=True)
    copy = os.path.join(folder, os.path.basename(path))
    if got.returncode != 0 or len({(e.device, e.track[0]) for e in trace.kernels}) != len({e.device for e in trace.kernels}):
        check(f"{name}: augment works", got.returncode in (0, 1), got.stderr[-300:])
        return
    with (gzip.open if copy.endswith(".gz") else open)(copy, "rb") as f:
        document = json.loads(f.read(), parse_float=Decimal)
    entries = document["traceEvents"] if isinstance(document, dict) else document
    base = int(document.get("baseTimeNanoseconds", 0)) if isinstance(document, dict) else 0
    device_of = {k.track[0]: k.device for k in trace.kernels}
    found = collections.defaultdict(list)
    for e in entries:
        if e["ph"] == "C" and e.get("cat") == "tlmpi_counter":
            (unit, value), = e["args"].items()
            key = e["name"].split(" (device ")[0], device_of[repr(e["pid"])]
            found[key].append((idle_trace.nanoseconds(e["ts"]) + base, int(value * 10**9) if unit == "GB/s" else value))
    expected = expected_counters(trace, intervals)
    differ = [k for k in set(found) | set(expected) if found.get(k) != expected.get(k)]
    check(f"{name}: counters", not differ, [(k, found.get(k, [])[:3], expected.get(k, [])[:3]) for k in differ[:2]])


# --- all of them ----------------------------------------------------------------------------------------------------------

def one(work, name, path):
    try:
        trace = idle_trace.load(path)
    except (ValueError, KeyError, EOFError, OSError):
        counts["skipped"] += 1
        print(f"SKIPPED: {name}: is no trace, or a damaged one")
        return
    out = os.path.join(work, "out")
    for limits in THRESHOLDS:
        got = subprocess.run([TLMPI, "-q", "-f", "-o", out, "--launch", ",".join(f"{k}={v}" for k, v in limits.items()), path],
                             capture_output=True, text=True)
        check(f"{name}: the run works", got.returncode in (0, 1), got.stderr[-300:])
        if got.returncode not in (0, 1):
            return
        compare(f"{name} {limits}: launch", table(out + ".h5", "launch"), launches(trace, limits))
        compare(f"{name} {limits}: queue", table(out + ".h5", "queue"), queues(trace, limits))
    intervals = table(out + ".h5", "interval")
    compare(f"{name}: copy", table(out + ".h5", "copy"), copies(trace, intervals))
    counters(work, name, path, trace, intervals)


def traces_below(folder):
    found = sorted(os.path.join(where, name) for where, _, names in os.walk(folder) for name in names
                   if name.endswith((".json", ".json.gz")) and name != "truth.json")
    return found[:MOST]


def main():
    with tempfile.TemporaryDirectory() as work:
        for flavour in "nvidia", "rocm":
            folder = os.path.join(work, flavour)
            subprocess.run([MAKE_TRACE, "-o", folder, "--ranks", "2", "--steps", "3", "--layers", "3", "--seed", "4", "--flavour",
                            flavour, "--device-clock-us", "40"], check=True)
            for path in traces_below(folder):
                one(work, flavour, path)
        corpus = os.path.join(CORPUS, "traces")
        if CORPUS and os.path.isdir(corpus):
            for name in sorted(os.listdir(corpus)):
                for path in traces_below(os.path.join(corpus, name)):
                    one(work, os.path.relpath(path, corpus), path)
        else:
            counts["skipped"] += 1
            print("SKIPPED: public traces: TLMPI_CORPUS names no folder with traces/")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


sys.exit(main())
