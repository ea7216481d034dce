"""scores.py - what tlmpi says of a job against what is true of it, and the shares of jobs in which it is right.

For the benchmarks of verdicts: stragglers.py, whose opening comment defines what is counted, and judges.py.  What is true of a
job comes in the form of data/truth.md; of traces that others made, with None for what is not known.
"""

import json
import os
import subprocess

COLUMNS = ("rank", "verdict", "blame_ns", "late_count", "z", "share_steps", "pattern", "first_step", "last_step", "p_value",
           "cause", "cause_share", "place", "gain_ns", "slowdown")

# Jobs by what the fault costs, as a part of a step.
BINS = (("below", 0.0, 0.015), ("2 %", 0.015, 0.035), ("5 %", 0.035, 0.075), ("10 %", 0.075, 0.2), ("30 %", 0.2, 1e9))


# --------------------------------------------------------------------------------------------------------- one answer


def window(truth):
    """The first and the last step in which the rank is late: as planned; of a delay that grows from nothing those in which it
    cost 1 % of the step, if it did in any."""
    fault, job = truth["fault"], truth.get("job")
    if job is None or fault["pattern"] != "drifting":
        return fault["first_step"], fault["last_step"]
    cost = [i + job["first_step"] for i, (a, b) in enumerate(zip(truth["step_ns"], truth["healthy_step_ns"])) if a - b >= 0.01 * b]
    cost = [i for i in cost if fault["first_step"] <= i <= fault["last_step"]]
    return (cost[0], cost[-1]) if cost else (fault["first_step"], fault["last_step"])


def gain_of_whole_steps(truth):
    """The part of gain_ns in steps that all traces have from beginning to end."""
    begin = max((t["start_ns"] for t in truth["traces"]), default=0)
    end = min((t["end_ns"] for t in truth["traces"]), default=0)
    gain, at = 0, truth["start_ns"]
    for ns, healthy_ns in zip(truth["step_ns"], truth["healthy_step_ns"]):
        if begin <= at + ns // 100 and at + ns - ns // 100 <= end:
            gain += ns - healthy_ns
        at += ns
    return gain if gain > 0 else truth["fault"]["gain_ns"]


def gain_of_all(truth):
    """gain_ns, and what the recording has of the steps before: devices are behind their hosts."""
    before = truth["start_ns"] - min((t["start_ns"] for t in truth["traces"]), default=0)
    lasts = truth["fault"]["pattern"] == "persistent" and before > 0
    return truth["fault"]["gain_ns"] * (1 + (before / sum(truth["step_ns"]) if lasts else 0))


def untellable(fault):
    """Whether nothing in the traces tells whose link is slow: in all steps, and there is no other like it.  How far the ends of a ring's
    ranks lie apart is no evidence: in real healthy jobs they lie as far."""
    link = fault.get("link")
    return link is not None and fault["pattern"] == "persistent" and link["others"] == 0


def distance(value, least, most):
    """How far a value is from a range, as a part of the nearer end."""
    return (least - value) / least if value < least else max(0, value - most) / most


class Verdict:
    """What came of one job.  Where `named` is None nothing could be read; the rest is None where it does not apply."""

    def __init__(self, job, truth, rows):
        fault = truth["fault"]
        self.name = job.name
        self.healthy = fault is None
        self.traced = fault is not None and fault["traced"]
        self.cause = fault["cause"] if fault else None
        self.pattern = fault["pattern"] if fault else None
        self.cost = fault["cost_share"] if fault else None
        self.untellable = fault is not None and untellable(fault)
        self.named = sorted((r for r in rows if r["rank"] >= 0 and r["verdict"] == "straggler"),
                            key=lambda r: (-r["gain_ns"], -r["blame_ns"], r["rank"]))
        self.right = [r for r in self.named if fault and r["rank"] in fault["ranks"]]
        self.recalled = bool(self.right) and self.named[0] is self.right[0]
        self.cause_right = self.window_error = self.gain_error = None
        if self.recalled:
            row = self.named[0]
            self.cause_right = row["cause"] in fault["causes"] if fault["causes"] else None
            first, last = window(truth)
            if first is not None:
                self.window_error = max(abs(row["first_step"] - first), abs(row["last_step"] - last))
            if fault["host"] is None and fault["gain_ns"] > 0:
                self.gain_error = distance(row["gain_ns"], *sorted((gain_of_whole_steps(truth), gain_of_all(truth))))

    def line(self):
        if self.healthy:
            return "healthy" if not self.named else "FALSE ALARM: rank %d, %s" % (self.named[0]["rank"], self.named[0]["cause"])
        if not self.traced:
            return "no trace of the culprit: named %s" % [r["rank"] for r in self.named]
        if not self.recalled:
            return "%s: named %s" % ("NOT TO BE TOLD" if self.untellable else "MISSED", [r["rank"] for r in self.named])
        cause = {True: " right", False: " WRONG", None: ""}[self.cause_right]
        steps = "" if self.window_error is None else ", window off %d" % self.window_error
        gain = "" if self.gain_error is None else ", gain off %.0f %%" % (100 * self.gain_error)
        return "rank right, cause%s (%s)%s%s" % (cause, self.named[0]["cause"], steps, gain)


class NoTable(Exception):
    pass


def run(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def answer(command, folder, output):
    """The rows of `straggler`; command: tlmpi and options, what starts it before that if anything does."""
    tlmpi = next((word for word in command if os.path.basename(word).startswith("tlmpi")), command[0])
    done = run(command + ["-q", "-f", "-o", output, folder])
    if done.returncode not in (0, 1):
        raise RuntimeError("tlmpi ended with status %d: %s" % (done.returncode, done.stderr.decode(errors="replace")[-500:]))
    done = run([tlmpi, "show", output + ".h5", "straggler", "--format", "json"])
    if done.returncode == 2 and b"no table" in done.stderr:
        raise NoTable(done.stderr.decode(errors="replace").strip())
    if done.returncode != 0:
        raise RuntimeError("tlmpi show: " + done.stderr.decode(errors="replace")[-500:])
    rows = json.loads(done.stdout)
    for row in rows:
        absent = [c for c in COLUMNS if c not in row]
        if absent:
            raise NoTable("the table 'straggler' has no column " + ", ".join(absent))
    return rows


# --------------------------------------------------------------------------------------------------------- many answers


def share(verdicts, holds):
    """(how many hold, of how many) of those to which it applies."""
    values = [holds(v) for v in verdicts]
    values = [v for v in values if v is not None]
    return sum(values), len(values)


def percent(pair):
    return "%5.1f %% of %3d" % (100 * pair[0] / pair[1], pair[1]) if pair[1] else "     -       "


def measures(verdicts):
    """The five numbers of a set of jobs that have a fault."""
    named = sum(len(v.named) for v in verdicts)
    return {
        "recall": share(verdicts, lambda v: v.recalled),
        "precision": (sum(len(v.right) for v in verdicts), named),
        "cause": share(verdicts, lambda v: v.cause_right),
        "window": share(verdicts, lambda v: None if v.window_error is None else v.window_error <= 1),
        "gain": share(verdicts, lambda v: None if v.gain_error is None else v.gain_error <= 0.1),
    }


def alarms(verdicts):
    return share([v for v in verdicts if v.healthy], lambda v: bool(v.named))


def bin_of(cost):
    return next(name for name, least, below in BINS if least <= cost < below or (name == "below" and cost < least))
