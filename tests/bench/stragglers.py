#!/usr/bin/env python3
"""stragglers.py BUILD_DIR - who holds the job up, and why: what tlmpi says of simulated jobs, against what is true of them.

    python3 tests/bench/stragglers.py build                     the whole grid, some 600 jobs: about five minutes
    python3 tests/bench/stragglers.py build --only gc --limit 20
    python3 tests/bench/stragglers.py build --keep DIR --list   what there is, and the traces to look at

The jobs are made by BUILD_DIR/make_trace: all kinds of parallelism, all causes, costs of 2, 5, 10 and 30 % of a step,
all patterns, both vendors, old and new metadata, healthy ones among them.  Each is read by tlmpi; the table `straggler` of
its result is compared with truth.json (data/truth.md).  Exit status 0: all goals are met; 1: some are not; 2: there is
nothing to judge.

What is counted, over jobs with a fault whose rank has a trace:

    recall          the first of the ranks called straggler (by gain_ns, then blame_ns) is one of those that have the fault
    precision       of all ranks called straggler, those that have the fault; named on healthy jobs are wrong, too
    cause           of the jobs whose rank is named right, those whose cause is, too
    window          ... those whose first_step and last_step are both within one step of the first and the last in which
                    the rank is late: those that were planned; of a delay that grows from nothing, those in which it cost
                    the job 1 % of the step
    gain            ... those whose gain_ns is within 10 % of the simulated one; faults of one rank.  Of steps in which a
                    recording begins or ends, the one before the first among them, nobody can know all: with them or
                    without is right
    false alarms    of the healthy jobs, those in which any rank is called straggler

Jobs are counted by what the fault costs of each step it acts in, as it was simulated, not by what was planted.

Some links are slow in a way that no trace can tell of, as what is true of the job says (never by what tlmpi answers): those
that are slow in all steps, so that there is no other time to compare with, and

    no group           does the same over wires of the same sort without them; of two ranks, both are done at once
    the ring           of three and more ranks lets these go less than 50 us apart: so do healthy rings, for where their
                       ranks stand, and in which order is not known

They are in all tables; of the goals, those of recall leave them out, and the line above them counts them.
"""

import argparse
import concurrent.futures
import json
import os
import random
import shutil
import sys
import tempfile

from scores import BINS, NoTable, Verdict, alarms, answer, bin_of, measures, percent, run

CAUSES = ("compute_slow", "throttled", "more_work", "host_late", "input", "h2d", "gc", "sync_drain", "allocator", "slow_link")
COSTS = (0.02, 0.05, 0.10, 0.30)
PATTERNS = ("bounded", "sporadic", "one_off", "drifting")

# Kinds of jobs: name, options of make_trace, ranks, layers that keep a trace small.
KINDS = (
    ("dp8", (), 8, 2),
    ("dp16", (), 16, 2),
    ("dp8-small-kernels", ("--scale", "12"), 8, 8),     # the host is hardly ahead of the device
    ("fsdp8", ("--shard",), 8, 3),
    ("tp4", ("--tp", "4"), 8, 2),
    ("pp4", ("--pp", "4"), 8, 1),
    ("ep4", ("--ep", "4"), 8, 2),
    ("tp2-pp2-dp4", ("--tp", "2", "--pp", "2", "--microbatches", "3"), 16, 1),
    ("tp2-ep4", ("--tp", "2", "--ep", "4", "--tp-stream", "compute"), 8, 1),
)

# Goals: what, at least (or at most, for alarms).  By cost: 5 % and more, 2 %.
GOALS = {"recall": (0.99, 0.90), "cause": 0.95, "window": 0.95, "gain": 0.95, "alarms": 0.01}


# ------------------------------------------------------------------------------------------------------------ jobs


class Job:
    """A job of the grid: its name, and the options that make it."""

    def __init__(self, name, options):
        self.name, self.options = name, options


