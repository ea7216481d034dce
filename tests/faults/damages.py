"""damages.py - what may be wrong with the text of a trace, and what must be left of it then."""

from traces import EVENTS, TAIL, document, events, head, kernel


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
