#!/usr/bin/python3
"""agree.py TLMPI MAKE_TRACE [FIRST_SEED JOBS] - what is told twice is told alike: the tables of a result against each other, and
the answers of tlmpi ask against the tables, on simulated jobs drawn at random.

Prints what fails and, last, "N passed, N failed, N skipped".
"""
import collections
import csv
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

TLMPI, MAKE_TRACE = (os.path.abspath(p) for p in sys.argv[1:3])
counts = collections.Counter()
CAUSES = ("compute_slow", "throttled", "more_work", "host_late", "input", "h2d", "gc", "sync_drain", "allocator", "slow_link")


class Job:
    def __init__(self, path):
        self.path = path
        for name in ("rank", "step", "blame", "health", "blame_step", "straggler", "whatif", "critical_path", "path_sum", "interval", "collective", "quality", "link"):
            setattr(self, name, self.table(name))
        self.pieces = self.table("path")
        self.answers = json.loads(subprocess.run([TLMPI, "ask", path, "--json"], capture_output=True, text=True).stdout)
        self.asked = " ".join(subprocess.run([TLMPI, "ask", path], capture_output=True, text=True).stdout.split())

    def table(self, name):
        text = subprocess.run([TLMPI, "show", self.path, name, "--format", "csv"], capture_output=True, text=True).stdout
        return list(csv.DictReader(io.StringIO(text)))

    def link_gains(self):
        return [int(r["gain_ns"]) for r in self.link]

    def what_if(self, scenario, rank=-1):
        return next((r for r in self.whatif if r["scenario"] == scenario and int(r["rank"]) == rank), None)


class Checks:
    def __init__(self, name):
        self.name = name

    def that(self, what, holds, more=""):
        counts["passed" if holds else "failed"] += 1
        if not holds:
            print(f"FAILED: {self.name}: {what} {more}", flush=True)

    def same(self, what, one, other, least=0):
        self.that(what, abs(one - other) <= least, f"{one} and {other}")


def charge(row):
    return int(row["direct_ns"]) + int(row["indirect_ns"])


def sums(rows, key, value):
    of = collections.Counter()
    for row in rows:
        of[key(row)] += value(row)
    return of


def left_out(job):
    """The steps that not all ranks have whole."""
    return {r["step"] for r in job.health if r["rank"] == "-1" and r["done"] == "left_out"}


def judged(job):
    """The charges, but of steps that are left out."""
    left = left_out(job)
    return [r for r in job.blame if r["step"] not in left]


# --- tables ---------------------------------------------------------------------------------------------------------------

def blame(c, job):
    by_rank = sums(job.blame, lambda r: int(r["to_rank"]), charge)
    by_step = sums(job.blame, lambda r: (int(r["to_rank"]), int(r["step"])), charge)
    told = {(int(r["rank"]), int(r["step"])): int(r["blame_ns"]) for r in job.blame_step}
    whole = sums(judged(job), lambda r: int(r["to_rank"]), charge)
    for row in job.straggler:
        c.same(f"blame_ns of rank {row['rank']}", int(row["blame_ns"]), whole[int(row["rank"])])
    for key, ns in told.items():
        if key[1] >= 0:
            c.same(f"blame_ns of rank, step {key}", ns, by_step[key])
    last = sums((r for r in job.collective if r["wait_state"] == "late_rank"), lambda r: int(r["late_rank"]), lambda r: 1)
    waits = sum(int(r["wait_sum_ns"]) for r in job.collective if r["wait_state"] == "late_rank")
    c.same("all waits and all charges", waits, sum(by_rank.values()))
    for row in job.straggler:
        c.same(f"late_count of rank {row['rank']}", int(row["late_count"]), last[int(row["rank"])])


