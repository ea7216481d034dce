"""Memory that is out at the n-th allocation, for n from the first to beyond the last of a whole run: the run ends with
status 70 and a message on all procs, and leaves no file behind.  Usage: no_memory.py STARVED STARVED_SERIAL MAKE_TRACE

STARVED is the program with faults/starved.c beside its main; an empty word: no MPI."""
import os
import subprocess
import sys
import tempfile

COMMANDS = [   # name, words; OUT is the output, TRACES the traces, RESULT a result of them
    ("run", "-f -q -o OUT TRACES"),
    ("run with a digest", "-f -q --digest -o OUT TRACES"),
    ("check", "check TRACES"),
    ("augment", "augment -f -o OUT TRACES"),
    ("compat hta", "compat hta -f -o OUT TRACES"),
    ("compat tracelens", "compat tracelens -f -o OUT TRACES"),
    ("reps", "reps TRACES"),
    ("show", "show RESULT breakdown"),
    ("ask", "ask RESULT --json"),
    ("html", "html -f -o OUT RESULT"),
    ("export", "export -f -o OUT RESULT"),
    ("describe", "describe breakdown"),
]
LIMITED = ("run", "show", "export")


def left(folder):
    """Files that a run has left under the folder."""
    return [name for at in os.walk(folder) for name in at[2]]


def run(words, fail_after, proc, out):
    env = dict(os.environ)
    if fail_after:
        env["TLMPI_FAIL_AFTER"] = str(fail_after)
    if proc is not None:
        env["TLMPI_FAIL_PROC"] = str(proc)
    os.makedirs(os.path.dirname(out), exist_ok=True)
    return subprocess.run(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300)


def numbers(ratio):
    """1, 2, 3, ... and then each larger by this ratio."""
    n = 1
    while True:
        yield n
        n = max(n + 1, int(n * ratio))


def starve(name, words, procs, ratio, work):
    """(allocations until the run succeeds, faults)."""
    faults = []
    out = os.path.join(work, "out", "x")
    whole = ["mpirun", "-n", str(procs)] * (procs > 0) + [w.replace("OUT", out) for w in words]
    normal = run(whole, 0, None, out).returncode
    if normal not in (0, 1):
        return 0, ["%s: status %d where memory is enough" % (name, normal)]
    subprocess.run(["rm", "-rf", os.path.join(work, "out")], check=True)
    for at, n in enumerate(numbers(ratio)):
        proc = at % procs if procs else None
        done = run(whole, n, proc, out)
        said = done.stderr.decode(errors="replace")
        files = left(os.path.join(work, "out"))
        subprocess.run(["rm", "-rf", os.path.join(work, "out")], check=True)
        if done.returncode == normal and "memory is out" not in said:
            if n > 1:
                return n, faults
            continue
        if done.returncode != 70:
            faults.append("%s, allocation %d: status %d" % (name, n, done.returncode))
        if said.count("tlmpi: memory is out: ") != 1 or "asked for" not in said:
            faults.append("%s, allocation %d: said %r" % (name, n, said[-300:]))
        if [f for f in files if f.endswith(".part")]:
            faults.append("%s, allocation %d: left %s" % (name, n, files))


def limited(name, words, work):
    """(limits until the run succeeds, faults): of address space, which libraries find out, too; one of 127 cannot load them."""
    faults = []
    words = [w.replace("OUT", os.path.join(work, "out", "x")) for w in words]
    for n, limit in enumerate(int(8000 * 1.02 ** i) for i in range(250)):
        done = run(["sh", "-c", 'ulimit -v %d; exec "$@"' % limit, "sh"] + words, 0, None, os.path.join(work, "out", "x"))
        said = done.stderr.decode(errors="replace")
        if done.returncode == 0:
            return n, faults
        if done.returncode != 127 and (done.returncode != 70 or "memory is out" not in said) and "memory has room for" not in said:
            faults.append("%s, %d kB: status %d, said %r" % (name, limit, done.returncode, said[-300:]))
    return 0, faults + [name + ": no limit is enough"]


def main():
    starved, serial, make_trace = sys.argv[1:4]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as work:
        traces, result = os.path.join(work, "traces"), os.path.join(work, "result.h5")
        subprocess.run([make_trace, "-o", traces, "--ranks", "3", "--steps", "4", "--late-rank", "1", "--late-us", "8000",
                        "--no-truth"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([serial, "-f", "-q", "-o", os.path.splitext(result)[0], traces], check=True)
        plans = [(serial, 0, 1.6, COMMANDS)]
        if starved:
            plans.append((starved, 3, 2.5, COMMANDS[:1] + COMMANDS[3:6]))
        for program, procs, ratio, commands in plans:
            for name, line in commands:
                words = [program] + [w.replace("TRACES", traces).replace("RESULT", result) for w in line.split()]
                n, faults = starve(name, words, procs, ratio, work)
                print("%s on %d procs: %d allocations" % (name, max(procs, 1), n))
                if name in LIMITED and not procs and "asan" not in program:
                    n, more = limited(name, words, work)
                    faults += more
                    print("%s: %d limits" % (name, n))
                for fault in faults[:5]:
                    print("FAILED: %s on %d procs" % (fault, max(procs, 1)))
                passed, failed = passed + (not faults), failed + bool(faults)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    sys.exit(failed > 0)


main()
