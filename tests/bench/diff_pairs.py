#!/usr/bin/python3
"""diff_pairs.py TLMPI MAKE_TRACE - does `tlmpi diff A B` name what differs between two jobs, and nothing where nothing does?

    TLMPI_CORPUS=folder python3 tests/bench/diff_pairs.py build/tlmpi-serial build/make_trace --list

Eighty pairs of jobs with one difference that is known, and 24 with none but chance.  Jobs are simulated by make_trace, with
another option or with time put into the traces (planted.py), or recorded on real devices, repeated, given noise and changed in the
same way; without TLMPI_CORPUS the simulated ones alone.  In every second pair A and B change places.

    first    the first finding of table diff behind the step is the planted one
    sums     changes of the parts in table diff_step sum up to that of the step, to the nanosecond
    gate     --fail-on fails for the planted one, and for none that makes B faster
    equal    nothing is sure

Exit status 1 where fewer than 95 % are found first, more than 5 % of the equal pairs have a finding, or a sum is wrong.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import planted  # noqa: E402

CORPUS = os.environ.get("TLMPI_CORPUS", "")
GOAL, STEPS, FAILED = 0.95, 12, 5

# What --fail-on must fail for where B is slower.
GATES = {"one_rank": "kernel>+10%", "pause": "step>+5%", "long": "step>+5%"}

# Recorded jobs: folder, which of its steps is repeated; None: all of them, which take differently long.
RECORDED = {"torchrec_4": ("torchrec_optimizer_4", 2), "torchrec_5": ("torchrec_optimizer_5", 2), "two_ranks": ("resnet18_2ranks", 1),
            "torchrec": ("torchrec_optimizer", 2), "h100_bert": ("h100_bert_small", 0), "h100_falconsai": ("h100_falconsai", 0),
            "uneven": ("torchrec_optimizer_4", None), "mi300_bert": ("mi300_bert_small", 0), "mi300_falconsai": ("mi300_falconsai", 0)}

# Simulated jobs: options of make_trace.
SIMULATED = {"dp": "--ranks 4", "dp_large": "--ranks 4 --scale 300 --age 2024", "tp": "--ranks 4 --tp 2", "shard": "--ranks 4 --shard",
             "rocm": "--ranks 2 --flavour rocm", "one": "--ranks 1", "long": "--ranks 2 --layers 6", "old": "--ranks 4 --age 2022",
             "pp": "--ranks 4 --pp 2"}

# Which difference is put into which jobs.
PLANTED = {
    "slower": "uneven torchrec_5 h100_falconsai mi300_falconsai dp tp rocm long",
    "operator": "torchrec_4 two_ranks h100_falconsai mi300_bert dp shard rocm",
    "sync": "uneven torchrec_5 two_ranks h100_bert mi300_falconsai",
    "algorithm": "uneven dp tp dp_large long shard",
    "straggler": "torchrec_4 torchrec two_ranks",
    "copies": "torchrec torchrec_5 h100_bert mi300_falconsai dp one",
    "replaced": "torchrec_4 torchrec_5 h100_falconsai mi300_bert dp long",
    "loader": "two_ranks h100_falconsai h100_bert mi300_falconsai mi300_bert",
    "world": "torchrec_4 two_ranks",
}

# The simulator's own: options of A, what B has besides, what is true.
NATIVE = [
    ("sync", "--ranks 4 --layers 4 --sync 0", "--sync 1", {}),
    ("sync", "--ranks 1 --layers 4 --sync 0", "--sync 1", {}),
    ("world", "--ranks 4", "--ranks 8", {}),
    ("world", "--ranks 4 --tp 2", "--ranks 8 --tp 4", {}),
    ("straggler", "--ranks 4", "--fault throttled --fault-rank 2 --fault-cost 0.08", {"rank": 2}),
    ("straggler", "--ranks 8 --tp 2", "--fault host_late --fault-rank 5 --fault-cost 0.08", {"rank": 5}),
    ("straggler", "--ranks 4 --pp 2", "--fault compute_slow --fault-rank 1 --fault-cost 0.08", {"rank": 1}),
    ("straggler", "--ranks 4 --shard", "--fault more_work --fault-rank 0 --fault-cost 0.08", {"rank": 0}),
    ("loader", "--ranks 1", "--fault input --fault-rank 0 --fault-share 0.08", {}),
    ("loader", "--ranks 1 --layers 4 --flavour rocm", "--fault input --fault-rank 0 --fault-share 0.08", {}),
]
# The same, behind the others: what one rank, one group or a few steps have.
PAUSED = "uneven torchrec_5 two_ranks h100_bert mi300_falconsai"
NATIVE_MORE = [
    ("long", "--ranks 4 --steps 20", "--fault host_late --fault-rank 1 --fault-share 5 --fault-steps 7-8", {}),
    ("long", "--ranks 4 --steps 60", "--fault host_late --fault-rank 1 --fault-share 2 --fault-steps 11-26", {}),
    ("long", "--ranks 1 --steps 40", "--fault input --fault-rank 0 --fault-share 2 --fault-steps 21-34", {}),
    ("link", "--ranks 8 --tp 2", "--fault slow_link --fault-rank 2 --fault-axis tp --fault-cost 0.08", {"group": "2,3"}),
    ("link", "--ranks 16 --tp 4 --steps 6", "--fault slow_link --fault-rank 9 --fault-axis tp --fault-cost 0.08", {"group": "8-11"}),
    ("link", "--ranks 8 --tp 2", "--fault slow_link --fault-rank 4 --fault-axis dp --fault-cost 0.08", {"group": "0-6/2"}),
    ("one_rank", "--ranks 4", "--fault compute_slow --fault-rank 2 --fault-cost 0.05", {"rank": 2}),
    ("one_rank", "--ranks 8 --tp 2 --steps 6", "--fault compute_slow --fault-rank 5 --fault-cost 0.05", {"rank": 5}),
    ("one_rank", "--ranks 16", "--fault compute_slow --fault-rank 11 --fault-cost 0.05", {"rank": 11}),
    ("one_rank", "--ranks 8 --shard --flavour rocm", "--fault compute_slow --fault-rank 0 --fault-cost 0.08", {"rank": 0}),
    ("one_rank", "--ranks 8 --pp 2", "--fault compute_slow --fault-rank 6 --fault-cost 0.08", {"rank": 6}),
]
# Equal jobs: recordings of B begin within a step, lack ranks, have no arguments of collectives, or lack half of the last stage of
# a job of twice the size.
NATIVE_EQUAL = [
    ("equal", "--ranks 4 --steps 14", "--cut-head-us 9000", {}),
    ("equal", "--ranks 8 --pp 2", "--missing 4,5", {}),
    ("equal", "--ranks 8 --tp 2 --age 2022", "--no-groups", {}),
    ("equal", "--ranks 4 --pp 2", "--ranks 8 --missing 6,7", {}),
]
# Recordings of one job without and with a slow worker; the first has one of its own, which the second has not.
PRODUCTION = [("production_ar", ("production_ar_x1.3", 0)), ("production_st", ("production_st_x1.2", 6))]
EQUAL = "uneven torchrec_5 two_ranks h100_bert h100_falconsai mi300_falconsai mi300_bert torchrec " \
        "dp dp_large tp shard rocm one long old pp dp tp pp"
FEW = {("slower", "dp"), ("operator", "rocm"), ("algorithm", "tp"), ("copies", "one"), ("replaced", "long"), ("world", "--ranks 4"),
       ("straggler", "--ranks 4"), ("equal", "dp")}


class Pair:
    def __init__(self, number, kind, base, native=None):
        self.number, self.kind, self.base, self.native = number, kind, base, native
        self.swapped = number % 2 == 1 and kind not in ("equal",)


def pairs():
    listed = [(kind, base, None) for kind, bases in PLANTED.items() for base in bases.split()]
    listed += [(kind, a, (a, b, truth)) for kind, a, b, truth in NATIVE]
    listed += [("straggler", *each) for each in PRODUCTION]
    listed += [("equal", base, None) for base in EQUAL.split()]
    listed += [("pause", base, None) for base in PAUSED.split()]
    listed += [(kind, a, (a, b, truth)) for kind, a, b, truth in NATIVE_MORE + NATIVE_EQUAL]
    return [Pair(i, *each) for i, each in enumerate(listed)]


def recorded(base):
    return base in RECORDED or base.startswith("production")


# ------------------------------------------------------------------------------------------------------------- making


def simulate(options, folder, words, seed):
    subprocess.run([options.make_trace, "-o", folder, "--steps", str(STEPS), "--seed", str(seed), *words.split()], check=True,
                   capture_output=True)


def job_of(pair, side, options, scratch):
    """Job of a side, before it is changed."""
    seed = 1000 * options.seed + 2 * pair.number + side
    if pair.base in RECORDED:
        folder, step = RECORDED[pair.base]
        job = planted.read(os.path.join(CORPUS, "traces", folder))
        job = planted.repeated(job, STEPS // len(job.ranks[0].steps)) if step is None else planted.repeated(planted.one_step(job, step), STEPS)
        planted.noise(job, random.Random(seed))
        return job
    folder = os.path.join(scratch, "raw%d" % side)
    simulate(options, folder, SIMULATED[pair.base], seed)
    return planted.read(folder)


def make(pair, options, scratch):
    """Folders of A and B, and what is true of the step from A to B."""
    folders = [os.path.join(scratch, side) for side in "ab"]
    truth = {}
    if pair.base.startswith("production"):
        folders = [os.path.join(CORPUS, "traces", name) for name in (pair.base, pair.native[0])]
        truth = {"rank": pair.native[1]}
    elif pair.native is not None:
        a, b, truth = pair.native
        for side, words in enumerate((a, a + " " + b)):
            simulate(options, folders[side], words, 1000 * options.seed + 2 * pair.number + side)
    else:
        for side, folder in enumerate(folders):
            job = job_of(pair, side, options, scratch)
            if side == 1 and pair.kind != "equal":
                truth = planted.KINDS[pair.kind](job, random.Random(options.seed + pair.number))
            job.write(folder)
    return (folders[::-1] if pair.swapped else folders), truth


# ------------------------------------------------------------------------------------------------------------ judging


def is_it(pair, truth, tables, row):
    """Whether that finding is the planted difference."""
    name, other, part, change = (row.get(key) or "" for key in ("name", "b_name", "part", "change"))
    words = " ".join((name, other, row.get("operator") or ""))
    if pair.kind == "slower":
        return name == truth["name"] and part == "compute"
    if pair.kind in ("operator", "copies"):
        return any(n in words for n in truth["names"]) and change in ("added", "removed", "count", "count_and_time")
    if pair.kind == "replaced":
        return change == "replaced" and {name, other} == {truth["name"], truth["b_name"]}
    if pair.kind == "algorithm":
        return part == "transfer" or (change == "replaced" and {name, other} == {truth["name"], truth["b_name"]})
    if pair.kind == "straggler":
        return part == "waiting" and row.get("rank") == truth["rank"]
    if pair.kind == "one_rank":
        return part == "waiting" and row.get("rank") == truth["rank"] and any(
            k["sure"] and k["ranks"] == str(truth["rank"]) and k["change"] == "time" for k in tables["diff_kernel"])
    if pair.kind in ("pause", "long"):
        return part == "long_steps"
    if pair.kind == "link":
        of_group = "of ranks " + truth["group"]
        return part == "transfer" and name.endswith(of_group) and all(
            f["why"].endswith(of_group) for f in tables["diff"] if f["part"] == "waiting" and f["why"])
    if pair.kind == "sync":
        return part in ("idle", "outside") and "ynchronize" in words + (row.get("why") or "")
    return part in ("idle", "outside") and row.get("why") == "waiting for input"


def first_told(tables):
    """Facts that make times hardly comparable."""
    return [row["what"] for row in sorted(tables["diff_run"], key=lambda row: row["place"]) if row["differs"]]


def judge(pair, options, top):
    """(found first, or nothing in an equal pair; None: there is no such pair, sums right, line)"""
    scratch = tempfile.mkdtemp(dir=top)
    try:
        folders, truth = make(pair, options, scratch)
        gate = ["--fail-on", GATES[pair.kind]] if pair.kind in GATES else []
        done = subprocess.run([options.tlmpi, "diff", *folders, "--json", *gate], capture_output=True, text=True, check=False,
                              env=dict(os.environ, TMPDIR=scratch))
        if done.returncode > 1 and not (gate and done.returncode == FAILED):
            return False, False, "exit status %d: %s" % (done.returncode, done.stderr[-300:])
        tables = json.loads(done.stdout)
    except planted.NotHere:
        return None, True, "the difference has no place in this job"
    except (OSError, ValueError, subprocess.CalledProcessError) as e:
        return False, False, "%s: %s" % (type(e).__name__, str(e)[:300])
    finally:
        if options.keep:
            shutil.move(scratch, os.path.join(options.keep, "%02d-%s-%s" % (pair.number, pair.kind, pair.base.replace(" ", ""))))
        else:
            shutil.rmtree(scratch)
    step, *parts = sorted(tables["diff_step"], key=lambda row: row["place"])
    sums = sum(row["change_ns"] for row in parts if row["part"] != "long_steps") == step["change_ns"]
    found = sorted(tables["diff"], key=lambda row: row["place"])
    sure = [row for row in found[1:] if row["sure"]]
    said = "step %+.2f %%%s" % (100 * step["share"], "" if step["sure"] else " (not sure)")
    said += "".join("; %s %s %+.2f %% %s" % (row["part"], row["change"], 100 * row["share"], (row["name"] or "")[:40]) +
                    (" rank %d" % row["rank"] if row["rank"] >= 0 else "") + ("" if row["sure"] else "?") for row in found[1:4])
    if pair.kind == "equal":
        return not sure and not step["sure"], sums, said
    if pair.kind == "world":
        told = first_told(tables)
        return "world size" in told or "ranks" in told, sums, "told: %s" % told
    judged = not gate or (done.returncode == FAILED) == (not pair.swapped)
    told = len(found) > 1 and (bool(found[1]["sure"]) or pair.kind in ("pause", "long"))  # so few may be chance, and that is said
    right = told and is_it(pair, truth, tables, found[1])
    return right and judged, sums, "%s%s  <- %s" % (said, "" if judged else "; gate: status %d" % done.returncode, truth)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tlmpi")
    parser.add_argument("make_trace")
    parser.add_argument("--kind", action="append", help="pairs of this kind; may be given again")
    parser.add_argument("--base", action="append", help="pairs of this job; may be given again")
    parser.add_argument("--few", action="store_true", help="nine simulated pairs, a few seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--procs", type=int, default=2)
    parser.add_argument("--keep", metavar="DIR", help="leave the traces there")
    parser.add_argument("--list", action="store_true", help="a line for each pair; else for those that fail")
    options = parser.parse_args()
    asked = [p for p in pairs() if (not options.kind or p.kind in options.kind) and (not options.base or p.base in options.base)
             and (not options.few or (p.kind, p.base) in FEW) and (CORPUS or not recorded(p.base))]
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    kinds, skipped = collections.OrderedDict(), 0
    with tempfile.TemporaryDirectory(prefix="tlmpi-pairs.") as top, concurrent.futures.ProcessPoolExecutor(options.procs) as pool:
        for pair, (right, sums, said) in zip(asked, pool.map(judge, asked, [options] * len(asked), [top] * len(asked))):
            if right is None:
                skipped += 1
                print("SKIPPED: %s %s: %s" % (pair.kind, pair.base, said))
                continue
            of = kinds.setdefault(pair.kind, {"pairs": 0, "right": 0, "sums": 0})
            of["pairs"] += 1
            of["right"] += right
            of["sums"] += sums
            if options.list or not right or not sums:
                print("%-6s %2d %-9s %s%-38s %s" % ("ok" if right and sums else "FAILED", pair.number, pair.kind, "<" if pair.swapped else ">",
                                                   pair.base, said), flush=True)
    print("\n%-10s %6s %6s %6s" % ("kind", "pairs", "first", "sums"))
    for kind, of in kinds.items():
        print("%-10s %6d %6d %6d" % (kind, of["pairs"], of["right"], of["sums"]))
    planted_ones = [of for kind, of in kinds.items() if kind != "equal"]
    found, n = sum(of["right"] for of in planted_ones), sum(of["pairs"] for of in planted_ones)
    equal = kinds.get("equal", {"pairs": 0, "right": 0})
    wrong = sum(of["pairs"] - of["sums"] for of in kinds.values())
    print("planted differences named first: %d of %d; equal pairs in which nothing is: %d of %d; sums that are wrong: %d" %
          (found, n, equal["right"], equal["pairs"], wrong))
    failed = (found < GOAL * n) + (equal["right"] < GOAL * equal["pairs"]) + (wrong > 0)
    print("%d passed, %d failed, %d skipped" % (3 - failed, failed, skipped))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
