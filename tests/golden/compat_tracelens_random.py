#!/usr/bin/env python3
"""compat_tracelens_random.py TLMPI - random small traces, full of ties, graphs, empty events, several devices and threads, missing
fields: the tables of `tlmpi compat tracelens` against the slow references of TLMPI_CORPUS/golden/reference.

The traces are the same in every run; --seed N makes others, --keep DIR leaves them there.  Prints what differs and, last,
"N passed, N failed, N skipped".
"""
import argparse
import contextlib
import importlib.util
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

CALLS = (["hipLaunchKernel", "cudaLaunchKernel", "cuLaunchKernelEx", "hipGraphLaunch", "cudaGraphLaunch"] * 3 +
         ["hipDeviceSynchronize", "cudaStreamSynchronize", "hipEventSynchronize", "cudaMemcpyAsync", "hipMemcpyWithStream",
          "hipMemcpy", "cudaMemcpyDtoH", "hipMalloc", "cudaFree", "cudaEventQuery", "cudaFuncGetAttributes"])
KERNELS = ["gemm", "void k<int, 4>(int*, \"x\")", "reduce", "ncclDevKernel_Generic(x)", "RCCL_x",
           "void cross_device_reduce_1stage<x>", "__amd_rocclr_copyBuffer.kd"]
OPS = ["aten::mm", "aten::addmm", "aten::add_", "f.py(3): run, again", "nn.Module: Linear_0"]
KINDS = ["1", "2", "", 0, 1, 2, "Memcpy DtoH", "HtoD", "DtoD", None]
COLLECTIVES = ["allreduce", "_allgather_base", "_reduce_scatter_base", "all_to_all", "all_to_allv", "broadcast"]
DTYPES = ["Float", "BFloat16", "Long", "Float8_e4m3fn"]


