#!/usr/bin/env python3
"""input.py TLMPI [WATCHED] - damaged traces: no crash, no hang; the others analysed, whole events kept, lost ones counted.

One folder holds many ranks, each damaged in its own way, so one run reads them all and rank 0, which is whole, is the
witness that the others do it no harm.  WATCHED is the program under sanitizers, which reads what is not about memory.
"""

import os
import sys
import tempfile

import files
from damages import Damage, check_row, damages, replaced, sweep, traces_of, witness
from traces import EVENTS, TAIL, Checks, Run, document, events, head, kernel, write


def texts(checks, program, options):
    """Every damage to the text, in one folder."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
        os.mkdir(data)
        write(data, 0, document(0))
        known = {}
        for rank, (what, make) in enumerate(damages(), 1):
            known[rank] = (what, make(rank))
            write(data, rank, known[rank][1].text)
        # A trace may be an array alone; then its name tells the rank.
        bare = len(known) + 1
        known[bare] = ("a bare array", Damage("[" + ",\n".join(events()) + "]\n"))
        write(data, bare, known[bare][1].text)
        run = Run(program, [data], out, options)
        tag = " ".join(options)
        checks.that(run.status == 1, "damaged texts %s: exit status 1" % tag, run.status, run.stderr[-300:])
        witness(checks, run, "damaged texts " + tag)
        rows = run.ranks()
        for rank, (what, damage) in known.items():
            check_row(checks, "%s %s" % (what, tag), rows.get(rank), damage)
            if rows.get(rank, {}).get("status") == "damaged":
                checks.that("rank-%d.json" % rank in run.stderr + run.stdout, what + ": the file is named", run.stderr[-300:])


def heads(checks, program):
    """Each single byte of the head, missing: the events, the rank and the base time are there, unless it was a byte of theirs."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
        os.mkdir(data)
        made, own = {}, ("rank", "distributedInfo", "baseTimeNanoseconds", "1700000000000000000")
        for at in range(len(head(1000)) - 1):
            rank = 1000 + at
            text = document(rank)
            spared = [text.index(word) for word in own + (str(rank),)]
            lengths = [len(word) for word in own + (str(rank),)]
            path = os.path.join(data, "byte-%d-missing.json" % at)
            with open(path, "w") as f:
                f.write(text[:at] + text[at + 1:])
            made[path] = rank, at, any(i - 3 <= at <= i + n + 2 for i, n in zip(spared, lengths))
        run = Run(program, [data], out)
        rows = {row["file"]: row for row in run.rows("rank")}
        for path, (rank, at, its_own) in made.items():
            row, what = rows.get(path), "byte %d of the head is missing" % at
            if not checks.that(row is not None and row["intervals"] == EVENTS, what + ": the events", row):
                continue
            checks.that(its_own or row["rank"] == rank, what + ": the rank", row["rank"])
            checks.that(its_own or row["base_time_ns"] == 1700000000000000000, what + ": the base time", row["base_time_ns"])
            checks.that(row["status"] == "ok" or at - 15 <= row["first_bad_byte"] <= at + 50, what + ": where",
                        row["status"], row["first_bad_byte"])


def repaired_alone(checks, program):
    """What could be repaired is complete and usable: it is said, and the exit status stays 0."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
        os.mkdir(data)
        write(data, 0, document(0))
        write(data, 1, document(1, replaced(11, kernel(5).replace('"device"', '"memory bandwidth (GB/s)": inf, "device"'))))
        run = Run(program, [data], out)
        row = run.ranks().get(1, {})
        checks.that(run.status == 0, "a repaired entry alone: exit status 0", run.status)
        checks.that(row.get("repaired") == 1 and row.get("intervals") == EVENTS, "a repaired entry alone: is counted", row)


def bytes_told(checks, program):
    """What is wrong with the text around the events is said with its own byte."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
        os.mkdir(data)
        write(data, 0, document(0))
        made = {}
        for rank, bad in enumerate(("-5", '"soon"', "null", "2305843009213693952", "[1]"), 1):
            made[rank] = document(rank).replace("1700000000000000000", bad), bad, "baseTimeNanoseconds"
            made[rank + 10] = document(rank + 10).replace(TAIL, '\n], "baseTimeNanoseconds": %s}\n' % bad), bad, "baseTimeNanoseconds"
        long = document(20).replace('"x"', '"%s"' % ("x" * (64 << 20)))
        entries = long.index("\n], ") + 1 - long.index("[\n") - 1
        made[20] = long, None, "64 MiB"
        for rank, (text, _, _) in made.items():
            write(data, rank, text)
        run = Run(program, [data], out)
        rows = run.ranks()
        for rank, (text, bad, word) in made.items():
            row, what = rows.get(rank, {}), "rank %d, %s" % (rank, word)
            at = text.rindex(bad + (", " if rank < 10 else "}")) if bad else (64 << 20) + entries
            checks.that(row.get("first_bad_byte") == at, what + ": its byte", row.get("first_bad_byte"), at)
            checks.that(word in row.get("error", "") and "byte %d of" % at in row["error"], what + ": the words", row.get("error"))
            checks.that("expected" in row["error"] and ";" in row["error"], what + ": what was expected, what was done", row["error"])


