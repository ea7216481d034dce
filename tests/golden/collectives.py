#!/usr/bin/python3
"""collectives.py TLMPI MAKE_TRACE - which ranks met in which collective and who waited for whom, against what is known of
public traces and against a slow program of its own that reads the traces once more.

Prints what fails and, last, "N passed, N failed, N skipped".
"""
import collections
import csv
import glob
import gzip
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from decimal import Decimal

TLMPI, MAKE_TRACE = (os.path.abspath(p) for p in sys.argv[1:3])
CORPUS = os.environ.get("TLMPI_CORPUS", "")
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {more}")


# What the makers of the traces found out by other means: collectives whose launch is in the trace, milliseconds between a
# rank's arrival and the last one's in sum, and how often each rank came last.
KNOWN = [
    ("megatron_tp8", "newest", 84, [191.4, 431.0, 362.8, 421.8, 445.1, 441.1, 214.1, 432.2],
     {0: 32, 6: 28, 3: 15, 1: 4, 2: 4, 5: 1}),
    ("torchrec_optimizer", "newest", 12, [3035.8, 3036.0, 0.0, 3035.2], {2: 12}),
    ("torchrec_two_runs", "1", 27, [3092.3, 3103.3, 12.9, 3097.5], {2: 13, 0: 10, 3: 4}),
    ("torchrec_two_runs", "2", 27, [147.0, 147.8, 18.7, 145.8], {2: 20, 0: 5, 3: 2}),
    ("torchrec_optimizer_4", "newest", 27, [107.6, 113.1, 3.1, 127.8], {3: 13, 2: 9, 0: 4, 1: 1}),
    ("torchrec_optimizer_5", "newest", 27, [149.8, 126.7, 15.6, 136.2], {2: 19, 0: 4, 1: 3, 3: 1}),
    ("resnet18_2ranks", "newest", 12, [7.2, 0.0], {1: 12}),
]


def run(work, folder, *options, procs=1):
    out = os.path.join(work, "out")
    command = (["mpirun", "-n", str(procs)] if procs > 1 else []) + [TLMPI, "-f", "-q", "-o", out, *options, folder]
    got = subprocess.run(command, capture_output=True, text=True)
    check(f"{folder} {' '.join(options)}: the run works", got.returncode in (0, 1), got.stderr[-300:])
    return out + ".h5"


def table(path, name):
    text = subprocess.run([TLMPI, "show", path, name, "--format", "csv"], capture_output=True, text=True).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    for row in rows:
        for key, value in row.items():
            if re.fullmatch(r"-?\d+", value):
                row[key] = int(value)
    return rows


def compare_known(work):
    for folder, which, n, leads, late in KNOWN:
        path = run(work, os.path.join(CORPUS, "traces", folder), "--run", which, "--clock", "none", procs=3)
        name = f"{folder}, run {which}"
        matched = {c["collective"]: c for c in table(path, "collective") if c["match_rule"] == "launch"}
        check(f"{name}: {n} collectives", len(matched) == n, len(matched))
        check(f"{name}: all are whole and nothing is suspect",
              all(c["state"] == "whole" and c["suspect"] == "no" for c in matched.values()))
        sums = collections.Counter()
        # Who was launched before the window may have met those of another rank's window; his figures leave them out.
        for row in table(path, "arrival"):
            if row["collective"] in matched:
                sums[row["rank"]] += row["lead_ns"]
        got = [round(sums[r] / 1e6, 1) for r in range(len(leads))]
        check(f"{name}: milliseconds before the last", got == leads, f"{got}, not {leads}")
        got = dict(collections.Counter(c["late_rank"] for c in matched.values()))
        check(f"{name}: how often each is last", got == late, f"{got}, not {late}")


# --- the slow program: collectives by sequence number, else by order of launch in the step -------------------------------

def nanoseconds(us):
    return int((Decimal(us) * 1000).to_integral_value())


def kernels_of(path):
    """rank, [(start, end, group, number)] of its communication kernels; number None where only the end could tell."""
    with (gzip.open(path) if path.endswith(".gz") else open(path)) as f:
        trace = json.load(f, parse_float=Decimal)
    base = trace.get("baseTimeNanoseconds", 0)
    launches, steps, found = {}, [], []
    for e in trace["traceEvents"]:
        args = e.get("args", {})
        if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in args:
            launches[args["correlation"]] = nanoseconds(e["ts"])
        if e.get("cat") == "user_annotation" and e["name"].startswith("ProfilerStep#"):
            steps.append((nanoseconds(e["ts"]), int(e["name"].split("#")[1])))
        if e.get("cat") == "kernel" and "nccl" in e["name"]:
            found.append(e)
    steps.sort()
    seen, out = collections.Counter(), []
    for e in sorted(found, key=lambda e: (launches.get(e["args"].get("correlation"), 0), nanoseconds(e["ts"]))):
        start, args = nanoseconds(e["ts"]), e["args"]
        launch = launches.get(args.get("correlation"))
        group = args.get("Process Group Ranks", re.sub("RING.*|[(].*", "", e["name"]))
        number = args.get("Seq")
        if number is None and launch is not None:
            step = max([s for at, s in steps if at <= launch], default=-1)
            number = (step, seen[group, step])
            seen[group, step] += 1
        # Sends and receives, and broadcasts: whoever is done has waited only for those who had come.
        loose = re.search("SendRecv|Broadcast", e["name"]) is not None
        out.append((base + start, base + start + nanoseconds(e["dur"]), group, number, loose))
    return trace["distributedInfo"]["rank"], out


