#!/usr/bin/python3
"""sizes.py TLMPI - sizes of messages of public traces whose kernels tell none: counted once more from the shapes of the operators
around their launches.

Prints what fails and, last, "N passed, N failed, N skipped".
"""
import bisect
import collections
import csv
import glob
import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

TLMPI = os.path.abspath(sys.argv[1])
CORPUS = os.path.join(os.environ.get("TLMPI_CORPUS", ""), "traces")
BYTES = {"float": 4, "c10::Half": 2, "c10::BFloat16": 2, "double": 8, "long": 8, "long int": 8, "int": 4, "signed char": 1,
         "unsigned char": 1}
# Where in its arguments an operator has what counts: the annotation all, c10d's by place.
COUNTED = {"nccl:all_reduce": 0, "c10d::_allgather_base_": 0, "c10d::alltoall_base_": 1}
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {str(more)[:800]}")


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        return json.load(f)


def size(op):
    args = op.get("args", {})
    if op["name"] not in COUNTED or "Input Dims" not in args:
        return None
    at = COUNTED[op["name"]]
    n = BYTES[args["Input type"][at]]
    for d in args["Input Dims"][at]:
        n *= d
    return n


def sizes_of(path):
    """By place in traceEvents, of each communication kernel of which an operator around its launch tells its size."""
    events = load(path)["traceEvents"]
    launches, ops = {}, collections.defaultdict(list)
    for e in events:
        if e.get("cat") == "cuda_runtime" and "correlation" in e.get("args", {}):
            launches[e["args"]["correlation"]] = e
        elif e.get("cat") in ("cpu_op", "user_annotation") and e["name"] in COUNTED:
            ops[e["tid"]].append(e)
    for v in ops.values():
        v.sort(key=lambda e: e["ts"])
    starts = {t: [e["ts"] for e in v] for t, v in ops.items()}
    out = {}
    for uid, e in enumerate(events):
        if e.get("cat") != "kernel" or "nccl" not in e["name"]:
            continue
        launch = launches.get(e["args"]["correlation"])
        found = None
        if launch is not None:
            mine = ops.get(launch["tid"], [])
            for op in mine[:bisect.bisect_right(starts.get(launch["tid"], []), launch["ts"])][-8:]:
                if op["ts"] + op["dur"] > launch["ts"]:
                    found = size(op) if size(op) is not None else found
        out[uid] = found if found is not None else -1
    return out


def table(path, name):
    text = subprocess.run([TLMPI, "show", path, name, "--format", "csv"], capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def job(work, name, known):
    paths = sorted(glob.glob(os.path.join(CORPUS, name, "*.json*")))
    if not paths:
        print(f"SKIPPED: {name}: not there")
        counts["skipped"] += 1
        return
    out = os.path.join(work, "out")
    subprocess.run([TLMPI, "-f", "-q", "-o", out, *paths], check=True)
    files = {r["rank"]: r["file"] for r in table(out + ".h5", "rank")}
    told = {rank: sizes_of(path) for rank, path in files.items()}
    wanted = collections.defaultdict(lambda: -1)
    for r in table(out + ".h5", "arrival"):
        wanted[r["collective"]] = max(wanted[r["collective"]], told[r["rank"]].get(int(r["uid"]), -1))
    rows = table(out + ".h5", "collective")
    wrong = [(r["collective"], r["kind"], r["bytes"], wanted[r["collective"]]) for r in rows
             if int(r["bytes"]) != wanted[r["collective"]]]
    check(f"{name}: {len(rows)} collectives have the sizes that the trace tells", not wrong, wrong[:5])
    check(f"{name}: where nothing tells a size, nobody does", all((r["size_source"] == "unknown") == (r["bytes"] == "-1") for r in rows))
    check(f"{name}: sizes are {'known' if known else 'unknown'}", any(int(r["bytes"]) > 0 for r in rows) == known)
    for r in table(out + ".h5", "bandwidth"):
        same = [c for c in rows if c["group"] == r["group"] and c["kind"] == r["kind"] and c["suspect"] == "no"]
        check(f"{name}: unknown sizes have no bytes and no bandwidth",
              (r["bytes_from"] != "-1") or (r["bytes"] == "-1" and r["busbw_gb_s"] == "" and r["size_source"] == "unknown" and same))


def buffers(work):
    """What each rank put in and got out, as its kernel says."""
    paths = sorted(glob.glob(os.path.join(CORPUS, "production_st", "rank-*.json*")))
    if not paths:
        return
    out = os.path.join(work, "out")
    subprocess.run([TLMPI, "-f", "-q", "-o", out, *paths], check=True)
    events = {r["rank"]: load(r["file"])["traceEvents"] for r in table(out + ".h5", "rank")}
    wrong, known = [], 0
    for r in table(out + ".h5", "arrival"):
        args = events[r["rank"]][int(r["uid"])]["args"]
        size = {"Float": 4, "BFloat16": 2}.get(args.get("dtype"), 0)
        wanted = tuple(int(args.get(f"{way} msg nelems", -1)) * size if size > 0 else -1 for way in ("In", "Out"))
        wrong += [(r, wanted)] if (int(r["in_bytes"]), int(r["out_bytes"])) != wanted else []
        known += wanted[0] > 0
    check(f"what {known} kernels put in and got out", not wrong and known > 0, wrong[:3])


def teams(work):
    """A plain file that several procs read together."""
    paths = sorted(glob.glob(os.path.join(CORPUS, "megatron_tp8", "*_0.json*")))
    if not paths:
        return
    plain = os.path.join(work, "megatron_kineto_0.json")
    with gzip.open(paths[0], "rb") as f, open(plain, "wb") as g:
        shutil.copyfileobj(f, g)
    digests = [subprocess.run(["mpirun", "-n", n, TLMPI, "-f", "-q", "--digest", "-o", os.path.join(work, "out"), plain],
                              capture_output=True, text=True).stdout for n in ("1", "2", "3", "5")]
    check("shapes survive that a trace is read in pieces", len(set(digests)) == 1 and digests[0] != "")


def main():
    work = tempfile.mkdtemp(prefix="tlmpi-test.")
    try:
        for name, known in (("megatron_tp8", True), ("sampled_2ranks", True), ("resnet18_2ranks", False),
                            ("torchrec_optimizer", False)):
            job(work, name, known)
        buffers(work)
        teams(work)
    finally:
        shutil.rmtree(work)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] > 0 else 0


sys.exit(main())
