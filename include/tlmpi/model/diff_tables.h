/* diff_tables.h - the tables that compare two results, A and B, column by column.
 *
 * Conventions: a change is B less A.  Times are those of one step and one rank, the mean over the ranks, unless a
 * column says otherwise.  Name ids refer to the names of the comparison (tl_diff.names), not to a file's.
 */
#ifndef TLMPI_MODEL_DIFF_TABLES_H
#define TLMPI_MODEL_DIFF_TABLES_H

#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/schema.h"
#include <stdbool.h>

/* Differences between two runs other than times, and what the comparison of times rests on. */
#define TL_DIFF_RUN_FIELDS(F, T)                                                                                       \
    F(T, I32, place, KEY, "", "1, 2, 3 ...: what matters most first")                                                  \
    F(T, TEXT32, what, LABEL, "", "kernel time in common, device, world size, arithmetic of a step ...")               \
    F(T, I32, differs, MEASURE, "", "1: A and B differ in it so that times are hardly comparable, or say less")        \
    F(T, TEXT256, a, MEASURE, "", "of A")                                                                              \
    F(T, TEXT256, b, MEASURE, "", "of B")
TL_TABLE(diff_run, TL_DIFF_RUN_FIELDS);

/* The parts of the time of a step. */
#define TL_DIFF_PART_VALUES(V)                                                                                         \
    V(TL_DIFF_STEP, "step", "all of the step")                                                                         \
    V(TL_DIFF_COMPUTE, "compute", "a compute kernel runs")                                                             \
    V(TL_DIFF_WAITING, "waiting", "exposed communication that is known to be waiting for other ranks")                 \
    V(TL_DIFF_TRANSFER, "transfer", "exposed communication in which all ranks that take part have come")               \
    V(TL_DIFF_UNKNOWN, "unknown", "exposed communication of which A or B cannot tell waiting from transfer")           \
    V(TL_DIFF_COPY, "copy", "exposed copies and memsets")                                                              \
    V(TL_DIFF_IDLE, "idle", "no device work between the first and the last of the step")                               \
    V(TL_DIFF_OUTSIDE, "outside", "before the first and after the last device work of the step")                       \
    V(TL_DIFF_REST, "not_attributed",                                                                                  \
      "the median step less the mean of the middle steps, which the other rows are of; what is left of a division")    \
    V(TL_DIFF_LONG, "long_steps",                                                                                      \
      "no part of the median step: the mean of all steps less that of the steps that are not far above the median")
typedef enum tl_diff_part { TL_DIFF_PART_VALUES(TL_VALUE_NAME) TL_NDIFF_PARTS } tl_diff_part;
TL_LABELS(diff_part);

#define TL_DIFF_STEP_FIELDS(F, T)                                                                                      \
    F(T, I32, place, KEY, "",                                                                                          \
      "0: the step; then its parts, the largest change first, and what is not attributed; behind them long_steps, "    \
      "where a side has a step far above its median (parameter sure_sigmas)")                                          \
    F(T, ENUM(diff_part), part, LABEL, "", "part of the step")                                                         \
    F(T, ENUM(parallelism), parallelism, LABEL, "",                                                                    \
      "of communication: what the process group divides among its ranks")                                              \
    F(T, ENUM(collective), kind, LABEL, "", "of communication: the collective")                                        \
    F(T, TEXT64, group, LABEL, "", "of communication: the ranks of the group, where all of it is in one group")        \
    F(T, I64, a_ns, MEASURE, "ns",                                                                                     \
      "of A: the median of the compared steps for the step, without long ones; for a part the mean of the middle "     \
      "steps, those between the quartiles of the time of the step; of three or more neither the shortest nor the "     \
      "longest")                                                                                                       \
    F(T, I64, b_ns, MEASURE, "ns", "of B")                                                                             \
    F(T, I64, change_ns, MEASURE, "ns", "b_ns - a_ns: those of the parts sum up to that of the step")                  \
    F(T, F64, share, MEASURE, "", "change_ns / a_ns of the step")                                                      \
    F(T, F64, p_value, MEASURE, "",                                                                                    \
      "chance of steps that lie as far apart if A and B do not differ: rank test (Mann-Whitney) over the compared "    \
      "steps, or t test over the ratios of those of one number, where they vary alike; none where a side has too few " \
      "steps, or steps are not told apart. Of long_steps Fisher's exact test over how many steps are long, one odd "   \
      "step left out; none where so few are long that no test could tell them from chance")                            \
    F(T, I32, sure, MEASURE, "",                                                                                       \
      "1: p_value is below verdict_alpha, and share, up or down, at least verdict_least_cost (tlmpi describe "         \
      "parameters)")
