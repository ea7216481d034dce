"""check.py - what would be impossible in a job: found from the programs and from what came out, not by the engine itself."""

import collections


def early(rank, rows):
    """Work that starts before the event is done for which its stream waits.  rows: of each stream, in order."""
    wrong, queued, recorded, needed = [], collections.Counter(), {}, collections.defaultdict(list)
    for op in rank.program:
        if op.do == "record":
            recorded[op.event] = (op.stream, queued[op.stream])
        elif op.do == "wait":
            needed[op.stream].append(recorded[op.event])
        elif op.do in ("launch", "comm"):
            row = rows[op.stream][queued[op.stream]]
            queued[op.stream] += 1
            for stream, count in needed.pop(op.stream, ()):
                if count > 0 and row.start < rows[stream][count - 1].end:
                    wrong.append("rank %d: %s does not wait for stream %s" % (rank.number, row.name, stream))
    return wrong


def inconsistencies(simulation):
    """What is impossible in a simulated job, in words; nothing where all is well."""
    wrong = []
    arrivals = collections.defaultdict(list)
    for rank in simulation.ranks:
        ends = collections.defaultdict(list)
        for row in rank.device_rows:
            if row.start < row.launched:
                wrong.append("rank %d: %s starts %d ns before its launch" % (rank.number, row.name, row.launched - row.start))
            if row.end <= row.start:
                wrong.append("rank %d: %s takes no time" % (rank.number, row.name))
            ends[row.stream].append(row)
            if row.member is not None:
                arrivals[row.member].append((rank.number, row))
        for stream, rows in ends.items():
            for a, b in zip(rows, rows[1:]):                  # finished in this order, launched in this order
                if b.start < a.end or b.launched < a.launched:
                    wrong.append("rank %d: stream %s runs %s out of order" % (rank.number, stream, b.name))
        for a in rank.host_rows:
            if a.end < a.start:
                wrong.append("rank %d: %s ends before it starts" % (rank.number, a.name))
        wrong += early(rank, ends)
    for member, rows in arrivals.items():
        if sorted(r for r, _ in rows) != sorted(simulation.groups[member[0]]):
            wrong.append("collective %s: its members are %s" % (member, [r for r, _ in rows]))
        last = max(row.start for _, row in rows)
        if any(row.end <= last for _, row in rows):
            wrong.append("collective %s ends before its last member comes" % (member,))
    return wrong
