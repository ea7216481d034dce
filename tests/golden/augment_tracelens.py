#!/usr/bin/env python3
"""augment_tracelens.py TLMPI - the events that `tlmpi augment --tracelens` adds against those that TraceLens itself adds.

TLMPI_CORPUS names the folder with traces/ and golden/; without it there is nothing to compare with.  Every event must be
equal, in its order, and every number must be of the same type.
"""

import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile


def load(path):
    with gzip.open(path, "rt", encoding="utf-8", errors="surrogateescape") as f:
        return json.load(f)


def is_equal(a, b):
    """json's 1 == 1.0 is not good enough."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(is_equal(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


def traces_of(corpus, pattern):
    """The one trace that a row of INDEX.csv names; None for sets."""
    path = os.path.join(corpus, "traces", pattern.split(" ")[0])
    if os.path.isdir(path):
        files = [f for f in os.listdir(path) if f.endswith((".json", ".json.gz"))]
        return os.path.join(path, files[0]) if len(files) == 1 else None
    return path if os.path.exists(path) else None


def compare(program, trace, golden, folder):
    """What is wrong; empty when nothing is."""
    run = subprocess.run([program, "augment", "--tracelens", "-f", "-o", folder, trace], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, check=False)
    name = os.path.basename(trace)
    copy = os.path.join(folder, name[:name.index(".json")] + "_idle_augmented.json.gz")
    if run.returncode not in (0, 1) or not os.path.exists(copy):
        return "exit status %d, %s" % (run.returncode, run.stderr.decode()[-300:])
    wanted, found = load(golden), load(copy)
    found = (found["traceEvents"] if isinstance(found, dict) else found)[-len(wanted):]
    for i, (a, b) in enumerate(zip(wanted, found)):
        if not is_equal(a, b):
            return "event %d is %s, and not %s" % (i, b, a)
    before = b"idle_classification" if len(wanted) == 6 else b""
    return "" if len(wanted) == len(found) and (not before or before not in gzip.open(copy).read()) else "too many events"


def main():
    program, corpus = os.path.abspath(sys.argv[1]), os.environ.get("TLMPI_CORPUS", "")
    index = os.path.join(corpus, "golden", "INDEX.csv")
    passed = failed = 0
    if not corpus or not os.path.exists(index):
        print("SKIPPED: TLMPI_CORPUS does not name a folder with golden/INDEX.csv")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    with open(index, encoding="utf-8") as f, tempfile.TemporaryDirectory() as folder:
        for row in csv.DictReader(f):
            golden = os.path.join(corpus, "golden", "tracelens", row["tracelens"], "idle_annotation_events.json.gz")
            trace = traces_of(corpus, row["traces"])
            if not row["tracelens"] or trace is None or not os.path.exists(golden):
                continue
            wrong = compare(program, trace, golden, folder)
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print("FAILED: %s: %s" % (row["tracelens"], wrong[:800]))
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed > 0


sys.exit(main())