def replay(c, job):
    unchanged, ideal = job.what_if("unchanged"), job.what_if("ideal")
    if ideal is None:
        c.that("without a replay no gain is told", all(int(r["gain_ns"]) == -1 for r in job.straggler))
        return
    for row in job.whatif:
        c.same(f"time of {row['scenario']} {row['rank']}", int(row["time_ns"]), int(unchanged["time_ns"]) - int(row["gain_ns"]))
    for row in job.straggler:
        of, together = job.what_if("rank", int(row["rank"])), [int(r["gain_ns"]) for r in job.whatif if r["scenario"] == "host"]
        c.that(f"gain of rank {row['rank']}", int(row["gain_ns"]) == (int(of["gain_ns"]) if of is not None else -1) or
               (row["verdict"] == "straggler" and int(row["gain_ns"]) in together) or
               (row["cause"] == "slow_link" and int(row["gain_ns"]) in job.link_gains()), row["gain_ns"])
    on_path = sums((r for r in job.critical_path if int(r["rank"]) >= 0), lambda r: r["activity"], lambda r: int(r["path_ns"]))
    for row in job.critical_path:
        if int(row["rank"]) == -1 and row["activity"] != "before":
            c.same(f"{row['activity']} on the path", int(row["path_ns"]), on_path[row["activity"]])
    c.same("the path is as long as the job", sum(int(r["path_ns"]) for r in job.critical_path if int(r["rank"]) == -1),
           int(unchanged["time_ns"]))


PARTS = ("cpu", "launch", "kernel_kernel", "compute", "comm", "copy", "input", "sync", "peer", "unexplained")
WHAT = dict(zip(("cpu_bound", "launch_overhead", "kernel_kernel_overhead", "compute", "communication", "copy", "data_loading",
                 "synchronisation", "waiting_for_ranks", "unexplained"), PARTS))


