#!/usr/bin/env python3
"""readback.py TLMPI FILE.h5 - h5py, pandas and h5dump read every table of a result, and read the same."""

import json
import os
import re
import subprocess
import sys
import warnings

import h5py
import numpy
import pandas

passed = failed = 0


def check(holds, what, *found):
    global passed, failed
    if holds:
        passed += 1
    else:
        failed += 1
        print("FAILED: %s; found: %s" % (what, ", ".join(str(f)[:300] for f in found)))


def cells(column):
    """A column as a list of plain values: text decoded, numbers as Python has them."""
    if column.dtype.kind == "S":
        return [v.decode("utf-8") for v in column]
    return column.tolist()


def shown(tlmpi, path, table):
    words = subprocess.run([tlmpi, "show", path, table, "--format", "json"], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(words.decode("utf-8"))


def check_cells(name, dtype, rows, names, said):
    """What `tlmpi show` says against what lies in the file."""
    check(len(rows) == len(said), "%s: as many rows as shown" % name, len(rows), len(said))
    for field in dtype.names:
        labels = h5py.check_enum_dtype(dtype[field])
        values = cells(rows[field])
        ours = [row[field] for row in said]
        if labels:
            word = {number: label for label, number in labels.items()}
            values = [word[v] for v in values]
        elif names is not None and dtype[field] == numpy.dtype("uint32"):
            values = [names[v] if v < len(names) else None for v in values]
            ours = [v if v != "" or w == "" else None for v, w in zip(ours, values)]
        elif dtype[field] == numpy.dtype("int64"):
            values = [None if v == -2**63 else v for v in values]
        check(values == ours, "%s.%s: the cells as shown" % (name, field), values[:3], ours[:3])


def check_described(tlmpi, f):
    """Every dataset of the file, every column and every attribute of the file itself has its place in the manual."""
    def page(name):
        run = subprocess.run([tlmpi, "describe", name], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return run.stdout.decode("utf-8")

    datasets = []
    f.visititems(lambda name, thing: datasets.append(name) if isinstance(thing, h5py.Dataset) else None)
    for name in datasets:
        what = name.split("/")[1] if name.startswith("tables/") else name.split("/")[0]
        text = page(what)
        check(text.startswith(what + " - "), "/%s is described" % name, text[:80])
        for field in f[name].dtype.names or () if name.startswith("tables/") else ():
            check("\n  %s " % field in text, "%s.%s is described" % (what, field))
    text = page("attributes")
    for name in f.attrs:
        check("\n  %s " % name in text, "attribute %s is described" % name)


def main():
    tlmpi, path = sys.argv[1:]
    with h5py.File(path, "r") as f:
        for attribute in ("Conventions", "schema_version", "creator", "epoch_ns"):
            check(attribute in f.attrs, "root attribute %s" % attribute, list(f.attrs))
        sources = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        commit, job = (v.decode() if isinstance(v, bytes) else v for v in map(f.attrs.get, ("git_commit", "slurm_job_id")))
        if os.path.exists(os.path.join(sources, ".git")):
            check(re.fullmatch("[0-9a-f]{40}(-dirty)?", commit or "") is not None, "git_commit is one", commit)
        else:
            check(commit is None, "no git_commit without a checkout", commit)
        check(job == os.environ.get("SLURM_JOB_ID"), "slurm_job_id is that of the job", job)
        check(f.attrs["epoch_ns"] % 10**9 == 0, "epoch_ns is a whole second", f.attrs["epoch_ns"])
        names = [n.decode("utf-8") if isinstance(n, bytes) else n for n in f["names"][()]]
        tables = sorted(f["tables"])
        for wanted in ("breakdown", "interval", "rank", "step"):
            check(wanted in tables, "table %s is there" % wanted, tables)
        for table in tables:
            data = f["tables"][table]
            rows = data[()]
            check(data.attrs["CLASS"] in (b"TABLE", "TABLE"), "%s: CLASS is TABLE" % table)
            columns = zip(data.dtype.names, data.attrs["column_units"])
            for i, (field, units) in enumerate(columns):
                named = data.attrs["FIELD_%d_NAME" % i]
                named = named.decode() if isinstance(named, bytes) else str(named)
                check(named == field, "%s: FIELD_%d_NAME" % (table, i), named)
                units = units.decode() if isinstance(units, bytes) else str(units)
                wanted = [unit for end, unit in (("_ns", "ns"), ("_ppb", "ppb"), ("_gb_s", "GB/s"), ("_pct", "%")) if field.endswith(end)]
                check(units == (wanted[0] if wanted else "byte" if "byte" in field else ""),
                      "%s.%s: units" % (table, field), units)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                frame = pandas.read_hdf(path, "/tables/" + table)
            check(len(frame) == len(rows), "%s: pandas has as many rows" % table, len(frame), len(rows))
            check(list(frame.columns) == list(data.dtype.names), "%s: pandas has the same columns" % table, list(frame.columns))
            for field in data.dtype.names:
                if data.dtype[field].kind in "iu" and field in frame:
                    check(frame[field].tolist() == rows[field].tolist(), "%s.%s: pandas reads the same" % (table, field))
            if table in ("breakdown", "interval", "rank", "step"):
                check_cells(table, data.dtype, rows, names if table == "interval" else None, shown(tlmpi, path, table))

        rows = f["tables/breakdown"][()]
        check(bool((rows["wall_ns"] == rows["compute_ns"] + rows["comm_exposed_ns"] + rows["copy_exposed_ns"]
                    + rows["idle_ns"]).all()), "the books balance in every row of breakdown")

        rows = f["tables/path_sum"][()]
        parts = rows.dtype.names[3:13]
        check(parts[0] == "cpu_ns" and parts[-1] == "unexplained_ns" and bool((rows["wall_ns"] == sum(rows[p] for p in parts)).all()),
              "the parts of each rank's path are its length", parts)

        # A rank's own view holds exactly its rows, and no bytes of its own.
        whole = f["tables/interval"][()]
        for rank in sorted(set(whole["rank"].tolist())):
            view = f["ranks/%05d/interval" % rank]
            check(view.is_virtual, "ranks/%05d/interval is a view" % rank)
            mine = whole[whole["rank"] == rank]
            check(view[()].tobytes() == mine.tobytes(), "ranks/%05d/interval holds the rank's rows" % rank)

        check_described(tlmpi, f)

    dumped = subprocess.run(["h5dump", "-A", path], check=False, stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")
    check("H5T_ENUM" in dumped and '"compute"' in dumped, "h5dump shows the labels of enums")
    check("column_units" in dumped and '"ns' in dumped, "h5dump shows units")
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


sys.exit(main())
