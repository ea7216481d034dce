#!/bin/sh
# html.sh TLMPI - the page of a result: that it stands alone and is well-formed, shows what the tables have, stays small, and that
# no name of a trace does anything in it.
#
# Prints what failed and, last, "N passed, N failed, N skipped".
# shellcheck source=tests/cli/job.sh
. "$(dirname "$0")/job.sh"

# page WHAT CODE - a check in Python of the page in file `out`: text is all of it, root its elements, words(e) the text in one,
# figures those with a heat map, cells_of(one) its cells, ids the sections, table(NAME) the rows of a table of result.h5
page()
{
    check "$1" /usr/bin/python3 - "$tlmpi" <<PYTHON
import json, subprocess, sys
import xml.etree.ElementTree as ET
text = open("out", encoding="utf-8").read()
root = ET.fromstring(text)
plots = root.findall(".//svg[@class='plot']")
figures = [f for f in root.iter("figure") if f.find("div/svg[@class='plot']") is not None]
ids = [s.get("id") for s in root.iter("section")]
def cells_of(figure): return [r for r in figure.findall("div/svg/rect") if r.get("class").startswith("cell ")]
def words(e): return " ".join("".join(e.itertext()).split())
def table(name): return json.loads(subprocess.check_output([sys.argv[1], "show", "result.h5", name, "--format", "json"]))
$2
PYTHON
}

# alone - the page in `out` needs nothing else and is well-formed
alone()
{
    page "$1 is well-formed" "assert root.tag == 'html' and root.findall('.//section'), root"
    page "$1 has no script" "
assert '<script' not in text.lower()
assert not [a for e in root.iter() for a, v in e.attrib.items() if a.startswith('on') or 'javascript:' in v]"
    check "$1 asks for nothing" sh -c '! grep -qiE "https?:|//[a-z]|src=|@import|<link|<img|<iframe|href=" out'
    page "$1 has pictures that say what they show" "
for svg in plots:
    assert svg.get('role') == 'img' and svg.find('title').text and svg.find('desc').text, svg.attrib
    assert svg.get('aria-labelledby').split() == [svg.find('title').get('id'), svg.find('desc').get('id')]
ids = [e.get('id') for e in root.iter() if e.get('id')]
assert len(ids) == len(set(ids)), ids
styled = set(text.split('<style>')[1].split('</style>')[0].replace('.', ' ').replace(',', ' ').split())
unstyled = {c for e in root.iter() for c in e.get('class', '').split()} - styled
assert not unstyled, unstyled"
}

# quiet WHAT - a browser that shows the page in `out` has nothing to say about it, and finds its last section
quiet()
{
    if ! command -v chromium > /dev/null; then
        skip "no chromium: $1 in a browser"
        return
    fi
    cp out shown.html
    timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-extensions --no-first-run \
        --proxy-server=127.0.0.1:9 --user-data-dir="$work/browser" --enable-logging=stderr --v=0 --dump-dom \
        "file://$work/shown.html" > dom 2> said
    check "a browser reads $1" grep -q 'id="made"' dom
    check "$1 has no message for the console" sh -c '! grep ":CONSOLE" said | grep -q "shown.html\|Uncaught\|Refused"'
}

echo "-- a page of traces"
"$tlmpi" -q -o result traces
status 0 "$tlmpi" html result.h5
silent out
silent err
check "it has the result's name" test -s result.html
status 4 "$tlmpi" html result.h5
says err "result.html exists; -f overwrites it"
cp result.html first
status 0 "$tlmpi" html result.h5 -f
check "again the same bytes" cmp first result.html
status 0 "$tlmpi" html result.h5 -o -
check "on standard output, too" cmp first out
status 0 "$tlmpi" html result.h5 -o other.html
check "and under another name" cmp first other.html
cp first out
alone "the page of traces"
quiet "the page of traces"
page "a section for what there is, in their order" "
assert ids == 'verdict strip time excess steps kernels idle recording clocks glossary made'.split(), ids
assert all(words(s) for s in root.iter('section'))"
page "a cell for each rank and step" "
rows = table('blame_step')
cells = cells_of(figures[0])
assert len(figures) == 1 and len(cells) == len(rows) == 9, len(cells)"
page "bars of all ranks and their mean" "
bars = {}
for r in root.findall('.//section[@id=\"time\"]//svg/rect[title]'):
    bars.setdefault(r.find('title').text.split(':')[0], []).append(r)
