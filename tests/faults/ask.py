#!/usr/bin/env python3
"""ask.py TLMPI MAKE_TRACE - tlmpi ask on result files that lack tables, rows or sense: an answer, or a message that says why not.

Values are scrambled through HDF5 and the file is sealed again, so that it stays a result: whatever a cell says, there is
no crash, the JSON is JSON, the text fits 80 columns and holds no control bytes.  Where bytes are, the file is refused.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

from seal import seal
from traces import Checks

REQUIRED = ("rank", "breakdown", "straggler", "quality", "culprit")
OTHERS = ("step", "blame", "blame_step", "whatif", "link", "clock", "critical_path")
ROUNDS = 60


class Asked:
    def __init__(self, program, path, *options):
        done = subprocess.run([program, "ask", path, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.status, self.out = done.returncode, done.stdout.decode("utf-8", "strict")
        self.err = done.stderr.decode("utf-8", "replace")


def make(program, make_trace, folder):
    """A result of each kind of verdict, by its name."""
    results = {}
    for name, options in {"straggler": ["--fault", "gc", "--fault-rank", "3", "--fault-share", "0.3"],
                          "link": ["--tp", "2", "--fault", "slow_link", "--fault-rank", "3", "--fault-share", "0.4"],
                          "healthy": []}.items():
        traces, out = os.path.join(folder, name), os.path.join(folder, "of-" + name)
        subprocess.run([make_trace, "-o", traces, "--ranks", "8", "--steps", "6", "--gpus", "4", *options], check=True)
        subprocess.run([program, "-q", "-o", out, traces], check=True, stderr=subprocess.DEVNULL)
        results[name] = out + ".h5"
    return results


def answers(checks, program, results):
    verdicts = {}
    for name, path in results.items():
        verdicts[name] = json.loads(Asked(program, path, "--json").out)
    checks.that(verdicts["straggler"]["verdict"] == "straggler", "the straggler is found", verdicts["straggler"])
    checks.that(verdicts["straggler"]["which_rank"]["answer"] == 3, "by its rank", verdicts["straggler"])
    checks.that(verdicts["link"]["verdict"] == "slow_link", "the slow link is found", verdicts["link"])
    checks.that(3 in (verdicts["link"]["culprits"][0]["rank"], verdicts["link"]["culprits"][0]["peer"]), "by its ends",
                verdicts["link"])
    checks.that(verdicts["healthy"]["verdict"] == "none", "of a healthy job none", verdicts["healthy"])
    for name, passed in (("straggler", True), ("link", False), ("healthy", False)):
        asked = Asked(program, results[name], "--fail-on", "straggler>1%")
        checks.that(asked.status == (5 if passed else 0), name + ": --fail-on straggler", asked.status)
    checks.that(Asked(program, results["link"], "--fail-on", "link>1%").status == 5, "link: --fail-on link")


def empty(tables, name):
    """No rows are left; a short table lies in its header, and cannot shrink."""
    attributes = dict(tables[name].attrs)
    dtype = tables[name].dtype
    del tables[name]
    tables.create_dataset(name, shape=(0,), maxshape=(None,), dtype=dtype).attrs.update(attributes)


def without(h5py, checks, program, path, folder):
    other = os.path.join(folder, "other.h5")
    with h5py.File(other, "w") as f:
        f["x"] = [1, 2, 3]
    asked = Asked(program, other)
    checks.that(asked.status == 3 and "is no result file of" in asked.err, "another HDF5 file", asked.err)
    for table in REQUIRED + OTHERS:
        shutil.copy(path, other)
        with h5py.File(other, "r+") as f:
            del f["tables"][table]
        seal(other)
        asked = Asked(program, other)
        if table in REQUIRED:
            checks.that(asked.status == 3 and "the file has no table " + table in asked.err, "no table " + table, asked.err)
        else:
            checks.that(asked.status == 0 and asked.out.count("Trust:") == 4, "no table " + table, asked.err)
    shutil.copy(path, other)
    with h5py.File(other, "r+") as f:
        for table in REQUIRED + OTHERS:
            empty(f["tables"], table)
    checks.that(Asked(program, other).status == 3, "no rows, without a seal")
    seal(other)
    asked = Asked(program, other)
    checks.that(asked.status == 0 and "nothing ran on a device" in asked.out, "no rows at all", asked.err)
    checks.that(json.loads(Asked(program, other, "--json").out)["verdict"] == "no_device_work", "no rows at all: JSON")


def nonsense(np, chance, dtype):
    if dtype.kind == "S":
        return bytes(chance.randrange(1, 256) for _ in range(dtype.itemsize))
    if dtype.kind == "f":
        return chance.choice([np.nan, np.inf, -np.inf, 1e308, -1, 0])
    info = np.iinfo(dtype)
    return chance.choice([info.min, info.max, 0, 1, chance.randrange(0 if info.min == 0 else -5, 70)])


def scramble(h5py, np, chance, path):
    with h5py.File(path, "r+") as f:
        for _ in range(chance.randrange(1, 7)):
            dataset = f["tables"][chance.choice(REQUIRED + OTHERS)]
            rows = dataset[:]
            if len(rows) == 0:
                continue
            column, often = chance.choice(rows.dtype.names), chance.choice([0.1, 1])
            for i in range(len(rows)):
                if chance.random() < often:
                    rows[column][i] = nonsense(np, chance, rows.dtype[column])
            if chance.random() < 0.3:
                rows = rows[chance.sample(range(len(rows)), len(rows))]
            dataset[:] = rows
    seal(path)


def scrambled(h5py, np, checks, program, results, folder):
    path = os.path.join(folder, "scrambled.h5")
    for seed in range(ROUNDS):
        chance = random.Random(seed)
        shutil.copy(results[chance.choice(sorted(results))], path)
        scramble(h5py, np, chance, path)
        what = f"scrambled, seed {seed}"
        asked = Asked(program, path, "--fail-on", "straggler>1%,link>1%,idle>1%,comm>1%")
        checks.that(asked.status in (0, 3, 5), what, asked.status, asked.err[-300:])
        checks.that(asked.status == 3 or all(len(line) <= 80 for line in asked.out.splitlines()), what + ": the columns", asked.out)
        checks.that(all(c == "\n" or c >= " " for c in asked.out), what + ": control bytes", asked.out)
        asked = Asked(program, path, "--json")
        checks.that(asked.status in (0, 3), what + ", JSON", asked.status, asked.err[-300:])
        checks.that(asked.status == 3 or json.loads(asked.out)["format"] == 1, what + ": the JSON")


def damaged(checks, program, path, folder):
    """Whatever becomes of the file's bytes, every command refuses it and says why."""
    other = os.path.join(folder, "damaged.h5")
    with open(path, "rb") as f:
        whole = f.read()
    chance = random.Random(1)
    for i in range(40):
        data = bytearray(whole)
        at = chance.randrange(len(data))
        if i % 4 == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif i % 4 == 1:
            data[at // 512 * 512:at // 512 * 512 + 512] = bytes(512)
        elif i % 4 == 2:
            data[at // 8 * 8:at // 8 * 8 + 8] = chance.choice([bytes(8), b"\xff" * 8, b"\0\0\0\0\1\0\0\0"])
        else:
            del data[at:]
        if data == whole:
            continue
        with open(other, "wb") as f:
            f.write(data)
        for command in (["ask"], ["show"], ["show", "--digest"]):
            run = subprocess.run([program, *command, other], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                                 timeout=20)
            checks.that(run.returncode == 3 and b"damaged" in run.stderr and run.stdout == b"",
                        "damage %d: %s" % (i, " ".join(command)), run.returncode, run.stderr[-300:])


def hollow(h5py, checks, program, path, folder):
    """Two million rows that are claimed and not stored: every command refuses them at once."""
    other = os.path.join(folder, "hollow.h5")
    for table in ("rank", "interval", "straggler"):
        shutil.copy(path, other)
        with h5py.File(other, "r+") as f:
            rows, attributes = f["tables"][table][:], dict(f["tables"][table].attrs)
            del f["tables"][table]
            claims = f["tables"].create_dataset(table, shape=(2000000,), maxshape=(None,), chunks=(1 << 13,),
                                                dtype=rows.dtype, compression="gzip")
            claims[:len(rows)] = rows
            claims.attrs.update(attributes)
        seal(other)
        for command in (["ask", other], ["show", other, table], ["html", "-f", "-o", other + ".html", other]):
            run = subprocess.run([program, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, timeout=20)
            checks.that(run.returncode == 3 and b"claims 2000000 rows" in run.stderr, "%s of a hollow %s" % (command[0], table),
                        run.returncode, run.stderr[-300:])


def main():
    program, make_trace = (os.path.abspath(p) for p in sys.argv[1:3])
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="tlmpi-test.") as folder:
        results = make(program, make_trace, folder)
        answers(checks, program, results)
        damaged(checks, program, results["straggler"], folder)
        try:
            import h5py
            import numpy as np
        except ImportError:
            checks.skip("files without tables, rows or sense: no h5py")
        else:
            without(h5py, checks, program, results["straggler"], folder)
            hollow(h5py, checks, program, results["straggler"], folder)
            scrambled(h5py, np, checks, program, results, folder)
    checks.close()


if __name__ == "__main__":
    main()
