#!/usr/bin/env python3
"""windows.py TLMPI MAKE_TRACE - a job recorded in three windows gets the verdict of the job recorded in one.

The steps of a made job are cut into windows, each its own file; a rank may lack a window, or end early in a recording of
one piece.  The first culprit and its cause must be the same, and its share of the time within an eighth, or 0.7 %.
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "faults"))
from traces import Checks  # noqa: E402

TLMPI, MAKE = sys.argv[1:3]
WINDOWS = ((2, 5), (7, 10), (12, 15))


def within(events, first, last):
    """Host events that begin in the steps, and what these launched."""
    marks = {int(e["name"][13:]): e for e in events if e.get("cat") == "user_annotation" and e["name"].startswith("ProfilerStep#")}
    begin, end = marks[first]["ts"] - 1, marks[last]["ts"] + marks[last]["dur"]
    called = {e["args"]["correlation"]: e["ts"] for e in events
              if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}

    def at(e):
        if e.get("cat") == "ac2g":
            return called.get(e["id"], e["ts"])
        host = e.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset", "cuda_sync")
        return e["ts"] if host else called.get(e.get("args", {}).get("correlation"), e["ts"])
    return [e for e in events if e.get("ph") == "M" or ("ts" in e and begin <= at(e) < end)]


def verdict(folder):
    done = subprocess.run([TLMPI, "--json", "-f", "-o", folder + ".h5", folder], capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    worst = (answer["culprits"] or [{"ranks": [], "cause": "", "gain_share": 0}])[0]
    return worst["ranks"], worst["cause"], worst["gain_share"] or 0, done.stdout + done.stderr


def path_of(folder):
    subprocess.run([TLMPI, "-q", "--path", "-f", "-o", folder + ".h5", folder], capture_output=True, check=False)
    done = subprocess.run([TLMPI, "show", "--format", "json", folder + ".h5", "path"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def save(folder, name, trace, events):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        json.dump({**trace, "traceEvents": events}, f)


def main(checks, work):
    for seed, fault in enumerate(("compute_slow", "host_late", "h2d", None)):
        made = os.path.join(work, "made%d" % seed)
        subprocess.run([MAKE, "-o", made, "--seed", str(3 + seed), "--ranks", "4", "--steps", "16", "--no-truth"] +
                       (["--fault", fault, "--fault-rank", "2", "--fault-cost", "0.12"] if fault else []), check=True, capture_output=True)
        usual = verdict(made)
        folders = {w: "%s.%s" % (made, w) for w in ("three", "no-first", "no-middle", "no-last", "ends-early")}
        for path in sorted(glob.glob(made + "/rank*.json")):
            with open(path, encoding="utf-8") as f:
                trace = json.load(f)
            name, rank = os.path.basename(path), int(re.search("[0-9]+", os.path.basename(path)).group())
            for what, folder in folders.items():
                if what == "ends-early":
                    save(folder, name, trace, within(trace["traceEvents"], 1, 9 if rank == 1 else 16))
                    continue
                for i, window in enumerate(WINDOWS):
                    if rank == 1 and what == ("no-first", "no-middle", "no-last")[i]:
                        continue
                    save("%s/iteration_%d" % (folder, 10 * (i + 1)), name, trace, within(trace["traceEvents"], *window))
        for what, folder in folders.items():
            found = verdict(folder)
            share = abs(found[2] - usual[2]) <= max(0.007, usual[2] / 8)
            over = [r for r in path_of(folder) if not 0 < r["duration_ns"] == r["end_ns"] - r["start_ns"]]
            checks.that(not over, "%s, %s: no row of path crosses the time between windows" % (fault, what), [], over[:2])
            checks.that(found[:2] == usual[:2] and share, "%s, %s: the verdict of one recording" % (fault, what), usual[:3], found[:3])


with tempfile.TemporaryDirectory(prefix="tlmpi-test.") as scratch:
    counted = Checks()
    main(counted, scratch)
counted.close()