class Trace:
    def __init__(self, rng):
        self.rng = rng
        self.events = []
        self.base = rng.choice([0, 1000, 1419247334349.2, 1707417525512146])
        self.step = 1 if isinstance(self.base, int) else 0.001
        self.key = rng.choice(["correlation", "correlation", "External id"])
        self.next_id = 1

    def time(self, spread):
        t = self.base + self.rng.randrange(spread)
        return t if self.step == 1 else round(t + self.rng.randrange(4) * 0.25 + self.rng.randrange(3) * 0.001, 3)

    def length(self, spread):
        d = self.rng.choice([0, 1, 2, 5, self.rng.randrange(spread), self.rng.randrange(spread)])
        return d if self.step == 1 else round(d + self.rng.randrange(1000) * 0.001, 3)

    def add(self, **fields):
        self.events.append(fields)
        return fields

    def new_id(self):
        self.next_id += self.rng.choice([0, 1, 1, 1, 1])
        return self.rng.choice([str(self.next_id)] + [self.next_id] * 9)

    def kernel(self, ts, link, spread):
        rng = self.rng
        device = rng.randrange(2)
        stream = rng.choice([7, 7, 13])
        args = {"device": device, "stream": stream}
        if link is not None:
            args[self.key] = link
        if rng.random() < 0.3:
            args["kind"] = rng.choice(["Dispatch Kernel", "CopyDeviceToHost", "DtoH", "HtoD"])
        cat = rng.choice(["kernel"] * 4 + ["gpu_memcpy", "gpu_memset"])
        name = rng.choice(KERNELS) if cat == "kernel" else "Memcpy DtoH (Device -> Pageable)"
        return self.add(ph=rng.choice("XXXXXXXi"), cat=cat, name=name, pid=device, tid=stream, ts=ts, dur=self.length(spread),
                        args=args)

    def call(self, spread):
        rng = self.rng
        name = rng.choice(CALLS)
        link = self.new_id()
        event = self.add(ph=rng.choice("XXXXXXXXXi"), cat=rng.choice(["cuda_runtime", "cuda_driver"]), name=name, pid=1,
                         tid=rng.randrange(1, 3), ts=self.time(spread), dur=self.length(40), args={self.key: link})
        if rng.random() < 0.05:
            del event["dur"]
        if "ync" in name or "Memcpy" in name:
            event["dur"] = self.length(200)
        if self.key == "correlation" and rng.random() < 0.5:
            event["args"]["External id"] = rng.randrange(9)
        if "Memcpy" in name:
            kind = rng.choice(KINDS)
            if kind is not None:
                event["args"]["kind"] = kind
        if "Launch" not in name and rng.random() < 0.5:
            return
        for _ in range(rng.randrange(1, 5) if "Graph" in name else 1):
            if rng.random() < 0.9:
                ts = event["ts"] + rng.randrange(60)
                kernel = self.kernel(ts if self.step == 1 else round(ts, 3), link, 60)
                if rng.random() < 0.9:
                    self.flow(link, event, kernel)

    def flow(self, link, call, kernel):
        rng = self.rng
        if rng.random() < 0.95:
            self.add(ph="s", cat="ac2g", name="ac2g", id=link, pid=call["pid"], tid=call["tid"], ts=call["ts"])
        if rng.random() < 0.95:
            self.add(ph="f", cat="ac2g", name="ac2g", id=link, pid=kernel["pid"], tid=rng.choice([kernel["tid"]] * 9 + [99]),
                     ts=kernel["ts"], bp="e")

    def operators(self, lo, hi, depth, tid):
        rng = self.rng
        at = lo
        while at < hi and len(self.events) < 600:
            at += rng.choice([0, 0, 1, rng.randrange(30)])
            end = min(hi, at + rng.choice([0, 1, rng.randrange(80), hi - lo])) + rng.choice([0] * 9 + [2])
            event = self.add(ph="X", cat=rng.choice(["cpu_op", "python_function"]), name=rng.choice(OPS), pid=1, tid=tid,
                             ts=self.base + at, dur=end - at)
            if self.step != 1:
                event["ts"], event["dur"] = round(event["ts"] + rng.randrange(3) * 0.25, 3), round(end - at + 0.5, 3)
            if rng.random() < 0.05:
                del event["dur"]
            if rng.random() < 0.4:
                event["args"] = {"External id": rng.randrange(9)}
            if depth > 0 and rng.random() < 0.6:
                self.operators(at, end, depth - 1, tid)
            at = end + 1

    def noise(self):
        self.add(ph="M", name="process_name", pid=1, tid=0, ts=0, args={"name": "python"})
        self.add(ph="X", cat="cuda_sync", name="Stream Sync", pid=0, tid=7, ts=self.time(100), dur=3, args={self.key: 2})
        self.add(ph="i", name="no category", ts=self.time(100))
        self.add(ph="X", cat="Kernel", name="old spelling", pid=0, tid=7, ts=self.time(100), dur=50, args={})

    def text(self):
        rng = self.rng
        # The first launch of the file decides about the key.
        self.add(ph="X", cat="cuda_runtime", name="cudaLaunchKernel", pid=1, tid=1, ts=self.base, dur=1, args={self.key: 0})
        spread = rng.choice([100, 1000, 4000])
        for _ in range(rng.randrange(1, 40)):
            self.call(spread)
        for _ in range(rng.randrange(4)):
            self.kernel(self.time(spread), None, 60)
        for tid in range(1, rng.randrange(1, 4)):
            self.operators(rng.randrange(50), spread, rng.randrange(5), tid)
        self.noise()
        if rng.random() < 0.5:
            first = self.events.pop(0)
            rng.shuffle(self.events)
            self.events.insert(0, first)
        return json.dumps({"schemaVersion": 1, "traceEvents": self.events}, separators=rng.choice([(",", ":"), (", ", ": ")]))


