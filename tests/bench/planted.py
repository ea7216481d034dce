"""planted.py - a recorded or simulated job with one difference put in, so that what it costs is known.

Traces are edited by inserting time.  An insertion (t, d) on a rank moves all that begins or ends at t or later by d, on host and
device, and so makes longer what spans t: nothing runs before its cause, whatever is inserted.

    before    host     [ op          )[ op   )            [ K ) made longer by d: an insertion at its end
              stream   ..[ K )[ L )......[ M ).
    after     host     [ op    |d|   )[ op   )
              stream   ..[ K  |d|)[ L )......[ M ).

On ranks that work in step each gets the same d at the same place of its program.  Where that lies under a collective of one rank
and behind it on another, the collective is ended where it ended.  A job is also repeated, so that a recording of a few steps has
enough, and given noise.
"""
import bisect
import collections
import copy
import glob
import gzip
import itertools
import json
import os

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("cuda_runtime", "cuda_driver")
IDS = ("correlation", "External id", "Ev Idx", "Sequence number", "Python id", "Python parent id", "Record function id",
       "wait_on_cuda_event_record_corr_id", "wait_on_cuda_event_id")
STRIDE, GAP_NS, ROUNDS = 5_000_000, 50_000, 100_000
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


class NotHere(Exception):
    """The difference has no place in this job."""


def to_ns(us):
    return us * 1000 if isinstance(us, int) else round(us * 1000)


def to_us(ns):
    return ns // 1000 if ns % 1000 == 0 else ns / 1000


class Event:
    """raw: as in the trace; start and end in ns, end None without a duration."""

    __slots__ = ("raw", "start", "end", "cat", "name", "round")

    def __init__(self, raw, start, end, round=None):
        self.raw, self.start, self.end, self.cat, self.name = raw, start, end, raw.get("cat"), raw.get("name", "")
        self.round = round  # of a collective: its number, the same on all ranks

    @property
    def dur(self):
        return self.end - self.start

    def arg(self, key):
        return (self.raw.get("args") or {}).get(key)


