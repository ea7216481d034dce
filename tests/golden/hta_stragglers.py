#!/usr/bin/python3
"""hta_stragglers.py TLMPI MAKE_TRACE - potential_stragglers of `tlmpi compat hta`, computed once more from the definition: of made
jobs, of small random ones full of ties, and of public ones in TLMPI_CORPUS.

Prints what differs and, last, "N passed, N failed, N skipped".
"""
import collections
import csv
import glob
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

import hta_frame

TLMPI, MAKE_TRACE = (os.path.abspath(path) for path in sys.argv[1:3])
CORPUS = os.environ.get("TLMPI_CORPUS", "")
counts, answers = collections.Counter(), collections.Counter()
RANKS, STREAMS = (1, 2, 2, 3, 4, 5, 6, 18), (0, 7, 7, 7, 20)
NAMES = ["ncclKernel_A", "ncclKernel_A", "ncclKernel_B(int, x)", "ncclDevKernel_C", "gemm"]


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {str(more)[:800]}")


def stragglers(ranks, k, steps):
    """The answers that the definition allows, each a list of rows; or the word that tells why there is none."""
    named = {int(m.group(1)) for rows in ranks.values() for m in (hta_frame.STEP.match(row.name) for row in rows) if m}
    named = {step for step in named if not steps or step in steps}
    if not named:
        return "step"
    chosen = [(rank, row) for rank, rows in ranks.items() for row in rows if row.step in named]
    if not chosen:
        return "long"
    first = min(row.ts for _, row in chosen)
    step_us = (max(row.ts + row.dur for _, row in chosen) - first) / len({row.step for _, row in chosen})
    last = {}
    for rank, row in chosen:
        if row.stream > 0 and row.step > 0 and row.dur >= 0.01 * step_us and row.name.startswith("ncclKernel"):
            last[row.stream, row.name, row.step, rank] = row
    if not last:
        return "long"

    scatter = {}
    for place in {key[:2] for key in last}:
        durs = collections.defaultdict(list)
        for key, row in last.items():
            if key[:2] == place:
                durs[key[2]].append(row.dur / step_us)
        stds = [statistics.stdev(v) for v in durs.values() if len(v) > 1]
        if stds:
            scatter[place] = statistics.fmean(stds)
    if not scatter:
        return "two"
    return [answer(last, place, mean, first, step_us, k) for place, mean in sorted(scatter.items())
            if mean >= max(scatter.values()) - 1e-12]


def answer(last, place, mean, first, step_us, k):
    starts = collections.defaultdict(dict)
    for (stream, name, step, rank), row in last.items():
        if (stream, name) == place:
            starts[step][rank] = (row.ts - first) / step_us
    if min(len(of_step) for of_step in starts.values()) < k:
        return "few"
    times = collections.Counter()
    for of_step in starts.values():
        threshold = sorted(of_step.values(), reverse=True)[k - 1]
        for rank, start in of_step.items():
            times[rank] += start >= threshold
    return [(rank, n, *place, mean) for rank, n in sorted(times.items(), key=lambda item: (-item[1], item[0]))[:k]]


NOTES = {"step": "no profiler step is left", "long": "no ncclKernel is as long", "two": "single rank; no long ncclKernel is on two",
         "few": "fewer ranks with the kernel than candidates"}


def same(rows, want):
    return len(rows) == len(want) and all(
        (int(r["rank"]), int(r["count"]), int(r["stream"]), r["name"]) == w[:4] and abs(float(r["mean_std"]) - w[4]) < 1e-9
        for r, w in zip(rows, want))


