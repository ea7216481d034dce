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
      "the host works towards its next launch or call, or, after the last event, until its step ends")                 \
    V(TL_BOUND_LAUNCH, "launch_overhead",                                                                              \
      "from the end of a launch to the start of its work, if the work waits for nothing else")                         \
    V(TL_BOUND_KERNEL_KERNEL, "kernel_kernel_overhead",                                                                \
      "from the end of work to the start of the next work, which was queued and waited for it")                        \
    V(TL_BOUND_COMPUTE, "compute", "kernels that compute")                                                             \
    V(TL_BOUND_COMM, "communication", "communication after the last rank has arrived; all of it if it is not matched") \
    V(TL_BOUND_COPY, "copy", "copies and memsets")                                                                     \
    V(TL_BOUND_INPUT, "data_loading", "the host waits for input")                                                      \
    V(TL_BOUND_SYNC, "synchronisation",                                                                                \
      ("the host's waits for its device: from the end of the work to the host's return, and calls that wait for "      \
       "nothing"))                                                                                                     \
    V(TL_BOUND_PEER, "waiting_for_ranks", "communication until the last rank has arrived")                             \
    V(TL_BOUND_UNEXPLAINED, "unexplained",                                                                             \
      "work starts long after everything that it is known to have waited for; also the time before the first event")
typedef enum tl_bound { TL_BOUND_VALUES(TL_VALUE_NAME) TL_NBOUNDS } tl_bound;
TL_LABELS(bound);

#define TL_PATH_SUM_FIELDS(F, T)                                                                                       \
    F(T, I32, rank, KEY, "",                                                                                           \
      "traced rank; -1: sum over all ranks (not the path of the job, which is rank -1 of table path)")                 \
    F(T, I32, step, KEY, "", "step; -1: the whole recording, including time outside of steps")                         \
    F(T, I64, wall_ns, MEASURE, "ns",                                                                                  \
      "length of the step or path: the sum of the ten parts that follow; for a step with a mark the window in table "  \
      "step")                                                                                                          \
    F(T, I64, cpu_ns, MEASURE, "ns",                                                                                   \
      "part cpu_bound: the host works towards a launch, a call, or the end of the step")                               \
    F(T, I64, launch_ns, MEASURE, "ns",                                                                                \
      "part launch_overhead: from the end of a launch to the start of its work; the call itself is cpu_bound")         \
    F(T, I64, kernel_kernel_ns, MEASURE, "ns",                                                                         \
      "part kernel_kernel_overhead: from the end of work to the start of queued work that waited for it")              \
    F(T, I64, compute_ns, MEASURE, "ns", "compute")                                                                    \
    F(T, I64, comm_ns, MEASURE, "ns",                                                                                  \
      "communication after the last rank has arrived, and all communication that is not matched")                      \
    F(T, I64, copy_ns, MEASURE, "ns", "copies and memsets")                                                            \
    F(T, I64, input_ns, MEASURE, "ns", "part data_loading: the host waits for input")                                  \
    F(T, I64, sync_ns, MEASURE, "ns",                                                                                  \
      "part synchronisation: time that the host's waits for its device add to the work that they wait for")            \
    F(T, I64, peer_ns, MEASURE, "ns", "part waiting_for_ranks: communication until the last rank has arrived")         \
    F(T, I64, unexplained_ns, MEASURE, "ns", "part unexplained")                                                       \
    F(T, ENUM(bound), bound_by, MEASURE, "", "the largest of the parts")                                               \
    F(T, I32, peer, MEASURE, "",                                                                                       \
      "the rank that most of peer_ns was spent waiting for: critical_path continues there; -1: none, or unknown")
TL_TABLE(path_sum, TL_PATH_SUM_FIELDS);

#define TL_RANK_PATH_FIELDS(F, T)                                                                                      \
    F(T, I32, rank, KEY, "", "traced rank; -1: the job's path, as in table critical_path; -1 in path_sum: a sum")      \
    F(T, I64, number, KEY, "", "place on the rank's path, from 0")                                                     \
    F(T, I32, step, LABEL, "", "step, as in path_sum; -1: outside of all")                                             \
    F(T, ENUM(bound), what, LABEL, "", "what the rank's time was bound by, as in path_sum")                            \
    F(T, TIME, start_ns, LABEL, "ns",                                                                                  \
      "start, by the clock of the rank's device, as in table interval; each row starts where the row before ends, "    \
      "except after a hole between two recordings, and for rank -1 where the path changes rank")                       \
    F(T, TIME, end_ns, LABEL, "ns", "end")                                                                             \
    F(T, I64, duration_ns, MEASURE, "ns", "end less start")                                                            \
    F(T, NAME, name, LABEL, "",                                                                                        \
      "the kernel or copy; for time before work, and for host time, the work that follows; for host time before a "    \
      "wait the call, if another table has its name; for synchronisation the work that was waited for, else the call") \
    F(T, NAME, operator, LABEL, "", "operator around the launch or call, as in table interval")                        \
    F(T, NAME, annotation, LABEL, "", "user annotation around it, as in table interval")                               \
    F(T, I32, device, LABEL, "", "its device; -1: none")                                                               \
    F(T, I32, stream, LABEL, "", "its stream; -1: none")                                                               \
    F(T, I32, peer, LABEL, "",                                                                                         \
      "for waiting_for_ranks the rank that is waited for; for rank -1 the rank that the path is on; -1: none, or "     \
      "unknown")
TL_TABLE(rank_path_row, TL_RANK_PATH_FIELDS);

#endif
