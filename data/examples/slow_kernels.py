#!/usr/bin/env python3
"""slow_kernels.py RESULT.h5 [N] - the kernels on which one rank loses the most time against the median of the ranks."""

import sys

import numpy
import tlmpi_tables

with tlmpi_tables.Result(sys.argv[1]) as result:
    kernels = result.table("kernel_ranks")
    apart = kernels["slowest_ns"] - kernels["median_rank_ns"]
    lost = numpy.where(kernels["kind"] == "compute", apart * kernels["count"] / kernels["ranks"], 0) / 1e6
    for i in numpy.argsort(-lost, kind="stable")[:int(sys.argv[2]) if len(sys.argv) > 2 else 5]:
        print("%10.3f ms on rank %d: %s" % (lost[i], kernels["slowest_rank"][i], kernels["name"][i]))
