#!/usr/bin/python3
"""work.py TLMPI MAKE_TRACE - what operators launch, and what was measured, on public traces: counted once more, slowly, from
the traces' text.

Prints what fails and, last, "N passed, N failed, N skipped".
"""
import bisect
import collections
import csv
import decimal
import glob
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TLMPI, MAKE_TRACE = (os.path.abspath(p) for p in sys.argv[1:3])
CORPUS = os.path.join(os.environ.get("TLMPI_CORPUS", ""), "traces")
WORK = {"kernel", "Kernel", "mtia_ccp_events", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset"}
PUBLIC = ("alexnet", "h100_bert_small", "h100_falconsai", "megatron_tp8", "mi250_minitoy", "mi300_bert_small",
          "mi300_ddp_resnet18_no_pool", "mi300_falconsai", "mi300_resnet_act_checkpoint", "production_st", "rank_non_gpu",
          "resnet18_2ranks", "sampled_2ranks", "simple_add", "torchrec_optimizer", "torchrec_optimizer_4", "triton_example",
          "vllm_decode_full_graph", "cupti_profiler")
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {str(more)[:600]}")


def table(path, name):
    text = subprocess.run([TLMPI, "show", path, name, "--format", "csv"], capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def ns(text):
    return int(decimal.Decimal(str(text)) * 1000)


def integer(value, otherwise):
    try:
        return int(str(value))
    except ValueError:
        return otherwise


class Trace:
    """Calls that launch, by thread and in order of time, the work of each, and operators."""

    def __init__(self, path):
        with (gzip.open if path.endswith(".gz") else open)(path) as f:
            self.events = json.load(f, parse_float=decimal.Decimal)["traceEvents"]
        work, calls, self.ops, self.ranges, self.memory = [], [], [], [], []
        for uid, e in enumerate(self.events):
            if isinstance(e, dict) and e.get("name") == "[memory]" and e.get("cat") == "cpu_instant_event":
                self.memory.append((ns(e["ts"]), uid, (str(e.get("pid")), str(e.get("tid"))), e["args"]))
            if not isinstance(e, dict) or "ts" not in e or e.get("ph", "X") != "X":
                continue
            cat, args = str(e.get("cat", "")), e.get("args") or {}
            span = dict(uid=uid, name=e.get("name"), start=ns(e["ts"]), dur=max(ns(e.get("dur", 0)), 0),
                        thread=(str(e.get("pid")), str(e.get("tid"))),
                        corr=integer(args.get("correlation", args.get("Correlation ID")), -1))
            if cat in WORK:
                span["device"] = integer(args.get("device"), integer(e.get("pid"), -1))
                span["stream"] = integer(args.get("stream", args.get("Stream")), -1)
                work.append(span)
            elif cat in ("Runtime", "cuda_runtime", "cuda_driver") or cat.endswith(("_runtime", "_driver")):
                calls.append(span)
            elif cat == "cuda_profiler_range":
                self.ranges.append((span["start"], uid, e["name"], args))
            elif cat in ("cpu_op", "Operator") and span["name"] is not None:
                self.ops.append(span)
        self.calls = sorted(calls, key=lambda c: (c["start"], c["uid"]))
        by_corr = collections.defaultdict(list)
        for call in self.calls:
            by_corr[call["corr"]].append(call)
        work.sort(key=lambda w: (w["device"], w["stream"], w["start"], w["start"] + w["dur"], w["uid"]))
        for w in work:
            of = by_corr[w["corr"]] if w["corr"] > 0 else []
            before = [c for c in of if c["start"] <= w["start"]]
            if of:
                (before or of[:1])[-1].setdefault("work", []).append(w)
        self.launches = collections.defaultdict(list)
        for call in self.calls:
            if "work" in call:
                self.launches[call["thread"]].append(call)
        self.starts = {thread: [c["start"] for c in v] for thread, v in self.launches.items()}

    def within(self, op):
        """What the thread launches from the operator's start to its end."""
        starts = self.starts.get(op["thread"], [])
        return self.launches[op["thread"]][bisect.bisect_left(starts, op["start"]):bisect.bisect_left(starts, op["start"] + op["dur"])]


    def stack(self, thread, at, until=0):
        """The operators of the thread that are open, the outermost first: to the last that lasts as long, if one does."""
        ops = [o for o in self.ops if o["thread"] == thread and o["start"] <= at < o["start"] + o["dur"]]
        ops.sort(key=lambda o: (o["start"], -o["dur"], o["uid"]))
        lasting = [i for i, o in enumerate(ops) if o["start"] + o["dur"] + 1000 >= until]
        return [o["name"] for o in ops[:lasting[-1] + 1 if lasting else None]]

    def around(self, thread, at):
        return (self.stack(thread, at) or [""])[-1]


def plain(name):
    return re.sub("0x[0-9a-f]+", "0x\u2026", name)


# --- sequences that come again --------------------------------------------------------------------------------------------

def patterns(trace):
    """(operator, sequence) -> count, host time, device time, sums of the delays to the first launch and to its work."""
    of = collections.defaultdict(dict)
    for op in trace.ops:
        work = [w for launch in trace.within(op) for w in launch["work"]]
        if len(work) >= 3:
            same = of[plain(op["name"]), tuple(plain(w["name"]) for w in work)]
            first = work[0]["uid"]
            device = sum(w["dur"] for w in work)
            launch = next(launch["start"] for launch in trace.within(op) if launch["work"])
            before = same.get(first, (0, 0, 0))
            same[first] = (max(op["dur"], before[0]), device, max(launch - op["start"], before[2]), max(work[0]["start"] - launch, 0))
    return {key: (len(v), *(sum(x) for x in zip(*v.values()))) for key, v in of.items() if len(v) > 1}


def extents(trace, operator):
    """Of each sequence of the operator that comes again: where on the device each time is."""
    of = collections.defaultdict(dict)
    for op in trace.ops:
        work = [w for launch in trace.within(op) for w in launch["work"]] if plain(op["name"]) == operator else []
        if len(work) >= 3:
            of[tuple(plain(w["name"]) for w in work)][work[0]["uid"]] = (min(w["start"] for w in work), max(w["start"] + w["dur"] for w in work))
    return [sorted(v.values()) for v in of.values() if len(v) > 1]


def compare_overlay(name, trace, rows, copy):
    """What augment shows: the five sequences with the most time, each time."""
    with (gzip.open if copy.endswith(".gz") else open)(copy) as f:
        shown = [e for e in json.load(f, parse_float=decimal.Decimal)["traceEvents"] if e.get("cat") == "tlmpi_pattern"]
    first = {}
    for row in rows:
        first.setdefault(row["id"], row)
    wanted = list(first.values())[:5]
    check(f"{name}: sequences that are shown", {str(e["args"]["id"]) for e in shown} == {r["id"] for r in wanted})
    for row in wanted:
        of = [e for e in shown if str(e["args"]["id"]) == row["id"]]
        spans = sorted((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])) for e in of)
        own = extents(trace, plain(row["operator"]))
        # Where one begins before the one before it has ended it is shown from there on.
        cut = [[(max(a, max([e for _, e in v[:i]] or [a])), b) for i, (a, b) in enumerate(v)] for v in own]
        check(f"{name}: pattern of {row['operator']}: each time", spans in own or spans in cut or
              any(set(spans) <= set(v) for v in cut), (spans[:3], [v[:3] for v in own[:3]]))
        check(f"{name}: ... with its operator", {plain(e["args"]["operator"]) for e in of} == {plain(row["operator"])}
              and {str(e["args"]["kernels"]) for e in of} == {row["kernels"]})


