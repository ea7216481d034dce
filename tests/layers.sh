#!/bin/sh
# layers.sh - the include rules: an include only goes down, and each library is met in its own files alone.
#
#     base <- model <- trace <- trace_out       analysis, report, store: base, model
#     compat: base, model, trace, trace_out     par: base                job: all of these; app: all
#
# A file may include its own layer and those named for it.  Each line printed is a violation, with its place.  That the
# rules bite is shown on copies with one violation planted in each.
. "$(dirname "$0")/lib.sh"
top=$(cd "$(dirname "$0")/.." && pwd)

# includes TREE - "layer file:line:header" for each include of a file of a layer
includes()
{
    (cd "$1" && grep -rnE '^ *# *include' src include/tlmpi --include='*.c' --include='*.h') |
        sed -nE 's@^((src|include/tlmpi)/([^/:]+)/?[^:]*:[0-9]+): *# *include *[<"]([^>"]*)[>"].*@\3 \1:\4@p'
}

# violations TREE - prints what breaks the rules; silence is good
violations()
{
    includes "$1" | awk '
        BEGIN {
            below["base"] = "base"
            below["model"] = "base model"
            below["trace"] = "base model trace"
            below["trace_out"] = "base model trace trace_out"
            below["analysis"] = "base model analysis"
            below["report"] = "base model report"
            below["store"] = "base model store"
            below["compat"] = "base model trace trace_out compat"
            below["par"] = "base par"
            below["job"] = "base model trace trace_out analysis report store compat par job"
            below["app"] = below["job"] " app"

            # A header, as a pattern, and the files that may include it.
            only["^mpi[.]h$"] = "^src/par/par_mpi(_[a-z]+)?[.][ch]$"
            only["^(hdf5|hdf5_hl|H5[A-Za-z]*)[.]h$"] = "^src/store/[^/]*[.][ch]$"
            only["^yajl/"] = "^src/trace/.*[.][ch]$"
            only["^(isa-l|isa-l/.*|igzip_lib)([.]h)?$"] = "^src/(trace/text/source|trace_out/sink|store/pack)[.]c$"
            only["^zlib[.]h$"] = "^src/(trace/text/source|trace_out/sink|store/pack)[.]c$"
        }
        function may(layer, target,    words, n, i) {
            n = split(below[layer], words, " ")
            for (i = 1; i <= n; i++)
                if (words[i] == target)
                    return 1
            return 0
        }
        {
            layer = $1
            split($2, part, ":")
            file = part[1]
            header = substr($2, length(part[1]) + length(part[2]) + 3)
            at = part[1] ":" part[2] ": "

            if (!(layer in below)) {
                print at layer " is no layer"
                next
            }
            if (header ~ /^tlmpi\//) {
                split(header, part, "/")
                if (!may(layer, part[2]))
                    print at layer " includes " header
            } else if (header ~ /\.\.\// || header ~ /^src\// || (split(header, part, "/") > 1 && part[1] in below)) {
                print at header " goes around include/tlmpi"
            }
            for (pattern in only)
                if (header ~ pattern && file !~ only[pattern])
                    print at header " belongs in " only[pattern] " alone"
        }'
}

# bites FILE LINE - whether a copy in which LINE stands at the end of FILE breaks exactly one rule, at that place
bites()
{
    cp -R "$top/src" "$top/include" "$copy" && mkdir -p "$copy/$(dirname "$1")" || return 1
    echo "$2" >> "$copy/$1"
    found=$(violations "$copy")
    rm -rf "${copy:?}/src" "$copy/include"
    case $found in
    *"
"*)
        echo "more than one: $found"
        return 1
        ;;
    "$1:"[0-9]*) return 0 ;;
    esac
    echo "found: ${found:-nothing}"
    return 1
}

found=$(violations "$top")
[ -z "$found" ] || echo "$found"
check "no file breaks a rule" test -z "$found"
check "there are includes to judge" test "$(includes "$top" | wc -l)" -gt 100

if [ -z "$found" ]; then
    copy=$(scratch)
    trap 'rm -rf "$copy"' EXIT
    check "base may not know of the model" bites src/base/hash.c '#include "tlmpi/model/names.h"'
    check "a header is judged like a file" bites include/tlmpi/model/kind.h '#include "tlmpi/trace/event/events.h"'
    check "an analysis may not read traces" bites src/analysis/breakdown.c '  #  include <tlmpi/trace/event/events.h>'
    check "an analysis may not know of procs" bites src/analysis/breakdown.c '#include "tlmpi/par/par.h"'
    check "reading knows nothing of writing" bites src/trace/read/kineto.c '#include "tlmpi/trace_out/splice.h"'
    check "a report may not open the result file" bites src/report/format/print.c '#include "tlmpi/store/result.h"'
    check "nobody below the top knows of the job" bites src/store/pack.c '#include "tlmpi/job/run.h"'
    check "par knows of base alone" bites src/par/par_mpi.c '#include "tlmpi/model/table.h"'
    check "MPI stays in par_mpi*" bites src/par/par_serial.c '#include <mpi.h>'
    check "MPI does not enter the job" bites src/job/run.c '#include <mpi.h>'
    check "HDF5 stays in store" bites src/app/main.c '#include <hdf5.h>'
    check "HDF5 is in no public header" bites include/tlmpi/store/store.h '#include <H5public.h>'
    check "yajl stays in trace" bites src/compat/hta/hta.c '#include <yajl/yajl_parse.h>'
    check "zlib stays in three files" bites src/trace/read/kineto.c '#include <zlib.h>'
    check "ISA-L stays in three files" bites src/store/h5.c '#include <isa-l/igzip_lib.h>'
    check "no way around the public headers" bites src/model/names.c '#include "../base/load.h"'
    check "a new folder is not forgotten" bites src/extra/new.c '#include <stdio.h>'
fi
summary
