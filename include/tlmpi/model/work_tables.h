/* work_tables.h - what the work of a rank consists of: kernels by name, operators and annotations of the host, calls
 * that launch, queues and copies. */
#ifndef TLMPI_MODEL_WORK_TABLES_H
#define TLMPI_MODEL_WORK_TABLES_H

#include "tlmpi/model/kind.h"
#include "tlmpi/model/schema.h"

/* Device work by name.  Quantiles are linear between two durations; deviations are of a sample, divided by n - 1. */
#define TL_KERNEL_FIELDS(F, T)                                                                                         \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "", "1 for the name with the most time, and so on; of equals the first by name")             \
    F(T, ENUM(kind), kind, LABEL, "", "what it is")                                                                    \
    F(T, I32, unclassified, LABEL, "",                                                                                 \
      "1: a kernel whose name no rule knows, counted as compute; as comm where it ends together on all ranks")         \
    F(T, I64, count, MEASURE, "", "how often it ran")                                                                  \
    F(T, I64, total_ns, MEASURE, "ns", "sum of its durations, on all streams")                                         \
    F(T, F64, mean_ns, MEASURE, "ns", "mean duration")                                                                 \
    F(T, F64, std_ns, MEASURE, "ns", "standard deviation; NaN of a single one")                                        \
    F(T, I64, min_ns, MEASURE, "ns", "shortest")                                                                       \
    F(T, F64, p25_ns, MEASURE, "ns", "lower quartile")                                                                 \
    F(T, F64, median_ns, MEASURE, "ns", "median")                                                                      \
    F(T, F64, p75_ns, MEASURE, "ns", "upper quartile")                                                                 \
    F(T, I64, max_ns, MEASURE, "ns", "longest")                                                                        \
    F(T, F64, share, MEASURE, "", "total_ns / the durations of all device work of the rank")                           \
    F(T, NAME, name, LABEL, "", "kernel, copy or memset")
TL_TABLE(kernel_row, TL_KERNEL_FIELDS);

/* Device work by name over all ranks. */
#define TL_KERNEL_RANKS_FIELDS(F, T)                                                                                   \
    F(T, I32, place, KEY, "", "1 for the name with the most time, and so on; of equals the first by name")             \
    F(T, ENUM(kind), kind, LABEL, "", "what it is")                                                                    \
    F(T, I32, unclassified, LABEL, "",                                                                                 \
      "1: a kernel whose name no rule knows, counted as compute; as comm where it ends together on all ranks")         \
    F(T, I32, ranks, MEASURE, "", "ranks that ran it")                                                                 \
    F(T, I64, count, MEASURE, "", "how often they ran it")                                                             \
    F(T, I64, total_ns, MEASURE, "ns", "sum of its durations")                                                         \
    F(T, F64, share, MEASURE, "", "total_ns / the durations of all device work of all ranks")                          \
    F(T, F64, mean_ns, MEASURE, "ns", "mean duration")                                                                 \
    F(T, F64, median_rank_ns, MEASURE, "ns", "median of the ranks' mean durations")                                    \
    F(T, I32, slowest_rank, LABEL, "",                                                                                 \
      "the rank whose mean duration is longest; of equals the lower.  Communication "                                  \
      "takes longest where a rank waits in it: who is waited for is among the fastest")                                \
    F(T, F64, slowest_ns, MEASURE, "ns", "its mean duration")                                                          \
    F(T, I32, fastest_rank, LABEL, "", "the rank whose mean duration is shortest; of equals the lower")                \
    F(T, F64, fastest_ns, MEASURE, "ns", "its mean duration")                                                          \
    F(T, NAME, name, LABEL, "", "kernel, copy or memset")                                                              \
    F(T, I32, apart, MEASURE, "",                                                                                      \
      "ranks whose mean duration lies apart from that of the others by more than these differ among themselves: the "  \
      "farthest from the median, fewer than half, of which even the nearest is so far from the mean of the rest that " \
      "chance has it in 1 of 100 kernels (parameter apart_chance); 0: none, or fewer than 4 ranks ran it")             \
    F(T, TEXT64, apart_ranks, LABEL, "", "which, as 3,7-9; the end in dots where there are more than fit; empty: none")
TL_TABLE(kernel_ranks, TL_KERNEL_RANKS_FIELDS);

/* Operators and annotations of the host, with the device work that they launched.  One inside another of the same name
 * is part of the outer one, in host_ns, device_ns and the like. */
