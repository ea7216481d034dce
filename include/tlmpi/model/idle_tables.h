/* idle_tables.h - the tables that say why devices were idle.
 *
 * A gap is a stretch of time in which nothing runs on a device.  A gap shorter than a threshold is noise: noise is
 * counted and summed.  The others (macro gaps) are classified on two axes: how the device ran dry (drain_type), and
 * what the host did meanwhile (cpu_during_gap).
 */
#ifndef TLMPI_MODEL_IDLE_TABLES_H
#define TLMPI_MODEL_IDLE_TABLES_H

#include "tlmpi/model/schema.h"

/* How the device ran dry.  ALL and NOISE occur in rows of sums only. */
#define TL_DRAIN_VALUES(V)                                                                                             \
    V(TL_DRAIN_ALL, "ALL", "all macro gaps")                                                                           \
    V(TL_DRAIN_NOISE, "noise", "gaps below the threshold `noise`, not classified")                                     \
    V(TL_DRAIN_STARVED, "starved", "the host launched work too late")                                                  \
    V(TL_DRAIN_SYNC, "sync_drain", "the host waited until the device was done before it launched more work")
typedef enum tl_drain { TL_DRAIN_VALUES(TL_VALUE_NAME) TL_NDRAINS } tl_drain;
TL_LABELS(drain);

/* The kind of call that waited for the device. */
#define TL_WAIT_VALUES(V)                                                                                              \
    V(TL_SYNC_NONE, "none", "no call waited")                                                                          \
    V(TL_SYNC_DEVICE, "DEVICE_SYNC", "for the device")                                                                 \
    V(TL_SYNC_STREAM, "STREAM_SYNC", "for a stream")                                                                   \
    V(TL_SYNC_EVENT, "EVENT_SYNC", "for an event")                                                                     \
    V(TL_SYNC_H2D, "H2D_COPY", "a blocking copy to the device")                                                        \
    V(TL_SYNC_D2H, "D2H_COPY", "a blocking copy from the device")                                                      \
    V(TL_SYNC_IMPLICIT, "IMPLICIT_SYNC", "a call that waits as a side effect")
typedef enum tl_sync_kind { TL_WAIT_VALUES(TL_VALUE_NAME) TL_NSYNCS } tl_sync_kind;
TL_LABELS(wait);

/* What the host did during the gap. */
#define TL_DOING_VALUES(V)                                                                                             \
    V(TL_DOING_ALL, "ALL", "all macro gaps")                                                                           \
    V(TL_DOING_NOISE, "noise", "gaps below the threshold `noise`, not classified")                                     \
    V(TL_DOING_LAUNCH_ANOMALY, "LAUNCH_ANOMALY",                                                                       \
      "the device was slow to start work that was launched during the gap or, prequeued, before it")                   \
    V(TL_DOING_LAUNCH_OVERHEAD, "LAUNCH_OVERHEAD_ONLY", "the launch followed at once; the gap is its latency")         \
    V(TL_DOING_RUNTIME, "RUNTIME_DOMINATED",                                                                           \
      "the host was in calls of the runtime or driver; call_class and call say which")                                 \
    V(TL_DOING_CPU, "CPU_DOMINATED", "the host was busy with operators or Python; dominant_op says which")             \
    V(TL_DOING_UNTRACED, "CPU_UNTRACED",                                                                               \
      "the host launched late, for reasons that are mostly not in the trace: a data loader, other code")               \
    V(TL_DOING_NO_TRACE, "NO_CPU_TRACE", "the host launched late, and the trace has no operators")                     \
    V(TL_DOING_GRAPH, "GRAPH_INTERNAL", "between two nodes of one graph launch")                                       \
    V(TL_DOING_DEPENDENCY, "DEPENDENCY_WAIT",                                                                          \
      "the work was queued in time, and its stream waited for an event of another stream")                             \
    V(TL_DOING_UNRECORDED, "WORK_NOT_RECORDED", "possibly not idle: the trace lacks work that was launched")
