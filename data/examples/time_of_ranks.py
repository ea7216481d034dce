#!/usr/bin/env python3
"""time_of_ranks.py RESULT.h5 PICTURE - where the time of each rank went, as bars (matplotlib; .png, .svg or .pdf)."""

import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plot
import tlmpi_tables

PARTS = (("compute_ns", "compute", "#4477aa"), ("comm_exposed_ns", "exposed communication", "#ee6677"),
         ("copy_exposed_ns", "exposed copies", "#ccbb44"), ("idle_ns", "idle", "#bbbbbb"))

with tlmpi_tables.Result(sys.argv[1]) as result:
    rows = result.frame("breakdown")
    stragglers = result.frame("straggler")
rows = rows[(rows["rank"] >= 0) & (rows["step"] == -1)]
late = set(stragglers[stragglers["verdict"] == "straggler"]["rank"])

figure, axes = plot.subplots(figsize=(8, 1.5 + 0.25 * len(rows)), layout="constrained")
left = 0 * rows["wall_ns"]
unit, ns = ("s", 1e9) if rows["wall_ns"].max() > 10e9 else ("ms", 1e6)
ranks = ["rank %d%s" % (rank, " (straggler)" if rank in late else "") for rank in rows["rank"]]
for column, label, colour in PARTS:
    axes.barh(ranks, rows[column] / ns, left=left / ns, label=label, color=colour)
    left = left + rows[column]
axes.invert_yaxis()
axes.set_xlabel(unit)
axes.legend(ncols=len(PARTS), loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False)
figure.savefig(sys.argv[2])
