#!/usr/bin/python3
"""phase_files.py TLMPI - files of phases to tables: against an oracle, with runs that go on and runs that meet, names that are many or
long, damaged files; one answer for any number of procs.

Prints what fails and, last, "N passed, N failed, N skipped".
"""
import collections
import gzip
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

from phase_checks import TLMPI, check, counts, run, stragglers, table
from phase_jobs import Job


def oracle(lines):
    """{(step, phase, rank): ns} of one file's lines, in the plainest way."""
    at, session, cells = {}, collections.Counter(), collections.defaultdict(list)
    for text in lines:
        r = json.loads(text)
        key, rank, step = (r["rank"], r["name"]), r["rank"], r["step"]
        if at.get(key, (-1, 0))[0] == session[rank] and step < at[key][1]:
            session[rank] += 1
        at[key] = session[rank], step
        cells[step, r["name"], rank].append((session[rank], text, r["duration_ms"]))
    sums = {}
    for key, records in cells.items():
        last = max(s for s, *_ in records)
        sums[key] = sum({text: round(ms * 1e6) for s, text, ms in records if s == last}.values())
    return sums


def tables(work):
    """Random files: micro-steps, repeats, runs that go on in the same file, missing records."""
    for seed in range(6):
        r = random.Random(seed)
        folder = os.path.join(work, f"tables{seed}")
        os.makedirs(folder)
        cells, ranks = {}, r.choice([2, 3, 5])
        for rank in range(ranks):
            lines = []
            for _ in range(2):
                for step in range(r.randrange(5), 12):
                    for name in ("h2d", "x y", "training_step") + ("eval",) * (step % 4 == 0):
                        for micro in range(r.choice([1, 1, 3])):
                            record = {"name": name, "step": step, "rank": rank, "duration_ms": r.randrange(1, 10**9) / 1e6}
                            if micro or r.random() < 0.5:
                                record["micro_step"] = micro
                            if name == "eval":
                                record["loss"] = r.random()
                            keys = list(record)
                            r.shuffle(keys)
                            if r.random() < 0.9:
                                lines.append(json.dumps({k: record[k] for k in keys}))
                            if r.random() < 0.1 and lines:
                                lines.append(lines[-1])
            with open(os.path.join(folder, f"p{rank}.jsonl"), "w") as f:
                f.write("\n".join(lines) + "\n")
            cells.update(oracle(lines))
        out, _ = run(folder, "-q")
        rows = table(out, "phase_step")
        got = {(int(x["step"]), x["phase"], int(x["rank"])): x for x in rows}
        check(f"tables {seed}: what each rank took", {k: int(v["duration_ns"]) for k, v in got.items()} == cells)
        check(f"tables {seed}: in order", list(got) == sorted(got))
        by = collections.defaultdict(dict)
        for (step, phase, rank), ns in cells.items():
            by[step, phase][rank] = ns
        wrong = 0
        for (step, phase, rank), x in got.items():
            all_of = by[step, phase]
            others = [ns for k, ns in all_of.items() if k != rank]
            baseline = all_of[rank] if not others else others[0] if len(others) == 1 else statistics.median(all_of.values()) // 1
            wrong += int(x["baseline_ns"]) != baseline or int(x["excess_ns"]) != cells[step, phase, rank] - baseline
        check(f"tables {seed}: baselines", wrong == 0, wrong)
        for x in table(out, "phase"):
            own = sorted(ns for (s, p, k), ns in cells.items() if p == x["phase"] and k == int(x["rank"]))
            check(f"tables {seed}: phase", int(x["total_ns"]) == sum(own) and int(x["steps"]) == len(own) and
                  float(x["median_ns"]) == statistics.median(own) and int(x["max_ns"]) == own[-1] and
                  abs(float(x["mean_ns"]) - statistics.mean(own)) < 1e-3 * own[-1], x)


