#!/usr/bin/env python3
"""serving.py TLMPI MAKE_TRACE - a made job whose steps are marked as a server marks its iterations.

The marks ProfilerStep#1 ... of a made job become step[DECODE bs=8 ...] and the like.  Its steps are then numbered from 0, have
the windows of the job as it was made, with kind, requests and tokens, and the same rank is named.  Where one rank lacks an
iteration, or has one of another kind, none is a step.
"""

import glob
import json
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "faults"))
from traces import Checks  # noqa: E402

TLMPI, MAKE = sys.argv[1:3]
WORDS = ("step[EXTEND bs=%d toks=%d]", "step[DECODE bs=%d g_sq=%d g_sqsk=77]", "execute_context_0(0)_generation_%d(%d)")
KINDS = ("prefill", "decode", "decode")


def table(result, name):
    done = subprocess.run([TLMPI, "show", "--format", "json", result, name], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def run(folder):
    done = subprocess.run([TLMPI, "--json", "-f", "-o", folder + ".h5", folder], capture_output=True, text=True, check=False)
    return json.loads(done.stdout), table(folder + ".h5", "step")


def served(made, folder, change):
    """Writes the job with a server's marks; change(rank, number) returns the mark, or None."""
    os.makedirs(folder)
    for path in sorted(glob.glob(made + "/rank*.json")):
        with open(path, encoding="utf-8") as f:
            trace = json.load(f)
        rank = int("".join(filter(str.isdigit, os.path.basename(path))))
        for e in trace["traceEvents"]:
            if e.get("name", "").startswith("ProfilerStep#"):
                e["name"] = change(rank, int(e["name"][13:])) or "no mark"
        with open(os.path.join(folder, os.path.basename(path)), "w", encoding="utf-8") as f:
            json.dump(trace, f)


def mark(_, number):
    return WORDS[number % 3] % (number, 10 * number)


def main(checks, work):
    made = os.path.join(work, "made")
    subprocess.run([MAKE, "-o", made, "--seed", "5", "--ranks", "4", "--steps", "12", "--no-truth", "--fault", "compute_slow",
                    "--fault-rank", "2", "--fault-cost", "0.12"], check=True, capture_output=True)
    usual, steps = run(made)
    served(made, os.path.join(work, "served"), mark)
    found, rows = run(os.path.join(work, "served"))
    checks.that(all(r["serving"] == "none" and r["batch_size"] is None and r["tokens"] is None for r in steps), "steps of training serve nobody",
                [], steps[:2])
    windows = [{k: r[k] for k in ("rank", "start_ns", "end_ns")} for r in steps]
    checks.that([{k: r[k] for k in ("rank", "start_ns", "end_ns")} for r in rows] == windows, "the windows are those of the steps", windows[:2], rows[:2])
    for old, new in zip(steps, rows):
        n = old["step"]
        want = (n - 1, KINDS[n % 3], n, 10 * n)
        got = (new["step"], new["serving"], new["batch_size"], new["tokens"])
        checks.that(got == want, "rank %d, step %d" % (old["rank"], n), want, got)
    names = [sorted(r for c in a["culprits"] for r in c["ranks"]) for a in (usual, found)]
    checks.that(names[0] == names[1] == [2], "the same rank is named", [2], names)
    gains = [a["culprits"][0]["gain_share"] for a in (usual, found)]
    checks.that(gains[0] == gains[1], "with the same gain", gains[0], gains[1])

    cases = {"a rank lacks an iteration": lambda rank, n: None if (rank, n) == (1, 6) else mark(rank, n),
             "a rank has an iteration of another kind": lambda rank, n: "step[MIXED bs=3]" if (rank, n) == (3, 4) else mark(rank, n),
             "a rank has no marks": lambda rank, n: None if rank == 0 else mark(rank, n)}
    for i, (what, change) in enumerate(cases.items()):
        folder = os.path.join(work, "unlike%d" % i)
        served(made, folder, change)
        found, rows = run(folder)
        checks.that(rows == [], what + ": none is a step", [], rows[:2])
        named = sorted(r for c in found["culprits"] for r in c["ranks"])
        checks.that(named == [2], what + ": the rank is named by what returns", [2], named)
        digests = {subprocess.run(["mpirun", "-n", n, TLMPI, "--digest", "-f", "-o", folder + ".h5", folder], capture_output=True, text=True,
                                  check=False).stdout for n in "1235"}
        checks.that(len(digests) == 1 and "" not in digests, what + ": the same from 1, 2, 3 and 5 procs", 1, len(digests))


with tempfile.TemporaryDirectory(prefix="tlmpi-test.") as scratch:
    counted = Checks()
    main(counted, scratch)
counted.close()
