"""idle_oracle.py - the gaps of one trace by the definitions, slowly: what tests/golden/idle.py compares the program with.

Written from the words of `tlmpi describe gap`, not from the program: whole passes over all events where that keeps a series
of cursors, elementary stretches of time where that keeps a stack.  All times are integers of nanoseconds.
"""

import collections
import re

from idle_trace import direction, Event, integer, small, Words

DEFAULTS = {"noise": 5000, "launch": 8000, "anomaly": 10000, "anomaly-pct": 25, "queued": 5000, "runtime-pct": 25,
            "coverage-pct": 20, "drain": 5000, "sync": 2000, "implicit": 50000, "own-launch": 10000}
NEVER = 1 << 63


def stretches(events, lo, hi, pick):
    """[(event, ns)]: for each elementary stretch of [lo, hi) the one that `pick` chooses of those running, in order of time."""
    running = [e for e in events if e.start < hi and e.end > lo and e.end > e.start]
    cuts = sorted({lo, hi} | {t for e in running for t in (e.start, e.end) if lo < t < hi})
    out = []
    for a, b in zip(cuts, cuts[1:]):
        there = [e for e in running if e.start <= a and e.end >= b]
        if there:
            out.append((pick(there, key=Event.order), b - a))
    return out


def add_up(pairs):
    """Sums by key, in order of first addition."""
    sums = collections.OrderedDict()
    for key, ns in pairs:
        sums[key] = sums.get(key, 0) + ns
    return sums


def largest(sums):
    """Keys, the largest first, of equals the first."""
    return sorted(sums, key=lambda key: -sums[key])


