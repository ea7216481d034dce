#!/usr/bin/env python3
"""augment.py TLMPI-SERIAL [TLMPI PROCS] - copies of traces with tracks added: every byte of the trace is there, what is added
is what the gap tables say, and a copy that cannot be made leaves nothing behind.

PROCS ("2 3"): and TLMPI on so many procs.  TLMPI_CORPUS: the public traces, too.
"""

import gzip
import json
import os
import random
import shutil
import sys
import tempfile

from output import FULL, READ_ONLY, mounts_work
from traces import TAIL, Checks, Run, document, events, head, kernel, launch, write

HERE = os.path.dirname(os.path.abspath(__file__))
CAT, COUNTER_CAT = "idle_classification", "tlmpi_counter"

# More procs than cores, as whoever runs the tests.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1"}


def text_of(path):
    with open(path, "rb") as f:
        data = f.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def parsed(text):
    """Any bytes in strings are let through: what is checked is what stands around them."""
    return json.loads(text.decode("utf-8-sig", "surrogateescape"))


def entries_of(trace):
    return trace["traceEvents"] if isinstance(trace, dict) else trace


def is_between(before, after):
    """Whether `after` is `before` with something put in at one place."""
    more, at = len(after) - len(before), 0
    if more < 0:
        return False
    step = 1 << 20
    while at < len(before) and before[at:at + step] == after[at:at + step]:
        at += step
    while at < len(before) and before[at] == after[at]:
        at += 1
    at = min(at, len(before))
    # The byte that follows what was put in may also begin it.
    return any(before[k:] == after[k + more:] for k in range(at, max(at - 300, -1), -1))


def augment(program, paths, folder, options=(), prefix=()):
    return Run(program, ["augment", *options, "-o", folder, *paths], prefix=prefix)


def traces_below(folder):
    for where, _, names in os.walk(folder):
        for name in names:
            yield os.path.relpath(os.path.join(where, name), folder)


