#!/usr/bin/python3
"""graph.py TLMPI [FIRST_SEED JOBS] - the verdict by the dependency graph on times that cannot be: jobs drawn at random, of one rank
to three, whose times lie ages apart, are none, or say nothing; whose launches are missing; of thousands of streams, of pauses, of
kernels told twice.

Each has to end, with every rank told, and the replay of what is left has to give the measured times.  With a program built with
sanitizers nothing may overflow.  Prints what fails and, last, "N passed, N failed, N skipped".
"""
import json
import os
import random
import sys
import tempfile

from traces import Checks, Run

NAMES = ("gemm", "relu", "Memcpy HtoD (Pageable -> Device)", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "ncclDevKernel_SendRecv")
CALLS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaFree", "cudaEventRecord", "cudaStreamWaitEvent",
         "cudaEventSynchronize")
SYNCS = ("Stream Wait Event", "Stream Sync", "Context Sync")
STEPS = (0, 5, 2147483646, 2147483647)
FAR = (2305843009213693, 2e15, 1e15, 5e14, -1e15, -2.3e15)  # us: 2^61 ns is the largest time that is one
STYLES = ("far", "far", "some far", "long", "long", "none", "streams", "pauses", "no launch")


def time(chance, style, most):
    """Microseconds up to `most`, as a rule."""
    if style == "none":
        return chance.choice((0, 0, 1))
    far = {"far": 0.3, "some far": 0.02}.get(style, 0)
    if chance.random() < far:
        return chance.choice(FAR)
    return 0 if chance.random() < 0.1 else round(chance.uniform(0, most), 3)


def length(chance, style, most):
    """Likewise, of how long something takes."""
    return chance.choice((2e15, 1e15)) if style == "long" and chance.random() < 0.7 else time(chance, style, most)


def event(cat, name, ts, dur, args, tid=1):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}


def work(chance, style, i, n, streams, at):
    """A launch and what it launches."""
    launched = i + 1 if chance.random() < 0.9 else chance.randrange(1, n + 1)
    call = chance.choice(("cudaLaunchKernel", "cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemcpy"))
    name = chance.choice(NAMES)
    args = {"device": int(chance.random() < 0.03), "stream": chance.randrange(streams), "correlation": launched}
    if "nccl" in name and chance.random() < 0.8:
        args.update({"Collective name": "send" if "Send" in name else "allreduce", "Process Group Name": "0",
                     "Process Group Ranks": "[0, 1, 2]", "Group size": 3, "Seq": i // 3, "In msg nelems": 8, "Out msg nelems": 8,
                     "dtype": "Float"})
    if style != "no launch":
        yield event("cuda_runtime", call, at, length(chance, style, 10), {"correlation": launched}, chance.randrange(1, 3))
    yield event("gpu_memcpy" if "Memcpy" in name else "kernel", name, at + time(chance, style, 40), length(chance, style, 60), args)


def wait(chance, style, i, n, streams, at):
    """A call that waits, and perhaps the record of it."""
    call = 10**6 + i
    yield event("cuda_runtime", chance.choice(CALLS), at + time(chance, style, 5), length(chance, style, 200),
                {"correlation": call})
    if chance.random() < 0.6:
        yield event("cuda_sync", chance.choice(SYNCS), at + time(chance, style, 5), length(chance, style, 100),
                    {"device": 0, "stream": chance.randrange(streams), "correlation": call,
                     "wait_on_stream": chance.randrange(streams),
                     "wait_on_cuda_event_record_corr_id": 10**6 + chance.randrange(n)})


def rank(chance, style):
    events, at, n = [], 0, chance.randrange(0, 120)
    streams = 3000 if style == "streams" else chance.randrange(1, 5)
    for i in range(n):
        at += time(chance, style, 30)
        if style == "pauses" and chance.random() < 0.3:
            at += chance.choice((600, 1500, 20000))
        events += work(chance, style, i, n, streams, at)
        if chance.random() < 0.2:
            events += wait(chance, style, i, n, streams, at)
        if chance.random() < (0.02 if style == "long" else 0.08):
            step = i // 10 if chance.random() < 0.7 else chance.choice(STEPS)
            events.append(event("user_annotation", "ProfilerStep#%d" % step, at, time(chance, style, 300), {}))
    if chance.random() < 0.1:
        events += events[:6]
    if chance.random() < 0.3:
        chance.shuffle(events)
    return events


def job(checks, program, folder, seed):
    chance = random.Random(seed)
    style = chance.choice(STYLES)
    what = "seed %d, %s" % (seed, style)
    data, out = os.path.join(folder, "traces-%d" % seed), os.path.join(folder, "out-%d" % seed)
    os.mkdir(data)
    for number in range(chance.choice((1, 2, 3, 3, 3))):
        base = chance.choice((0, 1700000000000000000, 5, 2**61 - 1 if style == "far" else 0))
        with open(os.path.join(data, "rank-%d.json" % number), "w", encoding="ascii") as f:
            json.dump({"distributedInfo": {"backend": "nccl", "rank": number, "world_size": 3}, "baseTimeNanoseconds": base,
                       "traceEvents": rank(chance, style)}, f)
    run = Run(program, [data], out, ("-f", "-q"), 60)
    checks.that(run.status in (0, 1, 3) and "runtime error" not in run.stderr, what + ": it ends", run.status, run.stderr[-600:])
    if run.status not in (0, 1):
        return
    unchanged = [r["model_error"] for r in run.rows("whatif") if r["scenario"] == "unchanged"]
    checks.that(unchanged == [0], what + ": the replay gives the measured times", unchanged)
    told = {r["rank"] for r in run.rows("straggler")}
    checks.that(told == {r["rank"] for r in run.rows("rank")}, what + ": all ranks are told", sorted(told))


def main():
    checks, program = Checks(), os.path.abspath(sys.argv[1])
    first, jobs = (int(a) for a in sys.argv[2:4]) if len(sys.argv) > 3 else (1, 40)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + jobs):
            job(checks, program, folder, seed)
    checks.close()


main()
