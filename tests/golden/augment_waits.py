#!/usr/bin/python3
"""augment_waits.py TLMPI MAKE_TRACE - the tracks of waits and of the critical path that augment adds from a result are what its
tables say.

Prints what fails and, last, "N passed, N failed, N skipped".
"""
import collections
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

TLMPI, MAKE_TRACE = (os.path.abspath(p) for p in sys.argv[1:3])
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {more}")


def run(*args):
    return subprocess.run([TLMPI, *args], capture_output=True, text=True)


def table(path, name):
    return list(csv.DictReader(io.StringIO(run("show", path, name, "--format", "csv").stdout)))


def ns(us):
    """A time stamp as it is written, exactly."""
    whole, _, part = us.partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


def events(path):
    with open(path) as f:
        return json.load(f, parse_float=str, parse_int=str)["traceEvents"]


def wanted(path):
    """By rank: the waits of its kernels by their place in traceEvents, and how long its devices waited when idle."""
    late = {r["collective"]: (r["late_rank"], r["kind"]) for r in table(path, "collective")}
    kernels, gaps = collections.defaultdict(dict), collections.defaultdict(list)
    for r in table(path, "arrival"):
        if int(r["wait_ns"]) > 0:
            kernels[int(r["rank"])][int(r["uid"])] = (int(r["wait_ns"]), r["collective"], *late[r["collective"]])
    for r in table(path, "gap_peer"):
        gaps[int(r["rank"])].append((int(r["peer_ns"]), r["late_rank"], r["collective"]))
    return kernels, gaps


def check_path(what, rows, shown, title, arrow):
    """A slice for each row of table path, and from each that has work an arrow to the work."""
    tracks = [(e["pid"], e["tid"]) for e in shown if e["ph"] == "M" and e["args"].get("name") == title]
    path = [e for e in shown if e["ph"] == "X" and (e["pid"], e["tid"]) in tracks]
    slices = sorted((int(e["args"]["number"]), ns(e["ts"]), ns(e["dur"]), e["name"].split(":")[0], e["args"]["operator"]) for e in path)
    off = slices[0][1] - int(rows[0]["start_ns"]) if slices and rows else 0
    check(f"{what}: {title}", slices == [
        (int(r["number"]), int(r["start_ns"]) + off, int(r["duration_ns"]), r["what"], r["operator"]) for r in rows])
    work = collections.defaultdict(list)
    for e in shown:
        if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            work[e["pid"], e["tid"], e["name"]].append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])))
    begins = {e["id"]: e["ts"] for e in shown if e["ph"] == "s" and e["name"] == arrow}
    ends = {e["id"]: e for e in shown if e["ph"] == "f" and e["name"] == arrow}
    on = {r["number"]: r["name"] for r in rows if r["what"] in ("compute", "copy", "communication", "waiting_for_ranks")}
    check(f"{what}: {title}: arrows", begins.keys() == ends.keys() == on.keys() and all(
        begins[n] == e["ts"] and e["bp"] == "e" and any(a <= ns(e["ts"]) + 1 and ns(e["ts"]) <= b for a, b in work[e["pid"], e["tid"], on[n]])
        for n, e in ends.items()))