def collectives(rng, ranks):
    """The traces of some ranks: the same collectives on each, or almost."""
    metadata, streams, agree = rng.random() < 0.7, rng.choice([[20], [20, 21]]), rng.random() < 0.8
    groups = [("0", list(range(ranks))), ("1", [0, 1])]
    plan = []
    for _ in range(rng.randrange(1, 12)):
        group, members = rng.choice(groups)
        n = len(members)
        name = rng.choice(COLLECTIVES if agree and metadata else COLLECTIVES[:4])
        # The reference cannot tell the rate of nothing, in no time, or of a type it does not know.
        exchange = name == "all_to_allv"
        elements = rng.choice([8, 64, 4096] if exchange else [0, 64, 4096]) * n
        plan.append({"group": group, "members": members, "stream": rng.choice(streams), "args": {
            "Process Group Name": group, "Process Group Ranks": str(members), "Collective name": name,
            "Group size": n, "dtype": "Float" if exchange else rng.choice(DTYPES), "In msg nelems": elements, "Out msg nelems": elements,
            "In split size": str([elements // n] * n), "Out split size": rng.choice(["[]", "[1, ...]"])}})
    out = []
    for rank in range(ranks):
        events = []
        for i, c in enumerate(plan):
            if rank not in c["members"] or (not agree and rng.random() < 0.1):
                continue
            args = {"stream": c["stream"], "device": 0, "correlation": i + 1}
            if metadata and not (not agree and rng.random() < 0.1):
                args.update(c["args"])
            events.append({"ph": "X", "cat": "kernel", "name": rng.choice(["ncclDevKernel_Generic(x)", "cross_device_reduce_2stage"]),
                           "pid": 0, "tid": c["stream"], "ts": 1000 + 200 * i + rng.randrange(40), "dur": rng.choice([5 if args.get("Collective name") == "all_to_allv" else 0, 5, 30.5, 90]),
                           "args": args})
        events.append({"ph": "X", "cat": "kernel", "name": "nccl without a number", "pid": 0, "tid": 20, "ts": 1, "dur": 1, "args": {}})
        out.append(json.dumps({"traceEvents": events}))
    return out


def module(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    m = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    return m


def write(folder, texts):
    os.makedirs(folder)
    paths = []
    for i, text in enumerate(texts):
        paths.append(os.path.join(folder, "rank%d.json" % i))
        with open(paths[-1], "w") as f:
            f.write(text)
    return paths


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tlmpi")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--traces", type=int, default=300)
    ap.add_argument("--groups", type=int, default=40)
    ap.add_argument("--keep")
    a = ap.parse_args()
    reference = os.path.join(os.environ.get("TLMPI_CORPUS", ""), "golden", "reference")
    if not os.path.exists(os.path.join(reference, "idle_reference.py")):
        print("SKIPPED: TLMPI_CORPUS does not name a folder with golden/reference")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    idle = module(os.path.join(reference, "idle_reference.py"))
    coll = module(os.path.join(reference, "collectives_reference.py"))
    work = a.keep or tempfile.mkdtemp(prefix="tlmpi-test.")
    passed = failed = 0

    def run(folder, out):
        r = subprocess.run([a.tlmpi, "compat", "tracelens", folder, "-o", out], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           universal_newlines=True)
        return r.returncode <= 1 or print("FAILED: tlmpi ended with %d\n%s" % (r.returncode, r.stdout))

    def judge(what, good, said):
        nonlocal passed, failed
        if good:
            passed += 1
        else:
            failed += 1
            print("FAILED: %s\n%s" % (what, said))

    traces = os.path.join(work, "traces")
    paths = write(traces, [Trace(random.Random("%d %d" % (a.seed, i))).text() for i in range(a.traces)])
    judge("the run", run(traces, os.path.join(work, "out")), "")
    ngaps = 0
    for i, path in enumerate(paths):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            records = idle.classify(idle.load(path))
            ngaps += len(records)
            try:
                good = idle.check(records, os.path.join(work, "out", "rank%d" % i))
            except (OSError, ValueError, KeyError) as e:
                good = False
                print(repr(e))
        judge("gaps of %s" % path, good, said.getvalue())
    judge("the traces have gaps", ngaps > 5 * a.traces, ngaps)

    for i in range(a.groups):
        folder = os.path.join(work, "group%d" % i)
        rng = random.Random("%d group %d" % (a.seed, i))
        paths = write(folder, collectives(rng, rng.randrange(1, 6)))
        judge("the run of %s" % folder, run(folder, folder + "-out"), "")
        r = subprocess.run([sys.executable, os.path.join(reference, "collectives_reference.py"), "--check", folder + "-out"] + paths,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        stopped = "stopped as TraceLens does" in r.stdout
        table = os.path.join(folder + "-out", "nccl_implicit_sync.csv")
        # A reference that stops has compared nothing; then there must be no table of what ranks do together either.
        good = not os.path.exists(table) if stopped else r.returncode == 0 and "reference has" not in r.stdout
        judge("collectives of %s" % folder, good, r.stdout)
    if not a.keep:
        shutil.rmtree(work)
    print("%d gaps" % ngaps)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed != 0


sys.exit(main())
