#!/usr/bin/env python3
"""python.py BUILD - the recorder's lines against those of Python's json module, byte by byte.

The oracle is json.dumps(record, sort_keys=True) of what a line says: names, keys and texts with every sort of
character, also such that are no UTF-8; numbers at all edges; durations of any 32-bit float.  The driver is the tests' own.
"""
import ctypes
import json
import math
import os
import random
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "jobs"))
import record_example as example  # noqa: E402

build = os.path.abspath(sys.argv[1])
fake_path = os.path.join(build, "tests", "record", "libfake_cuda.so")
os.environ["TLMPI_RECORD_SO"] = os.path.join(build, "libtlmpi_record.so")
os.environ["TLMPI_RECORD_LIBRARY"] = fake_path
fake = ctypes.CDLL(fake_path)
fake.fake_elapsed.argtypes = [ctypes.c_float]
chance = random.Random(18)
RESERVED = {"duration_ms", "name", "rank", "step"}

passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAILED: {what}")


def some_float():
    """Of 32 bits, as a driver gives it: any that is a number, and not below 0."""
    kind = chance.randrange(3)
    if kind == 0:
        return struct.unpack("f", struct.pack("f", chance.randrange(1, 10**7) * 32e-6))[0]
    if kind == 1:
        return struct.unpack("f", struct.pack("f", math.ldexp(1, chance.randrange(-149, 128))))[0]
    bits = chance.getrandbits(32)
    got = struct.unpack("f", struct.pack("I", bits))[0]
    return abs(got) if math.isfinite(got) else 0.0


def some_double():
    kind = chance.randrange(7)
    if kind == 0:
        return chance.choice([0.0, -0.0, 1e15, 1e16, 9999999999999998.0, 123456789012345680.0, 1e-4, 1e-5, 0.00012345, 5e-324,
                              2.2250738585072014e-308, 1.7976931348623157e308, 0.1, 1 / 3, 1e22, 1e23, 2.0**53, 2.0**64])
    if kind == 1:
        return math.ldexp(chance.choice([1, -1]), chance.randrange(-1074, 1024))
    if kind == 2:
        return chance.randrange(-10**6, 10**6) / 10**chance.randrange(0, 9)
    if kind == 3:
        return math.ldexp(chance.random(), -1022)
    if kind == 4:
        return float(chance.randrange(10**14, 10**18))
    if kind == 5:
        return chance.choice([math.nan, math.inf, -math.inf])
    got = struct.unpack("d", struct.pack("Q", chance.getrandbits(64)))[0]
    return got if math.isfinite(got) else 1.5


