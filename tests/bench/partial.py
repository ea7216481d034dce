"""partial.py - jobs whose recording is not whole or not clean: what tlmpi says of them, and how far it says to trust that.

A judge of judges.py.  What is true is known of each job (simulated, or published beside the traces); one defect of the recording
is put into its traces, drawn by the seed.  The job itself stays what it was, so that its truth does, and tlmpi's answer for
the whole recording tells how exposed communication divides into waiting and transfer.

What counts as wrong, each with the confidence that was told for it (table culprit):

    rank      a culprit is named that has no fault; in healthy jobs any
    nobody    nobody is said to stand out, though a fault costs 5 % of each step in which it acts
    gain      the gain of the right rank is off by more than 10 % of the true one, and by 1 % of the wall time
    split     waiting or transfer told as known differs from that of the same ranks and steps of the whole recording by more than
              10 % of it, and by 1 % of the wall time; what is told as unknown may be either (confidence: of the waiting)
"""

import collections
import concurrent.futures
import json
import multiprocessing
import os
import random
import shutil

from defects import DEFECTS, read_all, span, steps, write_all
from scores import distance, gain_of_all, gain_of_whole_steps, run, untellable

LARGE_FAULT, GAIN_OFF, OF_WALL = 0.05, 0.1, 0.01
NAMED = ("rank", "host", "several", "link", "untraced")


# --------------------------------------------------------------------------------------------------------- answers


def rows_of(tlmpi, path, table, *where):
    done = run([tlmpi, "show", path, table, "--format", "json", *where])
    if done.returncode != 0:
        raise RuntimeError("tlmpi show %s: %s" % (table, done.stderr.decode(errors="replace")[-300:]))
    return json.loads(done.stdout)


def ranks_of(text):
    """"0-2,5,8-12/2" as a list."""
    runs = [part.partition("/") for part in text.split(",") if part]
    ends = [(run.split("-"), int(by or 1)) for run, _, by in runs]
    return [r for e, by in ends for r in range(int(e[0]), int(e[-1]) + 1, by)]


class Said:
    """What tlmpi says of a folder: culprits, and the parts of exposed communication by (rank, step)."""

    def __init__(self, words, folder, output):
        tlmpi = next((w for w in words if os.path.basename(w).startswith("tlmpi")), words[0])
        done = run(words + ["-q", "-f", "-o", output, folder])
        if not os.path.exists(output + ".h5"):
            raise RuntimeError("tlmpi ended with status %d: %s" % (done.returncode, done.stderr.decode(errors="replace")[-300:]))
        self.culprits = rows_of(tlmpi, output + ".h5", "culprit")
        self.parts = collections.defaultdict(lambda: [0, 0, 0])
        for row in rows_of(tlmpi, output + ".h5", "exposed"):
            parts = self.parts[row["rank"], row["step"]]
            for i, columns in enumerate((("waiting_ns",), ("transfer_ns",), ("comm_unknown_ns", "unknown_ns"))):
                parts[i] += sum(row.get(column, 0) for column in columns)
        self.wall = {(row["rank"], row["step"]): row["wall_ns"] for row in rows_of(tlmpi, output + ".h5", "breakdown")
                     if row["device"] == -1}
        os.remove(output + ".h5")

    def sum(self, keys):
        return [sum(self.parts[key][i] for key in keys if key in self.parts) for i in range(3)]


def compared(traces, named):
    """The (rank, step) to compare with the whole: all a rank has; of a recording that covers less, the whole steps inside it."""
    if named not in ("windows differ", "one begins late"):
        return [(rank, -1) for rank in traces]
    marked = [set(steps(trace)) for trace in traces.values()]
    common = sorted(set.intersection(*marked))[1:-1]
    return [(rank, step) for rank in traces for step in common]


