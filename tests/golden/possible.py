"""possible.py - what the traces of any job must be like to be possible: each by itself, and together."""

import collections
import gzip
import json

passed = failed = 0
WORK = ("kernel", "gpu_memcpy", "gpu_memset")
LOOSE = ("all_to_allv",)        # their ends may lie apart
TIGHT_NS = 60000                # those of the others may not


def check(holds, what, *found):
    global passed, failed
    if holds:
        passed += 1
    else:
        failed += 1
        print("FAILED: %s; found: %s" % (what, ", ".join(str(f)[:300] for f in found)))


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        return json.loads(f.read())


def ns(us):
    return round(us * 1000)


def start_of(event):
    return ns(event["ts"])


def end_of(event):
    return ns(event["ts"]) + ns(event["dur"])


def work_of(trace):
    """Device work by stream, and calls by correlation."""
    streams, calls = {}, {}
    for e in trace["traceEvents"]:
        if e.get("cat") in WORK:
            streams.setdefault(e["args"]["stream"], []).append(e)
        elif e.get("cat") == "cuda_runtime":
            calls[e["args"]["correlation"]] = e
    return streams, calls


# ---------------------------------------------------------------------------------------------- one rank by itself


def check_rank(what, trace):
    streams, calls = work_of(trace)
    overlaps = early = unknown = 0
    for work in streams.values():
        work.sort(key=lambda e: e["ts"])
        overlaps += sum(end_of(a) > start_of(b) for a, b in zip(work, work[1:]))
        for e in work:
            launch = calls.get(e["args"]["correlation"])
            unknown += launch is None
            early += launch is not None and e["ts"] < launch["ts"]
    check(len(streams) > 1, what + ": a compute and a comm stream", list(streams))
    check(overlaps == 0, what + ": a stream does one thing at a time", overlaps)
    check(early == 0, what + ": nothing starts before its launch", early)
    check(unknown == 0, what + ": all launches are there", unknown)
    flows = {"s": set(), "f": set()}
    for e in trace["traceEvents"]:
        if e.get("cat") == "ac2g":
            flows[e["ph"]].add(e["id"])
    check(flows["f"] <= flows["s"], what + ": every arrow has a beginning", len(flows["f"] - flows["s"]))
    check_nesting(what, trace)
    check_host_waits(what, trace, streams, calls)
    check_stream_waits(what, trace, streams, calls)


def check_nesting(what, trace):
    """Operators and frames of a host thread lie inside or beside each other."""
    threads = {}
    for e in trace["traceEvents"]:
        if e.get("cat") in ("cpu_op", "python_function", "user_annotation"):
            threads.setdefault((e["cat"] == "python_function", e["tid"]), []).append(e)
    bad = 0
    for events in threads.values():
        open_ends = []
        for e in sorted(events, key=lambda e: (ns(e["ts"]), -ns(e["dur"]))):
            while open_ends and open_ends[-1] <= start_of(e):
                open_ends.pop()
            bad += bool(open_ends) and end_of(e) > open_ends[-1]
            open_ends.append(end_of(e))
    check(bad == 0, what + ": host events nest", bad)


def check_host_waits(what, trace, streams, calls):
    """A host that waits for the device is not back before the work that it had queued is done."""
    compute = min(streams)
    bad = waits = 0
    for call in calls.values():
        of_all = call["name"] in ("cudaDeviceSynchronize", "hipDeviceSynchronize")
        if not of_all and call["name"] not in ("cudaStreamSynchronize", "hipMemcpyWithStream"):
            continue
        waits += 1
        for stream, work in streams.items():
            if not of_all and stream != compute:
                continue
            for e in work:
                launch = calls[e["args"]["correlation"]]
                bad += start_of(launch) <= start_of(call) and end_of(e) > end_of(call)
    check(waits > 0, what + ": the host waits for the device now and then")
    check(bad == 0, what + ": a wait lasts as long as what it waits for", bad)


