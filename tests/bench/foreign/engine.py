"""engine.py - hosts that launch, streams that execute, collectives that wait for each other: a job, event by event.

A rank is a host, which carries out its program (a list of Op) in order, and a device with streams, each a queue served in
order.  Times are integer nanoseconds of one true clock; durations come with the program, so that the same program always takes
the same time, and one with a fault differs by the fault and by what follows from it alone.

    host      [ call ]  [ call ]  [ sync ................]
    stream          |-->[ kernel ][ kernel ][ collective ]    starts once launched, its stream is free, its events are done
    others                              [   collective   ]    begins where each member arrives, ends for all after the last

What an Op does, by `do`:

    work     the host is busy for ns, in a frame (call) named `name` where there is a name
    open     a frame (operator, annotation, Python function; `kind`) begins, and takes ns before anything in it; close: it ends
    thread   goes on in host thread `name` after ns
    step     a training step, number `step`, begins
    launch   device work for ns: `kind` is kernel, gpu_memcpy or gpu_memset
    comm     a member of a collective or of a transfer between two ranks, `group`
    record   the event `event` is done when `stream` gets there; wait: `stream` goes on when the last recorded one is
    sync     the host waits for `stream`, or for the whole device where it is None

Model of the collective: the last arrival, then the transfer, then a tail of each member's own.  Of the host: it cannot be more
than QUEUE kernels ahead of its device.  A kernel beside a running communication kernel takes `beside` longer.
"""

import collections
import heapq

QUEUE = 1024              # launches that may be pending on a device
GAP_NS = 900              # between two kernels of a stream
WAKE_NS = 6000            # from the end of the work to the return of the call that waits for it
LATENCY_NS = 2500         # from the launch to the earliest start


class Op:
    __slots__ = ("do", "name", "ns", "call_ns", "stream", "kind", "group", "event", "step", "args")

    def __init__(self, do, step, name="", ns=0, call_ns=0, stream=None, kind="", group=None, event=None, args=None):
        self.do, self.step, self.name, self.ns, self.call_ns = do, step, name, ns, call_ns
        self.stream, self.kind, self.group, self.event, self.args = stream, kind, group, event, args

    def copy(self):
        return Op(self.do, self.step, self.name, self.ns, self.call_ns, self.stream, self.kind, self.group, self.event, self.args)


HostRow = collections.namedtuple("HostRow", "cat name thread start end corr args")
DeviceRow = collections.namedtuple("DeviceRow", "cat name stream start end corr launched args member")
SyncRow = collections.namedtuple("SyncRow", "name stream start end corr on_stream record_corr")


class Event:
    def __init__(self, stream, corr):
        self.stream, self.corr, self.done, self.waiting = stream, corr, False, []


class Stream:
    def __init__(self, rank, name):
        self.rank, self.name, self.queue, self.busy, self.free = rank, name, collections.deque(), False, 0


class Meeting:
    """One collective of a group: who has come, and when the last did."""

    def __init__(self):
        self.members = []                                     # (stream, arrival, item)


class Rank:
    def __init__(self, number, program, start):
        self.number, self.program, self.now, self.at = number, program, start, 0
        self.streams, self.events, self.frames, self.counts = {}, {}, [], collections.Counter()
        self.thread, self.pending, self.held_since, self.waits_for, self.call = "main", 0, None, 0, None
        self.talking, self.woken = 0, False                   # communication kernels on the device; whether host() is on its way
        self.host_rows, self.device_rows, self.sync_rows, self.steps = [], [], [], []

    def stream(self, name):
        if name not in self.streams:
            self.streams[name] = Stream(self, name)
        return self.streams[name]


