#!/usr/bin/env python3
"""peers.py TLMPI - waiting for other ranks against an oracle: table gap_peer, and peer_ns and waiting_ns of the idle tables.

Small random jobs: ranks of one or two devices, whose communication and collectives of hosts have late ranks, whose hosts wait for
devices and streams, and whose streams wait for events.  The oracle goes through them microsecond by microsecond, by the words of
`tlmpi describe`.  Prints what differs and, last, "N passed, N failed, N skipped".
"""

import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile

JOBS = 60
NOISE = 5                       # microseconds; what is shorter is left out
ROUND = 400                     # microseconds in which all ranks meet once on devices, and perhaps once on hosts
NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
counts = {"passed": 0, "failed": 0, "skipped": 0}
seen = {}                       # how often which evidence was met: a test of nothing is none


def check(what, ok, said=""):
    counts["passed" if ok else "failed"] += 1
    if not ok:
        print("FAILED: %s\n    %s" % (what, said))


# ------------------------------------------------------------------------------------------------------------- a job


class Rank:
    """One rank while it is made: entries, and what the oracle wants to know of them."""

    def __init__(self, number, ndevices):
        self.number, self.ndevices = number, ndevices
        self.entries, self.kernels, self.waits, self.ops = [], [], [], []

    def add(self, cat, name, pid, tid, ts, dur, **args):
        self.entries.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args})
        return len(self.entries) - 1

    def work(self, device, stream, start, end, launch, thread, coll=None):
        number = len(self.entries)
        self.add("cuda_runtime", "cudaLaunchKernel", 100, thread, launch, 1, correlation=number + 1)
        args = {"device": device, "stream": stream, "correlation": number + 1}
        if coll is not None:
            args.update({"Collective name": "allreduce", "Process Group Name": "0", "Process Group Ranks": coll[1],
                         "Group size": coll[2], "Seq": coll[0], "In msg nelems": 8, "Out msg nelems": 8, "dtype": "Float"})
        uid = self.add("kernel", NCCL if coll is not None else "gemm", device, stream, start, end - start, **args)
        self.kernels.append({"start": start, "end": end, "device": device, "stream": stream, "uid": uid,
                             "coll": coll[0] if coll is not None else None, "correlation": number + 1})


def hold(r, rank, device, end):
    """Work that was launched early and begins when the communication on the other device has ended."""
    last = max((k for k in rank.kernels if k["device"] == device and k["stream"] == 7), key=lambda k: k["end"], default=None)
    if last is None or last["end"] > end - 10 or r.random() < 0.4:
        return
    launch = next(e["ts"] for e in rank.entries if e["args"].get("correlation") == last["correlation"])
    if last["end"] - launch > 20:
        rank.add("cuda_runtime", "cudaStreamWaitEvent", 100, 1, launch + 3, 1, stream=7, correlation=90000 + len(rank.entries))
        start = end + r.choice((-3, 0, 2))
        rank.work(device, 7, start, start + 9, launch + 5, 1)


def make_job(r):
    nranks = r.choice((2, 2, 3))
    ranks = [Rank(i, r.choice((1, 2, 2))) for i in range(nranks)]
    meetings = []               # name, [(rank, start, end)]
    for seq in range(r.choice((1, 2, 4))):
        base = seq * ROUND
        end = base + r.randrange(240, 330)
        members = json.dumps(list(range(nranks)))
        for rank in ranks:
            start = base + r.choice((20, 20, r.randrange(30, 230)))
            device = r.randrange(rank.ndevices)
            rank.work(device, 20, start, end, start - r.randrange(1, 19), 1, (seq, members, nranks))
            for d in range(rank.ndevices):
                at = base + r.randrange(60)
                for _ in range(r.choice((1, 2, 4))):
                    long = r.randrange(1, 80)
                    if at + long < base + ROUND - 5:
                        rank.work(d, 7, at, at + long, max(0, at - r.choice((2, 5, 30, 120))), r.choice((1, 1, 1, 2)))
                    at += long + r.choice((0, 3, 30, 90, 150))
            if rank.ndevices == 2:
                hold(r, rank, 1 - device, end)
            if r.random() < 0.7:
                name, args = r.choice((("cudaDeviceSynchronize", {}), ("cudaStreamSynchronize", {"stream": 20}),
                                       ("cudaStreamSynchronize", {"stream": 7})))
                at = base + r.randrange(20, 200)
                long = r.choice((end + 1 - at, end - at, r.randrange(1, 250)))
                uid = rank.add("cuda_runtime", name, 100, 1, at, max(1, long), correlation=90000 + len(rank.entries), **args)
                rank.waits.append({"start": at, "end": at + max(1, long), "stream": args.get("stream"), "uid": uid, "tid": 1})
            if r.random() < 0.5:
                rank.add("cuda_runtime", "cudaStreamWaitEvent", 100, 1, base + r.randrange(100), 1, stream=7,
                         correlation=90000 + len(rank.entries))
            for _ in range(r.choice((0, 0, 3))):
                at, long = base + r.randrange(ROUND), r.randrange(1, 60)
                rank.ops.append(("op", at, at + long, rank.add("cpu_op", "aten::mm", 100, r.choice((1, 2)), at, long)))
        if r.random() < 0.7:
            leave = base + r.randrange(150, ROUND)
            name = "gloo:barrier%d" % seq if r.random() < 0.5 else "gloo:barrier"
            for rank in ranks:
                start = base + r.randrange(140)
                end = leave if r.random() < 0.9 else start + 3         # now and then somebody leaves too early
                uid = rank.add("user_annotation", name, 100, r.choice((1, 50)), start, end - start)
                rank.ops.append(("meet", start, end, uid))
                meetings.append((name, rank.number, start, end, uid))
    return ranks, meetings


