#!/usr/bin/env python3
"""bench.py BUILD_DIR - what tlmpi costs, beside what other programs cost on the same files in the same minutes.

    python3 tests/bench/bench.py build                      everything, on traces of 435 MB: some 15 minutes
    python3 tests/bench/bench.py build --only memory --mb 5000
    python3 tests/bench/bench.py build --only start,procs --repeat 9

The inputs are made by BUILD_DIR/make_trace in a scratch folder, and used again the next time (--clean removes them):
some 2 GB, and 64 compressed traces of a quarter of the size.  Programs that are compared run in turn, --repeat times.
Judged are ratios of CPU seconds (user and system, of the command and all that it started), peak memory and counts of
instructions; wall time is told where it is the point and never judged.  A ratio is that of one turn; of all turns the
table has the smallest, the median and the largest, and the median is judged.

Peak memory is that of the largest process of a command.  It cannot be told below that of this script (about 12 MB).
"""

import argparse
import gzip
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import growth

MB = 1e6

# Name, words of the table, options of make_trace.
SHAPES = (
    ("nvidia", "NVIDIA, no Python frames", ("--flavour", "nvidia")),
    ("rocm", "ROCm, no Python frames", ("--flavour", "rocm")),
    ("python", "NVIDIA, half Python frames", ("--flavour", "nvidia", "--python-share", "0.5")),
    ("indent", "ROCm, half Python frames, indented",
     ("--flavour", "rocm", "--python-share", "0.5", "--style", "indent")),
)
# For the share of idle time alone: its host is too slow all along, so every other kernel has a gap before it.
STARVED = ("starved", "NVIDIA, host too slow",
           ("--flavour", "nvidia", "--fault", "host_late", "--fault-style", "launches", "--fault-rank", "0",
            "--fault-share", "1.5"))
# The functions that classify idle time, whatever they call.
IDLE = ("idle_per_rank", "idle_reduce")
# More procs than cores, as whoever runs this, on a machine that others may use, too: mpi_settings of tests/lib.sh.
MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}
JSON_LOAD = "import gzip, json, sys; json.load(gzip.open(sys.argv[1]))"

# Runs the command behind the first argument, and leaves its peak memory in KiB in the file that this names.
WATCH = """
import os, sys
child = os.spawnvp(os.P_NOWAIT, sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "w", encoding="ascii") as f:
    f.write(str(usage.ru_maxrss))
sys.exit(os.waitstatus_to_exitcode(status))
"""


# ------------------------------------------------------------------------------------------------------- measuring


class Cost:
    """What one run of a command took."""

    def __init__(self, cpu, wall, peak):
        self.cpu, self.wall, self.peak = cpu, wall, peak


def run(command):
    """Runs the command; its words go to a file that is shown only when it fails."""
    with tempfile.TemporaryFile() as words, open(os.devnull, "wb") as null:
        start = time.monotonic()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=null, stderr=words)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            words.seek(0)
            said = words.read().decode(errors="replace")[-2000:]
            sys.exit("%s\nended with status %d\n%s" % (" ".join(command), child.returncode, said))
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024)


def in_turn(commands, repeat):
    """{name: [Cost, ...]}: all commands once, then all of them again ..."""
    costs = {name: [] for name in commands}
    for _ in range(repeat):
        for name, command in commands.items():
            costs[name].append(run(command))
    return costs


def cpu_ratios(over, under):
    return [a.cpu / b.cpu for a, b in zip(over, under)]


def instructions(command, functions=()):
    """Instructions that the command executes, or only those functions, as callgrind counts them."""
    only = ["--toggle-collect=" + name for name in functions]
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"] + only + command, check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        sys.exit("valgrind %s\nended with status %d\n%s" % (" ".join(command), done.returncode, done.stderr[-2000:]))
    return int(found.group(1))


# ---------------------------------------------------------------------------------------------------------- inputs


