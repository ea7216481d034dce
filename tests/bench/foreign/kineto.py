"""kineto.py - simulated ranks as Kineto writes them: one JSON file each, and truth.json beside them (data/truth.md).

The profiler records from the beginning of the first recorded step, as the host has it, to the end of the last one: what began
before is not there, nor the launches of kernels that were launched before.  Where the recording `drains`, the profiler waits
for the device at its end; else what ends later is lost, too.  Times are those of the host's clock, which may be off.

    age 2026   times in ns from a base; collectives with their group and its count of them
    age 2024   without the count
    age 2022   times in us, nothing about collectives
"""

import json
import os

EPOCH_NS = 1_700_000_000_000_000_000
SYNC_ARGS = '"cuda_sync_kind":"%s","stream":%d,"correlation":%d,"device":%d,"context":1'


class Recording:
    """How a job is recorded; the same way on all ranks."""

    def __init__(self, rng, job):
        self.age = rng.choices(("2026", "2024", "2022"), (6, 2, 2))[0]
        self.drains = rng.random() < 0.8 or job.sync in ("rarely", "never")   # else hardly any work would be recorded
        self.cuda_sync = rng.random() < 0.3
        self.described = rng.random() < 0.7                   # groups have a description that tells them apart
        self.marks = rng.random() < 0.95                      # steps are marked
        self.device = rng.choice(("NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3"))
        hosts = (job.ranks + job.per_host - 1) // job.per_host
        off = rng.choice((0, 0, 50_000, 500_000, 5_000_000)) if hosts > 1 else 0
        self.offset = [rng.randint(-off, off) for _ in range(hosts)]
        self.drift = [rng.uniform(-5e-6, 5e-6) if off else 0.0 for _ in range(hosts)]

    def clock(self, job, rank):
        """What the clock of a rank's host shows at a true time."""
        host = rank // job.per_host
        return lambda ns: EPOCH_NS + self.offset[host] + ns + int(ns * self.drift[host])


def window(recording, job, rank):
    """When the recording of a rank begins and ends."""
    begin = next(t for step, t in rank.steps if step == job.first)
    end = max(row.end for row in rank.host_rows)
    if recording.drains:
        end = max([end] + [row.end for row in rank.device_rows])
    return begin, end


def group_names(job):
    """Process groups as PyTorch would number them: (number, description, ranks)."""
    out = {}
    for group, members in job.groups.items():
        if len(members) < 2:
            continue
        if group[0] == "pair":                                # sends and receives belong to the whole pipeline
            _, _, _, replica, shard = group
            name, members = ("pp", replica, shard), [job.at(s, replica, shard) for s in range(job.pp)]
        else:
            name = group
        number = next((n for n, _, _, key in out.values() if key == name), len({v[0] for v in out.values()}))
        what = "default_pg" if group == "world" else "mesh_" + name[0]
        out[group] = (number, what, members, name)
    return out


def kernel_args(job, row):
    return ',"grid":[%d,1,1],"block":[256,1,1]' % row.args["blocks"] if job.grids and row.args and "blocks" in row.args else ""


def collective_args(recording, names, rank, row, counts):
    if row.member is None or recording.age == "2022" or row.args["what"] == "coalesced":
        return ""
    number, what, members, _ = names[row.member[0]]
    more = ""
    if "peer" in row.args:
        source, to = (rank, row.args["peer"]) if row.args["what"] == "send" else (row.args["peer"], rank)
        more = ',"Src Rank":%d,"Dst Rank":%d' % (source, to)
    key = number if "peer" in row.args else row.member[0]
    counts[key] = counts.get(key, 0) + 1
    if recording.age == "2026":
        more += ',"Seq":%d' % (counts[key] if "peer" in row.args else row.member[1] + 1)
    return (',"Collective name":"%s","In msg nelems":%d,"Out msg nelems":%d,"Group size":%d,"dtype":"BFloat16"'
            ',"Process Group Name":"%d","Process Group Description":"%s","Process Group Ranks":"%s"%s' %
            (row.args["what"], row.args["nelems"], row.args["nelems"], len(members), number,
             what if recording.described else "undefined", members, more))