def surroundings(rng, kind, cause=None):
    """Everything that is no matter of the fault: vendor, age of the software, clocks, windows, noise."""
    name, options, ranks, layers = kind
    age = rng.choices(("2026", "2024", "2022"), (6, 3, 1))[0]
    out = ["--ranks", str(ranks), "--layers", str(layers), "--seed", str(rng.randrange(1, 10**9)), "--age", age,
           "--flavour", rng.choice(("nvidia", "rocm")), "--steps", str(rng.choice((8, 10, 12))),
           "--first-step", str(rng.choice((1, 5, 100))), "--op-share", "0.15",
           "--scale", str(rng.choice((100, 200, 400, 800))), "--jitter", str(rng.choice((2, 4, 6))),
           "--group-names", rng.choice(("mesh", "megatron", "undefined", "local")), "--gpus", rng.choice(("4", "8"))]
    if rng.random() < 0.3:
        out += ["--clock-offset-us", rng.choice(("50", "500", "20000")), "--clock-drift-ppb", rng.choice(("0", "5000"))]
    if rng.random() < 0.2:
        out += ["--device-clock-us", "8"]
    if rng.random() < 0.3:
        out += ["--cut-head-us", rng.choice(("500", "3000"))]
    if rng.random() < 0.1:
        out += ["--cut-tail-us", "1000"]
    if rng.random() < 0.15:
        out += ["--no-seq"]
    if rng.random() < 0.15:
        out += ["--sync", rng.choice(("0", "3"))]
    if rng.random() < (0.8 if cause == "gc" else 0.2):     # nothing tells of the collector where there are no frames
        out += ["--python-share", "0.2"]
    if name == "pp4" and rng.random() < 0.5:
        out += ["--p2p", "batch"]
    return out + list(options)


def option(options, name):
    return options[options.index(name) + 1]


def planted(rng, kind, cause, cost, pattern):
    out = surroundings(rng, kind, cause)
    first, steps = int(option(out, "--first-step")), int(option(out, "--steps"))
    out += ["--fault", cause, "--fault-rank", str(rng.randrange(kind[2])), "--fault-cost", str(cost), "--fault-pattern", pattern]
    if pattern != "persistent":
        a = first + rng.randrange(1, steps - 4)
        b = a + rng.randrange(3, steps - 1 - (a - first))
        out += ["--fault-steps", "%d-%d" % (a, b)]
    return Job("%s %s %s %.0f %%" % (kind[0], cause, pattern, 100 * cost), out)


def odd_jobs(rng):
    """A whole host, a wire between hosts, the culprit or others without a trace, collectives without arguments."""
    for cause in CAUSES:
        for cost in (0.05, 0.10):
            out = surroundings(rng, KINDS[1], cause)
            out[out.index("--gpus") + 1] = "4"
            out += ["--fault", cause, "--fault-host", str(rng.randrange(4)), "--fault-cost", str(cost)]
            yield Job("host %s %.0f %%" % (cause, 100 * cost), out)
    for cause in CAUSES[:6]:
        out = planted(rng, KINDS[0], cause, 0.1, "persistent").options
        yield Job("missing-culprit " + cause, out + ["--missing", option(out, "--fault-rank")])
        out = planted(rng, KINDS[4], cause, 0.1, "persistent").options
        yield Job("missing-peers " + cause, out + ["--missing", ",".join(str(r) for r in (1, 4, 6)
                                                                           if str(r) != option(out, "--fault-rank"))])
        out = planted(rng, rng.choice(KINDS), cause, 0.1, "persistent").options
        yield Job("no-arguments " + cause, out + ["--no-groups"])


