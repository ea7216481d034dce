#!/usr/bin/env python3
"""pftrace.py TLMPI MAKE_TRACE - a made job as Perfetto traces of PyTorch and of rocprofv3, and as Kineto's JSON; and damaged ones.

All tables but rank and names are those of the JSON, less what the format does not have: rank, groups and devices' names, directions
of copies (PyTorch), operators and waits (rocprofv3), and arrows.  Writes protobuf by hand, so that no reader is tested by itself.
"""

import gzip
import json
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "faults"))
from traces import Checks  # noqa: E402

TLMPI, MAKE = sys.argv[1:3]
HOST = ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")
DEVICE = {"kernel": "Kernel", "gpu_memcpy": "Memcpy", "gpu_memset": "Memset"}
ROCM = {"cuda_runtime": "hip_api", "user_annotation": "marker_api", "kernel": "kernel_dispatch", "gpu_memcpy": "memory_copy"}
MOST_BYTES = 700 << 20


def varint(n):
    out = bytearray()
    n &= (1 << 64) - 1
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def field(number, value):
    """A field: whole numbers, texts, and messages as bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(*fields):
    return b"".join(field(n, v) for n, v in fields if v is not None)


def packet(*fields):
    return field(1, message(*fields))


def annotation(key, value):
    name = (1, key) if isinstance(key, int) else (10, key) if key else (9, None)
    if isinstance(value, bool):
        return message(name, (2, int(value)))
    if isinstance(value, list):
        return message(name, *((12, annotation("", v)) for v in value))
    if isinstance(value, dict):
        return message(name, *((11, annotation(k, v)) for k, v in value.items()))
    return message(name, ({int: 4, float: 5, str: 6}[type(value)], value))


def ns(trace, us):
    return trace["baseTimeNanoseconds"] + round(us * 1000)


def zeros(megabytes):
    """Packed zeros, which the packing of 300 MB of them would make this program large."""
    pack = zlib.compressobj(9)
    return b"".join([pack.compress(bytes(1 << 20)) for _ in range(megabytes)] + [pack.flush()])


class Texts:
    """Texts by number, from 1."""
    def __init__(self):
        self.ids = {}

    def id(self, text):
        return self.ids.setdefault(text, len(self.ids) + 1)

    def fields(self, number):
        return [(number, message((1, i), (2, t))) for t, i in self.ids.items()]


def pytorch(trace, rank):
    """As torch.profiler writes: tracks, texts by number, groups of slices (all beginnings, then all ends), render stages."""
    base, names, kinds, tracks = trace["baseTimeNanoseconds"], Texts(), Texts(), Texts()
    stages = {k: i + 1 for i, k in enumerate(DEVICE.values())}
    host = [e for e in trace["traceEvents"] if e["cat"] in HOST]
    waits = [e for e in trace["traceEvents"] if e["cat"] == "cuda_sync"]
    random.Random(rank).shuffle(host)
    packets, slices, work = [], [], []
    for group in (host, waits):
        for e in group:
            args = dict(e["args"], cuda_sync_kind=e["name"]) if e["cat"] == "cuda_sync" else e["args"]
            slices.append(packet((8, ns(trace, e["ts"])), (10, 1), (13, 2), (11, message(
                (9, 1), (11, tracks.id((e["pid"], e["tid"]))), (10, names.id(e["name"])),
                (3, kinds.id(e["cat"]) if e["cat"] != "cuda_sync" else None), *((4, annotation(k, v)) for k, v in args.items())))))
        for e in group:
            slices.append(packet((8, ns(trace, e["ts"]) + round(e["dur"] * 1000)), (10, 1),
                                 (11, message((9, 2), (11, tracks.id((e["pid"], e["tid"])))))))
    for e in trace["traceEvents"]:
        if e["cat"] in DEVICE:
            args = dict(e["args"])
            grid = args.pop("grid", None)
            args["device id"], args["stream id"] = args.pop("device"), args.pop("stream")
            work.append(packet((8, ns(trace, e["ts"])), (10, 1), (13, 2), (53, message(
                (2, round(e["dur"] * 1000)), (11, args["device id"]), (14, stages[DEVICE[e["cat"]]]),
                (20, names.id(e["name"]) if grid else None),
                *((6, message((1, k), (2, v if isinstance(v, str) else json.dumps(v)))) for k, v in args.items()),
                (21, message((1, message(*zip((1, 2, 3), grid)))) if grid else None)))))
    packets.append(packet((8, base), (10, 1), (6, b"".join(field(1, message((1, c), (2, base))) for c in (6, 1)))))
    for (pid, tid), uuid in tracks.ids.items():
        packets.append(packet((60, message((1, uuid), (4, message((1, pid), (2, tid), (5, "thread")))))))
    packets.append(packet((10, 1), (13, 1), (12, message(*names.fields(2), *kinds.fields(1), *((24, message((1, i), (2, s))) for s, i in
                                                                                              stages.items())))))
    return packets + slices + work


def rocprofv3(trace, rank, place="stream"):
    """As rocprofv3 writes: a sequence of slices on a clock that counts from the last one, and keys by number.  Of ROCm 6 a track is of
    an agent and a stream, later of a stream, or of a queue (place)."""
    keys, tracks, packets, last = Texts(), {}, [], 1000 + rank
    base = trace["baseTimeNanoseconds"]
    packets.append(packet((8, 1), (10, 9), (6, b"".join(field(1, message((1, c), (2, t))) for c, t in ((3, 5), (1, base + 5))))))
    packets.append(packet((10, 7), (13, 1), (59, message((58, 64))), (6, field(1, message((1, 3), (2, last))) + field(1, message(
        (1, 64), (2, last), (3, 1), (4, 1))))))
    for e in trace["traceEvents"]:
        args = {"corr_id": e["args"].get("correlation", 0), "tid": e["tid"]}
        where = e["tid"]
        if e["cat"] in DEVICE:
            agent = {"old": e["pid"], "stream": "Agent-%d" % e["pid"], "queue": "GPU-%d" % e["pid"]}[place]
            where = {"old": "COMPUTE AGENT [%d] STREAM [%d] (GPU)" % (e["pid"], e["tid"]), "stream": "STREAM [\" %d \"] " % e["tid"],
                     "queue": "COMPUTE GPU [%d] QUEUE [3] GPU" % e["pid"]}[place]
            args |= {} if place == "old" else {"stream_ID": e["tid"]} if place == "queue" else {"queue": 2}
            args |= {} if place == "old" or e["cat"] == "gpu_memcpy" else {"agent": agent}
        if e["cat"] == "gpu_memcpy":
            args["copy_bytes"] = e["args"]["bytes"]
            args |= {"src_agent": agent if e["name"][7] == "D" else "Agent-9", "dst_agent": agent if e["name"][7] == "H" else "Agent-9"}
        if where not in tracks:
            tracks[where] = len(tracks) + 1
            thread = (4, message((1, e["pid"]), (2, e["tid"]))) if isinstance(where, int) else (2, where)
            packets.append(packet((10, 7), (60, message((1, tracks[where]), thread))))
        way = {"H": "HOST", "D": "DEVICE"}
        name = "MEMORY_COPY_%s_TO_%s" % (way[e["name"][7]], way[e["name"][10]]) if e["cat"] == "gpu_memcpy" else e["name"]
        start = round(e["ts"] * 1000)
        for at, event in ((start, ((9, 1), (23, name), (22, ROCM[e["cat"]]))), (start + round(e["dur"] * 1000), ((9, 2),))):
            new = [(12, field(3, message((1, keys.id(k)), (2, k)))) for k in args if k not in keys.ids]
            when = [(8, at - last)] if at >= last else [(8, at), (58, 3)]
            last = max(at, last)
            packets.append(packet(*when, (10, 7), (13, 2), *new, (11, message(*event, (11, tracks[where]), *(
                (4, annotation(keys.id(k), v)) for k, v in args.items() if event[0][1] == 1)))))
    return packets


def cut_pytorch(trace):
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") in (*HOST, *DEVICE, "cuda_sync")]
    for e in trace["traceEvents"]:
        e["name"] = DEVICE[e["cat"]] if e["cat"] in ("gpu_memcpy", "gpu_memset") else e["name"]


def cut_rocprofv3(trace):
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") in ROCM]
    for e in trace["traceEvents"]:
        a = e["args"]
        e["args"] = {k: a[k] for k in ("device", "stream", "correlation", "bytes") if k in a and e["cat"] != "user_annotation"}
        e["name"] = e["name"][:11] if e["cat"] == "gpu_memcpy" else e["name"]


def digest(folder):
    done = subprocess.run([TLMPI, "-f", "--digest", "-o", folder + ".h5", folder], capture_output=True, text=True, check=False)
    return {line.split()[0]: line for line in done.stdout.splitlines()}, done.stderr


def twins(checks, work, name, write, cut, pack):
    made, plain, other = (os.path.join(work, name + d) for d in (".made", ".json", ".pf"))
    subprocess.run([MAKE, "-o", made, "--ranks", "4", "--steps", "8", "--seed", "3", "--fault", "compute_slow", "--fault-rank", "2",
                    "--no-truth"], check=True, capture_output=True)
    os.mkdir(plain)
    os.mkdir(other)
    for rank in range(4):
        with open(os.path.join(made, "rank-%d.json" % rank), encoding="utf-8") as f:
            trace = json.load(f)
        trace = {k: trace[k] for k in ("baseTimeNanoseconds", "traceEvents")}
        cut(trace)
        with open(os.path.join(plain, "rank-%d.json" % rank), "w", encoding="utf-8") as f:
            json.dump(trace, f)
        with open(os.path.join(other, "rank-%d.pftrace" % rank), "wb") as f:
            f.write(pack(write(trace, rank)))
    (want, _), (got, said) = digest(plain), digest(other)
    checks.that(len(want) > 40 and len(got) == len(want), name + ": it is read", len(want), (len(got), said))
    for table, line in want.items():
        if table not in ("rank", "names"):
            checks.that(got.get(table) == line, "%s: table %s" % (name, table), line, got.get(table))
    return os.path.join(other, "rank-2.pftrace")


def damage(checks, work, whole):
    with open(whole, "rb") as f:
        text = f.read()
    chance = random.Random(1)
    deep = b""
    for _ in range(20000):
        deep = field(11, message((10, "k")) + deep)
    begin = [(8, 5), (10, 1)]
    cases = {"nothing": b"", "a size of 2^60": b"\x0a" + varint(1 << 60) + text, "a size without an end": b"\x0a" + b"\xff" * 30,
             "a size after the file": b"\x0a" + varint(1 << 27) + text[:1000], "no packet": b"\x0b" + text,
             "annotations in annotations": packet(*begin, (11, message((9, 1), (22, "kernel"), (4, deep)))),
             "millions of empty annotations": packet(*begin, (11, message((9, 1), (22, "kernel")) + field(4, b"") * 4000000)),
             "packed packets that grow": packet((50, zeros(300))),
             "packed packets in packed packets": packet((50, zlib.compress(packet((50, zlib.compress(text)))))),
             "ends alone": b"".join(packet((8, i), (11, message((9, 2)))) for i in range(1000)),
             "huge times": b"".join(packet((8, (1 << 64) - 1 - i), (11, message((9, 1 + i % 2), (22, "kernel")))) for i in range(100)),
             "odd numbers": packet((8, -1), (58, 99), (6, field(1, message((1, 64), (2, -1), (3, 1), (4, -1)))), (13, 3), (53, message(
                 (2, -1), (11, -1), (6, message((1, "stream id"), (2, "-9" * 40))), (14, 77))))}
    for i in range(30):
        cases["cut at %d" % i] = text[:chance.randrange(len(text))]
        flipped = bytearray(text)
        for _ in range(1 + i):
            flipped[chance.randrange(len(text))] ^= 1 << chance.randrange(8)
        cases["%d bits flipped" % (1 + i)] = bytes(flipped)
    path = os.path.join(work, "rank-0.pftrace")
    for what, bytes_ in cases.items():
        with open(path, "wb") as f:
            f.write(bytes_)
        child = subprocess.Popen([TLMPI, "-f", "-o", os.path.join(work, "out"), path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = child.communicate(timeout=60)[0]
        checks.that(child.returncode in (0, 1, 3), what + ": a result or a message", child.returncode, said[-300:])
        checks.that(child.returncode == 0 or b"rank-0.pftrace" in said or b"rank 0" in said, what + ": the message names it", "", said[-300:])
    with open(path, "wb") as f:
        f.write(text + packet((35, message((1, message((2, 9), (18, 0))), (1, message((18, 3)))))))
    done = subprocess.run([TLMPI, "-f", "-o", os.path.join(work, "out"), path], capture_output=True, text=True, check=False)
    checks.that(done.returncode == 1 and "buffer was full" in done.stderr + done.stdout, "what the recorder lost is told", 1, done.stderr)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    checks.that(most < MOST_BYTES or "asan" in TLMPI, "memory is bounded", MOST_BYTES, most)


def main(checks, work):
    empty = os.path.join(work, "none.pftrace")
    with open(empty, "wb") as f:
        f.write(packet((8, 5)))
    if "libprotobuf-c" in subprocess.run([TLMPI, "check", empty], capture_output=True, text=True, check=False).stderr:
        print("SKIPPED: Perfetto traces: tlmpi was made without libprotobuf-c")
        return
    whole = twins(checks, work, "pytorch", pytorch, cut_pytorch, b"".join)
    twins(checks, work, "pytorch, gzip", pytorch, cut_pytorch, lambda p: gzip.compress(b"".join(p)))
    twins(checks, work, "rocprofv3", rocprofv3, cut_rocprofv3, b"".join)
    twins(checks, work, "rocprofv3, queues", lambda t, r: rocprofv3(t, r, "queue"), cut_rocprofv3, b"".join)
    twins(checks, work, "rocprofv3, packed", lambda t, r: rocprofv3(t, r, "old"), cut_rocprofv3, lambda p: b"".join(
        packet((50, zlib.compress(b"".join(p[i:i + 100])))) for i in range(0, len(p), 100)))
    damage(checks, work, whole)


with tempfile.TemporaryDirectory(prefix="tlmpi-test.") as scratch:
    counted = Checks()
    main(counted, scratch)
counted.close()