def spans(text):
    """[start, end) of each event in a document."""
    at, found = len(head(0)), []
    for entry in events():
        start = text.index(entry, at)
        at = start + len(entry)
        found.append((start, at))
    return found


def cut_texts(checks, program):
    """The same document cut at every seventh byte, each cut a rank."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
        os.mkdir(data)
        write(data, 0, document(0))
        cuts = {}
        for rank, at in enumerate(range(1, len(document(0)) - 3, 7), 1):
            text = document(rank)
            cuts[rank] = (at + len(text) - len(document(0)), text)
            write(data, rank, text[:cuts[rank][0]])
        run = Run(program, [data], out)
        checks.that(run.status == 1, "cut texts: exit status 1", run.status, run.stderr[-300:])
        witness(checks, run, "cut texts")
        rows = run.ranks()
        for rank, (at, text) in cuts.items():
            what, row = "cut at byte %d" % at, rows.get(rank)
            array = text.index("[\n")
            if at <= array:
                checks.that(row is None or row["status"] in ("unreadable", "cut"), what + ": nothing to be had", row)
                continue
            shift = len(head(rank)) - len(head(0))
            whole = [e for e in spans(document(0)) if e[1] + shift <= at]
            begun = [e for e in spans(document(0)) if e[0] + shift < at]
            if checks.that(row is not None and row["status"] == "cut", what + ": status cut", row):
                kernels = len(whole) // 2
                checks.that(row["intervals"] == kernels, "%s: %d kernels" % (what, kernels), row["intervals"])
                checks.that(row["dropped"] == len(begun) - len(whole), what + ": the event that is cut is counted",
                            row["dropped"])
                checks.that(0 <= row["first_bad_byte"] <= at, what + ": where", row["first_bad_byte"])


def other_tools(checks, program):
    """The same damages: tables as TraceLens has them come out, and those of the whole rank are as they were."""
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "traces")
        os.mkdir(data)
        whole = write(data, 0, document(0))
        for rank, (_, make) in enumerate(damages(), 1):
            write(data, rank, make(rank).text)
        out = os.path.join(folder, "out")
        run = Run(program, [data], out, ("compat", "tracelens"))
        checks.that(run.status == 1, "compat tracelens: exit status 1", run.status, run.stderr[-300:])
        with open(os.path.join(out, "notes.txt"), encoding="utf-8", errors="replace") as f:
            checks.that("rank 1: " in f.read(), "compat tracelens: the notes name a damaged rank")
        run = Run(program, [whole], out + "-alone", ("compat", "tracelens"))
        checks.that(run.status == 0, "compat tracelens: a whole rank alone", run.status, run.stderr[-300:])
        tables = [name for name in os.listdir(out + "-alone") if name.endswith(".csv") and not name.startswith("nccl")]
        checks.that(len(tables) >= 9, "compat tracelens: its tables", tables)
        for name in tables:
            with open(os.path.join(out, "rank0", name), "rb") as a, open(os.path.join(out + "-alone", name), "rb") as b:
                checks.that(a.read() == b.read(), "compat tracelens: %s of the whole rank" % name)


def main():
    checks = Checks()
    program, watched = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[-1])
    files.crowds(checks, program)  # first: its bound on memory is the lowest
    some = os.path.join(os.environ["TLMPI_CORPUS"], "traces") if os.environ.get("TLMPI_CORPUS") else "data/stories"
    sweep(checks, program, traces_of([some]), range(1, 5))
    files.names(checks, program)
    files.bounded(checks, program)
    files.huge(checks, program)
    for options in ((), ("--parser", "yajl")):
        texts(checks, watched, options)
    heads(checks, watched)
    repaired_alone(checks, watched)
    bytes_told(checks, watched)
    cut_texts(checks, watched)
    files.gzips(checks, watched)
    files.files(checks, watched)
    files.pipes(checks, watched)
    other_tools(checks, watched)
    checks.close()


main()