def compare_slow(work, name, folder, paths):
    met, leave_early = collections.defaultdict(list), collections.defaultdict(bool)
    for path in paths:
        rank, kernels = kernels_of(path)
        for start, end, group, number, loose in kernels:
            if number is not None:
                met[group, number].append((rank, start, end))
                leave_early[group, number] |= loose
    wanted = collections.Counter()
    for key, ranks in met.items():
        starts = [start for _, start, _ in ranks]
        until = {e: min(max(s for s in starts if s <= e + ERROR_NS), e) if leave_early[key] else min(max(starts), e)
                 for _, _, e in ranks}
        wanted[tuple(sorted((r, s, e, until[e] - s) for r, s, e in ranks))] += 1

    path = run(work, folder, "--clock", "none", procs=2)
    epoch = int(subprocess.run(["h5dump", "-a", "/epoch_ns", path], capture_output=True, text=True)
                .stdout.split("(0): ")[1].split()[0])
    rule = {c["collective"]: c["match_rule"] for c in table(path, "collective")}
    arrivals = collections.defaultdict(list)
    for a in table(path, "arrival"):
        if rule[a["collective"]] in ("seq", "launch"):
            arrivals[a["collective"]].append((a["rank"], a["start_ns"] + epoch, a["end_ns"] + epoch, a["wait_ns"]))
    got = collections.Counter(tuple(sorted(ranks)) for ranks in arrivals.values())
    check(f"{name}: the same ranks, times and waits as the slow program", got == wanted,
          f"{len(got)} and {len(wanted)} collectives, {sum((got & wanted).values())} alike")


# --- ends: the same traces without launches, operators and numbers, their windows cut --------------------------------------

def load(path):
    with (gzip.open(path) if path.endswith(".gz") else open(path)) as f:
        return json.load(f)


def meetings(path, cut):
    """Who met whom: sets of (rank, start on the device), of collectives of which two ranks or more are left."""
    met = collections.defaultdict(set)
    for a in table(path, "arrival"):
        if a["start_ns"] >= cut.get(a["rank"], -1):
            met[a["collective"]].add((a["rank"], a["start_ns"]))
    return collections.Counter(frozenset(ranks) for ranks in met.values() if len(ranks) > 1)


def compare_ends(work, name, paths, cut_us):
    """cut_us: rank -> microseconds of its first communication that are cut off."""
    whole, stripped = (tempfile.mkdtemp(dir=work) for _ in range(2))
    epoch, cut = None, {}
    for path in paths:
        trace = load(path)
        base, rank = trace.get("baseTimeNanoseconds", 0), trace["distributedInfo"]["rank"]
        keep = [e for e in trace["traceEvents"] if e.get("cat") == "kernel"]
        comm = [e for e in keep if "nccl" in e["name"]]
        for e in comm:
            for key in ("Seq", "Process Group Name", "Process Group Ranks", "Collective name"):
                e["args"].pop(key, None)
        with open(os.path.join(whole, f"rank{rank}.json"), "w") as f:
            json.dump(trace, f)                     # with its launches
        from_ts = min(e["ts"] for e in comm) + cut_us.get(rank, 0)
        cut[rank] = base + round(from_ts * 1000)
        trace["traceEvents"] = [e for e in keep if e["ts"] >= from_ts]
        with open(os.path.join(stripped, f"rank{rank}.json"), "w") as f:
            json.dump(trace, f)
    right = run(work, whole, "--clock", "none")
    epoch = [int(subprocess.run(["h5dump", "-a", "/epoch_ns", right], capture_output=True, text=True)
                 .stdout.split("(0): ")[1].split()[0])]
    wanted = meetings(right, {r: at - epoch[0] for r, at in cut.items()})
    path = run(work, stripped, "--clock", "none", procs=3)
    epoch.append(int(subprocess.run(["h5dump", "-a", "/epoch_ns", path], capture_output=True, text=True)
                     .stdout.split("(0): ")[1].split()[0]))
    shift = epoch[1] - epoch[0]
    got = collections.Counter(frozenset((r, s + shift) for r, s in m) for m in meetings(path, {}).elements())
    rules = {a["match_rule"] for a in table(path, "arrival")}
    check(f"{name}: by ends alone", rules <= {"endtime", "none"}, rules)
    alike = sum((got & wanted).values())
    check(f"{name}: ends find who met whom", got == wanted, f"{alike} of {sum(wanted.values())}, {sum(got.values())} found")


# --- clocks: the second host of a made job is set wrong, and runs wrong ---------------------------------------------------

