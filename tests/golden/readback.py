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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data", "examples"))
import tlmpi_tables

passed = failed = 0


def check(holds, what, *found):
    global passed, failed
    if holds:
        passed += 1
    else:
        failed += 1
        print("FAILED: %s; found: %s" % (what, ", ".join(str(f)[:300] for f in found)))


def shown(tlmpi, path, table):
    words = subprocess.run([tlmpi, "show", path, table, "--format", "json"], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(words.decode("utf-8"))


def check_cells(result, name, said):
    """What `tlmpi show` says against what data/examples/tlmpi_tables.py reads, as words and texts."""
    check(result.tables.count(name) == 1 and name in repr(result), "%s: in the list of tables" % name, result.tables)
    check(set(result.doc(name)) == set(said[0]) if said else True, "%s: every column has a text" % name)
    check(len(said) == len(result.file["tables"][name]), "%s: as many rows as shown" % name)
    for field, values in result.table(name).items():
        values = [None if v == tlmpi_tables.UNKNOWN_TIME or v != v else v for v in values.tolist()]
        ours = ["" if v == "" and row[field] is None else row[field] for v, row in zip(values, said)]  # no name
        check(values == ours, "%s.%s: the cells as shown" % (name, field), *[p for p in zip(values, ours) if p[0] != p[1]][:3])


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
    with h5py.File(path, "r") as f, tlmpi_tables.Result(path) as result:
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
                wanted = [unit for end, unit in (("_ns", "ns"), ("_ppb", "ppb"), ("_gb_s", "GB/s"), ("tflop_per_s", "TFLOP/s"), ("_pct", "%")) if field.endswith(end)]
                wanted += ["FLOP"] if field == "flop" and table != "counter" else []
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
            check_cells(result, table, shown(tlmpi, path, table))

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
            frame = result.frame("interval", rank, ["start_ns", "launch_ns"])
            check(frame["start_ns"].tolist() == mine["start_ns"].tolist(), "a frame holds the rank's rows")
            when, known = result.when(frame["launch_ns"]), frame["launch_ns"] != tlmpi_tables.UNKNOWN_TIME
            check((numpy.isnat(when) == ~known).all() and int(when[known].max()) == frame["launch_ns"].max() + f.attrs["epoch_ns"]
                  if known.any() else True, "times as datetime64")
        check(len(result.table("breakdown", rank=-1)["rank"]) == (f["tables/breakdown"]["rank"] == -1).sum(), "rows of the job")

        check_described(tlmpi, f)

    dumped = subprocess.run(["h5dump", "-A", path], check=False, stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")
    check("H5T_ENUM" in dumped and '"compute"' in dumped, "h5dump shows the labels of enums")
    check("column_units" in dumped and '"ns' in dumped, "h5dump shows units")
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


sys.exit(main())
