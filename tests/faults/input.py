#!/usr/bin/env python3
"""input.py TLMPI - damaged traces: no crash, no hang; the others analysed, whole events kept, lost ones counted.

One folder holds many ranks, each damaged in its own way, so one run reads them all and rank 0, which is whole, is the
witness that the others do it no harm.
"""

import gzip
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import zlib

from traces import EVENTS, STEP_US, TAIL, Checks, Run, document, events, head, kernel, launch, write


def replaced(index, text):
    """All events, the one at `index` another."""
    entries = events()
    entries[index] = text
    return entries


# What is wrong with a rank: its text, kernels that must be there, entries lost, entries repaired (None: either way), whether the
# document around the entries is damaged.
class Damage:
    def __init__(self, text, kernels=EVENTS, lost=0, repaired=0, compute_ns=None, document=False):
        self.text, self.kernels, self.lost, self.repaired, self.document = text, kernels, lost, repaired, document
        self.compute_ns = compute_ns if compute_ns is not None else 5000 * (kernels or 0)


def damages():
    k = kernel(5)
    for word in ("NaN", "inf", "-inf", "Infinity", "N/A"):
        bad = k.replace('"device"', '"memory bandwidth (GB/s)": %s, "device"' % word)
        yield "bare %s in args" % word, lambda r, b=bad: Damage(document(r, replaced(11, b)), repaired=1)
    yield "raw control bytes in a name", lambda r: Damage(
        document(r, replaced(11, k.replace("gemm", "ge\x01\x1f\tmm"))), repaired=1)
    yield "invalid UTF-8 in a name", lambda r: Damage(
        document(r, replaced(11, k)).encode().replace(b'"gemm", "pid": 0, "tid": 7, "ts": 54', b'"ge\xff\xc3mm", "pid": 0, "tid": 7, "ts": 54'),
        repaired=1)
    yield "unescaped quotes in a name", lambda r: Damage(
        document(r, replaced(11, k.replace("gemm", 'ge"m"m'))), kernels=None, lost=None, repaired=None)
    yield "one unescaped quote in a name", lambda r: Damage(
        document(r, replaced(11, k.replace("gemm", 'ge"mm'))), kernels=None, lost=None, repaired=None)
    yield "duplicate keys: the last counts", lambda r: Damage(
        document(r, replaced(11, k.replace('"dur": 5', '"dur": 1, "dur": 5'))))
    yield "a byte order mark", lambda r: Damage(b"\xef\xbb\xbf" + document(r).encode())
    yield "CRLF line ends", lambda r: Damage(document(r).replace("\n", "\r\n"))
    yield "a comma behind the last event", lambda r: Damage(document(r).replace(TAIL, "," + TAIL))
    yield "ts and dur as texts", lambda r: Damage(document(r, replaced(11, kernel(5, ts="54", dur="5"))), repaired=None)
    yield "negative dur", lambda r: Damage(document(r, replaced(11, kernel(5, dur=-3))), repaired=1, compute_ns=55000)
    yield "no dur", lambda r: Damage(document(r, replaced(11, k.replace('"dur": 5, ', ""))), repaired=None, compute_ns=55000)
    yield "a ts of 20 digits", lambda r: Damage(
        document(r, replaced(11, k.replace('"ts": 54', '"ts": 12345678901234567890'))), kernels=11, lost=1)
    yield "a dur of 20 digits", lambda r: Damage(
        document(r, replaced(11, k.replace('"dur": 5', '"dur": 12345678901234567890'))), kernels=11, lost=1)
    yield "20 digits in an argument nobody reads", lambda r: Damage(
        document(r, replaced(11, kernel(5, args={"Addr": 12345678901234567890}))))
    yield "objects behind traceEvents", lambda r: Damage(
        document(r).replace(TAIL, '\n], "deviceProperties": [' + kernel(90) + '], "more": {"traceEvents": [' + kernel(91) +
                            ']}, "traceName": "x"}\n'))
    yield "a word between two events", lambda r: Damage(
        document(r, events()[:11] + ["nonsense"] + events()[11:]), lost=1)
    yield "null and a number between two events", lambda r: Damage(
        document(r, events()[:11] + ["null", "17"] + events()[11:]), lost=2)
    yield "an event that is not closed", lambda r: Damage(
        document(r, replaced(11, k[:-1])), kernels=None, lost=None, repaired=None)
    yield "a plus before a number", lambda r: Damage(
        document(r, replaced(11, k.replace('"ts": 54', '"ts": +54'))), repaired=1)
    yield "texts and arrays between two events", lambda r: Damage(
        document(r, events()[:11] + ['"a"', '"b"', "[1, [2]]", "[]"] + events()[11:]), lost=4)
    yield "a bracket in the middle of a number, its rest behind", lambda r: Damage(
        document(r, replaced(11, k.replace('"dur": 5', '"dur": 1}5'))), kernels=11, lost=1)
    yield "torn inside a number, then the next event", lambda r: Damage(
        document(r).replace(k + ",\n", k[:k.index('"dur": 5') + 8]), kernels=11, lost=1)
    yield "a comma missing", lambda r: Damage(document(r).replace(k + ",", k), repaired=1)
    yield "all commas missing", lambda r: Damage(head(r) + "\n".join(events()) + TAIL, repaired=2 * EVENTS - 1)
    yield "a kernel as a begin and an end", lambda r: Damage(
        document(r, replaced(11, kernel(5, ph="B") + ",\n" + kernel(5, ph="E", ts=59))), kernels=11, lost=2)
    yield "a brace too many", lambda r: Damage(document(r, replaced(11, k + "}")), repaired=1)
    yield "a semicolon for a comma", lambda r: Damage(document(r).replace(k + ",", k + ";"), lost=1)
    yield "the last bracket missing", lambda r: Damage(head(r) + ",\n".join(events()) + "}\n", document=True)
    yield "its own end in the middle", lambda r: Damage(
        document(r).replace(k + ",", k + TAIL + ","), document=True)
    yield "its own end in the middle of an event", lambda r: Damage(
        document(r).replace(k, k[:40] + TAIL + k[40:]), kernels=11, lost=1)
    yield "a bad value in the head", lambda r: Damage(document(r).replace("1,", "@,", 1), document=True)
    yield "a bare quote in the head", lambda r: Damage(document(r).replace('"nccl"', '"nc"cl"', 1), document=True)
    yield "a brace too few in the head", lambda r: Damage(document(r).replace("},", ",", 1), document=True)
    yield "a brace too many in the head", lambda r: Damage(document(r).replace("},", "}},", 1), document=True)
    yield "a bracket before the head", lambda r: Damage("[" + document(r), document=True)
    yield "a head without its brace", lambda r: Damage(document(r)[1:], document=True)
    yield "an array without its bracket", lambda r: Damage(document(r).replace("[\n", "\n"), document=True)
    yield "a tail without its bracket", lambda r: Damage(document(r).replace("\n],", "\n,"), document=True)
    yield "a bare quote in the tail", lambda r: Damage(document(r).replace('"x"', '"x"y"'), document=True)
    yield "a million brackets deep", lambda r: Damage(
        document(r, replaced(11, kernel(5, args={"x": 0}).replace('"x": 0', '"x": ' + "[" * 10**6 + "]" * 10**6))),
        kernels=None, lost=None, repaired=None)
    yield "a million brackets that never close", lambda r: Damage(
        document(r, events() + ['{"args": ' + "[" * 10**6]), lost=None)
    yield "a name of 100 kB", lambda r: Damage(document(r, replaced(11, kernel(5, name="gemm" * 25000))), repaired=1)


