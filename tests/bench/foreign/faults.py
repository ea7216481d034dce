"""faults.py - what is wrong with a rank, or with all ranks of a host: drawn, and put into programs that are healthy.

A fault adds to a step of the rank a share of the job's healthy step, 1 to 50 %, before anything hides it:

    kernels     those of one class take longer; throttled: all of them
    work        operators come again: the same kernels, once more
    pause       the host does something else, between two operators; gc: a collector runs, in some places of a step
    input       the next batch comes late; h2d: its copy takes longer
    allocator   memory is freed: the host waits for the device, and longer; drain: it reads values from the device

in all steps (persistent), some in a row (bounded), every third or some at random (sporadic), one (one_off), or more and more
(drifting).  Programs are drawn before, so that nothing else differs.  `causes` are those that can be read out of the traces.
"""

import math

from engine import Op

KINDS = {
    "kernels": ("compute_slow", "throttled"),
    "throttled": ("throttled", "compute_slow"),
    "work": ("more_work",),
    "pause": ("host_late", "gc"),
    "gc": ("gc", "host_late"),
    "input": ("input",),
    "h2d": ("h2d",),
    "allocator": ("allocator", "sync_drain"),
    "drain": ("sync_drain",),
}
CLASSES = ("ampere_", "flash_", "void at::native")
PATTERNS = ("persistent", "persistent", "bounded", "sporadic", "one_off", "drifting")
US = 1000