def events(recording, job, rank, clock, begin, end):
    """The events of a rank, as text."""
    names, counts, old = group_names(job), {}, recording.age == "2022"
    pid, device = 4000 + rank.number, rank.number % job.per_host
    tids = {"main": pid, "autograd": pid + 90}
    streams = {name: 7 if name == "compute" else 16 + 4 * i for i, name in enumerate(sorted(rank.streams))}
    base = 0 if old else EPOCH_NS

    def span(start, stop):
        a, b = clock(start) - base, clock(stop) - base
        if old:
            return '"ts":%d,"dur":%d' % (a // 1000, b // 1000 - a // 1000)
        return '"ts":%d.%03d,"dur":%d.%03d' % (a // 1000, a % 1000, (b - a) // 1000, (b - a) % 1000)

    serial = 0
    for row in rank.host_rows:
        if row.start < begin or row.end > end or (row.name == "cudaEventRecord" and not recording.cuda_sync):
            continue
        serial += 1
        args = '"correlation":%d,"cbid":211' % row.corr if row.corr else '"Ev Idx":%d' % serial
        yield '{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":%d,%s,"args":{"External id":%d,%s}}' % (
            row.cat, row.name, pid, tids[row.thread], span(row.start, row.end), row.corr or serial, args)
    if recording.marks:
        ends = [t for _, t in rank.steps[1:]] + [max(row.end for row in rank.host_rows)]
        for (step, start), stop in zip(rank.steps, ends):
            if step >= job.first:
                yield '{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":%d,"tid":%d,%s,"args":{}}' % (
                    step, pid, pid, span(start, stop))
    launches = {row.corr: row for row in rank.host_rows if row.corr}
    for row in sorted(rank.device_rows, key=lambda r: (r.stream, r.start)):
        args = collective_args(recording, names, rank.number, row, counts) + kernel_args(job, row)
        if row.start < begin or row.end > end:
            continue
        yield '{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":%d,%s,"args":{"External id":%d,"device":%d,"context":1,' \
              '"stream":%d,"correlation":%d%s}}' % (row.cat, row.name, device, streams[row.stream], span(row.start, row.end),
                                                    row.corr, device, streams[row.stream], row.corr, args)
        if row.launched >= begin:
            yield '{"ph":"s","id":%d,"pid":%d,"tid":%d,%s,"cat":"ac2g","name":"ac2g"}' % (
                row.corr, pid, tids[launches[row.corr].thread], span(row.launched, row.launched).split(",")[0])
            yield '{"ph":"f","id":%d,"pid":%d,"tid":%d,%s,"cat":"ac2g","name":"ac2g","bp":"e"}' % (
                row.corr, device, streams[row.stream], span(row.start, row.start).split(",")[0])
    for row in rank.sync_rows if recording.cuda_sync else ():
        if row.start < begin or row.end > end:
            continue
        stream = -1 if row.stream is None else streams[row.stream]
        more = "" if row.on_stream is None else ',"wait_on_stream":%d,"wait_on_cuda_event_record_corr_id":%d,' \
            '"wait_on_cuda_event_id":%d' % (streams[row.on_stream], row.record_corr, row.record_corr % 64)
        yield '{"ph":"X","cat":"cuda_sync","name":"%s","pid":%d,"tid":%d,%s,"args":{"External id":%d,%s%s}}' % (
            row.name, device, stream, span(row.start, row.end), row.corr, SYNC_ARGS % (row.name, stream, row.corr, device), more)


def write_rank(path, recording, job, rank):
    begin, end = window(recording, job, rank)
    info = {"backend": "nccl", "rank": rank.number, "world_size": job.ranks}
    if recording.age == "2026":
        groups = {number: (what, members) for number, what, members, _ in group_names(job).values() if rank.number in members}
        info["pg_config"] = [{"pg_name": str(n), "pg_desc": what if recording.described else "undefined", "backend_config": "cuda:nccl",
                              "pg_size": len(members), "ranks": members} for n, (what, members) in sorted(groups.items())]
    head = {"schemaVersion": 1, "deviceProperties": [{"id": i, "name": recording.device} for i in range(job.per_host)],
            "distributedInfo": info}
    if recording.age != "2022":
        head["displayTimeUnit"], head["baseTimeNanoseconds"] = "ms", EPOCH_NS
    if recording.age == "2026":
        head["host_name"] = "node%d" % (rank.number // job.per_host)
    with open(path, "w", encoding="ascii") as f:
        f.write(json.dumps(head)[:-1] + ', "traceEvents": [\n')
        f.write(",\n".join(events(recording, job, rank, recording.clock(job, rank.number), begin, end)))
        f.write('\n], "traceName": "%s"}\n' % os.path.basename(path))


def steps(job, simulation):
    """When the first recorded step begins, and how long each lasts: until all of it is done on all ranks."""
    ends = [max(t for s, t in simulation.step_end.items() if s <= step)
            for step in range(job.first - 1, job.first + job.steps)]
    return ends[0], [b - a for a, b in zip(ends, ends[1:])]


def truth(recording, job, simulation, healthy, fault):
    start, step_ns = steps(job, simulation)
    _, healthy_ns = steps(job, healthy)
    first = job.first if recording.marks else 0               # steps that nobody marks are counted from 0
    out = {"version": 1, "job": {"kind": job.kind, "ranks": job.ranks, "dp": job.dp, "tp": job.tp, "pp": job.pp, "seed": job.seed,
                                 "first_step": first, "steps": job.steps, "age": recording.age},
           "fault": None, "start_ns": EPOCH_NS + start, "step_ns": step_ns, "healthy_step_ns": healthy_ns,
           "traces": [dict(zip(("rank", "start_ns", "end_ns"), (rank.number,) + tuple(EPOCH_NS + t for t in window(recording, job, rank))))
                      for rank in simulation.ranks]}
    if fault is not None:
        acts, gain = [s - job.first + first for s in fault.recorded(job)], sum(step_ns) - sum(healthy_ns)
        out["fault"] = {"cause": fault.causes[0], "causes": fault.causes, "style": fault.kind, "ranks": fault.ranks, "host": fault.host,
                        "traced": True, "pattern": fault.pattern, "steps": acts, "first_step": acts[0], "last_step": acts[-1],
                        "size_share": fault.share, "gain_ns": gain,
                        "cost_share": gain / len(acts) / (sum(healthy_ns) / len(healthy_ns))}
    return out
