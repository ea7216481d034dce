#!/usr/bin/env python3
"""judges.py VARIANT... - the straggler verdict before all judges there are: builds or options of tlmpi, side by side.

    python3 tests/bench/judges.py old=build/tlmpi-serial new='build-new/tlmpi-serial --clock none'
    python3 tests/bench/judges.py --judge foreign --jobs 60 --seed 2 now=build/tlmpi-serial --list
    python3 tests/bench/judges.py --check --jobs 20       are the jobs of the second simulator possible?

A VARIANT is a label and the words that start tlmpi; folder and options follow them.  Each job is made once, and all variants are
asked about the same traces.  Judges, and where what is true comes from:

    production           recordings of two real jobs with a slow worker or none (TLMPI_CORPUS names the folder that has traces/)
    production_shifted   the same with the clock of every rank set wrong by up to 2 ms, three times
    planted              real devices: a rank that was made to pause (torchrec), ranks whose hosts were seen late (megatron)
    grid                 the jobs of stragglers.py, by make_trace; truth.json
    foreign              the jobs of foreign/simulate.py, which shares nothing with make_trace; every third is healthy
    healthy              healthy jobs of both simulators alone
    partial              only where it is asked for: jobs of production, foreign and grid whose recording has a defect (partial.py)

Columns, over the jobs of a line (scores.py):

    rank     jobs whose first straggler (by gain_ns, then blame_ns) has the fault / jobs with a fault
    cause    ... whose cause is right, too / of those
    window   ... whose first and last step are each within one step of the true ones / of those
    gain     ... whose gain_ns is within 10 % of the true one / of those, where it is known; not of whole hosts
    wrong    ranks that are named in healthy jobs, or beside those that have the fault; in how many jobs / of all

Faults are in lines by what they cost of a step in truth: 3.5 % and more, 1.5 to 3.5 %, less.  A job that tlmpi could not read
counts as one in which nobody is named.  Links that no trace can tell of (stragglers.py) are left out.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import shlex
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, os.pardir, "golden"), os.path.join(HERE, "foreign")]
import clocks  # noqa: E402
import partial  # noqa: E402
import simulate  # noqa: E402
import stragglers  # noqa: E402
from scores import NoTable, Verdict, answer, bin_of, measures, run, share  # noqa: E402

SHIFTS, SHOWN, ALARMS, PARTIAL_JOBS = 3, 10, stragglers.GOALS["alarms"], 8


class Case:
    """A job for all variants.  make(folder): (where its traces are, what is true of it)."""

    def __init__(self, judge, name, make, options=()):
        self.judge, self.name, self.make, self.options = judge, name, make, list(options)


# ---------------------------------------------------------------------------------------------------------- judges


def known(ranks, first=None, last=None, gain_ns=0, causes=()):
    """What is known of a recorded job, in the form of truth.json."""
    if not ranks:
        return {"fault": None}
    return {"start_ns": 0, "step_ns": [], "healthy_step_ns": [], "traces": [],
            "fault": {"ranks": list(ranks), "host": None, "traced": True, "cause": causes[0] if causes else None, "causes": list(causes),
                      "pattern": None, "first_step": first, "last_step": last, "gain_ns": gain_ns, "cost_share": 1.0}}


def production_truth(job):
    t = clocks.truth_of(job)
    return known([] if t["rank"] is None else [t["rank"]], t["first_step"], t["last_step"], int(t["gain_s"] * 1e9),
                 ["compute_slow", "throttled"])


def production(_):
    for job in clocks.jobs_there():
        yield Case("production", job, lambda _, job=job: (os.path.join(clocks.TRACES, job), production_truth(job)))


def production_shifted(options):
    def shifted(folder, job, k):
        os.mkdir(folder)
        clocks.write_shifted(folder, job, clocks.texts_of(job), k)
        return folder, production_truth(job)

    for job in clocks.jobs_there():
        for k in range(SHIFTS):
            yield Case("production_shifted", "%s, %d" % (job, k),
                       lambda folder, job=job, k=1000 * options.seed + k + 1: shifted(folder, job, k))


# Folder, options, what is known.  Rank 2 pauses in all three steps, in the first set by 0.97 s, beside which nothing takes long.
PLANTED = (
    ("torchrec_optimizer", (), known([2], 4, 6, 2_915_000_000, ["host_late"])),
    ("torchrec_optimizer_4", (), known([2], 4, 6, 0, ["host_late"])),
    ("torchrec_optimizer_5", (), known([2], 4, 6, 0, ["host_late"])),
    ("torchrec_two_runs", ("--run=1",), known([2], 4, 6, 0, ["host_late"])),
    ("torchrec_two_runs", ("--run=2",), known([2], 4, 6, 0, ["host_late"])),
    ("megatron_tp8", (), known([0, 6], None, None, 0, ["host_late"])),
)


def planted(_):
    for name, more, truth in PLANTED:
        folder = os.path.join(clocks.TRACES, name)
        if os.path.isdir(folder):
            yield Case("planted", " ".join((name,) + more), lambda _, folder=folder, truth=truth: (folder, truth), more)


def of_grid(judge, jobs, options):
    for job in jobs:
        yield Case(judge, job.name, lambda folder, job=job: (folder, stragglers.make(options.make_trace, job, folder)))


def of_foreign(judge, count, options, *more):
    def make(folder, number):
        done = run([sys.executable, simulate.__file__, "-o", folder, "--seed", str(options.seed), "--number", str(number), *more])
        if done.returncode != 0:
            raise RuntimeError("simulate.py: " + done.stderr.decode(errors="replace")[-500:])
        with open(os.path.join(folder, "truth.json"), encoding="ascii") as f:
            return folder, json.load(f)

    for number in range(count):
        yield Case(judge, "%s %d" % (judge, number), lambda folder, number=number: make(folder, number))


def grid(options):
    jobs = list(stragglers.grid(options.seed))
    if options.jobs is not None:
        jobs = stragglers.some(jobs, options.jobs, options.seed)
    return of_grid("grid", jobs, options)


def foreign(options):
    return of_foreign("foreign", 60 if options.jobs is None else options.jobs, options)


def healthy(options):
    count = 40 if options.jobs is None else options.jobs
    jobs = [j for j in stragglers.grid(options.seed + 1000) if " healthy " in j.name]
    yield from of_grid("healthy (grid)", stragglers.some(jobs, count, options.seed), options)
    # Another seed than that of the judge before.
    yield from of_foreign("healthy (foreign)", count, argparse.Namespace(seed=options.seed + 1000), "--healthy")


def of_partial(options):
    """Jobs for partial.py, which puts the defects in."""
    few = argparse.Namespace(**dict(vars(options), jobs=PARTIAL_JOBS if options.jobs is None else options.jobs))
    return [case for judge in (production, foreign, grid) for case in judge(few)]


JUDGES = {"production": production, "production_shifted": production_shifted, "planted": planted, "grid": grid, "foreign": foreign,
          "healthy": healthy}


def why_not(judge, cases, options):
    """Why a judge cannot sit, in words; None where it can."""
    if judge in ("production", "production_shifted", "planted") and not cases:
        return "TLMPI_CORPUS names no folder with its traces below traces/"
    if judge in ("grid", "healthy", "partial") and not os.access(options.make_trace, os.X_OK):
        return "%s: not there (--make-trace says where it is)" % options.make_trace
    return None


# --------------------------------------------------------------------------------------------------------- a sitting


def ask(case, number, variants, scratch, keep):
    """[verdict of each variant], and what went wrong in words."""
    mine = os.path.join(keep or scratch, "%s-%04d" % (case.judge.replace(" ", "-"), number))
    verdicts, failures = [], []
    traces, truth = case.make(mine)
    try:
        for i, (label, words) in enumerate(variants):
            output = os.path.join(scratch, "%04d-%d" % (number, i))
            try:
                rows = answer(words + case.options, traces, output)
            except (RuntimeError, OSError, ValueError, NoTable) as e:
                rows = []
                failures.append("%s, %s: %s" % (case.name, label, str(e).strip()))
            verdicts.append(Verdict(case, truth, rows))
            if os.path.exists(output + ".h5"):
                os.remove(output + ".h5")
    finally:
        if keep is None and os.path.isdir(mine):
            shutil.rmtree(mine)
    return verdicts, failures


def lines(judge, verdicts):
    """[(label, verdicts)]: the lines of a judge."""
    if judge not in ("grid", "foreign"):
        return [(judge, verdicts)]
    faults = [v for v in verdicts if not v.healthy and v.traced and not v.untellable]
    size = {"2 %": "1.5 to 3.5 %", "below": "less"}
    groups = [("3.5 % and more", [v for v in faults if bin_of(v.cost) not in size])]
    groups += [(label, [v for v in faults if bin_of(v.cost) == b]) for b, label in size.items()]
    groups += [("no trace of it", [v for v in verdicts if not v.healthy and not v.traced]),
               ("healthy", [v for v in verdicts if v.healthy])]
    return [("%s: %s" % (judge, label), vs) for label, vs in groups if vs]


def cells(verdicts):
    """The columns of a line: counts."""
    faulty = [v for v in verdicts if not v.healthy and v.traced]
    found = measures(faulty)
    wrong = [len(v.named) - len(v.right) for v in verdicts]
    out = ["%d/%d" % found[m] if found[m][1] else "-" for m in ("recall", "cause", "window", "gain")]
    return out + ["%d in %d/%d" % (sum(wrong), sum(w > 0 for w in wrong), len(wrong))]


HEADS, WIDTHS = ("rank", "cause", "window", "gain", "wrong"), (8, 8, 8, 8, 13)


def by_chance(alpha, n):
    """So many of n healthy jobs have an alarm at most, in 95 % of cases, where each has one with probability alpha."""
    k, p = 0, 0.0
    while True:
        p += math.comb(n, k) * alpha ** k * (1 - alpha) ** (n - k)
        if p >= 0.95:
            return k
        k += 1


def report(labels, sat):
    """sat: {judge: [verdicts of each variant]}"""
    def row(head, blocks):
        print("%-24s" % head + "".join("  | " + " ".join("%*s" % (w, c) for w, c in zip(WIDTHS, block)) for block in blocks))

    print("%-24s" % "" + "".join("  | %-*s" % (sum(WIDTHS) + len(WIDTHS) - 1, label) for label in labels))
    row("", [HEADS] * len(labels))
    for judge, of_variants in sat.items():
        tables = [lines(judge, verdicts) for verdicts in of_variants]
        for found in zip(*tables):
            row(found[0][0], [cells(verdicts) for _, verdicts in found])
    print("\nHealthy jobs in which anybody is named, and how many that may be by chance (95 %%) at a rate of %g %%:" % (100 * ALARMS))
    for judge, of_variants in sat.items():
        said = [share([v for v in verdicts if v.healthy], lambda v: bool(v.named)) for verdicts in of_variants]
        if said[0][1]:
            print("  %-22s" % judge + "".join("  %s %d" % (label, alarms) for label, (alarms, _) in zip(labels, said)) +
                  "  of %d, at most %d" % (said[0][1], by_chance(ALARMS, said[0][1])))


def variant(text):
    label, _, words = text.partition("=")
    if not label or not shlex.split(words):
        raise argparse.ArgumentTypeError("'%s' is not LABEL=COMMAND" % text)
    return label, shlex.split(words)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variants", metavar="VARIANT", nargs="*", type=variant, help="LABEL=COMMAND, as new='build/tlmpi --clock none'")
    parser.add_argument("--judge", action="append", choices=list(JUDGES) + ["partial"], help="this one (all but partial); may be given again")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn (1)")
    parser.add_argument("--jobs", type=int, help="jobs of each judge that simulates (grid: all; foreign: 60; healthy: 40 of each; "
                                                  "partial: 8 of each, with 15 defects each)")
    parser.add_argument("--defect", metavar="TEXT", default="", help="of partial: defects whose name has it (all)")
    parser.add_argument("--procs", type=int, default=os.cpu_count(), help="jobs at a time (all cores)")
    parser.add_argument("--make-trace", metavar="PATH", help="the simulator of grid (beside the first variant)")
    parser.add_argument("--keep", metavar="DIR", help="leave simulated traces there")
    parser.add_argument("--list", action="store_true", help="a line for each job and variant")
    parser.add_argument("--check", action="store_true", help="only whether the jobs of foreign are possible")
    options = parser.parse_args()
    if options.check:
        return 0 if simulate.check(options.seed, range(options.jobs or 20)) else 1
    if not options.variants:
        parser.error("VARIANT is missing")
    if options.make_trace is None:
        first = next((w for w in options.variants[0][1] if os.path.basename(w).startswith("tlmpi")), options.variants[0][1][0])
        options.make_trace = os.path.join(os.path.dirname(first), "make_trace")
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)

    sat, failures, took = {}, [], collections.OrderedDict()
    scratch = tempfile.mkdtemp(prefix="tlmpi-judges.")
    try:
        with concurrent.futures.ThreadPoolExecutor(options.procs) as pool:
            for judge in options.judge or JUDGES:
                begun, cases = time.monotonic(), list(JUDGES.get(judge, of_partial)(options))
                reason = why_not(judge, cases, options)
                if reason:
                    print("SKIPPED: %s: %s" % (judge, reason))
                    continue
                if judge == "partial":
                    failures += partial.sit(cases, options.variants, options, scratch)
                    continue
                asked = [pool.submit(ask, case, i, options.variants, scratch, options.keep) for i, case in enumerate(cases)]
                for i, (case, future) in enumerate(zip(cases, asked)):
                    verdicts, failed = future.result()
                    failures += failed
                    of_variants = sat.setdefault(case.judge, [[] for _ in options.variants])
                    for (label, _), said, verdict in zip(options.variants, of_variants, verdicts):
                        said.append(verdict)
                        if options.list:
                            print("%-18s %4d %-44s %-8s %s" % (case.judge, i, case.name, label, verdict.line()), flush=True)
                took[judge] = time.monotonic() - begun
    finally:
        shutil.rmtree(scratch)
    if sat:
        report([label for label, _ in options.variants], sat)
        print("\nTook: " + ", ".join("%s %.0f s" % item for item in took.items()))
    for line in failures[:SHOWN]:
        print("FAILED: " + line)
    if len(failures) > SHOWN:
        print("FAILED: %d more" % (len(failures) - SHOWN))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