def resumed(work):
    """A job that goes on from step 8 after step 10: its evaluation, in every eighth step, is no later than before; copies for the next
    step come between micro-steps."""
    folder = os.path.join(work, "resumed")
    os.makedirs(folder)
    for rank in 0, 1:
        with open(os.path.join(folder, f"cuda_events_rank_{rank}.jsonl"), "w") as f:
            for time, step in enumerate([*range(11), *range(8, 20)]):
                for name, of, micro in (("train", step, 0), ("h2d", step + 1, 0), ("train", step, 1)) + (("eval", step, 0),) * (step % 8 == 0):
                    f.write(json.dumps({"name": name, "rank": rank, "step": of, "micro": micro, "time": time, "duration_ms": 1 + time}) + "\n")
    out, _ = run(folder, "-q")
    expected = {}
    for time, step in enumerate([*range(11), *range(8, 20)]):
        expected |= {("train", step): 2 * (1 + time), ("h2d", step + 1): 1 + time} | ({("eval", step): 1 + time} if step % 8 == 0 else {})
    got = {(x["phase"], int(x["step"])): int(x["duration_ns"]) / 1e6 for x in table(out, "phase_step") if x["rank"] == "1"}
    check("resumed: the last session counts, whole", got == expected, set(got.items()) ^ set(expected.items()))
    check("resumed: the other is told", [x["superseded"] for x in table(out, "side_file")] == ["10", "10"])


def again(work):
    """Files that have what others have: copies, another run, and one whose name tells another rank."""
    folder = os.path.join(work, "again")
    job = dict(ranks=3, steps=10)
    Job(1, **job).write(os.path.join(folder, "run1"))
    plain = table(run(folder, "-q")[0], "phase_step")
    shutil.copytree(os.path.join(folder, "run1"), os.path.join(folder, "run2"))
    out, got = run(folder)
    check("copies: they count once", table(out, "phase_step") == plain and
          [x["repeated"] for x in table(out, "side_file")] == ["30"] * 3 + ["0"] * 3)
    check("copies: no warning", not got.stderr, got.stderr)
    Job(2, **job).write(os.path.join(folder, "run2"))
    for n in 1, 3:
        out, got = run(folder, procs=n, status=1)
        rows = table(out, "side_file")
        check("another run: counts of its files", [[x[c] for x in rows] for c in ("superseded", "replaced", "replaced_by")] ==
              [["30"] * 3 + ["0"] * 3] * 2 + [["3", "4", "5", "-1", "-1", "-1"]], rows)
        check("another run: it is said once", got.stderr.count("there again in") == 1 and "90 records of " in got.stderr and
              "run1/cuda_events_rank_0.jsonl and of 2 other files" in got.stderr, got.stderr)
    told = subprocess.run([TLMPI, "check", folder], capture_output=True, text=True)
    check("another run: check says it", told.returncode == 1 and "is that another run?" in told.stderr, told.stderr)
    shutil.rmtree(os.path.join(folder, "run2"))
    os.rename(os.path.join(folder, "run1", "cuda_events_rank_1.jsonl"), os.path.join(folder, "run1", "cuda_events_rank_7.jsonl"))
    out, got = run(folder)
    check("a name with another rank: the lines count", table(out, "phase_step") == plain)
    check("a name with another rank: it is said", "its name tells rank 7, its lines tell rank 1" in got.stderr, got.stderr)


def many_names(work):
    """A name of its own for each step beside three that are in all: those stay, and who is late in them is found."""
    folder = os.path.join(work, "names")
    Job(7, ranks=4, steps=300, fault=(2, "host_to_device", 0.2, 0, 299)).write(folder)
    plain = table(run(folder, "-q")[0], "phase_verdict")
    for rank in range(4):
        with open(os.path.join(folder, f"cuda_events_rank_{rank}.jsonl"), "a") as f:
            for step in range(300):
                f.write(json.dumps({"name": f"batch_{step}", "step": step, "rank": rank, "duration_ms": 1 + step / 1000}) + "\n")
    for n in 1, 3:
        out, got = run(folder, procs=n, status=1)
        check("many names: who is late", stragglers(table(out, "phase_verdict")) == stragglers(plain) != [])
        check("many names: what takes most stays", {x["phase"] for x in table(out, "phase")} ==
              {"host_to_device", "training_step", "training_metrics", *(f"batch_{i}" for i in range(47, 300))})
        check("many names: what is left out is counted", [x["left_out"] for x in table(out, "side_file")] == ["47"] * 4)
        check("many names: it is said", "47 names of phases are left out" in got.stderr, got.stderr)


