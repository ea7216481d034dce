#!/usr/bin/python3
"""selection.py TLMPI MAKE_TRACE - some ranks, steps or a part of the time alone: as traces that were cut by hand to just that.

Prints what fails and, last, "N passed, N failed, N skipped".
"""
import bisect
import collections
import decimal
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TLMPI, MAKE_TRACE = (os.path.abspath(p) for p in sys.argv[1:3])
CORPUS = os.path.join(os.environ.get("TLMPI_CORPUS", ""), "traces")
WORK = {"kernel", "Kernel", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset", "cuda_sync"}
CALLS = re.compile(r"(cuda_runtime|Runtime|cuda_driver|.*_runtime|.*_driver)$")
# Of the trace as a whole: rank, and in culprit how many events it has.  Its other columns are those of straggler.
OTHER = {"rank", "culprit", "names"}
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {str(more)[:800]}")


# --- traces, cut by hand ----------------------------------------------------------------------------------------------------

def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        return json.load(f, parse_float=decimal.Decimal)


def save(trace, path):
    """Numbers as they stood: a double would move times."""
    text = json.dumps(trace, default=lambda d: f"@{d}@")
    with open(path, "w") as f:
        f.write(re.sub(r'"@([^@"]*)@"', r"\1", text))


def ns(us):
    return int((decimal.Decimal(str(us)) * 1000).to_integral_value(decimal.ROUND_HALF_EVEN))


def complete(e):
    return e.get("ph") == "X" and "ts" in e and "dur" in e


def steps_of(events):
    """(start, end, number) of each; the last ends with its mark."""
    marks = {}
    for e in events:
        mark = re.match(r"ProfilerStep *# *(\d+)$", str(e.get("name")))
        if mark and e.get("cat") in ("user_annotation", "cpu_op") and complete(e):
            number, start = int(mark[1]), ns(e["ts"])
            known = marks.get(number, (start, 0))
            marks[number] = (min(known[0], start), max(known[1], start + ns(e["dur"])))
    found = sorted((start, end, number) for number, (start, end) in marks.items())
    return [(s, found[i + 1][0] if i + 1 < len(found) else e, k) for i, (s, e, k) in enumerate(found)]


def cut(trace, windows):
    """The trace with what the host began in the windows, and the work of that alone; and its marks as long as its steps."""
    events = trace["traceEvents"]
    inside = lambda at: any(a <= at < b for a, b in windows)
    calls = collections.defaultdict(list)
    for e in events:
        c = (e.get("args") or {}).get("correlation")
        if CALLS.match(str(e.get("cat"))) and complete(e) and isinstance(c, int) and c > 0:
            calls[c].append(ns(e["ts"]))
    steps = {k: (a, b) for a, b, k in steps_of(events)}
    kept = []
    for e in events:
        if not complete(e) and not (e.get("cat") == "cpu_instant_event" and "ts" in e):
            kept += [e] if e.get("ph") == "M" or e.get("cat") == "fwdbwd" else []  # an arrow of what is out has no ends
            continue
        at = ns(e["ts"])
        if e.get("cat") in WORK:
            starts = sorted(calls.get((e.get("args") or {}).get("correlation"), []))
            if starts:
                before = bisect.bisect_right(starts, at)
                at = starts[before - 1] if before > 0 else starts[0]
        if not inside(at):
            continue
        mark = re.match(r"ProfilerStep *# *(\d+)$", str(e.get("name")))
        if mark and int(mark[1]) in steps and e.get("cat") in ("user_annotation", "cpu_op"):
            a, b = steps[int(mark[1])]
            if not any(x <= a and b <= y for x, y in windows):
                continue
            e = dict(e, dur=decimal.Decimal(b - ns(e["ts"])) / 1000)
        kept.append(e)
    return dict(trace, traceEvents=kept)


# --- comparing ----------------------------------------------------------------------------------------------------------------

def digest(work, *words):
    got = subprocess.run([TLMPI, "-f", "-q", "--digest", "-o", os.path.join(work, "out"), *words], capture_output=True, text=True)
    check(f"{words}: the run works", got.returncode in (0, 1), got.stderr[-300:])
    return dict(line.split() for line in got.stdout.splitlines())


def compare(what, by_option, by_hand, without=()):
    other = sorted(t for t in by_hand if t not in OTHER and t not in without and by_option.get(t) != by_hand[t])
    check(f"{what}: all tables as of traces cut by hand", not other and "kernel" in by_hand, other)


def folder_of(work, traces, windows_of):
    """The traces, cut, in a folder."""
    folder = os.path.join(work, "cut")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    for path, trace in traces.items():
        save(cut(trace, windows_of(trace)), os.path.join(folder, os.path.basename(path).removesuffix(".gz")))
    return folder


def runs(numbers):
    """Windows of steps that follow upon one another are one: what is between two marks belongs to the first."""
    def windows(trace):
        out = []
        for a, b, k in steps_of(trace["traceEvents"]):
            if k in numbers:
                out.append((a, b))
        return out
    return windows


def base(trace):
    return int(trace.get("baseTimeNanoseconds", 0))


LOOKED_AT = re.compile(r"(kernel|Kernel|gpu_mem\w+|Mem\w+|cuda_sync|cpu_op|Operator|user_annotation|python_function)$")


def begin(traces):
    return min(base(t) + ns(e["ts"]) for t in traces.values() for e in t["traceEvents"]
               if complete(e) and (LOOKED_AT.match(str(e.get("cat"))) or CALLS.match(str(e.get("cat")))))


def compare_job(work, name, paths, steps, times):
    traces = {p: load(p) for p in paths}
    where = os.path.commonpath([os.path.dirname(p) for p in paths])
    if steps:
        numbers = {k for part in steps.split(",") for k in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)}
        by_option = digest(work, "--steps", steps, where)
        compare(f"{name} --steps {steps}", by_option, digest(work, folder_of(work, traces, runs(numbers))))
        for procs in ("2", "3", "5"):
            got = subprocess.run(["mpirun", "-n", procs, TLMPI, "-f", "-q", "--digest", "-o", os.path.join(work, "out"), "--steps",
                                  steps, where], capture_output=True, text=True)
            check(f"{name} --steps {steps} on {procs} procs", dict(x.split() for x in got.stdout.splitlines()) == by_option)
    origin = begin(traces)
    for text, spans in times:
        by_option = digest(work, "--time", text, where)
        windows = lambda trace: [(origin + a - base(trace), origin + b - base(trace)) for a, b in spans]
        compare(f"{name} --time {text}", by_option, digest(work, folder_of(work, traces, windows)))


