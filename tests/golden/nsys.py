#!/usr/bin/python3
"""nsys.py TLMPI MAKE_TRACE [MPI] - real exports of Nsight Systems, against sums of their rows and a count of their waits by another
program; and made jobs, as exports, as databases of rocprofv3 and as Kineto's JSON.

In TLMPI_CORPUS: nsys/*.sqlite, and in golden/nsys/NAME.csv a row a device.  Of each file the tables must be equal to the
nanosecond, and on any number of procs (TLMPI with MPI) the same.  Where the ranks of a file send to each other in kernels of
NCCL, the k-th of each rank is one exchange: who came first waited for the other.  Prints what fails and, last, "N passed, N
failed, N skipped".
"""
import collections
import csv
import glob
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

TLMPI, MAKE_TRACE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PROCS = [1, 2, 3, 5] if len(sys.argv) > 3 else [0]
CORPUS = os.environ.get("TLMPI_CORPUS", "")
counts = collections.Counter()


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what} {str(more)[:800]}")


def run(path, result, procs):
    words = (["mpirun", "-n", str(procs)] if procs > 0 else []) + [TLMPI, "-f", "--digest", "-o", result, path]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    check(f"{path} on {procs} procs: status 0", done.returncode == 0, done.stderr)
    return done.stdout


def table(result, name, *more):
    shown = subprocess.run([TLMPI, "show", result, name, "--format=csv", "--top=0", "--unit=ns", *more], capture_output=True,
                           text=True)
    check(f"show {name}", shown.returncode == 0, shown.stderr)
    return list(csv.DictReader(io.StringIO(shown.stdout)))


def total(rows, column, rank):
    return sum(int(r[column]) for r in rows if int(r["rank"]) == rank)


def compare(path, golden, result):
    ranks, times = table(result, "rank"), table(result, "breakdown")
    launches, kernels, copies = table(result, "launch"), table(result, "kernel"), table(result, "copy")
    operators = [r for r in table(result, "operator") if r["name"].startswith("aten::")]
    with open(golden) as f:
        devices = list(csv.DictReader(f))
    check(f"{path}: a rank a device", len(ranks) == len(devices), ranks)
    for device, row in zip(devices, ranks):
        rank = int(row["rank"])
        want = {k: int(v) for k, v in device.items()}
        got = {"device": int(row["device"]), "kernel_sum_ns": int(row["kernel_ns"]),
               "wall_ns": int(row["last_ns"]) - int(row["first_ns"]),
               "launches": total([x for x in launches if int(x["kernels"]) > 0], "calls", rank),
               "operators": total(operators, "count", rank)}
        time = next(r for r in times if int(r["rank"]) == rank and int(r["step"]) == -1)
        for name in "wall", "busy", "compute", "comm", "comm_exposed", "copy_exposed", "idle":
            got[name + "_ns"] = int(time[name + "_ns"])
        is_copy = [r for r in kernels if r["kind"] in ("memcpy", "memset")]
        got["copies"] = total(is_copy, "count", rank)
        got["kernels"] = total(kernels, "count", rank) - got["copies"]
        check(f"{path}: copies by name are those of the kernels' table",
              total(copies, "count", rank) <= got["copies"], copies)
        for name, value in got.items():
            check(f"{path}, device {want['device']}: {name}", value == want[name], f"{value}, not {want[name]}")


def exchanges(path):
    """By process: start and end of each kernel that sends and receives."""
    found = collections.defaultdict(list)
    db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    for pid, start, end in db.execute("select globalPid >> 24 & 16777215, start, end from CUPTI_ACTIVITY_KIND_KERNEL join StringIds "
                                      "on id = shortName where value like '%SendRecv%' order by start"):
        found[pid].append((start, end))
    db.close()
    return [found[pid] for pid in sorted(found)]


def waits(path, result):
    ranks = exchanges(path)
    if len(ranks) < 2:
        return
    arrivals = table(result, "arrival")
    check(f"{path}: as many of each rank", len({len(r) for r in ranks}) == 1, [len(r) for r in ranks])
    check(f"{path}: all are matched", len(arrivals) == sum(len(r) for r in ranks), len(arrivals))
    base = min(int(r["start_ns"]) for r in arrivals) - min(s for r in ranks for s, _ in r)
    for k, together in enumerate(zip(*ranks)):
        last = max(s for s, _ in together)
        want = sorted((rank, s + base, max(0, min(last, e) - s)) for rank, (s, e) in enumerate(together))
        got = sorted((int(r["rank"]), int(r["start_ns"]), int(r["wait_ns"])) for r in arrivals if int(r["collective"]) == k)
        check(f"{path}: exchange {k}", got == want, f"{got}, not {want}")
    waited = sum(int(r["wait_ns"]) for r in arrivals)
    balance = sum(int(r["wait_sum_ns"]) for r in table(result, "collective"))
    check(f"{path}: waits are balanced", balance == waited, (balance, waited))


