#!/usr/bin/python3
"""hta_options.py TLMPI MAKE_TRACE - the parameters of HTA's functions: tables of `tlmpi compat hta` with others than the defaults,
against tables that hold all of it, computed once more from their definitions.

Prints what differs and, last, "N passed, N failed, N skipped".
"""
import collections
import csv
import glob
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import hta_frame

TLMPI, MAKE_TRACE = (os.path.abspath(path) for path in sys.argv[1:3])
counts = collections.Counter()
csv.field_size_limit(1 << 30)


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {str(more)[:800]}")


def run(folder, out, *options):
    done = subprocess.run([TLMPI, "compat", "hta", folder, "-q", "-o", out, *options], capture_output=True, text=True)
    check(f"compat hta {' '.join(options)}", done.returncode == 0, done.stderr)
    return out


def table(out, name):
    with open(os.path.join(out, name + ".csv"), newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def rows_where(rows, column, value):
    return [{k: v for k, v in r.items() if k != column} for r in rows if r[column] == value]


def near(a, b):
    return abs(float(a) - float(b)) <= 1e-6 * max(1, abs(float(b)))


def quantile(values, q):
    values, at = sorted(values), (len(values) - 1) * q
    low = math.floor(at)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (at - low)


def others(sums, names_max, ratio):
    """Sum, largest, least, mean and deviation of each name that is left, sorted; sums: of each name."""
    groups, total, totals = collections.defaultdict(list), 0, []
    by_sum = sorted(sums.items(), key=lambda item: -item[1])
    for _, value in by_sum:
        total += value
        totals.append(total)
    limit = quantile(totals, ratio)
    for i, (name, value) in enumerate(by_sum):
        groups["others" if totals[i] > limit or i >= names_max else name].append(value)
    return sorted((sum(v), max(v), min(v), sum(v) / len(v), statistics.stdev(v) if len(v) > 1 else 0) for v in groups.values())


def kernels(all_of_them, out, names_max, ratio):
    got, want = collections.defaultdict(list), collections.defaultdict(dict)
    for r in table(out, "kernel_breakdown_default"):
        got[r["kernel_type"], r["rank"]].append(tuple(float(r[c]) for c in ("sum (us)", "max (us)", "min (us)", "mean (us)", "stddev")))
    for r in all_of_them:
        want[r["kernel_type"], r["rank"]][r["name"]] = float(r["sum (us)"])
    lumped = {k: others(v, names_max, ratio) for k, v in want.items() if len(v) > names_max}
    for k, v in lumped.items():
        check(f"kernels of {k}, {names_max}, {ratio}",
              len(v) == len(got[k]) and all(near(a, b) for x, y in zip(sorted(got[k]), v) for a, b in zip(x, y)), (got[k], v))
    check("fewer names stay as they are", all(len(got[k]) == len(v) for k, v in want.items() if k not in lumped))
    return len(lumped)


def launches(out, runtime, delay):
    pairs = collections.defaultdict(list)
    for r in table(out, "launch_stats"):
        pairs[r["rank"]].append([float(r[c]) for c in ("cpu_duration", "gpu_duration", "launch_delay")])
    for r in rows_where(table(out, "launch_stats_summary"), "include_memory_events", "True"):
        v = pairs[r["rank"]]
        want = [runtime, delay, sum(c <= runtime and g < c for c, g, _ in v), sum(c > runtime for c, _, _ in v), sum(d > delay for _, _, d in v)]
        got = [int(r[c]) for c in ("runtime_cutoff", "launch_delay_cutoff", "short_kernels", "runtime_outliers", "launch_delay_outliers")]
        check(f"launches of rank {r['rank']}", got == want and 0 < want[3] < len(v) and 0 < want[4] < len(v), (got, want))


def gaps(ranks, delay):
    """How many gaps of each rank, stream and cause there are."""
    n = collections.Counter()
    for rank, rows in ranks.items():
        starts, streams = {row.index: row.ts for row in rows}, collections.defaultdict(list)
        for row in rows:
            if row.stream != -1 and row.cat in ("kernel", "gpu_memcpy", "gpu_memset"):
                streams[row.stream].append(row)
        for stream, work in streams.items():
            work.sort(key=lambda row: row.ts)
            n[rank, stream, "other"] += 0
            for before, row in zip(work, work[1:]):
                end = before.ts + before.dur
                n[rank, stream, "host_wait" if starts.get(row.link, -1) > end else "kernel_wait" if row.ts - end < delay else "other"] += 1
    return n


def patterns(out, ranks, part, least):
    """What the table of an operator must have, by the call graphs of all ranks."""
    want = collections.Counter()
    for rank, rows in ranks.items():
        graph = {int(r["index"]): r for r in table(out, f"callgraph_rank{rank}")}
        by_index = {row.index: row for row in rows}
        found = [i for i in graph if part in by_index[i].name]
        depth = min((int(graph[i]["depth"]) for i in found), default=0)
        roots = {i for i in found if int(graph[i]["depth"]) == depth and int(graph[i]["num_kernels"]) >= least}
        work = {i: [] for i in roots}
        for row in rows:
            at = row.link if row.stream > 0 else -1
            while at in graph and at not in roots:
                at = int(graph[at]["parent"])
            if at in roots:
                work[at].append(row)
        for root, launched in work.items():
            launched.sort(key=lambda row: (row.ts, row.index))
            want[rank, "|".join([by_index[root].name] + [row.name for row in launched])] += 1
    return want


def compare_patterns(out, ranks, part, words, least):
    got = {(int(r["rank"]), r["pattern"]): int(r["count"]) for r in table(out, f"frequent_patterns_{words}_min{least}") if "none" not in r}
    want = patterns(out, ranks, part, least)
    check(f"patterns of {part}, {least}", got == dict(want) and want, (got, want))


def marked(out, words):
    return [int(table(out, f"patterns_overlay_{words}_rank{rank}")[0]["marked"]) for rank in range(4)]


def main():
    work = tempfile.mkdtemp(prefix="tlmpi-test.")
    folder = os.path.join(work, "job")
    # Whole microseconds: HTA's rounding makes call graphs impossible.
    subprocess.run([MAKE_TRACE, "-o", folder, "--ranks", "4", "--steps", "4", "--seed", "5", "--absolute"], check=True)
    ranks = hta_frame.job(sorted(glob.glob(os.path.join(folder, "rank-*.json"))))
    own = run(folder, os.path.join(work, "own"))

    nlumped = 0
    for i, (names_max, ratio) in enumerate(((3, 0.5), (0, 0.8), (1, 1), (6, 0), (100, 0.1))):
        out = run(folder, os.path.join(work, f"kernels{i}"), "--num-kernels", str(names_max), f"--duration-ratio={ratio}")
        nlumped += kernels(table(own, "kernel_breakdown_all"), out, names_max, ratio)
    check("some kernels were others", nlumped > 5, nlumped)
    check("other tables are as they were", table(out, "launch_stats_summary") == table(own, "launch_stats_summary"))

    out = run(folder, os.path.join(work, "times"), "--consecutive-kernel-delay", "1000", "--runtime-cutoff=5", "--launch-delay-cutoff", "1000",
              "--max-queue-length", "8")
    launches(out, 5, 1000)
    check("idle time is that of HTA's at the threshold", table(out, "idle_time_breakdown") == rows_where(
        table(own, "idle_time_breakdown_thresholds"), "consecutive_kernel_delay", "1000") != table(own, "idle_time_breakdown"))
    got = {(int(r["rank"]), int(r["stream"]), r["idle_category"]): int(float(r["count"])) for r in table(out, "idle_interval_stats")}
    want = gaps(ranks, 1000)
    check("gaps by cause", got == {k: n for k, n in want.items() if n or k[2] == "other"} and want != gaps(ranks, 30), (got, want))
    full = table(out, "time_blocked_on_full_queue")
    check("full queues", full and full == [r for r in table(own, "time_blocked_on_full_queue") if r["max_queue_length"] == "8"], full)

    out = run(folder, os.path.join(work, "linear"), "--operator-name", "aten::linear", "--min-pattern-len=1")
    names = sorted(os.path.basename(path) for path in glob.glob(os.path.join(out, "frequent_patterns_*")))
    check("one operator has one table", names == ["frequent_patterns_aten_linear_min1.csv"], names)
    rows = [r for r in table(out, names[0][:-4]) if r["rank"] in "01"]
    check("which is that of the default, of all ranks", rows == table(own, names[0][:-4]) and len(rows) < len(table(out, names[0][:-4])))
    compare_patterns(out, ranks, "aten::linear", "aten_linear", 1)
    every = marked(out, "aten_linear_min1")
    out = run(folder, os.path.join(work, "first"), "--operator-name", "aten::linear", "--top-k", "1", "--min-pattern-len=1")
    check("fewer events are marked of the first", all(0 < a < b for a, b in zip(marked(out, "aten_linear_min1"), every)), every)
    for i, (part, words, least) in enumerate((("train.py(118)", "train.py_118_", 3), ("train.py(118)", "train.py_118_", 2),
                                              ("param_comms", "param_comms", 2), ("scalar", "scalar", 1))):
        out = run(folder, os.path.join(work, f"part{i}"), "--operator-name", part, "--min-pattern-len", str(least))
        compare_patterns(out, ranks, part, words, least)
    out = run(folder, os.path.join(work, "none"), "--operator-name", "no such/../operator")
    check("an operator that is none has no row", table(out, "frequent_patterns_no_such_.._operator_min3") == [])
    out = run(folder, os.path.join(work, "min"), "--min-pattern-len", "1")
    names = {os.path.basename(path)[-8:] for path in glob.glob(os.path.join(out, "frequent_patterns_*"))}
    check("the least length of all", names == {"min1.csv"}, names)

    for options in (["--num-kernels=1.5"], ["--duration-ratio=2"], ["--duration-ratio=nan"], ["--duration-ratio=-0.1"], ["--top-k=-1"],
                    ["--profiler-steps=x"]):
        done = subprocess.run([TLMPI, "compat", "hta", folder, "-o", os.path.join(work, "wrong"), *options], capture_output=True, text=True)
        check(f"{options} is refused", done.returncode == 2 and options[0].split("=")[0] in done.stderr, done.stderr)
    shutil.rmtree(work)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] != 0


sys.exit(main())
