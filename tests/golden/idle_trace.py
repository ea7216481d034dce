"""idle_trace.py - the events of one trace, and what calls are by their names: what tests/golden/idle_oracle.py judges by."""

import collections
import gzip
import json
import re
from decimal import Decimal

GPU = {"kernel": "kernel", "Kernel": "kernel", "gpu_memcpy": "memcpy", "Memcpy": "memcpy", "gpu_memset": "memset",
       "Memset": "memset"}
OPS = {"cpu_op": "op", "Operator": "op", "python_function": "frame", "user_annotation": "annotation"}


def is_call(cat):
    return isinstance(cat, str) and (cat == "Runtime" or cat.endswith("_runtime") or cat.endswith("_driver"))


def integer(value):
    """The integer that a number or a text is, or None."""
    try:
        number = Decimal(str(value))
    except ArithmeticError:
        return None
    return int(number) if number.is_finite() and number == int(number) else None


def small(value):
    return value if value is not None and 0 <= value < 1 << 31 else -1


def nanoseconds(value):
    return int((Decimal(str(value)) * 1000).to_integral_value(rounding="ROUND_HALF_EVEN"))


class Event:
    """start, end, name, uid; track: the pair (pid, tid); and what its sort of event has."""

    def __init__(self, uid, entry, base):
        self.args = entry.get("args") or {}
        self.start = nanoseconds(entry["ts"]) + base
        self.end = self.start + max(0, nanoseconds(entry.get("dur", 0)))
        self.name, self.uid = entry.get("name"), uid
        self.track = (repr(entry.get("pid")), repr(entry.get("tid")))
        self.correlation = integer(self.args.get("correlation"))
        self.launch = None
        self.kind = ""

    @property
    def dur(self):
        return self.end - self.start

    def order(self):
        """Of events of one thread: what begins later stands later, of equals the shorter."""
        return (self.start, -self.end, self.uid)


def place(event, entry):
    device, stream = integer(event.args.get("device")), integer(event.args.get("stream"))
    if device is None and not isinstance(entry.get("pid"), str):
        device = entry.get("pid", 0)
    if stream is None:
        tid = entry.get("tid", 0)
        stream = tid if not isinstance(tid, str) else (int("".join(re.findall(r"\d", tid)) or -1))
    return small(device), small(stream)


class Trace:
    """The events of a trace by what they are."""

    def __init__(self, text):
        document = json.loads(text, parse_float=Decimal)
        entries = document["traceEvents"] if isinstance(document, dict) else document
        base = int(document.get("baseTimeNanoseconds", 0)) if isinstance(document, dict) else 0
        self.kernels, self.calls, self.ops, self.syncs, self.tracks = [], [], [], [], {}
        for uid, entry in enumerate(entries):
            cat, whole = entry.get("cat"), entry.get("ph", "X") == "X"
            known = cat in GPU or cat in OPS or cat == "cuda_sync" or is_call(cat)
            if not known or "ts" not in entry:
                continue
            event = Event(uid, entry, base)
            self.tracks.setdefault(event.track, len(self.tracks))
            if cat in GPU:
                event.kind = GPU[cat]
                event.device, event.stream = place(event, entry)
                self.kernels.append(event)
            elif cat == "cuda_sync":
                self.syncs.append(event)
            elif whole and cat in OPS:
                event.kind = OPS[cat]
                self.ops.append(event)
            elif whole:
                self.calls.append(event)
        self.link()
        self.find_steps()

    def link(self):
        by_number = collections.defaultdict(list)
        for call in sorted(self.calls, key=lambda c: (c.start, c.uid)):
            call.work = []
            by_number[call.correlation].append(call)
        for kernel in self.kernels:
            calls = by_number[kernel.correlation] if (kernel.correlation or 0) > 0 else []
            before = [c for c in calls if c.start <= kernel.start]
            kernel.launch = before[-1] if before else calls[0] if calls else None
            if kernel.launch is not None:
                kernel.launch.work.append(kernel)
        for call in self.calls:
            call.work.sort(key=lambda k: (k.start, k.uid))
        self.launches = sorted((c for c in self.calls if c.work), key=lambda c: (c.start, c.uid))

    def find_steps(self):
        marks = {}
        for op in self.ops:
            found = re.match(r"ProfilerStep *# *(\d+)", op.name or "") if op.kind in ("op", "annotation") else None
            if found:
                step = int(found.group(1))
                old = marks.get(step, (op.start, op.end))
                marks[step] = (min(old[0], op.start), max(old[1], op.end))
        steps = sorted((start, end, step) for step, (start, end) in marks.items())
        self.steps = [(start, steps[i + 1][0] if i + 1 < len(steps) else end, step)
                      for i, (start, end, step) in enumerate(steps)]

    def step_at(self, ns):
        return next((step for start, end, step in self.steps if start <= ns < end), -1)


def load(path):
    data = open(path, "rb").read()
    return Trace(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


# ------------------------------------------------------------------------------------------------------ names of calls

SYNCS = {"DeviceSynchronize": "DEVICE_SYNC", "CtxSynchronize": "DEVICE_SYNC", "ThreadSynchronize": "DEVICE_SYNC",
         "StreamSynchronize": "STREAM_SYNC", "EventSynchronize": "EVENT_SYNC"}
PREFIX = re.compile(r"(?:cuda|hip|cu)(?=[A-Z])")
VERSIONS = re.compile(r"(?:_v\d+|_ptsz|_ptds|_spt)+$")


def direction(name):
    if "DtoH" in name or "DeviceToHost" in name:
        return "D2H_COPY"
    return "H2D_COPY" if "HtoD" in name or "HostToDevice" in name else None


class Words:
    """What a call is, by its name."""

    def __init__(self, name):
        plain = VERSIONS.sub("", name or "")
        found = PREFIX.match(plain)
        rest = plain[found.end():] if found else ""
        self.holds = rest == "StreamWaitEvent"
        self.graph = rest.endswith("GraphLaunch")
        self.copy = rest.startswith("Memcpy")
        self.direction = direction(name) if self.copy else None
        alloc = not self.copy and re.search("Alloc|Malloc|Free|HostRegister|HostUnregister", rest)
        launch = self.graph or re.search("Launch.*Kernel", rest)
        self.kernel = bool(re.search("Launch.*Kernel", rest)) and not self.graph
        self.sync = SYNCS.get(rest)
        if rest in ("Free", "MemFree", "FreeHost", "HostFree", "MemFreeHost", "HostUnregister", "MemHostUnregister"):
            self.sync = "IMPLICIT_SYNC"
        self.long_alloc = rest in ("Malloc", "MemAlloc")
        self.waits_always = "Async" not in (name or "")
        self.category = "LAUNCH_STALL" if launch else "MEMORY_ALLOC" if alloc else "OTHER_RUNTIME"