class Rank:
    def __init__(self, document, events, file):
        self.document, self.events, self.file = document, events, file
        self.inserted, self.added = [], []

    def index(self):
        """Finds its device work, in order of starts, the calls that launched it, its steps."""
        spans = [e for e in self.events if e.end is not None]
        self.work = sorted((e for e in spans if e.cat in DEVICE), key=lambda e: (e.start, e.end))
        self.comm = [e for e in self.work if "nccl" in e.name.lower()]
        self.compute = [e for e in self.work if e.cat == "kernel" and "nccl" not in e.name.lower()]
        self.calls = sorted((e for e in spans if e.cat in CALLS), key=lambda e: e.start)
        self.launch = {e.arg("correlation"): e for e in self.calls}
        self.steps = sorted(((e.start, e.end) for e in spans if e.cat == "user_annotation" and e.name.startswith("ProfilerStep#")))
        self.ended = last_rounds(self.comm, lambda e: e.end)
        self.begun = last_rounds(self.comm, lambda e: e.start)
        self.busy = [([e.start for e in rows], list(itertools.accumulate((e.end for e in rows), max))) for rows in (self.work, self.calls)]

    def insert(self, at, ns):
        self.inserted.append((at, ns))

    def add(self, at, ns, raw):
        """A row over the last ns of what is inserted at `at`."""
        self.added.append((at, ns, raw))

    def step_of(self, event):
        launch = self.launch.get(event.arg("correlation"), event)
        at = bisect.bisect_right(self.steps, (launch.start, 1 << 62)) - 1
        return at if at >= 0 and launch.start < self.steps[at][1] else None

    def runs_at(self, at, calls=False):
        """Whether device work (or a call) begins before that time and ends after it."""
        for starts, latest in self.busy[:1 + calls]:
            before = bisect.bisect_left(starts, at)
            if before > 0 and latest[before - 1] > at:
                return True
        return False

    def settle(self):
        """Moves everything; {round: by how much its end moves}."""
        self.inserted.sort()
        times, sums, total = [t for t, _ in self.inserted], [0], 0
        for _, ns in self.inserted:
            total += ns
            sums.append(total)

        def moved(t):
            return t + sums[bisect.bisect_right(times, t)]

        ends = {e.round: moved(e.end) - e.end for e in self.comm}
        for e in self.events:
            e.start = moved(e.start)
            if e.end is not None:
                e.end = moved(e.end)
        for at, ns, raw in self.added:
            self.events.append(Event(raw, moved(at) - ns, moved(at) if raw["ph"] == "X" else None))
        self.inserted, self.added = [], []
        return ends

    def write(self, folder):
        for e in self.events:
            e.raw["ts"] = to_us(e.start)
            if e.end is not None:
                e.raw["dur"] = to_us(e.end - e.start)
        document = dict(self.document, traceEvents=[e.raw for e in self.events])
        with open(os.path.join(folder, self.file), "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(json.dumps(document))


class Job:
    def __init__(self, ranks):
        self.ranks = ranks
        for rank in ranks:
            rank.index()

    @property
    def step_ns(self):
        steps = self.ranks[0].steps
        return (steps[-1][1] - steps[0][0]) // len(steps)

    def same(self, times):
        """Whether no rank is before a collective at its time that is over on another rank."""
        return (max(last_at(rank.ended, t) for rank, t in zip(self.ranks, times))
                <= min(last_at(rank.begun, t) for rank, t in zip(self.ranks, times)))

    def together(self, of):
        """[[k-th row of a name and a step on each rank]], where it may be changed on all; of(rank): rows."""
        rows = []
        for rank in self.ranks:
            names = collections.defaultdict(list)
            for e in of(rank):
                names[rank.step_of(e), e.name].append(e)
            rows.append(names)
        found = []
        for key in rows[0]:
            alike = [names.get(key, []) for names in rows]
            if key[0] is not None and len(set(map(len, alike))) == 1:
                found += [each for each in zip(*alike) if self.same([e.end for e in each])]
        return sorted(found, key=lambda each: each[0].end)

    def write(self, folder):
        os.makedirs(folder)
        ends = [rank.settle() for rank in self.ranks]
        least = {k: min(of.get(k, ns) for of in ends) for of in ends for k, ns in of.items()}
        for rank, of in zip(self.ranks, ends):
            for e in rank.comm:
                e.end = max(e.start + 1000, e.end - of[e.round] + least[e.round])
            rank.write(folder)


def last_rounds(rows, key):
    """Times, and the last round up to each."""
    rows = sorted(rows, key=key)
    return [key(e) for e in rows], list(itertools.accumulate((e.round for e in rows), max))


def last_at(rounds, t):
    at = bisect.bisect_right(rounds[0], t)
    return rounds[1][at - 1] if at > 0 else -1


def number_rounds(ranks):
    """From the last one on: a recording may begin in the middle of a collective."""
    for rank in ranks:
        rows = sorted((e for e in rank.events if e.cat == "kernel" and "nccl" in e.name.lower()), key=lambda e: e.start)
        for k, e in enumerate(rows):
            e.round = ROUNDS - len(rows) + k


def read(folder, files=None):
    documents = {}
    for path in files or sorted(glob.glob(os.path.join(folder, "*.json*"))):
        if os.path.basename(path) != "truth.json":
            with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", errors="surrogateescape") as f:
                documents[os.path.basename(path).removesuffix(".gz")] = json.load(f, strict=False)
    begin = min(to_ns(e["ts"]) for d in documents.values() for e in d["traceEvents"] if "dur" in e) // 1000 * 1000
    ranks = []
    for file, document in documents.items():
        events = []
        for raw in document.pop("traceEvents"):
            start = max(0, to_ns(raw.get("ts", 0)) - begin)
            events.append(Event(raw, start, start + to_ns(raw["dur"]) if "dur" in raw else None))
        ranks.append(Rank(document, events, file))
    number_rounds(ranks)
    return Job(ranks)


def one_step(job, k):
    """What the host did in the k-th step, and the device work that it launched there."""
    ranks = []
    for rank in job.ranks:
        begin, end = rank.steps[k]
        mine = {e.arg("correlation") for e in rank.calls if begin <= e.start < end} - {None}
        ends = {e.arg("correlation"): e.end for e in rank.work}
        last = max([end] + [ends[c] for c in mine if c in ends])
        events = []
        for e in rank.events:
            if e.raw.get("ph") == "M" or e.cat == "Trace" or (e.raw.get("ph") == "i" and e.cat is None):
                chosen = True
            elif e.cat in DEVICE or e.cat == "cuda_sync":
                chosen = e.arg("correlation") in mine
            elif e.cat == "ac2g":
                chosen = e.raw.get("id") in mine
            elif e.cat == "gpu_user_annotation":
                chosen = begin <= e.start and e.end <= last
            else:
                chosen = begin <= e.start < end and (e.end is None or e.end <= end)
            if chosen:
                if e.cat == "Trace":
                    e.start, e.end = begin, last
                events.append(e)
        ranks.append(Rank(rank.document, events, rank.file))
    begin = min(rank.steps[k][0] for rank in job.ranks)
    for rank in ranks:
        for e in rank.events:
            e.start, e.end = max(0, e.start - begin), None if e.end is None else e.end - begin
    number_rounds(ranks)
    return Job(ranks)


def repeated(job, times):
    """The recording, several times one after the other."""
    period = max(e.end for rank in job.ranks for e in rank.events if e.end is not None and e.cat != "Trace") + GAP_NS
    ranks = []
    for rank in job.ranks:
        events, nsteps = [], len(rank.steps)
        for k in range(times):
            for e in rank.events:
                once = e.raw.get("ph") == "M" or e.cat == "Trace" or (e.raw.get("ph") == "i" and e.cat is None)
                if once and k > 0:
                    continue
                raw = dict(e.raw)
                if k > 0:
                    if "args" in raw:
                        raw["args"] = args = dict(raw["args"])
                        for key in IDS:
                            if isinstance(args.get(key), int) and args[key] > 0:
                                args[key] += k * STRIDE
                    if isinstance(raw.get("id"), int):
                        raw["id"] += k * STRIDE
                    if e.name.startswith("ProfilerStep#"):
                        raw["name"] = "ProfilerStep#%d" % (int(e.name[13:]) + k * nsteps)
                shift = 0 if once else k * period
                end = e.end + (times - 1) * period if e.cat == "Trace" else None if e.end is None else e.end + shift
                events.append(Event(raw, e.start + shift, end, None if e.round is None else e.round + k * ROUNDS))
        ranks.append(Rank(rank.document, events, rank.file))
    return Job(ranks)


# ------------------------------------------------------------------------------------------------------------- noise


def noise(job, rng, kernels=0.01, steps=0.004):
    """Kernels take up to a few percent longer, steps a little here and there: at the same time on all ranks."""
    first = job.ranks[0]
    cuts = [(e.end, int(e.dur * abs(rng.gauss(0, kernels)))) for e in first.compute]
    for start, end in first.steps:
        ns = int((end - start) * abs(rng.gauss(0, steps)))
        cuts += [(rng.randrange(start, end), ns // 5) for _ in range(5)]
    for rank in job.ranks:
        for at, ns in cuts:
            rank.insert(at, ns)


# ------------------------------------------------------------------------------------------------------- differences


def heavy(job, rng, of, least):
    """Rows of a name that takes at least that share of the job's time: [[row of each rank]]; any such name."""
    by_name, busy = collections.defaultdict(list), collections.Counter()
    for rows in job.together(of):
        by_name[rows[0].name].append(rows)
        busy[rows[0].name] += sum(e.dur for e in rows) // len(rows)
    whole = job.step_ns * len(job.ranks[0].steps)
    names = [name for name, ns in busy.items() if ns >= least * whole and len(by_name[name]) >= len(job.ranks[0].steps)]
    if not names:
        raise NotHere
    name = rng.choice(sorted(names))
    return by_name[name], busy[name] / whole


def lengthen(job, rows, part):
    ns = int(part * sum(e.dur for e in rows) / len(rows))
    for rank, e in zip(job.ranks, rows):
        rank.insert(e.end, ns)


def slower(job, rng):
    """A kernel takes 10 % longer, or more where it is short, so that the step does by 0.8 %."""
    chosen, share = heavy(job, rng, lambda rank: rank.compute, 0.02)
    for rows in chosen:
        lengthen(job, rows, max(0.10, 0.008 / share))
    return {"kind": "slower", "name": chosen[0][0].name}


def replaced(job, rng):
    """A kernel of another name, 15 % longer, under the same operators."""
    chosen, share = heavy(job, rng, lambda rank: rank.compute, 0.02)
    old, new = chosen[0][0].name, rng.choice(("sm90_xmma_gemm_planted_tilesize128x128x64", "cutlass_planted_tn_align8"))
    for rows in chosen:
        lengthen(job, rows, max(0.15, 0.008 / share))
    for rank in job.ranks:
        for e in rank.work:
            if e.name == old:
                e.raw["name"] = new
    return {"kind": "replaced", "name": old, "b_name": new}


def algorithm(job, rng):
    """Another algorithm of a collective, which moves the data in twice the time or more where nothing is computed at its end, so that
    the step takes 1 % longer."""
    chosen, _ = heavy(job, rng, lambda rank: [e for e in rank.comm if "_RING_" in e.name and not rank.runs_at(e.end)], 0.0005)
    old = chosen[0][0].name
    new = old.replace("_RING_", "_TREE_")
    for rows in chosen:
        ns = max(min(e.dur for e in rows), job.step_ns * len(job.ranks[0].steps) // (100 * len(chosen)))
        for rank, e in zip(job.ranks, rows):
            rank.insert(e.end, ns)
    for rank in job.ranks:
        for e in rank.work:
            if e.name == old:
                e.raw["name"] = new
    return {"kind": "algorithm", "name": old, "b_name": new}


def places(job, rng, each):
    """`each` kernels of each step, the same on all ranks, with their launches: [[kernel of each rank]]."""
    by_step = collections.defaultdict(list)
    for rows in job.together(lambda rank: rank.compute):
        launches = [rank.launch.get(e.arg("correlation")) for rank, e in zip(job.ranks, rows)]
        if None not in launches:
            by_step[job.ranks[0].step_of(rows[0])].append(rows)
    if len(by_step) < len(job.ranks[0].steps) or min(map(len, by_step.values())) < each:
        raise NotHere
    at = sorted(rng.sample(range(min(map(len, by_step.values()))), each))
    return [rows[i] for rows in by_step.values() for i in at]


def work(job, rng, operator, call, name, cat, share=0.03, each=8):
    """More operators, each with device work."""
    chosen, next_id = places(job, rng, each), 900_000_000
    ns = max(3000, int(share * job.step_ns / each))
    host_ns = min(12_000, ns // 3)
    for rows in chosen:
        for rank, e in zip(job.ranks, rows):
            launch = rank.launch[e.arg("correlation")]
            next_id += 1
            host = {"ph": "X", "pid": launch.raw["pid"], "tid": launch.raw["tid"]}
            rank.insert(launch.end, host_ns)
            rank.insert(e.end, ns)
            rank.add(launch.end, host_ns, dict(host, cat="cpu_op", name=operator, args={"External id": next_id}))
            rank.add(launch.end, host_ns * 3 // 4, dict(host, cat=launch.cat if cat == "kernel" else "cuda_runtime", name=call or launch.name,
                                                        args={"External id": next_id, "correlation": next_id}))
            args = {k: v for k, v in e.raw["args"].items() if k in ("device", "context", "stream", "kind")}
            if cat != "kernel":
                args["bytes"] = ns * 10
            args.update({"External id": next_id, "correlation": next_id})
            rank.add(e.end, ns, {"ph": "X", "pid": e.raw["pid"], "tid": e.raw["tid"], "cat": cat, "name": name, "args": args})
            flow = {"id": next_id, "cat": "ac2g", "name": "ac2g"}
            rank.add(launch.end, host_ns * 3 // 4, dict(flow, ph="s", pid=host["pid"], tid=host["tid"]))
            rank.add(e.end, ns, dict(flow, ph="f", bp="e", pid=e.raw["pid"], tid=e.raw["tid"]))
    return {"names": [operator, name]}


def operator(job, rng):
    """An operator more in each of some places, with its kernel."""
    return {"kind": "operator", **work(job, rng, "aten::roll", None, "void at::native::roll_cuda_kernel<float>(float const*, float*, long)",
                                       "kernel")}


def copies(job, rng):
    amd = any("hip" in e.name for e in job.ranks[0].calls)
    return {"kind": "copies", **work(job, rng, "aten::copy_", "hipMemcpyAsync" if amd else "cudaMemcpyAsync",
                                     "CopyHostToDevice" if amd else "Memcpy HtoD (Pageable -> Device)", "gpu_memcpy")}


def idle_places(job, rng, latest):
    """A time in each step, in that first part of it, at which nothing runs on a rank and no call is made, on all ranks between the same
    collectives: [[(time, kernel that has just ended) of each rank]]."""
    free = [collections.defaultdict(list) for _ in job.ranks]
    for rank, of in zip(job.ranks, free):
        for e in rank.work:
            k, at = rank.step_of(e), e.end + 1
            if k is not None and rank.steps[k][0] < at < rank.steps[k][0] + (rank.steps[k][1] - rank.steps[k][0]) * latest and \
                    last_at(rank.ended, at) == last_at(rank.begun, at) and not rank.runs_at(at, calls=True):
                of[k, last_at(rank.ended, at)].append((at, e))
    by_step = collections.defaultdict(list)
    for key in sorted(set(free[0]).intersection(*free)):
        by_step[key[0]].append([of[key][0] for of in free])
    if len(by_step) < len(job.ranks[0].steps):
        raise NotHere
    return [rng.choice(rows) for rows in by_step.values()]


def sync(job, rng):
    """The host waits for the device once more in each step, and nothing is queued for a while then."""
    amd = any("hip" in e.name for e in job.ranks[0].calls)
    name, ns, next_id = "hipDeviceSynchronize" if amd else "cudaDeviceSynchronize", int(0.03 * job.step_ns), 910_000_000
    for rows in idle_places(job, rng, 0.9):
        for rank, (at, e) in zip(job.ranks, rows):
            launch, next_id = rank.launch.get(e.arg("correlation"), rank.calls[0]), next_id + 1
            rank.insert(at, ns)
            rank.add(at, ns, {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": launch.raw["pid"], "tid": launch.raw["tid"],
                                 "args": {"correlation": next_id}})
    return {"kind": "sync", "name": name}


def loader(job, rng):
    """The next batch comes later."""
    ns = int(0.04 * job.step_ns)
    for rows in idle_places(job, rng, 0.4):
        for rank, (at, e) in zip(job.ranks, rows):
            launch = rank.launch.get(e.arg("correlation"), rank.calls[0])
            rank.insert(at, ns)
            rank.add(at, ns, {"ph": "X", "cat": "user_annotation", "name": LOADER, "pid": launch.raw["pid"], "tid": launch.raw["tid"],
                                 "args": {}})
    return {"kind": "loader", "name": LOADER}


def pause(job, rng):
    """In two steps of a dozen all stands still, or one rank does, which the others wait for, for three times as long as a step is."""
    every = idle_places(job, rng, 0.9)
    for rows in rng.sample(every, max(2, len(every) // 6)):
        for rank, (at, _) in zip(job.ranks, rows):
            rank.insert(at, 3 * job.step_ns)
    return {"kind": "pause"}


def straggler(job, rng):
    """A rank computes longer before a collective of each step, which it comes last to then; the others wait as much longer."""
    ns, rounds, found = int(0.05 * job.step_ns), [{e.round: e for e in rank.comm} for rank in job.ranks], []
    for slow, mine in enumerate(job.ranks):
        by_step = collections.defaultdict(list)
        for k in sorted(set(rounds[0]).intersection(*rounds)):
            rows = [of[k] for of in rounds]
            before = [e for e in mine.compute if e.end <= rows[slow].start]
            if before and mine.step_of(rows[slow]) is not None and \
                    max(e.start for e in rows) == rows[slow].start < min(e.end for e in rows) and \
                    last_at(mine.ended, before[-1].end) == last_at(mine.ended, rows[slow].start) and \
                    not any(rank.runs_at(e.end) for rank, e in zip(job.ranks, rows)):
                by_step[mine.step_of(rows[slow])].append((before[-1], rows))
        if len(by_step) == len(mine.steps):
            found.append((slow, by_step))
    if len(job.ranks) < 2 or not found:
        raise NotHere
    slow, by_step = rng.choice(found)
    for choices in by_step.values():
        kernel, rows = rng.choice(choices)
        for r, (rank, e) in enumerate(zip(job.ranks, rows)):
            rank.insert(kernel.end if r == slow else e.end, ns)
    return {"kind": "straggler", "rank": slow}


def world(job, rng):
    """Twice the ranks, the upper half as the lower."""
    n = len(job.ranks)
    if n < 2 or "distributedInfo" not in job.ranks[0].document:
        raise NotHere
    for rank in list(job.ranks):
        info = rank.document["distributedInfo"]
        info["world_size"] = 2 * n
        twin = Rank(dict(rank.document, distributedInfo=dict(info, rank=info["rank"] + n)),
                    [Event(copy.deepcopy(e.raw), e.start, e.end, e.round) for e in rank.events], "twin-" + rank.file)
        twin.index()
        twin.inserted = list(rank.inserted)
        job.ranks.append(twin)
    return {"kind": "world", "a": n, "b": 2 * n}


KINDS = {f.__name__: f for f in (slower, operator, sync, algorithm, world, straggler, copies, replaced, loader, pause)}
