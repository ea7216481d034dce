"""defects.py - traces of a job as a recording would have them that is not whole or not clean: one defect each, drawn by a seed.

The job itself stays what it was, so that its truth (data/truth.md) does; only what the recording covers of it is changed there.
"""

import collections
import decimal
import gzip
import json
import os

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
COLLECTIVE_ARGS = ("Collective name", "In msg nelems", "Out msg nelems", "Group size", "dtype", "In split size", "Out split size",
                   "Process Group Name", "Process Group Description", "Process Group Ranks", "Rank", "Src Rank", "Dst Rank", "Seq")


# ---------------------------------------------------------------------------------------------------------- traces


def read(path):
    """One trace; its times in us as floats that hold them to the ns."""
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8") as f:
        text = f.read()
    if "baseTimeNanoseconds" in text[-500:] or '"baseTimeNanoseconds"' in text[:200_000]:
        return json.loads(text)
    trace = json.loads(text, parse_float=decimal.Decimal)
    first = min(e["ts"] for e in trace["traceEvents"] if "ts" in e)
    base = int(first) // 1_000_000 * 1_000_000 if first > 1e12 else 0
    if base:
        trace["baseTimeNanoseconds"] = 1000 * base
    for event in trace["traceEvents"]:
        for key in ("ts", "dur"):
            if key in event:
                event[key] = float(event[key] - (base if key == "ts" else 0))
    return trace


