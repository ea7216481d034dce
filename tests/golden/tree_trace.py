"""tree_trace.py - the trace of a rank as trees.py looks at it: spans of the host, calls, and the work that they queued."""
import collections
import decimal
import gzip
import json
import re

WORK = {"kernel", "Kernel", "mtia_ccp_events", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset"}


def ns(text):
    return int(decimal.Decimal(str(text)) * 1000)


def integer(value, otherwise):
    try:
        return int(str(value))
    except ValueError:
        return otherwise


def plain(name):
    return re.sub("0x[0-9a-f]+", "0x\u2026", name or "")


class Trace:
    def __init__(self, path):
        with (gzip.open if path.endswith(".gz") else open)(path) as f:
            events = json.load(f, parse_float=decimal.Decimal)
        events = events["traceEvents"] if isinstance(events, dict) else events
        self.work, self.calls, self.ranges, self.arrows, self.spans = [], [], [], [], []
        for uid, e in enumerate(events):
            if not isinstance(e, dict) or "ts" not in e:
                continue
            cat, args, ph = str(e.get("cat", "")), e.get("args") or {}, e.get("ph", "X")
            start, dur = ns(e["ts"]), max(ns(e.get("dur", 0)), 0)
            thread = (str(e.get("pid")), str(e.get("tid")))
            if cat == "fwdbwd" and ph in "sf":
                self.arrows.append((e["id"], ph, start, thread))
            if ph != "X":
                continue
            s = dict(uid=uid, name=e.get("name"), start=start, end=start + dur, thread=thread,
                     corr=integer(args.get("correlation", args.get("Correlation ID")), -1))
            if cat in WORK:
                s.update(device=integer(args.get("device"), -1), comm="nccl" in str(s["name"]).lower(), exposed=0,
                         compute=cat in ("kernel", "Kernel", "mtia_ccp_events"))
                self.work.append(s)
            elif cat in ("Runtime", "cuda_runtime", "cuda_driver") or cat.endswith(("_runtime", "_driver")):
                self.calls.append(s)
            elif cat == "gpu_user_annotation" and s["name"] is not None:
                self.ranges.append(s)
            elif cat in ("cpu_op", "Operator", "user_annotation"):
                s["kind"] = "annotation" if cat == "user_annotation" else "operator"
                self.spans.append(s)
            elif cat == "python_function" and str(s["name"]).startswith("nn.Module: "):
                s["kind"] = "module"
                self.spans.append(s)
        self.spans.sort(key=lambda s: (s["start"], -s["end"], s["uid"]))
        for i, s in enumerate(self.spans):
            s["place"] = i
        self.link()
        self.expose()
        self.steps = windows(self.spans)

    def link(self):
        by_corr = collections.defaultdict(list)
        for call in sorted(self.calls, key=lambda c: (c["start"], c["uid"])):
            by_corr[call["corr"]].append(call)
        for w in self.work:
            of = by_corr[w["corr"]] if w["corr"] > 0 else []
            before = [c for c in of if c["start"] <= w["start"]]
            if of:
                w["launch"] = (before or of[:1])[-1]
                w["launch"].setdefault("work", []).append(w)
        self.launches = sorted((c for c in self.calls if "work" in c), key=lambda c: (c["start"], c["uid"]))

    def expose(self):
        """Between two ends or starts on a device without compute: the communication that ends last has it."""
        for device in {w["device"] for w in self.work if w["comm"]}:
            here = sorted((w for w in self.work if w["device"] == device and (w["comm"] or w["compute"])),
                          key=lambda w: (w["start"], w["uid"]))
            times = sorted({t for w in here for t in (w["start"], w["end"])})
            n, runs = 0, []
            for at, to in zip(times, times[1:]):
                runs = [w for w in runs if w["end"] > at]
                while n < len(here) and here[n]["start"] <= at:
                    runs += [here[n]] if here[n]["end"] > at else []
                    n += 1
                if runs and all(w["comm"] for w in runs):
                    max(runs, key=lambda w: w["end"])["exposed"] += to - at

    def main(self):
        """The thread with the most annotations."""
        n, first = collections.Counter(), {}
        for s in self.spans:
            n[s["thread"]] += s["kind"] == "annotation"
            first.setdefault(s["thread"], s["start"])
        most = max(n.values(), default=0)
        return min((t for t in n if n[t] == most), key=lambda t: first[t]) if most > 0 else None


def is_mark(s):
    return s["kind"] == "annotation" and (s["name"] is None or s["name"].startswith("ProfilerStep#"))


def windows(spans):
    """ProfilerStep# to the start of the next one, the last to its end."""
    of = {}
    for s in spans:
        m = re.match(r"ProfilerStep *# *(\d+)", s["name"] or "")
        if m:
            start, end = of.get(int(m[1]), (s["start"], s["end"]))
            of[int(m[1])] = (min(start, s["start"]), max(end, s["end"]))
    order = sorted(of.items(), key=lambda x: x[1])
    return [(n, start, order[i + 1][1][0] if i + 1 < len(order) else end) for i, (n, (start, end)) in enumerate(order)]