#define TL_HOST_WORK_FIELDS(F, T)                                                                                      \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "",                                                                                          \
      "1 for the name with the most device_ns, and so on; of equals that with the most host_ns, or the first by name") \
    F(T, I64, count, MEASURE, "", "how often it ran")                                                                  \
    F(T, I64, host_ns, MEASURE, "ns", "time of the host in it, with what it called")                                   \
    F(T, I64, host_self_ns, MEASURE, "ns", "less the time in others of the same sort that it called")                  \
    F(T, I64, steps_count, MEASURE, "", "the part of count in steps (table step)")                                     \
    F(T, I64, steps_ns, MEASURE, "ns", "the part of host_self_ns in steps")                                            \
    F(T, F64, mean_ns, MEASURE, "ns", "mean time of one; those inside others of their name count here, too")           \
    F(T, F64, std_ns, MEASURE, "ns", "standard deviation; NaN of a single one")                                        \
    F(T, I64, min_ns, MEASURE, "ns", "shortest")                                                                       \
    F(T, F64, median_ns, MEASURE, "ns", "median")                                                                      \
    F(T, I64, max_ns, MEASURE, "ns", "longest")                                                                        \
    F(T, I64, launches, MEASURE, "",                                                                                   \
      "calls in it that queued device work, with what it called; table interval says in which a call is: one of a "    \
      "thread that has no annotation open then is in the innermost open one of the thread with the most annotations")  \
    F(T, I64, kernels, MEASURE, "", "device work that these queued")                                                   \
    F(T, I64, device_ns, MEASURE, "ns", "sum of its durations")                                                        \
    F(T, I64, device_self_ns, MEASURE, "ns",                                                                           \
      "the part that was launched in it and in none that it called: these sum up to all device work")                  \
    F(T, I64, device_span_ns, MEASURE, "ns",                                                                           \
      "from the first start to the last end of the work that one launched, summed over all")                           \
    F(T, F64, to_launch_ns, MEASURE, "ns",                                                                             \
      "mean time from its start to the first launch that it made itself, where it made one; else NaN")                 \
    F(T, F64, to_work_ns, MEASURE, "ns",                                                                               \
      "mean time from the start of that launch to the start of its work, none of them below 0")                        \
    F(T, F64, share, MEASURE, "", "device_ns / the durations of all device work of the rank")                          \
    F(T, F64, flop, MEASURE, "FLOP",                                                                                   \
      "floating-point operations of the matrix products, convolutions and attention in it; NaN where the shapes of "   \
      "none are recorded (record_shapes)")                                                                             \
    F(T, F64, tflop_per_s, MEASURE, "TFLOP/s",                                                                         \
      "flop / the device time of the work that these queued, in 10^12 FLOP/s")                                         \
    F(T, F64, peak_share, MEASURE, "",                                                                                 \
      "tflop_per_s / the peak of the device for their types; NaN where no peak is known (--peak)")                     \
    F(T, I32, depth, LABEL, "",                                                                                        \
      "others of the same sort around it on its thread, at the least: 0 where none was around one of them; -1 of the " \
      "rest")                                                                                                          \
    F(T, NAME, name, LABEL, "",                                                                                        \
      "its name; annotations that mark steps (ProfilerStep) have no row; none: the rest of the work, launched in "     \
      "none "                                                                                                          \
      "(so often as launches says) or without a launch")
TL_TABLE(operator_row, TL_HOST_WORK_FIELDS);
TL_TABLE(annotation_row, TL_HOST_WORK_FIELDS);

/* Operators and annotations of the host over all ranks. */
#define TL_HOST_WORK_RANKS_FIELDS(F, T)                                                                                \
    F(T, I32, place, KEY, "",                                                                                          \
      "1 for the name with the most device_ns, and so on; of equals that with the most host_ns, or the first by name") \
    F(T, I32, ranks, MEASURE, "", "ranks that ran it")                                                                 \
    F(T, I64, count, MEASURE, "", "how often they ran it")                                                             \
    F(T, I64, host_ns, MEASURE, "ns", "time of their hosts in it, with what it called")                                \
    F(T, I64, device_ns, MEASURE, "ns", "sum of the durations of the device work that was launched in it")             \
    F(T, I64, device_self_ns, MEASURE, "ns", "the part that was launched in it and in none that it called")            \
    F(T, F64, share, MEASURE, "", "device_ns / the durations of all device work of all ranks")                         \
    F(T, F64, mean_ns, MEASURE, "ns", "mean time of the host in one")                                                  \
    F(T, F64, median_rank_ns, MEASURE, "ns", "median of the ranks' mean times")                                        \
    F(T, I32, slowest_rank, LABEL, "", "the rank whose mean time is longest; of equals the lower; -1 of the rest")     \
    F(T, F64, slowest_ns, MEASURE, "ns", "its mean time")                                                              \
    F(T, I32, most_rank, LABEL, "", "the rank with the most device_ns; of equals the lower")                           \
    F(T, NAME, name, LABEL, "", "its name; none: the rest of the work, launched in none or without a launch")          \
    F(T, I32, apart, MEASURE, "",                                                                                      \
      "ranks whose mean time lies apart from that of the others by more than these differ among themselves, as in "    \
      "table kernel_ranks; 0: none, or fewer than 4 ranks ran it")                                                     \
    F(T, TEXT64, apart_ranks, LABEL, "", "which, as 3,7-9; the end in dots where there are more than fit; empty: none")