def long_names(work):
    """Two names of more bytes than a cell has, with one begin: two rows, of which one is late."""
    begin = "model.language_model.layers.decoder.block.self_attention.query_key_value_"
    folder, r = os.path.join(work, "long"), random.Random(1)
    os.makedirs(folder)
    for rank in range(8):
        late = 20 * (rank == 3)
        with open(os.path.join(folder, f"cuda_events_rank_{rank}.jsonl"), "w") as f:
            for step in range(60):
                for name, ms in ((begin + "forward", 50), (begin + "recompute", 50 + late), ("all_reduce", 30 - late)):
                    f.write(json.dumps({"name": name, "rank": rank, "step": step, "duration_ms": ms * r.gauss(1, 0.01)}) + "\n")
    rows = table(run(folder, "-q")[0], "phase")
    check("long names: a row each", len({(x["rank"], x["phase"]) for x in rows}) == len(rows) == 24, rows[:3])
    check("long names: one is late", [x["phase"][-9:] for x in rows if x["late_steps"] != "0"] == ["recompute"], rows)
    check("long names: the verdict's", stragglers(table(folder + ".h5", "phase_verdict"))[0][1] in {x["phase"] for x in rows})


def damage(work):
    folder = os.path.join(work, "damage")
    Job(2, fault=(1, "host_to_device", 0.2, 0, 89)).write(folder)
    plain = table(run(folder, "-q")[0], "phase_verdict")[1:]
    path = os.path.join(folder, "cuda_events_rank_4.jsonl")
    with open(path) as f:
        lines = f.read().splitlines()
    for what, text, state in (("cut", "\n".join(lines)[:-9], "cut"), ("bad lines", "\n".join(["x", *lines, "{}", ""]), "damaged"),
                              ("empty", "", "empty"), ("negative", "\n".join([lines[0].replace(": ", ": -", 1), *lines]), "damaged"),
                              ("binary", "\0\x01\xff\n" * 5000, "damaged")):
        with open(path, "w", encoding="latin1") as f:
            f.write(text)
        out, got = run(folder, status=1)
        rows = table(out, "side_file")
        check(f"{what}: its file's state", [x["status"] for x in rows] == ["ok"] * 4 + [state] + ["ok"] * 3, rows[4])
        check(f"{what}: the answer stays", stragglers([{}] + table(out, "phase_verdict")[1:]) == stragglers([{}] + plain))
        check(f"{what}: it is said", "cuda_events_rank_4.jsonl" in got.stdout + got.stderr, got.stderr)
    with open(path, "w") as f:
        f.write("\n".join(lines + lines) + "\n")
    out, got = run(folder)
    check("appended twice: counts once", table(out, "phase_verdict")[1:] == plain and "once" in got.stdout + got.stderr, got.stderr)
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")
    with open(os.path.join(folder, "losses.jsonl"), "w") as f:
        f.write('{"loss": 1, "step": 1}\n' * 3)
    check("other JSON lines are left alone", table(run(folder, "-q")[0], "phase_verdict")[1:] == plain)
    os.remove(os.path.join(folder, "losses.jsonl"))
    for name in sorted(os.listdir(folder))[:3]:
        with open(os.path.join(folder, name), "rb") as f, gzip.open(os.path.join(folder, name + ".gz"), "wb") as g:
            g.write(f.read())
        os.remove(os.path.join(folder, name))
    check("packed files", table(run(folder, "-q")[0], "phase_verdict")[1:] == plain)
    os.rename(folder, folder + ".elsewhere")
    os.makedirs(folder)
    run(folder, "-q", status=3)
    run(folder, "-q", "--events", "nothing*", status=3)
    out, _ = run(folder, "-q", "--events", folder + ".elsewhere/*")
    check("--events names files", table(out, "phase_verdict")[1:] == plain)


def procs(work):
    folder = os.path.join(work, "procs")
    Job(5, ranks=7, steps=40, fault=(2, "host_to_device", 0.2, 10, 20)).write(folder)
    with open(os.path.join(folder, "cuda_events_rank_3.jsonl"), "a") as f:
        f.write('{"name": "odd", "step": 77, "rank": 9, "duration_ms": 3}\nbroken\n')
    digests = [run(folder, "--digest", procs=n, status=1)[1].stdout for n in (1, 2, 3, 5)]
    check("one answer for any number of procs", len(set(digests)) == 1 and "phase_step" in digests[0], digests)


def main():
    work = tempfile.mkdtemp(prefix="tlmpi-phases-")
    try:
        for part in (tables, resumed, again, many_names, long_names, damage, procs):
            part(work)
    finally:
        shutil.rmtree(work)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
