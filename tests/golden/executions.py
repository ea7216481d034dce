#!/usr/bin/python3
"""executions.py TLMPI - execution traces beside traces: linked and summed up once more from the text of both, and as Holistic
Trace Analysis links them.  The public one; and ones made of the operators of public traces, in both schemas, with nodes that
are missing, renamed or doubled.

Prints what fails and, last, "N passed, N failed, N skipped".
"""
import collections
import csv
import decimal
import glob
import gzip
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

TLMPI = os.path.abspath(sys.argv[1])
CORPUS = os.environ.get("TLMPI_CORPUS", "")
HOST = ("cpu_op", "user_annotation")
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
NAMES = ("id", "parent", "rf_id", "name", "link", "runs", "host_ns", "kernels_self", "kernels", "device_self_ns", "device_ns")
ROUNDING_NS = 1000
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {str(more)[:800]}")


def text_of(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        return f.read()


def write(path, text):
    with (gzip.open if path.endswith(".gz") else open)(path, "wt", encoding="utf-8") as f:
        f.write(text if isinstance(text, str) else json.dumps(text))


def events_of(path):
    return json.loads(text_of(path), parse_float=decimal.Decimal)["traceEvents"]


def table(path, name):
    text = subprocess.run([TLMPI, "show", path, name, "--format", "csv"], capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def digest(path):
    return subprocess.run([TLMPI, "show", "--digest", path], capture_output=True, text=True).stdout.splitlines()


def others(path):
    """The digests of what execution traces do not add to: texts of nodes are in names."""
    return [x for x in digest(path) if not x.startswith(("execution_", "side_file", "names "))]


def run(work, *words, status=0):
    out = os.path.join(work, "out")
    got = subprocess.run([TLMPI, "-f", "-o", out, *words], capture_output=True, text=True)
    check(f"{words}: exit status {status}", got.returncode == status, (got.returncode, got.stderr[-300:]))
    return out + ".h5", got


# ---- the same from the text


def nodes_of(document):
    for node in document["nodes"]:
        more = {a["name"]: a["value"] for a in node.get("attrs", ())}
        yield {"id": node["id"], "parent": node.get("parent", node.get("ctrl_deps", -1)), "name": node["name"],
               "rf_id": node.get("rf_id", more.get("rf_id"))}


def span(e):
    ts = decimal.Decimal(e["ts"])
    return int(ts * 1000), int(ts * 1000) + int(decimal.Decimal(e["dur"]) * 1000)


def counted(events, document):
    """The rows of the document's nodes."""
    host = [e for e in events if e.get("cat") in HOST and "dur" in e]
    key = "Record function id" if any(e.get("args", {}).get("Record function id", 0) > 0 for e in host) else "External id"
    ids = collections.defaultdict(list)
    for e in host:
        ids[e.get("args", {}).get(key, -1)].append(e)
    known = [i for i in ids if i > 0]
    rows = [dict(n, runs=0, host_ns=0, kernels_self=0, device_self_ns=0) for n in nodes_of(document)]
    last = {r["rf_id"]: r for r in rows}
    stacks = collections.defaultdict(list)
    place = {id(e): i for i, e in enumerate(events)}
    for r in rows:
        events_here = ids.get(r["rf_id"], []) if r["rf_id"] > 0 else []
        mine = [e for e in events_here if e["name"] == r["name"]]
        r["link"] = ("frame" if "execution_trace|" in r["name"] else "same_id" if r["rf_id"] > 0 and last[r["rf_id"]] is not r else
                     "linked" if mine else "other_name" if events_here else
                     "no_event" if min(known) <= r["rf_id"] <= max(known) else "outside")
        for e in mine if r["link"] == "linked" else ():
            start, end = span(e)
            r["runs"] += 1
            r["host_ns"] += end - start
            stacks[(e["pid"], e["tid"])].append((start, end, place[id(e)], r))
    for stack in stacks.values():
        stack.sort(key=lambda x: (x[0], -x[1], x[2]))
    calls = {e["args"]["correlation"]: e for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver") and
             "correlation" in e.get("args", {}) and "dur" in e}
    for k in events:
        call = calls.get(k.get("args", {}).get("correlation")) if k.get("cat") in DEVICE else None
        if call is None:
            continue
        start, end = span(call)
        around = [x for x in stacks[(call["pid"], call["tid"])] if x[0] <= start < x[1]]
        whole = [x for x in around if x[1] + ROUNDING_NS >= end] or around
        if whole:
            whole[-1][3]["kernels_self"] += 1
            whole[-1][3]["device_self_ns"] += span(k)[1] - span(k)[0]
    children = collections.defaultdict(list)
    by_id = {r["id"]: r for r in rows}
    for r in rows:
        if r["parent"] != -1 and by_id.get(r["parent"], r) is not r:
            children[id(by_id[r["parent"]])].append(r)
    for r in rows:
        seen, todo = [], [r]
        while todo:
            seen.append(todo.pop())
            todo += children[id(seen[-1])]
        r["kernels"] = sum(x["kernels_self"] for x in seen)
        r["device_ns"] = sum(x["device_self_ns"] for x in seen)
    return rows


def compare(what, result, file, events, document):
    wanted = counted(events, document)
    got = [r for r in table(result, "execution_node") if int(r["file"]) == file]
    mine = [tuple(str(r[k]) for k in NAMES) for r in wanted]
    have = [tuple(r[k] for k in NAMES) for r in got]
    wrong = [(a, b) for a, b in zip(mine, have) if a != b]
    check(f"{what}: {len(wanted)} nodes", len(mine) == len(have) and not wrong, (len(mine), len(have), wrong[:2]))
    links = collections.Counter(r["link"] for r in wanted)
    row = table(result, "side_file")[file]
    check(f"{what}: counts", [int(row[k]) for k in ("entries", "linked", "frames")] == [len(wanted), links["linked"], links["frame"]], (row, links))
    check(f"{what}: device time is not 0", any(r["device_ns"] for r in wanted))
    return got


# ---- execution traces of the operators of a trace


def numbered(events):
    return [e for e in events if e.get("cat") in HOST and "External id" in e.get("args", {}) and "dur" in e]


def made(events, seed, newer):
    """Nodes as their observer writes them, a node when its operator ends; some missing, renamed, doubled, or of nothing."""
    rng = random.Random(seed)
    host = numbered(events)
    threads = collections.defaultdict(list)
    for e in host:
        threads[(e["pid"], e["tid"])].append(e)
    plain = []
    for number, (_, mine) in enumerate(sorted(threads.items(), key=str)):
        root, around, ended = 2 + number, [], []
        for e in sorted(mine, key=lambda e: (span(e)[0], -span(e)[1])):
            while around and around[-1][0] <= span(e)[0]:
                ended.append(around.pop()[1])
            node = {"id": 100 + len(ended) + 1000000 * number + len(around), "rf_id": e["args"]["External id"], "name": e["name"],
                    "parent": around[-1][1]["id"] if around else root, "shapes": [[rng.randrange(4), 8]], "types": ["Tensor(float)"]}
            around.append((span(e)[1], node))
        plain += [{"id": root, "rf_id": 0, "parent": 1, "name": "[pytorch|profiler|execution_trace|thread]", "shapes": [], "types": []}]
        plain += ended + [node for _, node in reversed(around)]
    top = max(n["rf_id"] for n in plain)
    out = []
    for n in plain:
        dice = rng.random() if n["rf_id"] else 1
        if dice < 0.04:
            continue
        if dice < 0.08:
            n["name"] = 'other "name"'
        if dice < 0.12:
            out.append(dict(n))
        if dice < 0.14:
            n["rf_id"] += top
        out.append(n)
    out.append({"id": 1, "rf_id": 0, "parent": 1, "name": "[pytorch|profiler|execution_trace|process]", "shapes": [], "types": []})
    pid = host[0]["pid"]
    if not newer:
        return {"schema": "1.0.1", "pid": pid, "nodes": [
            {"name": n["name"], "id": n["id"], "rf_id": n["rf_id"], "parent": n["parent"], "inputs": [[1, 2]], "op_schema": "",
             "input_shapes": n["shapes"], "input_types": n["types"], "outputs": []} for n in out]}
    return {"schema": "1.1.1-chakra.0.0.4", "pid": pid, "nodes": [
        {"id": n["id"], "name": n["name"], "ctrl_deps": n["parent"],
         "inputs": {"values": [], "shapes": n["shapes"], "types": n["types"], "strides": []},
         "outputs": {"values": [], "shapes": [], "types": []},
         "attrs": [{"name": "rf_id", "type": "uint64", "value": n["rf_id"]}, {"name": "tid", "type": "uint64", "value": 1}]}
        for n in out]}


def public(work):
    trace, = glob.glob(os.path.join(CORPUS, "traces", "execution_trace_simple_add", "*"))
    execution, = glob.glob(os.path.join(CORPUS, "traces", "execution_trace_et", "*"))
    result, got = run(work, trace, execution)
    check("the summary has it", "36 of 36 nodes linked to operators" in got.stdout, got.stdout)
    events = events_of(trace)
    mine = compare("the public one", result, 0, events, json.loads(text_of(execution)))
    with open(os.path.join(CORPUS, "golden", "hta", "execution_trace_simple_add", "execution_trace_links.csv")) as f:
        theirs = {(int(float(r["et_node"])), r["et_node_name"], r["external_id"]) for r in csv.DictReader(f)}
    check("as HTA", theirs == {(int(r["id"]), r["name"], r["rf_id"]) for r in mine if r["link"] == "linked"}, theirs)
    alone, _ = run(work, trace)
    was = others(alone)
    check("without it no table of it", not any(x.startswith("execution_") for x in digest(alone)))
    check("the other tables are what they were", others(run(work, trace, execution)[0]) == was)
    run(work, execution, status=3)


def job(work):
    """The four ranks of a public job: one execution trace each, by name or by process; a second of rank 1."""
    folder = os.path.join(work, "job")
    traces = sorted(glob.glob(os.path.join(CORPUS, "traces", "torchrec_optimizer", "*.json")))
    events, documents = [events_of(t) for t in traces], {}
    os.mkdir(folder)
    for path in traces:
        shutil.copy(path, folder)
    plain, _ = run(work, folder)
    before = others(plain)
    ranks = [int(r["rank"]) for r in sorted(table(plain, "rank"), key=lambda r: r["file"])]
    for i, rank in enumerate(ranks):
        documents[f"et{i}.json" if i != 1 else f"et_rank_{rank}.json.gz"] = (i, made(events[i], i, i % 2))
    documents["again.json"] = (1, made(events[1], 9, 1))
    for name, (_, document) in documents.items():
        write(os.path.join(folder, name), document)
    result, got = run(work, folder)
    check("of four ranks: in the summary", "nodes linked to operators" in got.stdout and "(table side_file)" in " ".join(got.stdout.split()), got.stdout)
    for file, name in enumerate(sorted(documents)):
        i, document = documents[name]
        check(f"{name}: rank", table(result, "side_file")[file]["rank"] == str(ranks[i]))
        compare(name, result, file, events[i], document)
    check("the other tables are what they were", others(result) == before)
    digests = {1: digest(result)}
    for n in (2, 3, 5):
        got = subprocess.run(["mpirun", "-n", str(n), TLMPI, "-f", "-q", "--digest", "-o", os.path.join(work, "out"), folder],
                             capture_output=True, text=True)
        digests[n] = got.stdout.splitlines()
    check("one digest on any number of procs", all(d == digests[1] for d in digests.values()), digests)
    some, _ = run(work, "--ranks", str(ranks[0]), folder)
    check("of one rank that alone", {r["rank"] for r in table(some, "side_file")} == {str(ranks[0])})
    return folder, traces, before, ranks


def cut_packed(folder, document):
    write(os.path.join(folder, "nodes.json.gz"), document)
    os.remove(os.path.join(folder, "nodes.json"))
    with open(os.path.join(folder, "nodes.json.gz"), "r+b") as f:
        f.truncate(os.path.getsize(f.name) * 2 // 3)


def faults(work, folder, traces, before, ranks):
    """Each costs itself, from the fault on: damaged, cut, no nodes, of another process, of no rank; and ids of functions."""
    text = text_of(os.path.join(folder, "et0.json"))
    at = text.index('{"name"', len(text) // 2)
    for name in os.listdir(folder):
        if "et" in name or "again" in name:
            os.remove(os.path.join(folder, name)) if not name.startswith("ip-") else None
    cases = {"et_a.json": (text[:at] + "oops !" + text[at:], "damaged", f"byte {at + 5}: expected ", "external_id"),
             "et_b.json.gz": (text[:at], "cut", f"byte {at}: expected ", "external_id"),
             "et_c.json": ('{"schema": "1.0.1", "pid": 5, "nodes": [{"id": 3}]}', "empty", "", "no_trace"),
             "et_rank_1.json": ('{"schema": "1.0.1", "pid": 5, "nodes": [{"id": 3, "rf_id": 9, "name": "a"}]}', "ok", "", "other_process"),
             "et_rank_77.json": ('{"schema": "1.0.1", "nodes": [{"id": 3, "rf_id": 9, "name": "a"}]}', "ok", "", "no_trace")}
    for name, (words, *_) in cases.items():
        write(os.path.join(folder, name), words)
    result, got = run(work, folder, status=1)
    rows = table(result, "side_file")
    for row, (name, (_, status, says, by)) in zip(rows, sorted(cases.items())):
        check(f"fault {name}: {status}", (row["status"], row["linked_by"], row["error"].startswith(says)) == (status, by, True), row)
    check("faults are told", got.stderr.count("expected") == 2 and "no node has an id" in got.stderr and
          "3 traces not linked" in " ".join(got.stdout.split()), (got.stdout, got.stderr))
    events = events_of(traces[0])
    kept = json.loads(text[:at].rstrip(", ") + "]}")
    for file in (0, 1):
        compare(f"fault: the nodes before it of file {file}", result, file, events, kept)
    check("faults: the other tables are what they were", others(result) == before)
    checked = subprocess.run([TLMPI, "check", folder], capture_output=True, text=True)
    check("check names them, too", checked.returncode == 1 and "et_b.json.gz" in checked.stdout, checked.stdout)

    # A cut gzip file; names with escapes; and ids of record functions, which count before External ids.
    lone = os.path.join(work, "lone")
    os.mkdir(lone)
    trace = json.loads(text_of(traces[0]))
    for i, e in enumerate(trace["traceEvents"]):
        if e.get("cat") in HOST and "External id" in e.get("args", {}):
            e["args"]["Record function id"] = e["args"]["External id"] + 7
            e["name"] = e["name"].replace("aten::", 'a"\\\u00e9::')
    write(os.path.join(lone, "trace.json"), trace)
    document = made(trace["traceEvents"], 5, True)
    for node in document["nodes"]:
        node["attrs"][0]["value"] += 7 if node["attrs"][0]["value"] else 0
    write(os.path.join(lone, "nodes.json"), document)
    result, _ = run(work, lone)
    check("by the ids of functions", [r["linked_by"] for r in table(result, "side_file")] == ["record_function_id"])
    compare("by the ids of functions", result, 0, json.loads(json.dumps(trace["traceEvents"])), document)
    cut_packed(lone, document)
    result, got = run(work, lone, status=1)
    row = table(result, "side_file")[0]
    check("a packed one that is cut", row["status"] in ("cut", "damaged") and "byte" in row["error"] and int(row["linked"]) > 0, row)
    steps, _ = run(work, "--steps", "5", lone, status=1)
    row = table(steps, "side_file")[0]
    check("events that are not selected are told", int(row["linked"]) > 0 and "left_out" in {r["link"] for r in table(steps, "execution_node")}, row)


def lone_folder(work, name, events, nodes):
    folder = os.path.join(work, name)
    os.mkdir(folder)
    write(os.path.join(folder, "trace.json"), {"traceEvents": events})
    write(os.path.join(folder, "nodes.json"), {"schema": "1.0.1", "nodes": nodes})
    return folder


def no_number(work, events):
    """No node is of an event without a number, which is none below 1; and -1 is nobody's parent."""
    host = numbered(events)
    for key in ("External id", "Record function id"):
        for e, number in zip(host, (-1, 0, 0)):
            e["args"][key] = number
        for e in host[3:]:
            e["args"][key] = e["args"]["External id"] + 5
        nodes = [{"name": e["name"], "id": i or -1, "rf_id": e["args"][key], "parent": -1} for i, e in enumerate(host)]
        folder = lone_folder(work, "no " + key, events, nodes)
        result, _ = run(work, folder)
        got = compare(f"no number is below 1: {key}", result, 0, events_of(os.path.join(folder, "trace.json")), {"nodes": nodes})
        check(f"no number is below 1: {key}: outside", [r["link"] for r in got[:3]] == ["outside"] * 3 and
              got[0]["kernels"] == "0", got[:3])


def packed(work, events):
    nodes = [{"name": e["name"], "id": 1 + i, "rf_id": e["args"]["External id"]} for i, e in enumerate(numbered(events)[:300])]
    folder = lone_folder(work, "packed", events, nodes)
    cut_packed(folder, {"schema": "1.0.1", "nodes": nodes})
    result, got = run(work, folder, status=1)
    row, = table(result, "side_file")
    check("cut in its first block", row["status"] == "damaged" and "cut short" in row["error"] and "cut short" in got.stderr and
          0 < int(row["linked"]) <= int(row["entries"]) < 300, (row, got.stderr))


def around(work, events):
    """A byte order mark before it and blanks behind it are nothing; anything else behind it is told with its byte."""
    first = numbered(events)[0]
    folder = lone_folder(work, "around", events, [{"name": first["name"], "id": 1, "rf_id": first["args"]["External id"]}])
    path = os.path.join(folder, "nodes.json")
    text = text_of(path)
    for before, behind, byte in (("", " \n\0", None), ("\ufeff", "\n", None), ("", "\n]", 1), ("", "{}", 0), ("\ufeff", "x", 3),
                                 ("", " " * (1 << 17) + text, 1 << 17)):
        for name in (path, path + ".gz"):
            write(name, before + text + behind)
            result, got = run(work, folder, status=0 if byte is None else 1)
            row, = table(result, "side_file")
            says = "" if byte is None else f"byte {len(text) + byte}: expected the end of the file"
            check(f"around it: {before!r} {behind[:9]!r}", row["error"].startswith(says) and row["linked"] == "1" and
                  row["status"] == ("damaged" if says else "ok") and says in got.stderr and bool(row["error"]) == bool(says), row)
            os.remove(name)


def words(work, events):
    first = numbered(events)[0]
    one, gone = ({"name": first["name"], "id": 1, "rf_id": i} for i in (first["args"]["External id"], 1 << 40))
    folder = lone_folder(work, "words", events, [])
    for pid, nodes, says in ((None, [one], "1 of 1 node linked to operators (table"), (None, [gone], "0 of 1 node linked to operators (table"),
                             (None, [], "0 of 0 nodes linked to operators (table"), (None, [gone] * 2, "0 of 2 nodes linked to"),
                             (7, [one], "0 of 0 nodes linked to operators; 1 trace not linked (table")):
        write(os.path.join(folder, "nodes.json"), {"schema": "1.0.1", **({"pid": pid} if pid else {}), "nodes": nodes})
        got = run(work, folder, status=0 if nodes else 1)[1]
        check(f"the sentence: {says}", says in " ".join(got.stdout.split()), got.stdout[-400:])


def main():
    if not os.path.isdir(os.path.join(CORPUS, "traces", "torchrec_optimizer")):
        print("SKIPPED: the public traces are not there")
        counts["skipped"] += 1
    else:
        work = tempfile.mkdtemp(prefix="tlmpi-test.")
        try:
            public(work)
            faults(work, *job(work))
            trace = min(glob.glob(os.path.join(CORPUS, "traces", "torchrec_optimizer", "*.json")))
            for case in (around, words, packed, no_number):
                case(work, json.loads(text_of(trace))["traceEvents"])
        finally:
            shutil.rmtree(work)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] else 0)


main()