class Inputs:
    """Folders of made traces.  Each has a file that says how it was made, and is made again when that changes."""

    def __init__(self, make_trace, folder):
        self.make_trace, self.folder = make_trace, folder

    def traces(self, name, *options):
        folder = os.path.join(self.folder, name)
        recipe = " ".join(options)
        note = os.path.join(folder, "recipe.txt")
        if os.path.exists(note):
            with open(note, encoding="ascii") as f:
                if f.read() == recipe:
                    return folder
        shutil.rmtree(folder, ignore_errors=True)
        run([self.make_trace, "-o", folder] + list(options))
        with open(note, "w", encoding="ascii") as f:
            f.write(recipe)
        return folder

    def one(self, name, mb, packing, options):
        """The path of a trace of one rank."""
        folder = self.traces("%s-%s" % (name, packing), "--ranks", "1", "--mb", str(mb), "--" + packing, *options)
        return os.path.join(folder, "rank-0.json" + (".gz" if packing == "gzip" else ""))

    def small(self, ranks, *options):
        """Many ranks of a few thousand events each, or of many more events with the same collectives."""
        name = "-".join(["small", str(ranks)] + [o.strip("-") for o in options])
        return self.traces(name, "--ranks", str(ranks), "--gpus", "8", "--steps", "4", "--layers", "2", "--gzip", *options)

    def tiny(self, ranks):
        """Traces with next to nothing in them."""
        return self.traces("tiny-%d" % ranks, "--ranks", str(ranks), "--steps", "1", "--layers", "1", "--gzip")


# ----------------------------------------------------------------------------------------------------------- table


class Table:
    """What was measured, a line each, with the goal where there is one."""

    HEAD = ("measured", "trace", "goal", "hoped for", "min", "median", "max", "")

    def __init__(self):
        self.rows = []

    def add(self, what, trace, values, goal=None, hope=None, larger=False, form="%.2f"):
        """larger: the value should be at least, not at most, the goal."""
        sign = "≥ " if larger else "≤ "
        middle = statistics.median(values)
        word = ""
        if goal is not None:
            met, hoped = ((middle >= x) == larger or middle == x for x in (goal, hope))
            word = "met, as hoped" if hoped else "met" if met else "**missed**"
        wanted = [sign + form % x if x is not None else "" for x in (goal, hope)]
        row = (what, trace, *wanted, form % min(values), form % middle, form % max(values), word)
        self.rows.append(row)
        print("%-62s %-36s goal %-8s hope %-8s measured %s / %s / %s  %s" % row, flush=True)

    def markdown(self):
        lines = ["| " + " | ".join(self.HEAD) + " |", "|---|---|--:|--:|--:|--:|--:|---|"]
        return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in self.rows])


# -------------------------------------------------------------------------------------------------------- measures