def some_bytes():
    """A C text: words, odd characters, whole and broken UTF-8."""
    pieces = []
    for _ in range(chance.randrange(0, 6)):
        kind = chance.randrange(6)
        if kind == 0:
            pieces.append(bytes([chance.randrange(1, 128)]))
        elif kind == 1:
            pieces.append(bytes([chance.randrange(128, 256)]))
        elif kind == 2:
            point = chance.choice([0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfffd, 0xffff, 0x10000, 0x10ffff,
                                   chance.randrange(0x80, 0xd800), chance.randrange(0x10000, 0x110000)])
            whole = chr(point).encode()
            pieces.append(whole[:chance.randrange(1, len(whole) + 1)])
        elif kind == 3:
            pieces.append(chance.choice([b'"', b"\\", b"/", b"\n", b"\r", b"\t", b"\b", b"\f", b"\x7f", b"\x1f", b"\xed\xa0\x80",
                                         b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80"]))
        elif kind == 4:
            pieces.append(bytes(chance.randrange(0x80, 0x100) for _ in range(4)))
        else:
            pieces.append(chance.choice([b"micro_step", b"loss", b"batch", b"a", b"z", b"Z"]))
    return b"".join(pieces)


def read_back(raw):
    return raw.decode("utf-8", "replace")


def some_nested(depth=0):
    """Any value of JSON, and NaN and Infinity, which json.dumps writes."""
    kind = chance.randrange(7 if depth < 5 else 5)
    if kind == 5:
        return [some_nested(depth + 1) for _ in range(chance.randrange(4))]
    if kind == 6:
        return {read_back(some_bytes()): some_nested(depth + 1) for _ in range(chance.randrange(4))}
    return chance.choice([some_double(), chance.getrandbits(200) - 2**199, chance.choice([True, False, None]),
                          read_back(some_bytes()) + chance.choice(["", "\0"])])


def without_nan(nested):
    return json.loads(json.dumps(nested), parse_constant=lambda word: None)


def some_value():
    """The type and the C value, and what the line should say."""
    kind = chance.randrange(7)
    if kind >= 5:
        nested = some_nested()
        text = json.dumps(nested, sort_keys=True, ensure_ascii=chance.random() < 0.5, indent=chance.choice([None, 0, 3, "\t"]),
                          separators=chance.choice([None, (",", ":"), (" , ", "\n:\r")]))
        return 4, example.As(text=text.encode()), without_nan(nested)
    if kind == 0:
        raw = some_bytes()
        return 0, example.As(text=raw), read_back(raw)
    if kind == 1:
        number = chance.choice([chance.randrange(-10, 10), chance.getrandbits(63), -2**63, 2**63 - 1])
        return 1, example.As(integer=number), number
    if kind == 2:
        number = some_double()
        return 2, example.As(real=number), number if math.isfinite(number) else None
    if kind == 3:
        truth = chance.random() < 0.5
        return 3, example.As(integer=chance.randrange(1, 9) if truth else 0), truth
    return 0, example.As(text=None), None


def one_case(recorder, rank, step):
    """Records a phase; the line that Python would have written."""
    record, values = {}, []
    for _ in range(chance.choice([0, 0, 1, 1, 2, 3, 8, 32])):
        raw = some_bytes()
        if read_back(raw) in record or read_back(raw) in RESERVED:
            continue
        kind, given, told = some_value()
        values.append(example.Value(raw, kind, given))
        record[read_back(raw)] = told
    name, duration = some_bytes() or b"p", some_float()
    fake.fake_elapsed(duration)
    phase = ctypes.c_uint64()
    array = (example.Value * len(values))(*values)
    good = recorder.lib.tlmpi_record_begin(recorder.handle, name, step, None, array, len(values), ctypes.byref(phase)) == 0
    good = good and recorder.lib.tlmpi_record_end(recorder.handle, phase, None) == 0
    check(f"phase {name!r} of step {step} is recorded", good)
    record.update(duration_ms=duration, name=read_back(name), rank=rank, step=step)
    return json.dumps(record, sort_keys=True)


def many_cases(folder, ncases):
    expected = []
    for rank in (0, 7, 2**31 - 1):
        recorder = example.Recorder(rank, folder, record_every_n_steps=1)
        check("the recorder is on", recorder.reason == "")
        wanted = []
        for i in range(ncases):
            step = chance.choice([i, i, i, 2**31 - 1, 2**31 - 2])
            wanted.append(one_case(recorder, rank, step))
            recorder.step_end(i)
        recorder.close()
        with open(os.path.join(folder, f"cuda_events_rank_{rank}.jsonl"), "rb") as f:
            got = f.read().decode("ascii").split("\n")
        check("the file ends with a line", got.pop() == "")
        check(f"rank {rank} has as many lines", len(got) == len(wanted))
        different = [(g, w) for g, w in zip(got, wanted) if g != w]
        check(f"{len(different)} of {len(wanted)} lines of rank {rank} differ: {different[:1]}", not different)
        check("and are read back", all(json.loads(g) is not None for g in got))
        expected += wanted
    return expected


def through_the_example(folder):
    """The class of the example maps Python's types; what is lossless comes back."""
    fake.fake_elapsed(0.5)
    said = dict(micro_step=2, on=True, off=False, loss=0.1, file='é"\n🚀\0\ud83d', nothing=None, big=2**70, small=-2**63 - 1,
                listed=[1, [], {}, (2, 3)], shape={"z": [1e22, -0.0], "a": {2: "é", 10: None}}, _1=-7)
    recorder = example.Recorder(1, folder, ranks=[0, 1], start_step=5, end_step=5, flush_every_n_steps=1)
    for step in range(8):
        with recorder.phase("training_step", step, **said):
            pass
        recorder.step_end(step)
    counts = recorder.close()
    check("one step of eight is written", counts.written == 1 and counts.failed == counts.lost == 0)
    with open(os.path.join(folder, "cuda_events_rank_1.jsonl"), encoding="ascii") as f:
        got = f.read()
    check("the example's line is Python's, whatever is in it", got == json.dumps(
        dict(said, name="training_step", step=5, rank=1, duration_ms=0.5), sort_keys=True) + "\n")
    recorder = example.Recorder(4, folder)
    for more in {"rank": 5}, {f"k{i}": i for i in range(33)}:
        with recorder.phase("p", 0, **more):
            pass
    ring = []
    ring.append(ring)
    with recorder.phase("p", 0, ring=ring):
        pass
    with recorder.phase("p", 0, thing=example.Recorder, nan=[math.nan, -math.inf]):
        pass
    counts = recorder.close()
    check("what cannot be recorded is counted", (counts.written, counts.failed) == (1, 3))
    with open(os.path.join(folder, "cuda_events_rank_4.jsonl"), encoding="ascii") as f:
        got = json.load(f)
    check("other things are their str(), and NaN is null", (got["thing"], got["nan"]) == (str(example.Recorder), [None, None]))
    closed = recorder.close()
    check("closing twice is harmless", closed.written == 0)
    with recorder.phase("late", 5):
        pass
    with recorder.phase("half a pair \ud83d", 5, **{"\udcff": "\udcff"}):  # a name is no reason to end the training
        pass


print("driver: the tests' own, " + os.path.basename(fake_path))
with tempfile.TemporaryDirectory() as folder:
    lines = many_cases(folder, 5000)
    check("what is compared has all sorts of characters", all(any(text in line for line in lines) for text in (
        "\\ud83", "\\ufffd", "\\u0001", "\\u007f", '\\"', "\\\\", "\\n", "e-05", "e+", "null", "true", "false", "-0.0")))
with tempfile.TemporaryDirectory() as folder:
    through_the_example(folder)
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