def set_wrong(paths, ahead_ns, ppm):
    """Shifts all times of the traces, and stretches them around the job's first."""
    for path in paths:
        with open(path) as f:
            trace = json.load(f, parse_float=Decimal)
        trace["baseTimeNanoseconds"] += ahead_ns
        first = min(e["ts"] for e in trace["traceEvents"] if "ts" in e)
        for e in trace["traceEvents"]:
            for key in ("ts", "dur"):
                if key in e and ppm:
                    at = e[key] - (first if key == "ts" else 0)
                    e[key] = (Decimal(e[key]) + Decimal(at) * ppm / 1000000).quantize(Decimal("0.001"))
        with open(path, "w") as f:
            json.dump(trace, f, default=float)


def waits(path):
    """(rank, its k-th collective) -> wait"""
    seen, out = collections.Counter(), {}
    for a in table(path, "arrival"):
        out[a["rank"], seen[a["rank"]]] = a["wait_ns"]
        seen[a["rank"]] += 1
    return out


ERROR_NS = 20000    # who seems to leave just before another comes has waited for it
CLOCK_NS = 50000    # where a rank sits in the ring shifts its ends; the bounds leave as much open as a transfer takes


def compare_clocks(work, ahead_ns, ppm, steps, *more):
    folder = os.path.join(work, f"two-hosts-{ahead_ns}-{ppm}")
    name = f"two hosts {ahead_ns} ns and {ppm} ppm apart"
    subprocess.run([MAKE_TRACE, "--no-truth", "-o", folder, "--ranks", "10", "--steps", str(steps), "--seed", "3", "--layers", "2",
                    "--late-rank", "4", "--late-us", "700", *more], check=True)
    path = run(work, folder)
    right = waits(path)
    set_wrong([os.path.join(folder, f"rank-{r}.json") for r in (8, 9)], ahead_ns, ppm)
    path = run(work, folder, procs=3)
    clocks = table(path, "clock")
    check(f"{name}: two clocks", [c["clock"] for c in clocks] == [0] * 8 + [1] * 2)
    times = [c["s_last_ns"] for c in table(path, "collective")]
    span = max(times) - min(times)
    wanted = ahead_ns + ppm * 1000 * span / 2e9         # in the middle of the trace
    check(f"{name}: the offset is found", abs(clocks[9]["offset_ns"] - wanted) < CLOCK_NS, f"{clocks[9]['offset_ns']}, not {wanted}")
    check(f"{name}: the drift is found", abs(clocks[9]["drift_ppb"] - 1000 * ppm) * span / 2e9 < CLOCK_NS, clocks[9]["drift_ppb"])
    check(f"{name}: and applied", [c["applied"] for c in clocks] == [0] * 8 + [1] * 2)
    got = waits(path)
    worst = max(abs(got[k] - right[k]) for k in right)
    check(f"{name}: waits are as with right clocks", got.keys() == right.keys() and worst < 2 * CLOCK_NS, f"{worst} ns off")
    check(f"{name}: nothing is suspect", all(c["suspect"] == "no" for c in table(path, "collective")))
    untouched = run(work, folder, "--clock", "none")
    check(f"{name}: --clock none applies nothing", all(c["applied"] == 0 for c in table(untouched, "clock")))
    check(f"{name}: and says that it is not sure", all(c["uncertainty_ns"] > 0 for c in table(untouched, "collective")))


def main():
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    os.environ.setdefault("OMPI_MCA_hwloc_base_binding_policy", "none")
    with tempfile.TemporaryDirectory() as work:
        for ranks, more in ((4, []), (3, ["--late-rank", "1", "--late-us", "3000"]), (34, ["--layers", "3"])):
            folder = os.path.join(work, f"made-{ranks}")
            subprocess.run([MAKE_TRACE, "--no-truth", "-o", folder, "--ranks", str(ranks), "--steps", "3", "--seed", "5", *more],
                           check=True)
            compare_slow(work, f"{ranks} made ranks", folder, glob.glob(folder + "/*.json"))
        compare_clocks(work, 3200000, 0, 4)
        compare_clocks(work, -7000000000, 0, 4)
        compare_clocks(work, 2500000, 400, 200, "--shard")
        if os.path.isdir(os.path.join(CORPUS, "traces")):
            compare_known(work)
            for name in ("torchrec_optimizer", "torchrec_optimizer_4", "torchrec_optimizer_5", "resnet18_2ranks",
                         "megatron_tp8"):
                folder = os.path.join(CORPUS, "traces", name)
                compare_slow(work, name, folder, glob.glob(folder + "/*"))
            for name in ("resnet18_2ranks", "torchrec_optimizer", "torchrec_optimizer_4", "torchrec_optimizer_5", "megatron_tp8"):
                paths = glob.glob(os.path.join(CORPUS, "traces", name, "*"))
                compare_ends(work, name, paths, {})
                compare_ends(work, name + ", cut", paths, {0: 20000, 1: 90000})
        else:
            counts["skipped"] += 1
            print("SKIPPED: public traces: TLMPI_CORPUS names no folder with traces/")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


sys.exit(main())