class Bench:
    def __init__(self, build, inputs, output, mb, repeat):
        self.tlmpi = os.path.join(build, "tlmpi")
        self.serial = os.path.join(build, "tlmpi-serial")
        self.yajl_alone = os.path.join(build, "tests", "bench", "yajl_alone")
        self.inputs, self.output, self.mb, self.repeat = inputs, output, mb, repeat
        self.table = Table()

    def whole(self, *paths, procs=0):
        """The whole default run: all analyses, the result written.  procs 0: without mpirun."""
        launcher = ["mpirun", "-n", str(procs)] if procs > 0 else []
        return launcher + [self.tlmpi, "run", "-q", "-f", "-o", self.output] + list(paths)

    def check(self, path, *options):
        return [self.tlmpi, "check", "-q"] + list(options) + [path]

    def shapes(self, packing):
        for name, words, options in SHAPES:
            yield words, self.inputs.one(name, self.mb, packing, options)

    def packed(self):
        """Against the shell's gunzip of the same .json.gz."""
        for words, path in self.shapes("gzip"):
            costs = in_turn({"run": self.whole(path), "gzip": ["gzip", "-dc", path], "check": self.check(path)},
                            self.repeat)
            self.table.add("run, CPU / `gzip -dc`, .gz", words, cpu_ratios(costs["run"], costs["gzip"]), 1.0, 0.6)
            self.table.add("check, CPU / `gzip -dc`, .gz", words, cpu_ratios(costs["check"], costs["gzip"]), 0.6, 0.4)

    def python(self):
        """Against what a script has to do before it can look at anything."""
        for words, path in self.shapes("gzip"):
            costs = in_turn({"run": self.whole(path), "json": [sys.executable, "-c", JSON_LOAD, path]},
                            min(self.repeat, 3))
            self.table.add("CPU of Python's `json.load` / run, .gz", words, cpu_ratios(costs["json"], costs["run"]),
                           15, 30, larger=True, form="%.1f")

    def raw(self):
        """Plain text: against yajl that does nothing, and against reading."""
        for words, path in self.shapes("plain"):
            costs = in_turn({"alone": [self.yajl_alone, path], "check": self.check(path),
                             "yajl": self.check(path, "--parser", "yajl"), "run": self.whole(path),
                             "cat": ["cat", path]}, self.repeat)
            self.table.add("CPU of yajl alone / check, plain", words,
                           cpu_ratios(costs["alone"], costs["check"]), 1.8, 2.5, larger=True)
            self.table.add("CPU of yajl alone / check --parser yajl, plain", words,
                           cpu_ratios(costs["alone"], costs["yajl"]))
            self.table.add("run, CPU / plain read (`cat > /dev/null`), plain", words,
                           cpu_ratios(costs["run"], costs["cat"]), form="%.1f")

    def kept(self):
        """Kept events of the result written last."""
        shown = subprocess.run([self.tlmpi, "show", self.output + ".h5", "rank", "--format", "json"], check=True,
                               stdout=subprocess.PIPE, text=True)
        return sum(row["kept"] for row in json.loads(shown.stdout))

    def memory(self):
        """Peak memory; the goal grows with the events that are kept."""
        for packing in ("gzip", "plain"):
            for words, path in self.shapes(packing):
                peaks = [run(self.whole(path)).peak / MB for _ in range(min(self.repeat, 3))]
                kept = self.kept()
                self.table.add("run, peak memory, %s" % (".gz" if packing == "gzip" else "plain"),
                               "%s, %d events kept" % (words, kept), peaks, 25 + 64 * kept / MB, 25 + 48 * kept / MB,
                               form="%.0f MB")

    def count(self):
        """Instructions for a byte of text; start-up left out.  The serial program: MPI is no part of reading."""
        if shutil.which("valgrind") is None:
            print("SKIPPED: instructions: there is no valgrind")
            return
        tiny = os.path.join(self.inputs.tiny(1), "rank-0.json.gz")
        plain = os.path.join(self.inputs.folder, "tiny.json")
        with gzip.open(tiny) as packed, open(plain, "wb") as f:
            f.write(packed.read())
        check = [self.serial, "check", "-q"]
        whole = [self.serial, "run", "-q", "-f", "-o", self.output]
        for name, words, options in SHAPES:
            path = self.inputs.one(name + "-30", 30, "plain", options)
            nbytes = os.path.getsize(path) - os.path.getsize(plain)
            for what, command, goals in (("check", check, (20, 12)), ("run", whole, (None, None))):
                n = instructions(command + [path]) - instructions(command + [plain])
                self.table.add("instructions a byte, %s, plain" % what, words, [n / nbytes], *goals, form="%.1f")

    def idle(self):
        """What of the whole run's instructions goes into classifying idle time, start-up included on both sides."""
        if shutil.which("valgrind") is None:
            print("SKIPPED: idle: there is no valgrind")
            return
        whole = [self.serial, "run", "-q", "-f", "-o", self.output]
        for name, words, options in SHAPES + (STARVED,):
            path = self.inputs.one(name, self.mb, "plain", options)
            share = instructions(whole + [path], IDLE) / instructions(whole + [path])
            self.table.add("classifying idle time, of the run's instructions", words, [100 * share], 5, 5,
                           form="%.1f %%")

    def growth(self):
        """What an event more takes where there are more of them: nothing grows faster than n log n."""
        if shutil.which("valgrind") is None:
            print("SKIPPED: growth: there is no valgrind")
            return
        growth.measure(self.table, self.serial, self.inputs.make_trace, os.path.join(self.inputs.folder, "growth"))

    def start(self):
        """A trace with next to nothing in it: what a proc costs before it works."""
        folder = self.inputs.tiny(1)
        costs = in_turn({0: self.whole(folder), 1: self.whole(folder, procs=1), 64: self.whole(folder, procs=64)},
                        self.repeat)
        for procs, goals in ((0, (80, 60)), (1, (None, None)), (64, (80, 60))):
            words = "no mpirun" if procs == 0 else "mpirun -n %d, its own CPU shared out" % procs
            self.table.add("start-up, CPU of a proc", words, [1000 * c.cpu / max(procs, 1) for c in costs[procs]],
                           *goals, form="%.0f ms")
        self.table.add("start-up, peak memory of a proc", "no mpirun", [c.peak / MB for c in costs[0]], 20, 16,
                       form="%.1f MB")
        first, last = zip(*(self.watched(folder, 64) for _ in range(self.repeat)))
        self.table.add("start-up, peak memory of the first proc, which writes", "mpirun -n 64", first, 20, 16,
                       form="%.1f MB")
        self.table.add("start-up, peak memory of the last proc", "mpirun -n 64", last, 20, 16, form="%.1f MB")

    def watched(self, folder, procs):
        """Peak memory in MB of the first and the last of the procs: mpirun is larger than they are."""
        notes = [os.path.join(os.path.dirname(self.output), name) for name in ("first", "last")]
        plain = self.whole(folder)
        watched = [[sys.executable, "-c", WATCH, note] + plain for note in notes]
        run(["mpirun", "-n", "1"] + watched[0] + [":", "-n", str(procs - 2)] + plain + [":", "-n", "1"] + watched[1])
        peaks = []
        for note in notes:
            with open(note, encoding="ascii") as f:
                peaks.append(int(f.read()) * 1024 / MB)
        return peaks

    def ranks(self):
        """Many small traces on 4 procs: memory of the first, in which the job is judged, and the same digest as from one."""
        for ranks, options in ((64, ()), (64, ("--op-share", "0.95")), (256, ()), (1024, ())):
            folder = self.inputs.small(ranks, *options)
            words = "%d ranks of %.0f kB, .gz" % (ranks, self.size(folder) / ranks / 1000)
            self.table.add("CPU of one proc", words, [c.cpu for c in in_turn({0: self.whole(folder)}, 3)[0]], form="%.2f s")
            self.table.add("peak memory of the first of 4 procs", words, [self.watched(folder, 4)[0]], form="%.1f MB")
            digests = [subprocess.run(command + ["--digest"], check=True, stdout=subprocess.PIPE).stdout
                       for command in (self.whole(folder), self.whole(folder, procs=4))]
            if digests[0] != digests[1]:
                sys.exit("%s: 4 procs give other tables than one" % folder)

    @staticmethod
    def size(folder):
        return sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder) if name.startswith("rank"))

    def procs(self):
        """64 traces on 1, 2 and 64 procs.  Start-up, that is the same over 64 tiny traces, is left out of the CPU."""
        mb = max(self.mb // 4, 1)
        big = self.inputs.traces("ranks-64", "--ranks", "64", "--mb", str(mb), "--gzip", "--python-share", "0.25")
        tiny = self.inputs.tiny(64)
        costs = in_turn({(procs, size): self.whole(folder, procs=procs) for procs in (1, 2, 64)
                         for size, folder in (("big", big), ("tiny", tiny))}, self.repeat)
        # Start-up varies more than work does: its median is taken off.
        work = {procs: [c.cpu - statistics.median(t.cpu for t in costs[procs, "tiny"]) for c in costs[procs, "big"]]
                for procs in (1, 2, 64)}
        words = "64 traces of %d MB, .gz" % mb
        for procs, goals in ((2, (None, None)), (64, (1.15, 1.05))):
            self.table.add("CPU of %d procs / of 1, start-up left out" % procs, words,
                           [a / b for a, b in zip(work[procs], work[1])], *goals)
        self.table.add("wall time of 1 proc / of 2 (never judged)", words,
                       [a.wall / b.wall for a, b in zip(costs[1, "big"], costs[2, "big"])])


MEASURES = ("packed", "python", "raw", "memory", "count", "idle", "growth", "start", "ranks", "procs")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD_DIR", help="where tlmpi, make_trace and tests/bench/yajl_alone are")
    parser.add_argument("--mb", type=int, default=435, help="size of the text of a large trace (435)")
    parser.add_argument("--repeat", type=int, default=5, help="turns of each comparison (5)")
    parser.add_argument("--only", metavar="NAME,...", default=",".join(MEASURES),
                        help="some of: " + ", ".join(MEASURES))
    parser.add_argument("--scratch", metavar="DIR", default=os.path.join(tempfile.gettempdir(), "tlmpi-bench"),
                        help="where the inputs and results go (%(default)s)")
    parser.add_argument("--clean", action="store_true", help="remove them at the end")
    options = parser.parse_args()
    names = options.only.split(",")
    for name in names:
        if name not in MEASURES:
            parser.error("--only: expected some of %s, found '%s'" % (", ".join(MEASURES), name))
    if options.mb < 1 or options.repeat < 1:
        parser.error("--mb, --repeat: expected 1 or more")
    for program in ("tlmpi", "tlmpi-serial", "make_trace", os.path.join("tests", "bench", "yajl_alone")):
        if not os.access(os.path.join(options.build, program), os.X_OK):
            parser.error("%s: not there; build it first" % os.path.join(options.build, program))
    build = os.path.abspath(options.build)

    os.environ.update(MPI)
    os.makedirs(options.scratch, exist_ok=True)
    inputs = Inputs(os.path.join(build, "make_trace"), os.path.join(options.scratch, "%d-mb" % options.mb))
    os.makedirs(inputs.folder, exist_ok=True)
    bench = Bench(build, inputs, os.path.join(options.scratch, "result"), options.mb, options.repeat)
    try:
        for name in names:
            getattr(bench, name)()
    finally:
        if options.clean:
            shutil.rmtree(options.scratch)
    print("\nTraces of %d MB, %d turns.\n\n%s" % (options.mb, options.repeat, bench.table.markdown()))


if __name__ == "__main__":
    main()
