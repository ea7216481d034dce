/* path_tables.h - the tables of a result file about each rank's own critical path, column by column.
 *
 *     host      (launch a)---->(launch b)............(synchronise      )-->(launch c)
 *     device       [ a     ]      [ b: all-reduce       ]                    [ c ]
 *     path      ccc[ a     ]ccccccl[wwwwwwww|mmmmmmmmmmm]sscccccccccccccccccl[ c ]
 *
 *     c: the host works, l: from a launch to the start, w: another rank has not come, m: communication,
 *     s: synchronisation
 *
 * The path of a rank leads from the last known instant of the rank back to the first, at every instant to what was
 * waited for last (graph.h).  If that is another rank in a collective, the path continues with what the rank itself did
 * before it arrived, and names the awaited rank, which table critical_path follows.  So the path contains each instant
 * of the rank once, and the part of it in the window of a step (table step) is the path of that step, as in table
 * breakdown.  The time of a rank that marks no steps is in the step whose work it leads to.
 */
#ifndef TLMPI_MODEL_PATH_TABLES_H
#define TLMPI_MODEL_PATH_TABLES_H

#include "tlmpi/model/schema.h"

/* What a rank's time is bound by at an instant. */
#define TL_BOUND_VALUES(V)                                                                                             \
    V(TL_BOUND_CPU, "cpu_bound",                                                                                       \
      "the host works towards its next launch or call, or, after all that is recorded, until its step ends")           \
    V(TL_BOUND_LAUNCH, "launch_overhead",                                                                              \
      "from the end of a launch to the start of its work, which nothing else holds")                                   \
    V(TL_BOUND_KERNEL_KERNEL, "kernel_kernel_overhead",                                                                \
      "from the end of work to the start of the next, which was queued and had waited for it")                         \
    V(TL_BOUND_COMPUTE, "compute", "kernels that compute")                                                             \
    V(TL_BOUND_COMM, "communication",                                                                                  \
      "communication, once the last rank had come; where it is not matched, all of it")                                \
    V(TL_BOUND_COPY, "copy", "copies and memsets")                                                                     \
    V(TL_BOUND_INPUT, "data_loading", "the host waits for input")                                                      \
    V(TL_BOUND_SYNC, "synchronisation",                                                                                \
      ("the host's waits for its device: from the end of the work to the host's return, and calls that wait for "      \
       "nothing"))                                                                                                     \
    V(TL_BOUND_PEER, "waiting_for_ranks", "communication that has begun, until the last rank comes")                   \
    V(TL_BOUND_UNEXPLAINED, "unexplained",                                                                             \
      "work starts long after all that it is known to wait for; and what is before the first event")
typedef enum tl_bound { TL_BOUND_VALUES(TL_VALUE_NAME) TL_NBOUNDS } tl_bound;
TL_LABELS(bound);

#define TL_PATH_SUM_FIELDS(F, T)                                                                                       \
    F(T, I32, rank, KEY, "",                                                                                           \
      "traced rank; -1: sum over all ranks, not the path of the job, which rank -1 is in table path")                  \
    F(T, I32, step, KEY, "", "step; -1: the whole recording, what is outside of steps included")                       \
    F(T, I64, wall_ns, MEASURE, "ns",                                                                                  \
      "how long the step, or the path, is: the sum of the ten parts that follow, and for a step with a mark its "      \
      "window in table step")                                                                                          \
    F(T, I64, cpu_ns, MEASURE, "ns", "cpu_bound: the host works towards a launch, a call, or the end of the step")     \
    F(T, I64, launch_ns, MEASURE, "ns",                                                                                \
      "launch_overhead: from the end of a launch to the start of its work; the call itself is the host's work")        \
    F(T, I64, kernel_kernel_ns, MEASURE, "ns",                                                                         \
      "kernel_kernel_overhead: from the end of work to the start of queued work that waited for it")                   \
    F(T, I64, compute_ns, MEASURE, "ns", "compute")                                                                    \
    F(T, I64, comm_ns, MEASURE, "ns", "communication once the last rank had come, and all that is not matched")        \
    F(T, I64, copy_ns, MEASURE, "ns", "copies and memsets")                                                            \
    F(T, I64, input_ns, MEASURE, "ns", "data_loading: the host waits for input")                                       \
    F(T, I64, sync_ns, MEASURE, "ns",                                                                                  \
      "synchronisation: what the host's waits for its device add to the work that they wait for")                      \
    F(T, I64, peer_ns, MEASURE, "ns", "waiting_for_ranks: in communication, until the last rank came")                 \
    F(T, I64, unexplained_ns, MEASURE, "ns", "unexplained")                                                            \
    F(T, ENUM(bound), bound_by, MEASURE, "", "the largest of the parts")                                               \
    F(T, I32, peer, MEASURE, "",                                                                                       \
      "the rank that most of peer_ns was waited for: critical_path goes on there; -1: none, or unknown")
TL_TABLE(path_sum, TL_PATH_SUM_FIELDS);

#define TL_RANK_PATH_FIELDS(F, T)                                                                                      \
    F(T, I32, rank, KEY, "", "traced rank; -1: the job's path, as in table critical_path; -1 in path_sum: a sum")      \
    F(T, I64, number, KEY, "", "place on the rank's path, from 0")                                                     \
    F(T, I32, step, LABEL, "", "step, as in path_sum; -1: outside of all")                                             \
    F(T, ENUM(bound), what, LABEL, "", "what the rank's time was bound by, as in path_sum")                            \
    F(T, TIME, start_ns, LABEL, "ns",                                                                                  \
      "begin, by the clock of the rank's device, as in table interval; each row begins where the one before ends, of " \
      "rank -1 if that is of the same rank, and if no hole between two recordings of the job parts them")              \
    F(T, TIME, end_ns, LABEL, "ns", "end")                                                                             \
    F(T, I64, duration_ns, MEASURE, "ns", "end less start")                                                            \
    F(T, NAME, name, LABEL, "",                                                                                        \
      "the kernel or copy; of what lies before work, and of the host, the kernel that is launched or starts then; of " \
      "the host before a wait the call, where another table has its name; of synchronisation the work that was "       \
      "waited for, else the call")                                                                                     \
    F(T, NAME, operator, LABEL, "", "operator around that launch or call, as in table interval")                       \
    F(T, NAME, annotation, LABEL, "", "user annotation around it, as in table interval")                               \
    F(T, I32, device, LABEL, "", "device of that, -1 for none")                                                        \
    F(T, I32, stream, LABEL, "", "stream of that, -1 for none")                                                        \
    F(T, I32, peer, LABEL, "",                                                                                         \
      "of waiting_for_ranks the rank that is waited for; of rank -1 the rank whose time it is; -1: none, or unknown")
TL_TABLE(rank_path_row, TL_RANK_PATH_FIELDS);

#endif