def check_added(checks, what, added):
    """Metadata first, three tracks a device; then gaps, whose tracks agree; then counters, each of which ends at 0."""
    tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in added if e["ph"] == "M" and e["name"] == "thread_name"}
    sorts = {(e["pid"], e["tid"]): e["args"]["sort_index"] for e in added if e["name"] == "thread_sort_index"}
    slices = [e for e in added if e["ph"] == "X" and e["cat"] != "tlmpi_pattern"]
    shown = [e for e in added if e.get("cat") == "tlmpi_pattern"]
    counters = {(e["pid"], e["name"]): list(e["args"].values()) for e in added if e["ph"] == "C" and e["cat"] == COUNTER_CAT}
    checks.that(all(last == [0] for last in counters.values()), what + ": counters end at 0", counters)
    checks.that({e["ph"] for e in added} <= set("MXC"), what + ": nothing else")
    checks.that(all(tracks.get((e["pid"], e["tid"]), "").startswith("P" + e["name"][1:] + ": ") for e in shown),
                what + ": patterns are on tracks of their own")
    idle = {t: name for t, name in tracks.items() if not name.startswith("Pattern ")}
    checks.that(len(idle) % 3 == 0 and all(sorts.get(t) == t[1] for t in tracks), what + ": tracks are named and in order", tracks)
    checks.that(all(e["cat"] == CAT and (e["pid"], e["tid"]) in tracks for e in slices), what + ": events are on them")
    by_gap = {}
    for e in slices:
        by_gap.setdefault((e["pid"], e["tid"] // 10, e["ts"], e["args"]["idle_id"]), []).append(e)
    for gap, parts in by_gap.items():
        if gap[3] < 0:
            good = len(parts) == 1 and parts[0]["name"] == "noise"
        else:
            start = "idle#%d" % gap[3]
            good = (len(parts) == 3 and [p["tid"] % 10 for p in parts] == [0, 1, 2] and parts[0]["name"] == start and
                    parts[1]["name"].startswith(start + " " + parts[1]["args"]["drain_type"]) and
                    parts[2]["name"].startswith(start + " " + parts[2]["args"]["cpu_during_gap"]))
        if not checks.that(good and len({p["dur"] for p in parts}) == 1, what + ": the parts of a gap", parts):
            return


def check_copy(checks, what, trace, copy):
    """The copy is the trace with events behind its own; their number."""
    before, after = text_of(trace), text_of(copy)
    checks.that(is_between(before, after), what + ": every byte is there", len(before), len(after))
    old, new = parsed(before), parsed(after)
    if isinstance(old, dict):
        checks.that({k: v for k, v in old.items() if k != "traceEvents"} ==
                    {k: v for k, v in new.items() if k != "traceEvents"}, what + ": what stands around the events")
    old, new = entries_of(old), entries_of(new)
    checks.that(new[:len(old)] == old, what + ": the trace's own events")
    with open(trace, "rb") as f, open(copy, "rb") as g:
        checks.that((f.read(2) == b"\x1f\x8b") == (g.read(2) == b"\x1f\x8b"), what + ": packed as the trace is")
    check_added(checks, what, new[len(old):])
    return new[len(old):]


def passed_through(checks, program, folder, source, what):
    """All traces below a folder, and that their tables stay what they were."""
    copies = os.path.join(folder, "copies")
    run = augment(program, [source], copies)
    checks.that(run.status in (0, 1), what + ": exit status", run.status, run.stderr[-300:])
    count = sum(len(check_copy(checks, what + ": " + name, os.path.join(source, name), os.path.join(copies, name)))
                for name in traces_below(copies))
    told = sum(int(line.rsplit(": ", 1)[1].split()[2]) for line in run.stdout.splitlines())
    checks.that(told == count, what + ": as many events as it says", told, count)
    first = Run(program, [source], os.path.join(folder, "a"), ("-f", "--digest"))
    second = Run(program, [copies], os.path.join(folder, "b"), ("-f", "--digest"))
    checks.that(first.stdout == second.stdout and first.stdout.count("\n") > 3 or first.status == 3,
                what + ": the copies have the tables of the traces", first.stdout, second.stdout)
    shutil.rmtree(copies)
    return count


def whole_traces(checks, program, folder):
    stories = os.path.join(HERE, "..", "..", "data", "stories")
    for story in sorted(os.listdir(stories)):
        if story != "truncated":        # no longer cut, the copies have another status
            passed_through(checks, program, folder, os.path.join(stories, story), story)
    corpus = os.environ.get("TLMPI_CORPUS")
    if not corpus:
        checks.skip("public traces: TLMPI_CORPUS is not set")
        return
    for name in sorted(os.listdir(os.path.join(corpus, "traces"))):
        source = os.path.join(corpus, "traces", name)
        if name == "memory_timeline":   # a timeline alone: no trace to copy
            continue
        if os.path.isdir(source) and Run(program, ["check", source]).status == 0:
            passed_through(checks, program, folder, source, name)


def says_what_the_tables_say(checks, program, folder):
    """The drawn trace has eleven gaps of 5 us; a longer one is seen, and a shorter one is noise."""
    own = events()
    own[10] = launch(5, dur=4)
    own[11] = kernel(5, dur=2.25)                                   # [54, 56.25): 7.75 us until 64
    own[17] = kernel(8, ts=82.125, dur=6.875)                       # 3.125 us after 79
    trace = write(folder, 0, document(0, own))
    out = os.path.join(folder, "tables")
    run = augment(program, [trace], out)
    added = check_copy(checks, "drawn", trace, os.path.join(out, "rank-0.json"))
    idle = [e for e in added if e["ph"] != "C"]
    checks.that(run.status == 0 and len(idle) == 6 + 1 + 10 * 3, "drawn: six of metadata, ten gaps, one of noise", len(idle))
    result = Run(program, [trace], os.path.join(folder, "drawn"))
    slices = [e for e in added if e["ph"] == "X" and e["tid"] == 9002]
    shown = [(e["args"]["idle_id"], round((e["ts"] - slices[0]["ts"]) * 1000), round(e["dur"] * 1000), e["args"]["cpu_during_gap"])
             for e in slices]
    gaps = result.rows("gap")
    rows = [(g["idle_id"], g["start_ns"] - gaps[0]["start_ns"], g["duration_ns"], g["cpu_during_gap"]) for g in gaps]
    checks.that(shown == rows and len(rows) == 10, "drawn: the events are the rows of the table gap", shown, rows)
    noise = [e for e in added if e["name"] == "noise"]
    checks.that([(e["ts"], e["dur"], e["args"]["duration_us"]) for e in noise] == [(79.0, 3.125, 3.125)], "drawn: the noise", noise)
    text = text_of(os.path.join(out, "rank-0.json")).decode()
    checks.that('"ts": 56.250, "dur": 7.750' in text, "drawn: three decimals, on the trace's own clock", text[-600:])

    few = os.path.join(folder, "few")
    augment(program, [trace], few, ("--idle", "noise=6"))
    added = check_copy(checks, "noise=6", trace, os.path.join(few, "rank-0.json"))
    idle = [e for e in added if e["ph"] != "C"]
    checks.that(len(idle) == 6 + 10 + 3, "noise=6: one gap is longer", len(idle))


def devices_have_their_own(checks, program, folder):
    """Two devices are two processes; where they share one, tracks and counters say which is which."""
    calls = [launch(i, ts=i * 10 - 5) for i in range(4)]
    apart = calls + [kernel(i, pid=d, ts=i * 10 + 3 * d, args={"device": d}) for d in (0, 1) for i in range(4)]
    shared = calls + [kernel(i, pid="GPU\u00e9", tid=9000 + d, ts=i * 10 + 3 * d, args={"device": d}) for d in (0, 1) for i in range(4)]
    for what, entries in (("apart", apart), ("shared", shared)):
        trace = write(folder, 0, document(0, entries))
        out = os.path.join(folder, what)
        augment(program, [trace], out)
        added = check_copy(checks, what, trace, os.path.join(out, "rank-0.json"))
        named = [(e["pid"], e["tid"], e["args"]["name"]) for e in added if e["name"] == "thread_name"]
        counters = sorted({(str(e["pid"]), e["name"]) for e in added if e["ph"] == "C"})
        if what == "apart":
            checks.that(counters == [("0", "Queue (stream 7)"), ("1", "Queue (stream 7)")], "two processes: counters", counters)
            checks.that([n[:2] for n in named] == [(p, t) for p in (0, 1) for t in (9000, 9001, 9002)], "two processes", named)
        else:
            checks.that([c[1] for c in counters] == ["Queue (stream 7) (device 0)", "Queue (stream 7) (device 1)"],
                        "one process: counters", counters)
            checks.that([n[:2] for n in named] == [("GPU\u00e9", t) for t in (9020, 9021, 9022, 9040, 9041, 9042)] and
                        all(n[2].endswith(" (device %d)" % (i // 3)) for i, n in enumerate(named)), "one process", named)


def tracelens_has_its_own(checks, program, folder):
    """--tracelens: all devices one, six events even without a gap, gzip, and a name of its own."""
    label = [json.dumps({"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "ts": 0, "args": {"labels": text}})
             for pid, text in ((4, "CPU"), (3, "GPU 3"), (5, "GPU 5"))]
    two = [kernel(i, pid=d, args={"device": d}) for d in (0, 1) for i in range(3)]
    for rank, (entries, pid, gaps) in enumerate(((label + [launch(0)], 3, 0), (two + [kernel(3, pid=1)], 1, 3), ([], 0, 0))):
        trace = write(folder, rank, document(rank, entries))
        run = augment(program, [trace], os.path.join(folder, "lens"), ("--tracelens",))
        copy = os.path.join(folder, "lens", "rank-%d_idle_augmented.json.gz" % rank)
        with open(copy, "rb") as f:
            checks.that(f.read(2) == b"\x1f\x8b", "--tracelens: gzip")
        checks.that(run.status == 0 and is_between(text_of(trace), text_of(copy)), "--tracelens: every byte is there", run.stderr)
        added = parsed(text_of(copy))["traceEvents"][len(entries):]
        check_added(checks, "--tracelens", added)
        checks.that(len(added) == 6 + 3 * gaps and {e["pid"] for e in added} == {pid}, "--tracelens: events and process", added)


def odd_names_stay_json(checks, program, folder):
    """An operator whose name is no text dominates a gap: the added events are JSON all the same."""
    op = json.dumps({"ph": "X", "cat": "cpu_op", "name": "odd", "pid": 1, "tid": 1, "ts": 9, "dur": 30})
    own = [launch(0), kernel(0), op, launch(3, ts=39, dur=1), kernel(3, ts=41)]
    text = document(0, own).encode().replace(b'"odd"', b'"o\\"\\\\\\u0007 \xff\xc3 \x01 end"')
    trace = write(folder, 0, text)
    out = os.path.join(folder, "odd")
    run = augment(program, [trace], out)
    copy = text_of(os.path.join(out, "rank-0.json"))
    checks.that(is_between(text, copy), "odd name: every byte is there")
    added = copy[copy.index(b'"ph": "M"') - 1:copy.rindex(b"\n]")]
    try:
        names = [e["name"] for e in json.loads(b"[" + added + b"]")]
    except ValueError as why:
        names = [str(why), added]
    checks.that(any('o"\\' in n and "end" in n for n in names), "odd name: what is added is JSON", names)
    checks.that("stands as it is" in run.stderr, "odd name: it is said that the trace is no JSON", run.stderr)


def damaged(checks, program, folder):
    """Cut traces are closed; any damage ends in a copy or in words, never in both or neither."""
    chance = random.Random(1)
    whole = (document(3) + " ").replace(TAIL, '\n], "traceName": "x", "n": 12, "a": {"b": ["c", "d"]}}\n')
    plain, packed = whole.encode(), gzip.compress(whole.encode())
    first = whole.index("[\n") + 1
    out = os.path.join(folder, "damaged")
    for cut in sorted(chance.sample(range(first, len(plain)), 60)) + [len(plain.rstrip()) - 1]:
        trace = write(folder, 3, plain[:cut])
        run = augment(program, [trace], out, ("-f",))
        copy = os.path.join(out, "rank-3.json")
        complete = cut >= len(plain.rstrip())
        if not checks.that(run.status == (0 if complete else 1), "cut at %d: exit status" % cut, run.status, run.stderr):
            continue
        trace = parsed(text_of(copy))
        own = [json.dumps(e) for e in trace["traceEvents"] if e.get("cat") in ("kernel", "cuda_runtime")]
        entries, whole_ones = events(), 0
        while whole_ones < len(entries) and entries[whole_ones] in plain[:cut].decode():
            whole_ones += 1
        checks.that(own == entries[:whole_ones], "cut at %d: every whole event" % cut, len(own), whole_ones)
        checks.that(complete or "ends after what is complete" in run.stderr, "cut at %d: it is said" % cut, run.stderr)
    for i in range(80):
        data = bytearray(packed if i % 2 else plain)
        if i % 4 < 2:
            del data[chance.randrange(1, len(data)):]
        else:
            for _ in range(chance.choice((1, 3, 20))):
                data[chance.randrange(len(data))] = chance.randrange(256)
        trace = write(folder, 3, bytes(data), ".gz" if i % 2 else "")
        copy = os.path.join(out, os.path.basename(trace))
        if os.path.exists(copy):
            os.remove(copy)
        run = augment(program, [trace], out)
        checks.that(run.status in (0, 1, 3), "damage %d: exit status" % i, run.status, run.stderr)
        checks.that(os.path.exists(copy) == (run.status != 3), "damage %d: a copy, or none" % i, run.status, run.stderr)
        checks.that(run.status != 3 or run.stderr.startswith("tlmpi: "), "damage %d: words" % i, run.stderr)
        if os.path.exists(copy):
            again = Run(program, ["check", copy])
            checks.that(again.status in (0, 1), "damage %d: the copy can be read" % i, again.status, again.stderr)
    checks.that(not [n for n in os.listdir(out) if n.endswith(".part")], "nothing half is left", os.listdir(out))


def refused(checks, run, status, what, *words):
    checks.that(run.status == status and all(w in run.stderr for w in words), what, run.status, run.stderr[-400:])


def cannot_write(checks, program, folder):
    data, out = os.path.join(folder, "data"), os.path.join(folder, "out")
    os.makedirs(os.path.join(data, "node1"))
    for rank in range(3):
        write(data if rank else os.path.join(data, "node1"), rank, document(rank))
    refused(checks, augment(program, [data], data), 2, "into the folder of the traces", "choose a folder elsewhere")
    refused(checks, augment(program, [data], os.path.join(data, "new", "below")), 2, "into a folder below", "lies in")
    checks.that(not os.path.exists(os.path.join(data, "new")), "a folder that is refused is not made")
    refused(checks, Run(program, ["augment", data]), 2, "without -o", "no folder for the copies")
    trace = os.path.join(data, "rank-1.json")
    before = text_of(trace)
    for options in ((), ("-f",)):
        refused(checks, augment(program, [trace], data, options), 2, "over its own trace", "not written over")
    other = os.path.join(folder, "other")
    os.makedirs(other)
    os.link(trace, os.path.join(other, "rank-2.json"))
    refused(checks, augment(program, [os.path.join(data, "rank-2.json"), trace], other, ("-f",)), 2, "over another trace",
            "rank-2.json is one of the traces")
    checks.that(text_of(trace) == before, "the traces are what they were")
    second = os.path.join(folder, "second", "rank-1.json")
    os.makedirs(os.path.dirname(second))
    with open(second, "wb") as f:
        f.write(text_of(trace) + b"\n")
    refused(checks, augment(program, [trace, second], out), 2, "twice the same name", "would both be copied")

    run = augment(program, [data], out)
    checks.that(run.status == 0 and sorted(traces_below(out)) == ["node1/rank-0.json", "rank-1.json", "rank-2.json"],
                "folders are kept", run.status, list(traces_below(out)))
    refused(checks, augment(program, [data], out), 4, "what is there is not overwritten", "exists; -f overwrites it")
    checks.that(augment(program, [data], out, ("-f",)).status == 0, "-f overwrites it")
    refused(checks, augment(program, [out], os.path.join(folder, "twice")), 3, "augmented twice", "already")

    write(data, 1, "{}")
    write(data, 4, document(4)[:600])
    run = augment(program, [data], os.path.join(folder, "some"))
    refused(checks, run, 1, "one bad trace", "rank-1.json", "rank-4.json")
    checks.that(sorted(traces_below(os.path.join(folder, "some"))) == ["node1/rank-0.json", "rank-2.json", "rank-4.json"],
                "one bad trace: the others are copied", list(traces_below(os.path.join(folder, "some"))))

    pipe = os.path.join(folder, "pipe.json")
    os.mkfifo(pipe)
    refused(checks, augment(program, [pipe], os.path.join(folder, "piped")), 3, "a pipe", "regular file")

    blocked = os.path.join(folder, "blocked")
    os.makedirs(os.path.join(blocked, "rank-2.json"))
    write(folder, 9, "not a folder")
    refused(checks, augment(program, [os.path.join(data, "rank-2.json")], blocked, ("-f",)), 4, "a folder in its place", "folder")
    refused(checks, augment(program, [data], os.path.join(folder, "rank-9.json", "x")), 4, "a file where the folder should be",
            "rank-9.json")


def bad_disks(checks, program, folder):
    if not mounts_work(folder):
        checks.skip("a full disk and a read-only folder: this user may not mount")
        return
    disk, data = os.path.join(folder, "disk"), os.path.join(folder, "big")
    os.mkdir(disk)
    os.mkdir(data)
    many = [text for i in range(6000) for text in (launch(i), kernel(i))]
    write(data, 0, document(0, many))
    write(data, 1, gzip.compress(document(1, many).encode()), ".gz")
    refused(checks, augment(program, [data], os.path.join(disk, "out"), prefix=READ_ONLY + (disk,)), 4, "a read-only folder", "out")
    for size in ("4k", "64k", "300k"):
        run = augment(program, [data], os.path.join(disk, "out"), prefix=list(FULL) + [disk, disk, size])
        refused(checks, run, 4, "a disk of " + size, "No space left")


def procs_share(checks, program, folder, counts):
    """The same bytes from any number of procs."""
    data, alone = os.path.join(folder, "many"), os.path.join(folder, "alone")
    os.makedirs(os.path.join(data, "deep"))
    for rank in range(7):
        text = document(rank, events()[:2 + 3 * rank]) if rank != 4 else document(rank)[:-40]
        write(data if rank % 2 else os.path.join(data, "deep"), rank, text)
    write(data, 8, "{}")
    first = augment(program, [data], alone)
    checks.that(first.status == 1, "alone: exit status", first.status, first.stderr)
    for count in counts:
        out = os.path.join(folder, "on" + count)
        run = augment(program, [data], out, prefix=("mpirun", "-n", count))
        checks.that(run.status == 1, count + " procs: exit status", run.status, run.stderr)
        checks.that(run.stdout.replace("on" + count, "alone") == first.stdout and run.stderr.startswith(first.stderr),
                    count + " procs: the same words", run.stdout, run.stderr)
        same = sorted(traces_below(out)) == sorted(traces_below(alone)) and all(
            text_of(os.path.join(out, name)) == text_of(os.path.join(alone, name)) for name in traces_below(alone))
        checks.that(same, count + " procs: the same copies", list(traces_below(out)))
        run = augment(program, [data], data, prefix=("mpirun", "-n", count))
        checks.that(run.status == 2 and run.stderr.count("lies in") == 1, count + " procs: one word on what is refused",
                    run.status, run.stderr)


def main():
    checks = Checks()
    os.environ.update(MPI)
    program = os.path.abspath(sys.argv[1])
    tests = [whole_traces, says_what_the_tables_say, devices_have_their_own, tracelens_has_its_own,
             odd_names_stay_json, damaged, cannot_write, bad_disks]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            test(checks, program, folder)
    if len(sys.argv) > 3:
        with tempfile.TemporaryDirectory() as folder:
            procs_share(checks, os.path.abspath(sys.argv[2]), folder, sys.argv[3].split())
    checks.close()


main()
