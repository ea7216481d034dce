#!/usr/bin/env python3
"""generator.py MAKE_TRACE - the generator writes what such a job would: checked on the traces, not on its code."""

import filecmp
import glob
import json
import os
import subprocess
import sys
import tempfile

import possible
from possible import check, check_groups, check_meetings, check_rank, end_of, load, ns, start_of, TIGHT_NS, work_of

NVIDIA, ROCM = ("--flavour", "nvidia"), ("--flavour", "rocm")

# Name, options: jobs of all kinds, whose traces must be possible.
JOBS = (
    ("data parallel", NVIDIA),
    ("data parallel, AMD", ROCM),
    ("in one line", ("--style", "oneline")),
    ("indented, AMD", ROCM + ("--style", "indent", "--python-share", "0.2")),
    ("sharded", ("--shard", "--layers", "4")),
    ("tensor", ("--tp", "4", "--python-share", "0.2")),
    ("tensor on the compute stream, AMD", ROCM + ("--tp", "2", "--tp-stream", "compute")),
    ("pipeline", ("--pp", "4", "--layers", "1")),
    ("pipeline, long", ("--pp", "8", "--layers", "1", "--microbatches", "3", "--group-names", "local")),
    ("experts", ("--ep", "4", "--imbalance", "40")),
    ("all of them, AMD", ROCM + ("--ranks", "16", "--tp", "2", "--pp", "2", "--ep", "2", "--layers", "1", "--gpus", "4",
                                 "--group-names", "megatron")),
    ("more than 30 ranks", ("--ranks", "36", "--tp", "2", "--steps", "2")),
    ("free running", ("--sync", "0", "--scale", "30", "--warmup", "0")),
    ("throttled", ("--fault", "throttled", "--fault-rank", "2", "--fault-share", "0.2")),
    ("slow kernels", ("--tp", "2", "--fault", "compute_slow", "--fault-rank", "5", "--fault-share", "0.2")),
    ("larger kernels", ("--fault", "more_work", "--fault-rank", "1", "--fault-share", "0.2", "--fault-style", "larger")),
    ("more kernels", ("--fault", "more_work", "--fault-rank", "1", "--fault-share", "0.2", "--fault-style", "more")),
    ("more tokens", ("--ep", "8", "--fault", "more_work", "--fault-rank", "1", "--fault-share", "0.2", "--fault-style",
                     "tokens")),
    ("pauses", ("--fault", "host_late", "--fault-rank", "0", "--fault-share", "0.5", "--fault-style", "pause")),
    ("slow launches", ("--fault", "host_late", "--fault-rank", "0", "--fault-share", "2", "--fault-style", "launches")),
    ("slow loader", ("--fault", "input", "--fault-rank", "3", "--fault-share", "0.3", "--python-share", "0.2")),
    ("pageable copies", ("--fault", "h2d", "--fault-rank", "3", "--fault-share", "0.3", "--fault-style", "pageable")),
    ("collector", ("--fault", "gc", "--fault-rank", "3", "--fault-share", "0.8", "--python-share", "0.2")),
    ("device syncs", ("--fault", "sync_drain", "--fault-rank", "3", "--fault-share", "0.3", "--fault-style", "device_sync")),
    (".item()", ROCM + ("--fault", "sync_drain", "--fault-rank", "3", "--fault-share", "0.3", "--fault-style", "layers")),
    ("allocator", ("--pp", "2", "--fault", "allocator", "--fault-rank", "3", "--fault-share", "0.3")),
    ("slow pair", ("--fault", "slow_link", "--fault-rank", "3", "--fault-share", "0.5")),
    ("slow wire", ("--ranks", "16", "--fault", "slow_link", "--fault-host", "1", "--fault-share", "0.5")),
)


def make(folder, *options):
    subprocess.run([sys.argv[1], "-o", folder] + list(options), check=True)
    return sorted(glob.glob(os.path.join(folder, "rank-*")), key=lambda p: int(os.path.basename(p).split("-")[1].split(".")[0]))


