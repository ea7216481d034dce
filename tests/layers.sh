#!/bin/sh
# layers.sh - the rules of use: an include only goes down, and so does the name of what another file defines, by whatever header
# it is seen; each library is met in its own files alone; that transport alone sends; and that no folder and no file grows too
# large.
#
#     base <- model <- trace <- trace_out       analysis, report, store: base, model
#     compat: base, model, trace, trace_out     par: base                job: all of these; app: all
#     record, a library for others, with include/tlmpi_record.h: itself, and headers of the system
#
# A folder of src is a layer or a room of one.  A file may include what its own folder has and what is named for that in the
# table below: a folder, with its rooms where it is none above.  The headers of include/tlmpi/A/B.h and include/tlmpi/A/B/
# are those of the room A/B.  What a folder does not have there is private to it.  Each line printed is a violation, with its
# place.  That the rules bite is shown on copies with one violation planted in each.
. "$(dirname "$0")/lib.sh"
top=$(cd "$(dirname "$0")/.." && pwd)

# includes TREE - "layer file:line:header" for each include of a file of a layer
includes()
{
    (cd "$1" && grep -rnE '^ *# *include' src include --include='*.c' --include='*.h') |
        sed -nE -e 's@^((src|include/tlmpi)/([^/:]+)/?[^:]*:[0-9]+): *# *include *[<"]([^>"]*)[>"].*@\3 \1:\4@p' \
            -e 's@^(include/tlmpi_([a-z]+)[.]h:[0-9]+): *# *include *[<"]([^>"]*)[>"].*@\2 \1:\3@p'
}