def rank_paths(c, job):
    """The path of each rank: its parts, its steps, its pieces, and their sums."""
    windows = {(r["rank"], r["step"]): int(r["end_ns"]) - int(r["start_ns"]) for r in job.step}
    pieces, last, work = collections.Counter(), {}, collections.defaultdict(list)
    for r in job.interval:
        work[r["rank"], r["device"], r["stream"], r["name"]].append(r)
    of_job = [r for r in job.pieces if r["rank"] == "-1"]
    whole = sum(int(r["path_ns"]) for r in job.critical_path if r["rank"] == "-1")
    c.same("the pieces of the job's path", sum(int(r["duration_ns"]) for r in of_job), whole, len(of_job) + whole // 10**4)
    for a, b in zip(of_job, of_job[1:]):
        c.that(f"piece {b['number']} of the job's path", a["peer"] != b["peer"] or a["end_ns"] == b["start_ns"])
    for r in job.pieces[len(of_job):]:
        pieces[r["rank"], "-1", WHAT[r["what"]]] += int(r["duration_ns"])
        if r["step"] != "-1":
            pieces[r["rank"], r["step"], WHAT[r["what"]]] += int(r["duration_ns"])
        number, end = last.get(r["rank"], (-1, r["start_ns"]))
        c.that(f"piece {r['number']} of rank {r['rank']} goes on where the one before ended",
               int(r["number"]) == number + 1 and r["start_ns"] == end and int(r["duration_ns"]) > 0 and
               (r["peer"] == "-1" or r["what"] == "waiting_for_ranks"))
        last[r["rank"]] = int(r["number"]), r["end_ns"]
        if r["what"] in ("compute", "copy", "communication", "waiting_for_ranks"): # clocks that drift are told to a ns
            of = [w for w in work[r["rank"], r["device"], r["stream"], r["name"]]
                  if int(w["start_ns"]) <= int(r["start_ns"]) + 1 and int(r["end_ns"]) <= int(w["end_ns"]) + 1]
            c.that(f"piece {r['number']} of rank {r['rank']} is in its work", len(of) > 0 and of[0]["operator"] == r["operator"])
    for r in job.path_sum:
        name = f"path of rank {r['rank']}, step {r['step']}"
        c.same(name, sum(int(r[p + "_ns"]) for p in PARTS), int(r["wall_ns"]))
        c.same(f"{name}: bound by", int(r[WHAT[r["bound_by"]] + "_ns"]), max(int(r[p + "_ns"]) for p in PARTS))
        c.that(f"{name}: nothing is below 0, and who is waited for is another", all(int(r[p + "_ns"]) >= 0 for p in PARTS) and
               (r["peer"] != r["rank"] or r["peer"] == "-1") and (r["peer"] == "-1" or int(r["peer_ns"]) > 0))
        c.same(f"{name} and its window", int(r["wall_ns"]), windows.get((r["rank"], r["step"]), int(r["wall_ns"])))
        if r["rank"] != "-1":
            for p in PARTS:
                c.same(f"{name}: pieces of {p}", int(r[p + "_ns"]), pieces[r["rank"], r["step"], p])
    whole = sums((r for r in job.path_sum if r["step"] == "-1" and r["rank"] != "-1"), lambda r: 0, lambda r: int(r["wall_ns"]))
    c.same("all ranks' paths together", sum(int(r["wall_ns"]) for r in job.path_sum if r["rank"] == "-1"), whole[0])


def steps(c, job):
    """How many steps a rank stands out in, as each place says it."""
    nsteps = len({r["step"] for r in job.blame_step})
    for row in job.straggler:
        own = [r for r in job.blame_step if r["rank"] == row["rank"]]
        flagged = [int(r["step"]) for r in own if r["flagged"] == "1"]
        first, last, n = int(row["first_step"]), int(row["last_step"]), round(float(row["share_steps"]) * nsteps)
        name = f"rank {row['rank']} ({row['verdict']}, {row['pattern']} {first}-{last}, flagged {flagged})"
        c.that(f"{name}: a pattern has steps", (row["pattern"] == "none") == (first < 0), row["reason"])
        if row["pattern"] == "one_off":
            c.that(f"{name}: one step", first == last, row["reason"])
        said = re.match(r"it is late in (\d+) of (\d+) steps", row["reason"])
        if said and row["verdict"] == "straggler":
            inside = [s for s in flagged if first <= s <= last]
            c.same(f"{name}: all steps in {row['reason']!r}", int(said.group(2)), nsteps - len(left_out(job)))
            c.same(f"{name}: steps in {row['reason']!r}", int(said.group(1)), len(inside))
            others = re.search(r"\((\d+) more flagged\)", row["reason"])
            c.that(f"{name}: steps outside of the pattern are told in {row['reason']!r}",
                   len(inside) == len(flagged) or (others and int(others.group(1)) == len(flagged) - len(inside)))
        c.that(f"{name}: share_steps", n == len(flagged) or row["verdict"] == "straggler" or
               row["reason"].startswith("late elsewhere"), n) # judged with its host


def lengths(c, job):
    """Steps are as long as the job, and the same for all ranks; none costs more than it is long by the replay."""
    of = {}
    for row in job.blame_step:
        c.same(f"step_ns of step {row['step']}", int(row["step_ns"]), of.setdefault(row["step"], int(row["step_ns"])))
        c.that(f"rank {row['rank']} gains no more than step {row['step']} is long", int(row["gain_ns"]) <= int(row["step_ns"]) * 1.02,
               f"{row['gain_ns']} of {row['step_ns']}")
    wall = job.answers["trust"]["wall_ns"]
    if "--cut-head-us" in c.name: # the first step may have lost its mark
        return
    c.that("steps are as long as the job", 0.7 * wall <= sum(of.values()) <= 1.1 * wall, f"{sum(of.values())} of {wall}")


# --- answers --------------------------------------------------------------------------------------------------------------

def rank_answers(c, job, culprit):
    rows = {int(r["rank"]): r for r in job.straggler}
    row, which = rows[culprit["rank"]], job.answers["which_rank"]["evidence"]
    c.same("gain_ns", culprit["gain_ns"] if culprit["gain_ns"] is not None else -1, int(row["gain_ns"]))
    c.same("blame_ns", culprit["blame_ns"], int(row["blame_ns"]))
    c.same("collectives_last", which["collectives_last"], int(row["late_count"]))
    for key in ("pattern", "cause"):
        c.that(key, culprit[key] == row[key], f"{culprit[key]} and {row[key]}")
    for key in ("first_step", "last_step"):
        c.same(key, culprit[key], int(row[key]))
    flagged = [r for r in job.blame_step if int(r["rank"]) == culprit["rank"] and r["flagged"] == "1" and
               culprit["first_step"] <= int(r["step"]) <= culprit["last_step"]]
    c.same("steps flagged", culprit["steps_flagged"], len(flagged))
    c.same("excess_ns", culprit["excess_ns"], sum(max(0, int(r["excess_ns"])) for r in flagged))
    if which["step_ns"]:
        c.that("a step costs no more than it is long", which["step_cost_ns"] <= which["step_ns"],
               f"{which['step_cost_ns']} of {which['step_ns']}")
    gained, doubts = sum(int(r["gain_ns"]) for r in flagged), job.answers["persistent"]["doubts"]
    if which["step_ns"] and culprit["gain_ns"] is not None:
        cost = which["step_cost_ns"] * len(flagged)
        elsewhere = sum(int(r["gain_ns"]) for r in job.blame_step if int(r["rank"]) == culprit["rank"] and r not in flagged)
        c.that("its steps cost what it gains, or what it gains in them", any(
               abs(cost - ns) <= 0.05 * max(cost, ns) for ns in (culprit["gain_ns"], gained, culprit["gain_ns"] - elsewhere)),
               f"{len(flagged)} * {which['step_cost_ns']} and {culprit['gain_ns']}")
        c.that("most of its gain is of flagged steps, or it says so", gained == 0 or gained >= culprit["gain_ns"] // 2 or
               "gain_in_other_steps" in doubts, f"{gained} and {culprit['gain_ns']}, flagged {[r['step'] for r in flagged]}")
    waited = sum(int(r["blame_ns"]) for r in flagged)
    # In a pipeline the schedule makes some wait in any step; for the end of the last one nobody waits.
    ends = max(int(r["step"]) for r in job.blame_step) in {int(r["step"]) for r in flagged}
    c.that("most that waited for it did in its steps, or it says so", waited >= 0.4 * int(row["blame_ns"]) or ends or "--pp 2" in c.name or
           {"gain_in_other_steps", "gain_unlike_wait"} & {*doubts, *job.answers["which_rank"]["doubts"]},
           f"{waited} of {row['blame_ns']}")
    beside = sum(r["flagged"] == "1" for r in job.blame_step if int(r["rank"]) == culprit["rank"]) - len(flagged)
    c.same("steps beside", job.answers["persistent"]["evidence"]["steps_not_counted"], beside)
    said = re.search(r"Evidence: (\d+) of (\d+) (?:whole )?steps flagged;(?: (\d+) more not counted)?", job.asked)
    c.that("steps beside in words", said and int(said.group(3) or 0) == beside, said and said.group(0))
    c.that("steps flagged in words", said and int(said.group(1)) == culprit["steps_flagged"], said and said.group(0))


def duration(text):
    value, unit = text.split()
    return float(value) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]