def split_is_wrong(said, whole, keys):
    """Whether waiting or transfer told as known cannot be that of the whole; None: nothing to compare."""
    keys = [key for key in keys if key in said.wall and key in whole.wall]
    wall = sum(whole.wall[key] for key in keys)
    if wall == 0:
        return None
    told, true = said.sum(keys), whole.sum(keys)
    return any(max(told[i] - true[i] - true[2], true[i] - told[i] - told[2]) > max(GAIN_OFF * true[i], OF_WALL * wall) for i in (0, 1))


class Outcome:
    """One answer beside the truth.  wrong: {what: confidence}, as in the opening comment."""

    def __init__(self, truth, traces, said, split):
        fault, rows = truth["fault"], [r for r in said.culprits if r["kind"] in NAMED]
        self.healthy = fault is None
        self.traced = fault is not None and any(r in traces for r in fault["ranks"])
        self.named, self.split, self.confidence = [ranks_of(r["ranks"]) for r in rows], split, said.culprits[0]["confidence"]
        right = [not self.healthy and 2 * len(set(n) & set(fault["ranks"])) >= max(1, len(n)) for n in self.named]
        self.right, self.wrong, self.gain = bool(right) and right[0], {}, None
        for row, fits in zip(rows, right):
            if not fits:
                self.note("rank", row["confidence"])
        if not rows and not self.healthy and fault["cost_share"] >= LARGE_FAULT and said.culprits[0]["kind"] == "none" and \
                not untellable(fault):
            self.note("nobody", self.confidence)
        if self.right and fault["host"] is None and fault["gain_ns"] > 0:
            true = sorted((gain_of_whole_steps(truth), gain_of_all(truth)))
            off, wall = distance(max(0, rows[0]["gain_ns"]), *true), max(1, rows[0]["wall_ns"])
            self.gain = off <= GAIN_OFF or off * true[0] <= OF_WALL * wall
            if not self.gain:
                self.note("gain", self.confidence)
        if split:
            self.note("split", said.culprits[0]["waiting_confidence"])

    def note(self, what, confidence):
        if self.wrong.get(what) != "high":
            self.wrong[what] = confidence

    def high(self):
        return {what for what, confidence in self.wrong.items() if confidence == "high"}

    def line(self):
        wrong = ", ".join("%s (%s)" % item for item in self.wrong.items()) or "nothing wrong"
        return "%s, named %s (%s): %s" % ("healthy" if self.healthy else "faulty", self.named, self.confidence, wrong)


# --------------------------------------------------------------------------------------------------------- a sitting


def completed(truth, traces):
    """The truth of a recorded job with the steps and windows that are asked for here."""
    if truth.get("step_ns") or "job" in truth:
        return truth
    begin, length = min(steps(t)[min(steps(t))][0] for t in traces.values()), len(steps(next(iter(traces.values()))))
    last = max(span(t)[1] for t in traces.values())
    step_ns = int(1000 * (last - begin) / length)
    gain_ns = truth["fault"]["gain_ns"] // length if truth["fault"] else 0
    return dict(truth, start_ns=int(1000 * begin), step_ns=[step_ns] * length, healthy_step_ns=[step_ns - gain_ns] * length,
                traces=[{"rank": r, "start_ns": int(1000 * span(t)[0]), "end_ns": int(1000 * span(t)[1])} for r, t in traces.items()])


def ask(case, number, variants, only, seed, scratch):
    """[(defect, [outcome of each variant])] of a job, and what failed in words."""
    mine, out, failures = os.path.join(scratch, "partial-%04d" % number), [], []
    folder, truth = case.make(mine)
    traces = read_all(folder)
    truth, wholes = completed(truth, traces), [None] * len(variants)
    for name, defect in DEFECTS:
        if name != "none" and only and only not in name:
            continue
        changed = json.loads(json.dumps(truth))
        partial = defect(random.Random("%d %s %s" % (seed, case.name, name)), traces, changed)
        where = folder if name == "none" else mine + "-defect"
        if where != folder:
            write_all(where, partial)
        outcomes = []
        for i, (label, words) in enumerate(variants):
            try:
                said = Said(words, where, os.path.join(scratch, "partial-%04d-%d" % (number, i)))
                wholes[i] = wholes[i] or said
                outcomes.append(Outcome(changed, partial, said, split_is_wrong(said, wholes[i], compared(partial, name))))
            except (RuntimeError, ValueError, KeyError, IndexError) as e:
                outcomes.append(None)
                failures.append("%s, %s, %s: %r" % (case.name, name, label, e))
        out.append((name, outcomes))
        if where != folder:
            shutil.rmtree(where)
    if folder == mine:
        shutil.rmtree(mine)
    return out, failures