def refused(folder, *options):
    return subprocess.run([sys.argv[1], "-o", folder] + list(options), check=False, stderr=subprocess.DEVNULL).returncode


def truth_of(folder):
    return load(os.path.join(folder, "truth.json"))


def check_truth(what, truth, traces):
    check(truth["wall_ns"] == sum(truth["step_ns"]), what + ": steps add up")
    fault = truth["fault"]
    if fault is not None:
        check(fault["gain_ns"] == truth["wall_ns"] - truth["healthy_wall_ns"], what + ": the gain is the difference")
        check(fault["first_step"] == min(fault["steps"]) and fault["last_step"] == max(fault["steps"]), what + ": window")
    for trace, known in zip(traces, truth["traces"]):
        marks = [e for e in trace["traceEvents"] if e.get("cat") == "user_annotation" and e["name"].startswith("ProfilerStep#")]
        numbers = sorted(int(e["name"][13:]) for e in marks)
        check(numbers == list(range(truth["job"]["first_step"], truth["job"]["last_step"] + 1)), what + ": step marks", numbers)
        base = trace.get("baseTimeNanoseconds", 0)
        events = [e for e in trace["traceEvents"] if e.get("ph") == "X" and e.get("cat") != "Trace"]
        check(min(base + start_of(e) for e in events) >= known["start_ns"] and
              max(base + end_of(e) for e in events) <= known["end_ns"], what + ": events lie in the window")


def check_job(what, at, options):
    paths = make(at, "--steps", "3", "--layers", "2", "--gzip", *options)
    truth, traces = truth_of(at), [load(p) for p in paths]
    check([t["distributedInfo"]["rank"] for t in traces] == list(range(truth["job"]["ranks"])), what + ": the ranks")
    check(all(list(t)[-1] == "traceName" for t in traces), what + ": traceName is the last key")
    for trace in traces[:8]:
        check_rank(what, trace)
    # Behind a slow link ends lie apart by what it costs.
    fault = truth["fault"]
    slow = fault["size_ns"] if fault is not None and fault["cause"] == "slow_link" else 0
    check_meetings(what, traces, TIGHT_NS + slow)
    check_groups(what, traces, truth["job"])
    check_truth(what, truth, traces)


# ------------------------------------------------------------------------------------------------- single matters


def check_bytes(at):
    few = ("--ranks", "2", "--seed", "5", "--layers", "4")
    one, two = make(at("one"), *few), make(at("two"), *few)
    six = make(at("six"), "--ranks", "2", "--seed", "6", "--layers", "4")
    alone = make(at("alone"), "--only-rank", "1", *few)
    check(all(filecmp.cmp(a, b, False) for a, b in zip(one, two)), "the same seed gives the same bytes")
    check(truth_of(at("one")) == truth_of(at("two")), "and the same truth")
    check(not filecmp.cmp(one[0], six[0], False), "another seed gives others")
    check(len(alone) == 1 and filecmp.cmp(one[1], alone[0], False), "a rank written alone is the same")
    packed = make(at("packed"), "--gzip", *few)
    check(load(packed[1]) == load(one[1]), "compressed it is the same text")
    check(not os.path.exists(os.path.join(at("bare"), "truth.json")) and bool(make(at("bare"), "--no-truth", *few)) and
          not os.path.exists(os.path.join(at("bare"), "truth.json")), "--no-truth")