def close(c, what, said, ns):
    """Three digits of a duration."""
    c.that(f"{what} in words", said and abs(duration(said) - ns) <= 0.006 * abs(ns) + 1, f"{said} and {ns}")


def said_of(pattern, text):
    found = re.search(pattern, text)
    return found.group(1) if found else None


UNIT = r"([0-9.]+ (?:ns|us|ms|s))"


def words(c, job):
    a = job.answers
    worst, which, others = a["culprits"][0], a["which_rank"]["evidence"], a["others_waiting"]["evidence"]
    if worst["gain_ns"] is not None and worst["gain_ns"] > 0:
        close(c, "gain", said_of(f"{UNIT} less of", job.asked), worst["gain_ns"])
        c.that("share of the gain in words", re.search(rf"less of {UNIT} \({100 * worst['gain_share']:.1f} %\)", job.asked), worst["gain_share"])
    if which.get("step_cost_ns"):
        close(c, "cost of a step", said_of(rf"costs? {UNIT} \([0-9.]+ %\) of", job.asked), which["step_cost_ns"])
        close(c, "length of a step", said_of(f"of (?:each of these steps|that step) of {UNIT}", job.asked), which["step_ns"])
    close(c, "waits", said_of(f"Yes: .*? {UNIT} of GPU time", job.asked), others["blame_ns"] - others["indirect_ns"])
    c.that("path in words", worst["path_share"] is None or f"{100 * worst['path_share']:.1f}".replace("100.0", "100") + " % of the critical path" in job.asked,
           worst["path_share"])
    c.that("others waiting in words", re.search(rf"Yes: {others['ranks_waiting']} ranks? (?:\([^)]*\) )?waits? for", job.asked),
           others["ranks_waiting"])
    c.same("ranks that wait", others["ranks_waiting"], len(others["ranks"]))
    members = set(worst["ranks"])
    waiting = {int(r["from_rank"]) for r in job.blame if int(r["to_rank"]) in members and int(r["from_rank"]) not in members}
    c.that("ranks that wait are charged", set(others["ranks"]) <= waiting, f"{others['ranks']} of {waiting}")
    c.same("share of the gain", worst["gain_share"] or 0, (worst["gain_ns"] or 0) / a["trust"]["wall_ns"], 1e-9)
    if worst["kind"] == "ranks":
        together = [int(r["gain_ns"]) for r in job.whatif if r["scenario"] in ("suspects", "host")]
        c.that("gain of several", worst["gain_ns"] in together, f"{worst['gain_ns']} and {together}")
        c.that("several that gain more together than alone", 2 * max(int(r["gain_ns"]) for r in job.straggler if
               int(r["rank"]) in members) <= worst["gain_ns"] + 1 or worst["gain_ns"] in together)
    c.same("steps", a["trust"]["steps"], len({r["step"] for r in job.blame_step if int(r["step"]) >= 0}))


