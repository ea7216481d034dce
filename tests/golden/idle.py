#!/usr/bin/env python3
"""idle.py TLMPI [FILE...] - the idle tables against an oracle.

    random      small traces in which everything is mixed: devices, streams, graphs, copies, waits, threads that do not nest,
                work of no length, missing launches; each under some thresholds drawn by lot
    stories     every trace of data/stories, and those named
    public      with TLMPI_CORPUS: every trace there

Each compares all columns of gap and the short gaps of series with tests/golden/idle_oracle.py, and the tables of sums with sums over these
rows.  Prints what differs and, last, "N passed, N failed, N skipped".
"""

import csv
import glob
import io
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import idle_oracle  # noqa: E402
import idle_trace  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
RANDOM_TRACES = 120
counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(what, ok, said=""):
    counts["passed" if ok else "failed"] += 1
    if not ok:
        print("FAILED: %s%s" % (what, "\n    " + said if said else ""))
    return ok


class Program:
    def __init__(self, path, folder):
        self.path, self.out, self.tables = path, os.path.join(folder, "out"), {}

    def run(self, *args):
        return subprocess.run([self.path, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              encoding="utf-8", check=False)

    def analyse(self, trace, idle):
        self.tables = {}
        done = self.run("run", "-q", "-f", "--series", "-o", self.out, *(["--idle", idle] if idle else []), trace)
        return done.returncode in (0, 1), done.stderr

    def table(self, name):
        """The rows of a table of the last run."""
        if name not in self.tables:
            text = self.run("show", self.out + ".h5", name, "--format", "csv").stdout
            self.tables[name] = list(csv.DictReader(io.StringIO(text)))
        return self.tables[name]


# ------------------------------------------------------------------------------------------------------ rows and sums


def cell(value):
    return "" if value is None else str(value)


def epoch_of(trace):
    """Where the program's times count from: the second in which the first interval begins."""
    return min((e.start for e in trace.kernels + trace.syncs), default=0) // 10**9 * 10**9


def compare_gaps(what, program, trace, oracle):
    """The rows of gap and the short gaps of series."""
    macro, noise = oracle.gaps()
    epoch = epoch_of(trace)
    for row in macro:
        row["start_ns"] -= epoch
        row["end_ns"] -= epoch
    found = program.table("gap")
    differ = ["%d gaps, the oracle has %d" % (len(found), len(macro))] if len(found) != len(macro) else []
    for mine, row in zip(found, macro):
        differ += ["gap %s of device %s: %s is %s, the oracle says %s" % (mine["idle_id"], mine["device"], column, mine[column],
                                                                          cell(value))
                   for column, value in row.items() if mine[column] != cell(value)]
    check(what + ": gap", not differ, "\n    ".join(differ[:6]))
    found = [(int(r["device"]), int(r["time_ns"]), int(float(r["value"]))) for r in program.table("series") if r["what"] == "short_gap"]
    check(what + ": short gaps", found == [(d, at - epoch, ns) for d, _, at, ns in noise])
    return macro, noise


def key_of(row):
    """The class of a gap in words."""
    label = row["cpu_during_gap"]
    if label == "RUNTIME_DOMINATED":
        return "%s: %s" % (row["call_class"], cell(row["call"]))
    if label in ("CPU_DOMINATED", "CPU_UNTRACED"):
        return cell(row["dominant_op"]) if row["ops_ns"] else "(no_cpu_op_overlap)"
    queued = "prequeued" if row["prequeued"] == "yes" else "launched_during_gap"
    if label == "LAUNCH_ANOMALY" and row["call"] is not None and row["call_ns"] > row["duration_ns"] // 2:
        return "%s: %s" % (queued, cell(row["call"]))
    return {"GRAPH_INTERNAL": cell(row["launch"]), "DEPENDENCY_WAIT": cell(row["following"]),
            "NO_CPU_TRACE": "(no_cpu_trace)", "WORK_NOT_RECORDED": "(launches_without_work)"}.get(label, queued)


def half_up(number):
    return int(number + type(number)(0.5)) if number >= 0 else 0


def measures(lengths):
    """count, total, median, min, max"""
    n, total, v = len(lengths), sum(lengths), sorted(lengths)
    if n == 0:
        return (0, 0, 0, 0, 0)
    return n, total, (v[(n - 1) // 2] + v[n // 2] + 1) // 2, v[0], v[-1]


def measured(row):
    return tuple(int(row[c]) for c in ("count", "total_ns", "median_ns", "min_ns", "max_ns"))


def groups(rows, key):
    out = {}
    for row in rows:
        out.setdefault(key(row), []).append(row)
    return out


def near(text, number):
    return text == "" if number is None else text != "" and abs(float(text) - number) <= 1e-9 * max(1.0, abs(number))


def pct(part, whole):
    return 100.0 * part / whole if whole else None


def cut(text, size):
    return text.encode()[:size].decode(errors="ignore")


def overview_of(macro, noise, device, step):
    """{(drain, label): lengths} of a device (-1: all) and step (-1: all)"""
    rows = [r for r in macro if device in (-1, r["device"]) and step in (-1, r["step"])]
    out = {k: [r["duration_ns"] for r in v]
           for k, v in groups(rows, lambda r: (r["drain_type"], r["cpu_during_gap"])).items()}
    if rows or step == -1:
        out["ALL", "ALL"] = [r["duration_ns"] for r in rows]
    short = [ns for d, _, at, ns in noise if device in (-1, d) and step in (-1, at)]
    if short or step == -1:
        out["noise", "noise"] = short
    return out


def compare_sums(what, program, oracle, macro, noise):
    """idle and idle_summary, counted again from the gaps."""
    noise = [(d, n, oracle.t.step_at(at), ns) for d, n, at, ns in noise]
    devices = sorted({d for d, _ in oracle.devices()})
    expected = {}
    for device in ([-1] + devices if len(devices) > 1 else [-1]):
        for step in [-1] + [s[2] for s in oracle.t.steps]:
            for labels, lengths in overview_of(macro, noise, device, step).items():
                expected[device, step, *labels] = measures(lengths)
    found = {(int(r["device"]), int(r["step"]), r["drain_type"], r["cpu_during_gap"]):
             measured(r)
             for r in program.table("idle_summary") if r["rank"] != "-1" and r["place"] == "0"}
    check(what + ": idle_summary by its two axes", found == expected, str(set(found.items()) ^ set(expected.items()))[:400])

    busy = {d: idle_busy(k) for d, k in oracle.devices()}
    rows = program.table("idle")
    whole = next(r for r in rows if (r["rank"], r["device"]) != ("-1", "-1") and r["device"] == "-1")
    total = sum(r["duration_ns"] for r in macro)
    facts = {"busy_ns": sum(busy.values()), "macro_ns": total, "noise_ns": sum(n[3] for n in noise),
             "noise_gaps": len(noise),
             "overruns": oracle.overruns,
             "overrun_ns": oracle.overrun_ns,
             "operators": sum(o.kind == "op" for o in oracle.t.ops),
             "python_functions": sum(o.kind == "frame" for o in oracle.t.ops)}
    differ = ["%s is %s, expected %d" % (c, whole[c], x) for c, x in facts.items() if whole[c] != str(x)]
    check(what + ": idle", not differ and near(whole["utilization_pct"], pct(facts["busy_ns"], facts["busy_ns"] + total)),
          "; ".join(differ))
    compare_classes(what, program, oracle, macro, total)


def idle_busy(kernels):
    """Length of the union."""
    total, until = 0, None
    for k in sorted(kernels, key=lambda k: k.start):
        start = k.start if until is None else max(k.start, until)
        total += max(0, k.stop - start)
        until = k.stop if until is None else max(until, k.stop)
    return total


def compare_places(row, of_job, gaps, oracle, program):
    """Whether the annotations of a class are those of its gaps."""
    sums = idle_oracle.add_up(pair for g in gaps for pair in oracle.inside[g["device"], g["idle_id"]].items())
    order = idle_oracle.largest(sums)
    most = max(sums.values(), default=0)
    listed = [(r["annotation"], int(r["total_ns"])) for r in program.table("idle_annotation") if r["place"] == row["place"]]
    return ((row["annotation"], row["annotation_ns"]) == (cell(order[0]) if order else "", str(most)) and
            of_job["annotation_ns"] == str(most) and sums.get(of_job["annotation"] or None, 0) == most and
            listed == [(cell(name), sums[name]) for name in order[:100]])


def compare_classes(what, program, oracle, macro, total):
    rows = [r for r in program.table("idle_summary") if r["device"] == "-1" and r["place"] != "0"]
    summary = [r for r in rows if r["rank"] != "-1"]
    classes = groups(macro, lambda r: (r["drain_type"], r["cpu_during_gap"], cut(key_of(r), 128)))
    found = {(r["drain_type"], r["cpu_during_gap"], r["dominant_op"]): r for r in summary}
    differ = [str(k) for k in set(found) ^ set(classes)]
    job = {(r["drain_type"], r["cpu_during_gap"], r["dominant_op"]): r for r in rows if r["rank"] == "-1"}
    differ += [str(k) for k in set(job) ^ set(classes)]
    for place, (k, row) in enumerate(sorted(found.items(), key=lambda x: int(x[1]["place"])), 1):
        gaps = classes.get(k, ())
        lengths = [g["duration_ns"] for g in gaps]
        same = measured(row) == measures(lengths)
        same = same and abs(int(row["std_ns"]) - statistics.pstdev(lengths)) <= 0.51 if lengths else False
        same = same and near(row["idle_pct"], pct(sum(lengths), total))
        longest = max(gaps, key=lambda g: g["duration_ns"], default={"idle_id": None})
        others = [g for g in gaps if g["other_op_ns"]]
        other = max(others, key=lambda g: g["other_op_ns"])["other_op"] if others else ""
        same = same and row["place"] == str(place) and row["longest_id"] == str(longest["idle_id"])
        same = same and row["other_op"] == cut(cell(other), 64)
        of_job = job.get(k, {})
        same = same and of_job and compare_places(row, of_job, gaps, oracle, program)
        same = same and [of_job.get(c) for c in ("total_ns", "count", "worst_ns", "ranks")] == [row["total_ns"], row["count"], row["total_ns"], "1"]
        differ += [] if same else ["%s: %s" % (k, dict(row))]
    times = [int(r["total_ns"]) for r in sorted(summary, key=lambda r: int(r["place"]))]
    check(what + ": idle_summary by class, of the rank and of all", not differ and times == sorted(times, reverse=True), "\n    ".join(differ[:3]))


def compare(what, program, path, trace, thresholds):
    idle = ",".join("%s=%s" % (n, x if n.endswith("pct") else "%d.%03d" % divmod(x, 1000)) for n, x in thresholds.items())
    what += " [%s]" % idle if idle else ""
    ran, said = program.analyse(path, idle)
    if not check(what + ": the run works", ran, said[-300:]):
        return
    oracle = idle_oracle.Oracle(trace, **thresholds)
    macro, noise = compare_gaps(what, program, trace, oracle)
    compare_sums(what, program, oracle, macro, noise)


# ------------------------------------------------------------------------------------------------------ random traces

CALLS = ("cudaLaunchKernel", "cuLaunchKernelEx", "hipLaunchKernel", "hipExtLaunchKernel_spt", "cudaMalloc", "cudaFree",
         "cuMemFree_v2", "hipHostFree", "cudaMallocAsync", "cudaDeviceSynchronize", "cudaStreamSynchronize_ptsz",
         "hipStreamSynchronize", "cudaEventSynchronize", "cuCtxSynchronize", "cudaMemcpyAsync", "hipMemcpyWithStream",
         "hipMemcpyAsync", "cudaMemcpy", "cuMemcpyDtoH_v2", "cudaStreamWaitEvent", "hipStreamWaitEvent",
         "cudaGraphLaunch", "cudaEventRecord", "cudaGetDevice", None)
OPERATORS = ("aten::add", "aten::mm", "<run of X object at 0x7f%02x>", "train.py(%d): step", "aten::copy_")
COPIES = ("Memcpy DtoH (Device -> Pageable)", "Memcpy HtoD (Pinned -> Device)", "Memcpy DtoD (Device -> Device)",
          "CopyDeviceToHost")


def random_trace(r):
    """Entries of a small trace, times on a coarse grid so that they often touch."""
    grid, entries, number = r.choice((0.5, 1, 2.125)), [], 0
    devices, threads, span = r.choice((1, 1, 2)), r.choice((1, 2, 3)), r.choice((60, 200))
    if r.random() < 0.05:
        threads = 80                    # more than are asked
    host = [(1, 100 + t) for t in range(threads)]

    def add(cat, name, pid, tid, ts, dur, args):
        entry = {"ph": "X", "cat": cat, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}
        if name is not None:
            entry["name"] = name
        entries.append(entry)

    def length(most):
        return grid * r.choice((0, 1, 1, 2, 3, r.randrange(1, most)))

    for _ in range(r.randrange(2, 25)):
        number += 1
        pid, tid = r.choice(host)
        ts = grid * r.randrange(span)
        kind = r.choice(("kernel", "kernel", "gpu_memcpy", "gpu_memset"))
        call = r.choice(("cudaGraphLaunch", "cudaMemcpyAsync", "hipMemcpyAsync") + CALLS[:4])
        args = {"correlation": number}
        if call.startswith("hipMemcpy") and r.random() < 0.7:
            args["kind"] = r.choice((1, "2", "3", "x"))
        linked = r.random() < 0.85
        if linked:
            add(r.choice(("cuda_runtime", "cuda_driver")), call, pid, tid, ts, length(30), args)
        for _ in range(r.choice((0, 2, 5)) if call == "cudaGraphLaunch" else 1):
            device, stream = r.randrange(devices), r.choice((7, 7, 20))
            name = r.choice(COPIES) if kind == "gpu_memcpy" else "k%d" % r.randrange(4)
            add(kind, name, device, stream, ts + grid * r.choice((1, 5, r.randrange(40))), length(12),
                {"device": device, "stream": stream, "correlation": number if r.random() < 0.95 else 0})
    for _ in range(r.randrange(20)):
        number += 1
        pid, tid = r.choice(host)
        name, ts, args = r.choice(CALLS), grid * r.randrange(span), {"correlation": number}
        if r.random() < 0.2:
            args["stream"] = r.choice((7, 20, "0x0"))
        if r.random() < 0.1:
            args["device"] = r.randrange(2)
        add("cuda_runtime", name, pid, tid, ts, length(40), args)
        if r.random() < 0.4:
            add("cuda_sync", "Sync", 0, 7, ts, length(5),
                {"correlation": number, "stream": r.choice((7, 20, 4294967295)), "device": r.randrange(2),
                 "wait_on_stream": r.choice((7, 20, -1))})
    for _ in range(r.choice((0, 5, 30)) + (threads > 3) * 200):
        pid, tid = r.choice(host)
        name = r.choice(OPERATORS)
        add(r.choice(("cpu_op", "python_function", "python_function", "user_annotation")),
            name % r.randrange(3) if "%" in name else name, pid, tid, grid * r.randrange(span), length(60), {})
    for step in range(r.choice((0, 0, 3))):
        add("user_annotation", "ProfilerStep#%d" % (4 + step), 1, 100, grid * span * step / 4, grid * span / 4, {})
    r.shuffle(entries)
    return {"traceEvents": entries, "baseTimeNanoseconds": 1000000}


def random_traces(program, folder):
    for seed in range(RANDOM_TRACES):
        r = random.Random(seed)
        path = os.path.join(folder, "random.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(random_trace(r), f)
        trace = idle_trace.load(path)
        thresholds = {} if r.random() < 0.5 else {"noise": r.choice((0, 1000, 5000)), "launch": r.choice((0, 3000, 8000)),
                                                  "anomaly": r.choice((0, 2000, 10000)), "queued": r.choice((0, 5000)),
                                                  "drain": r.choice((0, 1000)), "sync": r.choice((0, 2000, 9000)),
                                                  "implicit": 3000, "own-launch": r.choice((0, 2000)),
                                                  "runtime-pct": r.choice((10, 50)), "coverage-pct": r.choice((0, 20, 90))}
        compare("random %d" % seed, program, path, trace, thresholds)


# ------------------------------------------------------------------------------------------------------- public traces

def public(program, corpus):
    for path in sorted(glob.glob(os.path.join(corpus, "traces/*/*.json*"))):
        folder, name = path.split("/")[-2:]
        what = "%s/%s" % (folder, name[:30])
        try:
            trace = idle_trace.load(path)
        except (ValueError, KeyError, TypeError):
            continue                    # no trace of the profiler
        compare(what, program, path, trace, {})


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        program = Program(os.path.abspath(sys.argv[1]), folder)
        random_traces(program, folder)
        stories = sorted(glob.glob(os.path.join(HERE, "../../data/stories/*/*.json")))
        for path in stories + sys.argv[2:]:
            try:
                trace = idle_trace.load(path)
            except ValueError:
                continue                # it is there to be damaged
            compare("/".join(path.split("/")[-2:]), program, path, trace, {})
        corpus = os.environ.get("TLMPI_CORPUS", "")
        if not os.path.isdir(os.path.join(corpus, "traces")):
            counts["skipped"] += 1
            print("SKIPPED: public traces: TLMPI_CORPUS names no folder with traces/")
        else:
            public(program, corpus)
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return counts["failed"] != 0


if __name__ == "__main__":
    sys.exit(main())