HEADS, WIDTHS = ("right", "wrong", "nobody", "gain", "healthy", "split", "high", "WRONG HIGH"), (7, 5, 6, 7, 8, 8, 8, 10)


def cells(outcomes, before):
    """The columns of a line.  before: what is wrong with high confidence of each whole recording; where it is no more, the
    job counts behind a +."""
    faulty, healthy = [o for o in outcomes if not o.healthy], [o for o in outcomes if o.healthy]
    gains, splits = [o.gain for o in outcomes if o.gain is not None], [o.split for o in outcomes if o.split is not None]
    new = [bool(o.high() - b) for o, b in zip(outcomes, before)]
    old = [bool(o.high()) and not n for o, n in zip(outcomes, new)]
    return ("%d/%d" % (sum(o.right for o in faulty), len(faulty)), sum(bool(o.named) and not o.right for o in faulty),
            sum(not o.named for o in faulty), "%d/%d" % (sum(gains), len(gains)),
            "%d/%d" % (sum(bool(o.named) for o in healthy), len(healthy)), "%d/%d" % (sum(splits), len(splits)),
            "%d/%d" % (sum(o.confidence == "high" for o in outcomes), len(outcomes)), "%d+%d" % (sum(new), sum(old)))


def report(labels, sat):
    """sat: {defect: [[outcome of each job] of each variant]}"""
    def row(head, blocks):
        print("%-23s" % head + "".join("  | " + " ".join("%*s" % (w, c) for w, c in zip(WIDTHS, block)) for block in blocks))

    print("%-23s" % "" + "".join("  | %-*s" % (sum(WIDTHS) + len(WIDTHS) - 1, label) for label in labels))
    row("", [HEADS] * len(labels))
    total = [([], []) for _ in labels]
    for defect, of_variants in sat.items():
        blocks = []
        for outcomes, wholes, (all_outcomes, all_before) in zip(of_variants, sat["none"], total):
            pairs = [(o, w.high() if defect != "none" else set()) for o, w in zip(outcomes, wholes) if o is not None and w is not None]
            found, before = [o for o, _ in pairs], [b for _, b in pairs]
            blocks.append(cells(found, before))
            if defect != "none":
                all_outcomes += found
                all_before += before
        row(defect if defect != "none" else "(whole)", blocks)
    row("all defects", [cells(*of_variant) for of_variant in total])


SITTING = []    # what forked processes ask with: cases hold functions, which cannot be sent to them


def ask_number(i):
    cases, variants, options, scratch = SITTING
    return ask(cases[i], i, variants, options.defect, options.seed, scratch)


def sit(cases, variants, options, scratch):
    """Judges all variants; prints its table.  What failed, in words."""
    SITTING[:] = cases, variants, options, scratch
    sat, failures = collections.OrderedDict(), []
    with concurrent.futures.ProcessPoolExecutor(options.procs, multiprocessing.get_context("fork")) as pool:
        for i, (found, failed) in enumerate(pool.map(ask_number, range(len(cases)))):
            failures += failed
            for defect, outcomes in found:
                for of_variant, (label, _), outcome in zip(sat.setdefault(defect, [[] for _ in variants]), variants, outcomes):
                    of_variant.append(outcome)
                    if options.list and outcome is not None:
                        print("%-10s %3d %-36s %-23s %-8s %s" % (cases[i].judge, i, cases[i].name, defect, label, outcome.line()), flush=True)
    report([label for label, _ in variants], sat)
    return failures