# uses TREE - "layer file:line:tlmpi/definer symbol" for each place that names what a file of the tree defines as tl_*: functions,
# constants and schemas of tables.  The definer is its file.  Comments and texts name nothing.
uses()
{
    (cd "$1" && find src include/tlmpi -name '*.[ch]' -exec awk '
        FNR == 1 {
            comment = is_schema = 0
            path = FILENAME
            sub("^(src|include/tlmpi)/", "", path)
            layer = substr(path, 1, index(path, "/") - 1)
        }
        {
            gsub(/\047.?.\047|"([^"\\]|\\.)*"|\/\*([^*]|\*+[^*\/])*\*+\//, "")
            if (comment && !sub(/^.*\*\//, ""))
                next
            comment = sub(/\/\*.*/, "")
        }
        # A line of the first column is a definition where no semicolon ends it, or a value stands in it.
        /^[a-z].*[^a-z0-9_]tl_[a-z0-9_]+(\(.*[^;]$|(\[[^]]*\])* = )/ && !/^(static [^i]|typedef)/ {
            match($0, /[^a-z0-9_]tl_[a-z0-9_]+(\(|\[| = )/)
            name = substr($0, RSTART + 1, RLENGTH - 1)
            sub(/[^a-z0-9_]+$/, "", name)
            definer[name] = path
        }
        sub(/^TL_TABLE_DEFINE(_AS)?\(/, "") { is_schema = 1 }
        is_schema && match($0, /[a-z0-9_]+/) {
            definer["tl_" substr($0, RSTART, RLENGTH) "_schema"] = path
            is_schema = 0
        }
        {
            for (line = " " $0; match(line, /[^A-Za-z0-9_]tl_[a-z0-9_]+/); line = substr(line, RSTART + RLENGTH)) {
                symbol[++n] = substr(line, RSTART + 1, RLENGTH - 1)
                at[n] = layer " " FILENAME ":" FNR
            }
        }
        END {
            for (i = 1; i <= n; i++)
                if (symbol[i] in definer)
                    print at[i] ":tlmpi/" definer[symbol[i]] " " symbol[i]
        }' {} +)
}

# violations TREE RULE [FOLDER FOLDER] - prints what breaks the rule, includes or uses; silence is good.  Two folders: the first
# may use the second.
violations()
{
    "$2" "$1" | awk -v folders="$(cd "$1" && find src -type d)" -v user="${3:-}" -v used="${4:-}" '
        BEGIN {
            below["base"] = "base"
            below["model"] = "base model"
            below["trace"] = "base model"
            below["trace/text"] = "base"
            below["trace/event"] = "base model"
            below["trace/meta"] = "base trace/text"
            below["trace/read"] = "base model trace/text trace/event trace/meta"
            below["trace/find"] = "base trace/read trace/text"
            below["trace/view"] = "base model trace/event trace/read"
            below["trace_out"] = "base model trace trace_out"

            # Of one rank.
            below["analysis"] = "base model"
            below["analysis/rank/time"] = "base model analysis"
            below["analysis/rank/idle"] = below["analysis/rank/work"] = "base model analysis analysis/rank/time"
            below["analysis/rank/measured"] = "base model analysis"
            # Of the collectives of all ranks: what is measured.
            below["analysis/collective/match"] = "base model analysis"
            below["analysis/collective/clock"] = "base model analysis/collective/match"
            below["analysis/collective/wait"] = "base model analysis analysis/rank/time analysis/collective/match analysis/collective/clock"
            below["analysis/collective/untraced_ranks"] = "base model analysis analysis/collective/wait"
            # What would have been, and who holds the job up: what is judged.
            below["analysis/verdict/graph"] = "base model analysis analysis/rank/time analysis/collective/wait analysis/collective/untraced_ranks"
            below["analysis/verdict/baseline"] = "base model analysis analysis/verdict/graph analysis/collective/wait"
            below["analysis/verdict/replay"] = "base model analysis analysis/verdict/graph analysis/verdict/baseline"
            below["analysis/verdict/whatif"] = below["analysis/verdict/replay"] " analysis/verdict/replay"
            below["analysis/verdict/stragglers"] = below["analysis/verdict/whatif"] " analysis/collective/wait analysis/verdict/whatif"
            below["analysis/verdict/cause"] = "base model analysis analysis/rank/work"
            below["analysis/verdict/phase"] = "base model analysis analysis/verdict/stragglers"
            below["analysis/diff"] = "base model analysis analysis/rank/work"
            below["analysis/registry"] = "base model analysis analysis/rank analysis/collective analysis/verdict/cause"

            below["report"] = "base model"
            below["report/format"] = "base model"
            below["report/answers"] = "base model report/format"
            below["report/ask"] = below["report/summary"] = "base model report/format report/answers"
            below["report/diff"] = "base model report/format report/answers"
            below["report/html"] = "base model report/format report/answers report/ask report/diff"
            below["store"] = "base model store"
            below["compat"] = "base model trace"
            below["compat/hta"] = "base model trace trace_out compat"
            below["compat/tracelens"] = "base model trace trace_out compat"
            below["par"] = "base par"
            below["job/call"] = "base analysis report"
            below["job/read"] = "base model trace par report/format analysis analysis/registry analysis/rank analysis/collective/match analysis/verdict/graph job/call"
            below["job/transport"] = "base model trace store report par analysis/registry analysis/verdict/graph analysis/verdict/baseline analysis/verdict/whatif job/call job/read"
            below["job/match"] = "base model par analysis/registry analysis/rank/time analysis/collective job/transport"
            below["job/attribute"] = "base model par analysis analysis/rank/work analysis/collective/wait analysis/verdict job/transport"
            below["job/phase"] = "base model trace par analysis job/call job/read job/transport"
            below["job/augment"] = "base model trace trace_out compat par store analysis/registry analysis/rank job/call job/read"
            below["job/reps"] = "base model trace par report/format analysis/rank/time job/call job/read job/transport"
            below["job"] = "base model trace store report par analysis/registry analysis/rank analysis/collective analysis/verdict job/call job/read job/transport job/match job/attribute job/phase"
            below["app"] = "base model trace trace_out analysis report store compat par job app"
            below["record"] = "record"

            # A folder or a file that stands alone, and all that it may include.
            alone["include/tlmpi_record.h"] = "^(stddef|stdint)[.]h$"
            alone["record"] = "^(tlmpi_record|internal|dlfcn|errno|fcntl|float|inttypes|math|pthread|" \
                "signal|std(arg|atomic|bool|def|int|io|lib)|string|sys/(stat|types)|time|unistd)[.]h$"

            # A header, as a pattern, and the files that may include it.
            only["^tlmpi_record[.]h$"] = "^$" # for src/record, which is above
            only["^mpi[.]h$"] = "^src/par/par_mpi(_[a-z]+)?[.][ch]$"
            only["^(hdf5|hdf5_hl|H5[A-Za-z]*)[.]h$"] = "^src/store/[^/]*[.][ch]$"
            only["^yajl/"] = "^src/trace/(event/yajl|text/json|read/perfetto|view/rules)[.]c$"
            only["[.]pb-c[.]h$"] = "^src/trace/read/perfetto[.]c$"
            only["^(isa-l|isa-l/.*|igzip_lib)([.]h)?$"] = "^src/(trace/text/gzip|trace_out/sink|store/pack)[.]c$"
            only["^zstd(_errors)?[.]h$"] = "^src/trace/text/unzstd[.]c$"
            only["^sqlite3[.]h$"] = "^src/trace/read/sqlite[.]c$"
            only["^zlib[.]h$"] = "^src/(trace/text/gzip|trace/read/perfetto|trace_out/sink|store/pack)[.]c$"
        }
        BEGIN {
            n = split(folders, part, "\n")
            for (i = 1; i <= n; i++)
                is_folder[substr(part[i], length("src/") + 1)] = 1
            if (user != "")
                below[user] = below[user] " " used
            find_circle()
        }
        # The folder of a path less src/ or include/tlmpi/: of a header that is the door of a room, the room.
        function folder_of(path, header,    dir) {
            dir = path
            sub("/[^/]*$", "", dir)
            sub("[.]h$", "", path)
            return header && path in is_folder ? path : dir
        }
        # Whether the word for a folder stands for the target, too: its rooms, where it is not above the folder itself.
        function means(word, target, folder) {
            return target == word || (index(target, word "/") == 1 && index(folder "/", word "/") != 1)
        }
        function may(folder, target,    words, n, i, rule) {
            for (rule = folder; !(rule in below); )
                sub("/[^/]*$", "", rule)
            n = split(below[rule] " " folder, words, " ")
            for (i = 1; i <= n; i++)
                if (means(words[i], target, folder))
                    return 1
            return 0
        }
        # Takes away each folder that uses none of those that are left, but itself: what stays uses itself in a circle.
        function find_circle(    left, folder, other, words, n, i, free, some) {
            for (folder in below)
                left[folder] = 1
            for (some = 1; some; ) {
                some = 0
                for (folder in left) {
                    n = split(below[folder], words, " ")
                    free = 1
                    for (i = 1; i <= n; i++)
                        for (other in left)
                            free = free && (other == folder || !means(words[i], other, folder))
                    if (free) {
                        delete left[folder]
                        some = 1
                    }
                }
            }
            for (folder in left)
                print "tests/layers.sh:0: " folder " stands in, or above, a circle"
        }
        {
            layer = $1
            split($2, part, ":")
            file = part[1]
            header = substr($2, length(part[1]) + length(part[2]) + 3)
            at = part[1] ":" part[2] ": "
            folder = file
            sub("^(src|include/tlmpi)/", "", folder)
            folder = file ~ /^include\/tlmpi_/ ? layer : folder_of(folder, file ~ "^include/")

            if (!(layer in below)) {
                print at layer " is no layer"
                next
            }
            if ((file in alone || folder in alone) && $3 == "") {
                if (header !~ (file in alone ? alone[file] : alone[folder]))
                    print at header " is not what stands alone may use"
                next
            }
            if (header ~ /^tlmpi\//) {
                if (!may(folder, folder_of(substr(header, length("tlmpi/") + 1), 1)))
                    print at folder " uses " header ($3 == "" ? "" : ": " $3)
            } else if (header ~ /\.\.\// || header ~ /^src\// || (split(header, part, "/") > 1 &&
                       (part[1] in below || folder "/" part[1] in is_folder))) {
                print at header " goes around include/tlmpi"
            }
            for (pattern in only)
                if (header ~ pattern && file !~ only[pattern])
                    print at header " belongs in " only[pattern] " alone"
        }'
}

# alone PLACE COMMAND... - whether the command prints one line, which begins with the place; mends the copy, whose file or folder
# of that name was changed
alone()
{
    place=$1
    shift
    found=$("$@")
    while [ ! -e "$top/$place" ] && [ ! -e "$top/$(dirname "$place")" ]; do
        place=$(dirname "$place")
    done
    rm -rf "${copy:?}/$place"
    [ ! -e "$top/$place" ] || cp -R "$top/$place" "$copy/$place"
    case $found in
    *"
"*)
        echo "more than one: $found"
        return 1
        ;;
    "$place":\ * | "$place"/*:[0-9]* | "$place":[0-9]*) return 0 ;;
    esac
    echo "found: ${found:-nothing}"
    return 1
}

# plant FILE LINE - adds a line to a file of the copy, or a file with that line
plant()
{
    mkdir -p "$copy/$(dirname "$1")"
    echo "$2" >> "$copy/$1"
}

# bites FILE LINE [RULE] - whether the copy in which LINE stands at the end of FILE breaks a rule (includes) once, at that place
bites()
{
    plant "$1" "$2"
    alone "$1" violations "$copy" "${3:-includes}"
}

# crowds TREE - prints each folder of src with more than 20 .c files of its own, and each file of more than 600 lines
crowds()
{
    (cd "$1" && find src include tests data -name '*.[ch]' -exec wc -l {} + -o -name '*.py' -exec wc -l {} + \
        -o -name '*.sh' -exec wc -l {} + 2>/dev/null) | awk '
        $2 == "total" { next }
        $2 ~ /^src\/.*[.]c$/ { folder = $2; sub("/[^/]*$", "", folder); n[folder]++ }
        $1 > 600 { print $2 ": " $1 " lines" }
        END { for (f in n) if (n[f] > 20) print f ": " n[f] " files" }'
}

# senders TREE - prints each line outside of src/par and src/job/transport that sends to one proc, or takes from one
senders()
{
    (cd "$1" && grep -rnE '\<tl_par_(send|probe|take)[a-z_]* *\(' src --include='*.[ch]') |
        grep -vE '^src/(par|job/transport)/'
}

# sends FILE LINE - whether the copy in which LINE stands at the end of FILE sends where it may not
sends()
{
    plant "$1" "$2"
    alone "$1" senders "$copy"
}

# long FILE - whether the copy in which the file is 601 lines longer has exactly that one as too long
long()
{
    plant "$1" "$(awk 'BEGIN { for (i = 0; i < 601; i++) print "//" }')"
    alone "$1" crowds "$copy"
}

# filled FOLDER N - whether the copy with N more files in the folder is too large there
filled()
{
    for i in $(seq "$2"); do
        plant "$1/more_$i.c" ""
    done
    alone "$1" crowds "$copy"
}

found=$(violations "$top" includes; violations "$top" uses)
[ -z "$found" ] || echo "$found"
check "no file breaks a rule" test -z "$found"
senders "$top"
check "transport alone sends" test -z "$(senders "$top")"
crowd=$(crowds "$top")
[ -z "$crowd" ] || echo "$crowd"
check "no folder holds more than 20 files, and no file more than 600 lines" test -z "$crowd"
check "there are includes to judge" test "$(includes "$top" | wc -l)" -gt 100
check "there are uses to judge" test "$(uses "$top" | wc -l)" -gt 1000

if [ -z "$found" ]; then
    copy=$(scratch)
    trap 'rm -rf "$copy"' EXIT
    cp -R "$top/src" "$top/include" "$copy"
    check "base may not know of the model" bites src/base/hash.c '#include "tlmpi/model/names.h"'
    check "a header is judged like a file" bites include/tlmpi/model/kind.h '#include "tlmpi/trace/event/events.h"'
    check "an entry knows nothing of files" bites src/trace/event/events.c '#include "tlmpi/trace/text/source.h"'
    check "a text knows nothing of its meaning" bites src/trace/text/split.c '#include "tlmpi/trace/event/fields.h"'
    check "the door of a room is judged like its files" bites include/tlmpi/trace/meta.h '#include "tlmpi/trace/read/reader.h"'
    check "a reader does not look for files" bites src/trace/read/kineto.c '#include "tlmpi/trace/find.h"'
    check "a view knows nothing of text" bites src/trace/view/link.c '#include "tlmpi/trace/text/split.h"'
    check "a file is found without its events" bites src/trace/find/runs.c '#include "tlmpi/trace/event/events.h"'
    check "the core knows no emulator" bites src/trace/event/events.c '#include "tlmpi/compat/verbatim.h"'
    check "one emulator does not know the other" bites src/compat/hta/hta.c '#include "tlmpi/compat/tracelens/tracelens.h"'
    check "what emulators share knows none" bites src/compat/csv.c '#include "tlmpi/compat/hta/hta.h"'
    check "what a room keeps to itself stays there" bites src/app/compat_tracelens.c '#include "../compat/tracelens/lens.h"'
    check "a format knows no answers" bites src/report/format/words.c '#include "tlmpi/report/answers/answers.h"'
    check "an answer knows no screen" bites src/report/answers/answers.c '#include "tlmpi/report/summary.h"'
    check "a new room is not forgotten" bites src/trace/new/new.c '#include "tlmpi/trace/read/reader.h"'
    check "a circle in the table is found" test -n "$(violations "$top" includes trace/text trace/view)"
    check "an analysis may not read traces" bites src/analysis/rank/time/breakdown.c '  #  include <tlmpi/trace/event/events.h>'
    check "an analysis may not know of procs" bites src/analysis/rank/time/breakdown.c '#include "tlmpi/par/par.h"'
    check "what a device did is told without matches" bites src/analysis/rank/time/interval.c '#include "tlmpi/analysis/collective/match.h"'
    check "gaps know nothing of graphs" bites src/analysis/rank/idle/gaps.c '#include "tlmpi/analysis/verdict/graph.h"'
    check "matching knows no clock" bites src/analysis/collective/match/key.c '#include "tlmpi/analysis/collective/clock.h"'
    check "clocks know no waits" bites src/analysis/collective/clock/find.c '#include "tlmpi/analysis/collective/wait.h"'
    check "who waits is told without a graph" bites src/analysis/collective/wait/rank_waits.c '#include "tlmpi/analysis/verdict/graph.h"'
    check "the graph expects nothing" bites src/analysis/verdict/graph/rank.c '#include "tlmpi/analysis/verdict/baseline.h"'
    check "what is expected is not replayed" bites src/analysis/verdict/baseline/cells.c '#include "tlmpi/analysis/verdict/replay.h"'
    check "a replay judges nobody" bites src/analysis/verdict/replay/replay.c '#include "tlmpi/analysis/verdict/stragglers.h"'
    check "a cause is found without a replay" bites src/analysis/verdict/cause/cause.c '#include "tlmpi/analysis/verdict/replay.h"'
    check "who is one culprit is told from tables alone" bites src/analysis/verdict/cause/suspects.c '#include "tlmpi/analysis/verdict/stragglers.h"'
    check "an answer decides nothing" bites src/report/answers/answers.c '#include "tlmpi/analysis/verdict/cause/culprit.h"'
    check "no analysis knows all of them" bites src/analysis/rank/idle/idle.c '#include "tlmpi/analysis/registry.h"'
    check "the door of a folder is judged like its files" bites include/tlmpi/analysis/verdict/baseline.h '#include "tlmpi/analysis/verdict/replay.h"'
    check "what a folder keeps to itself stays there" bites src/job/run.c '#include "transport/internal.h"'
    check "nor is there a way up and down again" bites src/analysis/verdict/stragglers/candidates.c '#include "../replay/internal.h"'
    check "a trace is read without messages" bites src/job/read/plan.c '#include "tlmpi/job/transport/work_queue.h"'
    check "transport knows no collectives" bites src/job/transport/writer.c '#include "tlmpi/job/match.h"'
    check "matching judges nobody" bites src/job/match/match.c '#include "tlmpi/job/attribute.h"'
    check "only the run knows its phases" bites src/job/attribute/attribute.c '#include "tlmpi/job/run.h"'
    check "a new folder of a layer is not forgotten" bites src/analysis/new/new.c '#include "tlmpi/analysis/collective/match.h"'
    check "a message that is sent elsewhere is found" sends src/job/match/match.c 'tl_par_send(0, 0, NULL, 0);'
    check "a long file is found" long src/job/run.c
    check "a full folder is found" filled src/analysis/rank/idle 20
    check "reading knows nothing of writing" bites src/trace/read/kineto.c '#include "tlmpi/trace_out/splice.h"'
    check "a report may not open the result file" bites src/report/format/print.c '#include "tlmpi/store/result.h"'
    check "nobody below the top knows of the job" bites src/store/pack.c '#include "tlmpi/job/run.h"'
    check "par knows of base alone" bites src/par/par_mpi.c '#include "tlmpi/model/table.h"'
    check "MPI stays in par_mpi*" bites src/par/par_serial.c '#include <mpi.h>'
    check "MPI does not enter the job" bites src/job/run.c '#include <mpi.h>'
    check "HDF5 stays in store" bites src/app/main.c '#include <hdf5.h>'
    check "HDF5 is in no public header" bites include/tlmpi/store/store.h '#include <H5public.h>'
    check "yajl stays in a few files" bites src/compat/hta/hta.c '#include <yajl/yajl_parse.h>'
    check "zlib stays in a few files" bites src/trace/read/kineto.c '#include <zlib.h>'
    check "ISA-L stays in three files" bites src/store/h5.c '#include <isa-l/igzip_lib.h>'
    check "no way around the public headers" bites src/model/names.c '#include "../base/load.h"'
    check "a schema is used only where its folder may be" bites src/analysis/collective/match/align.c 'f(&tl_launch_row_schema);' uses
    check "a function, too, whoever includes its header" bites src/report/ask/text.c 'n = tl_culprits_find();' uses
    check "a public header may not call past its folder" bites include/tlmpi/base/stats.h 'n = tl_names_intern();' uses
    check "the recorder knows nothing of tlmpi" bites src/record/line.c '#include "tlmpi/base/text.h"'
    check "nor may it use it without a header" bites src/record/line.c 'n = tl_names_intern();' uses
    check "the recorder knows no library but the system's" bites src/record/file.c '#include <zlib.h>'
    check "its header includes nothing of its own" bites include/tlmpi_record.h '#include <mpi.h>'
    check "the recorder stays outside of the program" bites src/base/hash.c '#include "tlmpi_record.h"'
    check "a new folder is not forgotten" bites src/extra/new.c '#include <stdio.h>'
fi
summary