def write_job(ranks, folder):
    for old in os.listdir(folder):
        os.remove(os.path.join(folder, old))
    for rank in ranks:
        with open(os.path.join(folder, "rank-%d.json" % rank.number), "w", encoding="utf-8") as f:
            json.dump({"distributedInfo": {"backend": "nccl", "rank": rank.number, "world_size": len(ranks)},
                       "baseTimeNanoseconds": 0, "traceEvents": rank.entries}, f)


# ------------------------------------------------------------------------------------------------------------ the oracle


class Oracle:
    def __init__(self, ranks, meetings):
        self.ranks = ranks
        self.waits = {}         # (rank, uid) -> how long from its start, late rank
        by_seq, by_name, nth = {}, {}, {}
        for rank in ranks:
            for k in rank.kernels:
                if k["coll"] is not None:
                    by_seq.setdefault(k["coll"], []).append((k["start"], -rank.number, k["end"], k["uid"]))
        for name, number, start, end, uid in sorted(meetings, key=lambda m: m[2]):
            nth[name, number] = nth.get((name, number), -1) + 1
            by_name.setdefault((name, nth[name, number]), []).append((start, -number, end, uid))
        for both in list(by_seq.values()) + [v for v in by_name.values()
                                             if len(v) > 1 and max(v)[0] <= min(m[2] for m in v)]:
            last = max(both)    # of equals the lowest rank
            for start, minus, _, uid in both:
                self.waits[-minus, uid] = (last[0] - start, -last[1])

    @staticmethod
    def alone(kernels, at):
        """The communication that counts at an instant at which there is no compute, or None."""
        running = [k for k in kernels if k["start"] <= at < k["end"]]
        if any(k["coll"] is None for k in running):
            return None
        return min(running, key=lambda k: (-k["end"], k["start"], k["uid"]), default=None)

    @staticmethod
    def long_enough(out, at):
        first = last = at
        while out.get(first - 1) == out[at]:
            first -= 1
        while out.get(last + 1) == out[at]:
            last += 1
        return last + 1 - first >= NOISE

    def candidates(self, rank, gap, tid, label):
        """at -> (evidence, awaited uid, its start, and what else parts rows)"""
        out = {}
        instants = range(gap[1], gap[2])
        if rank.ndevices > 1 and label == "DEPENDENCY_WAIT":
            for at in instants:
                k = self.alone(rank.kernels, at)
                if k is not None and k["end"] <= gap[2] and k["device"] != gap[0]:
                    out[at] = ("dependency", k["uid"], k["start"], None)
            return out
        for at in instants if rank.ndevices > 1 else ():
            held = [w for w in rank.waits if w["tid"] == tid and w["start"] <= at < w["end"]]
            wait = min(held, key=lambda w: (w["start"], w["uid"]), default=None)
            if wait is None:
                continue
            k = self.alone([k for k in rank.kernels if wait["stream"] in (None, k["stream"])], at)
            if k is not None and k["end"] <= wait["end"] + 2 and k["device"] != gap[0]:
                out[at] = ("host_sync", k["uid"], k["start"], wait["uid"])
        out = {at: what for at, what in out.items() if self.long_enough(out, at)}
        if out:
            return out
        # What the thread does; where it does nothing it waits for a collective of hosts, if it goes on when that is over.
        busy = [(e["ts"], e["ts"] + e["dur"]) for e in rank.entries
                if e["tid"] == tid and e["pid"] == 100 and e["cat"] in ("cpu_op", "cuda_runtime")]
        meets = [o for o in rank.ops if o[0] == "meet"]
        for at in instants:
            goes_on = min((b[0] for b in busy if b[0] > at), default=None)
            if goes_on is None or any(b[0] <= at < b[1] for b in busy) or all(b[0] > at for b in busy):
                continue
            meet = max((m for m in meets if m[1] <= at < m[2] <= min(goes_on, gap[2])), key=lambda m: m[2], default=None)
            if meet is not None:
                out[at] = ("host_collective", meet[3], meet[1], None)
        return out

    def rows(self, gaps):
        """Of the table gap_peer."""
        out = set()
        for gap in gaps:
            rank = self.ranks[int(gap["rank"])]
            start, end = int(gap["start_ns"]) // 1000, int(gap["end_ns"]) // 1000
            tid = rank.entries[int(gap["launch_uid"])]["tid"]
            found = self.candidates(rank, (int(gap["device"]), start, end), tid, gap["cpu_during_gap"])
            at = start
            while at < end:
                to, what = at + 1, found.get(at)
                while to < end and found.get(to) == what:
                    to += 1
                if what is not None and to - at >= NOISE:
                    wait, late = self.waits.get((rank.number, what[1]), (None, -1))
                    until = to if wait is None and what[0] == "host_collective" else min(to, what[2] + (wait or 0))
                    if until > at:
                        out.add((rank.number, int(gap["device"]), start, at, until - at, late, what[0]))
                        seen[what[0], wait is not None] = seen.get((what[0], wait is not None), 0) + 1
                at = to
        return out

    def waiting(self, rank, device):
        """late rank -> microseconds in which the device did nothing but wait in communication"""
        out = {}
        mine = [k for k in rank.kernels if k["device"] == device]
        for at in range(max((k["end"] for k in mine), default=0)):
            k = self.alone(mine, at)
            wait, late = self.waits.get((rank.number, k["uid"]), (0, -1)) if k is not None else (0, -1)
            if k is not None and at < k["start"] + wait:
                out[late] = out.get(late, 0) + 1
        return out