def thresholds(c, job):
    a = job.answers
    worst = next((x for x in a["culprits"] if x["kind"] != "link"), None)
    if worst is None or not worst["gain_ns"]:
        return
    together = a["which_rank"]["evidence"].get("together_gain_ns") or 0
    percent = 100 * max(worst["gain_ns"], together) / a["trust"]["wall_ns"]
    for factor, passed in ((0.9, 5), (1.1, 0)):
        done = subprocess.run([TLMPI, "ask", job.path, "--fail-on", f"straggler>{factor * percent:.4f}%"], capture_output=True)
        c.same(f"--fail-on at {factor} of {percent:.2f} %", done.returncode, passed)


def answers(c, job):
    a = job.answers
    named = sorted(int(r["rank"]) for r in job.straggler if r["verdict"] == "straggler")
    c.same("all waiting", a["others_waiting"]["evidence"]["all_waiting_ns"], sum(charge(r) for r in judged(job)))
    c.same("judged", a["which_rank"]["evidence"].get("collectives_judged", 0) or sum(int(r["late_count"]) for r in job.straggler),
           sum(int(r["late_count"]) for r in job.straggler))
    told = sorted(r for x in a["culprits"] for r in x["ranks"])
    if all(x["kind"] != "link" for x in a["culprits"]):
        c.that("culprits are the stragglers", told == named, f"{told} and {named}")
    for x in a["culprits"]:
        path = sum(int(r["path_ns"]) for r in job.critical_path if int(r["rank"]) in x["ranks"])
        if x["path_share"] is not None:
            c.same("path_share", x["path_share"], path / a["critical_path"]["ns"], 1e-6)
    if a["culprits"] and a["culprits"][0]["kind"] == "rank":
        rank_answers(c, job, a["culprits"][0])
    if a["culprits"] and a["culprits"][0]["kind"] != "link":
        words(c, job)
        thresholds(c, job)
    for name in ("which_rank", "which_phase", "others_waiting", "persistent"):
        n = len(a[name]["doubts"])
        c.that(f"{name}: confidence", (a[name]["confidence"] == "high") == (n == 0), a[name]["doubts"])
    if a["verdict"] == "straggler" and a["trust"]["simulated"]:
        gain = a["which_rank"]["evidence"]["gain_ns"]
        c.that("who is named gains something", gain is None or gain > 0, gain)


# --- jobs -----------------------------------------------------------------------------------------------------------------

