#!/usr/bin/python3
"""hta_diff.py TLMPI - `tlmpi compat hta diff`, computed once more from its definition: small random jobs of both vendors, with and
without steps, on several ranks, with options and in nanoseconds.

Prints what differs and, last, "N passed, N failed, N skipped".
"""
import collections
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import hta_frame

TLMPI = os.path.abspath(sys.argv[1])
counts = collections.Counter()
NAMES = ["aten::add", "aten::mm", "void f<int>(int)", "void g<4>(a->b)", "f", "Memcpy HtoD (Pageable -> Device)", 'a "b", c']


def trace(rng, rank, stream, steps):
    """The text of a trace: operators, and kernels with their launches."""
    events, shift = [], rng.choice((0, 0.25))
    for step in steps:
        events.append(("user_annotation", f"ProfilerStep#{step}", 100 * step, 100, {}))
    for corr in range(1, 60):
        ts, name = rng.uniform(50, 50 + 100 * (max(steps, default=3))), rng.choice(NAMES)
        events.append(("cpu_op", name, ts, rng.uniform(0, 9), {}))
        if rng.random() < 0.6:
            events.append(("cuda_runtime", "cudaLaunchKernel", ts, 1, {"correlation": corr}))
            events.append(("kernel", rng.choice(NAMES), ts + 7, rng.uniform(0, 9), {"stream": stream, "correlation": corr}))
    rows = [{"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": math.floor(ts) + shift, "dur": round(dur, 3) if shift else
             math.floor(dur), "args": args} for cat, name, ts, dur, args in events]
    return json.dumps({"distributedInfo": {"backend": "nccl", "rank": rank}, "traceEvents": rows})


def load(folder, ns):
    ranks = {}
    for rank in sorted(os.listdir(folder)):
        with open(os.path.join(folder, rank), encoding="utf-8") as f:
            rows = hta_frame.rows_of(json.load(f)["traceEvents"], ns)
        hta_frame.link(rows)
        hta_frame.iterate(rows)
        ranks[int(rank.split(".")[0])] = rows
    steps = sorted({int(m.group(1)) for rows in ranks.values() for row in rows for m in [hta_frame.STEP.match(row.name)] if m})
    return ranks, steps


def short(name):
    if name.startswith("Memcpy") or not set(name) & set("<("):
        return name
    stack = []
    for c in name.replace("->", ""):
        if c in ">)":
            while stack and stack.pop() != "<("[c == ")"]:
                pass
        else:
            stack.append(c)
    return "".join(stack).split(" ")[-1]


def side(ranks, of, steps, device, name_of):
    sums = collections.defaultdict(lambda: [0, 0.0])
    for rank in of:
        for row in ranks[rank]:
            if row.step in steps and (device == "all" or (row.stream == -1) == (device == "cpu")):
                sums[name_of(row)][0] += 1
                sums[name_of(row)][1] += row.dur
    return sums


def expected(a, b):
    rows = []
    for key in sorted(a) + sorted(set(b) - set(a)):
        (n, us), (m, vs) = a.get(key, (0, 0)), b.get(key, (0, 0))
        rows.append([*key, n, us, m, vs, m - n, vs - us, "+" if m > n else "-" if m < n else "="])
    return rows


def same(got, want):
    return len(got) == len(want) and all(
        x == y if isinstance(y, str) else math.isclose(float(x), y, rel_tol=1e-9, abs_tol=1e-6)
        for g, w in zip(got, want) for x, y in zip(g, w)) and all(len(g) == len(w) for g, w in zip(got, want))


def check(what, holds):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what}")


def one(seed, work):
    rng = random.Random(seed)
    jobs, loaded, options = [], [], ["--ns"] if seed % 2 else []
    wanted = []
    for name, option in ("a", "control"), ("b", "test"):
        folder = os.path.join(work, f"{seed}{name}")
        os.mkdir(folder)
        steps = [] if rng.random() < 0.2 else sorted(rng.sample(range(1, 9), rng.randint(1, 3)))
        stream = rng.choice((0, 7))
        for rank in range(rng.randint(1, 3)):
            with open(os.path.join(folder, f"{rank}.json"), "w", encoding="utf-8") as f:
                f.write(trace(rng, rank, stream, steps))
        ranks, found = load(folder, seed % 2)
        of, chosen = [0], found[:1]
        if rng.random() < 0.5:
            of = sorted(rng.sample(sorted(ranks), rng.randint(1, len(ranks))))
            options += [f"--{option}-rank", ",".join(map(str, of))]
        if found and rng.random() < 0.5:
            chosen = rng.sample(found, rng.randint(1, len(found)))
            options += [f"--{option}-iteration", ",".join(map(str, chosen))]
        jobs.append(folder)
        loaded.append((ranks, of))
        wanted.append((chosen, found))
    out = os.path.join(work, f"{seed}out")
    done = subprocess.run([TLMPI, "compat", "hta", "diff", *jobs, "-q", "-o", out, *options], capture_output=True, text=True)
    comparable = all(found for _, found in wanted)
    check(f"{seed}: exit status {done.returncode} {done.stderr}", done.returncode == (0 if comparable else 3))
    if not comparable:
        check(f"{seed}: what is missing is said", "there is no profiler step" in done.stderr)
        return

    def table(name):
        path = os.path.join(out, name + ".csv")
        if not os.path.exists(path):
            return None
        with open(path, newline="", encoding="utf-8") as f:
            return list(csv.reader(f))[1:]

    def both(steps, device, name_of):
        return expected(*(side(*loaded[i], set(steps[i]), device, name_of) for i in (0, 1)))

    for device in "all", "cpu", "gpu":
        for kind, at, name_of in ("", 0, lambda row: (row.name,)), ("_short", 0, lambda row: (short(row.name),)), \
                ("_all_iterations", 1, lambda row: (row.name,)):
            got = table(f"compare_{device}{kind}")
            want = both([w[at] for w in wanted], device, name_of)
            check(f"{seed}: compare_{device}{kind}", same(got, want))
        got, want = table(f"ops_diff_{device}"), both([w[0] for w in wanted], device, lambda row: (row.name,))
        kinds = ["added", "deleted", "increased", "decreased", "unchanged"]
        words = [[kinds[0 if not n else 1 if not m else 2 if m > n else 3 if m < n else 4], name] for name, n, _, m, *_ in want]
        words = [row for kind in kinds for row in words if row[0] == kind]
        check(f"{seed}: ops_diff_{device}", got == words)


with tempfile.TemporaryDirectory() as work:
    for seed in range(40):
        one(seed, work)
print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
sys.exit(counts["failed"] > 0)
