#!/usr/bin/env python3
"""stragglers_test.py - the arithmetic of stragglers.py and scores.py, on answers made up here."""

import sys

from scores import COLUMNS, Verdict, alarms, bin_of, gain_of_all, gain_of_whole_steps, measures, untellable, window
from stragglers import CAUSES, COSTS, PATTERNS, Job, goals, grid, option


def made_up(**fault):
    usual = {"cause": "gc", "causes": ["gc"], "ranks": [3], "host": None, "traced": True, "pattern": "bounded", "first_step": 4,
             "last_step": 6, "gain_ns": 1000, "cost_share": 0.05}
    return {"fault": dict(usual, **fault), "start_ns": 0, "step_ns": [400, 700, 800], "healthy_step_ns": [200, 300, 400],
            "traces": [{"start_ns": 0, "end_ns": 2000}, {"start_ns": 1, "end_ns": 1899}]}


def row(rank, **values):
    usual = {c: 0 for c in COLUMNS}
    usual.update(rank=rank, verdict="straggler", cause="gc", first_step=4, last_step=6, gain_ns=1000, blame_ns=5000, pattern="",
                 place="")
    return dict(usual, **values)


def main():
    checks = [0, 0]

    def check(holds, what):
        checks[not holds] += 1
        if not holds:
            print("FAILED: " + what)

    job = Job("dp8 gc bounded 5 %", [])
    hidden = dict(made_up(), job={"first_step": 3}, step_ns=[100, 100, 120, 120, 100], healthy_step_ns=[100] * 5)
    check(window(hidden) == (4, 6) and window(made_up()) == (4, 6), "a window is that of the steps that were planned")
    hidden["fault"] = dict(hidden["fault"], pattern="drifting")
    check(window(hidden) == (5, 6), "that of a drift begins where it costs something")
    v = Verdict(job, made_up(), [row(3), row(2, verdict="ok"), row(-1)])
    check(v.recalled and v.cause_right and v.window_error == 0 and v.gain_error == 0, "all right")
    check(len(v.named) == 1, "the row of the whole job and those of others do not count")
    v = Verdict(job, made_up(), [row(3, gain_ns=900, first_step=5, cause="host_late"), row(1, gain_ns=100)])
    check(v.recalled and not v.cause_right and v.window_error == 1 and abs(v.gain_error - 0.1) < 1e-9, "nearly right")
    check(measures([v])["precision"] == (1, 2), "one of two named")
    cut = dict(made_up(), traces=[{"start_ns": 100, "end_ns": 2000}])
    check(gain_of_whole_steps(cut) == 800 and gain_of_whole_steps(made_up()) == 1000, "a step that is cut does not count")
    early = dict(made_up(pattern="persistent"), start_ns=190, traces=[{"start_ns": 0, "end_ns": 2090}])
    check(gain_of_all(early) == 1100 and gain_of_all(made_up()) == 1000, "what devices are behind counts")
    errors = [Verdict(job, cut, [row(3, gain_ns=ns)]).gain_error for ns in (720, 800, 900, 1000, 1100)]
    check([round(e, 9) for e in errors] == [0.1, 0, 0, 0, 0.1], "with cut steps or without")
    v = Verdict(job, made_up(), [row(3, gain_ns=900), row(1, gain_ns=1000)])
    check(not v.recalled and v.cause_right is None and measures([v])["recall"] == (0, 1), "the first named is another")
    check(measures([v])["cause"] == (0, 0), "a cause counts where the rank is right")
    v = Verdict(job, made_up(), [row(3, verdict="inconclusive")])
    check(not v.recalled and measures([v])["precision"] == (0, 0), "inconclusive is not named")
    v = Verdict(job, made_up(ranks=[2, 3], host=0), [row(3), row(2)])
    check(v.recalled and v.gain_error is None and measures([v])["precision"] == (2, 2), "a host: both are right, gains are not compared")
    v = Verdict(job, made_up(causes=["gc", "host_late"]), [row(3, cause="host_late")])
    check(v.cause_right, "either cause where the trace has evidence for no more")
    well = Verdict(Job("dp8 healthy 0", []), {"fault": None}, [row(0, verdict="ok")])
    alarm = Verdict(Job("dp8 healthy 1", []), {"fault": None}, [row(0)])
    check(alarms([well, alarm, v]) == (1, 2), "false alarms are those of healthy jobs")
    check([bin_of(c) for c in (-0.01, 0.001, 0.02, 0.05, 0.1, 0.3, 2)] == ["below", "below", "2 %", "5 %", "10 %", "30 %", "30 %"],
          "bins")
    lost = Verdict(job, made_up(traced=False), [])
    right = Verdict(job, made_up(), [row(3)])
    small = Verdict(job, made_up(cost_share=0.02), [row(3, first_step=1)])
    hidden = Verdict(job, made_up(cost_share=0.001), [])
    found = {what: (pair, ok) for what, pair, _, ok in goals([right, small, hidden, lost, well])}
    check(found["rank, costs of 5 % of a step and more"] == ((1, 1), True), "goal: large costs")
    check(found["rank, costs of 2 %"] == ((1, 1), True), "goal: small costs; what costs nothing and has no trace is left out")
    check(found["window within one step"] == ((1, 2), False), "goal: windows")
    check(found["false alarms on healthy jobs"] == ((0, 1), True), "goal: alarms")
    hidden = [{"others": 0, "apart_ns": 0}, {"others": 0, "apart_ns": 90000}]
    for link in hidden:
        check(untellable(made_up(pattern="persistent", link=link)["fault"]), "nothing tells of it: %s" % link)
        check(not untellable(made_up(link=link)["fault"]), "other steps tell of it: %s" % link)
    for link in (None, {"others": 1, "apart_ns": 0}, {"others": 3, "apart_ns": 10000}):
        check(not untellable(made_up(pattern="persistent", link=link)["fault"]), "it can be told: %s" % link)
    lost = Verdict(job, made_up(pattern="persistent", link=hidden[0]), [])
    found = {what: pair for what, pair, _, _ in goals([right, lost])}
    check(found["rank, costs of 5 % of a step and more"] == (1, 1), "goal: what cannot be told is left out")
    check(lost.line().startswith("NOT TO BE TOLD") and measures([right, lost])["recall"] == (1, 2), "... and shown")
    check(not goals([])[0][3], "nothing judged is no goal met")
    jobs = list(grid(1))
    check(len(jobs) >= 500 and len({j.name for j in jobs}) > 400, "the grid has its size: %d" % len(jobs))
    check([j.options for j in jobs] == [j.options for j in grid(1)], "the grid is the same every time")
    check(all(any(c in j.name and "%.0f %%" % (100 * s) in j.name for j in jobs) for c in CAUSES for s in COSTS), "all causes and costs")
    check(all(any(p in j.name for j in jobs) for p in PATTERNS), "all patterns")
    for j in jobs:
        if "--fault-steps" in j.options:
            a, b = (int(x) for x in option(j.options, "--fault-steps").split("-"))
            first, steps = int(option(j.options, "--first-step")), int(option(j.options, "--steps"))
            check(first < a < b < first + steps - 1, "a window lies inside: " + j.name)
    print("%d passed, %d failed, 0 skipped" % tuple(checks))
    return 1 if checks[1] else 0


sys.exit(main())