TL_TABLE(diff_step, TL_DIFF_STEP_FIELDS);

/* Facts that words need: how many steps are compared of a side, and of how long a step the times are. */
typedef struct tl_diff_basis {
    size_t steps[2];    /* compared; 0: steps are not marked, or the device runs behind the host's marks */
    size_t nlong[2];    /* of these, far above the median */
    size_t ranks[2];    /* compared; 0: nothing of the side ran on a device, and the side cannot be compared */
    int64_t mean_ns[2]; /* mean of the compared steps */
    bool paired;        /* steps of one number are compared with one another */
    bool whole;         /* whole recordings are compared: of a side the steps are not known */
    bool by_role;       /* ranks of one role are compared with one another, not ranks of one number */
    bool other_work;    /* A and B have few kernels in common: no kernel or operator is named */
} tl_diff_basis;

/* The same for each rank, or for ranks that do the same. */
#define TL_DIFF_BREAKDOWN_FIELDS(F, T)                                                                                 \
    F(T, I32, place, KEY, "", "1, 2, 3 ... in order of ranks")                                                         \
    F(T, TEXT64, a_ranks, LABEL, "",                                                                                   \
      "ranks of A: the rank of that number, where A and B have the same; else the ranks whose compute kernels have "   \
      "the same names")                                                                                                \
    F(T, TEXT64, b_ranks, LABEL, "", "ranks of B")                                                                     \
    F(T, I64, step_ns, MEASURE, "ns",                                                                                  \
      "change of the step, mean of the middle steps; the sum of the changes behind it")                                \
    F(T, I64, compute_ns, MEASURE, "ns", "change of compute")                                                          \
    F(T, I64, waiting_ns, MEASURE, "ns", "change of waiting")                                                          \
    F(T, I64, transfer_ns, MEASURE, "ns", "change of transfer")                                                        \
    F(T, I64, unknown_ns, MEASURE, "ns", "change of communication that is waiting or transfer")                        \
    F(T, I64, copy_ns, MEASURE, "ns", "change of copies")                                                              \
    F(T, I64, idle_ns, MEASURE, "ns", "change of idle time")                                                           \
    F(T, I64, outside_ns, MEASURE, "ns", "change of time outside of device work, and what is left of divisions")
TL_TABLE(diff_breakdown, TL_DIFF_BREAKDOWN_FIELDS);

/* What happened in B to a kernel, operator or path of A. */
#define TL_DIFF_CHANGE_VALUES(V)                                                                                       \
    V(TL_DIFF_SAME, "same",                                                                                            \
      "no change that counts, or is told from chance; of a collective also: the other side could not match all of "    \
      "its kind")                                                                                                      \
    V(TL_DIFF_ADDED, "added", "B alone has it")                                                                        \
    V(TL_DIFF_REMOVED, "removed", "A alone has it")                                                                    \
    V(TL_DIFF_REPLACED, "replaced",                                                                                    \
      "another took its place: under the same operator, or with a name that differs in numbers alone")                 \
    V(TL_DIFF_COUNT, "count",                                                                                          \
      "it runs more or less often: by more than a recording that begins and ends within a step makes, where whole "    \
      "recordings are compared")                                                                                       \
    V(TL_DIFF_TIME, "time",                                                                                            \
      "one takes longer or shorter, by diff_least at least: of kernels by more than chance, where steps are tested")   \
    V(TL_DIFF_BOTH, "count_and_time", "both")