def check_job(what, work, options):
    job, out, result = (os.path.join(work, n) for n in ("job", "out", "result"))
    for folder in (job, out):
        shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([MAKE_TRACE, "-o", job, *options], check=True)
    check(f"{what}: the run works", run("-f", "-q", "--path", "-o", result, job).returncode in (0, 1))
    got = run("augment", "--result", result + ".h5", "-o", out, job)
    check(f"{what}: so does augment", got.returncode == 0 and "no waits" not in got.stderr, got.stderr[-300:])
    kernels, gaps = wanted(result + ".h5")
    total, several, pieces = 0, 0, table(result + ".h5", "path")
    for rank in range(int(options[1])):
        before = events(os.path.join(job, f"rank-{rank}.json"))
        shown = events(os.path.join(out, f"rank-{rank}.json"))
        on = f"{what}: rank {rank}"
        check_path(on, [r for r in pieces if r["rank"] == str(rank)], shown, "Critical Path", "critical path")
        check_path(on, [r for r in pieces if r["rank"] == "-1" and r["peer"] == str(rank)], shown, "Critical Path of the Job",
                   "critical path of the job")
        waits = [e for e in shown if e["name"].startswith("waits for")]
        total += len(waits)
        own = collections.Counter()
        for uid, (wait, collective, late, kind) in kernels[rank].items():
            name = f"waits for rank {late}: {kind}" if late != "-1" else f"waits for other ranks: {kind}"
            own[(ns(before[uid]["ts"]), wait, name, late, collective)] += 1
        shown = collections.Counter((ns(e["ts"]), ns(e["dur"]), e["name"], e["args"]["late_rank"], e["args"]["collective"]) for e in waits)
        check(f"{what}: rank {rank}: each wait of a kernel begins with it", not own - shown, own - shown)
        rest = collections.Counter((dur, late, collective) for _, dur, _, late, collective in (shown - own).elements())
        check(f"{what}: rank {rank}: the others are those of idle devices", rest == collections.Counter(gaps[rank]))
        tracks = collections.defaultdict(list)
        for e in waits:
            tracks[e["pid"], e["tid"]].append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])))
        for track in tracks.values():
            track.sort()
            check(f"{what}: rank {rank}: on a track one ends before the next", all(a[1] <= b[0] for a, b in zip(track, track[1:])))
        several += len(tracks) > 1
    check(f"{what}: there are some", total > 0)
    check(f"{what}: as many tracks as it takes", several > 0 or "--ep" not in options)
    return job, out, result + ".h5"


def main():
    with tempfile.TemporaryDirectory() as work:
        size = ["--ranks", "4", "--gpus", "2", "--steps", "3", "--layers", "2"]
        slow = ["--fault", "host_late", "--fault-rank", "1", "--fault-cost", "0.2"]
        check_job("clocks that are off", work, [*size, "--clock-offset-us", "3000", "--seed", "4", *slow])
        check_job("gradients apart", work, [*size, "--seed", "5", *slow])
        check_job("streams that wait at once", work, ["--ranks", "8", "--tp", "2", "--ep", "2", "--steps", "3", "--layers", "4"])
        job, out, result = check_job("one host", work, [*size, "--seed", "6", *slow])

        alone = os.path.join(work, "alone")
        subprocess.run([MAKE_TRACE, "-o", alone, "--ranks", "1", "--steps", "2", "--no-truth"], check=True)
        run("-f", "-q", "-o", alone, alone)
        got = run("augment", "--result", alone + ".h5", "-o", out, alone, "--force")
        check("a result in which nobody waits", got.returncode == 0 and got.stderr == "", got.stderr)

        shutil.copy(os.path.join(job, "rank-2.json"), os.path.join(work, "other.json"))
        with open(os.path.join(work, "other.json"), "a") as f:
            f.write(" \n")
        shutil.rmtree(out)
        got = run("augment", "--result", result, "-o", out, job, os.path.join(work, "other.json"))
        check("a trace that the result does not have", got.returncode == 0 and got.stderr.count("no waits are shown") == 1, got.stderr)
        shutil.rmtree(out)
        got = run("augment", "--result", result, "-o", out, os.path.join(work, "other.json"))
        check("the result of other traces", got.returncode == 3 and "of other traces" in got.stderr and not os.path.exists(
            os.path.join(out, "other.json")), got.stderr)
        got = run("augment", "--result", os.path.join(job, "rank-0.json"), "-o", out, job)
        check("what is no result", got.returncode == 3 and got.stderr != "", got.stderr)
        got = run("augment", "--tracelens", "--result", result, "-o", out, job)
        check("TraceLens has no such track", got.returncode == 2, got.stderr)
    print("%d passed, %d failed, 0 skipped" % (counts["passed"], counts["failed"]))
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
