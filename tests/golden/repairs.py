#!/usr/bin/python3
"""repairs.py TLMPI MAKE_TRACE - what a repair would gain, and of whom: table whatif and the rows of table straggler, on simulated
jobs in which one rank or all of a host have a fault.

Prints what fails and, last, "N passed, N failed, N skipped".
"""
import collections
import csv
import io
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


def table(path, name):
    text = subprocess.run([TLMPI, "show", path, name, "--format", "csv"], capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def job(work, *options, procs=1):
    """The result file of a job of a few short steps."""
    folder, out = os.path.join(work, "job"), os.path.join(work, f"out-{procs}")
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([MAKE_TRACE, "-o", folder, "--op-share", "0.1", *options], check=True, capture_output=True)
    command = (["mpirun", "-n", str(procs)] if procs > 1 else []) + [TLMPI, "-f", "-q", "-o", out, folder]
    got = subprocess.run(command, capture_output=True, text=True)
    check(f"{' '.join(options)}: the run works", got.returncode == 0, got.stderr[-300:])
    return out + ".h5"


def each_delay_is_of_one_part(work):
    """What one rank alone does too long is gained by who repairs that part of the time, and by nobody who repairs another."""
    parts = {"h2d": "h2d", "compute_slow": "compute", "sync_drain": "sync_drain"}
    for cause, part in parts.items():
        path = job(work, "--ranks", "8", "--steps", "8", "--layers", "2", "--python-share", "0.2", "--fault", cause, "--fault-rank",
                   "3", "--fault-cost", "0.2", "--seed", "17")
        gain = {r["cause"]: int(r["gain_ns"]) for r in table(path, "whatif") if r["scenario"] == "cause"}
        whole = int(table(path, "straggler")[3]["gain_ns"])
        check(f"{cause}: it gains what the rank costs", gain[part] > 0.9 * whole > 0, (gain, whole))
        others = {c: gain[c] for c in parts.values() if c != part}
        check(f"{cause}: other parts gain nothing", all(ns < 0.05 * whole for ns in others.values()), (others, whole))


def all_of_a_host(work):
    """Each rank of a slow host has its cause, however many there are."""
    path = job(work, "--ranks", "64", "--gpus", "32", "--steps", "6", "--layers", "1", "--fault", "throttled", "--fault-host", "1",
               "--fault-cost", "0.2", "--seed", "9", procs=2)
    named = [r for r in table(path, "straggler") if r["verdict"] == "straggler"]
    check("a slow host: its ranks are named", [int(r["rank"]) for r in named] == list(range(32, 64)), named)
    check("a slow host: all are simulated", all(int(r["gain_ns"]) >= 0 for r in named), [r["gain_ns"] for r in named])
    check("a slow host: all are throttled", {r["cause"] for r in named} == {"throttled"}, [r["cause"] for r in named])


def the_last_host(work):
    """The host that others wait for is repaired, whatever its number; and whose gain nobody has simulated has none."""
    path = job(work, "--ranks", "72", "--gpus", "4", "--steps", "6", "--layers", "1", "--fault", "host_late", "--fault-host", "17",
               "--fault-cost", "0.2", "--seed", "5")
    rows, whatif = table(path, "straggler"), table(path, "whatif")
    named = [int(r["rank"]) for r in rows if r["verdict"] == "straggler"]
    check("the last host: its ranks are named", named == [68, 69, 70, 71], named)
    hosts = {int(r["rank"]): int(r["gain_ns"]) for r in whatif if r["scenario"] == "host"}
    together = next(int(r["gain_ns"]) for r in whatif if r["scenario"] == "suspects")
    check("the last host: it gains what its ranks do", list(hosts) == [68] and hosts[68] == together > 0, hosts)
    known = {int(r["rank"]) for r in rows if int(r["gain_ns"]) >= 0}
    check("the last host: those named are simulated", known.issuperset(named), known)
    check("the last host: others are not, and say so", {r["gain_ns"] for r in rows if int(r["rank"]) not in known} == {"-1"} and
          all((r["slowdown"] == "") == (int(r["rank"]) not in known) for r in rows), [(r["gain_ns"], r["slowdown"]) for r in rows])
    check("the last host: whatif has a row of each", {int(r["rank"]) for r in whatif if r["scenario"] == "rank"} == known, known)


def kinds_of_groups(work, style):
    """A link that is slow for one kind of group: its transfers gain, and those of the other kinds next to nothing."""
    path = job(work, "--ranks", "16", "--tp", "2", "--pp", "2", "--steps", "6", "--group-names", style, "--fault", "slow_link",
               "--fault-rank", "3", "--fault-axis", "dp", "--fault-cost", "0.2", "--fault-pattern", "bounded", "--fault-steps",
               "3-4", "--seed", "2")
    rows, ranks = table(path, "whatif"), {int(r["group"]): r["ranks"] for r in table(path, "group")}
    gain = {ranks[int(r["group"])]: int(r["gain_ns"]) for r in rows if r["scenario"] == "groups"}
    links = next(int(r["gain_ns"]) for r in rows if r["scenario"] == "links" and r["rank"] == "-1")
    check(f"{style} groups: one row a kind", set(gain) == {"0-15", "0-6/2", "0,1", "0,8"}, gain)
    check(f"{style} groups: the slow kind gains", gain.get("0-6/2", 0) > 0.9 * links > 0, (gain, links))
    check(f"{style} groups: the others do not", sum(gain.values()) - gain.get("0-6/2", 0) < 0.1 * links, (gain, links))
    whole = next(int(r["time_ns"]) for r in rows if r["scenario"] == "unchanged")
    off = [r for r in rows if abs(float(r["share"]) - int(r["gain_ns"]) / whole) > 1e-5 or float(r["share"]) > 1]
    check(f"{style} groups: shares are of the job's time", off == [], off)
    off = [r for r in rows if r["scenario"] != "balanced" and int(r["gain_ns"]) < 0]
    check(f"{style} groups: less work takes no longer", off == [], off)
    off = [r for r in rows + table(path, "straggler") if r["slowdown"] != "" and float(r["slowdown"]) < 1]
    check(f"{style} groups: no repair slows the job down", off == [], off)


def main():
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    os.environ.setdefault("OMPI_MCA_hwloc_base_binding_policy", "none")
    with tempfile.TemporaryDirectory() as work:
        each_delay_is_of_one_part(work)
        all_of_a_host(work)
        the_last_host(work)
        for style in ("mesh", "undefined"):
            kinds_of_groups(work, style)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


sys.exit(main())
