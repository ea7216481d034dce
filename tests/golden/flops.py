#!/usr/bin/python3
"""flops.py TLMPI - floating-point operations of operators, counted once more, slowly, from the text of public traces.

Prints what fails and, last, "N passed, N failed, N skipped".
"""
import collections
import csv
import decimal
import glob
import gzip
import io
import json
import math
import os
import subprocess
import sys
import tempfile

TLMPI = os.path.abspath(sys.argv[1])
CORPUS = os.path.join(os.environ.get("TLMPI_CORPUS", ""), "traces")
WORK = {"kernel", "Kernel", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset"}
TRACES = ("backward_thread", "h100_bert_small", "h100_falconsai", "megatron_tp8", "mi250_minitoy", "mi300_bert_small",
          "mi300_ddp_resnet18_no_pool", "mi300_falconsai", "mi300_resnet_act_checkpoint", "rank_non_gpu", "sampled_2ranks",
          "vllm_decode_full_graph", "resnet18_2ranks")
FLOATS = {"float": "f32", "double": "f64", "c10::Half": "f16", "c10::BFloat16": "bf16"}
PEAKS = {"f64": 10, "f32": 20, "f16": 40, "bf16": 50}  # given on the command line, whatever the device is
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {str(more)[:600]}")


def table(path, name):
    text = subprocess.run([TLMPI, "show", path, name, "--format", "csv"], capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def ns(text):
    return int(decimal.Decimal(str(text)) * 1000)


def visits(size, kernel, stride, padding, dilation):
    """How often a kernel fits into one dimension, by trying."""
    reach, at, n = dilation * (kernel - 1), -padding, 0
    while at + reach < size + padding:
        at += stride
        n += 1
    return n


def flop(name, args):
    """(operations, precision) of an operator by itself; None: no formula, or not recorded."""
    dims, types, given = args.get("Input Dims"), args.get("Input type"), args.get("Concrete Inputs")
    name = name.removeprefix("aten::")
    if dims is None or name not in ("mm", "bmm", "addmm", "baddbmm", "convolution",
                                    "convolution_backward", "_scaled_dot_product_flash_attention"):
        return None
    precision = FLOATS.get(types[0])
    if name in ("addmm", "baddbmm"):
        dims = dims[1:]
    if name in ("mm", "bmm", "addmm", "baddbmm"):
        *batch, m, k = dims[0]
        return 2 * math.prod(batch) * m * k * dims[1][-1], precision
    if given is None:
        return None
    if name.startswith("_scaled"):
        (b, h, s, d), t, e = dims[0], dims[1][2], dims[2][3]
        pairs = sum(i + 1 for i in range(s)) if given[4] == "True" else s * t
        return 2 * b * h * (d + e) * pairs, precision
    if name == "convolution_backward":
        one = 2 * math.prod(dims[0]) // dims[2][0] * math.prod(dims[2])
        assert given[7] == "False"
        return one * given[10].strip("[]").split(", ")[:2].count("True"), precision
    assert given[6] == "False"
    out = [visits(size, kernel, *of) for size, kernel, *of in
           zip(dims[0][2:], dims[1][2:], json.loads(given[3]), json.loads(given[4]), json.loads(given[5]))]
    return 2 * dims[0][0] * math.prod(out) * math.prod(dims[1]), precision


def expected(path):
    """name of an operator: [operations, time of the kernels that do them, time that they take at the peaks], all ns"""
    with (gzip.open if path.endswith(".gz") else open)(path) as f:
        events = json.load(f, parse_float=decimal.Decimal)["traceEvents"]
    work, threads = collections.Counter(), collections.defaultdict(list)
    for e in events:
        correlation = e.get("args", {}).get("correlation")
        if e.get("cat") in WORK and correlation is not None:
            work[correlation] += ns(e["dur"])
    for e in events:
        if e.get("ph") != "X":
            continue
        key, start, end = (e["pid"], e["tid"]), ns(e["ts"]), ns(e["ts"]) + ns(e.get("dur", 0))
        if e.get("cat") in ("cpu_op", "Operator"):
            threads[key].append((start, -end, 0, e))
        elif str(e.get("cat")).endswith(("_runtime", "_driver", "Runtime")) and e["args"].get("correlation") in work:
            threads[key].append((start, -end, 1, e))
    sums = collections.defaultdict(lambda: [0, 0, 0.0])
    for items in threads.values():
        items.sort(key=lambda item: item[:3])
        stack, parents = [], []  # of operators; by item, those around it
        own, launched = collections.defaultdict(int), collections.Counter()
        for i, (start, negative_end, call, e) in enumerate(items):
            while stack and -items[stack[-1]][1] <= start:
                stack.pop()
            parents.append(list(stack))
            if call:
                for j in reversed(stack):
                    if flop(items[j][3]["name"], items[j][3].get("args", {})) is not None:
                        own[j] += work[e["args"]["correlation"]]
                        launched[j] += 1
                        break
            else:
                stack.append(i)
        outer = {k for j in launched for k in parents[j]}
        for j in launched:
            if j in outer:
                continue
            n, precision = flop(items[j][3]["name"], items[j][3]["args"])
            for name in {items[k][3]["name"] for k in parents[j] + [j]}:
                of = sums[name]
                of[0] += n
                of[1] += own[j]
                of[2] += n / PEAKS[precision] / 1000
    return sums


def same(cell, value):
    return cell not in ("", "nan") and math.isclose(float(cell), value, rel_tol=1e-9, abs_tol=1e-300)


def main():
    if not os.path.isdir(CORPUS):
        counts["skipped"] += 1
    folder = tempfile.mkdtemp()
    for name in TRACES if os.path.isdir(CORPUS) else ():
        result = os.path.join(folder, name + ".h5")
        peaks = "--peak=" + ",".join(f"{p}={x}" for p, x in PEAKS.items())
        subprocess.run([TLMPI, "-q", "-o", result, peaks, os.path.join(CORPUS, name)], check=False)
        rows = collections.defaultdict(list)
        for row in table(result, "operator"):
            rows[row["rank"]].append(row)
        files = {row["rank"]: os.path.join("/", row["file"]) for row in table(result, "rank") if row["status"] != "missing"}
        for rank, file in files.items():
            try:
                sums = expected(file)
            except (ValueError, AssertionError, OSError) as fault:
                check(f"{name}: {rank} can be counted", False, fault)
                continue
            for row in rows[rank]:
                of = sums.get(row["name"])
                if of is None:
                    check(f"{name} {rank}: {row['name']} has none", row["flop"] in ("", "nan"), row)
                    continue
                check(f"{name} {rank}: {row['name']}", same(row["flop"], of[0]), (row, of))
                if of[1] > 0:
                    check(f"{name} {rank}: rate of {row['name']}", same(row["tflop_per_s"], of[0] / of[1] / 1000), (row, of))
                    check(f"{name} {rank}: share of {row['name']}", same(row["peak_share"], of[2] / of[1]), (row, of))
            mm = [row for row in rows[rank] if row["name"] in sums]
            check(f"{name} {rank}: every operator has a row", len(mm) == len(sums), sorted(sums))
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


sys.exit(main())
