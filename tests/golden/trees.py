#!/usr/bin/python3
"""trees.py TLMPI MAKE_TRACE - the call tree, annotations on the device and operators over ranks, counted once
more from the traces' text; annotations on the device as HTA has them, too.

Prints what fails and, last, "N passed, N failed, N skipped".
"""
import bisect
import collections
import csv
import glob
import io
import math
import os
import statistics
import subprocess
import sys
import tempfile

from tree_trace import Trace, is_mark, plain

TLMPI, MAKE_TRACE = (os.path.abspath(p) for p in sys.argv[1:3])
CORPUS = os.environ.get("TLMPI_CORPUS", "")
PUBLIC = ("alexnet", "backward_thread", "h100_bert_small", "h100_falconsai", "megatron_tp8", "mi250_minitoy", "mi300_bert_small",
          "mi300_ddp_resnet18_no_pool", "mi300_falconsai", "mi300_resnet_act_checkpoint", "production_st", "rank_non_gpu",
          "resnet18_2ranks", "sampled_2ranks", "simple_add", "torchrec_optimizer", "torchrec_optimizer_4", "triton_example",
          "vllm_decode_full_graph", "cupti_profiler")
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {str(more)[:800]}")


def table(path, name):
    text = subprocess.run([TLMPI, "show", path, name, "--format", "csv"], capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def close(a, b):
    return math.isnan(a) and math.isnan(b) or abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def real(text):
    return float(text) if text else math.nan


# --- the tree -------------------------------------------------------------------------------------------------------------

class Stack:
    """What is open on a thread."""

    def __init__(self):
        self.v = []

    def innermost(self, at):
        while self.v and self.v[-1]["end"] <= at:
            self.v.pop()
        return self.v[-1] if self.v else None

    def around(self, call):
        """The innermost that lasts as long as the call, a microsecond more or less; else the innermost."""
        top = self.innermost(call["start"])
        return next((s for s in reversed(self.v) if s["end"] + 1000 >= call["end"]), top)


def sweep(thread_spans, calls, take_span, take_call):
    """Those of a thread, in order of time; what begins with a call is around it."""
    i = 0
    for call in calls + [None]:
        while i < len(thread_spans) and (call is None or thread_spans[i]["start"] <= call["start"]):
            take_span(thread_spans[i])
            i += 1
        if call is not None:
            take_call(call)


class Tree:
    """path -> [count, host, called, launches, kernels, device, own device, exposed]; a path is a tuple of (kind, name, forward path)."""

    def __init__(self, trace):
        self.trace, self.nodes = trace, collections.defaultdict(lambda: [0] * 8)
        self.main = trace.main()
        self.forward = self.arrows()
        by_thread, calls = collections.defaultdict(list), collections.defaultdict(list)
        for s in trace.spans:
            if not is_mark(s):
                by_thread[s["thread"]].append(s)
        for call in trace.launches:
            calls[call["thread"]].append(call)
        of_main = [s for s in by_thread[self.main] if s["kind"] == "annotation"]
        self.notes = self.turns(of_main)
        firsts = {s["thread"] for s in self.forward.values()}
        order = sorted({*by_thread, *calls}, key=lambda t: (t != self.main, t not in firsts, t))
        for thread in order:
            self.walk(thread, by_thread[thread], calls[thread])
        for w in trace.work:
            self.add_work(w)

    def arrows(self):
        """uid of a backward operator -> its forward operator."""
        at, ids = {}, collections.defaultdict(lambda: [None, []])
        for s in self.trace.spans:
            if s["kind"] == "operator":
                at[s["thread"], s["start"]] = s
        for i, ph, start, thread in self.trace.arrows:
            s = at.get((thread, start))
            if ph == "s":
                ids[i][0] = ids[i][0] or s
            elif s is not None:
                ids[i][1].append(s)
        return {to["uid"]: of for of, v in ids.values() for to in v if of is not None and of is not to}

    @staticmethod
    def turns(notes):
        """(instant, innermost annotation of the main thread from then on)."""
        edges, stack = [], Stack()
        for s in notes + [None]:
            at = s["start"] if s else math.inf
            while stack.v and stack.v[-1]["end"] <= at:
                end = stack.v[-1]["end"]
                edges.append((end, stack.innermost(end)))
            if s:
                stack.v.append(s)
                edges.append((at, s))
        return edges

    def note_at(self, at):
        i = bisect.bisect_right(self.notes, at, key=lambda t: t[0])
        return self.notes[i - 1][1] if i > 0 else None

    def walk(self, thread, spans, calls):
        whole, ops, notes = Stack(), Stack(), Stack()

        def below(s):
            return s["path"] if s is not None else ()

        def called(around, s):
            self.nodes[around["path"]][2] += max(min(around["end"], s["end"]) - s["start"], 0)

        def take_span(s):
            around = whole.innermost(s["start"])
            parent = below(around)
            if around is None and s["kind"] != "annotation" and thread != self.main:
                parent = below(self.note_at(s["start"]))
            of = self.forward.get(s["uid"])
            s["path"] = parent + ((s["kind"], plain(s["name"]), of.get("path") if of else None),)
            node = self.nodes[s["path"]]
            node[0] += 1
            node[1] += s["end"] - s["start"]
            if around is not None:
                called(around, s)
            for stack in (whole, *dict(operator=[ops], annotation=[notes], module=[]).get(s["kind"])):
                stack.innermost(s["start"])
                stack.v.append(s)

        def take_call(call):
            here = max((s for s in (ops.around(call), notes.around(call)) if s), key=lambda s: s["place"], default=None)
            modules = [s for s in whole.v if s["kind"] == "module" and s["end"] >= call["end"]]
            here = max(modules[-1:] + ([here] if here else []), key=lambda s: s["place"], default=None)
            parent = below(here) if here else below(self.note_at(call["start"]))
            if here:
                called(here, call)
            call["path"] = parent + (("call", plain(call["name"]), None),)
            node = self.nodes[call["path"]]
            node[0] += 1
            node[1] += call["end"] - call["start"]
            node[3] += 1

        sweep(spans, calls, take_span, take_call)

    def add_work(self, w):
        call = w.get("launch")
        path = call["path"] if call else (("none", "", None),)
        ns_ = w["end"] - w["start"]
        self.nodes[path[:-1] or path][6] += ns_
        leaf = path + (("work", plain(w["name"]), None),)
        self.nodes[leaf][0] += 1
        for n in range(1, len(leaf) + 1):
            self.nodes[leaf[:n]][4] += 1
            self.nodes[leaf[:n]][5] += ns_
            self.nodes[leaf[:n]][7] += w["exposed"]

    def expected(self):
        out = {}
        for path, v in self.nodes.items():
            launches = sum(u[3] for p, u in self.nodes.items() if p[:len(path)] == path)
            out[path] = (v[0], v[1], max(v[1] - v[2], 0), launches, *v[4:])
        return out


def paths_of(rows):
    """Of each row its path, by what it says of its parent and of its forward operator."""
    known = {}

    def path(i):
        if i not in known:
            r = rows[i]
            up = path(int(r["parent"])) if int(r["parent"]) >= 0 else ()
            known[i] = up + ((r["kind"], r["name"], path(int(r["forward"])) if int(r["forward"]) >= 0 else None),)
        return known[i]

    return [path(i) for i in range(len(rows))]


def compare_tree(name, trace, rows, exposed_ns):
    columns = ("count", "host_ns", "host_self_ns", "launches", "kernels", "device_ns", "device_self_ns", "comm_exposed_ns")
    check(f"{name}: nodes are numbered", [int(r["node"]) for r in rows] == list(range(len(rows))))
    check(f"{name}: all have rows", all(r["kind"] != "rest" for r in rows) or len(rows) == 4097, len(rows))
    paths = paths_of(rows)
    got = {p: tuple(int(r[c]) for c in columns) for p, r in zip(paths, rows)}
    check(f"{name}: each path has one row", len(got) == len(rows))
    expected = Tree(trace).expected()
    check(f"{name}: paths", got.keys() == expected.keys(), list(set(got) ^ set(expected))[:2])
    wrong = [(p, got[p], v) for p, v in expected.items() if p in got and got[p] != v]
    check(f"{name}: sums of paths", not wrong, wrong[:2])
    whole = sum(w["end"] - w["start"] for w in trace.work)
    check(f"{name}: what all have themselves is all device work", sum(int(r["device_self_ns"]) for r in rows) == whole, whole)
    check(f"{name}: so is the work below them", sum(int(r["device_ns"]) for r in rows if r["kind"] == "work") == whole)
    check(f"{name}: and what roots have", sum(int(r["device_ns"]) for r in rows if int(r["depth"]) == 0) == whole)
    check(f"{name}: exposed communication", sum(int(r["comm_exposed_ns"]) for r in rows if r["kind"] == "work") == exposed_ns)
    check(f"{name}: shares", all(close(real(r["share"]), int(r["device_ns"]) / whole if whole else math.nan) for r in rows))
    # In preorder a node's parent is what was printed last one level up; brothers come by their time.
    last, before = {}, {}
    for r in rows:
        depth, parent = int(r["depth"]), int(r["parent"])
        check_quietly(f"{name}: node {r['node']} is below its parent", parent == last.get(depth - 1, -1), r)
        key = (-int(r["device_ns"]), -int(r["host_ns"]), r["name"].encode())
        check_quietly(f"{name}: node {r['node']} stands in its place", before.get(parent, key) <= key or r["kind"] == "none", r)
        last[depth], before[parent] = int(r["node"]), key
    counts["forward"] += sum(int(r["forward"]) >= 0 for r in rows)
    counts["none"] += sum(r["kind"] == "none" for r in rows)


def check_quietly(what, holds, more):
    if not holds:
        check(what, False, more)


# --- launches by step -----------------------------------------------------------------------------------------------------

# --- annotations on the device --------------------------------------------------------------------------------------------

def spread(v):
    return sum(v), sum(v) / len(v), statistics.stdev(v) if len(v) > 1 else math.nan, min(v), max(v)


def by_name(ranges):
    of = collections.defaultdict(list)
    for s in ranges:
        of[s["name"]].append(s["end"] - s["start"])
    return of


def compare_ranges(name, trace, rows):
    of = by_name(trace.ranges)
    got = {r["name"]: tuple(real(r[c]) for c in ("count", "total_ns", "std_ns", "min_ns", "max_ns")) for r in rows}
    check(f"{name}: annotations on the device", got.keys() == of.keys(), set(got) ^ set(of))
    for key, v in of.items():
        total, _, *rest = spread(v)
        want = (len(v), total, *rest)
        check(f"{name}: {key} on the device", all(close(a, b) for a, b in zip(got.get(key, ()), want)), (got.get(key), want))
    order = sorted((-sum(v), key.encode()) for key, v in of.items())
    check(f"{name}: their order", [r["name"].encode() for r in rows] == [key for _, key in order])
    check(f"{name}: their places", [int(r["place"]) for r in rows] == list(range(1, len(rows) + 1)))


def compare_with_hta(name, hta, trace, rows):
    """HTA, without rounding, leaves out what begins in the last of several steps or after it: the rest is as it says."""
    paths = glob.glob(os.path.join(CORPUS, "golden", "hta", hta, "ns", "gpu_user_annotation_breakdown.csv"))
    if not paths:
        return
    with open(paths[0], encoding="utf-8") as f:
        golden = list(csv.DictReader(f))
    ours = {r["name"]: r for r in rows}
    marks = [s for s in trace.ranges if s["name"].startswith("ProfilerStep")]
    marks += [s for s in trace.spans if (s["name"] or "").startswith("ProfilerStep")]
    cut = max((s["start"] for s in marks), default=math.inf) if len({s["name"] for s in marks}) > 1 else math.inf
    left = by_name(s for s in trace.ranges if s["start"] < cut)
    gone = by_name(s for s in trace.ranges if s["start"] >= cut)
    check(f"{name}: HTA has the same annotations", sorted(r["name"] for r in golden) == sorted(left), (golden, left))
    for g in golden:
        v, row = left[g["name"]], ours[g["name"]]
        said = [float(g[c]) * 1000 for c in ("sum (us)", "mean (us)", "stddev", "min (us)", "max (us)")]
        total, mean, std, least, most = spread(v)
        check(f"{name}: HTA's {g['name']}", all(abs(a - b) <= 1e-6 * b + 0.01 for a, b in
              zip(said, (total, mean, 0 if math.isnan(std) else std, least, most))), (g, v))
        check(f"{name}: with what it left out", int(row["total_ns"]) == total + sum(gone[g["name"]]), (row, gone[g["name"]]))
        if not gone[g["name"]]:
            counts["hta"] += 1
            mine = [real(row[c]) for c in ("total_ns", "std_ns", "min_ns", "max_ns")]
            mine.insert(1, mine[0] / int(row["count"]))
            check(f"{name}: row of {g['name']} as HTA's", all(abs(a - b) <= 1e-6 * b + 0.01 for a, b in
                  zip(said, (0 if math.isnan(x) else x for x in mine))), (g, row))


# --- over ranks -----------------------------------------------------------------------------------------------------------

def compare_over_ranks(name, rows, sums):
    of, whole = collections.defaultdict(list), sum(int(r["device_self_ns"]) for r in rows)
    for r in rows:
        of[r["name"]].append(r)
    check(f"{name}: as many names", sorted(r["name"] for r in sums) == sorted(of))
    places = sorted(of, key=lambda n: (-sum(int(r["device_ns"]) for r in of[n]), -sum(int(r["host_ns"]) for r in of[n]),
                                       n == "", n.encode()))
    check(f"{name}: places", [r["name"] for r in sums] == places and [int(r["place"]) for r in sums] == list(range(1, len(sums) + 1)))
    for r in sums:
        v = sorted(of[r["name"]], key=lambda x: int(x["rank"]))
        total = lambda c: sum(int(x[c]) for x in v)
        for c in ("count", "host_ns", "device_ns", "device_self_ns"):
            check_quietly(f"{name}: {c} of {r['name']}", int(r[c]) == total(c), r)
        means = [(real(x["mean_ns"]), int(x["rank"])) for x in v if x["mean_ns"] not in ("", "nan")]
        slow = max(means, key=lambda m: (m[0], -m[1]), default=(math.nan, -1))
        most = max(v, key=lambda x: (int(x["device_ns"]), -int(x["rank"])))
        mean = sum(real(x["mean_ns"]) * int(x["count"]) for x in v if int(x["count"])) / total("count") if total("count") else math.nan
        numbers = {"share": total("device_ns") / whole if whole else math.nan, "mean_ns": mean, "slowest_ns": slow[0],
                   "median_rank_ns": statistics.median(m[0] for m in means) if means else math.nan}
        for c, want in numbers.items():
            check_quietly(f"{name}: {c} of {r['name']}", close(real(r[c]), want), (r, want))
        wholes = {"ranks": len(v), "slowest_rank": slow[1], "most_rank": int(most["rank"])}
        for c, want in wholes.items():
            check_quietly(f"{name}: {c} of {r['name']}", int(r[c]) == want, (r, want))


# --------------------------------------------------------------------------------------------------------------------------

def compare(name, folder, work, hta=""):
    out = os.path.join(work, "out.h5")
    got = subprocess.run([TLMPI, "-f", "-q", "-o", out, folder], capture_output=True, text=True)
    check(f"{name}: the run works", got.returncode in (0, 1), got.stderr[-300:])
    tables = {t: table(out, t) for t in ("call_tree", "annotation_device", "operator", "annotation")}
    exposed = {r["rank"]: int(r["comm_exposed_ns"]) for r in table(out, "breakdown") if (r["device"], r["step"]) == ("-1", "-1")}
    for row in table(out, "rank"):
        mine = lambda t: [r for r in tables[t] if r["rank"] == row["rank"]]
        trace, words = Trace(row["file"]), f"{name}, rank {row['rank']}"
        compare_tree(words, trace, mine("call_tree"), exposed[row["rank"]])
        compare_ranges(words, trace, mine("annotation_device"))
        if hta:
            compare_with_hta(words, hta, trace, mine("annotation_device"))
    for t in ("operator", "annotation"):
        compare_over_ranks(f"{name}: {t}", tables[t], table(out, t + "_ranks"))


def main():
    with tempfile.TemporaryDirectory() as work:
        for i, options in enumerate(("--ranks 4 --layers 3 --python-share 0.2", "--ranks 4 --layers 6 --pp 2 --flavour rocm",
                                     "--ranks 2 --age 2022 --cut-head-us 2000", "--ranks 2 --sync 0 --tp 2")):
            job = os.path.join(work, f"job-{i}")
            subprocess.run([MAKE_TRACE, "-o", job, "--steps", "3", "--seed", str(5 + i), *options.split()], check=True)
            compare(f"simulated {options}", job, work)
        if not os.path.isdir(os.path.join(CORPUS, "traces")):
            counts["skipped"] += 1
            print("SKIPPED: public traces: TLMPI_CORPUS names no folder with traces/")
        else:
            with open(os.path.join(CORPUS, "golden", "INDEX.csv"), encoding="utf-8") as f:
                hta = {r["traces"]: r["hta"] for r in csv.DictReader(f)}
            for name in PUBLIC:
                compare(name, os.path.join(CORPUS, "traces", name), work, hta.get(name, ""))
            check("all sorts of things were there", all(counts[c] > n for c, n in (("forward", 5), ("none", 2), ("hta", 5))), counts)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


sys.exit(main())