typedef enum tl_doing { TL_DOING_VALUES(TL_VALUE_NAME) TL_NDOINGS } tl_doing;
TL_LABELS(doing);

/* The purpose of a runtime or driver call. */
#define TL_CALL_VALUES(V)                                                                                              \
    V(TL_CALL_NONE, "none", "no call")                                                                                 \
    V(TL_CALL_ALLOC, "MEMORY_ALLOC", "allocations of device memory")                                                   \
    V(TL_CALL_LAUNCH, "LAUNCH_STALL", "launches that took long")                                                       \
    V(TL_CALL_SYNC, "SYNC_CALL", "waits for the device")                                                               \
    V(TL_CALL_OTHER, "OTHER_RUNTIME", "all other calls")
typedef enum tl_call_class { TL_CALL_VALUES(TL_VALUE_NAME) TL_NCALLS } tl_call_class;
TL_LABELS(call);

/* How it is known that a device waited for other ranks. */
#define TL_PEER_VALUES(V)                                                                                              \
    V(TL_PEER_DEPENDENCY, "dependency", "the work after the gap waited for communication on another device")           \
    V(TL_PEER_SYNC, "host_sync", "the host waited for communication on another device")                                \
    V(TL_PEER_MEETING, "host_collective",                                                                              \
      "the host was in a host collective (Gloo, MPI, a barrier), or idle until one ended: up to the last arrival, or " \
      "all of it if the ranks do not match")                                                                           \
    V(TL_PEER_WAIT, "host_wait", "the host was in a call that waits for other ranks")
typedef enum tl_peer_evidence { TL_PEER_VALUES(TL_VALUE_NAME) TL_NPEERS } tl_peer_evidence;
TL_LABELS(peer);

TL_LABELS(queued);
#define TL_QUEUED_VALUES(V)                                                                                            \
    V(TL_QUEUED_UNKNOWN, "unknown", "the launch is not in the trace")                                                  \
    V(TL_QUEUED_NO, "no", "launched during the gap")                                                                   \
    V(TL_QUEUED_YES, "yes", "launched well before the gap")
typedef enum tl_queued { TL_QUEUED_VALUES(TL_VALUE_NAME) } tl_queued;

/* One row per macro gap. */
#define TL_GAP_FIELDS(F, T)                                                                                            \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, device, KEY, "", "device; -1: the trace does not separate devices")                                      \
    F(T, TIME, start_ns, KEY, "ns", "when the device ran dry")                                                         \
    F(T, TIME, end_ns, LABEL, "ns", "when work began again")                                                           \
    F(T, I64, duration_ns, MEASURE, "ns", "end - start")                                                               \
    F(T, I32, idle_id, LABEL, "", "number of the gap on its device, from 0, in order of time")                         \
    F(T, I32, step, LABEL, "", "ProfilerStep in whose window the gap begins, -1 for none")                             \
    F(T, ENUM(drain), drain_type, LABEL, "", "how the device ran dry")                                                 \
    F(T, ENUM(wait), sync_type, LABEL, "",                                                                             \
      "kind of the call that waited up to the gap; a starved gap has one if the queue was already empty")              \
    F(T, ENUM(doing), cpu_during_gap, LABEL, "",                                                                       \
      "what the host did meanwhile: the first that holds, in the order WORK_NOT_RECORDED, GRAPH_INTERNAL, "            \
      "LAUNCH_ANOMALY or DEPENDENCY_WAIT, LAUNCH_OVERHEAD_ONLY, RUNTIME_DOMINATED, CPU_DOMINATED, CPU_UNTRACED or "    \
      "NO_CPU_TRACE")                                                                                                  \
    F(T, ENUM(call), call_class, LABEL, "", "class of calls that took most of the gap")                                \
    F(T, ENUM(queued), prequeued, LABEL, "", "whether the launch of the following work ended well before the gap")     \
    F(T, NAME, sync_event, LABEL, "", "the call that waited")                                                          \
    F(T, I32, sync_uid, SOURCE, "", "its index in traceEvents; -1: none")                                              \
    F(T, NAME, call, LABEL, "", "the call that took most of the gap")                                                  \
    F(T, I64, call_ns, MEASURE, "ns", "part of the gap in calls of call_class")                                        \
    F(T, NAME, dominant_op, LABEL, "",                                                                                 \
      "the operator or Python function with the most own time in the gap, without addresses in its name")              \
    F(T, NAME, second_op, LABEL, "", "the second")                                                                     \
    F(T, NAME, third_op, LABEL, "", "the third")                                                                       \
    F(T, NAME, other_op, LABEL, "", "the operator with the most own time on any other thread")                         \
    F(T, NAME, annotation, LABEL, "", "the innermost user annotation in which the thread was longest during the gap")  \
    F(T, I64, dominant_op_ns, MEASURE, "ns", "own time of dominant_op in the gap")                                     \
    F(T, I64, second_op_ns, MEASURE, "ns", "own time of second_op in the gap")                                         \
    F(T, I64, third_op_ns, MEASURE, "ns", "own time of third_op in the gap")                                           \
    F(T, I64, ops_ns, MEASURE, "ns", "part of the gap in operators and Python functions")                              \
    F(T, I64, other_op_ns, MEASURE, "ns", "own time of other_op in the gap")                                           \
    F(T, NAME, preceding, LABEL, "", "the device work before the gap")                                                 \
    F(T, NAME, following, LABEL, "", "the device work that ended it")                                                  \
    F(T, NAME, launch, LABEL, "", "the call that queued the following work")                                           \
    F(T, I32, following_uid, SOURCE, "", "its index in traceEvents")                                                   \
    F(T, I32, launch_uid, SOURCE, "", "its index in traceEvents; -1: none")                                            \
    F(T, I64, launch_to_exec_ns, MEASURE, "ns",                                                                        \
      "from the end of that call to the start of the following work, negative if the work began before; 0 if "         \
      "prequeued is unknown")
