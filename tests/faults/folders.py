#!/usr/bin/env python3
"""folders.py TLMPI - which traces of a folder are one run: strays, several jobs, wrong numbers of ranks; and
which of its ranks share a host; what is there twice.

Traces are small and made by hand; what does not belong is named, is not analysed, and the exit status tells.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile

from traces import Checks, Run

DAY_ONE = 1700000000 * 10**9
MS, S, DAY = 10**6, 10**9, 86400 * 10**9


def trace(rank=None, world=None, begin=DAY_ONE, pid=4100, device="NVIDIA H100", host=None, groups=None, gpu=0, first=1,
          step=None):
    """A trace with three kernels; rank None: it does not know its own."""
    info = {"backend": "nccl"}
    if rank is not None:
        info["rank"] = rank
    if world is not None:
        info["world_size"] = world
    if groups is not None:
        info["pg_config"] = [{"pg_name": name, "ranks": ranks} for name, ranks in groups.items()]
    events = []
    if step is not None:
        events.append({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d" % step, "pid": pid, "tid": pid, "ts": 0, "dur": 30})
    for i in range(3):
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": pid, "tid": pid, "ts": i * 10,
                       "dur": 2, "args": {"correlation": i + first}})
        events.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": gpu, "tid": 7, "ts": i * 10 + 4, "dur": 5,
                       "args": {"device": gpu, "stream": 7, "correlation": i + first}})
    made = {"schemaVersion": 1, "deviceProperties": [{"id": gpu, "name": device}]}
    if rank is not None or world is not None or groups is not None:
        made["distributedInfo"] = info
    if host is not None:
        made["host_name"] = host
    return {**made, "baseTimeNanoseconds": begin, "traceEvents": events, "traceName": "t"}


class Folder:
    def __init__(self, program, files):
        self.program, self.place = program, tempfile.TemporaryDirectory(prefix="tlmpi-test.")
        self.path = os.path.join(self.place.name, "traces")
        for name, made in files.items():
            path = os.path.join(self.path, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with (gzip.open if name.endswith(".gz") else open)(path, "wt", encoding="utf-8") as f:
                f.write(made if isinstance(made, str) else json.dumps(made))
            if name.endswith(".zst"):
                subprocess.run(["zstd", "-q", "--rm", path, "-o", path + ".part"], check=True)
                os.rename(path + ".part", path)

    def run(self, *options):
        """Status, stderr, and rank -> file of what was analysed."""
        run = Run(self.program, [self.path], os.path.join(self.place.name, "out"), options=("-f", *options))
        rows = run.rows("rank") if run.status in (0, 1) else []
        return run.status, run.stderr, {row["rank"]: os.path.relpath(row["file"], self.path) for row in rows}

    def runs(self):
        run = Run(self.program, [self.path], options=("--run", "list"))
        return [line.split() for line in run.stdout.splitlines()[1:]]


def job(n, name="rank-%d.json", **more):
    return {name % r: trace(r, n, begin=more.get("begin", DAY_ONE) + r * MS, pid=4100 + r,
                            **{k: v for k, v in more.items() if k != "begin"}) for r in range(n)}


def is_whole(said, n, name="rank-%d.json"):
    return said[2] == {r: name % r for r in range(n)}


def strays(checks, program):
    """One trace that is not of the job, for one reason each, and does not know its rank."""
    whole = job(4)
    for what, stray in (
            ("another time", trace(begin=DAY_ONE + 600 * DAY)),
            ("another size", trace(world=16)),
            ("another device", trace(device="AMD Instinct MI300X")),
            ("no room", trace())):
        said = Folder(program, {**whole, "a_stray.json": stray}).run()
        checks.that(said[0] == 1 and is_whole(said, 4), "a stray of " + what, said)
        checks.that("left out: " in said[1] and "a_stray.json" in said[1], "a stray of %s is named" % what, said[1])
    del whole["rank-2.json"]
    for what, stray, joins in (("fits", trace(pid=4102), True), ("another time", trace(begin=DAY_ONE + DAY), False),
                               ("a second recording of a process", trace(begin=DAY_ONE + 60 * S, pid=4101), False),
                               ("a process of that number elsewhere", trace(pid=4101), True)):
        said = Folder(program, {**whole, "a_stray.json": stray}).run()
        checks.that((said[2].get(2) == "a_stray.json") == joins and said[0] == (0 if joins else 1), "a free number: " + what, said)
    groups = {"5": [0, 1], "6": [0, 2]}
    whole = {"rank-%d.json" % r: trace(r, 4, DAY_ONE + r, 4100 + r, groups=groups) for r in range(3)}
    for members, joins in (([0, 1], True), ([0, 3], False)):
        said = Folder(program, {**whole, "z.json": trace(groups={"5": members}, pid=4103)}).run()
        checks.that((said[2].get(3) == "z.json") == joins, "groups: %s" % members, said)


def several_jobs(checks, program):
    files = {**job(4, "a/rank-%d.json", begin=DAY_ONE, host="nodea"),
             **job(8, "b/rank-%d.json", begin=DAY_ONE + 5 * DAY, host="nodeb"),
             **job(4, "c/rank-%d.json", begin=DAY_ONE + 9 * DAY),
             "d/trace.json": trace(begin=DAY_ONE + 20 * DAY)}
    folder = Folder(program, files)
    said = folder.run()
    checks.that(said[0] == 1 and is_whole(said, 8, "b/rank-%d.json"), "the largest of several jobs", said)
    checks.that(all(name in said[1] for name in ("a/rank-0.json and 3 more", "c/rank-0.json and 3 more", "d/trace.json")),
                "the others are named", said[1])
    listed = folder.runs()
    checks.that([line[:3] for line in listed] == [["1", "4", "4"], ["2", "8", "8"], ["3", "4", "4"], ["4", "1", "-"]], "ranks and worlds",
                listed)
    checks.that([line[3:6] for line in listed[:2]] == [["2023-11-14", "22:13:20", "nodea"], ["2023-11-19", "22:13:20", "nodeb"]],
                "begins and hosts", listed)
    said = folder.run("--run", "3")
    checks.that(said[0] == 0 and is_whole(said, 4, "c/rank-%d.json"), "one that is asked for", said)
    other = job(4, "b/rank-%d.json", begin=DAY_ONE + 300 * S)
    for rank, made in enumerate(other.values()):
        made["traceEvents"] = [{**event, "pid": event["pid"] + 900 if event["pid"] >= 4100 else 0} for event in made["traceEvents"]]
    said = Folder(program, {**job(4, "a/rank-%d.json"), **other}).run()
    checks.that(said[0] == 0 and is_whole(said, 4, "b/rank-%d.json"), "two starts of one job", said)
    halves = {name: made for name, made in job(8, "a/rank-%d.json").items() if made["distributedInfo"]["rank"] < 4}
    halves.update({name: made for name, made in job(8, "b/rank-%d.json", begin=DAY_ONE + DAY).items()
                   if made["distributedInfo"]["rank"] >= 4})
    said = Folder(program, halves).run()
    checks.that(said[0] == 1 and said[2] == {r: "b/rank-%d.json" % r for r in range(4, 8)}, "halves of two recordings", said)
    damaged = {**job(4, "a/rank-%d.json"), **job(4, "b/rank-%d.json", begin=DAY_ONE + DAY)}
    damaged["a/rank-2.json"] = ""
    del damaged["b/rank-2.json"]
    said = Folder(program, damaged).run()
    checks.that(said[0] == 1 and sorted(said[2]) == [0, 1, 3], "an empty file is of the run beside it", said)


def windows(checks, program):
    """Recordings of the same processes, one after the other, are one job's."""
    def made(begin, ranks=range(4), **more):
        return {"%%s/rank-%d.json" % r: trace(r, 4, begin + r * MS, 4100 + r, **{"first": begin // S, **more}) for r in ranks}

    def folder(**windows):
        return Folder(program, {name % window: trace for window, files in windows.items() for name, trace in files.items()})

    def events(folder, *options):
        run = Run(program, [folder.path], os.path.join(folder.place.name, "out"), options=("-f", *options))
        return run.status, {row["rank"]: (row["events"], row["first_ns"], row["last_ns"]) for row in run.rows("rank")}, run.stdout

    status, found, said = events(folder(a=made(DAY_ONE), b=made(DAY_ONE + 300 * S), c=made(DAY_ONE + DAY)))
    checks.that(status == 0 and found == {r: (18, r * MS + 4000, DAY + r * MS + 29000) for r in range(4)}, "three windows", found)
    checks.that("3 windows of one job were analysed as one (runs 1-3 of 3" in " ".join(said.split()), "three windows are told", said)
    three = folder(a=made(DAY_ONE), b=made(DAY_ONE + 300 * S), c=made(DAY_ONE + DAY))
    checks.that(three.run("--run", "2")[2] == {r: "b/rank-%d.json" % r for r in range(4)}, "one of them is asked for", three.run("--run", "2"))
    status, found, said = events(folder(a=made(DAY_ONE, (0, 1, 3)), b=made(DAY_ONE + 300 * S)))
    checks.that(status == 1 and [found[r][0] for r in range(4)] == [12, 12, 6, 12], "a rank without the first window", found)
    status, found, said = events(folder(a=made(DAY_ONE, (0, 1, 2)), b=made(DAY_ONE + 300 * S, (0, 1, 3))))
    checks.that(status == 1 and [found[r][0] for r in range(4)] == [12, 12, 6, 6], "ranks of one window each", found)
    status, found, said = events(folder(a=made(DAY_ONE), b=made(DAY_ONE + 300 * S, gpu=1)), "--ranks", "2")
    checks.that(status == 0 and list(found) == [2] and found[2][0] == 12, "one rank of two windows", found)
    cut = made(DAY_ONE + 300 * S)
    cut["%s/rank-1.json"] = json.dumps(cut["%s/rank-1.json"])[:-200]
    status, found, said = events(folder(a=made(DAY_ONE), b=cut))
    checks.that(status == 1 and found[1][0] < 12 and found[0][0] == 12, "a window that is cut", found)
    cut["%s/rank-1.json"] = ""
    status, found, said = events(folder(a=made(DAY_ONE), b=cut))
    checks.that(status == 1 and found[1][0] == 6 and found[0][0] == 12, "a window that is empty", found)
    apart = {**made(DAY_ONE + 300 * S, (0, 1, 2)), "%s/rank-3.json": trace(3, 4, DAY_ONE + 300 * S, 77)}
    status, found, said = events(folder(a=made(DAY_ONE), b=apart))
    checks.that(status == 0 and found[0][0] == 6 and "of other processes" in " ".join(said.split()), "one process is another", said)
    status, found, said = events(folder(a=made(DAY_ONE), b=made(DAY_ONE + 10000)))
    checks.that(found[0][0] == 6, "windows that overlap", found)
    for a, b, joined in ((4, 9, True), (4, 4, False), (None, None, False)):
        status, found, said = events(folder(a=made(DAY_ONE, first=1, step=a), b=made(DAY_ONE + 300 * S, first=1, step=b)))
        checks.that((found[0][0] > 7) == joined, "numbers of processes and correlations come again, steps %s %s" % (a, b), found)
        checks.that(("correlation ids anew" in " ".join(said.split())) != joined, "another start is told", said)


def other_names(checks, program):
    """What may be of the same job by all that its trace tells, but is called otherwise, is no other recording of it."""
    for name, status in (("rank-3.json", 0), ("another_3.json", 1)):
        files = {**job(4, "job/rank-%d.json"), "more/" + name: trace(3, 4, begin=DAY_ONE - DAY, pid=9)}
        said = Folder(program, files).run()
        checks.that(said[0] == status and is_whole(said, 4, "job/rank-%d.json"), "another recording, " + name, said)
        checks.that((name in said[1]) == (status == 1), "another recording, %s: told where it is left out" % name, said[1])


def wrong_numbers(checks, program):
    for name in ("rank-%d.json", "megatron_kineto_%d.json"):
        for wrong in range(7):
            files = job(8, name)
            files[name % 7]["distributedInfo"]["rank"] = wrong
            said = Folder(program, files).run()
            checks.that(said[0] == 1 and is_whole(said, 8, name), "rank 7 says %d" % wrong, said)
            checks.that(name % 7 in said[1] and name % wrong in said[1] and "says that it is rank %d" % wrong in said[1],
                        "rank 7 says %d: both are named" % wrong, said[1])
    plain = {"%s.json" % chr(97 + r): made for r, made in enumerate(job(4).values())}
    plain["d.json"]["distributedInfo"]["rank"] = 1
    said = Folder(program, plain).run()
    checks.that(said[0] == 1 and said[2] == {0: "a.json", 1: "b.json", 2: "c.json", 3: "d.json"}, "process ids tell the number", said)
    for r, made in enumerate(plain.values()):
        for event in made["traceEvents"]:
            event["pid"] = event["pid"] if event["cat"] == "kernel" else 4100 + r * r * 7
    said = Folder(program, plain).run()
    checks.that(said[0] == 1 and sorted(said[2]) == [0, 1, 2], "nothing tells the number", said)
    checks.that("left out: " in said[1] and "b.json" in said[1] and "d.json" in said[1], "both are named", said[1])
    files = job(8)
    files["rank-1.json"]["distributedInfo"]["rank"] = 99
    said = Folder(program, files).run()
    checks.that(said[0] == 1 and is_whole(said, 8), "rank 99 of 8", said)
    checks.that("says that it is rank 99 of a world of 8; counts as rank 1 by its name" in said[1], "rank 99 of 8: so it is told", said[1])
    two = {**job(4, "a/rank-%d.json"), **job(4, "b/rank-%d.json", begin=DAY_ONE + 60 * S)}
    two["b/rank-3.json"]["distributedInfo"]["rank"] = 0
    said = Folder(program, two).run()
    checks.that(said[0] == 1 and is_whole(said, 4, "b/rank-%d.json"), "in the second of two runs", said)


def names_that_number(checks, program):
    """Traces that do not know their rank, and have several numbers in their names."""
    def ranks(names, **more):
        said = Folder(program, {name: trace(begin=DAY_ONE + i * MS, pid=4100 + i, **more) for i, name in enumerate(names)}).run()
        return said[0], said[2]

    sglang = "1700000000.5-TP-%d-DP-0-PP-%d-EP-%d.trace.json"
    names = [sglang % (i, 0, i) for i in range(12)]
    checks.that(ranks(names) == (0, dict(enumerate(names))), "12 ranks of one axis", ranks(names))
    missing = names[:5] + names[7:]
    checks.that(ranks(missing) == (0, {i: name for i, name in enumerate(names) if name in missing}), "two of them are missing",
                ranks(missing))
    names = [sglang % (i % 4, i // 4, i % 4) for i in range(12)]
    checks.that(ranks(names) == (0, dict(enumerate(names))), "two axes", ranks(names))
    names = ["dp%d_tp_rank%d.json" % (i // 2, i % 2) for i in range(6)]
    checks.that(ranks(names) == (0, dict(enumerate(names))), "two axes, otherwise written", ranks(names))
    names = ["part%d of it.json" % i for i in range(12)]
    checks.that(ranks(names) == (0, dict(enumerate(names))), "a number that says nothing else", ranks(names))
    names = ["TP-1 of 2 by http0.json", "TP-1 of 10 by http0.json"]
    checks.that(ranks(names) == (0, dict(enumerate(names))), "an axis on which all are at one place", ranks(names))
    again = {"part%d of it.json" % i: trace(begin=DAY_ONE + i * 60 * S, first=1 + 4 * i) for i in range(3)}
    said = Folder(program, again).run()
    checks.that(said[0] == 0 and said[2] == {0: "part0 of it.json"}, "recordings of one process are no ranks, but windows", said)


def hosts(checks, program):
    """Which host a rank is on: what the trace says, else its name, else its process id."""
    def found(files):
        folder = Folder(program, files)
        run = Run(program, [folder.path], os.path.join(folder.place.name, "out"))
        return [row["host"] for row in run.rows("rank")]

    steps = "worker%d_step_12.1700000000100.pt.trace.json"
    one = {steps % r: trace(r, 4, DAY_ONE, 4100 + r, gpu=r) for r in range(4)}
    checks.that(found(one) == ["pids 4100-4103"] * 4, "a step in the name is no process id", found(one))
    two = {**one, **{steps % r: trace(r, 4, DAY_ONE, 900 + r, gpu=r % 2) for r in (2, 3)}}
    checks.that(found(two) == ["pids 4100-4101"] * 2 + ["pids 902-903"] * 2, "ids that do not follow upon one another", found(two))
    two = {steps % r: trace(r, 4, DAY_ONE, 4100 + r, gpu=r % 2) for r in range(4)}
    checks.that(found(two) == ["pids 4100-4101"] * 2 + ["pids 4102-4103"] * 2, "a device that comes again", found(two))
    for what, more in (("the same device", {}), ("another time", {"begin": DAY_ONE + S, "gpu": 1}), ("the same id", {"pid": 4100, "gpu": 1})):
        none = {steps % 0: trace(0, 2, DAY_ONE), steps % 1: trace(1, 2, **{"pid": 4101, **more})}
        checks.that(found(none) == ["", ""], "no host: " + what, found(none))
    named = {"node7_%d.1700000000100.pt.trace.json" % (4100 + r): trace(r, 2, pid=4100 + r, gpu=r) for r in range(2)}
    checks.that(found(named) == ["node7"] * 2, "a host in the name", found(named))
    named = {name: {**made, "host_name": "node8"} for name, made in named.items()}
    checks.that(found(named) == ["node8"] * 2, "a host in the trace", found(named))


def copies(checks, program):
    """One trace in several files is read once, whatever they are packed in, and told."""
    whole = job(3)
    for ending in (".gz", ".zst"):
        packed = {name + ending: made for name, made in whole.items()}
        said = Folder(program, packed).run()
        if ending == ".zst" and "a zstd file" in said[1]:
            checks.that(said[0] == 3, "zstd is told where it is not read", said)
            continue
        checks.that(said[0] == 0 and is_whole(said, 3, "rank-%d.json" + ending), "read: " + ending, said)
        said = Folder(program, {**whole, **packed}).run()
        checks.that(said[0] == 0 and is_whole(said, 3), "there twice: " + ending, said)
        checks.that("rank-1.json%s: the same trace as " % ending in said[1], "there twice: it is told", said[1])
    nobody = trace()
    said = Folder(program, {"x.json": nobody, "x.json.gz": nobody, "copy/x of it.json": nobody}).run()
    checks.that(said[0] == 0 and said[2] == {0: "x.json"}, "of no rank", said)
    said = Folder(program, {"rank0.json": nobody, "rank1.json": nobody}).run()
    checks.that(said[0] == 0 and said[2] == {0: "rank0.json", 1: "rank1.json"}, "called two ranks", said)
    other = {**nobody, "traceEvents": nobody["traceEvents"][1:]}
    said = Folder(program, {"x.json": nobody, "x.json.gz": other}).run()
    checks.that("the same trace" not in said[1] and len(said[2]) == 2, "not the same", said)
    for rank, ending in ((None, ".gz"), (0, ".gz"), (0, "")):
        long = trace(rank)
        long["traceEvents"] = [{**e, "ts": 100 * i + e["ts"]} for i in range(500) for e in long["traceEvents"]]
        other = json.loads(json.dumps(long))
        other["traceEvents"][-1]["dur"] += 1
        other["traceName"] = "t" if ending else "another"
        said = Folder(program, {"a/x of it.json" + ending: long, "b/x of it.json" + ending: other}).run()
        checks.that("the same trace" not in said[1], "not the same at the end: %s%s" % (rank, ending), said)


def main():
    checks = Checks()
    for case in (strays, several_jobs, windows, other_names, wrong_numbers, names_that_number, hosts, copies):
        case(checks, os.path.abspath(sys.argv[1]))
    checks.close()


if __name__ == "__main__":
    main()
