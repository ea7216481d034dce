#!/usr/bin/env python3
"""What may be wrong with the text of a trace, and what must be left of it then: damages() has the ways by name.

Alone it does all of that to pieces of any traces of Kineto: every seed chooses a piece of one and the kernel that is damaged in it;
all damaged copies are ranks of one folder, with a whole one, which is read by the fast reader, by yajl and on 3 procs.
"""

import argparse
import glob
import gzip
import json
import os
import random
import re
import sys
import tempfile

from traces import EVENTS, TAIL, Checks, Run, document, events, head, kernel, write

MOST_BYTES = 150 << 20
ANY = -1    # of kernels: some are left


def replaced(index, text):
    """All events, the one at `index` another."""
    return replaced_of(events(), index, text)


def replaced_of(entries, index, text):
    return entries[:index] + [text] + entries[index + 1:]


def changed(entry, key, value):
    """The entry with another text as the value of the key."""
    return re.sub('"%s": [^,}]+' % key, lambda _: '"%s": %s' % (key, value), entry, count=1)


def number(entry, key):
    """The value of the key, a number, as it is written."""
    return re.search('"%s": ([^,}]+)' % key, entry).group(1)


def packed(text):
    return gzip.compress(text.encode(), mtime=0)


def flipped(data):
    at = len(data) * 2 // 3
    return data[:at] + bytes([data[at] ^ 16]) + data[at + 1:]


def in_name(entry, text):
    """The entry with the text behind the second byte of its name."""
    return re.sub('("name": "..)', lambda m: m.group(1) + text, entry, count=1)


# What is wrong with a rank: its text, kernels that must be there, entries lost, entries repaired (None: either way), whether the
# document around the entries is damaged.
class Damage:
    def __init__(self, text, kernels=EVENTS, lost=0, repaired=0, compute_ns=None, document=False):
        self.text, self.kernels, self.lost, self.repaired, self.document = text, kernels, lost, repaired, document
        self.compute_ns = compute_ns if compute_ns is not None else 5000 * (kernels or 0)