def told(sequence):
    """How many the words speak of."""
    n = 0
    for part in sequence.split(" | "):
        more, times = re.fullmatch(r"\.\.\. (\d+) more", part), re.search(r" x (\d+)$", part)
        n += int(more[1] if more else times[1] if times else 1)
    return n


def compare_patterns(name, trace, rows):
    expected = patterns(trace)
    check(f"{name}: as many patterns", not rows and not expected or int(rows[0]["patterns"]) == len(expected), (len(rows), len(expected)))
    first = {op: min((-device, -host) for (other, _), (_, host, device, _, _) in expected.items() if other == op) for op, _ in expected}
    beyond = len(rows) - min(len(expected), 100)
    check(f"{name}: the first hundred, and the first of each operator", {r["operator"] for r in rows} == set(first) and 0 <= beyond <= len(first))
    known = collections.Counter((op, n, len(names), host, device) for (op, names), (n, host, device, _, _) in expected.items())
    got = collections.Counter((r["operator"], int(r["count"]), int(r["kernels"]), int(r["host_ns"]), int(r["device_ns"])) for r in rows)
    check(f"{name}: counts and times of patterns", not got - known, list((got - known).items())[:3])
    delays = collections.Counter((op, n, len(names), round(launch / n), round(work / n))
                                 for (op, names), (n, _, _, launch, work) in expected.items())
    got = collections.Counter((r["operator"], int(r["count"]), int(r["kernels"]), round(float(r["to_launch_ns"])), round(float(r["to_work_ns"])))
                              for r in rows)
    check(f"{name}: delays of patterns", not got - delays, list((got - delays).items())[:3])
    most = sorted((-device, -host, op.encode()) for (op, _), (_, host, device, _, _) in expected.items())[:100]
    check(f"{name}: those with the most time", [(-int(r["device_ns"]), -int(r["host_ns"]), r["operator"].encode()) for r in rows][:100] == most)
    names = {(len(v), op, n): v for (op, v), (n, *_) in expected.items()}
    ids = {}
    for r in rows:
        check(f"{name}: the words speak of all work", told(r["sequence"]) == int(r["kernels"]), r["sequence"])
        of = names.get((int(r["kernels"]), r["operator"], int(r["count"])))
        if of is not None and sum(1 for k in expected if k[0] == r["operator"] and len(k[1]) == len(of)) == 1:
            check(f"{name}: the same id is the same sequence", ids.setdefault(r["id"], of) == of, r)
            first = re.sub(r"( x \d+)?( \|.*)?$", "", r["sequence"]).split("...")[0]
            check(f"{name}: the first name", re.sub(r"\w+::|\(anonymous namespace\)::", "", of[0].removeprefix("void ")).startswith(first),
                  (first, of[0]))
    check(f"{name}: and another id another", len(set(ids.values())) == len(ids))