# ---------------------------------------------------------------------------------------------------------------- twins

SCHEMA = """
    CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER,
        globalPid INTEGER, demangledName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER,
        globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER,
        globalPid INTEGER, bytes INTEGER, memKind INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
        correlationId INTEGER, nameId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(timestamp INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
        eventSyncId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
        correlationId INTEGER, globalPid INTEGER, syncType INTEGER, eventSyncId INTEGER);
    CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);
    CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER, systemClockNs INTEGER);
    CREATE TABLE TARGET_INFO_SYSTEM_ENV(name TEXT, value TEXT);
    CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT)"""
WAYS = ["", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"]
MEMORY = ["Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static", "Unknown"]
WAITS = ["", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"]
KEPT = ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver", "kernel", "gpu_memcpy", "gpu_memset", "cuda_sync")
ARGS = ("device", "stream", "correlation", "bytes", "grid", "wait_on_stream", "wait_on_cuda_event_record_corr_id")


def whole_ns(us):
    return round(us * 1000)


def database(path, traces):
    """One export of these traces, each of a process."""
    texts = {}
    db = sqlite3.connect(path)
    db.executescript(SCHEMA)

    def text(value):
        return texts.setdefault(value, len(texts) + 1)

    for trace in traces:
        process = next(e["pid"] for e in trace["traceEvents"] if e["cat"] == "cuda_runtime") << 24
        for n, e in enumerate(trace["traceEvents"]):
            a, name, start = e["args"], e["name"], whole_ns(e["ts"])
            times = (start, start + whole_ns(e["dur"]))
            work = (*times, a.get("device"), a.get("stream"), a.get("correlation"), process)
            if e["cat"] == "kernel":
                row = ("KERNEL", *work, text(name), *a["grid"])
            elif e["cat"] == "gpu_memcpy":
                way, source, target = name[len("Memcpy "):].replace(" ->", "").replace("(", "").replace(")", "").split(" ", 2)
                row = ("MEMCPY", *work, a["bytes"], WAYS.index(way), MEMORY.index(source), MEMORY.index(target))
            elif e["cat"] == "gpu_memset":
                row = ("MEMSET", *work, a["bytes"], MEMORY.index("Device"))
            elif e["cat"] == "cuda_sync":
                if "wait_on_stream" in a:
                    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, ?, ?, ?, ?)",
                               (a["wait_on_stream"], a["wait_on_cuda_event_record_corr_id"], process, (process >> 4) + n))
                row = ("SYNCHRONIZATION", *work, WAITS.index(name), (process >> 4) + n)
            elif e["cat"].startswith("cuda_"):
                row = ("RUNTIME", *times, int(e["cat"] == "cuda_driver"), process + e["tid"], a.get("correlation"), text(name + "_v7000"))
            else:
                shown = name if name.startswith("aten::") or e["cat"] != "cpu_op" else name + ", op_id = 7"
                db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?)", (*times, shown, process + e["tid"]))
                continue
            db.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_{row[0]} VALUES ({', '.join('?' * (len(row) - 1))})", row[1:])
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", [(i, t) for t, i in texts.items()])
    db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, 0)", (traces[0]["baseTimeNanoseconds"],))
    db.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', ?)", (traces[0]["host_name"],))
    db.executemany("INSERT INTO TARGET_INFO_GPU VALUES (?, ?)", [(d["id"], d["name"]) for d in traces[0]["deviceProperties"]])
    db.commit()
    db.close()