def damages(entries=None, at=11):
    """Each way by name, and what makes the damage for a rank: of these entries, the one at `at`, a kernel."""
    entries = events() if entries is None else entries
    k = entries[at]

    def other(text):
        return replaced_of(entries, at, text)

    def whole(rank):
        return document(rank, entries)

    for word in ("NaN", "inf", "-inf", "Infinity", "N/A"):
        bad = k.replace('"device"', '"memory bandwidth (GB/s)": %s, "device"' % word)
        yield "bare %s in args" % word, lambda r, b=bad: Damage(document(r, other(b)), repaired=1)
    yield "raw control bytes in a name", lambda r: Damage(
        document(r, other(in_name(k, "\x01\x1f\t"))), repaired=1)
    yield "invalid UTF-8 in a name", lambda r: Damage(
        document(r, other(in_name(k, "\x00"))).encode().replace(b"\x00", b"\xff\xc3"), repaired=1)
    yield "unescaped quotes in a name", lambda r: Damage(
        document(r, other(in_name(k, '"m"'))), kernels=None, lost=None, repaired=None)
    yield "one unescaped quote in a name", lambda r: Damage(
        document(r, other(in_name(k, '"'))), kernels=None, lost=None, repaired=None)
    yield "a NUL byte in a name", lambda r: Damage(document(r, other(in_name(k, "\x00"))), repaired=1)
    yield "half a UTF-16 pair in a name", lambda r: Damage(document(r, other(in_name(k, "\\ud83d"))), repaired=None)
    yield "an escape that is none in a name", lambda r: Damage(document(r, other(in_name(k, "\\x41"))), repaired=None)
    yield "a key without quotes", lambda r: Damage(
        document(r, other(k.replace('"dur"', "dur"))), kernels=None, lost=None, repaired=None)
    yield "a key without its colon", lambda r: Damage(
        document(r, other(k.replace('"dur": ', '"dur" '))), kernels=None, lost=None, repaired=None)
    yield "quotes of the other kind", lambda r: Damage(
        document(r, other(k.replace('"', "'"))), kernels=EVENTS - 1, lost=1)
    yield "a hexadecimal number", lambda r: Damage(
        document(r, other(changed(k, "dur", "0x5"))), kernels=None, lost=None, repaired=None)
    yield "duplicate keys: the last counts", lambda r: Damage(
        document(r, other(k.replace('"dur": ', '"dur": 1, "dur": '))))
    yield "a byte order mark", lambda r: Damage(b"\xef\xbb\xbf" + whole(r).encode())
    yield "CRLF line ends", lambda r: Damage(whole(r).replace("\n", "\r\n"))
    yield "a comma behind the last event", lambda r: Damage(whole(r).replace(TAIL, "," + TAIL))
    yield "ts and dur as texts", lambda r: Damage(document(r, other(changed(changed(k, "ts", '"%s"' % number(k, "ts")), "dur", '"%s"' % number(k, "dur")))), repaired=None)
    yield "negative dur", lambda r: Damage(document(r, other(changed(k, "dur", "-3"))), repaired=1, compute_ns=55000)
    yield "no dur", lambda r: Damage(document(r, other(k.replace('"dur": %s, ' % number(k, "dur"), ""))), repaired=None, compute_ns=55000)
    yield "a ts of 20 digits", lambda r: Damage(
        document(r, other(changed(k, "ts", "12345678901234567890"))), kernels=EVENTS - 1, lost=1)
    yield "a dur of 20 digits", lambda r: Damage(
        document(r, other(changed(k, "dur", "12345678901234567890"))), kernels=EVENTS - 1, lost=1)
    yield "20 digits in an argument nobody reads", lambda r: Damage(
        document(r, other(k.replace('"args": {', '"args": {"Addr": 12345678901234567890, '))))
    yield "objects behind traceEvents", lambda r: Damage(
        whole(r).replace(TAIL, '\n], "deviceProperties": [' + kernel(90) + '], "more": {"traceEvents": [' + kernel(91) +
                            ']}, "traceName": "x"}\n'))
    yield "a word between two events", lambda r: Damage(
        document(r, entries[:at] + ["nonsense"] + entries[at:]), lost=1)
    yield "null and a number between two events", lambda r: Damage(
        document(r, entries[:at] + ["null", "17"] + entries[at:]), lost=2)
    yield "an event that is not closed", lambda r: Damage(
        document(r, other(k[:-1])), kernels=None, lost=None, repaired=None)
    yield "a plus before a number", lambda r: Damage(
        document(r, other(k.replace('"ts": ', '"ts": +'))), repaired=1)
    yield "texts and arrays between two events", lambda r: Damage(
        document(r, entries[:at] + ['"a"', '"b"', "[1, [2]]", "[]"] + entries[at:]), lost=4)
    yield "a bracket in the middle of a number, its rest behind", lambda r: Damage(
        document(r, other(changed(k, "dur", "1}5"))), kernels=EVENTS - 1, lost=1)
    yield "torn inside a number, then the next event", lambda r: Damage(
        whole(r).replace(k + ",\n", k[:k.index('"dur": ') + 8]), kernels=EVENTS - 1, lost=1)
    yield "a comma missing", lambda r: Damage(whole(r).replace(k + ",", k), repaired=1)
    yield "all commas missing", lambda r: Damage(head(r) + "\n".join(entries) + TAIL, repaired=len(entries) - 1)
    yield "a kernel as a begin and an end", lambda r: Damage(
        document(r, other(k.replace('"X"', '"B"') + ",\n" + k.replace('"X"', '"E"'))), kernels=EVENTS - 1, lost=2)
    yield "a brace too many", lambda r: Damage(document(r, other(k + "}")), repaired=1)
    yield "a semicolon for a comma", lambda r: Damage(whole(r).replace(k + ",", k + ";"), lost=1)
    yield "the last bracket missing", lambda r: Damage(head(r) + ",\n".join(entries) + "}\n", document=True)
    yield "its own end in the middle", lambda r: Damage(
        whole(r).replace(k + ",", k + TAIL + ","), document=True)
    yield "its own end in the middle of an event", lambda r: Damage(
        whole(r).replace(k, k[:40] + TAIL + k[40:]), kernels=EVENTS - 1, lost=1)
    yield "a bad value in the head", lambda r: Damage(whole(r).replace("1,", "@,", 1), document=True)
    yield "a bare quote in the head", lambda r: Damage(whole(r).replace('"nccl"', '"nc"cl"', 1), document=True)
    yield "a brace too few in the head", lambda r: Damage(whole(r).replace("},", ",", 1), document=True)
    yield "a brace too many in the head", lambda r: Damage(whole(r).replace("},", "}},", 1), document=True)
    yield "a bracket before the head", lambda r: Damage("[" + whole(r), document=True)
    yield "a head without its brace", lambda r: Damage(whole(r)[1:], document=True)
    yield "an array without its bracket", lambda r: Damage(whole(r).replace("[\n", "\n"), document=True)
    yield "a tail without its bracket", lambda r: Damage(whole(r).replace("\n],", "\n,"), document=True)
    yield "a bare quote in the tail", lambda r: Damage(whole(r).replace('"x"', '"x"y"'), document=True)
    yield "gzip, cut in the middle", lambda r: Damage(packed(whole(r))[:-len(whole(r)) // 99 - 20], kernels=ANY, lost=None, repaired=None)
    yield "gzip, a bit flipped in it", lambda r: Damage(flipped(packed(whole(r))), kernels=ANY, lost=None, repaired=None)
    yield "gzip, its checksum wrong", lambda r: Damage(packed(whole(r))[:-8] + b"12345678", document=True)
    yield "gzip, and text behind it", lambda r: Damage(packed(whole(r)) + b"more than this", document=True)
    yield "a million brackets deep", lambda r: Damage(
        document(r, other(k.replace('"args": {', '"args": {"x": ' + "[" * 10**6 + "]" * 10**6 + ", "))),
        kernels=None, lost=None, repaired=None)
    yield "a million brackets that never close", lambda r: Damage(
        document(r, entries + ['{"args": ' + "[" * 10**6]), lost=None)
    yield "a name of 100 kB", lambda r: Damage(document(r, other(in_name(k, "gemm" * 25000))), repaired=1)


def check_row(checks, what, row, damage, whole=EVENTS):
    """Of a rank whose trace has `whole` kernels; those of traces.events(), where it is as many as these."""
    if not checks.that(row is not None, what + ": a row in rank", row):
        return
    lost, repaired = row["dropped"], row["repaired"]
    if damage.kernels == ANY:
        checks.that(row["intervals"] <= whole and row["status"] in ("cut", "damaged"), what + ": it is cut, or damaged", row)
        return
    if damage.kernels is None:
        # One event is in doubt: it may be lost, or repaired; all others stand.
        checks.that(row["intervals"] >= whole - 1, what + ": all other kernels kept", row["intervals"])
        checks.that(lost + repaired >= 1 or row["intervals"] == whole, what + ": what was lost is counted", row)
    else:
        expected = whole - EVENTS + damage.kernels
        checks.that(row["intervals"] == expected, "%s: %d kernels" % (what, expected), row["intervals"])
        checks.that(whole != EVENTS or row["kernel_ns"] == damage.compute_ns, what + ": their time", row["kernel_ns"], damage.compute_ns)
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


# ------------------------------------------------------------------------------------------------------------- any trace

def piece_of(path, chance):
    """Entries of a trace, each in a line, and the place of a kernel among them; None: it has no such kernel."""
    try:
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
            found = json.loads(f.read())
    except (OSError, ValueError, EOFError):
        return None
    entries = found.get("traceEvents", []) if isinstance(found, dict) else found
    entries = [e for e in entries if isinstance(e, dict) and e.get("ph") == "X" and isinstance(e.get("args"), dict)]
    kernels = [i for i, e in enumerate(entries[:-1]) if e.get("cat") == "kernel" and "device" in e["args"] and
               re.match(r"[A-Za-z_]{4}", e["name"]) and isinstance(e.get("dur"), (int, float))]
    if not kernels:
        return None
    at = chance.choice(kernels)
    start = max(0, at - chance.randrange(20, 200))
    first = {key: entries[at].pop(key) for key in ("ph", "cat", "name", "pid", "tid", "ts", "dur")}
    entries[at] = {**first, "args": {"device": entries[at]["args"].pop("device"), **entries[at]["args"]}}
    return [json.dumps(e) for e in entries[start:at + chance.randrange(20, 200)]], at - start


def sweep(checks, program, paths, seeds, procs=0):
    """What is wrong with a piece of a trace, each in a rank of its own; read with yajl, and on so many procs, it is the same."""
    for seed in seeds:
        chance = random.Random(seed)
        path = chance.choice(paths)
        piece = piece_of(path, chance)
        if piece is None:
            continue
        with tempfile.TemporaryDirectory(prefix="tlmpi-test.") as folder:
            data = os.path.join(folder, "traces")
            os.mkdir(data)
            write(data, 0, document(0, piece[0]))
            ways = dict(enumerate(damages(*piece), 1))
            made = {rank: make(rank) for rank, (_, make) in ways.items()}
            for rank, damage in made.items():
                write(data, rank, damage.text)
            plans = [((), ()), (("--parser", "yajl"), ()), ((), ("mpirun", "-n", str(procs)))][:3 if procs else 2]
            runs = [Run(program, [data], os.path.join(folder, "out%d" % i), options, prefix=prefix)
                    for i, (options, prefix) in enumerate(plans)]
            rows, tag = runs[0].ranks(), "seed %d, %s: " % (seed, os.path.basename(path))
            whole = rows.get(0, {}).get("intervals", 0)
            checks.that(rows.get(0, {}).get("status") == "ok" and whole > 0, tag + "the whole rank", rows.get(0))
            for run, plan in zip(runs, plans):
                checks.that(run.status == 1, tag + "exit status 1 %s" % (plan,), run.status, run.stderr[-300:])
                checks.that(run.ranks() == rows, tag + "the same %s" % (plan,))
            for rank, damage in made.items():
                check_row(checks, tag + ways[rank][0], rows.get(rank), damage, whole if whole != EVENTS else EVENTS + 10**6)
            checks.that("asan" in program or runs[0].peak_bytes < MOST_BYTES, tag + "memory", runs[0].peak_bytes)


def main():
    ways = "\n  ".join(what for what, _ in damages())
    parser = argparse.ArgumentParser(description=__doc__ + "\n\n  " + ways, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="TLMPI")
    parser.add_argument("traces", metavar="TRACE", nargs="+", help="a trace of Kineto, or a folder of some")
    parser.add_argument("--seeds", metavar="N-M", default="1-20", help="default: 1-20")
    parser.add_argument("--procs", metavar="N", type=int, default=0, help="of TLMPI with MPI, beside one")
    given = parser.parse_args()
    first, last = (int(n) for n in given.seeds.split("-"))
    checks = Checks()
    sweep(checks, os.path.abspath(given.program), traces_of(given.traces), range(first, last + 1), given.procs)
    checks.close()


def traces_of(paths):
    return sorted(f for path in paths for f in ([path] if os.path.isfile(path) else glob.glob(path + "/**/*.json*", recursive=True)))


if __name__ == "__main__":
    main()
