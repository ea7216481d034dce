#!/usr/bin/env python3
"""generator.py MAKE_TRACE - the generator writes what such a job would: checked on the traces, not on its code."""

import filecmp
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile

passed = failed = 0


def check(holds, what, *found):
    global passed, failed
    if holds:
        passed += 1
    else:
        failed += 1
        print("FAILED: %s; found: %s" % (what, ", ".join(str(f)[:300] for f in found)))


def make(folder, *options):
    subprocess.run([sys.argv[1], "-o", folder] + list(options), check=True)
    return sorted(glob.glob(os.path.join(folder, "*")))


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        return json.loads(f.read())


def ns(us):
    return round(us * 1000)


def work_of(trace):
    """Device work by stream, and launches by correlation."""
    streams, calls = {}, {}
    for e in trace["traceEvents"]:
        if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            streams.setdefault(e["args"]["stream"], []).append(e)
        elif e.get("cat") == "cuda_runtime":
            calls[e["args"]["correlation"]] = e
    return streams, calls


def check_rank(what, trace):
    streams, calls = work_of(trace)
    check(len(streams) == 2, what + ": a compute and a comm stream", list(streams))
    overlaps = early = 0
    for work in streams.values():
        work.sort(key=lambda e: e["ts"])
        overlaps += sum(ns(a["ts"]) + ns(a["dur"]) > ns(b["ts"]) for a, b in zip(work, work[1:]))
        early += sum(e["ts"] < calls[e["args"]["correlation"]]["ts"] for e in work)
    check(overlaps == 0, what + ": a stream does one thing at a time", overlaps)
    check(early == 0, what + ": nothing starts before its launch", early)
    flows = {"s": set(), "f": set()}
    for e in trace["traceEvents"]:
        if e.get("cat") == "ac2g":
            flows[e["ph"]].add(e["id"])
    check(flows["f"] <= flows["s"], what + ": every arrow has a beginning", len(flows["f"] - flows["s"]))
    nested_badly(what, trace)


def nested_badly(what, trace):
    """Operators and frames of a host thread lie inside or beside each other."""
    threads = {}
    for e in trace["traceEvents"]:
        if e.get("cat") in ("cpu_op", "python_function", "user_annotation"):
            threads.setdefault((e["cat"] == "python_function", e["tid"]), []).append(e)
    bad = 0
    for events in threads.values():
        open_ends = []
        for e in sorted(events, key=lambda e: (ns(e["ts"]), -ns(e["dur"]))):
            start, end = ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            bad += bool(open_ends) and end > open_ends[-1]
            open_ends.append(end)
    check(bad == 0, what + ": host events nest", bad)


def check_collectives(what, traces, gap_ns):
    """Seq by Seq over the ranks: all end together, nobody ends before the last has come."""
    arrivals = {}
    for trace in traces:
        for work in work_of(trace)[0].values():
            for e in work:
                if "Seq" in e["args"]:
                    arrivals.setdefault(e["args"]["Seq"], []).append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])))
    check(bool(arrivals), what + ": there are all-reduces")
    check(all(len(a) == len(traces) for a in arrivals.values()), what + ": every rank is in each")
    check(all(max(end for _, end in a) - min(end for _, end in a) <= gap_ns for a in arrivals.values()),
          what + ": they end together")
    check(all(min(end for _, end in a) > max(start for start, _ in a) for a in arrivals.values()),
          what + ": none ends before the last has come")
    return arrivals


def main():
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: os.path.join(folder, name)
        for flavour in ("nvidia", "rocm"):
            for style in ("kineto", "oneline", "indent"):
                what = "%s %s" % (flavour, style)
                paths = make(at(what), "--ranks", "3", "--layers", "4", "--steps", "3", "--flavour", flavour, "--style", style,
                             "--python-share", "0.2")
                traces = [load(p) for p in paths]
                check([t["distributedInfo"]["rank"] for t in traces] == [0, 1, 2], what + ": the ranks")
                check(list(traces[0])[-1] == "traceName", what + ": traceName is the last key")
                for trace in traces:
                    check_rank(what, trace)
                check_collectives(what, traces, 0)

        one = make(at("one"), "--ranks", "2", "--seed", "5", "--layers", "4")
        two = make(at("two"), "--ranks", "2", "--seed", "5", "--layers", "4")
        six = make(at("six"), "--ranks", "2", "--seed", "6", "--layers", "4")
        alone = make(at("alone"), "--ranks", "2", "--seed", "5", "--layers", "4", "--only-rank", "1")
        check(all(filecmp.cmp(a, b, False) for a, b in zip(one, two)), "the same seed gives the same bytes")
        check(not filecmp.cmp(one[0], six[0], False), "another seed gives others")
        check(len(alone) == 1 and filecmp.cmp(one[1], alone[0], False), "a rank written alone is the same")
        packed = make(at("packed"), "--ranks", "2", "--seed", "5", "--layers", "4", "--gzip")
        check(load(packed[1]) == load(one[1]), "compressed it is the same text")

        absolute = [load(p) for p in make(at("absolute"), "--ranks", "3", "--layers", "4", "--absolute")]
        check(all(isinstance(e["ts"], int) and e["ts"] > 10**15 for e in absolute[0]["traceEvents"]),
              "--absolute: whole Unix microseconds")
        check("baseTimeNanoseconds" not in absolute[0], "--absolute: no base time")
        check_collectives("--absolute", absolute, 1000)

        late = [load(p) for p in make(at("late"), "--ranks", "4", "--steps", "4", "--layers", "6", "--late-rank", "2", "--late-us",
                                      "30000", "--late-steps", "2-3")]
        arrivals = check_collectives("--late-rank", late, 0)
        per_step = len(arrivals) // 4
        last = [max(range(4), key=lambda r, a=arrivals[seq]: a[r][0]) for seq in sorted(arrivals)]
        check(all(r == 2 for r in last[per_step:per_step + 1] + last[2 * per_step:2 * per_step + 1]),
              "--late-rank: comes last where it is held up", last)
        skew = [max(s for s, _ in arrivals[k]) - min(s for s, _ in arrivals[k]) for k in sorted(arrivals)]
        check(max(skew[per_step:3 * per_step]) > 10 * max(skew[:per_step] + skew[3 * per_step:]),
              "--late-rank: the skew stands out in its steps alone", skew)

        big = make(at("big"), "--ranks", "1", "--mb", "40", "--python-share", "0.3", "--op-share", "0.4")
        size = os.path.getsize(big[0])
        check(abs(size - 40e6) < 2e6, "--mb 40 is 40 MB", size)
        shares, category = {}, ""
        with open(big[0], encoding="utf-8") as f:
            for line in f:
                if '"cat": "' in line and '"ac2g"' not in line:
                    category = line.split('"cat": "')[1].split('"')[0]
                shares[category] = shares.get(category, 0) + len(line)
        check(abs(shares["python_function"] / size - 0.3) < 0.02, "the share of frames", shares)
        check(abs((shares["cpu_op"] + shares["user_annotation"]) / size - 0.4) < 0.02, "the share of operators", shares)
        check(subprocess.run([sys.argv[1], "-o", at("no"), "--python-share", "0.8"], check=False,
                             stderr=subprocess.DEVNULL).returncode != 0, "shares above 1 are refused")
        check(subprocess.run([sys.argv[1], "-o", at("no"), "--ranks", "x"], check=False,
                             stderr=subprocess.DEVNULL).returncode == 2, "nonsense is refused")
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


sys.exit(main())