TL_TABLE(operator_ranks, TL_HOST_WORK_RANKS_FIELDS);
TL_TABLE(annotation_ranks, TL_HOST_WORK_RANKS_FIELDS);

/* User annotations as the profiler mirrors them on the device. */
#define TL_ANNOTATION_DEVICE_FIELDS(F, T)                                                                              \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "", "1 for the name with the most total_ns, and so on; of equals the first by name")         \
    F(T, I64, count, MEASURE, "", "ranges of that name: one for each stream that the annotation launched work to")     \
    F(T, I64, total_ns, MEASURE, "ns",                                                                                 \
      "sum of their durations: a range is from the first start to the last end of the work, with what was between")    \
    F(T, F64, std_ns, MEASURE, "ns", "standard deviation; NaN of a single one")                                        \
    F(T, I64, min_ns, MEASURE, "ns", "shortest")                                                                       \
    F(T, I64, max_ns, MEASURE, "ns", "longest")                                                                        \
    F(T, NAME, name, LABEL, "", "its name; marks of steps (ProfilerStep) have rows, too")
TL_TABLE(annotation_device, TL_ANNOTATION_DEVICE_FIELDS);

/* Calls that queue device work, by name. */
#define TL_LAUNCH_FIELDS(F, T)                                                                                         \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "", "1 for the name with the most host_ns, and so on; of equals the first by name")          \
    F(T, I64, calls, MEASURE, "", "calls that queued device work")                                                     \
    F(T, I64, kernels, MEASURE, "", "device work that they queued; one launch of a graph queues many")                 \
    F(T, I64, host_ns, MEASURE, "ns", "time of the host in them")                                                      \
    F(T, I64, host_max_ns, MEASURE, "ns", "longest")                                                                   \
    F(T, I64, device_ns, MEASURE, "ns", "sum of the durations of their work")                                          \
    F(T, I64, delay_ns, MEASURE, "ns",                                                                                 \
      "launch delays: from the end of a call to the first start of its work, not below 0; summed over calls")          \
    F(T, I64, delay_median_ns, MEASURE, "ns", "median delay, of an even count the mean of the middle two, rounded up") \
    F(T, I64, delay_max_ns, MEASURE, "ns", "longest delay")                                                            \
    F(T, I64, short_calls, MEASURE, "",                                                                                \
      "calls of at most the threshold runtime that took longer than all their work: too little work for a launch")     \
    F(T, I64, slow_calls, MEASURE, "", "calls that took longer than the threshold runtime")                            \
    F(T, I64, late_calls, MEASURE, "", "calls with a longer delay than the threshold delay")                           \
    F(T, I64, step_min, MEASURE, "", "fewest such calls in a step; -1 where the rank has no steps")                    \
    F(T, I64, step_median, MEASURE, "", "median of the steps, of two the lower; likewise")                             \
    F(T, I64, step_max, MEASURE, "", "most in a step; likewise")                                                       \
    F(T, NAME, name, LABEL, "", "the call of the runtime or driver")
TL_TABLE(launch_row, TL_LAUNCH_FIELDS);

/* Work that waits in a stream: from the start of the call that queued it to the start of the work. */
#define TL_QUEUE_FIELDS(F, T)                                                                                          \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, device, KEY, "", "device; -1 where the trace names none")                                                \
    F(T, I32, stream, KEY, "", "device stream, -1 for none")                                                           \
    F(T, I64, kernels, MEASURE, "", "device work of the stream")                                                       \
    F(T, I64, wall_ns, MEASURE, "ns", "from the first launch or start to the last end")                                \
    F(T, F64, mean_length, MEASURE, "", "work launched and not started, mean over wall_ns")                            \
    F(T, I64, max_length, MEASURE, "", "most at once; at an instant what starts leaves before what is launched joins") \
    F(T, I64, median_length, MEASURE, "", "for half of wall_ns there was no more in it")                               \
    F(T, I64, p95_length, MEASURE, "", "for 95 % of wall_ns there was no more in it")                                  \
    F(T, I64, empty_ns, MEASURE, "ns", "of wall_ns with nothing in the queue")                                         \
    F(T, I64, full_ns, MEASURE, "ns", "of wall_ns with the threshold full or more in it: a launch has to wait")
