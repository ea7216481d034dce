#!/usr/bin/python3
"""read_back.py FILE... - reads result files as their users do, with h5py, PyTables and pandas, and checks every table.

Prints one line a check that fails and "N passed, M failed" at the end; exits with 1 when one failed.
"""
import sys
import warnings

import h5py
import numpy as np
import pandas as pd
import tables

passed = failed = 0


def check(what, good):
    global passed, failed
    passed += bool(good)
    failed += not good
    if not good:
        print("FAILED:", what)


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def same(a, b):
    """Equal cell by cell; NaN equals NaN."""
    return a.dtype.names == b.dtype.names and len(a) == len(b) and all(
        np.array_equal(a[c], b[c], equal_nan=a[c].dtype.kind == "f") for c in a.dtype.names)


def check_columns(f, name, d):
    want = {"int32": "i4", "int64": "i8", "float64": "f8", "time": "i8", "name": "u4", "enum": "u1"}
    texts = {w: [text(t) for t in d.attrs[f"column_{w.lower()}s"]] for w in ("TYPE", "UNIT", "ROLE")}
    texts["DOC"] = text(d.attrs["column_docs"]).split("\n")
    check(f"{name}: a doc per column", len(texts["DOC"]) == len(d.dtype.names))
    for i, column in enumerate(d.dtype.names):
        where = f"{name}.{column}"
        attr = {w: texts[w][i] for w in texts}
        cell = d.dtype[column]
        check(f"{where}: FIELD_{i}_NAME", text(d.attrs[f"FIELD_{i}_NAME"]) == column)
        check(f"{where}: doc", attr["DOC"] != "")
        check(f"{where}: role", attr["ROLE"] in ("key", "label", "measure", "source"))
        check(f"{where}: the unit in its name", not column.endswith("_ns") or attr["UNIT"] == "ns")
        if attr["TYPE"] == "text":
            check(f"{where}: fixed UTF-8", cell.kind == "S" and h5py.check_string_dtype(cell).encoding == "utf-8")
        else:
            check(f"{where}: {attr['TYPE']}", cell.str[1:] == want[attr["TYPE"]])
        if attr["TYPE"] == "enum":
            labels = h5py.check_enum_dtype(cell)
            check(f"{where}: labels", labels and sorted(labels.values()) == list(range(len(labels))))
            check(f"{where}: values are labels", len(d) == 0 or d[:][column].max() < len(labels))
        if attr["TYPE"] == "time":
            check(f"{where}: epoch_ns", isinstance(f.attrs["epoch_ns"], np.int64))
        if attr["TYPE"] == "name":
            ids = d[:][column]
            ids = np.unique(ids[ids != 0xFFFFFFFF])
            check(f"{where}: rows of /names", len(ids) == 0 or ids.max() < len(f["names"]))
            joined = f["names"].asstr()[:][ids] if len(ids) else []
            check(f"{where}: joins with /names", all(isinstance(t, str) and t for t in joined))


def check_table(path, f, h, name, d):
    rows = d[:]
    check(f"{name}: description", text(d.attrs["description"]) != "" and text(d.attrs["TITLE"]) != "")
    if rows.nbytes > 4096:
        check(f"{name}: compressed, with checksums", d.shuffle and d.compression == "gzip" and d.fletcher32)
        check(f"{name}: no chunk longer than it", d.chunks[0] <= len(rows))
    else:
        check(f"{name}: compact", d.id.get_create_plist().get_layout() == h5py.h5d.COMPACT)
    check_columns(f, name, d)

    node = h.get_node("/tables/" + name)
    check(f"{name}: PyTables sees a table", isinstance(node, tables.Table))
    check(f"{name}: PyTables reads it", same(node.read(), rows))
    frame = pd.read_hdf(path, "tables/" + name)
    check(f"{name}: pandas has the rows", len(frame) == len(rows))
    check(f"{name}: pandas has the columns", list(frame.columns) == list(d.dtype.names))
    for c in d.dtype.names:
        if d.dtype[c].kind in "iuf":
            check(f"{name}.{c}: the same in pandas",
                  np.array_equal(frame[c].to_numpy(), rows[c], equal_nan=rows[c].dtype.kind == "f"))


def check_views(path, f, h, name, d):
    """A view of every rank over its rows of the table, as the index says."""
    index, rows = f[f"tables/{name}_index"][:], d[:]
    check(f"{name}_index: all rows, in order",
          index["nrows"].sum() == len(rows) and np.all(np.diff(index["rank"]) > 0) and
          np.array_equal(index["first_row"], np.cumsum(index["nrows"]) - index["nrows"]))
    check(f"{name}: views for up to 1,024 ranks",
          len(index) == 0 or (f"ranks/{index['rank'][0]:05d}/{name}" in f) == (len(index) <= 1024))
    if len(index) > 1024:
        return
    for rank, first, n in index.tolist():
        key = f"ranks/{rank:05d}/{name}"
        mine = rows[first:first + n]
        check(f"{key}: its own rank", np.all(mine["rank"] == rank))
        check(f"{key}: virtual", n == 0 or f[key].is_virtual)
        check(f"{key}: the rows of the table", same(f[key][:], mine))
        check(f"{key}: PyTables reads it", same(h.get_node("/" + key).read(), mine))
        check(f"{key}: pandas reads it", len(pd.read_hdf(path, key)) == n)


def check_file(path):
    with h5py.File(path, "r") as f, tables.open_file(path, "r") as h:
        check("Conventions", text(f.attrs["Conventions"]) == "tlmpi-1")
        check("schema_version", f.attrs["schema_version"] == 6)
        check("creator", text(f.attrs["creator"]) == "tlmpi" and text(f.attrs["creator_version"]) != "")
        names = f["names"].asstr()[:]
        check("/names are texts", all(isinstance(t, str) for t in names))
        flat = f["name_bytes"]
        check("/name_bytes are the same", flat[:].tobytes() == b"".join(t.encode() + b"\0" for t in names))
        check("/name_bytes have checksums", flat.fletcher32)
        check("a place for the seal", f.userblock_size == 512)
        check("there are tables", len(f["tables"]) > 0)
        for name, d in f["tables"].items():
            check_table(path, f, h, name, d)
            if text(d.attrs["scope"]) == "event":
                check_views(path, f, h, name, d)


if __name__ == "__main__":
    # "/ranks/00003" is no Python name, and text of any length in /names no PyTables type: both are meant so.
    warnings.simplefilter("ignore")
    for file in sys.argv[1:]:
        check_file(file)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)