TL_TABLE(gap, TL_GAP_FIELDS);

/* Parts of macro gaps, each at least as long as a macro gap, in which the device waited for other ranks.  The analysis
 * of a rank adds candidates, with their whole length as peer_ns, and idle_id -1 where the host was in a collective (in
 * a gap or not); the matching of ranks keeps only the time that was waiting. */
#define TL_GAP_PEER_FIELDS(F, T)                                                                                       \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, device, KEY, "", "device of the gap; -1 where devices are not told apart")                               \
    F(T, TIME, start_ns, KEY, "ns", "start of the gap, as in table gap")                                               \
    F(T, TIME, from_ns, KEY, "ns", "start of the wait for other ranks within the gap")                                 \
    F(T, I64, peer_ns, MEASURE, "ns", "length of that wait")                                                           \
    F(T, I32, late_rank, MEASURE, "", "the rank that arrived last; -1: unknown")                                       \
    F(T, ENUM(peer), evidence, LABEL, "", "how the wait is known")                                                     \
    F(T, I32, idle_id, LABEL, "", "number of the gap on its device")                                                   \
    F(T, I32, step, LABEL, "", "ProfilerStep in whose window the gap begins, -1 for none")                             \
    F(T, ENUM(drain), drain_type, LABEL, "", "of the gap")                                                             \
    F(T, ENUM(doing), cpu_during_gap, LABEL, "", "of the gap")                                                         \
    F(T, TEXT128, dominant_op, LABEL, "", "of the gap, as in idle_summary")                                            \
    F(T, I64, collective, LABEL, "", "the collective that was waited for; -1: a host collective")                      \
    F(T, TEXT64, awaited, LABEL, "", "the kernel, operator or Python function of this rank that was waited for")       \
    F(T, I32, awaited_uid, SOURCE, "", "its index in traceEvents")                                                     \
    F(T, TIME, awaited_ns, LABEL, "ns", "when it began")
TL_TABLE(gap_peer, TL_GAP_PEER_FIELDS);