class Simulation:
    """programs: one for each rank.  transfer(group, n): (ns of the n-th meeting of a group, tail of each member)."""

    def __init__(self, programs, groups, transfer, beside=0.0, start_skew=()):
        self.heap, self.number, self.corr = [], 0, 1000
        self.groups, self.transfer, self.beside = groups, transfer, beside
        self.meetings = collections.defaultdict(Meeting)
        self.step_end = collections.Counter()
        self.ranks = [Rank(i, p, start_skew[i] if start_skew else 0) for i, p in enumerate(programs)]
        for rank in self.ranks:
            self.later(rank.now, self.host, rank)
        while self.heap:
            t, _, act, what = heapq.heappop(self.heap)
            act(t, what)
        for rank in self.ranks:
            if rank.at < len(rank.program):
                raise RuntimeError("rank %d waits forever in op %d of %d" % (rank.number, rank.at, len(rank.program)))

    def later(self, t, act, what):
        self.number += 1
        heapq.heappush(self.heap, (t, self.number, act, what))

    def ended(self, step, t):
        self.step_end[step] = max(self.step_end[step], t)

    # ------------------------------------------------------------------------------------------------------- host

    def host(self, t, rank):
        """Carries out ops until one concerns the device at a later time, or waits for it."""
        program, rank.woken = rank.program, False
        while rank.at < len(program):
            op = program[rank.at]
            if op.do in ("launch", "comm", "record", "wait", "sync"):
                if rank.now > t:
                    return self.later(rank.now, self.host, rank)
                if not getattr(self, op.do)(rank, op):
                    return None
            else:
                self.on_host(rank, op)
            rank.at += 1
            self.ended(op.step, rank.now)
        return None

    def on_host(self, rank, op):
        start = rank.now
        rank.now += op.ns
        if op.do == "open":
            rank.frames.append((op, start, rank.thread))
        elif op.do == "close":
            opened, begin, thread = rank.frames.pop()
            rank.host_rows.append(HostRow(opened.kind, opened.name, thread, begin, rank.now, 0, opened.args))
        elif op.do == "work" and op.name:
            rank.host_rows.append(HostRow(op.kind, op.name, rank.thread, start, rank.now, 0, op.args))
        elif op.do == "thread":
            rank.thread = op.name
        elif op.do == "step":
            rank.steps.append((op.step, rank.now))

    def called(self, rank, op, name, args=None):
        """The row of a call that has been made; its correlation."""
        self.corr += 1
        start = rank.now if rank.held_since is None else rank.held_since
        rank.held_since = None
        rank.now += op.call_ns
        rank.host_rows.append(HostRow("cuda_runtime", name, rank.thread, start, rank.now, self.corr, args))
        return self.corr

    def enqueue(self, rank, op, call):
        if rank.pending >= QUEUE:
            rank.held_since = rank.now if rank.held_since is None else rank.held_since
            return False
        launched = rank.now
        corr = self.called(rank, op, call)
        rank.pending += 1
        self.put(rank.stream(op.stream), ("run", op, corr, launched, launched + op.call_ns * 7 // 10 + LATENCY_NS))
        return True

    def launch(self, rank, op):
        call = {"kernel": "cudaLaunchKernel", "gpu_memcpy": "cudaMemcpyAsync", "gpu_memset": "cudaMemsetAsync"}[op.kind]
        return self.enqueue(rank, op, call)

    def comm(self, rank, op):
        return self.enqueue(rank, op, "cudaLaunchKernelExC")

    def record(self, rank, op):
        event = Event(op.stream, self.called(rank, op, "cudaEventRecord"))
        rank.events[op.event] = event
        self.put(rank.stream(op.stream), ("record", op, event.corr, rank.now, rank.now, event))
        return True

    def wait(self, rank, op):
        start, event = rank.now, rank.events[op.event]
        corr = self.called(rank, op, "cudaStreamWaitEvent")
        rank.sync_rows.append(SyncRow("Stream Wait Event", op.stream, start, rank.now, corr, event.stream, event.corr))
        self.put(rank.stream(op.stream), ("wait", op, corr, rank.now, rank.now, event))
        return True

    def sync(self, rank, op):
        streams = [rank.stream(op.stream)] if op.stream is not None else list(rank.streams.values())
        rank.waits_for, rank.call = len(streams), (op, rank.now)
        rank.now += op.call_ns
        for stream in streams:
            self.put(stream, ("mark", op, 0, rank.now, rank.now))
        if not streams:
            self.returned(rank.now, rank)
        return False

    def returned(self, t, rank):
        """The last stream that the host waits for is done: its call ends, and the program goes on."""
        op, start = rank.call
        quick = t <= start + op.call_ns                       # nothing was left to wait for
        rank.now = max(rank.now, t + (0 if quick else WAKE_NS)) + op.ns
        self.corr += 1
        rank.host_rows.append(HostRow("cuda_runtime", op.name, rank.thread, start, rank.now, self.corr, None))
        kind = "Stream Sync" if op.stream is not None else "Context Sync"
        rank.sync_rows.append(SyncRow(kind, op.stream, start, rank.now, self.corr, None, None))
        self.ended(op.step, rank.now)
        rank.at += 1
        self.later(rank.now, self.host, rank)

    # ----------------------------------------------------------------------------------------------------- device

    def put(self, stream, item):
        stream.queue.append(item)
        if len(stream.queue) == 1 and not stream.busy:
            self.later(max(item[4], stream.free), self.pump, stream)

    def pump(self, t, stream):
        """Starts what is first in the queue, if it may start now."""
        while stream.queue and not stream.busy:
            what, op, corr, launched, ready = stream.queue[0][:5]
            if max(ready, stream.free) > t:
                return self.later(max(ready, stream.free), self.pump, stream)
            if what == "wait" and not stream.queue[0][5].done:
                waiting = stream.queue[0][5].waiting
                return None if stream in waiting else waiting.append(stream)
            item = stream.queue.popleft()
            if what == "run":
                stream.busy = True
                if op.do == "comm":
                    self.arrive(t, stream, item)
                else:
                    beside = self.beside if stream.rank.talking and op.kind == "kernel" else 0.0
                    end = t + max(1, int(op.ns * (1 + beside)))
                    self.later(end, self.finish, (stream, op, corr, launched, t, end, None))
            elif what == "record":
                item[5].done = True
                for other in item[5].waiting:
                    self.later(t, self.pump, other)
            elif what == "mark":
                stream.rank.waits_for -= 1
                if stream.rank.waits_for == 0:
                    self.returned(t, stream.rank)
        return None

    def arrive(self, t, stream, item):
        rank, group = stream.rank, item[1].group
        n = rank.counts[group]
        rank.counts[group] += 1
        rank.talking += 1
        meeting = self.meetings[group, n]
        meeting.members.append((stream, t, item))
        members = self.groups[group]
        if len(meeting.members) < len(members):
            return
        ns, tails = self.transfer(group, n)
        for other, start, (_, op, corr, launched, _) in meeting.members:
            end = t + ns + tails[members.index(other.rank.number)]
            self.later(end, self.finish, (other, op, corr, launched, start, end, (group, n)))

    def finish(self, t, what):
        stream, op, corr, launched, start, end, member = what
        rank = stream.rank
        rank.device_rows.append(DeviceRow(op.kind or "kernel", op.name, stream.name, start, end, corr, launched, op.args, member))
        self.ended(op.step, end)
        if member is not None:
            rank.talking -= 1
        stream.busy, stream.free = False, end + GAP_NS
        rank.pending -= 1
        if rank.held_since is not None and not rank.woken:
            rank.now, rank.woken = max(rank.now, t), True
            self.later(rank.now, self.host, rank)
        self.later(stream.free, self.pump, stream)
