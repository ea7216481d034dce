"""growth.py TLMPI-SERIAL SCRATCH N SHAPE[:FUNCTION]... - what an event more takes, where there are n, 4 n and 16 n of a
thing, of the whole run or of one function.

A shape is a job that has many of one thing.  What a run does for n of it should grow as n or n log n, whichever thing it
is: an event between 4 n and 16 n takes at most 1.4 times the instructions of one between n and 4 n (where the run grows
as the square, 4 times), in the tests 1.3 times.  What does not depend on n drops out.  Prints a line a shape, "FAILED: ..." where it grows
faster, and ends with status 1 then.  bench.py asks for all of them (--only growth), and for each analysis of a usual job
besides.
"""

import json
import os
import re
import shutil
import subprocess
import sys

GOAL, HOPE = 1.4, 1.1
TEST_GOAL = 1.3  # of the tests, whose jobs are half as large
SIZES = (1, 4, 16)
# The functions of analyses by the parts of analysis.h, and judging; those that take less for an event are left out.
PART = re.compile("^(?!tl_).*_(per_rank|per_collective|fold|reduce)$|^tl_(idle_reduce|culprits_find|match_run|job_judge)$")
PART_LEAST = 5

KERNEL_US = 8


class Rank:
    """The events of a rank, in the order they are written."""

    def __init__(self, rank, nranks):
        self.head = {"distributedInfo": {"rank": rank, "world_size": nranks}} if nranks > 1 else {}
        self.rank, self.nranks, self.corr = rank, nranks, 0
        self.events = [{"ph": "M", "name": "process_name", "pid": 1}]

    def event(self, cat, name, tid, ts, dur, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur,
                            "args": args})

    def launch(self, at, begins, name="work", stream=7, kernels=1, **args):
        """A launch and its kernels, one behind the other."""
        self.corr += 1
        self.event("cuda_runtime", "cudaGraphLaunch" if kernels > 1 else "cudaLaunchKernel", 1, at, 2,
                   correlation=self.corr)
        dur = args.pop("dur", KERNEL_US)
        for k in range(kernels):
            self.event("kernel", name, stream, begins + k * (dur + 1), dur, device=0, stream=stream,
                       correlation=self.corr, **args)

    def all_reduce(self, at, begins, group="0", dur=KERNEL_US):
        self.launch(at, begins, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", dur=dur, **{
            "Collective name": "allreduce", "Process Group Name": group, "In msg nelems": 1024, "dtype": "BFloat16",
            "Process Group Ranks": self.members(), "Group size": self.nranks})

    def members(self):
        """As Kineto has them: the first 30."""
        return "[%s%s]" % (", ".join(map(str, range(min(self.nranks, 30)))), ", ..." if self.nranks > 30 else "")


def alone(draw):
    def make(n):
        rank = Rank(0, 1)
        draw(rank, n)
        return [rank]
    return make


def together(draw, nranks=2):
    def make(n):
        ranks = [Rank(r, nranks) for r in range(nranks)]
        for rank in ranks:
            draw(rank, n)
        return ranks
    return make


def stream(rank, n):
    for i in range(n):
        rank.launch(20 * i, 20 * i + 5)


def nested(rank, n):
    """Each operator within the one before, and launches on the way down."""
    for i in range(n):
        rank.event("cpu_op", "aten::op%d" % (i % 10), 1, 4 * i, 8 * (n - i) + 4)
        rank.launch(4 * i + 1, 20 * n + 10 * i)


def names(rank, n):
    for i in range(n):
        rank.event("cpu_op", "aten::op%d" % i, 1, 20 * i, 10)
        rank.event("user_annotation", "part %d" % i, 1, 20 * i, 12)
        rank.launch(20 * i + 1, 20 * i + 5, "work_%d" % i)


def queue(rank, n):
    """All is launched before the first kernel begins."""
    for i in range(n):
        rank.launch(3 * i, 3 * n + 20 * i)