/* Idle time of each device, and how much of it is explained. */
#define TL_IDLE_FIELDS(F, T)                                                                                           \
    F(T, I32, rank, KEY, "", "traced rank; -1: sum over all ranks")                                                    \
    F(T, I32, device, KEY, "", "device, where a rank has several; -1: sum over its devices")                           \
    F(T, I64, busy_ns, MEASURE, "ns", "time with device work running")                                                 \
    F(T, I64, macro_ns, MEASURE, "ns", "idle time in gaps that are classified")                                        \
    F(T, I64, noise_ns, MEASURE, "ns", "idle time in shorter gaps")                                                    \
    F(T, F64, utilization_pct, MEASURE, "%", "100 busy / (busy + macro)")                                              \
    F(T, I64, noise_gaps, MEASURE, "", "number of shorter gaps")                                                       \
    F(T, I64, overruns, MEASURE, "",                                                                                   \
      "pieces of work that end after the next work of their stream begins, without those of too_long in table rank")   \
    F(T, I64, overrun_ns, MEASURE, "ns", "time that was cut off these")                                                \
    F(T, I64, operators, MEASURE, "", "operators in the trace; 0: the activity of the CPU is unknown")                 \
    F(T, I64, python_functions, MEASURE, "", "Python functions in the trace; 0: only operators can be named")
TL_TABLE(idle, TL_IDLE_FIELDS);

/* The class that stands for all classes of a device beyond the number listed. */
#define TL_IDLE_OTHERS "(others)"

/* Gaps summed by their two axes, and by class. */
#define TL_IDLE_SUMMARY_FIELDS(F, T)                                                                                   \
    F(T, I32, rank, KEY, "", "traced rank; -1: all ranks")                                                             \
    F(T, I32, device, KEY, "", "device, where a rank has several; -1: all its devices")                                \
    F(T, I32, step, KEY, "", "profiler step, for sums by axes; -1: whole trace")                                       \
    F(T, ENUM(drain), drain_type, KEY, "", "how the device ran dry; ALL does not include noise")                       \
    F(T, ENUM(doing), cpu_during_gap, KEY, "", "what the host did meanwhile")                                          \
    F(T, TEXT128, dominant_op, KEY, "",                                                                                \
      "ALL, noise: a sum by the two columns before; else a class of gaps by what the host did: the call with its "     \
      "class, the operator, whether the work was prequeued or launched_during_gap and in which call the host was for " \
      "most of the gap, the graph launch, or the work that waited; (others) beyond 1,000 classes")                     \
    F(T, I32, place, LABEL, "", "1 for the class with the most time, and so on; 0 for sums by axes")                   \
    F(T, I64, count, MEASURE, "", "gaps")                                                                              \
    F(T, I64, total_ns, MEASURE, "ns", "sum of their lengths")                                                         \
    F(T, I64, steps_count, MEASURE, "", "for a class, and for noise: the part of count in steps (table step); else 0") \
    F(T, I64, steps_ns, MEASURE, "ns", "the same of total_ns")                                                         \
    F(T, F64, idle_pct, MEASURE, "%",                                                                                  \
      "100 total_ns / time of all macro gaps of the same rank, device and step; none for noise")                       \
    F(T, I64, peer_ns, MEASURE, "ns",                                                                                  \
      "the part of total_ns that was waiting for other ranks: table gap_peer; -1: not summed for two axes or a step")  \
    F(T, I64, median_ns, MEASURE, "ns",                                                                                \
      "median, of an even count the mean of the middle two, rounded; -1 for rank -1")                                  \
    F(T, I64, std_ns, MEASURE, "ns", "standard deviation (divided by the count), rounded; -1 for rank -1")             \
    F(T, I64, min_ns, MEASURE, "ns", "the shortest; 0 without gaps")                                                   \
    F(T, I64, max_ns, MEASURE, "ns", "the longest")                                                                    \
    F(T, I32, longest_id, LABEL, "",                                                                                   \
      "idle_id of the longest, on its device; -1: none, for a sum of two axes, and for rank -1")                       \
    F(T, NAME, annotation, LABEL, "", "the innermost user annotation with most of that time: table idle_annotation")   \
    F(T, I64, annotation_ns, MEASURE, "ns", "the part of total_ns in that annotation")                                 \
    F(T, TEXT64, other_op, LABEL, "",                                                                                  \
      "the operator with the most own time on another thread in any gap of the class; for rank -1 that of worst_rank") \
    F(T, I32, ranks, MEASURE, "", "number of ranks with such gaps")                                                    \
    F(T, I64, median_rank_ns, MEASURE, "ns", "median of total_ns over all ranks with device work")                     \
    F(T, I32, worst_rank, LABEL, "", "the rank with the largest total_ns; ties: the lower; -1: none")                  \
    F(T, I64, worst_ns, MEASURE, "ns", "total_ns of worst_rank")