def check_row(checks, what, row, damage):
    if not checks.that(row is not None, what + ": a row in rank", row):
        return
    lost, repaired = row["dropped"], row["repaired"]
    if damage.kernels is None:
        # One event is in doubt: it may be lost, or repaired; all others stand.
        checks.that(row["intervals"] >= EVENTS - 1, what + ": all other kernels kept", row["intervals"])
        checks.that(lost + repaired >= 1 or row["intervals"] == EVENTS, what + ": what was lost is counted", row)
    else:
        checks.that(row["intervals"] == damage.kernels, "%s: %d kernels" % (what, damage.kernels), row["intervals"])
        checks.that(row["kernel_ns"] == damage.compute_ns, what + ": their time", row["kernel_ns"], damage.compute_ns)
    if damage.lost is not None:
        checks.that(lost == damage.lost, "%s: %d entries lost" % (what, damage.lost), lost)
    if damage.repaired is not None:
        checks.that(repaired == damage.repaired, "%s: %d entries repaired" % (what, damage.repaired), repaired)
    if lost > 0 or damage.document:
        checks.that(row["status"] in ("damaged", "cut"), what + ": status damaged", row["status"])
    elif repaired > 0:
        checks.that(row["status"] == "ok", what + ": nothing is missing, status ok", row["status"])
    if lost + repaired > 0 or damage.document:
        checks.that(row["base_time_ns"] == 1700000000000000000, what + ": the base time", row["base_time_ns"])
        checks.that(row["first_bad_byte"] >= 0, what + ": the first bad byte", row["first_bad_byte"])
        checks.that(str(row["first_bad_byte"]) in row["error"], what + ": the byte in the message", row["error"])
    elif row["status"] != "cut":
        checks.that(row["status"] == "ok" and row["first_bad_byte"] == -1, what + ": status ok", row)


