#!/usr/bin/python3
"""series.py TLMPI MAKE_TRACE - what changes over time, counted once more from the intervals and from the text of traces: queues,
copies and memory.

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
CORPUS = os.path.join(os.environ.get("TLMPI_CORPUS", ""), "traces")
UNKNOWN = -2**63
WHAT = ("short_gap", "memory_given", "memory_allocated", "memory_reserved", "queue", "memcpy", "memset")
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {str(more)[:800]}")


def table(path, name):
    text = subprocess.run([TLMPI, "show", path, name, "--format", "csv"], capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def run(work, *words):
    out = os.path.join(work, "out")
    got = subprocess.run([TLMPI, "-f", "-q", "-o", out, *words], capture_output=True, text=True)
    check(f"{words}: the run works", got.returncode in (0, 1), got.stderr[-300:])
    return out + ".h5"


def steps(spans):
    """(from, to, weight) to the points at which their sum changes."""
    change = collections.Counter()
    for a, b, w in spans:
        change[a] += w
        change[b] -= w
    points, now = [], 0
    for at in sorted(change):
        if change[at] != 0:
            now += change[at]
            points.append((at, now))
    return points


def job(work, name, folder):
    path = run(work, "--series", folder)
    queues, copies, where = collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(list)
    for r in table(path, "interval"):
        start, end = int(r["start_ns"]), int(r["end_ns"])
        if r["kind"] == "sync":
            continue
        stream = (r["rank"], r["device"], r["stream"])
        where[stream].append((start, end, int(r["launch_ns"] or start)))
        if r["launch_ns"] and int(r["launch_ns"]) < start:
            queues[stream].append((int(r["launch_ns"]), start, 1))
        if r["kind"] in ("memcpy", "memset"):
            copies[r["rank"], r["device"], r["kind"], r["name"]].append((start, end, int(r["bytes"])))
    got = collections.defaultdict(list)
    points = table(path, "series")
    for r in points:
        if r["what"] == "queue":
            got[r["rank"], r["device"], r["stream"]].append((int(r["time_ns"]), int(float(r["value"]))))
    wanted = {s: steps(v) for s, v in queues.items()}
    check(f"{name}: queues of {len(wanted)} streams over time", got == wanted)

    for r in table(path, "queue"):
        stream = (r["rank"], r["device"], r["stream"])
        begin, end = min(min(a, c) for a, _, c in where[stream]), max(b for _, b, _ in where[stream])
        lengths, queued = collections.Counter(), wanted.get(stream, [])
        for (at, n), (to, _) in zip(queued, queued[1:] + [(end, 0)]):
            lengths[n] += to - at
        lengths[0] = end - begin - sum(ns for n, ns in lengths.items() if n > 0)
        for column, part in (("median_length", 50), ("p95_length", 95)):
            ns, at = 0, 0
            for at in sorted(lengths):
                ns += lengths[at]
                if ns >= (end - begin) * part // 100:
                    break
            check(f"{name}: {column} of {stream}", int(r[column]) == at, (r[column], at))

    series = collections.defaultdict(list)
    for r in points:
        if r["what"] in ("memcpy", "memset"):
            series[r["rank"], r["device"], r["what"], r["name"]].append((int(r["time_ns"]), float(r["value"])))
    order = [(int(r["rank"]), WHAT.index(r["what"]), int(r["device"]), int(r["stream"]), r["name"], int(r["time_ns"])) for r in points]
    check(f"{name}: rows are in the order of their keys", order == sorted(order))
    check(f"{name}: copies are those of table copy",
          {k[::2] + k[3:] for k in series} <= {(r["rank"], r["kind"], r["name"]) for r in table(path, "copy")})
    for key, points in series.items():
        ends = {t for a, b, n in copies[key] for t in (a, b)}
        moved = sum(v * (to - at) for (at, v), (to, _) in zip(points, points[1:]))
        known = sum(n for a, b, n in copies[key] if n > 0 and b > a)
        # A trace's own bandwidth may be off by what a duration in whole microseconds is.
        slack = sum(1000 * n / (b - a) for a, b, n in copies[key] if n > 0 and b > a) + 1e-6 * known
        check(f"{name}: {key} over time moves what table copy says", {t for t, _ in points} <= ends and points[-1][1] == 0 and
              abs(moved - known) <= slack, (moved, known))
    plain = run(work, folder)
    shown = subprocess.run([TLMPI, "show", plain, "series"], capture_output=True, text=True)
    check(f"{name}: without --series there is no table", shown.returncode == 0 and "--series" in shown.stderr, shown.stderr)


def memory(work):
    """Events of an allocator, on two devices and the host, some of them cut short."""
    folder = os.path.join(work, "memory")
    subprocess.run([MAKE_TRACE, "-o", folder, "--ranks", "2", "--steps", "2", "--layers", "2", "--seed", "3"], check=True,
                   capture_output=True)
    path = os.path.join(folder, sorted(p for p in os.listdir(folder) if "truth" not in p)[1])
    with open(path) as f:
        trace = json.load(f)
    ops = [e for e in trace["traceEvents"] if e.get("cat") == "cpu_op"]
    has, wanted = collections.Counter(), collections.defaultdict(list)
    base = int(trace.get("baseTimeNanoseconds", 0))
    for i, op in enumerate(sorted(ops, key=lambda e: e["ts"])):
        device, size = (-1, 0, 1)[i % 3], (1024 if i % 4 else -512) * (i % 5 + 1)
        has[device] += size
        args = {"Device Type": 0 if device < 0 else 1, "Device Id": device, "Addr": 4096 * i, "Total Allocated": has[device]}
        if i % 2:
            args["Bytes"] = size
        if i % 3:
            args["Total Reserved"] = 1 << 20
        ts = op["ts"] + op["dur"] / 2
        trace["traceEvents"].append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": op["pid"],
                                     "tid": op["tid"], "ts": round(ts, 3), "args": args})
        first = not wanted[device]
        wanted[device].append((size if i % 2 or not first else 0, max(has[device], -1), 1 << 20 if i % 3 else -1))
    with open(path, "w") as f:
        json.dump(trace, f)
    digests = set()
    for n in ("1", "2", "3", "5"):
        got = subprocess.run(["mpirun", "-n", n, TLMPI, "-f", "-q", "--series", "--digest", "-o", os.path.join(work, "out"), folder],
                             capture_output=True, text=True)
        digests.add(got.stdout)
    check("one digest on any number of procs", len(digests) == 1 and "series" in digests.pop(), digests)
    rows = [r for r in table(os.path.join(work, "out.h5"), "series") if r["what"].startswith("memory_")]
    got = collections.defaultdict(list)
    for r in rows:
        got[r["what"], int(r["device"])].append(int(float(r["value"])))
    for i, what in ((1, "memory_allocated"), (2, "memory_reserved")):
        same = all(got[what, d] == [w[i] for w in v if w[i] >= 0] for d, v in wanted.items())
        check(f"{what} is what the trace says", same, {d: (got[what, d][:4], wanted[d][:4]) for d in wanted})
    given = {d: got["memory_given", d] for d in wanted}
    told = all(len(given[d]) == len(v) and all(g == w[0] for g, w in zip(given[d], v) if w[1] >= 0) for d, v in wanted.items())
    check("and what was given and taken back", told, {d: (given[d][:4], wanted[d][:4]) for d in wanted})
    check("memory is in an operator", all(r["operator"] for r in rows) and {r["rank"] for r in rows} == {"1"})
    check("and the peak is one of them", all(int(r["peak_bytes"]) == max(got["memory_allocated", int(r["device"])])
                                             for r in table(os.path.join(work, "out.h5"), "memory")))


def main():
    work = tempfile.mkdtemp(prefix="tlmpi-test.")
    try:
        memory(work)
        for name in ("mi300_resnet_act_checkpoint", "sampled_2ranks", "alexnet", "triton_example", "torchrec_optimizer"):
            folder = os.path.join(CORPUS, name)
            if os.path.isdir(folder):
                job(work, name, folder)
            else:
                print(f"SKIPPED: {name}: not there")
                counts["skipped"] += 1
    finally:
        shutil.rmtree(work)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] > 0 else 0


sys.exit(main())
