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
    F(T, TEXT32, what, LABEL, "",                                                                                      \
      "what is compared: kernel time in common, device, world size, arithmetic of a step ...")                         \
    F(T, I32, differs, MEASURE, "", "1: because of this difference times are hardly comparable, or less reliable")     \
    F(T, TEXT256, a, MEASURE, "", "value of A")                                                                        \
    F(T, TEXT256, b, MEASURE, "", "value of B")
TL_TABLE(diff_run, TL_DIFF_RUN_FIELDS);

/* The parts of the time of a step. */
#define TL_DIFF_PART_VALUES(V)                                                                                         \
    V(TL_DIFF_STEP, "step", "all of the step")                                                                         \
    V(TL_DIFF_COMPUTE, "compute", "a compute kernel runs")                                                             \
    V(TL_DIFF_WAITING, "waiting", "exposed communication that is known to be waiting for other ranks")                 \
    V(TL_DIFF_TRANSFER, "transfer", "exposed communication in which all participants have arrived")                    \
    V(TL_DIFF_UNKNOWN, "unknown", "exposed communication that may be waiting or transfer in A or in B")                \
    V(TL_DIFF_COPY, "copy", "exposed copies and memsets")                                                              \
    V(TL_DIFF_IDLE, "idle", "no device work between the first and the last of the step")                               \
    V(TL_DIFF_OUTSIDE, "outside",                                                                                      \
      "before the first and after the last device work of the step; of a whole recording from the first operator or "  \
      "launch to the first device work, and after the last device work while the host waits for it")                   \
    V(TL_DIFF_REST, "not_attributed",                                                                                  \
      "the median step less the mean of the middle steps, which the other rows describe; remainders of divisions")     \
    V(TL_DIFF_LONG, "long_steps",                                                                                      \
      "not a part of the median step: mean of all steps less mean of the steps without those far above the median")
typedef enum tl_diff_part { TL_DIFF_PART_VALUES(TL_VALUE_NAME) TL_NDIFF_PARTS } tl_diff_part;
TL_LABELS(diff_part);

#define TL_DIFF_STEP_FIELDS(F, T)                                                                                      \
    F(T, I32, place, KEY, "",                                                                                          \
      "0: the step; then its parts, the largest change first, and not_attributed; last long_steps, if A or B has a "   \
      "step far above its median (parameter sure_sigmas)")                                                             \
    F(T, ENUM(diff_part), part, LABEL, "", "part of the step")                                                         \
    F(T, ENUM(parallelism), parallelism, LABEL, "",                                                                    \
      "for communication: what the process group divides among its ranks")                                             \
    F(T, ENUM(collective), kind, LABEL, "", "for communication: the collective")                                       \
    F(T, TEXT64, group, LABEL, "", "for communication in one group only: the ranks of the group")                      \
    F(T, I64, a_ns, MEASURE, "ns",                                                                                     \
      "time in A: for the step the median of the compared steps, without long ones; for a part the mean of the "       \
      "middle steps, which are those between the quartiles of the step time, without the shortest and the longest if " \
      "there are three or more")                                                                                       \
    F(T, I64, b_ns, MEASURE, "ns", "value of B")                                                                       \
    F(T, I64, change_ns, MEASURE, "ns", "b_ns - a_ns: those of the parts sum up to that of the step")                  \
    F(T, F64, share, MEASURE, "", "change_ns / a_ns of the step")                                                      \
    F(T, F64, p_value, MEASURE, "",                                                                                    \
      "probability of such a difference by chance: rank test (Mann-Whitney) over the compared steps, or t test over "  \
      "the ratios of steps with equal numbers, if these vary alike; none: too few steps, or no steps. For long_steps " \
      "Fisher's exact test over the number of long steps, without one odd step; none if no test could separate so "    \
      "few from chance")                                                                                               \
    F(T, I32, sure, MEASURE, "",                                                                                       \
      "1: p_value is below verdict_alpha, and the absolute share at least verdict_least_cost (tlmpi describe "         \
      "parameters), and of compute the change at least diff_least of it; the step itself not if such compute makes "   \
      "it")
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
      "ranks of A: one rank, if A and B have the same ranks; else the ranks with the same names of compute kernels")   \
    F(T, TEXT64, b_ranks, LABEL, "", "ranks of B")                                                                     \
    F(T, I64, step_ns, MEASURE, "ns",                                                                                  \
      "change of the step, mean of the middle steps: the sum of the changes in the following columns")                 \
    F(T, I64, compute_ns, MEASURE, "ns", "change of compute")                                                          \
    F(T, I64, waiting_ns, MEASURE, "ns", "change of waiting")                                                          \
    F(T, I64, transfer_ns, MEASURE, "ns", "change of transfer")                                                        \
    F(T, I64, unknown_ns, MEASURE, "ns", "change of communication that may be waiting or transfer")                    \
    F(T, I64, copy_ns, MEASURE, "ns", "change of copies")                                                              \
    F(T, I64, idle_ns, MEASURE, "ns", "change of idle time")                                                           \
    F(T, I64, outside_ns, MEASURE, "ns", "change of time outside of device work, and remainders of divisions")
