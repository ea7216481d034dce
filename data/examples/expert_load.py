#!/usr/bin/env python3
"""expert_load.py RESULT.h5 - bytes that each rank sends and is sent in all-to-all (tokens to experts and back), and what it
waits there; `load` is what it is sent / the mean of all ranks."""

import sys

import tlmpi_tables

with tlmpi_tables.Result(sys.argv[1]) as result:
    arrivals = result.frame("arrival", columns=["collective", "rank", "in_bytes", "out_bytes", "wait_ns"])
    collectives = result.frame("collective", columns=["collective", "kind", "suspect"])
of = arrivals.merge(collectives[(collectives["kind"] == "all_to_all") & (collectives["suspect"] == "no")], on="collective")
of = of[(of["in_bytes"] >= 0) & (of["out_bytes"] >= 0)]
sums = of.groupby("rank")[["in_bytes", "out_bytes", "wait_ns"]].sum()
sums["load"] = sums["out_bytes"] / sums["out_bytes"].mean()
print(sums.to_string() if len(sums) > 0 else "no all-to-all of which sizes are known")