assert list(bars) == ['mean', 'rank 0', 'rank 1', 'rank 2'], bars
for row in [r for r in table('breakdown') if r['rank'] >= 0 and r['step'] == -1 and r['device'] == -1]:
    wide = {r.get('class'): float(r.get('width')[:-1]) for r in bars['rank %d' % row['rank']]}
    compute = wide['compute'] + wide.get('hidden', 0)
    assert abs(compute / sum(wide.values()) - row['compute_ns'] / row['wall_ns']) < 1e-3, (wide, row)"
page "which job, and how it was made" "
assert words(root.find('.//h1')) == 'traces' and words(root.find('.//p[@class=\"meta\"]')).startswith('3 ranks ')
assert 'result traces' in words(root.find('.//section[@id=\"made\"]')), words(root.find('.//section[@id=\"made\"]'))"
page "every rank has its lanes in the strip" "
strip = root.find('.//section[@id=\"strip\"]//svg[@class=\"plot\"]')
assert len([t for t in strip.findall('text') if ' rank ' in ' ' + t.text]) == 3, ET.tostring(strip)
classes = [p.get('class') for p in strip.iter('path')]
assert classes.count('compute') == classes.count('transfer') == 3, classes
assert len(list(strip.iter())) < 20000"
status 0 "$tlmpi" ask result.h5
cp out asked
cp first out
page "it says what ask says" "
asked = ' '.join(open('asked').read().split())
assert words(root.find('.//details[@id=\"answers\"]')) == 'The answers in words ' + asked"
status 0 "$tlmpi" html --help
says out "FILE.h5"
mkdir folder
cp result.h5 folder/noname
status 0 "$tlmpi" html folder/noname
check "a result of another name" test -s folder/noname.html

echo "-- what cannot be"
status 2 "$tlmpi" html
says err "no trace given: tlmpi html [options] FILE.h5 | A B"
status 2 "$tlmpi" html result.h5 result.h5 result.h5
status 2 "$tlmpi" html result.h5 --json
status 2 "$tlmpi" html result.h5 -f -o result.h5
status 0 "$tlmpi" show result.h5
status 3 "$tlmpi" html traces/rank-0.json
status 3 "$tlmpi" html nowhere.h5
check "no page, no part of one" sh -c '! ls | grep -q "nowhere\|part$"'
status 4 "$tlmpi" html result.h5 -o nowhere/page.html
if [ -e /dev/full ]; then
    status 4 "$tlmpi" html result.h5 -f -o /dev/full
    status 4 sh -c '"$1" html result.h5 -o - > /dev/full' sh "$tlmpi"
fi

echo "-- phases, names that would do harm, and records that are missing"
/usr/bin/python3 - "$here/../golden" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from phase_jobs import Job

EVIL = "</title></svg><script>alert(1)</script>&amp;\"' onload=x \x07\u202e\x00"

class Gaps(Job):
    def records(self):
        for step, rank, name, ms in super().records():
            if not (rank == 5 and 20 <= step < 45):
                yield step, rank, EVIL if name == "training_metrics" else name, ms

class Crowd(Job):
    """Many phases."""
    def records(self):
        for step, rank, name, ms in super().records():
            yield step, rank, name, ms
            for k in range(9 if name == "training_metrics" else 0):
                yield step, rank, f"part_{k}", 0.1 + k / 100

class Named(Job):
    """Names that are alike but for a number within, and one with a 0."""
    def records(self):
        for step in range(20):
            for rank in range(3):
                for k in range(3):
                    yield step, rank, "model." + "layer" * 9 + f"{k}" + "layer" * 9, 10 * (k + 1)
                yield step, rank, "ab\x00cd", 7