def twin(folder, words, what, cut, write):
    """A made job as JSON and as databases: all tables but two are equal.  cut(trace) leaves out what databases do not have;
    write(folder, traces) makes them."""
    made, plain, databases = (os.path.join(folder, n) for n in ("made", "plain", "databases"))
    for path in made, plain, databases:
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path)
    subprocess.run([MAKE_TRACE, "-o", made, "--ranks", "6", "--gpus", "3", "--steps", "8", *words], check=True, capture_output=True)
    traces = []
    for rank in range(6):
        with open(os.path.join(made, f"rank-{rank}.json")) as f:
            trace = json.load(f)
        for e in trace["traceEvents"]:
            e["args"] = {k: v for k, v in e.get("args", {}).items() if k in ARGS}
        cut(trace)
        with open(os.path.join(plain, f"rank-{rank}.json"), "w") as f:
            json.dump(trace, f)
        traces.append(trace)
    write(databases, traces)
    one, other = os.path.join(folder, "plain.h5"), os.path.join(folder, "databases.h5")
    a, b = run(plain, one, PROCS[0]), run(databases, other, PROCS[-1])
    for x, y in zip(a.splitlines(), b.splitlines()):
        if x.split()[0] not in ("rank", "names"):
            check(f"made with {words}{what}: table {x.split()[0]}", x == y, f"{x}, {y}")
    told = table(other, "culprit")
    check(f"made with {words}{what}: a rank is named, and the same", len(told) > 0 and told[0] == table(one, "culprit")[0])


def keep(trace, categories):
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") in categories]


def nsys_twin(folder, words):
    """The job less what an export does not have, and an export of each host."""
    def cut(trace):
        keep(trace, KEPT)
        del trace["distributedInfo"]

    def write(to, traces):
        for node in range(2):
            database(os.path.join(to, f"node{node}.sqlite"), traces[3 * node:3 * node + 3])
    twin(folder, words, "", cut, write)


ROCPD = """
    CREATE TABLE rocpd_metadata_0a(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
    CREATE TABLE rocpd_string_0a(id INTEGER PRIMARY KEY, string TEXT);
    CREATE TABLE rocpd_info_node_0a(id INTEGER PRIMARY KEY, hostname TEXT);
    CREATE TABLE rocpd_info_process_0a(id INTEGER PRIMARY KEY, pid INTEGER, environment JSONB);
    CREATE TABLE rocpd_info_thread_0a(id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER);
    CREATE TABLE rocpd_info_agent_0a(id INTEGER PRIMARY KEY, type TEXT, type_index INTEGER, name TEXT, product_name TEXT);
    CREATE TABLE rocpd_info_kernel_symbol_0a(id INTEGER PRIMARY KEY, display_name TEXT);
    CREATE TABLE rocpd_event_0a(id INTEGER PRIMARY KEY, category_id INTEGER, stack_id INTEGER, extdata JSONB DEFAULT '{}');
    CREATE TABLE rocpd_region_0a(id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER,
        event_id INTEGER);
    CREATE TABLE rocpd_kernel_dispatch_0a(id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER,
        stream_id INTEGER, start BIGINT, end BIGINT, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER,
        grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER);
    CREATE TABLE rocpd_memory_copy_0a(id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER,
        dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER, stream_id INTEGER, event_id INTEGER)"""
SIDES = {"H": ("HOST", "Host", 0), "D": ("DEVICE", "Device", 1)}