# --- from an operator to its work -----------------------------------------------------------------------------------------

def innermost(trace):
    """Each operator with the launches that it made itself: of those around a launch's start that last as long as it does, a
    microsecond more or less, the one that began last; where there is none, of all around its start."""
    ops = collections.defaultdict(list)
    for op in trace.ops:
        ops[op["thread"]].append(op)
    for thread, launches in trace.launches.items():
        todo = sorted(ops[thread], key=lambda o: (o["start"], -o["dur"], o["uid"]), reverse=True)
        around = []
        for launch in launches:
            while todo and todo[-1]["start"] <= launch["start"]:
                op = todo.pop()
                while around and around[-1]["start"] + around[-1]["dur"] <= op["start"]:
                    around.pop()
                around.append(op)
            while around and around[-1]["start"] + around[-1]["dur"] <= launch["start"]:
                around.pop()
            lasting = [op for op in around if op["start"] + op["dur"] + 1000 >= launch["start"] + launch["dur"]]
            if around:
                (lasting or around)[-1].setdefault("own", []).append(launch)


def compare_depths(name, trace, rows):
    """Operators of real traces lie in one another, or apart."""
    least, around = {}, collections.defaultdict(list)
    for op in sorted(trace.ops, key=lambda o: (o["start"], -o["dur"], o["uid"])):
        around[op["thread"]] = [end for end in around[op["thread"]] if end > op["start"]]
        least[op["name"]] = min(len(around[op["thread"]]), least.get(op["name"], len(trace.ops)))
        around[op["thread"]].append(op["start"] + op["dur"])
    got = {r["name"]: int(r["depth"]) for r in rows if r["name"]}
    check(f"{name}: depths of operators", got == least, [(k, got.get(k), v) for k, v in least.items() if got.get(k) != v][:3])


def compare_delays(name, trace, rows):
    innermost(trace)
    expected = collections.defaultdict(list)
    for op in trace.ops:
        if "own" in op:
            launch = op["own"][0]
            work = min(w["start"] for w in launch["work"])
            expected[op["name"]].append((launch["start"] - op["start"], max(work - launch["start"], 0)))
    got = {r["name"]: (float(r["to_launch_ns"]), float(r["to_work_ns"])) for r in rows if r["name"] and r["to_launch_ns"] not in ("", "nan")}
    check(f"{name}: operators that launch", got.keys() == expected.keys(), set(got) ^ set(expected))
    for op, v in expected.items():
        mean = tuple(sum(x) / len(v) for x in zip(*v))
        check(f"{name}: delays of {op}", all(abs(a - b) <= 1e-12 * b for a, b in zip(got.get(op, (-1, -1)), mean)), (got.get(op), mean))


# --- what was measured ----------------------------------------------------------------------------------------------------

def flop(row):
    op = re.fullmatch(r"smsp__sass_thread_inst_executed_op_(.)(fma|add|mul)_pred_on.sum", row["counter"])
    return 0 if op is None else float(row["sum"]) * (2 if op[2] == "fma" else 1)


