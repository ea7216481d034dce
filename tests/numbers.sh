#!/bin/sh
# numbers.sh - no number decides a verdict unless it stands in include/tlmpi/model/parameters.h, with its unit and its reason.
#
# Looks at the code of the rooms that judge, without comments and texts, for numbers other than 0, 1 and 2.  What a formula
# itself has (a Student's tail, two neighbours) is listed below, with the file that may have it.  Each line printed is a number
# that has no reason.  That the rule bites is shown on a copy with one planted.
. "$(dirname "$0")/lib.sh"
top=$(cd "$(dirname "$0")/.." && pwd)

# numbers TREE - "file:line: number" for each that is not allowed; silence is good
numbers()
{
    for place in chance student 'rank/time/*' 'collective/*/*' 'verdict/*/*' 'diff/*'; do
        for file in "$1"/src/analysis/$place.c; do
            sed -e 's@"[^"]*"@""@g' -e "s@'[^']*'@@g" "$file" | awk -v file="${file#"$1"/}" '
                BEGIN {
                    allowed["src/analysis/rank/time/breakdown.c"] = "3 4 16384" # bits and their number; of memory: rows
                    allowed["src/analysis/rank/time/interval.c"] = "160" # bytes of a text
                    allowed["src/analysis/collective/clock/ends.c"] = "3" # thirds of a line; a meeting, and two ways
                    allowed["src/analysis/collective/clock/find.c"] = "3 6 20" # arrays in one; what is left of a round, below a ns
                    allowed["src/analysis/collective/match/groups_infer.c"] = "16" # so many ranks tell how steady groups are
                    allowed["src/analysis/collective/match/align.c"] = "8 128 1000" # rounds; of memory: samples, window; a scale
                    allowed["src/analysis/collective/match/align_pairs.c"] = "4 64 512 4096" # of memory
                    allowed["src/analysis/collective/wait/excess.c"] = "3" # the middle three
                    allowed["src/analysis/collective/wait/exposed.c"] = "4096" # of memory: parts before they are united
                    allowed["src/analysis/collective/wait/peers.c"] = "3" # bytes of a text
                    allowed["src/analysis/collective/match/behave_decide.c"] = "256" # room in memory
                    allowed["src/analysis/verdict/cause/asking.c"] = "64" # so many peers are enough to ask
                    allowed["src/analysis/verdict/graph/pack.c"] = "3 4 7 10 15 64" # bits: what is written is what is read
                    allowed["src/analysis/verdict/baseline/host_pieces.c"] = "8" # of memory
                    allowed["src/analysis/verdict/cause/doubts.c"] = "4 8" # bits
                    allowed["src/analysis/verdict/baseline/cells.c"] = "100" # hundredths
                    allowed["src/analysis/verdict/replay/changes.c"] = "256" # of a cache
                    allowed["src/analysis/verdict/replay/fold.c"] = "4" # of a fold: times are the same whatever it is
                    allowed["src/analysis/diff/test.c"] = "0.5 12" # a tie; the variance of ranks
                    allowed["src/analysis/diff/steps.c"] = "3" # of communication
                    allowed["src/analysis/diff/read.c"] = "24 40 63 96 128" # bytes of texts; bits
                    allowed["src/analysis/diff/runs.c"] = "3 4 64 100 256 1e9" # bytes of texts; a percentage; giga
                    allowed["src/analysis/diff/verdict.c"] = "10 96 160" # of a numeral; bytes of texts
                    allowed["src/analysis/diff/works.c"] = "32" # bytes of a word
                    allowed["src/analysis/verdict/phase/holds.c"] = "256" # bytes of a name
                    allowed["src/analysis/verdict/stragglers/shape.c"] = "8" # rounds of a search that ends by itself long before
                    allowed["src/analysis/chance.c"] = "3 4 6 24" # kurtosis: of the normal, of Student, and its error
                    allowed["src/analysis/student.c"] = "0.5 300" # the formula of Numerical Recipes
                    allowed["src/analysis/rank/time/repetition_statistics.c"] = "0.025 1.959963984540054 12" # 95 %; ranks
                    allowed["src/analysis/collective/wait/blame.c"] = "24 40 16384" # bits; of a search that ends long before
                    allowed["src/analysis/collective/wait/delay_costs.c"] = "31 64" # bits; of memory
                    allowed["src/analysis/verdict/stragglers/unmarked_steps.c"] = "4" # the first quarter may be a warm-up
                    allowed["src/analysis/verdict/whatif/changes.c"] = "3 100" # words of a label; percent
                    allowed["src/analysis/verdict/whatif/top.c"] = "100" # percent
                    allowed["src/analysis/verdict/stragglers/rows.c"] = "100 1000000000" # of percentages, and of texts
                }
                {
                    line = $0
                    while (1) { # comments, also over lines
                        if (inside) {
                            at = index(line, "*/")
                            if (at == 0) { line = ""; break }
                            line = substr(line, at + 2)
                            inside = 0
                        }
                        at = index(line, "/*")
                        if (at == 0) break
                        rest = substr(line, at + 2)
                        end = index(rest, "*/")
                        if (end == 0) { line = substr(line, 1, at - 1); inside = 1; break }
                        line = substr(line, 1, at - 1) substr(rest, end + 2)
                    }
                    if (line ~ /^#/) next
                    gsub(/<< 32/, "", line) # two indices as one key
                    gsub(/[A-Za-z_][A-Za-z_0-9]*/, "", line)
                    while (match(line, /[0-9]+(\.[0-9]+)?/)) {
                        number = substr(line, RSTART, RLENGTH)
                        reasoned = index(" " allowed[file] " ", " " number " ") > 0
                        if ((number + 0 > 2 || number ~ /\./) && !reasoned) print file ":" NR ": " number
                        line = substr(line, RSTART + RLENGTH)
                    }
                }'
        done
    done
}

found=$(numbers "$top")
check "every number that decides has its reason" test -z "$found"
[ -z "$found" ] || printf '%s\n' "$found"

copy=$(mktemp -d "${TMPDIR:-/tmp}/tlmpi-numbers.XXXXXX")
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/src" && cp -r "$top/src/analysis" "$copy/src/"
echo 'static const double enough = 3.5;' >>"$copy/src/analysis/verdict/stragglers/candidates.c"
check "a number without one is found" test -n "$(numbers "$copy")"
summary