def rocpd(path, trace, rank):
    """The database of a process, as rocprofv3 writes one."""
    db = sqlite3.connect(path)
    db.executescript(ROCPD)
    strings, kernels, events = {}, {}, iter(range(1, 1 << 30))
    pid = next(e["pid"] for e in trace["traceEvents"] if e["cat"] == "cuda_runtime")

    def insert(table, *row):
        db.execute(f"INSERT INTO rocpd_{table}_0a VALUES ({', '.join('?' * (len(row) + 1))})", (None, *row))

    def number(texts, value):
        return texts.setdefault(value, len(texts) + 1)

    def event(category, stack, extdata="{}"):
        db.execute("INSERT INTO rocpd_event_0a VALUES (?, ?, ?, ?)", (next(events), number(strings, category), stack, extdata))
        return db.execute("SELECT max(id) FROM rocpd_event_0a").fetchone()[0]

    for e in trace["traceEvents"]:
        a, name, start = e["args"], e["name"], whole_ns(e["ts"])
        times = (start, start + whole_ns(e["dur"]))
        if e["cat"] == "kernel":
            insert("kernel_dispatch", 1, None, 100 + a["device"], number(kernels, name), a["stream"], *times, 64, 2, 1, a["grid"][0] * 64,
                   a["grid"][1] * 2 - 1, a["grid"][2], event("KERNEL_DISPATCH", a["correlation"]))
        elif e["cat"] == "gpu_memcpy":
            (source, _, from_device), (target, _, to_device) = (SIDES[name[i]] for i in (7, 10))
            insert("memory_copy", 1, None, *times, number(strings, f"MEMORY_COPY_{source}_TO_{target}"),
                   100 + a["device"] if to_device else 99, 100 + a["device"] if from_device else 99, a["bytes"], a["stream"],
                   event("MEMORY_COPY", a["correlation"]))
        elif e["cat"] == "cuda_runtime":
            insert("region", 1, e["tid"], *times, number(strings, name), event("HIP_RUNTIME_API", a.get("correlation")))
        else:
            shown = name if name.startswith("aten::") or e["cat"] != "cpu_op" else name + ", op_id = 7"
            insert("region", 1, e["tid"], *times, number(strings, "roctxThreadRangeA"),
                   event("MARKER_CORE_RANGE_API", None, json.dumps({"message": shown})))
    insert("metadata", "schema_version", "3")
    insert("info_node", trace["host_name"])
    insert("info_process", pid, json.dumps({"RANK": str(rank), "WORLD_SIZE": "6"}))
    for tid in {e["tid"] for e in trace["traceEvents"] if e["cat"] in ("cuda_runtime", "cpu_op", "user_annotation")}:
        db.execute("INSERT INTO rocpd_info_thread_0a VALUES (?, 1, ?)", (tid, tid))
    db.execute("INSERT INTO rocpd_info_agent_0a VALUES (99, 'CPU', 0, 'EPYC', '')")
    db.executemany("INSERT INTO rocpd_info_agent_0a VALUES (?, 'GPU', ?, ?, '')",
                   [(100 + d["id"], d["id"], d["name"]) for d in trace["deviceProperties"]])
    db.executemany("INSERT INTO rocpd_string_0a VALUES (?, ?)", [(i, t) for t, i in strings.items()])
    db.executemany("INSERT INTO rocpd_info_kernel_symbol_0a VALUES (?, ?)", [(i, t) for t, i in kernels.items()])
    db.commit()
    db.close()


def rocpd_twin(folder, words):
    """The job less what rocprofv3 does not record, and a database of each process."""
    def cut(trace):
        keep(trace, ("cpu_op", "user_annotation", "cuda_runtime", "kernel", "gpu_memcpy"))
        for e in trace["traceEvents"]:
            if e["cat"] == "gpu_memcpy":
                e["name"] = f"{e['name'][:11]} ({SIDES[e['name'][7]][1]} -> {SIDES[e['name'][10]][1]})"
        del trace["distributedInfo"], trace["baseTimeNanoseconds"]

    def write(to, traces):
        for rank, trace in enumerate(traces):
            rocpd(os.path.join(to, f"{4000 + 7 * (6 - rank)}_results.db"), trace, rank)
    twin(folder, words, ", rocpd", cut, write)


def main():
    files = sorted(glob.glob(os.path.join(CORPUS, "nsys", "*.sqlite"))) if CORPUS else []
    folder = tempfile.mkdtemp(prefix="tlmpi-test.")
    some = os.path.join(folder, "some.db")
    sqlite3.connect(some).execute("CREATE TABLE t(x)").connection.close()
    with_library = "libsqlite3" not in subprocess.run([TLMPI, "check", some], capture_output=True, text=True).stderr
    os.unlink(some)
    files = files if with_library else []
    for path in files:
        own = shutil.copy(path, folder)
        result = os.path.join(folder, "result.h5")
        told = [run(own, result, n) for n in PROCS]
        check(f"{path}: the same on {PROCS} procs", all(t == told[0] for t in told) and told[0] != "", told)
        golden = os.path.join(CORPUS, "golden", "nsys", os.path.basename(path).replace(".sqlite", ".csv"))
        if os.path.exists(golden):
            compare(path, golden, result)
        waits(path, result)
        with open(path, "rb") as a, open(own, "rb") as b:
            check(f"{path}: is as it was", a.read() == b.read())
        check(f"{path}: nothing lies beside it", not glob.glob(own + "-*"), os.listdir(folder))
        os.unlink(own)
    if with_library:
        nsys_twin(folder, ["--fault", "compute_slow", "--fault-rank", "4"])
        nsys_twin(folder, ["--tp", "3", "--seed", "5"])
        rocpd_twin(folder, ["--fault", "compute_slow", "--fault-rank", "4"])
    shutil.rmtree(folder)
    if not files:
        counts["skipped"] += 1
        print("SKIPPED: exports of Nsight Systems: TLMPI_CORPUS has none, or tlmpi was made without libsqlite3")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
