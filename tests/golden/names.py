#!/usr/bin/python3
"""names.py TLMPI_NAMED TLMPI MAKE_TRACE - names in tables of any scope: TLMPI_NAMED is tlmpi with such tables (par/named.c).

What they count is counted here from the traces' text; on any number of procs, in any way of reading it is the same.  Prints what
fails and, last, "N passed, N failed, N skipped".
"""
import collections
import csv
import decimal
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

import h5py

NAMED, TLMPI, MAKE_TRACE = (os.path.abspath(p) for p in sys.argv[1:4])
OURS = ["named_rank", "named_collective", "named_job", "named_sum"]
ALL = "all of the job"
DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
counts = collections.Counter()
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                  OMPI_MCA_hwloc_base_binding_policy="none", OMPI_MCA_mpi_yield_when_idle="1",
                  OMPI_MCA_btl_vader_single_copy_mechanism="none")


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {str(more)[:600]}")


def make_job(folder):
    """Seven ranks, of which one has kernels that none of the others has, one is cut, and one is no trace."""
    subprocess.run([MAKE_TRACE, "-o", folder, "--ranks", "7", "--steps", "3", "--layers", "3", "--seed", "5", "--sync", "1",
                    "--python-share", "0.2", "--plain"], check=True)
    with open(os.path.join(folder, "rank-2.json"), encoding="utf-8") as f:
        text = f.read()
    with open(os.path.join(folder, "rank-2.json"), "w", encoding="utf-8") as f:
        f.write(text.replace("gemm", "\u03bb-gemm, \\\"of\\\" 2"))
    os.truncate(os.path.join(folder, "rank-4.json"), os.path.getsize(os.path.join(folder, "rank-4.json")) * 2 // 3)
    os.truncate(os.path.join(folder, "rank-5.json"), 0)


def counted(folder):
    """(rank, host, name) -> [count, ns], of the ranks that are whole."""
    found = collections.defaultdict(lambda: [0, 0])
    for rank in (0, 1, 2, 3, 6):
        with open(os.path.join(folder, f"rank-{rank}.json"), encoding="utf-8") as f:
            events = json.load(f, parse_float=decimal.Decimal)["traceEvents"]
        for event in events:
            cat = event.get("cat")
            if event["ph"] == "X" and (cat in DEVICE or cat in ("cpu_op", "cuda_sync")):
                name = event["name"] if cat != "cuda_sync" else None
                cell = found[rank, int(cat == "cpu_op"), name]
                cell[0] += 1
                cell[1] += int(event["dur"] * 1000) if cat != "cuda_sync" else 0
    return {key: tuple(cell) for key, cell in found.items()}


def run(name, work, folder, *command):
    """The digests of a run, by table, and its result file."""
    out = os.path.join(work, name)
    got = subprocess.run([*command, "-f", "--digest", "-q", "-o", out, folder], capture_output=True, text=True)
    check(f"{name}: the run works", got.returncode == 1, (got.returncode, got.stderr[-300:]))
    return dict(line.split() for line in got.stdout.splitlines()), out + ".h5"


def show(path, table, *options):
    words = subprocess.run([NAMED, "show", path, table, *options], capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(words))) if "csv" in options else words


def rows_of(path, table):
    """What `show` prints of a table of names, in its order; no name is None."""
    return [((int(r["rank"]), int(r["host"]), r["name"] or None), (int(r["count"]), int(r["total_ns"])))
            for r in show(path, table, "--format", "csv")]


def check_one(path, truth, product):
    """One result against the truth, in every way of reading it."""
    rows = rows_of(path, "named_rank")
    whole = {key: cell for key, cell in rows if key[0] not in (4, 5)}
    check("each name of a rank is counted", whole == truth, set(whole.items()) ^ set(truth.items()))
    check("... once", len(dict(rows)) == len(rows))
    check("and what has no name", (0, 0, None) in whole, list(whole)[:5])
    check("of the cut rank there are some, of what is no trace none",
          any(k[0] == 4 for k, _ in rows) and not any(k[0] == 5 for k, _ in rows))
    for table in ("named_collective", "named_job"):
        check(f"{table} says the same", sorted(rows_of(path, table), key=str) == sorted(rows, key=str))

    sums = collections.defaultdict(lambda: [0, 0])
    for (_, host, name), cell in rows:
        for key in ((-1, host, name), (-1, 0, ALL)):
            if key[2] is not None:
                sums[key] = [a + b for a, b in zip(sums[key], cell)]
    found = dict(rows_of(path, "named_sum"))
    check("rows of several ranks meet by their names", found == {k: tuple(v) for k, v in sums.items()}, found)

    with h5py.File(path) as f, h5py.File(product) as p:
        names, before = f["names"].asstr()[:].tolist(), p["names"].asstr()[:].tolist()
        check("no text is twice in /names", len(set(names)) == len(names))
        check("a name of proc 0 is the last", names[-1] == ALL, names[-3:])
        events = [p["tables/" + t][:] for t in ("gap", "interval", "call_tree")]
        used = {i for d in events for c in d.dtype.names if d.dtype[c].str == "<u4" for i in d[c][d["rank"] == 0].tolist()}
        n = len(used - {0xFFFFFFFF})
        check("the names of a rank's events stand first", n > 10 and names[:n] == before[:n], names[:n])
        check("those of other tables behind them", set(before) < set(names) and used - {0xFFFFFFFF} == set(range(n)), names[n:n + 5])
        for table, shown in ((t, rows_of(path, t)) for t in OURS):
            d = f["tables/" + table][:]
            check(f"{table}: the file has numbers of four bytes", d.dtype["name"].str == "<u4")
            read = [names[i] if i != 0xFFFFFFFF else None for i in d["name"].tolist()]
            check(f"{table}: they join with /names", read == [key[2] for key, _ in shown], read[:5])
        d = f["tables/named_rank"][:]
        check("rows are in key order", d[["rank", "host", "name"]].tolist() == sorted(d[["rank", "host", "name"]].tolist()))

    said = json.loads(show(path, "named_rank", "--format", "json"))
    check("JSON has the texts", [r["name"] for r in said] == [key[2] for key, _ in rows])
    odd = {key[2] for key, _ in rows if key[2] is not None and "\u03bb" in key[2]}
    check("a screen has them, odd ones, too", odd and all(name in show(path, "named_rank") for name in odd), odd)
    texts = [r["name"] for r in show(path, "named_sum", "--sort", "name", "--format", "csv")]
    check("--sort is by the text", texts == sorted(texts, key=str.encode), texts[:5])


def main():
    work = tempfile.mkdtemp(prefix="tlmpi-test.")
    try:
        folder = os.path.join(work, "job")
        make_job(folder)
        plain, product = run("product", work, folder, TLMPI)
        one, path = run("1", work, folder, NAMED)
        check_one(path, counted(folder), product)
        check("the tables of the program are as without", all(one[t] == plain[t] for t in plain if t != "names"),
              [t for t in plain if one[t] != plain[t]])
        ways = [(str(n), ["mpirun", "-n", str(n), NAMED]) for n in (2, 3, 5)]
        for way, command in ways + [("yajl", [NAMED, "--parser", "yajl"])]:
            other, there = run(way, work, folder, *command)
            # Rows of collectives come proc after proc.
            differing = [t for t in one if other.get(t) != one[t] and t != "named_collective"]
            check(f"{way}: the same digests", len(one) > 4 and not differing, differing)
            check(f"{way}: the same rows of collectives",
                  sorted(rows_of(there, "named_collective"), key=str) == sorted(rows_of(path, "named_collective"), key=str))
    finally:
        shutil.rmtree(work)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


sys.exit(main())