TL_TABLE(idle_summary, TL_IDLE_SUMMARY_FIELDS);

/* The most annotations for which the idle time of a class, and of a rank, is listed; a trace may have more. */
enum { TL_IDLE_ANNOTATIONS_OF_CLASS = 100, TL_IDLE_ANNOTATIONS_OF_RANK = 1000 };
#define TL_IDLE_ANNOTATION_FIELDS(F, T)                                                                                \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "", "place of the class in idle_summary, all devices of the rank together")                  \
    F(T, I32, number, KEY, "", "1 for the annotation with the most time, and so on, to 100; at most 1,000 per rank")   \
    F(T, NAME, annotation, LABEL, "", "user annotation")                                                               \
    F(T, I64, total_ns, MEASURE, "ns",                                                                                 \
      "time of the class's gaps during which the launching thread was in the annotation, and in none inside of it")
TL_TABLE(idle_annotation, TL_IDLE_ANNOTATION_FIELDS);

/* What a stream waited for before its next work; ALL occurs in rows of sums only. */
#define TL_STREAM_WAIT_VALUES(V)                                                                                       \
    V(TL_STREAM_ALL, "ALL", "all idle time of the stream")                                                             \
    V(TL_STREAM_HOST_WAIT, "host_wait", "the next work of the stream was not yet launched")                            \
    V(TL_STREAM_KERNEL_WAIT, "kernel_wait", "the next work was launched, and takes this long to start")                \
    V(TL_STREAM_OTHER, "other", "the next work was launched, and waited for something else")                           \
    V(TL_STREAM_UNKNOWN, "unknown", "the launch is not in the trace")
typedef enum tl_stream_wait { TL_STREAM_WAIT_VALUES(TL_VALUE_NAME) TL_NSTREAM_WAITS } tl_stream_wait;
TL_LABELS(stream_wait);

/* Times in which streams are idle, by what they wait for. */
#define TL_STREAM_IDLE_FIELDS(F, T)                                                                                    \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, device, KEY, "", "device; -1: unknown")                                                                  \
    F(T, I32, stream, KEY, "", "device stream; -1: none")                                                              \
    F(T, ENUM(stream_wait), waited_for, KEY, "",                                                                       \
      "what the stream waited for. ALL: idle stretches between two pieces of work. The launch of the second piece "    \
      "divides a stretch: host_wait up to the launch, then kernel_wait, or other if that takes longer than the "       \
      "threshold `kernel` of --idle; unknown without a launch in the trace. The totals of the four sum up to that of " \
      "ALL")                                                                                                           \
    F(T, I64, count, MEASURE, "", "number of such stretches")                                                          \
    F(T, I64, total_ns, MEASURE, "ns", "sum of their lengths")                                                         \
    F(T, F64, std_ns, MEASURE, "ns", "standard deviation (of a sample); NaN of fewer than two")                        \
    F(T, I64, min_ns, MEASURE, "ns", "the shortest")                                                                   \
    F(T, F64, p25_ns, MEASURE, "ns", "lower quartile; NaN without stretches")                                          \
    F(T, F64, median_ns, MEASURE, "ns", "median; NaN without stretches")                                               \
    F(T, F64, p75_ns, MEASURE, "ns", "upper quartile; NaN without stretches")                                          \
    F(T, I64, max_ns, MEASURE, "ns", "the longest")
TL_TABLE(stream_idle, TL_STREAM_IDLE_FIELDS);

#endif