def check_ages(at):
    old = [load(p) for p in make(at("old"), "--ranks", "4", "--tp", "2", "--age", "2022")]
    events = old[0]["traceEvents"]
    check(all(isinstance(e["ts"], int) and e["ts"] > 10**15 for e in events), "2022: whole Unix microseconds")
    check("baseTimeNanoseconds" not in old[0], "2022: no base time")
    check(set(old[0]["distributedInfo"]) == {"backend", "rank", "world_size"}, "2022: a short head")
    check(not any("Collective name" in e.get("args", {}) for e in events), "2022: no arguments")
    check(any(e["name"].startswith("ncclKernel_AllReduce") for e in events), "2022: old names")
    check(not any(e.get("cat") in ("cuda_sync", "gpu_user_annotation") for e in events), "2022: no new categories")
    check(all(e["args"]["External id"] == e["args"]["correlation"] for e in events if e.get("cat") == "kernel"),
          "2022: ids of kernels are correlations")

    mid = [load(p) for p in make(at("mid"), "--ranks", "4", "--tp", "2", "--age", "2024")]
    events = mid[0]["traceEvents"]
    check(any("Collective name" in e.get("args", {}) for e in events), "2024: arguments")
    check(not any("Seq" in e.get("args", {}) for e in events), "2024: no Seq")
    check("pg_config" not in mid[0]["distributedInfo"], "2024: no groups in the head")
    check(any("ncclDevComm*" in e["name"] for e in events), "2024: kernels of the time")

    amd = load(make(at("amd"), "--ranks", "2", "--flavour", "rocm")[0])
    calls = {e["name"] for e in amd["traceEvents"] if e.get("cat") == "cuda_runtime"}
    check(all(name.startswith("hip") for name in calls), "AMD: calls", calls)
    check(any("Generic" in e["name"] for e in amd["traceEvents"] if e.get("cat") == "kernel"), "AMD: one kernel for all")

    bare = load(make(at("bare-2"), "--ranks", "2", "--no-groups")[0])
    check(not any("Collective name" in e.get("args", {}) for e in bare["traceEvents"]), "--no-groups")
    check(not any("Seq" in e.get("args", {}) for e in load(make(at("noseq"), "--ranks", "2", "--no-seq")[0])["traceEvents"]),
          "--no-seq")

    batch = [load(p) for p in make(at("batch"), "--ranks", "4", "--pp", "4", "--p2p", "batch", "--layers", "1")]
    kernels = [e for e in batch[1]["traceEvents"] if e.get("cat") == "kernel" and "SendRecv" in e["name"]]
    check(any("Collective name" not in e["args"] for e in kernels), "--p2p batch: kernels without arguments")


def check_windows(at):
    options = ("--ranks", "4", "--steps", "3", "--sync", "0", "--clock-offset-us", "900", "--gpus", "2")
    whole = [load(p) for p in make(at("whole"), *options)]
    cut = [load(p) for p in make(at("cut"), "--cut-head-us", "6000", "--cut-tail-us", "4000", *options)]
    orphans = 0
    for a, b in zip(whole, cut):
        streams, calls = work_of(b)
        lost = [e for work in streams.values() for e in work if e["args"]["correlation"] not in calls]
        orphans += len(lost)
        check(all("Collective name" not in e["args"] and "External id" not in e["args"] for e in lost),
              "cut: nobody knows about orphans")
        known = {json.dumps(e, sort_keys=True) for e in a["traceEvents"] if e.get("cat") == "cuda_runtime"}
        rest = {json.dumps(e, sort_keys=True) for e in b["traceEvents"] if e.get("cat") == "cuda_runtime"}
        same = [{k: v for k, v in json.loads(e).items() if k != "args"} in
                [{k: v for k, v in json.loads(x).items() if k != "args"} for x in known] for e in sorted(rest)[:50]]
        check(len(rest) < len(known) and all(same), "cut: the rest is what it was")
    check(orphans > 0, "cut: kernels whose launch is not recorded", orphans)

    some = make(at("some"), "--ranks", "6", "--missing", "1,4")
    check([load(p)["distributedInfo"]["rank"] for p in some] == [0, 2, 3, 5], "--missing")
    check([t["rank"] for t in truth_of(at("some"))["traces"]] == [0, 2, 3, 5], "--missing: the truth has no such trace")