def graph(rank, n):
    """Two launches have all the kernels."""
    rank.launch(0, 10, kernels=n // 2)
    rank.launch(5, 10 + 10 * n, kernels=n // 2)


def steps(rank, n):
    for i in range(n):
        rank.event("user_annotation", "ProfilerStep#%d" % i, 1, 60 * i, 60)
        rank.launch(60 * i + 1, 60 * i + 5)
        rank.all_reduce(60 * i + 10, 60 * i + 20)


def late(rank, n):
    """The last rank is late in every other step, by more each time; its peers wait."""
    for i in range(n):
        late_us = (40 + i % 7) * (i % 2) if rank.rank == rank.nranks - 1 else 0
        rank.event("user_annotation", "ProfilerStep#%d" % i, 1, 200 * i, 200)
        rank.launch(200 * i + 1 + late_us, 200 * i + 5 + late_us)
        rank.all_reduce(200 * i + 10 + late_us, 200 * i + 20 + late_us, dur=8 if late_us else 8 + (40 + i % 7) * (i % 2))


def classes(rank, n):
    """Kernels of many names, each in a few steps."""
    for i in range(n):
        rank.event("user_annotation", "ProfilerStep#%d" % i, 1, 60 * i, 60)
        rank.launch(60 * i + 1, 60 * i + 5, "work_%d" % (i // 2))
        rank.all_reduce(60 * i + 10, 60 * i + 20)


def meetings(rank, n):
    """Collectives, and no steps."""
    for i in range(n):
        rank.launch(60 * i + 1, 60 * i + 5)
        rank.all_reduce(60 * i + 10, 60 * i + 20)


def groups(rank, n):
    """Each collective is of a group of its own."""
    for i in range(n):
        rank.launch(60 * i, 60 * i + 4)
        rank.all_reduce(60 * i + 5, 60 * i + 20, str(i))


def streams(rank, n):
    for i in range(n):
        rank.launch(20 * i, 20 * i + 5, stream=7 + i)


def annotations(rank, n):
    """Each within the one before, and work in all of them."""
    for i in range(n):
        rank.event("user_annotation", "part %d" % (i % 10), 1, 4 * i, 8 * (n - i) + 4)
        rank.launch(4 * i + 1, 20 * n + 10 * i)


def overlap(rank, n):
    """Kernels that all run at once."""
    for i in range(n):
        rank.corr += 1
        rank.event("cuda_runtime", "cudaLaunchKernel", 1, 3 * i, 2, correlation=rank.corr)
        rank.event("kernel", "work", 7 + i % 100, 3 * i + 5, 20 * n, device=0, stream=7 + i % 100, correlation=rank.corr)


def waits(rank, n):
    """The host waits for each kernel."""
    for i in range(n):
        rank.launch(40 * i, 40 * i + 5)
        rank.event("cuda_runtime", "cudaStreamSynchronize", 1, 40 * i + 4, 12, correlation=100000 + i)


def allocations(rank, n):
    for i in range(n):
        rank.launch(20 * i, 20 * i + 5)
        rank.events.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 20 * i,
                            "s": "t", "args": {"Device Type": 1, "Device Id": 0, "Addr": i, "Bytes": 512,
                                               "Total Allocated": 512 * i, "Total Reserved": 1024 * i}})


def copies(rank, n):
    for i in range(n):
        rank.launch(20 * i, 20 * i + 5)
        rank.corr += 1
        rank.event("cuda_runtime", "cudaMemcpyAsync", 1, 20 * i + 3, 2, correlation=rank.corr)
        rank.event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 20, 20 * i + 6, 9, device=0, stream=20,
                   correlation=rank.corr, bytes=4096, **{"memory bandwidth (GB/s)": 4.0})


def many_roles(n):
    """n / 50 ranks, each of which sends to the next."""
    ranks = [Rank(r, max(n // 50, 2)) for r in range(max(n // 50, 2))]
    for rank in ranks:
        for i in range(10):
            rank.event("user_annotation", "ProfilerStep#%d" % i, 1, 200 * i, 200)
            rank.launch(200 * i + 1, 200 * i + 5, "work")
            for what, other in (("recv", rank.rank - 1), ("send", rank.rank + 1)):
                if 0 <= other < rank.nranks:
                    pair = sorted((rank.rank, other))
                    at = 20 * (1 + pair[0] % 2)
                    rank.launch(200 * i + at, 200 * i + at + 5, "ncclDevKernel_SendRecv", **{
                        "Collective name": what, "Process Group Name": "0", "In msg nelems": 1024, "dtype": "BFloat16",
                        "Process Group Ranks": str(list(range(rank.nranks))), "Group size": rank.nranks,
                        "Src Rank": pair[0] if what == "recv" else rank.rank,
                        "Dst Rank": rank.rank if what == "recv" else other})
    return ranks


def many_ranks(n):
    """n / 8 ranks in all-reduces of one group.  Each is as fast as it is for good, and so many are late, by up to half
    of the least cost."""
    ranks = [Rank(r, max(n // 8, 2)) for r in range(max(n // 8, 2))]
    for rank in ranks:
        for i in range(10):
            at, noise = 1000 * i, (31 * rank.rank + 17 * i) % 5 / 5
            work_us = 900 + 10 * (7 * rank.rank % rank.nranks) / rank.nranks + noise
            rank.event("user_annotation", "ProfilerStep#%d" % i, 1, at, 1000)
            rank.launch(at + 1, at + 5, dur=work_us)
            rank.all_reduce(at + 10, at + 5 + work_us, dur=930 - work_us)
    return ranks


def experts(n):
    """n / 8 ranks: in each step three all-to-alls of eight, in which each comes when it may, then an all-reduce of
    all."""
    ranks = [Rank(r, max(n // 8, 8)) for r in range(max(n // 8, 8))]
    for rank in ranks:
        first = rank.rank // 8 * 8
        for i in range(5):
            rank.event("user_annotation", "ProfilerStep#%d" % i, 1, 1000 * i, 1000)
            for k in range(3):
                at, late_us = 1000 * i + 250 * k, (31 * rank.rank + 17 * i + 7 * k) % 60
                rank.launch(at + 1, at + 5, dur=90 + late_us)
                rank.launch(at + 10, at + 95 + late_us, "ncclDevKernel_SendRecv", dur=120 - late_us, **{
                    "Collective name": "all_to_allv", "Process Group Name": str(1 + first), "In msg nelems": 1024,
                    "dtype": "BFloat16", "Process Group Ranks": str(list(range(first, first + 8))), "Group size": 8})
            rank.all_reduce(1000 * i + 760, 1000 * i + 800, dur=100)
    return ranks


def mesh(n):
    """n / 8 ranks in pairs and in two groups of a rank of each pair.  In each step all-reduces of pairs and of the two
    groups take turns; who waited in one comes late to the next."""
    ranks = [Rank(r, max(n // 8, 8)) for r in range(max(n // 8, 8))]
    for rank in ranks:
        for i in range(5):
            rank.event("user_annotation", "ProfilerStep#%d" % i, 1, 1500 * i, 1500)
            for k in range(4):
                at, late_us = 1500 * i + 240 * k, (31 * rank.rank + 17 * i + 7 * k) % 60
                first = rank.rank // 2 * 2 if k % 2 == 0 else rank.rank % 2
                members = range(first, first + 2) if k % 2 == 0 else range(first, rank.nranks, 2)
                rank.launch(at + 1, at + 5, dur=90 + late_us)
                rank.launch(at + 10, at + 95 + late_us, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", dur=120 - late_us, **{
                    "Collective name": "allreduce", "Process Group Name": "%d of %d" % (first, len(members)),
                    "In msg nelems": 1024, "dtype": "BFloat16", "Process Group Ranks": str(list(members)),
                    "Group size": len(members)})
    return ranks


def faults(n):
    """n / 8 ranks in all-reduces of one group; one of 64 launches late in all steps, another in some, by more than the
    least cost."""
    ranks = [Rank(r, max(n // 8, 2)) for r in range(max(n // 8, 2))]
    for rank in ranks:
        for i in range(10):
            late_us = 100 if rank.rank % 64 == 5 else 160 if rank.rank % 64 == 9 and i % 3 == 0 else 0
            at, noise = 1200 * i + late_us, (31 * rank.rank + 17 * i) % 5 / 5
            rank.event("user_annotation", "ProfilerStep#%d" % i, 1, 1200 * i, 1200)
            rank.launch(at + 1, at + 5, dur=900 + noise)
            rank.all_reduce(at + 10, at + 905 + noise, dur=1200 - 905 - noise - late_us)
    return ranks


def clocks(n):
    """n / 8 ranks whose hosts nobody knows.  Two of them seem to leave before others have come, each in other steps: no
    clocks explain both."""
    ranks = [Rank(r, max(n // 8, 2)) for r in range(max(n // 8, 2))]
    for rank in ranks:
        for i in range(10):
            work_us = 15 if rank.rank in (0, 1) and i % 2 == rank.rank else 90
            rank.event("user_annotation", "ProfilerStep#%d" % i, 1, 200 * i, 200)
            rank.launch(200 * i + 1, 200 * i + 5, dur=work_us)
            rank.all_reduce(200 * i + 2, 200 * i + 5 + work_us, dur=10 if work_us == 15 else 20)
    return ranks


SHAPES = {
    "stream": alone(stream), "nested": alone(nested), "names": alone(names), "queue": alone(queue),
    "graph": alone(graph), "streams": alone(streams), "annotations": alone(annotations), "overlap": alone(overlap),
    "waits": alone(waits), "allocations": alone(allocations), "copies": alone(copies), "steps": together(steps),
    "groups": together(groups), "late": together(late, 4), "classes": together(classes),
    "meetings": together(meetings), "ranks": many_ranks, "roles": many_roles, "clocks": clocks,
    "experts": experts, "faults": faults, "mesh": mesh,
}


def write(ranks, folder):
    """Traces of these ranks; the number of events in all."""
    os.makedirs(folder, exist_ok=True)
    for i, rank in enumerate(ranks):
        with open(os.path.join(folder, "rank-%d.json" % i), "w", encoding="ascii") as f:
            json.dump(dict(rank.head, traceEvents=rank.events), f)
    return sum(len(rank.events) for rank in ranks)


def inclusive(lines):
    """{function: instructions of it and of what it calls} of a callgrind file; recursion counts once.

    fn=(3) name begins what function 3 does; later it is fn=(3).  Lines of numbers are its own cost, but for that behind
    calls=, which is what the call of cfn= took.
    """
    names, costs, here, callee, is_call = {}, {}, None, None, False

    def name_of(text):
        number, _, name = text.partition(" ")
        if name:
            names[number] = name
        return names[number]

    for line in lines:
        if line.startswith("fn="):
            here = name_of(line[3:].strip())
        elif line.startswith("cfn="):
            callee = name_of(line[4:].strip())
        elif line.startswith("calls="):
            is_call = True
        elif line[:1] in "0123456789+-*":
            if not (is_call and callee == here):
                costs[here] = costs.get(here, 0) + int(line.split()[1])
            is_call = False
    return costs


def valgrind(command, *tool):
    """What valgrind says of a run."""
    done = subprocess.run(["valgrind", *tool] + command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, errors="replace")
    found = re.search(r"(?:Collected :|Total instructions:) (\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        sys.exit("valgrind %s\nended with status %d\n%s" % (" ".join(command), done.returncode, done.stderr[-2000:]))
    return int(found.group(1))


def count(command, scratch, by_function=True):
    """The instructions of each function of a command, and under "" of all of it; of all of it alone takes a third less."""
    if not by_function:
        return {"": valgrind(command, "--tool=exp-bbv", "--instr-count-only=yes", "--bb-out-file=/dev/null")}
    out = os.path.join(scratch, "callgrind.out")
    whole = valgrind(command, "--tool=callgrind", "--callgrind-out-file=" + out)
    with open(out, encoding="utf-8", errors="replace") as f:
        costs = inclusive(f)
    costs[""] = whole
    return costs


class Growth:
    def __init__(self, serial, scratch, make_trace=None):
        self.make_trace, self.scratch = make_trace, scratch
        self.run = [serial, "run", "-q", "-f", "-o", os.path.join(scratch, "result")]
        self.folder = os.path.join(scratch, "growth")
        os.makedirs(scratch, exist_ok=True)

    def of_folder(self, by_function=True):
        costs = count(self.run + [self.folder], self.scratch, by_function)
        shutil.rmtree(self.folder)
        return costs

    def of_job(self, *options):
        """(events, costs) of a job as make_trace makes it."""
        subprocess.run([self.make_trace, "-o", self.folder, "--ranks", "2", "--plain", *options], check=True,
                       stdout=subprocess.DEVNULL)
        events = 0
        for i in range(2):
            with open(os.path.join(self.folder, "rank-%d.json" % i), encoding="ascii") as f:
                events += f.read().count('"ph"')
        return events, self.of_folder()

    def of_shape(self, shape, n, by_function=False):
        return write(SHAPES[shape](n), self.folder), self.of_folder(by_function)


def slopes(found, function=""):
    """What an event more takes of a function, or of the whole run, from each size to the next."""
    costs = [costs.get(function, 0) for _, costs in found]
    events = [events for events, _ in found]
    return [(costs[i + 1] - costs[i]) / (events[i + 1] - events[i]) for i in range(len(found) - 1)]


def measure(table, serial, make_trace, scratch):
    """Lines of the table of bench.py: each analysis and judging of a job as it is, and whole runs of all shapes."""
    growth = Growth(serial, scratch, make_trace)

    def add(what, trace, few, many):
        table.add("instructions an event more, 4-16x / 1-4x: " + what, "%s: %.0f, then %.0f" % (trace, few, many),
                  [many / max(few, 1)], GOAL, HOPE)

    jobs = [growth.of_job("--mb", str(2 * k), "--python-share", "0.1") for k in SIZES]
    events, costs = jobs[-1]
    for name in [""] + sorted(name for name in costs if PART.search(name) and costs[name] >= PART_LEAST * events):
        add(name or "the whole run", "a job", *slopes(jobs, name))
    for shape in SHAPES:
        add("the whole run", shape, *slopes([growth.of_shape(shape, 500 * k) for k in SIZES]))


def main():
    serial, scratch, n, *shapes = sys.argv[1:]
    growth, bad = Growth(serial, scratch), 0
    for shape in shapes:
        shape, _, function = shape.partition(":")
        few, many = slopes([growth.of_shape(shape, int(n) * k, function != "") for k in SIZES], function)
        words = "%s: %.0f instructions an event more, %.0f where there are 4 times as many" % (shape, few, many)
        print(words if many <= TEST_GOAL * few else "FAILED: " + words)
        bad += many > TEST_GOAL * few
    return 1 if bad > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