def witness(checks, run, what):
    row = run.ranks().get(0, {})
    checks.that(row.get("status") == "ok" and row.get("intervals") == EVENTS, what + ": the whole rank is as it was", row)


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


def gzips(checks, program):
    """Compressed files, whole and not."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
        os.mkdir(data)
        write(data, 0, document(0))
        text = document(1).encode()
        members = gzip.compress(text[:700]) + gzip.compress(text[700:1500]) + gzip.compress(text[1500:])
        write(data, 1, members, ".gz")
        write(data, 2, gzip.compress(document(2).encode()) + b"\0" * 512, ".gz")
        write(data, 3, gzip.compress(document(3).encode()) + b"no member at all", ".gz")
        packed = bytearray(gzip.compress(document(4).encode()))
        packed[-5] ^= 0xff
        write(data, 4, bytes(packed), ".gz")
        packed = bytearray(gzip.compress(document(5).encode()))
        packed[len(packed) // 2] ^= 0x55
        write(data, 5, bytes(packed), ".gz")
        cuts = {}
        whole = len(gzip.compress(document(100).encode()))
        for rank, at in enumerate(range(1, whole - 1, 3), 100):
            packed = gzip.compress(document(rank).encode())[:at]
            cuts[rank] = (at, zlib.decompressobj(31).decompress(packed))
            write(data, rank, packed, ".gz")
        run = Run(program, [data], out)
        rows = run.ranks()
        checks.that(run.status == 1, "gzip: exit status 1", run.status, run.stderr[-300:])
        witness(checks, run, "gzip")
        row = rows.get(1, {})
        checks.that(row.get("status") == "ok" and row.get("intervals") == EVENTS, "three gzip members are one text", row)
        row = rows.get(2, {})
        checks.that(row.get("intervals") == EVENTS, "zero bytes behind the last member", row)
        for rank, what in ((3, "bytes behind the last member"), (4, "a wrong checksum")):
            row = rows.get(rank, {})
            checks.that(row.get("intervals") == EVENTS and row.get("status") in ("damaged", "cut") and row.get("error"),
                        what + ": all is read, the fault is named", row)
        row = rows.get(5, {})
        checks.that(row.get("status") in ("damaged", "cut", "unreadable") and "gzip" in row.get("error", ""), "a broken gzip stream", row)
        # The other text that a flipped bit makes of the data is not what is wrong.
        for flipped in range(len(packed) // 3, len(packed) // 2, 7):
            packed = bytearray(gzip.compress(document(6).encode()))
            packed[flipped] ^= 4
            run_of = Run(program, [write(folder, 6, bytes(packed), ".gz")], out + "-flipped", ("-f",))
            checks.that("gzip" in run_of.stderr and run_of.stderr.count("rank-6.json.gz") <= 1 + run_of.stderr.count("\n"),
                        "a bit flipped at byte %d: the gzip stream is named, once" % flipped, run_of.status, run_of.stderr[-400:])
        for rank, (at, inflated) in cuts.items():
            what, row = "gzip cut at byte %d" % at, rows.get(rank)
            # What comes out of the last block may differ by a few bytes from one library to another.
            most, least = inflated.count(b'"kernel"'), inflated[:-200].count(b'"kernel"') - 1
            if b'"traceEvents": [' not in inflated:
                checks.that(row is None or row["status"] in ("unreadable", "cut"), what + ": nothing to be had", row)
            elif inflated.rstrip().endswith(TAIL.strip().encode()):
                checks.that(row is not None and row["intervals"] == EVENTS and row["status"] in ("cut", "damaged"),
                            what + ": the text is whole, the file is not", row)
            elif checks.that(row is not None and row["status"] == "cut", what + ": status cut", row):
                checks.that(least <= row["intervals"] <= most, "%s: %d to %d kernels" % (what, least, most), row["intervals"])


def huge(checks, program):
    """A gigabyte of one text: in the name of an event, and in front of the array.  Memory stays bounded."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
        os.mkdir(data)
        write(data, 0, document(0))
        block = b"x" * (1 << 20)
        names = {3: "greeting.json.gz", 4: "profile.json.gz"}
        for rank, before, after in ((3, '{"note": "', '"}'), (4, '{"traceName": "', '", "traceEvents": []}'), (1, head(1) + ",\n".join(events()) + ',\n{"name": "', '"}' + TAIL),
                                    (2, '{"note": "', '", ' + document(2)[1:])):
            name = names.get(rank, "rank-%d.json.gz" % rank)
            with gzip.open(os.path.join(data, name), "wb", compresslevel=1) as f:
                f.write(before.encode())
                for _ in range(1024 if rank < 3 else 100):
                    f.write(block)
                f.write(after.encode())
        run = Run(program, [data], out, timeout=300)
        rows = run.ranks()
        checks.that(run.status == 1, "1 GB texts: exit status 1", run.status, run.stderr[-300:])
        witness(checks, run, "1 GB texts")
        row = rows.get(1, {})
        checks.that(row.get("intervals") == EVENTS and row.get("dropped") == 1, "a name of 1 GB: that entry is lost", row)
        row = rows.get(2, {})
        checks.that(row.get("status") == "unreadable" and "searched no further" in row.get("error", ""),
                    "1 GB before the array: the rank is named with the reason", row)
        checks.that("left alone: " in run.stderr and "/greeting.json.gz: " in run.stderr, "a large file of something else",
                    run.stderr[-600:])
        checks.that("cannot be read: " in run.stderr and "/profile.json.gz: " in run.stderr, "it begins as a trace does",
                    run.stderr[-600:])
        os.remove(os.path.join(data, names[3]))
        for rank in (1, 2):
            os.remove(os.path.join(data, "rank-%d.json.gz" % rank))
        run = Run(program, [data], out + "-begun")
        checks.that(run.status == 1, "a trace that is searched in vain: exit status 1", run.status)
        if "asan" not in program:
            checks.that(run.peak_bytes < 300 << 20, "1 GB texts: less than 300 MB of memory", run.peak_bytes)