def check_clocks(at):
    options = ("--ranks", "6", "--gpus", "2", "--steps", "2")
    true = [load(p) for p in make(at("true"), *options)]
    paths = make(at("clocks"), "--clock-offset-us", "5000", "--clock-drift-ppb", "200000", *options)
    shown, truth = [load(p) for p in paths], truth_of(at("clocks"))
    check(len({h["offset_ns"] for h in truth["hosts"]}) == 3, "clocks: hosts differ")
    worst = 0
    for rank, (a, b) in enumerate(zip(true, shown)):
        host = truth["hosts"][rank // 2]
        for x, y in zip(a["traceEvents"], b["traceEvents"]):
            t = a["baseTimeNanoseconds"] + ns(x["ts"])
            wanted = t + host["offset_ns"] + (t - truth["epoch_ns"]) * host["drift_ppb"] // 10**9
            worst = max(worst, abs(b["baseTimeNanoseconds"] + ns(y["ts"]) - wanted))
    check(worst <= 2, "clocks: ts is true time, offset and drift", worst)


def check_late(at):
    """The old way to ask for a late host."""
    late = [load(p) for p in make(at("late"), "--ranks", "4", "--steps", "4", "--layers", "6", "--late-rank", "2", "--late-us",
                                  "30000", "--late-steps", "2-3", "--bucket-layers", "3")]
    meetings = check_meetings("--late-rank", late)
    arrivals = [sorted((s, r) for r, s, _, _ in meetings[key]) for key in sorted(meetings, key=lambda k: k[2])]
    per_step = len(arrivals) // 4
    check(all(arrivals[i][-1][1] == 2 for i in (per_step, 2 * per_step)), "--late-rank: comes last where it is held up")
    skew = [a[-1][0] - a[0][0] for a in arrivals]
    check(max(skew[per_step:3 * per_step]) > 10 * max(skew[:per_step] + skew[3 * per_step:]),
          "--late-rank: the skew stands out in its steps alone", skew)


def check_sizes(at):
    paths = make(at("usual"), "--steps", "8")
    check(all(os.path.getsize(p) < 800000 for p in paths), "8 steps are small", [os.path.getsize(p) for p in paths])
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


def check_refusals(at):
    for options in (("--ranks", "x"), ("--ranks", "6", "--tp", "4"), ("--ep", "3"), ("--shard", "--pp", "2"),
                    ("--fault", "gc"), ("--fault-rank", "1"), ("--fault", "gc", "--fault-rank", "99"),
                    ("--fault", "gc", "--fault-rank", "1", "--fault-style", "pinned"),
                    ("--fault", "slow_link", "--fault-rank", "1", "--fault-axis", "tp"), ("--what",)):
        check(refused(at("no"), *options) == 2, "refused: " + " ".join(options))
    check(refused(at("no"), "--python-share", "0.8") != 0, "shares above 1 are refused")


def check_costs(at):
    """A fault of every kind can be had at a price."""
    for cause in ("compute_slow", "throttled", "more_work", "host_late", "input", "h2d", "gc", "sync_drain", "allocator",
                  "slow_link"):
        for job in ((), ("--tp", "2", "--pp", "2", "--layers", "1"), ("--shard",)):
            make(at("cost"), "--steps", "4", "--only-rank", "0", "--fault", cause, "--fault-rank", "5", "--fault-cost", "0.1",
                 *job)
            found = truth_of(at("cost"))["fault"]["cost_share"]
            check(abs(found - 0.1) < 0.01, "--fault-cost 0.1: %s %s" % (cause, " ".join(job)), found)


def main():
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: os.path.join(folder, name)
        for what, options in JOBS:
            check_job(what, at(what), options)
        for single in (check_bytes, check_ages, check_windows, check_clocks, check_late, check_sizes, check_refusals,
                       check_costs):
            single(at)
    print("%d passed, %d failed, 0 skipped" % (possible.passed, possible.failed))
    return 1 if possible.failed else 0


sys.exit(main())
