"""Small traces to be damaged, and the program to read them: what input.py and output.py share."""

import json
import os
import resource
import subprocess
import sys
import tempfile

EVENTS = 12  # kernels of a rank; each has a launch before it
STEP_US = 10


def launch(i, **changes):
    event = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": i * STEP_US,
             "dur": 2, "args": {"correlation": i + 1}}
    event.update(changes)
    return json.dumps(event)


def kernel(i, name="gemm", args=None, **changes):
    """Kernel i: [i * 10 + 4, i * 10 + 9) microseconds."""
    event = {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": i * STEP_US + 4, "dur": 5,
             "args": {"device": 0, "stream": 7, "correlation": i + 1, **(args or {})}}
    event.update(changes)
    return json.dumps(event)


def events():
    """All events of a whole rank, as texts."""
    return [text for i in range(EVENTS) for text in (launch(i), kernel(i))]


def head(rank):
    return ('{"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": %d}, '
            '"baseTimeNanoseconds": 1700000000000000000, "traceEvents": [\n' % rank)


TAIL = '\n], "traceName": "x"}\n'


def document(rank, entries=None):
    return head(rank) + ",\n".join(events() if entries is None else entries) + TAIL


def write(folder, rank, text, suffix=""):
    """rank-<rank>.json with this text (or these bytes)."""
    path = os.path.join(folder, "rank-%d.json%s" % (rank, suffix))
    with open(path, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    return path


class Run:
    """One run of the program: exit status, words, peak memory; its tables on demand."""

    def __init__(self, program, arguments, output=None, options=(), timeout=120, prefix=()):
        self.program, self.output = program, output
        command = list(prefix) + [program] + list(options)
        if output is not None:
            command += ["-o", output]
        command += list(arguments)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
            try:
                child.wait(timeout)
                self.status = child.returncode
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                self.status = "no end after %d s" % timeout
            out.seek(0)
            err.seek(0)
            self.stdout, self.stderr = out.read().decode("utf-8", "replace"), err.read().decode("utf-8", "replace")
        # Largest child so far: a bound for this one.
        self.peak_bytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024

    def rows(self, table):
        shown = subprocess.run([self.program, "show", self.output + ".h5", table, "--format", "json"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if shown.returncode != 0:
            return []
        return json.loads(shown.stdout.decode("utf-8"))

    def ranks(self):
        return {row["rank"]: row for row in self.rows("rank")}


class Checks:
    """Counts what holds and names what does not."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def that(self, holds, what, *found):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print("FAILED: %s; found: %s" % (what, ", ".join(str(f)[:400] for f in found)))
        return bool(holds)

    def skip(self, why):
        self.skipped += 1
        print("SKIPPED: " + why)

    def close(self):
        print("%d passed, %d failed, %d skipped" % (self.passed, self.failed, self.skipped))
        sys.exit(1 if self.failed else 0)
