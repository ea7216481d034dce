#!/usr/bin/python3
"""reps.py TLMPI [PROCS] - kernel time of repetitions: of a benchmark with bubbles and a flush of the cache whose truth is known, where
a window of time is wrong by a known amount; and of public traces, against a slow reading.

Prints what fails and, last, "N passed, N failed, N skipped".
"""
import collections
import csv
import gzip
import io
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from decimal import Decimal

TLMPI = os.path.abspath(sys.argv[1])
PROCS = sys.argv[2].split() if len(sys.argv) > 2 else []
CORPUS = os.environ.get("TLMPI_CORPUS", "")
counts = collections.Counter()
WORK = ("kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset")


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {more}")


def run(*args, prefix=(), cwd=None):
    return subprocess.run([*prefix, TLMPI, "reps", *args], capture_output=True, text=True, cwd=cwd)


def rows(*args):
    got = run(*args, "--format", "csv")
    return list(csv.DictReader(io.StringIO(got.stdout)))


# --- a benchmark whose truth is known ---------------------------------------------------------------------------------------

def benchmark(path, reps, slower, bubble, seed):
    """reps repetitions of two kernels forward and two backward, with a bubble between them, after a flush of the cache. The host runs
    ahead: the flush runs in the time in which the host is in the annotation, the last kernel after it. What is true of each."""
    r, events, correlation, host, device, truth = random.Random(seed), [], 0, 1000.0, 1000.0, []

    def add(cat, name, ts, dur, **args):
        events.append(dict(ph="X", cat=cat, name=name, pid=0 if "stream" in args else 7, tid=args.get("stream", 8), ts=round(ts, 3),
                           dur=round(dur, 3), args=args))

    def launch(name, dur, call="cudaLaunchKernel", tid=8, cat="kernel"):
        nonlocal correlation, host, device
        correlation += 1
        events.append(dict(ph="X", cat="cuda_runtime", name=call, pid=7, tid=tid, ts=round(host, 3), dur=2, args={"correlation": correlation}))
        device = max(device, host + 5)
        add(cat, name, device, dur, device=0, stream=7, correlation=correlation)
        device += round(dur, 3)
        host += 3

    for rep in range(reps):
        launch("at::native::vectorized_elementwise_kernel<FillFunctor>", 60, cat="kernel")  # it runs long into the annotation
        start, sums = host, collections.Counter()
        for name, dur in (("fwd_gemm", 20), ("fwd_norm", 10)):
            dur = round(dur * slower + r.random(), 3)
            launch(name, dur)
            sums["forward"] += Decimal(str(dur))
            device += bubble
        add("cpu_op", "autograd::engine::evaluate_function: MmBackward0", host, 7)
        for name, dur in (("bwd_gemm", 40), ("bwd_norm", 15)):
            dur = round(dur * slower + r.random(), 3)
            launch(name, dur)
            sums["backward"] += Decimal(str(dur))
            device += bubble
        add("user_annotation", "rep", start, host - start + 1)
        host += 5
        host = max(host, device - 100)
        truth.append(sums)
    with open(path, "w") as f:
        json.dump(dict(schemaVersion=1, baseTimeNanoseconds=0, traceEvents=events), f)
    return truth


def ns(us):
    return int(us * 1000)


