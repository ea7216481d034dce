#!/usr/bin/python3
"""phases.py TLMPI MAKE_TRACE [SEEDS] - who holds the job up, from durations of phases: made jobs with a planted straggler, in all steps
or some, healthy ones, and such as nobody can judge; and beside Kineto traces, whose waits are taken off.

Prints what fails and, last, "N passed, N failed, N skipped".
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

from phase_checks import TLMPI, check, counts, judged, run, stragglers, table
from phase_jobs import Job, named_phase

MAKE_TRACE = os.path.abspath(sys.argv[2])
SEEDS = int(sys.argv[3]) if len(sys.argv) > 3 else 30


def shaped(seed):
    """Ranks, steps and noise of a job."""
    r = random.Random(seed)
    return r, {"ranks": r.choice([3, 4, 8, 16]), "steps": r.choice([20, 40, 90]), "split": r.random() < 0.4,
               "jitter": r.choice([0.003, 0.01, 0.02]), "tail": r.choice([0, 0.002])}


def planted(work):
    right = found = named = 0
    for seed in range(SEEDS):
        r, shape = shaped(seed)
        phase = r.choice(["host_to_device", "training_metrics", "loading"] + ["compute"] * shape["split"])
        rank, share, steps = r.randrange(shape["ranks"]), r.uniform(0.05, 0.3), shape["steps"]
        first = 0 if seed % 2 == 0 else r.randrange(steps // 4, steps // 2)
        last = steps - 1 if seed % 2 == 0 else first + steps // 4
        job = Job(seed, fault=(rank, phase, share, first, last), **shape)
        rows = judged(work, job)
        top = rows[0]
        right += (int(top["rank"]), top["phase"]) == (rank, named_phase(job))
        found += (int(top["first_step"]), int(top["last_step"])) == (first, last)
        if top["verdict"] == "straggler":
            check(f"seed {seed}: the others wait", int(top["nwaiters"]) >= 0.9 * (shape["ranks"] - 1), top["nwaiters"])
            other = (rank + 1) % shape["ranks"]
            true = 1e6 * (job.time_ms(other) - Job(seed, **shape).time_ms(other))
            most = 1.15 * true if shape["split"] else 1.1e6 * share * job.step_ms * (last - first + 1)
            check(f"seed {seed}: what it costs", 0.9 * true < int(top["cost_ns"]) < most, f"{top['cost_ns']}, not {true}")
        rows = judged(work, Job(seed + 1000, **shape))
        named += bool(stragglers(rows))
        if not shape["split"]:
            hidden = judged(work, Job(seed, fault=(rank, "compute", share, 0, steps), **shape))
            check(f"seed {seed}: what a collective hides names nobody", not stragglers(hidden), stragglers(hidden))
            check(f"seed {seed}: and that is said", "training_step equal on all ranks: collectives in it, of which its name "
                  "speaks, hide who is slow; capture a Kineto window" in hidden[0]["reason"], hidden[0]["reason"])
        if shape["split"]:
            fast = judged(work, Job(seed, fast=(rank, "compute", share, 0, steps), **shape))
            check(f"seed {seed}: who is fast, and waits, is not named", rank not in [s[0] for s in stragglers(fast)])
    check("the straggler and its phase are named", right >= 0.95 * SEEDS, f"{right} of {SEEDS}")
    check("in its steps", found >= 0.8 * SEEDS, f"{found} of {SEEDS}")
    check("nobody is named in healthy jobs", named <= 0.01 * SEEDS + 1, f"{named} of {SEEDS}")


def published(work):
    """8 ranks of which one has more work: the others have as much longer all-reduces."""
    folder = os.path.join(work, "published")
    Job(1, split=True, fault=(5, "compute", 0.25, 0, 89)).write(folder)
    out, got = run(folder)
    rows = table(out, "phase_verdict")
    check("published: its rank and phase", stragglers(rows) == [(5, "forward")], rows)
    check("published: who waits, and where", rows[0]["nwaiters"] == "7" and rows[0]["waits_in"] == "all_reduce", rows[0])
    check("published: what levels out", "shorter in all_reduce, where collectives level the ranks" in rows[0]["reason"])
    check("published: a screen", len(got.stdout.splitlines()) <= 24 and max(map(len, got.stdout.splitlines())) <= 80)
    check("published: in words", "7 ranks take" in got.stdout and "longer in all_reduce" in " ".join(got.stdout.split()))
    told = json.loads(run(folder, "--json")[1].stdout)
    check("published: as JSON", told["verdict"] == "straggler" and told["which_rank"]["answer"] == 5 and
          told["which_phase"]["answer"] == "forward" and told["others_waiting"]["answer"] is True and
          told["persistent"]["answer"] == "persistent", told)
    run(folder, "-q", "--fail-on", "straggler>5%", status=5)
    run(folder, "-q", "--fail-on", "straggler>60%,idle>1%")
    ask = subprocess.run([TLMPI, "ask", out], capture_output=True, text=True)
    check("published: four questions", ask.returncode == 0 and ask.stdout.count("Trust: high") == 4, ask.stdout)


def open_question(work):
    """Two phases of which no name tells: only steps in which the fault is not there do."""
    for first, last, verdict in ((0, 89, "open"), (30, 60, "straggler")):
        folder = os.path.join(work, "open")
        shutil.rmtree(folder, ignore_errors=True)
        Job(4, split=True, fault=(2, "compute", 0.2, first, last)).write(folder)
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            with open(path) as f:
                text = f.read().replace('"forward"', '"a"').replace('"all_reduce"', '"b"')
            with open(path, "w") as f:
                f.write(text)
        rows = table(run(folder, "-q")[0], "phase_verdict")
        check(f"two unknown phases, steps {first}-{last}", (rows[1]["rank"], rows[1]["phase"], rows[0]["verdict"]) ==
              ("2", "a", verdict), rows)


def beside(work):
    """A rank that is slow in what its all-reduces level: durations name nobody; with the waits that traces of the same steps
    show it is named."""
    traces, alone = os.path.join(work, "traces"), os.path.join(work, "alone")
    subprocess.run([MAKE_TRACE, "-o", traces, "--ranks", "8", "--layers", "2", "--steps", "8", "--seed", "3", "--fault",
                    "compute_slow", "--fault-rank", "5", "--fault-cost", "0.2"], check=True)
    marks = table(run(traces, "-q")[0], "step")
    os.makedirs(alone)
    for rank in {x["rank"] for x in marks}:
        for folder in traces, alone:
            with open(os.path.join(folder, f"cuda_events_rank_{rank}.jsonl"), "w") as f:
                for x in marks:
                    if x["rank"] == rank:
                        ms = (int(x["end_ns"]) - int(x["start_ns"])) / 1e6
                        f.write(json.dumps({"duration_ms": ms, "name": "training_step", "rank": int(rank), "step": int(x["step"])}) + "\n")
    rows = table(run(alone, "-q")[0], "phase_verdict")
    check("alone: levelled", not stragglers(rows) and "equal on all ranks" in rows[0]["reason"], rows)
    out, _ = run(traces, "-q")
    rows = table(out, "phase_verdict")
    check("beside traces: named", stragglers(rows) == [(5, "training_step")], rows)
    check("beside traces: waits were taken off", all(int(x["wait_ns"]) >= 0 for x in table(out, "phase_step")))
    digests = {run(traces, "--digest", procs=n)[1].stdout for n in (1, 2, 5)}
    check("beside traces: one answer for any number of procs", len(digests) == 1, digests)
    check("beside traces: the others wait", rows[0]["nwaiters"] == "7", rows[0])


def longer_than_traces(work):
    """Phases of 90 steps beside traces of 8: the steps that traces do not have are judged as without them."""
    folder = os.path.join(work, "longer")
    subprocess.run([MAKE_TRACE, "-o", folder, "--ranks", "8", "--layers", "2", "--steps", "8", "--seed", "7"], check=True)
    check("traces alone name nobody", all(x["kind"] == "none" for x in table(run(folder, "-q")[0], "culprit")))
    Job(9, fault=(5, "host_to_device", 0.25, 30, 59)).write(folder)
    out, got = run(folder, "--fail-on", "straggler>5%", status=5)
    check("phases beside traces: named", stragglers(table(out, "phase_verdict")) == [(5, "host_to_device")])
    words = " ".join(got.stdout.split())
    check("phases beside traces: in the summary", "No rank holds the job up." in words and "Phases of 90 steps: Rank 5 holds the job up in "
          "steps 30-59 only" in words, words)
    told = subprocess.run([TLMPI, "ask", out], capture_output=True, text=True).stdout
    check("phases beside traces: asked", "What do the phases say that were timed in 90 steps? Rank 5" in " ".join(told.split()), told)
    told = json.loads(subprocess.run([TLMPI, "ask", "--json", out], capture_output=True, text=True).stdout)
    check("phases beside traces: as JSON", told["verdict"] == "none" and told["phases_verdict"] == "straggler" and
          told["phases"][0]["rank"] == 5, told.get("phases_verdict"))


def sporadic(work):
    """In 15 of 300 steps: more than any other rank is in as many."""
    steps = set(random.Random(8).sample(range(300), 15))
    for phase in "host_to_device", "loading":
        rows = judged(work, Job(8, steps=300, fault=(6, phase, 0.5, 0, 299), chosen=steps))
        check(f"sporadic in {phase}", (rows[0]["rank"], rows[0]["pattern"], rows[0]["steps_flagged"]) == ("6", "sporadic", "15"), rows[0])


def several(work):
    """Ranks that are late together cost what the latest of them costs, however many they are."""
    for ranks, steps, late in ((16, 40, range(8, 16)), (16, 40, range(3, 5)), (200, 30, range(40, 120))):
        shape = {"ranks": ranks, "steps": steps, "split": True, "tail": 0}
        job = Job(11, fault=(late, "compute", 0.1, 0, steps), **shape)
        rows = judged(work, job)
        true = 1e6 * (job.time_ms(0) - Job(11, **shape).time_ms(0))
        check(f"{len(late)} of {ranks}: all are named", {r for r, _ in stragglers(rows)} == set(late), stragglers(rows))
        check(f"{len(late)} of {ranks}: what all cost", 0.9 * true < int(rows[0]["cost_ns"]) < 1.15 * true, f"{rows[0]['cost_ns']}, not {true}")
        check(f"{len(late)} of {ranks}: beside those that are not", all(
            0.9 < int(r["excess_ns"]) / (1e6 * 0.1 * job.step_ms * steps) < 1.2 for r in rows), rows[0]["excess_ns"])


def not_shown(work):
    """Copies that run beside the work of other steps: a rank may take longer for them, and nobody waits."""
    for first, last in ((0, 89), (30, 59)):
        rows = judged(work, Job(5, fault=(3, "host_to_device", 0.05, first, last), beside=True))
        check(f"copies beside work, steps {first}-{last}", not stragglers(rows) and (rows[1]["rank"], rows[1]["verdict"]) == ("3", "longer"), rows)


def alone(work):
    """What one rank alone does is named as that, and not as time outside of phases."""
    for name, share, every, pattern in (("logging", 0.05, 1, "persistent"), ("checkpoint", 2, 30, "sporadic"), ("checkpoint", 2, 90, "one_off")):
        rows = judged(work, Job(6, ranks=8, alone=(2, name, share, every)))
        check(f"{name} each {every} steps", stragglers(rows) == [(2, name)] and rows[0]["pattern"] == pattern and
              rows[0]["waits_in"] == "training_step", rows)
    rows = judged(work, Job(7, fault=(5, "host_to_device", 0.2, 0, 89), alone=(0, "checkpoint", 2, 30)))
    check("a straggler beside checkpoints", sorted(stragglers(rows)) == [(0, "checkpoint"), (5, "host_to_device")], rows)


def told_once(work):
    """Stalls behind the collective of a step make the others wait in the next: one delay, one name."""
    steps = set(random.Random(3).sample(range(200), 20))
    shape = {"steps": 200, "split": True, "tail": 0}
    job = Job(12, fault=(6, "training_metrics", 0.2, 0, 199), chosen=steps, **shape)
    rows = judged(work, job)
    true = 1e6 * (job.time_ms(0) - Job(12, **shape).time_ms(0))
    check("stalls at the end of steps", stragglers(rows) == [(6, "training_metrics")], rows)
    check("stalls at the end of steps: what they cost", 0.9 * true < int(rows[0]["cost_ns"]) < 1.15 * true, f"{rows[0]['cost_ns']}, not {true}")


def stalls(work):
    """Any rank may stall: that one of four has three of a handful is chance."""
    named = 0
    for seed in range(3 * SEEDS):
        named += bool(stragglers(judged(work, Job(seed + 500, ranks=4, steps=40, split=seed % 2 == 0, jitter=0.005, tail=0.01))))
    check("stalls of any rank: nobody is named", named <= 0.01 * 3 * SEEDS + 1, f"{named} of {3 * SEEDS}")


def one_step(work):
    rows = judged(work, Job(13, steps=1, split=True, fault=(2, "compute", 0.5, 0, 0)))
    check("one step: nobody, and no trust", (rows[0]["verdict"], rows[0]["confidence"]) == ("none", "low"), rows)


def few(work):
    """Few ranks, few steps: chance names nobody, and what is plain is found all the same."""
    named = found = 0
    for seed in range(2 * SEEDS):
        shape = {"ranks": 2 + seed % 3, "steps": 5 + seed % 6, "split": True, "jitter": 0.02, "tail": 0}
        named += bool(stragglers(judged(work, Job(seed, **shape))))
        fault = (seed % shape["ranks"], "compute", 0.3, 0, shape["steps"])
        found += (fault[0], "forward") in stragglers(judged(work, Job(seed, fault=fault, **{**shape, "ranks": 4, "steps": 8})))
    check("few steps: nobody is named in healthy jobs", named <= 0.02 * 2 * SEEDS, f"{named} of {2 * SEEDS}")
    check("few steps: the straggler is named", found >= 0.95 * 2 * SEEDS, f"{found} of {2 * SEEDS}")


def main():
    work = tempfile.mkdtemp(prefix="tlmpi-phases-")
    try:
        for part in (published, open_question, beside, longer_than_traces, sporadic, several, not_shown, alone, told_once, stalls, one_step,
                     few, planted):
            part(work)
    finally:
        shutil.rmtree(work)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
