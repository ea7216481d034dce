"""phase_jobs.py - made jobs of which each rank has timed its phases (JSON lines), with what is true of them.

A step of a rank: copies to the device (host_to_device), then work and an all-reduce that waits for the last rank
(training_step; as two phases where the job is `split`), then work without others (training_metrics), which may make the rank late
for the next step.  Times jitter, a little for all and now and then a lot for one.
"""
import json
import os
import random


class Job:
    def __init__(self, seed, ranks=8, steps=90, every=1, split=False, jitter=0.01, tail=0.002, fault=None, fast=None, chosen=None,
                 alone=None, beside=False):
        """fault: (rank, or a range of them, phase, share of a step, first, last): longer there in these steps, or before its first phase
        ("loading"), of which there is no record; in each step that `chosen` names, where it names some.  fast: likewise, shorter.
        alone: (rank, name, share of a step, every): a phase behind the others that no other rank has, in every so many steps.  beside:
        copies run beside the work of the step before, and nobody waits for them."""
        self.random = random.Random(seed)
        self.ranks, self.steps, self.every, self.split = ranks, steps, every, split
        self.jitter, self.tail, self.fault, self.fast, self.chosen = jitter, tail, fault, fast, chosen
        self.alone, self.beside = alone, beside
        self.base = {"host_to_device": self.random.uniform(2, 20), "compute": self.random.uniform(50, 400),
                     "all_reduce": self.random.uniform(2, 30), "training_metrics": self.random.uniform(0.5, 5)}
        self.step_ms = sum(self.base.values())
        # Devices differ, always in the same way.
        self.speed = [self.random.gauss(1, 0.002) for _ in range(ranks)]
        self.begin = self.random.getstate()

    def work(self, phase, rank, step):
        ms = self.base[phase] * self.speed[rank] * self.random.lognormvariate(0, self.jitter * (1 if phase == "compute" else 5))
        if self.random.random() < self.tail:
            ms += self.base[phase] * self.random.paretovariate(2) / 4
        return max(ms + self.change(self.fault, phase, rank, step) - self.change(self.fast, phase, rank, step), 0.001)

    def change(self, change, phase, rank, step):
        if not change or change[1] != phase or not change[3] <= step <= change[4]:
            return 0
        if rank not in (change[0] if isinstance(change[0], range) else (change[0],)):
            return 0
        return change[2] * self.step_ms if self.chosen is None or step in self.chosen else 0

    def records(self):
        """(step, rank, name, ms) of the steps that are recorded."""
        late = [0.0] * self.ranks  # by what each begins the step later than the first
        for step in range(self.steps):
            late = [late[r] + self.change(self.fault, "loading", r, step) for r in range(self.ranks)]
            h2d = [self.work("host_to_device", r, step) for r in range(self.ranks)]
            compute = [self.work("compute", r, step) for r in range(self.ranks)]
            before = [0.0 if self.beside else h2d[r] for r in range(self.ranks)]
            last = max(late[r] + before[r] + compute[r] for r in range(self.ranks))
            transfer = self.base["all_reduce"] * self.random.lognormvariate(0, 0.1)
            metrics = [self.work("training_metrics", r, step) for r in range(self.ranks)]
            for r in range(self.ranks):
                if step % self.every:
                    break
                wait = last - late[r] - before[r] - compute[r]
                yield step, r, "host_to_device", h2d[r]
                if self.split:
                    yield step, r, "forward", compute[r]
                    yield step, r, "all_reduce", wait + transfer * self.random.uniform(0.99, 1.01)
                else:
                    yield step, r, "training_step", compute[r] + wait + transfer * self.random.uniform(0.99, 1.01)
                yield step, r, "training_metrics", metrics[r]
            left = metrics
            if self.alone and step % self.alone[3] == 0:
                ms = self.alone[2] * self.step_ms
                left = [m + (ms if r == self.alone[0] else 0) for r, m in enumerate(metrics)]
                yield step, self.alone[0], self.alone[1], ms
            late = [m - min(left) for m in left]

    def time_ms(self, rank):
        """How long all that the rank records takes, waits too: of one that waits for another the time that the job takes."""
        again = Job.__new__(Job)
        again.__dict__ = {**self.__dict__, "random": random.Random()}
        again.random.setstate(self.begin)
        return sum(ms for _, r, _, ms in again.records() if r == rank)

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        files = [open(os.path.join(folder, f"cuda_events_rank_{r}.jsonl"), "w") for r in range(self.ranks)]
        for step, rank, name, ms in self.records():
            files[rank].write(json.dumps({"duration_ms": ms, "name": name, "rank": rank, "step": step}) + "\n")
        for f in files:
            f.close()


def named_phase(job):
    """What a phase is called in the records."""
    return {"loading": "time outside of phases", "compute": "forward" if job.split else "training_step"}.get(job.fault[1], job.fault[1])