TL_TABLE(diff_breakdown, TL_DIFF_BREAKDOWN_FIELDS);

/* What happened in B to a kernel, operator or path of A. */
#define TL_DIFF_CHANGE_VALUES(V)                                                                                       \
    V(TL_DIFF_SAME, "same",                                                                                            \
      "no relevant change, or possibly by chance; for a collective also: the other run could not match all of its "    \
      "kind")                                                                                                          \
    V(TL_DIFF_ADDED, "added", "only in B")                                                                             \
    V(TL_DIFF_REMOVED, "removed", "only in A")                                                                         \
    V(TL_DIFF_REPLACED, "replaced",                                                                                    \
      "another one replaces it: under the same operator, or with a name that differs in numbers only")                 \
    V(TL_DIFF_COUNT, "count",                                                                                          \
      "it runs more or less often, by more than a recording that begins and ends within a step can cause")             \
    V(TL_DIFF_TIME, "time",                                                                                            \
      "one run of it takes longer or shorter by diff_least or more; for kernels, if steps are tested, by more than "   \
      "chance")                                                                                                        \
    V(TL_DIFF_BOTH, "count_and_time", "both")
typedef enum tl_diff_change { TL_DIFF_CHANGE_VALUES(TL_VALUE_NAME) } tl_diff_change;
TL_LABELS(diff_change);

/* Tables diff_kernel, diff_operator, diff_collective and diff_idle: rows of A and B aligned by name; and
 * diff_call_path, the merged call tree. */
#define TL_DIFF_WORK_FIELDS(F, T)                                                                                      \
    F(T, I32, place, KEY, "",                                                                                          \
      "1 for the largest change of time, and so on; operators that copy from the device come last, since their time "  \
      "includes waiting; call paths in the order of the tree, the largest change below a node first")                  \
    F(T, I32, depth, LABEL, "", "for a call path: number of nodes around it; else 0")                                  \
    F(T, ENUM(diff_change), change, MEASURE, "", "kind of change")                                                     \
    F(T, F64, a_count, MEASURE, "",                                                                                    \
      "how often in a step, of A: of kernels and collectives in the compared steps; of operators, call paths and "     \
      "idle "                                                                                                          \
      "time in all marked steps; where steps are not told apart in the whole recording, by its steps. The mean over "  \
      "ranks; of other ranks than those of A by role, each of which weighs as in A")                                   \
    F(T, F64, b_count, MEASURE, "", "the same of B")                                                                   \
    F(T, I64, a_ns, MEASURE, "ns", "time in a step of A, counted in the same way")                                     \
    F(T, I64, b_ns, MEASURE, "ns", "the same of B")                                                                    \
    F(T, I64, change_ns, MEASURE, "ns", "b_ns - a_ns")                                                                 \
    F(T, I64, by_count_ns, MEASURE, "ns",                                                                              \
      "the part of change_ns that the change of the count explains; the rest is due to the time of each one")          \
    F(T, F64, share, MEASURE, "", "change_ns / the step of A")                                                         \
    F(T, F64, a_each_ns, MEASURE, "ns", "time of one in A; none: not in A")                                            \
    F(T, F64, b_each_ns, MEASURE, "ns", "the same of B")                                                               \
    F(T, F64, p_value, MEASURE, "",                                                                                    \
      "of kernels chance of times of one as far apart if those of A and B differ by up to diff_least, as those of "    \
      "two devices: t test over their means in the compared steps, or over the ratios of steps of one number, where "  \
      "they vary alike; none: fewer than two steps, or steps not told apart. Of a kernel that changes on some ranks "  \
      "times the ranks that are tested")                                                                               \
    F(T, I32, sure, MEASURE, "",                                                                                       \
      "1: the change is not by chance, and large enough for the verdict (parameters diff_*); never for collectives, "  \
      "idle time, and times of communication and operators, which include waiting")                                    \
    F(T, TEXT64, ranks, LABEL, "",                                                                                     \
      "for a kernel that changes on at most half of the ranks: these ranks of B; else empty")                          \
    F(T, I64, ranks_ns, MEASURE, "ns", "the part of change_ns on these ranks; 0: no such ranks")                       \
    F(T, F64, ranks_times, MEASURE, "",                                                                                \
      "its time on these ranks in a step of B / in a step of A; none: no such ranks")                                  \
    F(T, F64, ranks_a_count, MEASURE, "", "count in a step of A on one of these ranks; none: no such ranks")           \
    F(T, F64, ranks_b_count, MEASURE, "", "the same of B")                                                             \
    F(T, NAME, kind, LABEL, "",                                                                                        \
      "for a kernel compute, comm, memcpy ...; for a collective waiting or transfer; for idle time how the device "    \
      "ran dry and what the host did; for a call path operator, annotation, call or work; in diff_operator operator, " \
      "or call: one that only waits for the device (table launch)")                                                    \
    F(T, NAME, operator, LABEL, "", "for a kernel: the innermost operator that launches most of it; none: unknown")    \
    F(T, NAME, name, LABEL, "", "name; the name of A if the names differ")                                             \
    F(T, NAME, b_name, LABEL, "", "the name of B, if it differs")
