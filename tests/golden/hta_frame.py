"""hta_frame.py - the ranks of a job as Holistic Trace Analysis holds them, slowly: for the oracles of its tables."""
import collections
import gzip
import json
import math
import re

SYNC = ("Event Sync", "Context Sync")
STEP = re.compile(r"ProfilerStep\s*#\s*(\d+)")


class Row:
    """ts, dur, end in us; name, cat, stream, corr; link: the partner's index; step: None where HTA has no value."""


def whole(value):
    try:
        return int(float(value))
    except (TypeError, ValueError, OverflowError):
        return -1


def on_device(row):
    return (row.stream >= 0 and row.corr >= 0) or row.name in SYNC


def rows_of(events, ns):
    fractions = any(isinstance(e.get("ts", 0.5), float) for e in events)
    rows = []
    for index, e in enumerate(events):
        if e.get("dur") is None or e.get("cat") in (None, "Trace"):
            continue
        row = Row()
        row.ts, row.dur = e["ts"], e["dur"]
        if fractions and not ns:
            end = float(row.ts) + float(row.dur)
            row.ts = math.ceil(row.ts)
            row.dur = math.floor(end) - row.ts
        row.index, row.end, row.name, row.cat = index, row.ts + row.dur, e["name"], e["cat"]
        args = e.get("args") or {}
        row.stream, row.corr = whole(args.get("stream", -1)), args.get("correlation", -1)
        rows.append(row)
    return rows


def link(rows):
    device = collections.defaultdict(list)
    for row in rows:
        row.link = min(row.corr, 0)
        if row.corr != -1 and on_device(row):
            device[row.corr].append(row)
    for row in rows:
        if row.corr != -1 and not on_device(row):
            for other in device[row.corr]:
                row.link, other.link = other.index, row.index


def iterate(rows):
    windows = [(row.ts, row.end, int(STEP.match(row.name).group(1))) for row in rows if STEP.match(row.name)]
    by_index = {row.index: row for row in rows}

    def step_at(ts):
        return ([-1] + [k for start, end, k in windows if start <= ts < end])[-1]

    for row in rows:
        row.step = step_at(row.ts) if row.stream < 0 or (row.stream == 0 and row.cat == "cpu_op") else None
    for row in rows:
        if row.stream > 0:
            row.step = by_index[row.link].step if row.link > 0 else -1


def cut(rows, include_last):
    host = [row for row in rows if not on_device(row)]
    if not host:
        return rows
    marks = [row for row in host if re.match(r"ProfilerStep#\d", row.name)]
    last_start = max(row.ts for row in marks) if marks else min(row.ts for row in host)
    last_end = max(row.end for row in marks or host)
    host = [row for row in host if (row.ts <= last_end if include_last else row.ts < last_start)]
    times = collections.Counter(row.corr for row in host)
    return [row for row in rows if on_device(row) for _ in range(times[row.corr])] + host


def job(paths, ns=False, include_last=False):
    """{rank: rows}, by rank."""
    ranks = {}
    for path in paths:
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", errors="surrogateescape") as f:
            text = f.read()
        found = re.search(r'"rank":[ \t]+(\d+)', text)
        rows = rows_of(json.loads(text, strict=False)["traceEvents"], ns)
        if rows:
            link(rows)
            iterate(rows)
            ranks[int(found.group(1)) if found else 0] = rows
    if not ranks:
        return {}
    zero = min(row.ts for rows in ranks.values() for row in rows)
    for rows in ranks.values():
        for row in rows:
            row.ts -= zero
    texts = {text for rows in ranks.values() for row in rows for text in (row.name, row.cat)}
    if sum(re.match(r"ProfilerStep#\d", text) is not None for text in texts) >= 2:
        ranks = {rank: cut(rows, include_last) for rank, rows in ranks.items()}
    return dict(sorted(ranks.items()))