def check_benchmark(work):
    base, slow = os.path.join(work, "base.json"), os.path.join(work, "slow.json")
    truth = {base: benchmark(base, 40, 1, 11, 1), slow: benchmark(slow, 30, 1.25, 3, 2)}
    for path, sums in truth.items():
        got = rows("--rep", "rep", "--each", path)
        check("each repetition is there", len(got) == len(sums), len(got))
        for k, (row, wanted) in enumerate(zip(got, sums)):
            forward, backward = ns(wanted["forward"]), ns(wanted["backward"])
            check(f"{k}: its kernels, and no flush", (int(row["kernel_ns"]), int(row["forward_ns"]), int(row["backward_ns"]), int(row["works"]))
                  == (forward + backward, forward, backward, 4), row)
            check(f"{k}: nothing overlaps", row["busy_ns"] == row["kernel_ns"])
            bubble = 3 * (11000 if path == base else 3000)
            check(f"{k}: the bubbles between them", int(row["bubble_ns"]) == bubble and
                  int(row["span_ns"]) == int(row["busy_ns"]) + bubble, row)
        stats = {r["measure"]: r for r in rows("--rep", "rep", path)}
        kernel = [ns(s["forward"] + s["backward"]) for s in sums]
        s = stats["kernel"]
        check("statistics", int(s["reps"]) == len(kernel) and float(s["median_ns"]) == statistics.median(kernel) and
              int(s["min_ns"]) == min(kernel) and int(s["max_ns"]) == max(kernel) and
              abs(float(s["mean_ns"]) - statistics.fmean(kernel)) < 1e-6 and abs(float(s["std_ns"]) - statistics.pstdev(kernel)) < 1e-6, s)
        check("the interval holds the median", float(s["low_ns"]) <= float(s["median_ns"]) <= float(s["high_ns"]), s)
        # What a window of time would say: all that runs while the host is in the annotation.
        with open(path) as f:
            events = json.load(f)["traceEvents"]
        first = next(e for e in events if e["name"] == "rep")
        inside = [e for e in events if e["cat"] == "kernel" and first["ts"] <= e["ts"] + e["dur"] and e["ts"] < first["ts"] + first["dur"]]
        check("a window of time takes in the flush and loses the end", any("Fill" in e["name"] for e in inside) and
              not any(e["name"] == "bwd_norm" for e in inside), [e["name"] for e in inside])
    works = {r["name"]: r for r in rows("--rep", "rep", "--kernels", base)}
    check("kernels, and how often", sorted(works) == ["bwd_gemm", "bwd_norm", "fwd_gemm", "fwd_norm"] and
          all(float(r["count"]) == 1 and r["reps"] == "40" for r in works.values()), works)
    check("by their medians", [r["place"] for r in works.values()] == ["1", "2", "3", "4"] and list(works) ==
          ["bwd_gemm", "fwd_gemm", "bwd_norm", "fwd_norm"], list(works))
    mean = sum(float(r["mean_ns"]) for r in works.values())
    check("their means add up", abs(mean - statistics.fmean(ns(s["forward"] + s["backward"]) for s in truth[base])) < 1e-3, mean)
    check("of a whole file", rows("--rep", "one-per-file", "--each", base)[0]["works"] == "200")
    check("a flush by its name", rows("--rep", "one-per-file", "--each", "--exclude", "FillFunctor", base)[0]["excluded"] == "40")
    check("by its place", rows("--rep", "rep", "--each", "--skip", "1", base)[0]["excluded"] == "1")

    compared = {r["measure"]: r for r in rows("--rep", "rep", "--compare", base, slow)}
    for measure, real in (("kernel", 85 * 0.25), ("forward", 30 * 0.25), ("backward", 55 * 0.25), ("bubble", -24)):
        r = compared[measure]
        check(f"the slower one: {measure}", float(r["low_ns"]) <= real * 1000 <= float(r["high_ns"]) or
              abs(float(r["difference_ns"]) - real * 1000) < 400, r)
    ratio = compared["kernel"]
    check("by a quarter", abs(float(ratio["ratio"]) - 1.25) < 0.01 and
          float(ratio["ratio_low"]) <= float(ratio["ratio"]) <= float(ratio["ratio_high"]), ratio)
    for n in PROCS:
        prefix = ("mpirun", "--oversubscribe", "--allow-run-as-root", "-n", n)
        for option in ("--each", "--kernels", "--compare"):
            one, many = run("--rep", "rep", option, base, slow), run("--rep", "rep", option, base, slow, prefix=prefix)
            check(f"{option}: the same of {n} procs", one.stdout == many.stdout and many.returncode == 0 and one.stdout, many.stderr[-300:])