def read_all(folder):
    """{rank: trace}"""
    traces = [read(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if "json" in name and name != "truth.json"]
    return {trace["distributedInfo"]["rank"]: trace for trace in traces}


def write_all(folder, traces):
    os.mkdir(folder)
    for rank, trace in traces.items():
        with open(os.path.join(folder, "rank%d.json" % rank), "w", encoding="ascii") as f:
            f.write(json.dumps(trace, default=float))


def keep(trace, holds):
    return dict(trace, traceEvents=[e for e in trace["traceEvents"] if holds(e)])


def end(event):
    return event["ts"] + event.get("dur", 0)


def timed(trace):
    return [e for e in trace["traceEvents"] if e.get("ph") == "X" and e.get("cat") != "Trace"]


def span(trace):
    events = timed(trace)
    return min(e["ts"] for e in events), max(map(end, events))


def device_work(trace):
    return sorted((e for e in trace["traceEvents"] if e.get("cat") in DEVICE), key=lambda e: e["ts"])


def correlation(event):
    return event["id"] if event.get("cat") == "ac2g" else event.get("args", {}).get("correlation")


def communicates(event):
    return event.get("cat") == "kernel" and "nccl" in event["name"].lower()


def steps(trace):
    """{step: (begin, end)} of the marks that the trace has."""
    return {int(e["name"][13:]): (e["ts"], end(e)) for e in timed(trace) if e["name"].startswith("ProfilerStep#")}


# --------------------------------------------------------------------------------------------------------- defects
# Each: (rng, traces, truth) -> traces; truth is the defect's own copy, and changed where the recording covers less.


def any_rank(rng, traces, truth, late=0.5):
    """A rank; one that has the fault, if any has, with this probability."""
    faulty = [r for r in (truth["fault"] or {"ranks": []})["ranks"] if r in traces]
    others = [r for r in traces if r not in faulty]
    return rng.choice(faulty if faulty and rng.random() < late else others or faulty)


def without_late(rng, traces, truth):
    gone = any_rank(rng, traces, truth, 1)
    return {r: t for r, t in traces.items() if r != gone}


def without_other(rng, traces, truth):
    gone = any_rank(rng, traces, truth, 0)
    return {r: t for r, t in traces.items() if r != gone}


def one_alone(rng, traces, truth):
    rank = any_rank(rng, traces, truth)
    return {rank: traces[rank]}


def two_of_many(rng, traces, truth):
    first = any_rank(rng, traces, truth)
    second = rng.choice([r for r in traces if r != first])
    return {r: traces[r] for r in sorted((first, second))}


def with_clocks(traces, truth, clock_of_host):
    """Each host with a clock of its own; where all ranks are of one host, as if they were of two, with processes of their own."""
    ranks, devices = sorted(traces), len(next(iter(traces.values()))["deviceProperties"])
    per_host = truth.get("job", {}).get("ranks_per_host", devices)
    moved = 50_000 if per_host >= len(ranks) else 0
    per_host = (len(ranks) + 1) // 2 if moved else per_host
    return {rank: of_host(traces[rank], i // per_host, clock_of_host(i // per_host), moved) for i, rank in enumerate(ranks)}


def of_host(trace, host, clock, moved):
    """The trace by the host's clock; moved: what its numbers of processes are greater for each host."""
    events = []
    for e in trace["traceEvents"]:
        more = {"pid": e["pid"] + moved * host} if moved and isinstance(e.get("pid"), int) and e["pid"] >= 1000 else {}
        if "ts" in e:
            more["ts"] = clock(e["ts"])
        if "dur" in e:
            more["dur"] = max(0, clock(end(e)) - clock(e["ts"]))
        events.append(dict(e, **more))
    return dict(trace, traceEvents=events, **({"host_name": "node%d" % host} if moved and "host_name" in trace else {}))


def drawn_once(draw):
    known = {}
    return lambda host: known.setdefault(host, draw()) if host not in known else known[host]


def off_us(rng):
    return rng.choice((-1, 1)) * rng.uniform(100, 2000)


def clocks_off(rng, traces, truth):
    off = drawn_once(lambda: off_us(rng))
    return with_clocks(traces, truth, lambda host: lambda us: us + off(host))


def clocks_drift(rng, traces, truth):
    off, rate = drawn_once(lambda: off_us(rng)), drawn_once(lambda: rng.uniform(-50e-6, 50e-6))
    begin = min(span(t)[0] for t in traces.values())
    return with_clocks(traces, truth, lambda host: lambda us: us + off(host) + rate(host) * (us - begin))


def clocks_step(rng, traces, truth):
    """One clock is set anew in the middle."""
    begin, last = span(next(iter(traces.values())))
    at, off, whose = begin + rng.uniform(0.3, 0.7) * (last - begin), off_us(rng), rng.randrange(2)
    return with_clocks(traces, truth, lambda host: lambda us: us + off if host == whose and us >= at else us)


def cut(trace, truth, rank, begin, last):
    """What a recording from begin to last has of it."""
    was = span(trace)
    for row in truth["traces"]:
        if row["rank"] == rank:
            row["start_ns"] += int(1000 * max(0, begin - was[0]))
            row["end_ns"] -= int(1000 * max(0, was[1] - last))
    return keep(trace, lambda e: "ts" not in e or e.get("ph") == "M" or e.get("cat") == "Trace" or (begin <= e["ts"] and end(e) <= last))


def windows_cut(rng, traces, truth):
    """Recordings that begin and end up to two steps apart."""
    out = {}
    for rank, trace in traces.items():
        begin, last = span(trace)
        step = (last - begin) / max(2, len(truth["step_ns"]))
        out[rank] = cut(trace, truth, rank, begin + rng.uniform(0, 2) * step, last - rng.uniform(0, 2) * step)
    return out


def begins_late(rng, traces, truth):
    """A rank whose recording begins when part of the others' is over; where hosts wait in a collective of all, the job waits
    for it for seconds: profilers start unequally fast."""
    rank = any_rank(rng, traces, truth, 0.3)
    stalls = stall_of(traces, rank, truth)
    if not stalls:
        begin, last = span(traces[rank])
        return {**traces, rank: cut(traces[rank], truth, rank, begin + rng.uniform(0.2, 0.6) * (last - begin), last)}
    late_us = rng.uniform(1, 20) * 1e6
    stalls[rank] = -1
    return {r: shifted_after(t, stalls[r], late_us) for r, t in traces.items()}


def stall_of(traces, rank, truth):
    """{rank: just before a collective of all ends, in which the host waits for the device}, of the others; None: there is none."""
    job = truth.get("job", {"pp": 2})
    if max(job.get(k, 1) for k in ("tp", "pp", "ep")) > 1 or job.get("kind") == "ep":
        return None
    ends = {}
    for other, trace in traces.items():
        launched = {correlation(e) for e in trace["traceEvents"] if e.get("cat") == "cuda_runtime"}
        work, waits = device_work(trace), [e for e in timed(trace) if e.get("cat") == "cuda_runtime" and "Synchronize" in e["name"]]
        found = [end(e) - 1 for e in work if communicates(e) and correlation(e) in launched]
        ends[other] = [at if any(w["ts"] < at < end(w) for w in waits) and
                       not any(w["ts"] < at < end(w) and not communicates(w) for w in work) else None for at in found[:200]]
    ends.pop(rank)
    for together in zip(*ends.values()):
        if None not in together:
            return dict(zip(ends, together))
    return None


def shifted_after(trace, at, by):
    events = []
    for e in trace["traceEvents"]:
        if "ts" in e and e["ts"] >= at:
            e = dict(e, ts=e["ts"] + by)
        elif "ts" in e and end(e) > at:
            e = dict(e, dur=e["dur"] + by)
        events.append(e)
    return dict(trace, traceEvents=events)


def without(trace, gone, launches):
    """The trace without the device work, or the launches, of these correlation ids."""
    lost = ("cuda_runtime", "cuda_driver") if launches else DEVICE
    return keep(trace, lambda e: correlation(e) not in gone or e.get("cat") not in lost + ("ac2g",) or
                (e.get("cat") == "ac2g" and e["ph"] == "s" and not launches))


def afflicted(rng, traces, truth):
    """The ranks of which records are lost: one, or all."""
    return [any_rank(rng, traces, truth)] if rng.random() < 0.5 else list(traces)


def records_lost(rng, traces, truth, choose):
    out = dict(traces)
    for rank in afflicted(rng, traces, truth):
        ids = [correlation(e) for e in device_work(traces[rank]) if correlation(e) is not None]
        out[rank] = without(traces[rank], choose(ids, rng.uniform(0.01, 0.3)), False)
    return out


def block_lost(rng, traces, truth):
    def block(ids, part):
        at = rng.randrange(max(1, int(len(ids) * (1 - part)) + 1))
        return set(ids[at:at + int(len(ids) * part)])
    return records_lost(rng, traces, truth, block)


def random_lost(rng, traces, truth):
    return records_lost(rng, traces, truth, lambda ids, part: {i for i in ids if rng.random() < part})


def launches_of_kind_lost(rng, traces, truth):
    names = collections.Counter(e["name"] for t in traces.values() for e in device_work(t))
    name = rng.choice([n for n, _ in names.most_common(6)])
    return {r: without(t, {correlation(e) for e in device_work(t) if e["name"] == name}, True) for r, t in traces.items()}


def launches_lost(rng, traces, truth):
    part = rng.uniform(0.05, 0.5)
    return {r: without(t, {correlation(e) for e in device_work(t) if rng.random() < part}, True) for r, t in traces.items()}


def stripped(event, keys):
    return dict(event, args={k: v for k, v in event["args"].items() if k not in keys}) if "args" in event else event


def unnamed(rng, traces, truth):
    """Communication, all or of one kernel, under names that no rule knows, without arguments; where all, its operators, too."""
    kernels = sorted({e["name"] for t in traces.values() for e in t["traceEvents"] if communicates(e)})
    ops = sorted({e["name"] for t in traces.values() for e in t["traceEvents"]
                  if e.get("cat") != "kernel" and e["name"].startswith(("nccl:", "c10d::", "record_param_comms"))})
    which = kernels if rng.random() < 0.6 else [rng.choice(kernels)]
    names = {name: "void fabric::stage_%d<__nv_bfloat16, 4>(stage_args)" % i for i, name in enumerate(which)}
    if len(which) == len(kernels):
        names.update({name: "ext::stage_%d" % i for i, name in enumerate(ops)})
    return {r: dict(t, traceEvents=[stripped(dict(e, name=names[e["name"]]), COLLECTIVE_ARGS) if e.get("name") in names else e
                                    for e in t["traceEvents"]]) for r, t in traces.items()}


def arguments_lost(rng, traces, truth):
    keys = rng.choice((("Seq",), ("Process Group Ranks",), COLLECTIVE_ARGS[7:10] + ("Seq",), COLLECTIVE_ARGS))
    return {r: dict(t, traceEvents=[stripped(e, keys) if e.get("cat") == "kernel" else e for e in t["traceEvents"]])
            for r, t in traces.items()}


DEFECTS = (
    ("none", lambda rng, traces, truth: traces),
    ("late rank's trace gone", without_late),
    ("another trace gone", without_other),
    ("one rank alone", one_alone),
    ("two ranks of many", two_of_many),
    ("clocks off", clocks_off),
    ("clocks drift", clocks_drift),
    ("a clock steps", clocks_step),
    ("windows differ", windows_cut),
    ("one begins late", begins_late),
    ("records lost, block", block_lost),
    ("records lost, random", random_lost),
    ("launches lost, a kind", launches_of_kind_lost),
    ("launches lost, random", launches_lost),
    ("unnamed collectives", unnamed),
    ("arguments lost", arguments_lost),
)