def options(seed):
    r = random.Random(seed)
    tp, ep, pp = r.choice(((1, 1, 1), (1, 1, 1), (2, 1, 1), (4, 1, 1), (1, 2, 1), (1, 4, 1), (1, 1, 2), (2, 1, 2)))
    ranks = tp * ep * pp * r.choice((1, 2, 4)) if tp * ep * pp > 1 else r.choice((2, 3, 4, 8))
    nsteps = r.choice((2, 3, 5, 6, 8, 12))
    out = ["--ranks", ranks, "--tp", tp, "--ep", ep, "--pp", pp, "--gpus", r.choice((1, 2, 4, 8)), "--steps", nsteps,
           "--seed", r.randrange(10 ** 6), "--layers", r.choice((2, 2, 3))]
    out += ["--shard"] if tp == ep == pp == 1 and r.random() < 0.3 else []
    out += ["--no-seq"] if r.random() < 0.3 else []
    out += ["--flavour", "rocm"] if r.random() < 0.3 else []
    out += ["--clock-offset-us", r.choice((20, 50, 500))] if r.random() < 0.4 else []
    out += ["--device-clock-us", 30] if r.random() < 0.15 else []
    out += ["--age", r.choice((2022, 2024))] if r.random() < 0.2 else []
    out += ["--tp-stream", "compute"] if r.random() < 0.2 else []
    out += ["--p2p", "batch"] if r.random() < 0.2 else []
    out += ["--sync", 0] if r.random() < 0.15 else []
    out += ["--cut-head-us", 1000] if r.random() < 0.1 else []
    if ranks > 1 and r.random() < 0.85:
        first = r.randint(1, nsteps)
        out += ["--fault", r.choice(CAUSES), "--fault-rank", r.randrange(ranks)]
        out += r.choice((["--fault-cost", r.choice((0.05, 0.1, 0.3))], ["--fault-us", r.choice((100, 1000, 20000))]))
        if r.random() < 0.6:
            out += ["--fault-pattern", r.choice(("bounded", "sporadic", "one_off", "drifting")), "--fault-steps",
                    f"{first}-{r.randint(first, nsteps)}"]
    return [str(x) for x in out]


def one(work, seed):
    folder, out, of = os.path.join(work, f"job-{seed}"), os.path.join(work, f"out-{seed}"), options(seed)
    c = Checks(f"job {seed} ({' '.join(of)})")
    if subprocess.run([MAKE_TRACE, "-o", folder, *of], capture_output=True).returncode == 0:
        done = subprocess.run([TLMPI, "-q", "-f", "--path", "-o", out, folder], capture_output=True, text=True)
        c.same("the run works", done.returncode, 0)
        job = Job(out + ".h5")
        for check in (blame, replay, rank_paths, steps, lengths, answers):
            check(c, job)
        os.unlink(out + ".h5")
    shutil.rmtree(folder, ignore_errors=True)


def binds(work):
    """Jobs that one resource binds show it first."""
    for what, of in (("cpu_bound", "--ranks 1 --scale 5 --layers 8"), ("compute", "--ranks 4 --scale 800 --layers 4"),
                     ("communication", "--ranks 4 --layers 4 --scale 300 --fault slow_link --fault-rank 1 --fault-share 3"),
                     ("data_loading", "--ranks 1 --scale 300 --fault input --fault-rank 0 --fault-share 2"),
                     ("copy", "--ranks 1 --scale 200 --fault h2d --fault-rank 0 --fault-share 2"),
                     ("waiting_for_ranks", "--ranks 4 --scale 300 --fault compute_slow --fault-rank 2 --fault-share 2")):
        for more in ("", " --no-sync-events", " --flavour rocm"):
            folder = os.path.join(work, "bound")
            subprocess.run([MAKE_TRACE, "-o", folder, *(of + more).split()], capture_output=True)
            subprocess.run([TLMPI, "-q", "-f", "-o", folder, folder], capture_output=True)
            rows = [r for r in Job(folder + ".h5").path_sum if r["step"] == "-1"]
            Checks(of + more).that(f"is bound by {what}", rows and rows[0]["bound_by"] == what, rows and rows[0])
            if what == "waiting_for_ranks":
                Checks(of + more).that("they wait for rank 2", [r["peer"] for r in rows] == ["-1", "2", "2", "-1", "2"], rows)
            shutil.rmtree(folder)


def main():
    first, n = (int(x) for x in sys.argv[3:5]) if len(sys.argv) > 4 else (1, 40)
    with tempfile.TemporaryDirectory() as work:
        for seed in range(first, first + n):
            one(work, seed)
        binds(work)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


sys.exit(main())