class Oracle:
    """The gaps of a trace under some thresholds."""

    def __init__(self, trace, **thresholds):
        self.t = trace
        self.c = dict(DEFAULTS, **thresholds)
        self.words = {}
        self.inside = {}                # of each macro gap: ns by annotation
        placed = sorted(trace.syncs, key=lambda s: (small(integer(s.args.get("device"))), small(integer(s.args.get("stream"))),
                                                    s.start, s.end, s.uid))
        self.syncs = {s.correlation: s for s in placed if (s.correlation or 0) > 0}      # of several the last
        self.clip()
        self.find_waits()
        self.find_holds()
        self.find_lost()
        self.threads = collections.defaultdict(list)
        for op in trace.ops:
            self.threads[op.track].append(op)
        self.calls_of = collections.defaultdict(list)
        for call in trace.calls:
            self.calls_of[call.track].append(call)
        ranked = sorted(self.threads, key=lambda t: (-len(self.threads[t]), trace.tracks[t]))
        self.asked = sorted(ranked[:64], key=trace.tracks.get)

    def word(self, name):
        if name not in self.words:
            self.words[name] = Words(name)
        return self.words[name]

    def key(self, name):
        return re.sub("0x[0-9a-f]+", "0x\u2026", name) if name else name

    def clip(self):
        """What runs on over the next of its stream ends there."""
        self.overruns, self.overrun_ns = 0, 0
        streams = collections.defaultdict(list)
        for kernel in self.t.kernels:
            kernel.stop = kernel.end
            streams[kernel.device, kernel.stream].append(kernel)
        for kernels in streams.values():
            kernels.sort(key=lambda k: (k.start, k.end, k.uid))
            for a, b in zip(kernels, kernels[1:]):
                same_graph = a.launch is not None and a.launch is b.launch and self.word(a.launch.name).graph
                if b.start < a.end and not same_graph:
                    a.stop = b.start
                    self.overruns += 1
                    self.overrun_ns += a.end - b.start
        self.streams = streams

    def wait_kind(self, call):
        word = self.word(call.name)
        if word.copy:
            told = {1: "H2D_COPY", 2: "D2H_COPY"}.get(integer(call.args.get("kind")))
            copy = call.work[0] if call.work and call.work[0].kind == "memcpy" else None
            if copy is None:
                return (told or word.direction) if word.waits_always else None
            blocks = "Pageable" in (copy.name or "") or call.end >= copy.end
            return (direction(copy.name or "") or told or word.direction) if blocks else None
        if word.long_alloc and call.dur > self.c["implicit"]:
            return "IMPLICIT_SYNC"
        return word.sync

    def find_waits(self):
        self.waits = []
        for call in self.t.calls:
            kind = self.wait_kind(call)
            if kind is None:
                continue
            sync = self.syncs.get(call.correlation) if (call.correlation or 0) > 0 else None
            args = sync.args if sync is not None else {}
            device, stream = small(integer(call.args.get("device"))), -1
            if kind.endswith("COPY"):
                if call.work and call.work[0].kind == "memcpy":
                    device = call.work[0].device
            elif small(integer(args.get("device"))) >= 0:
                device = integer(args["device"])
            if kind == "STREAM_SYNC":
                stream = small(integer(args.get("stream")))
                stream = stream if stream >= 0 else small(integer(call.args.get("stream")))
            elif kind == "EVENT_SYNC":
                stream = small(integer(args.get("wait_on_stream")))
            self.waits.append((call, kind, device, stream))
        self.waits.sort(key=lambda w: (w[0].start, w[0].uid))

    def find_holds(self):
        """(device or -1, stream, instant) of every wait of a stream for an event."""
        self.holds = []
        for call in self.t.calls:
            if not self.word(call.name).holds:
                continue
            sync = self.syncs.get(call.correlation) if (call.correlation or 0) > 0 else None
            for args in ([sync.args] if sync is not None else []) + [call.args]:
                stream = small(integer(args.get("stream")))
                if stream >= 0:
                    self.holds.append((small(integer(args.get("device"))), stream, call.start))
                    break
            else:
                later = [c for c in self.t.launches if c.track == call.track and c.start >= call.start]
                if later:
                    work = min(later, key=lambda c: (c.start, c.uid)).work[0]
                    self.holds.append((work.device, work.stream, call.start))

    def find_lost(self):
        """Launches whose work is not in the trace."""
        queues, inside, end, track = [], 0, -NEVER, None
        numbers = {e.correlation for e in self.t.kernels + self.t.syncs}
        for call in sorted(self.t.calls, key=lambda c: (self.t.tracks[c.track], c.start, -c.end, c.uid)):
            word = self.word(call.name)
            if not (word.graph or word.copy or word.kernel or "StreamBeginCapture" in (call.name or "") or
                    "StreamEndCapture" in (call.name or "")):
                continue
            if call.track == track and call.start < end and (word.graph or word.copy or word.kernel):
                queues[-1][1] = queues[-1][1] or call.correlation in numbers
                continue
            queues.append([call, call.correlation in numbers or (call.correlation or 0) <= 0])
            track, end = call.track, call.end
        queues.sort(key=lambda q: (q[0].start, q[0].uid))
        recorded = {c.name for c in self.t.calls if c.work}
        for q in queues:
            inside = max(0, inside + ("StreamBeginCapture" in (q[0].name or "")) - ("StreamEndCapture" in (q[0].name or "")))
            q[1] = q[1] or inside > 0 or q[0].name not in recorded
        lost, equal = set(), collections.defaultdict(list)
        for call, _ in queues:
            if self.word(call.name).graph and call.work:
                equal[call.work[0].name].append(call)
            elif self.word(call.name).graph:
                lost.add(call)
        for calls in equal.values():
            counts = sorted(len(c.work) for c in calls)
            twice = counts[(len(counts) - 1) // 2] + counts[len(counts) // 2]
            lost |= {c for c in calls if 4 * len(c.work) < twice}
        kernels = {c for c, known in queues if self.word(c.name).kernel and not known}
        first = min((c.correlation for c in self.t.calls if (c.correlation or 0) > 0), default=NEVER)
        nameless = sum((k.correlation or 0) <= 0 for k in self.t.kernels)
        strays = sum(k.launch is None and (k.correlation or 0) >= first for k in self.t.kernels)
        if nameless < len(kernels) and strays <= sum(k.launch is not None for k in self.t.kernels):
            lost |= kernels
        sure = set(lost)
        for i, (call, known) in enumerate(queues):
            beside = [q[0] for q in queues[max(0, i - 1):i] + queues[i + 1:i + 2]]
            if self.word(call.name).copy and not known and any(c in sure for c in beside):
                lost.add(call)
        self.lost = [c.start for c in lost] if self.t.kernels else []

    def devices(self):
        """[(device, its kernels)]"""
        return [(d, [k for k in self.t.kernels if k.device == d]) for d in sorted({k.device for k in self.t.kernels})]

    def usual_thread(self, kernels):
        count = collections.Counter(k.launch.track for k in kernels if k.launch is not None)
        tracks = self.t.tracks
        if count:
            return min(count, key=lambda t: (-count[t], tracks[t]))
        calls, ops = collections.Counter(c.track for c in self.t.calls), collections.Counter(o.track for o in self.t.ops)
        every = set(calls) | set(ops)
        return min(every, key=lambda t: (-calls[t], -ops[t], tracks[t])) if every else None

    def gaps(self):
        """(macro gaps as dictionaries by column, noise as (device, id, start, length)), by device and time."""
        macro, noise = [], []
        for device, kernels in self.devices():
            usual, order = self.usual_thread(kernels), sorted(kernels, key=lambda k: (k.start, k.uid))
            end, n, m = None, 0, 0
            for i, kernel in enumerate(order):
                if end is not None and kernel.start > end:
                    if kernel.start - end < self.c["noise"]:
                        m += 1
                        noise.append((device, -m, end, kernel.start - end))
                    else:
                        macro.append(self.gap(device, n, end, kernel, order[:i], usual))
                        n += 1
                    end = kernel.stop
                end = kernel.stop if end is None else max(end, kernel.stop)
        return macro, noise

    def gap(self, device, number, lo, following, before, usual):
        hi, launch = following.start, following.launch
        prev = max((k for k in before if k.stop == lo), key=lambda k: (k.start, k.uid))
        row = {"device": device, "idle_id": number, "start_ns": lo, "end_ns": hi, "duration_ns": hi - lo,
               "step": self.t.step_at(lo), "following": following.name, "following_uid": following.uid,
               "preceding": prev.name,
               "launch": launch.name if launch else None, "launch_uid": launch.uid if launch else -1,
               "prequeued": "unknown", "launch_to_exec_ns": 0}
        later_node = launch is not None and self.word(launch.name).graph and launch.work[0] is not following
        if launch is not None and not later_node:
            row["launch_to_exec_ns"] = hi - launch.end
            row["prequeued"] = "yes" if launch.end + self.c["launch"] < lo else "no"
        since = (prev.launch or prev).start
        until = launch.start if launch else hi
        lost = any(since <= t <= until for t in self.lost)
        self.drain(row, device, lo, launch, prev)
        self.doing(row, lo, hi, launch, launch.track if launch else usual)
        row["cpu_during_gap"] = "WORK_NOT_RECORDED" if lost else self.label(row, following, launch, later_node)
        return row

    def drain(self, row, device, lo, launch, prev):
        row.update(drain_type="starved", sync_type="none", sync_event=None, sync_uid=-1)
        for call, kind, where, stream in reversed(self.waits):
            if not (call.start < lo and call.end >= lo - self.c["sync"]) or (launch is not None and call.end > launch.start):
                continue
            if where >= 0 and device >= 0 and where != device:
                continue
            waited = prev.stop
            if stream >= 0 and device >= 0:
                waited = max((k.stop for k in self.streams.get((device, stream), ()) if k.start < lo), default=None)
            row.update(sync_type=kind, sync_event=call.name, sync_uid=call.uid)
            if waited is not None and waited - call.start > self.c["drain"]:
                row["drain_type"] = "sync_drain"
            return

    def enter_ops(self, row, sums):
        names = (largest(sums) + [None] * 3)[:3]
        for column, name in zip(("dominant_op", "second_op", "third_op"), names):
            row[column], row[column + "_ns"] = name, sums.get(name, 0) if name in sums else 0
        row["ops_ns"] = sum(sums.values())

    def enter_calls(self, row, sums):
        """sums: by (class, name)."""
        classes = add_up((category, ns) for (category, _), ns in sums.items())
        row["call_class"] = largest(classes)[0] if classes else "none"
        row["call_ns"] = classes.get(row["call_class"], 0)
        names = add_up((name, ns) for (category, name), ns in sums.items() if category == row["call_class"])
        row["call"] = largest(names)[0] if names else None

    def category(self, call):
        category = self.word(call.name).category
        return "SYNC_CALL" if category == "OTHER_RUNTIME" and self.wait_kind(call) else category

    def own_launch(self, call, launch):
        return (launch is not None and call.dur < self.c["own-launch"] and
                call.start <= launch.start and launch.end <= call.end)

    def doing(self, row, lo, hi, launch, track):
        calls = stretches(self.calls_of[track], lo, hi, min)
        self.enter_calls(row, add_up(((self.category(c), c.name), ns) for c, ns in calls if not self.own_launch(c, launch)))
        row["other_op"], row["other_op_ns"] = None, 0
        self.enter_ops(row, collections.OrderedDict())
        for thread in self.asked + ([track] if track in self.threads and track not in self.asked else []):
            ops = [o for o in self.threads[thread] if o.kind != "annotation"]
            sums = add_up((self.key(o.name), ns) for o, ns in stretches(ops, lo, hi, max))
            if thread == track:
                self.enter_ops(row, sums)
            elif sums and max(sums.values()) > row["other_op_ns"]:
                row["other_op"] = largest(sums)[0]
                row["other_op_ns"] = sums[row["other_op"]]
        marks = [o for o in self.threads.get(track, ()) if o.kind == "annotation" and
                 not (o.name or "").startswith("ProfilerStep")]
        inside = add_up((self.key(o.name), ns) for o, ns in stretches(marks, lo, hi, max))
        row["annotation"] = largest(inside)[0] if inside else None
        self.inside[row["device"], row["idle_id"]] = inside

    def held(self, following, launch):
        stream = self.streams[following.device, following.stream]
        i = stream.index(following)
        since = (stream[i - 1].launch or stream[i - 1]).start if i > 0 else -NEVER
        return any(s == following.stream and d in (-1, following.device) and since < t < launch.start
                   for d, s, t in self.holds)

    def label(self, row, following, launch, later_node):
        gap, latency = row["duration_ns"], row["launch_to_exec_ns"]
        if later_node:
            return "GRAPH_INTERNAL"
        if launch is not None:
            if (row["prequeued"] == "no" and latency > self.c["anomaly"] and
                    latency * 100 > self.c["anomaly-pct"] * gap):
                return "LAUNCH_ANOMALY"
            if row["prequeued"] == "yes" and gap > self.c["queued"]:
                return "DEPENDENCY_WAIT" if self.held(following, launch) else "LAUNCH_ANOMALY"
            if gap - latency < max(self.c["launch"] // 2, 2000):
                return "LAUNCH_OVERHEAD_ONLY"
        if row["call_class"] != "none" and row["call_ns"] * 100 >= self.c["runtime-pct"] * gap:
            return "RUNTIME_DOMINATED"
        if row["ops_ns"] > 0 and row["ops_ns"] * 100 >= self.c["coverage-pct"] * gap:
            return "CPU_DOMINATED"
        traced = any(o.kind != "annotation" for o in self.t.ops)
        return "CPU_UNTRACED" if traced else "NO_CPU_TRACE"