class Fault:
    def __init__(self, rng, job):
        self.kind = rng.choice(sorted(KINDS))
        self.pattern = rng.choice(PATTERNS)
        self.share = math.exp(rng.uniform(math.log(0.01), math.log(0.5)))
        self.name = rng.choice(CLASSES) if self.kind == "kernels" else ""
        self.culprit = rng.randrange(job.ranks)
        if self.kind in ("input", "h2d"):                     # only these ranks load data
            self.culprit = rng.choice([r for r in range(job.ranks) if job.place(r)[0] in (0, job.pp - 1)])
        self.host = self.culprit // job.per_host if job.ranks > job.per_host and rng.random() < 0.15 else None
        self.ranks = [self.culprit] if self.host is None else [r for r in range(job.ranks) if r // job.per_host == self.host]
        self.place = rng.random()                             # of a pause in its step: the same code every time, or any
        self.wanders = rng.random() < 0.3
        self.times = rng.choice((1, 1, 2, 3)) if self.kind in ("gc", "allocator", "drain") else 1
        self.seed = rng.randrange(1 << 40)
        self.weights = self.steps_of(rng, job)
        self.causes = list(KINDS[self.kind])
        if self.kind == "input" and not job.loader:
            self.causes.append("host_late")

    def steps_of(self, rng, job):
        """How much of it each step has; 1 in the mean of those that have any."""
        steps = list(range(job.first - job.warmup, job.first + job.steps))
        recorded = steps[job.warmup:]
        if self.pattern == "persistent":
            return {s: 1.0 for s in steps}
        if self.pattern == "one_off":
            return {rng.choice(recorded[1:-1]): 1.0}
        if self.pattern == "sporadic":
            at = rng.randrange(1, 3)
            some = recorded[at::3] if rng.random() < 0.5 else [s for s in recorded[1:] if rng.random() < 0.4]
            return {s: 1.0 for s in some or recorded[1::3]}
        first = rng.randrange(1, job.steps - 3)
        part = recorded[first:first + rng.randrange(3, job.steps - first + 1)]
        if self.pattern == "bounded":
            return {s: 1.0 for s in part}
        part = recorded[first:]
        return {s: 2 * (i + 1) / (len(part) + 1) for i, s in enumerate(part)}

    def recorded(self, job):
        return sorted(s for s in self.weights if s >= job.first)


def affected(fault, op):
    if op.do != "launch" or op.kind != "kernel":
        return False
    return fault.kind in ("throttled", "work") or (fault.kind == "kernels" and op.name.startswith(fault.name))


def longer(fault, ops, extra_ns):
    """The ops of a step, with those that are affected longer by extra_ns together."""
    chosen = [op for op in ops if affected(fault, op)] if fault.kind in ("kernels", "throttled") else \
             [op for op in ops if (op.do == "work" and op.kind == "input" if fault.kind == "input" else
                                   op.do == "launch" and "HtoD" in op.name)]
    total, chosen = sum(op.ns for op in chosen), set(map(id, chosen))
    out = []
    for op in ops:
        if id(op) in chosen:
            op = op.copy()
            op.ns = int(op.ns + extra_ns * op.ns / total)
        out.append(op)
    return out


def repeated(fault, ops, extra_ns):
    """The ops of a step, some operators twice, until that is extra_ns more for the device."""
    out, i, left = [], 0, extra_ns
    while i < len(ops):
        if ops[i].do == "open" and ops[i].kind == "cpu_op":
            end = i
            while end + 1 < len(ops) and ops[end + 1].do == "launch" and ops[end + 1].kind == "kernel":
                end += 1
            work = sum(op.ns for op in ops[i:end + 1] if op.do == "launch")
            if end > i and ops[end + 1].do == "close" and work > 0:
                times = min(3, round(left / work))            # again at most so often in one place
                out += ops[i:end + 2] * (1 + max(0, times))
                left -= max(0, times) * work
                i = end + 2
                continue
        out.append(ops[i])
        i += 1
    return out


def interrupted(fault, job, ops, extra_ns, rng):
    """The ops of a step, with something that is none of its business before some of its operators."""
    places = [i for i, op in enumerate(ops) if op.do == "open" and op.kind == "cpu_op"]
    step = ops[0].step
    chosen = []
    for k in range(fault.times):
        at = rng.random() if fault.wanders else (fault.place + k / fault.times) % 1
        chosen.append(places[int(at * len(places))])
    ns = int(extra_ns / fault.times)
    for i in sorted(chosen, reverse=True):
        if fault.kind == "gc" and job.frames:
            new = [Op("work", step, "<built-in function collect>", ns, kind="python_function")]
        elif fault.kind in ("pause", "gc"):
            new = [Op("work", step, "", ns)]
        elif fault.kind == "allocator":
            new = [Op("sync", step, "cudaFree", ns, call_ns=5 * US)]
        else:
            new = [Op("open", step, "aten::item", 3 * US, kind="cpu_op"), Op("open", step, "aten::_local_scalar_dense", US, kind="cpu_op"),
                   Op("launch", step, "Memcpy DtoH (Device -> Pageable)", 2 * US, call_ns=5 * US, stream="compute", kind="gpu_memcpy"),
                   Op("sync", step, "cudaStreamSynchronize", 0, call_ns=2 * US, stream="compute"), Op("close", step, "", US),
                   Op("close", step, "", US)] * max(1, round(10 * fault.share))
        ops = ops[:i] + new + ops[i:]
    return ops


def afflicted(programs, fault, job, step_ns, rng):
    """Programs with the fault; those of other ranks are the same objects as before."""
    out = list(programs)
    for rank in fault.ranks:
        steps, ops = {}, []
        for op in programs[rank]:
            steps.setdefault(op.step, []).append(op)
        for step, part in steps.items():
            extra_ns = fault.share * step_ns * fault.weights.get(step, 0) * rng.lognormvariate(0, 0.1)
            if extra_ns > 0 and fault.kind in ("kernels", "throttled", "input", "h2d"):
                part = longer(fault, part, extra_ns)
            elif extra_ns > 0 and fault.kind == "work":
                part = repeated(fault, part, extra_ns)
            elif extra_ns > 0:
                part = interrupted(fault, job, part, extra_ns, rng)
            ops += part
        out[rank] = ops
    return out