def check_stream_waits(what, trace, streams, calls):
    """What a stream is given after a recorded wait does not start before the work that the event stands behind is done."""
    bad = waits = 0
    for e in trace["traceEvents"]:
        if e.get("cat") != "cuda_sync" or e["name"] != "Stream Wait Event":
            continue
        args = e["args"]
        wait, record = calls[args["correlation"]], calls[args["wait_on_cuda_event_record_corr_id"]]
        before = [end_of(k) for k in streams.get(args["wait_on_stream"], ())
                  if start_of(calls[k["args"]["correlation"]]) < start_of(record)]
        after = [start_of(k) for k in streams[args["stream"]]
                 if start_of(calls[k["args"]["correlation"]]) > start_of(wait)]
        if before and after:
            waits += 1
            bad += min(after) < max(before)
    check(waits > 0 or not any(e.get("cat") == "cuda_sync" for e in trace["traceEvents"]), what + ": streams wait")
    check(bad == 0, what + ": a stream waits for the event", bad)


# ------------------------------------------------------------------------------------------------ ranks together


def meetings_of(traces):
    """{key: [(rank, start, end, event)]} - all-to-alls and collectives by group and Seq, transfers by ends and order."""
    meetings = collections.defaultdict(list)
    for trace in traces:
        rank = trace["distributedInfo"]["rank"]
        counts = collections.Counter()
        for work in work_of(trace)[0].values():
            for e in sorted(work, key=lambda e: e["ts"]):
                args = e["args"]
                if "Collective name" not in args:
                    continue
                if "Src Rank" in args:
                    ends = (args["Src Rank"], args["Dst Rank"])
                    key = ("p2p",) + ends + (counts[ends],)
                    counts[ends] += 1
                else:
                    key = (args["Process Group Name"], args["Process Group Ranks"], args["Seq"])
                meetings[key].append((rank, start_of(e), end_of(e), e))
    return meetings


def check_meetings(what, traces, tight_ns=TIGHT_NS, shift=None):
    """All come, none leaves before the last has come, and they say the same of it.  shift: clock of each rank."""
    meetings = meetings_of(traces)
    shift = shift or {}
    lonely = early = wide = unlike = slow = 0
    for key, who in meetings.items():
        starts = [s - shift.get(r, 0) for r, s, _, _ in who]
        ends = [e - shift.get(r, 0) for r, _, e, _ in who]
        args = [e["args"] for _, _, _, e in who]
        lonely += len(who) != (2 if key[0] == "p2p" else args[0]["Group size"])
        early += min(ends) <= max(starts)
        loose = args[0]["Collective name"] in LOOSE
        wide += not loose and max(ends) - min(ends) > tight_ns
        unlike += not loose and len({a["In msg nelems"] for a in args}) > 1
        unlike += len({a["Group size"] for a in args}) > 1
        if loose:
            slow += sum(a["In msg nelems"] for a in args) != sum(a["Out msg nelems"] for a in args)
    check(bool(meetings), what + ": there are collectives")
    check(lonely == 0, what + ": every member is in each", lonely, len(meetings))
    check(early == 0, what + ": none ends before the last has come", early)
    check(wide == 0, what + ": they end together", wide)
    check(unlike == 0, what + ": the members say the same", unlike)
    check(slow == 0, what + ": what is sent is received", slow)
    return meetings


def check_groups(what, traces, job):
    """The head of the file has the ranks of every group that the arguments name."""
    bad = 0
    for trace in traces:
        groups = {g["pg_name"]: g for g in trace["distributedInfo"]["pg_config"]}
        bad += any(trace["distributedInfo"]["rank"] not in g["ranks"] for g in groups.values())
        for e in trace["traceEvents"]:
            args = e.get("args", {})
            if "Process Group Name" not in args:
                continue
            ranks = groups[args["Process Group Name"]]["ranks"]
            text = str(ranks) if len(ranks) <= 30 else str(ranks[:30])[:-1] + ", ...]"
            bad += text != args["Process Group Ranks"] or len(ranks) != args["Group size"]
    check(bad == 0, what + ": groups are those of the head", bad)
    sizes = {g["pg_size"] for t in traces for g in t["distributedInfo"]["pg_config"]}
    wanted = {job["ranks"]} | {job[a] for a in ("dp", "tp", "pp", "ep") if job[a] > 1}
    check(sizes == wanted, what + ": the sizes of the groups", sizes, wanted)
