#!/usr/bin/env python3
"""communication_by_operator.py RESULT.h5 RANK - from which operators and annotations a rank communicates, with pandas."""

import sys

import tlmpi_tables

with tlmpi_tables.Result(sys.argv[1]) as result:
    work = result.frame("interval", rank=int(sys.argv[2]), columns=["kind", "operator", "annotation", "duration_ns"])
    comm = work[work["kind"] == "comm"].groupby(["annotation", "operator"])["duration_ns"]
    print(comm.agg(["count", "sum", "max"]).sort_values("sum", ascending=False).to_string())
