#!/usr/bin/python3
"""memory.py TLMPI MAKE_TRACE - raw memory timelines, beside traces and alone: counted once more from their text, and as Holistic
Trace Analysis has them.

Prints what fails and, last, "N passed, N failed, N skipped".
"""
import collections
import csv
import glob
import gzip
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

TLMPI, MAKE_TRACE = (os.path.abspath(p) for p in sys.argv[1:3])
CORPUS = os.environ.get("TLMPI_CORPUS", "")
KINDS = ("parameter", "optimizer_state", "input", "temporary", "activation", "gradient", "autograd", "unknown", "total")
HTA = dict(zip(("Parameter", "Optimizer state", "Input", "Temporary", "Activation", "Gradient", "Autograd", "Unknown", "total"), KINDS))
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {str(more)[:800]}")


def table(path, name):
    text = subprocess.run([TLMPI, "show", path, name, "--format", "csv"], capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def run(work, *words, status=0):
    out = os.path.join(work, "out")
    got = subprocess.run([TLMPI, "-f", "-o", out, *words], capture_output=True, text=True)
    check(f"{words}: exit status {status}", got.returncode == status, (got.returncode, got.stderr[-300:]))
    return out + ".h5", got


def states(entries):
    """(time, the nine sums) after the last change at each time."""
    now, out = [0] * 9, []
    for t, _, n, kind in entries:
        now[kind] += n
        now[8] += n
        if out and out[-1][0] == t:
            out[-1] = (t, list(now))
        else:
            out.append((t, list(now)))
    return out


def compare(name, path, file, entries):
    wanted = states(entries)
    earliest = min(t for t, _ in wanted if t > 0)
    epoch = int(subprocess.run(["h5dump", "-a", "/epoch_ns", path], capture_output=True, text=True).stdout.split("(0): ")[1].split()[0])
    got = [(int(r["time_ns"]) + epoch, [int(r[k]) for k in KINDS]) for r in table(path, "memory_timeline") if int(r["file"]) == file]
    check(f"{name}: {len(wanted)} states over time", got == [(t if t >= 0 else earliest, v) for t, v in wanted], got[:2])
    top = max(v[8] for _, v in wanted)
    peak = next(v for _, v in wanted if v[8] == top)
    rows = {r["category"]: r for r in table(path, "memory_category") if int(r["file"]) == file}
    for i, kind in enumerate(KINDS):
        most = max(v[i] for _, v in wanted)
        before = [v[i] for t, v in wanted if t < 0]
        when = next(t for t, v in wanted if v[i] == most)
        want = (before[-1] if before else 0, most, peak[i], wanted[-1][1][i], when if when >= 0 else earliest)
        r = rows[kind]
        have = (int(r["first_bytes"]), int(r["peak_bytes"]), int(r["at_peak_bytes"]), int(r["last_bytes"]), int(r["peak_ns"]) + epoch)
        check(f"{name}: {kind}", have == want, (have, want))


def made(seed, n):
    rng = random.Random(seed)
    entries, t = [[-1, 1, rng.randrange(1 << 20), rng.randrange(8)] for _ in range(5)], 1700000000000000000
    for _ in range(n):
        t += rng.choice((0, 0, 17, 1000))
        entries.append([t, rng.randrange(1, 5), rng.randrange(-(1 << 16), 1 << 16), rng.randrange(8)])
    return entries


def public(work):
    path = os.path.join(CORPUS, "traces", "memory_timeline", "memory_timeline.raw.gz")
    golden = os.path.join(CORPUS, "golden", "hta", "memory_timeline")
    if not os.path.exists(path):
        print("SKIPPED: the public memory timeline is not there")
        counts["skipped"] += 1
        return
    with gzip.open(path, "rt") as f:
        entries = json.load(f)
    result, got = run(work, path)
    check("a timeline alone: the summary has its peak", "at most 3.1 GB" in got.stdout and "activation 2.6 GB" in got.stdout, got.stdout)
    compare("a timeline alone", result, 0, entries)
    by_kind = {r["category"]: r for r in table(result, "memory_category")}
    with open(os.path.join(golden, "memory_timeline_summary.csv")) as f:
        for r in csv.DictReader(f):
            mine = by_kind[HTA[r["category"]]]
            check(f"as HTA: {r['category']}", (mine["peak_bytes"], mine["last_bytes"]) == (r["max_bytes"], r["last_bytes"]), mine)
    with gzip.open(os.path.join(golden, "memory_timeline.csv.gz"), "rt") as f:
        rows = list(csv.DictReader(f))
    mine = table(result, "memory_timeline")
    epoch = int(subprocess.run(["h5dump", "-a", "/epoch_ns", result], capture_output=True, text=True).stdout.split("(0): ")[1].split()[0])
    same = len(rows) == len(mine) and all(int(m["time_ns"]) + epoch == int(r["time"]) and
                                          all(m[HTA[k]] == r[k] for k in HTA if k != "total") for m, r in zip(mine, rows))
    check(f"as HTA: {len(rows)} rows over time", same)


def beside(work):
    folder = os.path.join(work, "job")
    subprocess.run([MAKE_TRACE, "-o", folder, "--ranks", "3", "--steps", "2", "--layers", "2", "--seed", "3"], check=True,
                   capture_output=True)
    plain, _ = run(work, folder)
    alone = subprocess.run([TLMPI, "show", "--digest", plain], capture_output=True, text=True).stdout
    written = {}
    for number, name in enumerate(("memory_rank_0.raw.json", "memory_rank_1.raw.json.gz", "memory_rank_2.raw.gz")):
        entries = made(number, 2000)
        written[number] = entries
        with (gzip.open if name.endswith(".gz") else open)(os.path.join(folder, name), "wt") as f:
            json.dump(entries, f)
    result, _ = run(work, folder)
    with_memory = subprocess.run([TLMPI, "show", "--digest", result], capture_output=True, text=True).stdout
    lines = [x for x in with_memory.splitlines() if not x.startswith(("memory_", "side_file"))]
    check("beside traces: their tables are what they were", lines == alone.splitlines())
    check("beside traces: ranks by name", [(r["file"], r["rank"], r["status"]) for r in table(result, "side_file")] ==
          [("0", "0", "ok"), ("1", "1", "ok"), ("2", "2", "ok")])
    for number, entries in written.items():
        compare(f"beside traces: file {number}", result, number, entries)
    digests = set()
    for n in ("1", "2", "3", "5"):
        got = subprocess.run(["mpirun", "-n", n, TLMPI, "-f", "-q", "--digest", "-o", os.path.join(work, "out"), folder],
                             capture_output=True, text=True)
        digests.add(got.stdout)
    check("one digest on any number of procs", digests == {with_memory}, digests)

    # One is damaged, one cut, one is none: each costs itself, from the fault on.
    text = json.dumps(made(7, 50))
    at = text.index(", [1700", 600)
    for name, words, status, says in (("memory_rank_0.raw.json", text[:at] + ", oops" + text[at:], "damaged", f"byte {at + 2}: "),
                                      ("memory_rank_1.raw.json.gz", text[:at], "cut", f"byte {at}: "),
                                      ("memory_rank_2.raw.gz", "not any", "unreadable", "byte 0: ")):
        with (gzip.open if name.endswith(".gz") else open)(os.path.join(folder, name), "wt") as f:
            f.write(words)
    result, got = run(work, folder, status=1)
    rows = table(result, "side_file")
    check("faults: each has its byte", [(r["status"], r["error"].split(": ")[0]) for r in rows] ==
          [("damaged", f"byte {at + 2}"), ("cut", f"byte {at}"), ("unreadable", "byte 0")], rows)
    check("faults: they are told", [s in got.stderr for s in ("expected an entry, found 'o'", "found the end of the text",
                                                              "entries that count: 0")] == [True] * 3, got.stderr)
    kept = json.loads(text[:at] + "]")
    for number in (0, 1):
        compare(f"faults: what is whole of file {number} counts", result, number, kept)
    now = subprocess.run([TLMPI, "show", "--digest", result], capture_output=True, text=True).stdout
    check("faults: the ranks' tables are what they were", [x for x in now.splitlines() if not x.startswith(("memory_", "side_file"))] ==
          alone.splitlines())
    checked = subprocess.run([TLMPI, "check", folder], capture_output=True, text=True)
    check("check names them, too", checked.returncode == 1 and "memory_rank_1.raw.json.gz" in checked.stdout, checked.stdout)
    lonely, _ = run(work, os.path.join(folder, "memory_rank_0.raw.json"), status=1)
    check("what is whole of one alone counts", len(table(lonely, "memory_category")) == 9)
    _, nothing = run(work, os.path.join(folder, "memory_rank_2.raw.gz"), status=3)
    check("one alone that is none: it is no trace", "none of the memory timelines could be read" in nothing.stderr, nothing.stderr)
    backwards = made(8, 50)
    backwards[30][0] = backwards[20][0] - 5
    odd_action = made(9, 50)
    odd_action[40][1] = 5
    for number, entries in enumerate((backwards, odd_action)):
        with open(os.path.join(work, "backwards_rank_%d.raw.json" % number), "w") as f:
            json.dump(entries, f)
    result, got = run(work, *(os.path.join(work, "backwards_rank_%d.raw.json" % n) for n in range(2)), status=1)
    check("times that run backwards and unknown actions end it", [(r["status"], r["entries"]) for r in table(result, "side_file")] ==
          [("damaged", "30"), ("damaged", "40")], table(result, "side_file"))
    # A trace that is called so is one.
    trace = sorted(p for p in glob.glob(os.path.join(folder, "*.json")) if "memory" not in p and "truth" not in p)[0]
    os.mkdir(os.path.join(work, "odd"))
    shutil.copy(trace, os.path.join(work, "odd", "rank_0.raw.json"))
    odd, _ = run(work, os.path.join(work, "odd"))
    check("a trace by another name is a trace", len(table(odd, "rank")) == 1 and not table(odd, "side_file"))


def main():
    work = tempfile.mkdtemp(prefix="tlmpi-test.")
    try:
        public(work)
        beside(work)
    finally:
        shutil.rmtree(work)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] > 0 else 0


sys.exit(main())
