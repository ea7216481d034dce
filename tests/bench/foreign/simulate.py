#!/usr/bin/env python3
"""simulate.py - training jobs of a second simulator, which shares nothing with make_trace: traces, and what is true of them.

    python3 tests/bench/foreign/simulate.py -o DIR --seed 3 --number 7      the 7th job of seed 3
    python3 tests/bench/foreign/simulate.py --check --number 20             are the first 20 jobs possible?

job.py says how large a job is, schedule.py what its ranks do, engine.py when, faults.py what is wrong, kineto.py how it is
recorded.  The gain of a repair is the time of the job less that of the same job, chance and all, without its fault.  A third of
the jobs is healthy.
"""

import argparse
import json
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check import inconsistencies  # noqa: E402
from engine import Simulation  # noqa: E402
from faults import Fault, afflicted  # noqa: E402
from job import Job  # noqa: E402
from kineto import Recording, steps, truth, write_rank  # noqa: E402
from schedule import programs  # noqa: E402

WORTH, TRIES = 0.01, 3    # where a fault costs less of a step, as much of it is hidden, another is drawn, but not for ever


class Foreign:
    """The job of a seed and a number; healthy: whether it has no fault (None: by chance)."""

    def __init__(self, seed, number, healthy=None):
        rng = random.Random("foreign %d %d" % (seed, number))
        self.job = Job(rng)
        self.recording = Recording(rng, self.job)
        if healthy is None:
            healthy = number % 3 == 2
        well, skew = programs(self.job), [rng.randrange(1_000_000) for _ in range(self.job.ranks)]
        self.healthy = self.simulation = self.simulated(well, skew)
        self.fault = None
        step_ns = sum(steps(self.job, self.healthy)[1]) / self.job.steps
        for _ in range(0 if healthy else TRIES):
            self.fault = Fault(rng, self.job)
            self.simulation = self.simulated(afflicted(well, self.fault, self.job, step_ns, rng), skew)
            self.truth = truth(self.recording, self.job, self.simulation, self.healthy, self.fault)
            if self.truth["fault"]["cost_share"] >= WORTH:
                break
        else:
            self.truth = truth(self.recording, self.job, self.simulation, self.healthy, self.fault)
        self.name = "%s %s" % (self.job.kind, "healthy" if healthy else "%s %s %.0f %%" % (
            self.fault.kind, self.fault.pattern, 100 * self.truth["fault"]["cost_share"]))

    def simulated(self, ops, skew):
        return Simulation(ops, self.job.groups, self.job.transfers(), self.job.beside, skew)

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        for rank in self.simulation.ranks:
            write_rank(os.path.join(folder, "rank%d_trace.json" % rank.number), self.recording, self.job, rank)
        with open(os.path.join(folder, "truth.json"), "w", encoding="ascii") as f:
            json.dump(self.truth, f)


def check(seed, numbers):
    """Whether the jobs are possible; what is not, in words."""
    failed = 0
    for number in numbers:
        foreign = Foreign(seed, number)
        wrong = inconsistencies(foreign.simulation) + inconsistencies(foreign.healthy)
        failed += bool(wrong)
        for line in wrong[:5]:
            print("FAILED: job %d, %s: %s" % (number, foreign.name, line))
    print("%d passed, %d failed, 0 skipped" % (len(numbers) - failed, failed))
    return failed == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", metavar="DIR", dest="folder", help="write traces and truth.json there")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=10, help="which job of the seed; with --check how many")
    parser.add_argument("--healthy", action="store_true", help="without a fault; without it every third job is")
    parser.add_argument("--check", action="store_true", help="no kernel before its launch or its events, no stream out of "
                                                             "order, no collective that ends before all have come")
    options = parser.parse_args()
    if options.check:
        return 0 if check(options.seed, range(options.number)) else 1
    if options.folder is None:
        parser.error("-o or --check is needed")
    foreign = Foreign(options.seed, options.number, True if options.healthy else None)
    foreign.write(options.folder)
    print(foreign.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