# ----------------------------------------------------------------------------------------------------------- comparing


def table(tlmpi, path, name):
    text = subprocess.run([tlmpi, "show", path, name, "--format", "csv"], stdout=subprocess.PIPE, check=True,
                          encoding="utf-8").stdout
    return list(csv.DictReader(io.StringIO(text)))


def compare(what, tlmpi, path, oracle):
    expected = oracle.rows(table(tlmpi, path, "gap"))
    found = {(int(x["rank"]), int(x["device"]), int(x["start_ns"]) // 1000, int(x["from_ns"]) // 1000,
              int(x["peer_ns"]) // 1000, int(x["late_rank"]), x["evidence"]) for x in table(tlmpi, path, "gap_peer")}
    check(what + ": gap_peer", found == expected, "only found %s\n    only expected %s" % (sorted(found - expected)[:3],
                                                                                    sorted(expected - found)[:3]))
    differ = []
    sums = table(tlmpi, path, "idle_summary")
    idle = {int(x["rank"]): int(x["peer_ns"]) for x in sums if (x["device"], x["step"], x["drain_type"], x["dominant_op"]) == ("-1", "-1", "ALL", "ALL")}
    waits = {(int(x["rank"]), int(x["device"])): int(x["comm_waiting_ns"]) for x in table(tlmpi, path, "breakdown") if x["step"] == "-1"}
    for rank in oracle.ranks:
        peers = sum(x[4] for x in expected if x[0] == rank.number)
        total = 0
        for device in range(rank.ndevices):
            waiting = oracle.waiting(rank, device)
            total += sum(waiting.values())
            got = waits.get((rank.number, device))
            if got is not None and got != 1000 * sum(waiting.values()):
                differ.append("rank %d device %d waits %d ns, expected %d us" % (rank.number, device, got, sum(waiting.values())))
        got = (idle[rank.number], waits[rank.number, -1])
        if got != (1000 * peers, 1000 * total):
            differ.append("rank %d: %s, expected %s" % (rank.number, got, (1000 * peers, 1000 * total)))
    rows = [x for x in sums if x["device"] == "-1" and x["place"] != "0"]
    for of_job in (False, True):
        total = sum(int(x["peer_ns"]) for x in rows if (x["rank"] == "-1") == of_job)
        if total != 1000 * sum(x[4] for x in expected):
            differ.append("idle_summary of %s sums up to %d" % ("all ranks" if of_job else "ranks", total))
    check(what + ": sums", not differ, "; ".join(differ[:4]))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tlmpi = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        job, out = os.path.join(folder, "job"), os.path.join(folder, "out")
        os.mkdir(job)
        for seed in range(JOBS):
            ranks, meetings = make_job(random.Random(seed))
            write_job(ranks, job)
            done = subprocess.run([tlmpi, "run", "-q", "-f", "-o", out, job], stderr=subprocess.PIPE, check=False)
            if done.returncode not in (0, 1):
                check("job %d runs" % seed, False, done.stderr.decode(errors="replace")[-300:])
                continue
            compare("job %d" % seed, tlmpi, out + ".h5", Oracle(ranks, meetings))
    for evidence in (("dependency", True), ("host_sync", True), ("host_collective", True), ("host_collective", False)):
        check("%s was met, %s" % evidence, seen.get(evidence, 0) >= 3, str(seen))
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return counts["failed"] != 0


if __name__ == "__main__":
    sys.exit(main())