def check_words(work):
    base = os.path.join(work, "base.json")
    got = run("--rep", "nothing", base)
    check("no such annotation", got.returncode == 3 and "no annotation 'nothing'; it has 'rep'" in got.stderr, got.stderr)
    got = run("--rep", "ProfilerStep", base)
    check("no steps", got.returncode == 3 and "no ProfilerStep marks" in got.stderr, got.stderr)
    for options in ("--skip", "1000"), ("--exclude", "."):
        got = run("--rep", "rep", *options, base)
        check(f"{options}: no work is left", got.returncode == 1 and
              f"base.json: {options[0]} leaves out all 160 kernels and copies of its 40 repetitions" in got.stderr, got.stderr)
    check("then a file is one", len(rows("--each", base)) == 1)
    for folder, path in (("one", base), ("two", os.path.join(work, "slow.json"))):
        os.mkdir(os.path.join(work, folder))
        os.link(path, os.path.join(work, folder, "trace.json"))
    plain = run("--rep", "rep", "--compare", "one", "two", cwd=work)
    for odd in (["./one", ".//two/"], ["../%s/one" % os.path.basename(work), "two/./"], ["one", os.path.join(work, "two")]):
        got = run("--rep", "rep", "--compare", *odd, cwd=work)
        check(f"{odd}: a path of a variant however it is typed", [line.split()[:-1] for line in got.stdout.splitlines()] ==
              [line.split()[:-1] for line in plain.stdout.splitlines()] and len(plain.stdout.splitlines()) == 7, got.stdout)
    got = run("--rep", "rep", "two", ".", cwd=os.path.join(work, "one"))
    check("a folder that is not there, and the one in which we are", got.returncode == 1 and len(got.stdout.splitlines()) == 7, got.stderr)
    os.mkdir(os.path.join(work, "empty"))
    got = run("--rep", "rep", "one", "empty", cwd=work)
    check("a path without traces is told", got.returncode == 1 and "empty: expected traces" in got.stderr, got.stderr)
    got = run("--rep", "rep", "--compare", "one", "one", cwd=work)
    check("a variant that is another", got.returncode == 1 and "more than once" in got.stderr, got.stderr)
    cut = os.path.join(work, "cut.json")
    with open(base) as f, open(cut, "w") as out:
        out.write(f.read()[:30000])
    got = run("--rep", "rep", base, cut)
    check("one of them is cut", got.returncode == 1 and "cut.json" in got.stderr and len(got.stdout.splitlines()) == 13, got.stderr)
    check("nothing there", run("--rep", "rep", os.path.join(work, "nowhere")).returncode == 3)
    for wrong in (["--exclude", "(", base], ["--compare", base], ["--compare", "--each", base, cut], ["--skip", "-1", base], []):
        got = run(*wrong)
        check(f"refused: {wrong}", got.returncode == 2 and got.stderr != "", got.stderr)


# --- what is in no repetition, or in which ---------------------------------------------------------------------------------

def write(path, annotations, works):
    """annotations (thread, start, end) named rep; works (thread, launched at, duration), one behind the other on the device."""
    events = [dict(ph="X", cat="user_annotation", name="rep", pid=7, tid=thread, ts=start, dur=end - start)
              for thread, start, end in annotations]
    device = 0
    for correlation, (thread, at, dur) in enumerate(works, 1):
        events.append(dict(ph="X", cat="cuda_runtime", name="cudaLaunchKernel", pid=7, tid=thread, ts=at, dur=2,
                           args={"correlation": correlation}))
        device = max(device, at + 3)
        events.append(dict(ph="X", cat="kernel", name=f"k{dur}", pid=0, tid=7, ts=device, dur=dur,
                           args=dict(device=0, stream=7, correlation=correlation)))
        device += dur
    with open(path, "w") as f:
        json.dump(dict(schemaVersion=1, baseTimeNanoseconds=0, traceEvents=events), f)


