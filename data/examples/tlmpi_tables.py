"""tlmpi_tables.py - the tables of a result of tlmpi in Python: enums as words, names as text.

    import tlmpi_tables

    result = tlmpi_tables.Result("traces.h5")
    print(result)                                 # its tables
    frame = result.frame("interval", rank=3)      # a table, or a rank's rows of it, as a pandas.DataFrame
    columns = result.table("breakdown")           # the same as a dict of numpy arrays; needs no pandas
    result.when(columns["start_ns"])              # times as numpy.datetime64

Needs h5py and numpy, and pandas for frame().  `tlmpi describe TABLE` says what a column means, and so does doc().
Times are ns from the attribute epoch_ns; where a time is not known it is UNKNOWN_TIME, and when() gives NaT.
A name that is not there is an empty text.
"""

import h5py
import numpy

UNKNOWN_TIME = numpy.iinfo(numpy.int64).min


def _text(value):
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


class Result:
    """A result file, open for reading; use it in `with`, or call close()."""

    def __init__(self, path):
        self.file = h5py.File(path, "r")
        self._names = None

    def close(self):
        self.file.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __repr__(self):
        return "\n".join("%-24s %9d rows  %s" % (name, len(data), _text(data.attrs["TITLE"]))
                         for name, data in sorted(self.file["tables"].items()))

    @property
    def tables(self):
        """The names of its tables."""
        return sorted(self.file["tables"])

    @property
    def names(self):
        """The text of each name; the last one, which stands for no name, is empty."""
        if self._names is None:
            self._names = numpy.append(self.file["names"].asstr()[:], "").astype(object)
        return self._names

    def doc(self, table):
        """What its columns mean: a dict of texts."""
        data = self.file["tables"][table]
        return dict(zip(data.dtype.names, _text(data.attrs["column_docs"]).split("\n")))

    def table(self, name, rank=None, columns=None):
        """Columns of a table, all of them unless some are named, as a dict of arrays; rank: the rows of one rank alone,
        -1 for those of the whole job."""
        data = self.file["tables"][name]
        rows = slice(None)
        if name + "_index" in self.file["tables"] and rank is not None:
            index = self.file["tables"][name + "_index"][:]
            index = index[index["rank"] == rank]
            first = int(index["first_row"][0]) if len(index) else 0
            rows = slice(first, first + int(index["nrows"].sum()))
        elif rank is not None:
            rows = numpy.flatnonzero(data.fields("rank")[:] == rank)
        wanted = list(columns or data.dtype.names)
        cells = data.fields(wanted)[rows]
        kinds = dict(zip(data.dtype.names, map(_text, data.attrs["column_types"])))
        return {column: self._words(cells[column], data.dtype[column], kinds[column]) for column in wanted}

    def _words(self, values, dtype, kind):
        if kind == "enum":
            labels = {number: word for word, number in h5py.check_enum_dtype(dtype).items()}
            words = numpy.array([labels.get(number, "") for number in range(max(labels) + 1)], dtype=object)
            return words[values]
        if kind == "name":
            return self.names[numpy.minimum(values, len(self.names) - 1)]
        if kind == "text":
            return numpy.array([_text(value) for value in values], dtype=object)
        return values

    def frame(self, name, rank=None, columns=None):
        """table() as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(self.table(name, rank, columns))

    def when(self, ns):
        """Times of a table as numpy.datetime64 in UTC; NaT where they are not known."""
        ns = numpy.asarray(ns, dtype=numpy.int64)
        known = ns != UNKNOWN_TIME
        return numpy.where(known, ns + known * self.file.attrs["epoch_ns"], UNKNOWN_TIME).astype("datetime64[ns]")