def linking_jobs(rng):
    """A third of the ranks without a trace, where they carry the delay from one group to the next."""
    for kind in (KINDS[4], KINDS[7], KINDS[8]):
        for cause in CAUSES[:6]:
            out = planted(rng, kind, cause, 0.1, "persistent").options
            others = [r for r in range(kind[2]) if str(r) != option(out, "--fault-rank")]
            yield Job("linking %s %s" % (kind[0], cause),
                      out + ["--missing", ",".join(str(r) for r in sorted(rng.sample(others, kind[2] // 3)))])


def grid(seed):
    rng = random.Random(seed)
    for kind in KINDS:
        for cause in CAUSES:
            for cost in COSTS:
                yield planted(rng, kind, cause, cost, "persistent")
    for pattern in PATTERNS:
        for cause in CAUSES:
            for cost in COSTS[1:]:
                yield planted(rng, rng.choice(KINDS), cause, cost, pattern)
    yield from odd_jobs(rng)
    for i in range(160):
        kind = KINDS[i % len(KINDS)]
        yield Job("%s healthy %d" % (kind[0], i // len(KINDS)), surroundings(rng, kind))
    yield from linking_jobs(rng)


def some(jobs, limit, seed):
    """So many of the jobs, drawn at random, in their order."""
    order = list(range(len(jobs)))
    random.Random(seed).shuffle(order)
    return [jobs[i] for i in sorted(order[:limit])]


# ---------------------------------------------------------------------------------------------------------- one job


def make(make_trace, job, folder):
    """Writes the traces of a job; what is true of it."""
    done = run([make_trace, "-o", folder] + job.options)
    if done.returncode != 0:
        raise RuntimeError("make_trace %s: %s" % (" ".join(job.options), done.stderr.decode(errors="replace")[:300]))
    with open(os.path.join(folder, "truth.json"), encoding="ascii") as f:
        return json.load(f)


def judge(job, number, build, scratch, keep):
    folder = os.path.join(keep or scratch, "%04d" % number)
    truth = make(os.path.join(build, "make_trace"), job, folder)
    try:
        return Verdict(job, truth, answer([os.path.join(build, "tlmpi-serial")], folder, os.path.join(scratch, "%04d" % number)))
    finally:
        if keep is None:
            shutil.rmtree(folder)
            path = os.path.join(scratch, "%04d.h5" % number)
            if os.path.exists(path):
                os.remove(path)


# ------------------------------------------------------------------------------------------------------ the tables


def table(title, groups):
    """groups: [(label, verdicts)]"""
    print("\n%-18s %-15s %-15s %-15s %-15s %-15s" % (title, "recall", "precision", "cause", "window", "gain"))
    for label, verdicts in groups:
        found = measures(verdicts)
        print("%-18s " % label + " ".join("%-15s" % percent(found[m]) for m in ("recall", "precision", "cause", "window", "gain")))


def split(verdicts, key, order):
    return [(label, [v for v in verdicts if key(v) == label]) for label in order if any(key(v) == label for v in verdicts)]


def goals(verdicts):
    """[(what, pair, goal, met)]; what has no jobs is not met."""
    faulty = [v for v in verdicts if not v.healthy and v.traced and bin_of(v.cost) != "below"]
    large = [v for v in faulty if bin_of(v.cost) != "2 %" and not v.untellable]
    small = [v for v in faulty if bin_of(v.cost) == "2 %" and not v.untellable]
    found = measures(faulty)
    rows = [("rank, costs of 5 % of a step and more", measures(large)["recall"], GOALS["recall"][0], False),
            ("rank, costs of 2 %", measures(small)["recall"], GOALS["recall"][1], False),
            ("cause", found["cause"], GOALS["cause"], False),
            ("window within one step", found["window"], GOALS["window"], False),
            ("gain within 10 %", found["gain"], GOALS["gain"], False),
            ("false alarms on healthy jobs", alarms(verdicts), GOALS["alarms"], True)]
    out = []
    for what, pair, goal, at_most in rows:
        value = pair[0] / pair[1] if pair[1] else None
        out.append((what, pair, goal, value is not None and (value <= goal if at_most else value >= goal)))
    return out


def report(verdicts):
    """Prints the tables; whether all goals are met."""
    faulty = [v for v in verdicts if not v.healthy and v.traced]
    table("all", [("faults", faulty)])
    table("by cost", split(faulty, lambda v: bin_of(v.cost), [b[0] for b in BINS]))
    table("by cause", split(faulty, lambda v: v.cause, CAUSES))
    table("by pattern", split(faulty, lambda v: v.pattern, ("persistent",) + PATTERNS))
    table("by job", split(faulty, lambda v: v.name.split()[0], sorted({v.name.split()[0] for v in faulty})))
    untraced = [v for v in verdicts if not v.healthy and not v.traced]
    if untraced:
        print("\nculprit without a trace: %d jobs, %d of them with somebody else named" %
              (len(untraced), sum(bool(v.named) for v in untraced)))
    wrong = sum(len(v.named) - len(v.right) for v in verdicts)
    print("\nranks named: %d, %d of them wrongly; healthy jobs: %s with a false alarm\n" %
          (sum(len(v.named) for v in verdicts), wrong, percent(alarms(verdicts)).strip()))
    lost = [v for v in faulty if v.untellable and bin_of(v.cost) != "below"]
    print("links that no trace can tell of: %d jobs, %d of them with the rank named; with them recall is %s, of costs of 2 %% %s\n" %
          (len(lost), sum(v.recalled for v in lost),
           percent(measures([v for v in faulty if bin_of(v.cost) not in ("below", "2 %")])["recall"]).strip(),
           percent(measures([v for v in faulty if bin_of(v.cost) == "2 %"])["recall"]).strip()))
    met = True
    for what, pair, goal, ok in goals(verdicts):
        met = met and ok
        print("%-40s %s   goal %s %g %%   %s" % (what, percent(pair), "≤" if "alarms" in what else "≥", 100 * goal,
                                                "met" if ok else "MISSED"))
    return met


# ------------------------------------------------------------------------------------------------------------- main


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD_DIR", help="where tlmpi-serial and make_trace are")
    parser.add_argument("--seed", type=int, default=1, help="of the grid (1)")
    parser.add_argument("--only", metavar="TEXT", default="", help="jobs whose name has it")
    parser.add_argument("--limit", type=int, default=0, help="at most so many of them")
    parser.add_argument("--procs", type=int, default=os.cpu_count(), help="jobs at a time (all cores)")
    parser.add_argument("--keep", metavar="DIR", help="leave the traces there")
    parser.add_argument("--list", action="store_true", help="a line for each job")
    options = parser.parse_args()
    for program in ("tlmpi-serial", "make_trace"):
        if not os.access(os.path.join(options.build, program), os.X_OK):
            parser.error("%s: not there; build it first" % os.path.join(options.build, program))

    jobs = [(i, job) for i, job in enumerate(grid(options.seed)) if options.only in job.name]
    if options.limit > 0:
        jobs = some(jobs, options.limit, options.seed)
    if not jobs:
        parser.error("--only: no job has '%s' in its name" % options.only)
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    scratch = tempfile.mkdtemp(prefix="tlmpi-stragglers.")
    verdicts, failed = [], 0
    try:
        # The first alone: where there is no table to judge, once is enough to find out.
        with concurrent.futures.ThreadPoolExecutor(options.procs) as pool:
            judged = lambda numbered: judge(numbered[1], numbered[0], options.build, scratch, options.keep)
            first = pool.submit(judged, jobs[0])
            concurrent.futures.wait([first])
            rest = [] if isinstance(first.exception(), NoTable) else [pool.submit(judged, job) for job in jobs[1:]]
            for (i, job), found in zip(jobs, [first] + rest):
                try:
                    verdict = found.result()
                except RuntimeError as e:
                    failed += 1
                    print("%04d %-40s FAILED: %s" % (i, job.name, e), flush=True)
                    continue
                verdicts.append(verdict)
                if options.list:
                    print("%04d %-40s %s" % (i, job.name, verdict.line()), flush=True)
    except NoTable as e:
        print("tlmpi does not say yet who holds a job up: " + str(e), file=sys.stderr)
        return 2
    finally:
        shutil.rmtree(scratch)
    print("%d jobs judged, %d could not be" % (len(verdicts), failed))
    met = report(verdicts)
    return 0 if met and failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