typedef enum tl_diff_change { TL_DIFF_CHANGE_VALUES(TL_VALUE_NAME) } tl_diff_change;
TL_LABELS(diff_change);

/* Tables diff_kernel, diff_operator, diff_collective and diff_idle: rows of A and B aligned by name; and
 * diff_call_path, the merged call tree. */
#define TL_DIFF_WORK_FIELDS(F, T)                                                                                      \
    F(T, I32, place, KEY, "",                                                                                          \
      "1 for the largest change of time, and so on, operators that copy from the device, whose time holds waiting, "   \
      "last; of call paths down the tree, the largest change below a node first")                                      \
    F(T, I32, depth, LABEL, "", "of a call path: nodes around it; else 0")                                             \
    F(T, ENUM(diff_change), change, MEASURE, "", "what became of it")                                                  \
    F(T, F64, a_count, MEASURE, "",                                                                                    \
      "how often in a step, of A: of kernels and collectives in the compared steps; of operators, call paths and idle "\
      "time in all marked steps; where steps are not told apart in the whole recording, by its steps. The mean over "  \
      "ranks; of other ranks than those of A by role, each of which weighs as in A")                                   \
    F(T, F64, b_count, MEASURE, "", "how often, of B")                                                                 \
    F(T, I64, a_ns, MEASURE, "ns", "time, of A, likewise")                                                             \
    F(T, I64, b_ns, MEASURE, "ns", "time, of B")                                                                       \
    F(T, I64, change_ns, MEASURE, "ns", "b_ns - a_ns")                                                                 \
    F(T, I64, by_count_ns, MEASURE, "ns",                                                                              \
      "the part of it that one more or less often makes; the rest is by time of one")                                  \
    F(T, F64, share, MEASURE, "", "change_ns / the step of A")                                                         \
    F(T, F64, a_each_ns, MEASURE, "ns", "time of one, of A; none where it has none")                                   \
    F(T, F64, b_each_ns, MEASURE, "ns", "time of one, of B")                                                           \
    F(T, F64, p_value, MEASURE, "",                                                                                    \
      "of kernels chance of times of one as far apart if those of A and B differ by up to diff_least, as those of "    \
      "two devices: t test over their means in the compared steps, or over the ratios of steps of one number, where "  \
      "they vary alike; none: fewer than two steps, or steps not told apart. Of a kernel that changes on some ranks "  \
      "times the ranks that are tested")                                                                               \
    F(T, I32, sure, MEASURE, "",                                                                                       \
      "1: the change is told from chance, and large enough to be named in the verdict (parameters diff_*); never of "  \
      "collectives and idle time, nor of times of communication and operators: they hold waiting")                     \
    F(T, TEXT64, ranks, LABEL, "",                                                                                     \
      "of a kernel that changes on half of the ranks or fewer, and hardly on the others: these ranks of B; else empty")\
    F(T, I64, ranks_ns, MEASURE, "ns", "the part of change_ns on these ranks; 0: no such ranks")                       \
    F(T, F64, ranks_times, MEASURE, "", "its time on these ranks in a step of B / in one of A; none: no such ranks")   \
    F(T, F64, ranks_a_count, MEASURE, "", "how often in a step of A on one of these ranks; none: no such ranks")       \
    F(T, F64, ranks_b_count, MEASURE, "", "how often, of B")                                                           \
    F(T, NAME, kind, LABEL, "",                                                                                        \
      "kernel: compute, comm, memcpy ...; collective: waiting or transfer; idle: how the device ran dry and what the " \
      "host did; call path: operator, annotation, call or work")                                                       \
    F(T, NAME, operator, LABEL, "", "of a kernel: the innermost operator that launches most of it; none: not known")   \
    F(T, NAME, name, LABEL, "", "name; of A where the names differ")                                                   \
    F(T, NAME, b_name, LABEL, "", "the name of B, where it differs")