TL_TABLE(queue_row, TL_QUEUE_FIELDS);

/* Copies and memsets by name. */
#define TL_COPY_FIELDS(F, T)                                                                                           \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "", "1 for the name with the most total_ns, and so on; of equals the first by name")         \
    F(T, ENUM(kind), kind, LABEL, "", "memcpy or memset")                                                              \
    F(T, I64, count, MEASURE, "", "how often it ran")                                                                  \
    F(T, I64, bytes, MEASURE, "byte", "sum of the bytes that are known")                                               \
    F(T, I64, total_ns, MEASURE, "ns", "sum of durations, on all streams")                                             \
    F(T, I64, busy_ns, MEASURE, "ns", "time with one running")                                                         \
    F(T, I64, unknown, MEASURE, "", "how many have no known bandwidth (no bytes, or no time), and count no further")   \
    F(T, F64, mean_gb_s, MEASURE, "GB/s",                                                                              \
      "mean bandwidth of the others in 10^9 byte/s, each weighed by its duration: their bytes / their time")           \
    F(T, F64, busy_gb_s, MEASURE, "GB/s", "what those that ran at once moved together, mean over the time with one")   \
    F(T, F64, max_gb_s, MEASURE, "GB/s", "most at once; each in whole byte/s")                                         \
    F(T, NAME, name, LABEL, "", "copy or memset")
TL_TABLE(copy_row, TL_COPY_FIELDS);

/* Quantities that change over time, point by point. */
#define TL_SERIES_VALUES(V)                                                                                            \
    V(TL_SERIES_SHORT_GAP, "short_gap", "for how long the device was idle, too short a time for table gap")            \
    V(TL_SERIES_MEMORY_GIVEN, "memory_given", "memory that was given or, below 0, taken back")                         \
    V(TL_SERIES_MEMORY_ALLOCATED, "memory_allocated", "memory that is allocated")                                      \
    V(TL_SERIES_MEMORY_RESERVED, "memory_reserved", "memory that is reserved")                                         \
    V(TL_SERIES_QUEUE, "queue", "work launched and not started")                                                       \
    V(TL_SERIES_MEMCPY, "memcpy", "what copies of a name move together")                                               \
    V(TL_SERIES_MEMSET, "memset", "what memsets of a name do")
typedef enum tl_series_of { TL_SERIES_VALUES(TL_VALUE_NAME) } tl_series_of;
TL_LABELS(series);

#define TL_SERIES_FIELDS(F, T)                                                                                         \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, ENUM(series), what, KEY, "",                                                                                  \
      "queue: work launched and not started, of a stream; memcpy, memset: what those of a name move together, GB/s "   \
      "(10^9 byte/s); memory_given, memory_allocated, memory_reserved: byte; short_gap: ns for which the device was "  \
      "idle from then on, too short a time for table gap")                                                             \
    F(T, I32, device, KEY, "", "device; -1: memory of the host, or the trace names none")                              \
    F(T, I32, stream, KEY, "", "device stream of a queue; -1 for none, and of the others")                             \
    F(T, NAME, name, KEY, "", "copy or memset, in order of texts; none of the others")                                 \
    F(T, TIME, time_ns, KEY, "ns",                                                                                     \
      "when the value changed: it holds up to the next row of the same, and before the first it is 0; of memory when " \
      "it was given or taken back, of equal times in the order of the trace")                                          \
    F(T, F64, value, MEASURE, "",                                                                                      \
      "in the unit of what; memory_given: how much was given, or, below 0, taken back; where that is not told by how " \
      "much memory_allocated changed, 0 of the first; allocated and reserved: after it, no row where not told")        \
    F(T, I32, step, LABEL, "", "ProfilerStep in which it was, -1 for none")                                            \
    F(T, NAME, operator, LABEL, "", "of memory the innermost operator around it, on its thread")                       \
    F(T, NAME, annotation, LABEL, "", "of memory the innermost user annotation around it; marks of steps apart")
TL_TABLE(series_row, TL_SERIES_FIELDS);

#endif