fault = (3, "host_to_device", 0.1, 30, 60)
Gaps(1, fault=fault).write("gaps")
Crowd(2, steps=20).write("crowd")
Named(4).write("named")
Job(3, ranks=80, steps=500, fault=(41, "host_to_device", 0.1, 0, 499)).write("many")
PYTHON
"$tlmpi" -q --reproducible -o result -f gaps
"$tlmpi" html result.h5 -f -o - > out
alone "the page of phases"
quiet "the page of phases"
page "a picture for each phase, a cell for each row" "
steps = table('phase_step')
assert len(figures) == 3
for figure in figures:
    cells = cells_of(figure)
    gone = [c for c in cells if c.get('class') == 'cell m']
    name = words(figure.find('.//h3')).split(': how')[0]
    rows = [r for r in steps if r['phase'][:4] == name[:4]]
    assert len(cells) == 8 * 90 and len(gone) == 25 and len(rows) == 8 * 90 - 25, (name, len(cells), len(gone), len(rows))
    for r in rows:
        cell = cells[r['rank'] * 90 + r['step']]
        share, said = r['excess_ns'] / r['baseline_ns'], cell.find('title').text
        assert said.startswith(f\"rank {r['rank']}, step {r['step']}: \"), said
        assert abs(float(said.split(': ')[1].split('\u00a0')[0].split()[0]) - 100 * share) <= 0.51, (said, share)"
page "who is late, and when" "
top = figures[0]
assert 'rank 3 straggler, host_to_device:' in words(top.find('figcaption')), words(top.find('figcaption'))
late = [r.get('width') for r in top.findall('div/svg/rect') if r.get('class') == 'late']
assert late.count('%.2f%%' % (100 * 31 / 90)) == 1, late
assert 'straggler, bounded in 31 of 90 steps' in words(top.find('.//table'))"
page "the trust that it explains is that of its answer" "
trust = [words(d[1]) for d in root.findall('.//dl[@class=\"tiles\"]/div') if words(d[0]) == 'Trust']
assert 'trust ' + trust[0] in [words(d) for d in root.findall('.//section[@id=\"glossary\"]//dt')], trust"
page "the name that would do harm is a name" "
h3 = [words(f.find('.//h3')) for f in figures]
assert any(h.startswith('</title></svg><script>alert(1)</script>&amp;') for h in h3), h3
assert not any(ord(c) < 32 and c != '\n' or c == '\u202e' for c in text)"
cp out one
mv result.h5 kept.h5
check "with three procs" mpirun -q -n 3 "$tlmpi" -q --reproducible -o result gaps
"$tlmpi" html result.h5 -o - > out
check "the same page" cmp one out

/usr/bin/python3 - <<'PYTHON' 2> err
import shutil
try:
    import h5py
except ImportError:
    h5py = None
if h5py is not None:
    shutil.copy("result.h5", "changed.h5")
    with h5py.File("changed.h5", "r+") as f:
        f["tables"].pop("phase_step")
PYTHON
if [ -s changed.h5 ]; then
    status 3 "$tlmpi" html changed.h5
    check "no page of what was changed" test ! -e changed.html
    /usr/bin/python3 "$here/../faults/seal.py" changed.h5
    status 0 "$tlmpi" html changed.h5 -o -
    page "a result without steps of phases has no section of them" "
assert not figures and 'phases' not in ids"
else
    skip "no h5py: a result without a table"
fi

"$tlmpi" -q -o result -f crowd
"$tlmpi" html result.h5 -f -o - > out
page "eight phases are drawn, the others counted" "
assert len(figures) == 8
assert any(words(p).startswith('4 phases that take less time are not drawn') for p in root.iter('p'))"

"$tlmpi" -q -o result -f named
"$tlmpi" html result.h5 -f -o - > out
page "names that begin alike are phases of their own" "
cells = {words(f.find('.//h3')).split(': how')[0]: cells_of(f)[0].find('title').text for f in figures}
assert len(cells) == 4, cells
for name, said in cells.items():
    assert said.endswith('7.00\u00a0ms)' if name.startswith('ab') else f'{int(name[51]) + 1}0.0\u00a0ms)'), (name, said)"

echo "-- many ranks, many steps"
"$tlmpi" -q -o result -f many
"$tlmpi" html result.h5 -f -o - > out
alone "a page of many"
page "the worst ranks, the others, and runs of steps" "
for figure in figures:
    svg = figure.find('div/svg')
    ranks = [t.text.split('rank ')[1] for t in svg.findall('text') if 'rank ' in t.text]
    assert len(ranks) == 32 and ranks == sorted(ranks, key=int) and '41' in ranks, ranks
    assert 'others' in [t.text for t in svg.findall('text')] and 'step, 3 a column' in [t.text for t in svg.findall('text')]
    assert not cells_of(figure)
    runs = [r for p in svg.findall('svg/path') for r in p.get('d').split('M')[1:]]
    assert sum(int(r.split('h')[1].split('v')[0]) for r in runs) == 33 * 167, len(runs) # 167 columns
    assert 'A column is 3 steps' in words(figure)"
check "it is small" test "$(wc -c < out)" -lt 300000

echo "-- a page of two runs"
# In B a kernel takes half as long again, another has a new name, a copy is gone; and a name does no harm.
/usr/bin/python3 - <<'PYTHON'
import json, os
for side in "ab":
    os.mkdir(side)
    for rank in range(3):
        trace = json.load(open(f"traces/rank-{rank}.json"))
        for event in trace["traceEvents"]:
            if side == "b" and event["cat"] == "kernel" and event["name"].startswith("gemm"):
                event["dur"] *= 1.5
            if event["name"] == "aten::mm":
                event["name"] = "<script>alert(1)</script>"
        if side == "b":
            trace["traceEvents"] = [e for e in trace["traceEvents"] if not e["name"].startswith("Memcpy")]
        json.dump(trace, open(f"{side}/rank-{rank}.json", "w"))
PYTHON
"$tlmpi" -q -o a -f a
"$tlmpi" -q -o b -f b
status 0 "$tlmpi" html a.h5 b.h5
silent out
silent err
status 4 "$tlmpi" html a.h5 b.h5
says err "diff.html exists; -f overwrites it"
status 0 mpirun -q -n 3 "$tlmpi" html -f a b
check "of traces, on three procs, too" test -s diff.html
status 0 "$tlmpi" html a.h5 b.h5 -o -
alone "the page of two runs"
"$tlmpi" diff a.h5 b.h5 diff_step --format json > steps.json
"$tlmpi" diff a.h5 b.h5 diff_call_path --format json > calls.json
page "the verdict, the waterfall and the calls" "
assert [s.get('id') for s in root.findall('.//section')] == ['verdict', 'waterfall', 'calls'], text
assert 'each takes 1.5 times as long' in words(root.find('.//section[@id=\"verdict\"]'))
assert 'gone' in words(root.find('.//section[@id=\"verdict\"]'))"
page "each part begins where the one before ends, and the last is at B" "
steps = json.load(open('steps.json'))
svg = root.find('.//section[@id=\"waterfall\"]/figure/div/svg')
bars = [(float(r.get('x')[:-1]), float(r.get('x')[:-1]) + float(r.get('width')[:-1])) for r in svg.findall('rect')]
assert len(bars) == len(steps) + 1, bars
at = bars[0][1]
for (low, high), row in zip(bars[1:-1], steps[1:]):
    assert abs((low if row['change_ns'] >= 0 else high) - at) < 0.03 or row['change_ns'] == 0, (row, at, low, high)
    at = high if row['change_ns'] > 0 else low if row['change_ns'] < 0 else at
assert abs(bars[-1][1] - at) < 0.3, (at, bars)
assert sum(r['change_ns'] for r in steps[1:]) == steps[0]['change_ns']"
page "calls stand within calls, as deep as they are" "
def depth(e): return (e.tag == 'details') + max([depth(c) for c in e] or [0])
calls = root.find('.//section[@id=\"calls\"]')
assert depth(calls) == max(r['depth'] for r in json.load(open('calls.json'))), (depth(calls), json.load(open('calls.json')))
assert all(d[0].tag == 'summary' for d in calls.iter('details'))"
/usr/bin/python3 - <<'PYTHON'
import json, os
for side in "ab":
    os.mkdir(f"{side}-whole")
    for rank in range(3):
        trace = json.load(open(f"{side}/rank-{rank}.json"))
        trace["traceEvents"] = [e for e in trace["traceEvents"] if "ProfilerStep" not in e["name"] and e["ts"] < 5000]
        json.dump(trace, open(f"{side}-whole/rank-{rank}.json", "w"))
PYTHON
status 0 "$tlmpi" html a-whole b-whole -o -
page "recordings without steps are not called steps" "
assert words(root.find('.//section[@id=\"waterfall\"]/h2')) == 'From the recording of A to the recording of B'
assert not [w for w in ('a step', 'per step', 'of A\'s step') if w in words(root.find('body'))], words(root.find('body'))"
status 2 "$tlmpi" html a.h5 b.h5 a.h5
says err "one file at a time"

echo "-- with the run"
check "with three procs" mpirun -q -n 3 "$tlmpi" -q -o both traces --html
check "there is a page" grep -q 'id="made"' both.html
cp both.html first
status 0 "$tlmpi" html both.h5 -f
check "as tlmpi html writes it" cmp first both.html
rm both.h5
status 4 "$tlmpi" -q -o both traces --html
says err "both.html exists; -f overwrites it"
check "the result is there" test -s both.h5

summary