def check_told(work):
    path = os.path.join(work, "told.json")
    write(path, [(8, 1000 + 500 * r, 1100 + 500 * r) for r in range(10)], [(8, 1010 + 500 * r, 30) for r in range(1, 10, 2)])
    got = run("--rep", "rep", path)
    check("repetitions without work are told", got.returncode == 0 and
          got.stderr.endswith("told.json: 5 of its 10 repetitions have no work, and count as 0\n"), got.stderr)
    check("and counted", {(r["reps"], r["empty"]) for r in rows("--rep", "rep", path)} == {("10", "5")})
    got = run("--rep", "rep", "--exclude", ".", path)
    check("but once where nothing is left", "have no work" not in got.stderr and "no work is left" in got.stderr, got.stderr)

    write(path, [(8, 1000 + 500 * r, 1100 + 500 * r) for r in range(3)],
          [(8, 900, 7)] + [(8, at + 500 * r, dur) for r in range(3) for at, dur in ((1010, 30), (1200, 5))])
    got = run("--rep", "rep", path)
    check("work between repetitions is told", got.stderr.endswith(
        "told.json: 4 kernels or copies (0.022 ms) were launched in no repetition, and are left out\n"), got.stderr)
    got = run("--rep", "rep", "--exclude", "^k[57]$", path)
    check("but what is excluded anyway", got.stderr == "", got.stderr)
    check("a file has all of it", run("--rep", "one-per-file", path).stderr == "")

    # Two threads at once, each with work of its own; a third launches in between for neither, and once for the first alone.
    write(path, [(thread, start + 500 * r, end + 500 * r) for r in range(3) for thread, start, end in
                 ((8, 1000, 1100), (9, 1050, 1200))],
          [(thread, at + 500 * r, dur) for r in range(3) for thread, at, dur in
           ((8, 1010, 30), (5, 1020, 1), (9, 1060, 40), (8, 1070, 10), (5, 1080, 2))])
    got = run("--rep", "rep", path)
    check("repetitions of several threads are told", got.stderr.endswith(
        "told.json: 3 repetitions begin while one of another thread is open: each has what its own thread launches; "
        "3 kernels or copies of other threads are in the one that began last\n"), got.stderr)
    each = [(r["works"], r["kernel_ns"]) for r in rows("--rep", "rep", "--each", path)]
    check("each has what its thread launched", each == [("3", "41000"), ("2", "42000")] * 3, each)
    write(path, [(8, 1000, 1100), (8, 1010, 1090)], [(8, 1020, 30)])
    got = run("--rep", "rep", path)
    check("a part of a repetition is told", got.stderr.endswith(
        "told.json: 1 annotations begin in another of the name on their thread, and are parts of it\n"), got.stderr)
    for n in PROCS:
        prefix = ("mpirun", "--oversubscribe", "--allow-run-as-root", "-n", n)
        check(f"and on {n} procs", run("--rep", "rep", path, prefix=prefix).stderr == got.stderr)


# --- public traces ------------------------------------------------------------------------------------------------------------

def exact(us):
    return int((Decimal(us) * 1000).to_integral_value())


def slowly(path):
    """Steps of the host, and the device work that each launched, by the simplest of readings."""
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") if path.endswith(".gz") else open(path, encoding="utf-8") as f:
        document = json.load(f, parse_float=str, parse_int=str)
    events = document["traceEvents"] if isinstance(document, dict) else document
    launched, steps = {}, []
    for e in events:
        if e.get("ph") != "X" or "ts" not in e:
            continue
        cat, args = e.get("cat", ""), e.get("args", {})
        if cat in ("cuda_runtime", "cuda_driver", "Runtime") and "correlation" in args:
            launched.setdefault(args["correlation"], exact(e["ts"]))
        if e["name"].startswith("ProfilerStep#") and cat in ("user_annotation", "Operator", "cpu_op"):
            steps.append((exact(e["ts"]), exact(e["ts"]) + exact(e["dur"]), e["name"]))
    steps.sort()
    ends = [b[0] for b in steps[1:]] + [steps[-1][1]] if steps else []
    sums = [[0, 0] for _ in steps]
    for e in events:
        args = e.get("args", {})
        if e.get("ph") != "X" or e.get("cat") not in WORK or args.get("correlation") not in launched:
            continue
        at = launched[args["correlation"]]
        for k, (step, end) in enumerate(zip(steps, ends)):
            if step[0] <= at < end:
                sums[k][0] += 1
                sums[k][1] += exact(e["dur"])
    return [(s[2], *t) for s, t in zip(steps, sums)]


def check_public():
    folder = os.path.join(CORPUS, "traces")
    if not os.path.isdir(folder):
        counts["skipped"] += 1
        print("SKIPPED: public traces: TLMPI_CORPUS names no folder with traces/")
        return
    for name in ("mi300_resnet_act_checkpoint", "h100_bert_small", "mi300_bert_small", "alexnet", "event_sync", "simple_add"):
        path = os.path.join(folder, name)
        path = os.path.join(path, next(n for n in sorted(os.listdir(path)) if n.endswith((".json", ".json.gz"))))
        wanted = slowly(path)
        got = [(r["name"], int(r["works"]), int(r["kernel_ns"])) for r in rows("--rep", "ProfilerStep", "--each", path)]
        check(f"{name}: steps", got == wanted, (got[:2], wanted[:2]))


def main():
    with tempfile.TemporaryDirectory() as work:
        check_benchmark(work)
        check_words(work)
        check_told(work)
    check_public()
    print("%d passed, %d failed, %d skipped" % (counts["passed"], counts["failed"], counts["skipped"]))
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