TL_TABLE(diff_kernel, TL_DIFF_WORK_FIELDS);
typedef tl_diff_kernel tl_diff_work;
extern const tl_schema tl_diff_operator_schema, tl_diff_call_path_schema, tl_diff_collective_schema,
    tl_diff_idle_schema;

/* The verdict: what is named, in this order. */
#define TL_DIFF_FOUND_FIELDS(F, T)                                                                                     \
    F(T, I32, place, KEY, "",                                                                                          \
      "0: the step; then what is sure, the largest change first; last a large part that is not attributed")            \
    F(T, ENUM(diff_part), part, LABEL, "", "the part of the step that it is in")                                       \
    F(T, ENUM(diff_change), change, LABEL, "",                                                                         \
      "what became of it; same: with a change_ns of transfer, which takes as long, but is overlapped more or less")    \
    F(T, I64, change_ns, MEASURE, "ns",                                                                                \
      "change of a step; 0 of a kernel of communication, whose time is in the rows of parts")                          \
    F(T, F64, share, MEASURE, "", "change_ns / the step of A")                                                         \
    F(T, F64, p_value, MEASURE, "", "as in the table that has it")                                                     \
    F(T, I32, sure, MEASURE, "",                                                                                       \
      "1: told from chance; 0: the largest of what is not, of a difference of the step that is")                       \
    F(T, I32, by_verdict, MEASURE, "",                                                                                 \
      "1: not told from chance by the steps compared, but the verdict on the run that takes longer names `rank` with " \
      "trust high, and that on the other run does not name it")                                                        \
    F(T, I32, rank, MEASURE, "",                                                                                       \
      "of waiting: the rank that most of the change is for; of other parts: the rank that has most of it; -1: none")   \
    F(T, TEXT64, ranks, LABEL, "", "of a kernel: the ranks (by role those of B) that it changes on, where not on all") \
    F(T, F64, a_count, MEASURE, "", "how often in a step, of A, on one of `ranks` if there are any; none of parts")    \
    F(T, F64, b_count, MEASURE, "", "how often in a step, of B")                                                       \
    F(T, F64, times, MEASURE, "",                                                                                      \
      "time of one in B / time of one in A, on ranks its time in a step; of compute: of nearly all kernels, where "    \
      "they change alike; none: not known")                                                                            \
    F(T, NAME, name, LABEL, "", "kernel, operator or idle class; of communication the collective and its group")       \
    F(T, NAME, b_name, LABEL, "", "the name of B, where it differs")                                                   \
    F(T, NAME, operator, LABEL, "", "of a kernel its operator")                                                        \
    F(T, NAME, why, LABEL, "",                                                                                         \
      "of waiting for a rank: the kernel, or class of idle time, of that rank that changed most; of transfer: the "    \
      "kernel that b_name took the place of; of idle time, outside, and waiting for a rank: what the host did for "    \
      "half or more of the change, which is waiting for input, or a call that waits for the device, after which it "   \
      "is idle")                                                                                                       \
    F(T, ENUM(diff_part), why_part, LABEL, "",                                                                         \
      "what why is: compute: a kernel or copy; idle: a call that waits, or a class of idle time; outside: waiting for "\
      "input; transfer: a collective, whose transfer the waiting follows from")                                        \
    F(T, I64, why_ns, MEASURE, "ns", "by how much, in a step of that rank, or in the mean over the ranks")             \
    F(T, F64, why_a_count, MEASURE, "",                                                                                \
      "of a call that waits: how often in a step devices are idle after it, of A; none: why is no such call")          \
    F(T, F64, why_b_count, MEASURE, "", "how often, of B")
TL_TABLE(diff_found, TL_DIFF_FOUND_FIELDS);

#endif