TL_TABLE(diff_kernel, TL_DIFF_WORK_FIELDS);
typedef tl_diff_kernel tl_diff_work;
#define TL_DIFF_CALL "call"
extern const tl_schema tl_diff_operator_schema, tl_diff_call_path_schema, tl_diff_collective_schema,
    tl_diff_idle_schema;

/* The verdict: what is named, in this order. */
#define TL_DIFF_FOUND_FIELDS(F, T)                                                                                     \
    F(T, I32, place, KEY, "",                                                                                          \
      "0: the step; then the sure changes, the largest first; last a large not_attributed part")                       \
    F(T, ENUM(diff_part), part, LABEL, "", "part of the step")                                                         \
    F(T, ENUM(diff_change), change, LABEL, "",                                                                         \
      "kind of change; same with a change_ns of transfer: as long as before, but overlapped more or less")             \
    F(T, I64, change_ns, MEASURE, "ns",                                                                                \
      "change of the time of a step; 0 for communication kernels, whose time is in the rows of parts")                 \
    F(T, F64, share, MEASURE, "", "change_ns / the step of A")                                                         \
    F(T, F64, p_value, MEASURE, "", "as in the table that the row comes from")                                         \
    F(T, I32, sure, MEASURE, "",                                                                                       \
      "1: not by chance; 0: the largest uncertain change, if the step itself changed for sure")                        \
    F(T, I32, by_verdict, MEASURE, "",                                                                                 \
      "1: the compared steps alone do not exclude chance, but the verdict on the longer run names `rank` with trust "  \
      "high, and the verdict on the other run does not name it")                                                       \
    F(T, I32, rank, MEASURE, "",                                                                                       \
      "for waiting the rank that most of the change is caused by; for other parts the rank with most of the change; "  \
      "-1: none")                                                                                                      \
    F(T, TEXT64, ranks, LABEL, "",                                                                                     \
      "for a kernel that does not change on all ranks: the ranks of B on which it changes")                            \
    F(T, F64, a_count, MEASURE, "", "count in a step of A, on one of `ranks` if there are any; none for parts")        \
    F(T, F64, b_count, MEASURE, "", "the same of B")                                                                   \
    F(T, F64, times, MEASURE, "",                                                                                      \
      "time of one in B / time of one in A; with `ranks` its time in a step; for compute that of nearly all kernels, " \
      "if they change alike; none: unknown")                                                                           \
    F(T, NAME, name, LABEL, "", "kernel, operator or idle class; for communication the collective and its group")      \
    F(T, NAME, b_name, LABEL, "", "the name of B, if it differs")                                                      \
    F(T, NAME, operator, LABEL, "", "for a kernel its operator")                                                       \
    F(T, NAME, why, LABEL, "",                                                                                         \
      "the reason: for waiting for a rank the kernel or class of idle time of that rank with the largest change; for " \
      "transfer the kernel that b_name replaces; for idle time, outside, and waiting for a rank the activity of the "  \
      "host with at least half of the change: waiting for input, or a call that waits for the device")                 \
    F(T, ENUM(diff_part), why_part, LABEL, "",                                                                         \
      "kind of reason: compute: a kernel or copy; idle: a call that waits, or a class of idle time; outside: waiting " \
      "for input; transfer: a collective whose transfer causes the waiting")                                           \
    F(T, I64, why_ns, MEASURE, "ns", "change of the reason's time in a step, of that rank or mean over the ranks")     \
    F(T, F64, why_a_count, MEASURE, "",                                                                                \
      "for a call that waits: how often in a step of A it is made; none: `why` is no such call")                       \
    F(T, F64, why_b_count, MEASURE, "", "the same of B")
TL_TABLE(diff_found, TL_DIFF_FOUND_FIELDS);

#endif