def compare_counters(name, trace, rows):
    launches = [c for c in trace.calls if "LaunchKernel" in c["name"]]
    known = "launch" if len(launches) == len(trace.ranges) else "unknown"
    expected = collections.defaultdict(list)
    for i, (_, _, kernel, args) in enumerate(sorted(trace.ranges, key=lambda r: r[:2])):
        stack = " > ".join(trace.stack(launches[i]["thread"], launches[i]["start"], launches[i]["start"] + launches[i]["dur"]) if known == "launch" else [])
        for counter, value in args.items():
            expected[counter, stack, kernel, known].append(float(value))
    got = {(r["counter"], r["stack"], r["kernel"], r["known_by"]): tuple(float(r[x]) for x in ("count", "sum", "min", "max")) for r in rows}
    check(f"{name}: operators are the innermost of their stacks", all(r["operator"] == r["stack"].split(" > ")[-1] for r in rows))
    check(f"{name}: floating-point operations", all(flop(r) == (0 if r["flop"] in ("", "nan") else float(r["flop"])) for r in rows))
    check(f"{name}: counters", got == {k: (len(v), sum(v), min(v), max(v)) for k, v in expected.items()},
          list(set(got) ^ set(expected))[:3])
    order = sorted((k[0].encode(), -sum(v), k[1].encode(), k[2].encode()) for k, v in expected.items())
    check(f"{name}: their order", [(r["counter"].encode(), -float(r["sum"]), r["stack"].encode(), r["kernel"].encode()) for r in rows] == order)
    return len(rows)


def compare_memory(name, trace, rows):
    of = collections.defaultdict(list)
    for at, uid, thread, args in trace.memory:
        of[args["Device Id"] if args["Device Type"] != 0 else -1].append((at, uid, thread, args))
    check(f"{name}: devices with memory", [int(r["device"]) for r in rows] == sorted(of))
    for row in rows:
        v = sorted(of[int(row["device"])], key=lambda m: m[:2])
        most = max(m[3]["Total Allocated"] for m in v)
        peak = next(m for m in v if m[3]["Total Allocated"] == most)
        told = [len(v), v[0][3]["Total Allocated"], most, v[-1][3]["Total Allocated"], max(m[3]["Total Reserved"] for m in v)]
        check(f"{name}: bytes of device {row['device']}", told ==
              [int(row[x]) for x in ("events", "first_bytes", "peak_bytes", "last_bytes", "reserved_bytes")], (told, row))
        check(f"{name}: operator at the peak of device {row['device']}", row["peak_operator"] == trace.around(peak[2], peak[0]), row)
    peaks = {int(r["peak_ns"]) - next(m[0] for m in sorted(of[int(r["device"])], key=lambda m: m[:2]) if m[3]["Total Allocated"] == int(r["peak_bytes"]))
             for r in rows}
    check(f"{name}: times of peaks are apart as in the trace", len(peaks) <= 1, peaks)
    return len(rows)


# --------------------------------------------------------------------------------------------------------------------------

def compare(name, folder, work):
    out = os.path.join(work, "out.h5")
    got = subprocess.run([TLMPI, "-f", "-q", "-o", out, folder], capture_output=True, text=True)
    check(f"{name}: the run works", got.returncode in (0, 1), got.stderr[-300:])
    copies = os.path.join(work, "copies")
    shutil.rmtree(copies, ignore_errors=True)
    subprocess.run([TLMPI, "augment", "-q", "-o", copies, folder], capture_output=True, check=False)
    pattern, operator, counter, memory = (table(out, name) for name in ("pattern", "operator", "counter", "memory"))
    for row in table(out, "rank"):
        mine = lambda rows: [r for r in rows if r["rank"] == row["rank"]]
        trace, words = Trace(row["file"]), f"{name}, rank {row['rank']}"
        compare_patterns(words, trace, mine(pattern))
        compare_overlay(words, trace, mine(pattern), os.path.join(copies, os.path.relpath(row["file"], folder)))
        compare_delays(words, trace, mine(operator))
        compare_depths(words, trace, mine(operator))
        counts["counters"] += compare_counters(words, trace, mine(counter))
        counts["memory"] += compare_memory(words, trace, mine(memory))


def main():
    with tempfile.TemporaryDirectory() as work:
        job = os.path.join(work, "job")
        subprocess.run([MAKE_TRACE, "-o", job, "--ranks", "4", "--steps", "3", "--seed", "5", "--python-share", "0.2"], check=True)
        compare("simulated", job, work)
        if not os.path.isdir(CORPUS):
            counts["skipped"] += 1
            print("SKIPPED: public traces: TLMPI_CORPUS names no folder with traces/")
        else:
            for name in PUBLIC:
                compare(name, os.path.join(CORPUS, name), work)
            check("there were counters and memory", counts["counters"] > 100 and counts["memory"] > 5, counts)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


sys.exit(main())