def names(checks, program):
    """Names of megabytes, each another one, and then no memory: the one rank is read in little or given up, the others stay."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
        os.mkdir(data)
        write(data, 0, document(0))
        path = os.path.join(data, "rank-1.json.gz")

        def fill(entries):
            with gzip.open(path, "wt", compresslevel=1) as f:
                f.write(head(1))
                f.writelines(entries)
                f.write(events()[0] + TAIL)

        fill(kernel(i, name="%d" % i + "n" * (4 << 20), args={"correlation": i}) + ",\n" for i in range(30))
        runs = [Run(program, [data], out + str(i), options) for i, options in
                enumerate(((), ("--parser", "yajl"), ("--no-filter",)))]
        for run in runs:
            row = run.ranks().get(1, {})
            checks.that(run.status == 0 and row.get("intervals") == row.get("repaired") == 30, "long names are cut", row)
            checks.that(run.rows("interval") == runs[0].rows("interval"), "long names are cut to the same texts")
        checks.that(len({r["name"] for r in runs[0].rows("interval") if r["rank"] == 1}) == 30, "long names stay apart")
        if "asan" in program:
            return
        checks.that(runs[0].peak_bytes < 150 << 20, "long names: less than 150 MB of memory", runs[0].peak_bytes)
        fill(kernel(i, name="k%d" % i) + ",\n" for i in range(200000))

        def limited(kilobytes, path):
            prefix = ("sh", "-c", 'ulimit -v %d; exec "$@"' % kilobytes, "sh")
            return Run(program, [path], out + str(kilobytes), ("-f",), prefix=prefix)

        least = 20000           # what the program itself takes
        while least < 10**6 and limited(least, os.path.join(data, "rank-0.json")).status != 0:
            least += 10000
        for more in (5000, 10000, 20000, 40000, 60000):
            run = limited(least + more, data)
            row = run.ranks().get(1, {})
            what = "%d kB of memory" % (least + more)
            checks.that(run.status == 1 and row.get("status") == "unreadable" and "memory is out" in row.get("error", ""),
                        what + ": the rank is given up", run.status, row, run.stderr[-300:])
            witness(checks, run, what)


def files(checks, program):
    """What is no trace at all."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
        os.mkdir(data)
        write(data, 0, document(0))
        write(data, 1, "")
        os.symlink("/nonexistent/file", os.path.join(data, "rank-2.json"))
        write(data, 3, b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
        write(data, 4, gzip.compress(b""), ".gz")
        write(data, 5, json.dumps({"schema": "1.0.2-chakra", "nodes": [{"id": 1, "name": "x"}]}))
        write(data, 6, json.dumps({"some": ["other", "json"]}))
        for rank, code in ((8, "utf-16"), (9, "utf-16-le"), (10, "utf-16-be")):
            write(data, rank, document(rank).encode(code))
        os.chmod(folder, 0o755)
        prefix = ()
        write(data, 7, document(7))
        os.chmod(os.path.join(data, "rank-7.json"), 0)
        if os.geteuid() == 0:
            # Modes mean nothing to root: the program runs as somebody else.
            if shutil.which("setpriv") is None:
                checks.skip("a file without read permission: root may read all, and setpriv is not there")
                os.remove(os.path.join(data, "rank-7.json"))
            else:
                prefix = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
        os.chmod(folder, 0o777)
        os.chmod(data, 0o755)
        run = Run(program, [data], out, prefix=prefix)
        rows = run.ranks()
        checks.that(run.status == 1, "files that are no traces: exit status 1", run.status, run.stderr[-500:])
        witness(checks, run, "files that are no traces")
        words = run.stderr + run.stdout
        for rank, what in ((1, "an empty file"), (2, "a dangling link"), (3, "a picture"), (4, "an empty gzip file"),
                           (7, "a file without read permission")):
            if os.path.lexists(os.path.join(data, "rank-%d.json" % rank)) or rank == 4:
                checks.that("rank-%d.json" % rank in words, what + ": is named", words[-600:])
                checks.that(rank not in rows or rows[rank]["status"] == "unreadable", what + ": is unreadable", rows.get(rank))
        for rank in (8, 9, 10):
            checks.that("expected UTF-8, found UTF-16" in rows.get(rank, {}).get("error", ""), "UTF-16 is named", rows.get(rank))
        for rank in (5, 6):
            checks.that(rank not in rows, "other JSON is no rank", rows.get(rank))

        empty = os.path.join(folder, "empty")
        os.mkdir(empty)
        for what, path in (("a folder without traces", empty), ("a path that is not there", empty + "/no"),
                           ("an empty file alone", os.path.join(data, "rank-1.json"))):
            run = Run(program, [path], os.path.join(folder, "none"))
            checks.that(run.status == 3, what + ": exit status 3", run.status, run.stderr[-300:])
            checks.that(os.path.basename(path) in run.stderr, what + ": is named", run.stderr[-300:])
            checks.that(not os.path.exists(os.path.join(folder, "none.h5")), what + ": no result file")


def pipes(checks, program):
    """Pipes: read as a stream where they are named and somebody writes; else said, and never waited for."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
        os.mkdir(data)
        write(data, 0, document(0))
        os.mkfifo(os.path.join(data, "rank-1.json"))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.join(data, "rank-2.json"))
        run = Run(program, [data], out, timeout=60)
        checks.that(run.status == 1, "a pipe and a socket in a folder: exit status 1", run.status, run.stderr[-300:])
        witness(checks, run, "a pipe and a socket in a folder")
        for rank, word in ((1, "a pipe"), (2, "a socket")):
            row = run.ranks().get(rank, {})
            checks.that(row.get("status") == "unreadable" and word in row.get("error", ""), word + " in a folder is named", row)
            checks.that("rank-%d.json" % rank in run.stderr + run.stdout, word + ": its path", run.stderr[-300:])
        for what, path, word in (("a pipe without a writer", os.path.join(data, "rank-1.json"), "writer"),
                                 ("a socket", os.path.join(data, "rank-2.json"), "a socket"),
                                 ("a device", "/dev/zero", "a device")):
            for command in (["run"], ["check"], ["compat", "hta"]):
                into = None if command == ["check"] else os.path.join(folder, "none")
                run = Run(program, [path], into, command, timeout=60)
                checks.that(run.status == 3 and (word in run.stderr or "pipe" in run.stderr),
                            "%s is refused with words, %s" % (what, " ".join(command)), run.status, run.stderr[-300:])
        for what, packed in (("text", document(3).encode()), ("gzip", gzip.compress(document(3).encode()))):
            source = write(folder, 3, packed)
            named = os.path.join(folder, "named-%s.json" % what)
            os.mkfifo(named)
            writer = subprocess.Popen(["sh", "-c", 'sleep 1; cat "$1" > "$2"', "sh", source, named])
            run = Run(program, [named], os.path.join(folder, "late-" + what), timeout=60)
            row = run.ranks().get(3, {})
            checks.that(run.status == 0 and row.get("intervals") == EVENTS, "a named pipe of %s, its writer late" % what, row)
            writer.wait()
            with open(source, "rb") as f, subprocess.Popen(["cat"], stdin=f, stdout=subprocess.PIPE) as cat:
                fd = cat.stdout.fileno()
                shown = subprocess.run([program, "check", "/dev/fd/%d" % fd], stdout=subprocess.PIPE, pass_fds=[fd],
                                       stderr=subprocess.PIPE, check=False, timeout=60)
            checks.that(shown.returncode == 0 and str(2 * EVENTS) in shown.stdout.decode(), "a pipe of the shell, " + what,
                        shown.returncode, shown.stderr[-300:])


def crowds(checks, program):
    """Thousands of devices and thousands of steps: rows and memory grow with what the trace holds, not with the product."""
    n = 3000
    marks = [launch(i, cat="user_annotation", name="ProfilerStep#%d" % i, dur=STEP_US, args={}) for i in range(n)]
    for what, start, dur, by_step in (("a piece of work a device", lambda d: d * STEP_US + 2, 3, n),
                                      ("work through all steps", lambda d: 2, n * STEP_US - 4, 0)):
        with tempfile.TemporaryDirectory() as folder:
            data, out = os.path.join(folder, "traces"), os.path.join(folder, "out")
            os.mkdir(data)
            work = [kernel(d, ts=start(d), dur=dur, args={"device": d}) for d in range(n)]
            write(data, 0, document(0, marks + work))
            run = Run(program, [data], out)
            rows = run.rows("breakdown")
            checks.that(run.status == 0, "%d devices and steps, %s: exit status 0" % (n, what), run.status, run.stderr[-300:])
            checks.that(len(rows) == 2 * (n + 1) + n + by_step, "%d devices and steps, %s: rows" % (n, what), len(rows))
            whole = sum(r["busy_ns"] for r in rows if r["rank"] == 0 and r["device"] == -1 and r["step"] == -1)
            steps = sum(r["busy_ns"] for r in rows if r["rank"] == 0 and r["device"] == -1 and r["step"] >= 0)
            devices = sum(r["busy_ns"] for r in rows if r["device"] >= 0 and r["step"] == -1)
            checks.that(whole == steps == devices == n * dur * 1000, "%d devices and steps, %s: the sums" % (n, what),
                        whole, steps, devices)
            if "asan" not in program:
                checks.that(run.peak_bytes < 64 << 20, "%d devices and steps, %s: memory" % (n, what), run.peak_bytes)


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
    program = os.path.abspath(sys.argv[1])
    crowds(checks, program)         # first: its bound on memory is the lowest
    names(checks, program)
    for options in ((), ("--parser", "yajl"), ("--no-filter",)):
        texts(checks, program, options)
    heads(checks, program)
    repaired_alone(checks, program)
    bytes_told(checks, program)
    cut_texts(checks, program)
    gzips(checks, program)
    files(checks, program)
    pipes(checks, program)
    other_tools(checks, program)
    huge(checks, program)
    checks.close()


main()