def public(work):
    jobs = (("torchrec_optimizer", "5-6", [("1.2s-2s", [(1200000000, 2000000000)])]),
            ("mi300_resnet_act_checkpoint", "16-17", [("5-21.5", [(5000000, 21500000)])]),
            ("megatron_tp8", "3", [("100-200,400ms-450000us", [(100000000, 200000000), (400000000, 450000000)])]),
            ("sampled_2ranks", "", [("10-30", [(10000000, 30000000)])]))
    for name, steps, times in jobs:
        paths = sorted(p for p in glob.glob(os.path.join(CORPUS, name, "**", "*.json*"), recursive=True))
        if not paths:
            print(f"SKIPPED: {name}: not there")
            counts["skipped"] += 1
            continue
        compare_job(work, name, paths, steps, times)


def made(work):
    """Steps that do not follow upon one another, and a part of the ranks."""
    folder = os.path.join(work, "job")
    subprocess.run([MAKE_TRACE, "-o", folder, "--ranks", "4", "--steps", "6", "--layers", "3", "--seed", "5"], check=True,
                   capture_output=True)
    paths = sorted(glob.glob(os.path.join(folder, "*.json*")))
    paths = [p for p in paths if "truth" not in p]
    compare_job(work, "made", paths, "2-4", [("3-9", [(3000000, 9000000)])])
    some = os.path.join(work, "some")
    os.mkdir(some)
    for p in paths[1:3]:
        shutil.copy(p, some)
    compare("made --ranks 1-2", digest(work, "--ranks", "1-2", folder), digest(work, some))
    # 1,3-4: the rows of these steps by device work alone are those of a run of everything.
    rows = []
    for words in ([], ["--steps", "1,3-4"]):
        subprocess.run([TLMPI, "-f", "-q", "-o", os.path.join(work, "out"), *words, folder], check=True)
        got = subprocess.run([TLMPI, "show", os.path.join(work, "out.h5"), "step", "--format", "json", "--step", "1,3-4"],
                             capture_output=True, text=True).stdout
        epoch = subprocess.run(["h5dump", "-a", "/epoch_ns", os.path.join(work, "out.h5")], capture_output=True, text=True).stdout
        at = int(re.search(r"\(0\): (\d+)", epoch)[1])
        rows.append([(r["rank"], r["step"], r["start_ns"] + at, r["end_ns"] + at) for r in json.loads(got)])
    check("made --steps 1,3-4: the steps are those of the whole trace", rows[0] == rows[1] and len(rows[0]) == 12, rows)


def main():
    work = tempfile.mkdtemp(prefix="tlmpi-test.")
    try:
        made(work)
        public(work)
    finally:
        shutil.rmtree(work)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] > 0 else 0


sys.exit(main())