def compare(what, paths, out, k=None, steps=(), **mode):
    options = [word for word, on in (("--ns", mode.get("ns")), ("--include-last-step", mode.get("include_last")),
                                     (f"--num-candidates={k}", k is not None),
                                     ("--profiler-steps=" + ",".join(map(str, steps)), steps)) if on]
    k = 2 if k is None else max(k, 1)
    done = subprocess.run([TLMPI, "compat", "hta", *paths, "-q", "-f", "-o", out, *options], capture_output=True, text=True)
    if done.returncode > 1:
        check(what, False, done.stderr)
        return
    want = stragglers(hta_frame.job(paths, **mode), k, steps)
    table = os.path.join(out, "potential_stragglers.csv")
    rows = None
    if os.path.exists(table):
        with open(table, newline="", encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
    with open(os.path.join(out, "notes.txt"), encoding="utf-8") as f:
        notes = [line for line in f if line.startswith("potential_stragglers: ")]
    wanted = [want] if isinstance(want, str) else want
    told = [w for w in wanted if isinstance(w, str) and rows is None and len(notes) == 1 and
            any(part in notes[0] for part in NOTES[w].split("; "))]
    equal = [w for w in wanted if not isinstance(w, str) and rows is not None and not notes and same(rows, w)]
    check(what, told or equal, f"{rows} {notes} instead of {want}")
    answers[told[0] if told else "ranks"] += 1


def random_job(rng, folder):
    os.makedirs(folder)
    paths = []
    first, nsteps, fraction = rng.choice([0, 1, 3]), rng.choice([0, 1, 2, 3, 4]), rng.choice([0, 0, 0.25])
    for rank in range(rng.choice(RANKS)):
        events = [{"ph": "X", "cat": "cpu_op", "name": "first", "pid": 1, "tid": 1, "ts": 0, "dur": 1}]
        for k in range(nsteps):
            events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{first + k}", "pid": 1, "tid": 1,
                           "ts": 100 + 100 * k, "dur": 100})
            for _ in range(rng.randrange(6)):
                corr = len(events)
                ts = 100 + 100 * k + rng.randrange(100)
                start = ts + rng.randrange(8) * 10
                events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts,
                               "dur": 1, "args": {"correlation": corr}})
                events.append({"ph": "X", "cat": "kernel", "name": rng.choice(NAMES), "pid": 0, "tid": 7, "ts": start + fraction,
                               "dur": rng.choice([0, 1, 2, 5, 5, 20, 60]),
                               "args": {"device": 0, "stream": rng.choice(STREAMS), "correlation": corr}})
        if rng.randrange(3) == 0:
            rng.shuffle(events)
        paths.append(os.path.join(folder, f"rank{rank}.json"))
        with open(paths[-1], "w", encoding="utf-8") as f:
            json.dump({"distributedInfo": {"rank": rank}, "traceEvents": events}, f)
    return paths


def main():
    work = tempfile.mkdtemp(prefix="tlmpi-test.")
    out = os.path.join(work, "out")
    for i in range(160):
        rng = random.Random(f"stragglers {i}")
        paths = random_job(rng, os.path.join(work, f"random{i}"))
        compare(f"random job {i}", paths, out, rng.choice([None, None, 0, 1, 3]), rng.choice([(), (), (1, 2), (3, 7)]),
                include_last=i % 3 == 1, ns=i % 5 == 1)
    for why in ("ranks", "step", "long", "two", "few"):
        check(f"random jobs have {why}", answers[why] > 3, answers)

    for i, options in enumerate(("--age 2022 --ranks 8", "--age 2022 --tp 2 --ranks 4 --fault compute_slow --fault-rank 2 --fault-share 0.2",
                                 "--age 2022 --pp 2 --ranks 4 --steps 3", "--age 2022 --ep 2 --ranks 4", "--ranks 4 --steps 2")):
        folder = os.path.join(work, f"made{i}")
        subprocess.run([MAKE_TRACE, "-o", folder, *options.split()], check=True)
        paths = sorted(glob.glob(os.path.join(folder, "rank-*.json")))
        compare(f"make_trace {options}", paths, out)
        compare(f"make_trace {options}, whole", paths, out, 3, (2, 3), include_last=True, ns=True)

    for name in ("sampled_2ranks", "megatron_tp8", "torchrec_optimizer", "resnet18_2ranks"):
        paths = sorted(path for path in glob.glob(os.path.join(CORPUS, "traces", name, "*")) if "json" in path) if CORPUS else []
        if not paths:
            counts["skipped"] += 1
            print(f"SKIPPED: TLMPI_CORPUS has no {name}")
        else:
            compare(name, paths, out)
            compare(f"{name}, three", paths, out, 3)
    shutil.rmtree(work)
    print(dict(answers))
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] != 0


sys.exit(main())
