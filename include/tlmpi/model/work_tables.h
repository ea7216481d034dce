/* work_tables.h - what the work of a rank consists of: kernels by name, operators and annotations of the host, calls
 * that launch, queues and copies. */
#ifndef TLMPI_MODEL_WORK_TABLES_H
#define TLMPI_MODEL_WORK_TABLES_H

#include "tlmpi/model/kind.h"
#include "tlmpi/model/schema.h"

/* Device work by name.  Quantiles are linear between two durations; deviations are of a sample, divided by n - 1. */
#define TL_KERNEL_FIELDS(F, T)                                                                                         \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "", "1 for the name with the most time, and so on; ties by name")                            \
    F(T, ENUM(kind), kind, LABEL, "", "what it is")                                                                    \
    F(T, I32, unclassified, LABEL, "",                                                                                 \
      "1: no rule knows the name of the kernel; it counts as compute, or as comm if it ends together on all ranks")    \
    F(T, I64, count, MEASURE, "", "how often it ran")                                                                  \
    F(T, I64, total_ns, MEASURE, "ns", "sum of the durations, on all streams")                                         \
    F(T, F64, mean_ns, MEASURE, "ns", "mean duration")                                                                 \
    F(T, F64, std_ns, MEASURE, "ns", "standard deviation; NaN for a single one")                                       \
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
    F(T, I32, place, KEY, "", "1 for the name with the most time, and so on; ties by name")                            \
    F(T, ENUM(kind), kind, LABEL, "", "what it is")                                                                    \
    F(T, I32, unclassified, LABEL, "",                                                                                 \
      "1: no rule knows the name of the kernel; it counts as compute, or as comm if it ends together on all ranks")    \
    F(T, I32, ranks, MEASURE, "", "ranks that ran it")                                                                 \
    F(T, I64, count, MEASURE, "", "how often they ran it")                                                             \
    F(T, I64, total_ns, MEASURE, "ns", "sum of the durations")                                                         \
    F(T, F64, share, MEASURE, "", "total_ns / the durations of all device work of all ranks")                          \
    F(T, F64, mean_ns, MEASURE, "ns", "mean duration")                                                                 \
    F(T, F64, median_rank_ns, MEASURE, "ns", "median of the ranks' mean durations")                                    \
    F(T, I32, slowest_rank, LABEL, "",                                                                                 \
      "the rank with the longest mean duration; ties: the lower. Communication takes longest on ranks that wait in "   \
      "it: the rank that is waited for is among the fastest")                                                          \
    F(T, F64, slowest_ns, MEASURE, "ns", "mean duration on that rank")                                                 \
    F(T, I32, fastest_rank, LABEL, "", "the rank with the shortest mean duration; ties: the lower")                    \
    F(T, F64, fastest_ns, MEASURE, "ns", "mean duration on that rank")                                                 \
    F(T, NAME, name, LABEL, "", "kernel, copy or memset")                                                              \
    F(T, I32, apart, MEASURE, "",                                                                                      \
      "number of outlier ranks: fewer than half of the ranks, farthest from the median, and even the nearest so far "  \
      "from the mean of the others that chance explains it in 1 of 100 kernels (parameter verdict_alpha); 0: none, "   \
      "or fewer than 4 ranks ran it")                                                                                  \
    F(T, TEXT64, apart_ranks, LABEL, "",                                                                               \
      "the outlier ranks, such as 3,7-9; \"...\" at the end if more do not fit; empty: none")
TL_TABLE(kernel_ranks, TL_KERNEL_RANKS_FIELDS);

/* Operators and annotations of the host, with the device work that they launched.  One inside another of the same name
 * is part of the outer one, in host_ns, device_ns and the like. */
#define TL_HOST_WORK_FIELDS(F, T)                                                                                      \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "", "1 for the name with the most device_ns, and so on; ties by host_ns, then by name")      \
    F(T, I64, count, MEASURE, "", "how often it ran")                                                                  \
    F(T, I64, host_ns, MEASURE, "ns", "host time, including what it calls")                                            \
    F(T, I64, host_self_ns, MEASURE, "ns", "host time without others of the same kind that it calls")                  \
    F(T, I64, steps_count, MEASURE, "", "the part of count in steps (table step)")                                     \
    F(T, I64, steps_ns, MEASURE, "ns", "the part of host_self_ns in steps")                                            \
    F(T, F64, mean_ns, MEASURE, "ns", "mean host time of one, including those inside others of the same name")         \
    F(T, F64, std_ns, MEASURE, "ns", "standard deviation; NaN for a single one")                                       \
    F(T, I64, min_ns, MEASURE, "ns", "shortest")                                                                       \
    F(T, F64, median_ns, MEASURE, "ns", "median")                                                                      \
    F(T, I64, max_ns, MEASURE, "ns", "longest")                                                                        \
    F(T, I64, launches, MEASURE, "",                                                                                   \
      "calls that queued device work, including those of what it calls; columns operator and annotation of table "     \
      "interval define to which one a call belongs")                                                                   \
    F(T, I64, kernels, MEASURE, "", "pieces of device work that these calls queued")                                   \
    F(T, I64, device_ns, MEASURE, "ns", "sum of the durations")                                                        \
    F(T, I64, device_self_ns, MEASURE, "ns",                                                                           \
      "the part that was launched in none that it calls: these sum up to all device work")                             \
    F(T, I64, device_span_ns, MEASURE, "ns",                                                                           \
      "from the first start to the last end of the work that one of them launched, summed over all of them")           \
    F(T, F64, to_launch_ns, MEASURE, "ns", "mean time from its start to its own first launch; NaN: no launch")         \
    F(T, F64, to_work_ns, MEASURE, "ns",                                                                               \
      "mean time from the start of that launch to the start of its work, each at least 0")                             \
    F(T, F64, share, MEASURE, "", "device_ns / the durations of all device work of the rank")                          \
    F(T, F64, flop, MEASURE, "FLOP",                                                                                   \
      "floating-point operations of its matrix products, convolutions and attention; NaN: no recorded shapes "         \
      "(record_shapes)")                                                                                               \
    F(T, F64, tflop_per_s, MEASURE, "TFLOP/s",                                                                         \
      "flop / the device time of the work of these operations, in 10^12 FLOP/s")                                       \
    F(T, F64, peak_share, MEASURE, "",                                                                                 \
      "tflop_per_s / the peak of the device for the data types; NaN: unknown peak (--peak)")                           \
    F(T, I32, depth, LABEL, "",                                                                                        \
      "fewest others of the same kind around any one of them, on its thread; -1 for the rest")                         \
    F(T, NAME, name, LABEL, "",                                                                                        \
      "its name; marks of steps (ProfilerStep) have no row; none: the rest of the work, launched in none (column "     \
      "launches counts it) or without a launch")
TL_TABLE(operator_row, TL_HOST_WORK_FIELDS);
TL_TABLE(annotation_row, TL_HOST_WORK_FIELDS);

/* Operators and annotations of the host over all ranks. */
#define TL_HOST_WORK_RANKS_FIELDS(F, T)                                                                                \
    F(T, I32, place, KEY, "", "1 for the name with the most device_ns, and so on; ties by host_ns, then by name")      \
    F(T, I32, ranks, MEASURE, "", "ranks that ran it")                                                                 \
    F(T, I64, count, MEASURE, "", "how often they ran it")                                                             \
    F(T, I64, host_ns, MEASURE, "ns", "host time on all ranks, including what it calls")                               \
    F(T, I64, device_ns, MEASURE, "ns", "sum of the durations of its device work")                                     \
    F(T, I64, device_self_ns, MEASURE, "ns", "the part that was launched in none that it calls")                       \
    F(T, F64, share, MEASURE, "", "device_ns / the durations of all device work of all ranks")                         \
    F(T, F64, mean_ns, MEASURE, "ns", "mean host time of one")                                                         \
    F(T, F64, median_rank_ns, MEASURE, "ns", "median of the ranks' mean times")                                        \
    F(T, I32, slowest_rank, LABEL, "", "the rank with the longest mean time; ties: the lower; -1 for the rest")        \
    F(T, F64, slowest_ns, MEASURE, "ns", "mean time on that rank")                                                     \
    F(T, I32, most_rank, LABEL, "", "the rank with the most device_ns; ties: the lower")                               \
    F(T, NAME, name, LABEL, "", "its name; none: the rest of the work, launched in none or without a launch")          \
    F(T, I32, apart, MEASURE, "",                                                                                      \
      "number of outlier ranks by mean time, as in table kernel_ranks; 0: none, or fewer than 4 ranks ran it")         \
    F(T, TEXT64, apart_ranks, LABEL, "",                                                                               \
      "the outlier ranks, such as 3,7-9; \"...\" at the end if more do not fit; empty: none")
TL_TABLE(operator_ranks, TL_HOST_WORK_RANKS_FIELDS);
TL_TABLE(annotation_ranks, TL_HOST_WORK_RANKS_FIELDS);

/* User annotations as the profiler mirrors them on the device. */
#define TL_ANNOTATION_DEVICE_FIELDS(F, T)                                                                              \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "", "1 for the name with the most total_ns, and so on; ties by name")                        \
    F(T, I64, count, MEASURE, "", "ranges of that name: one for each stream to which the annotation launched work")    \
    F(T, I64, total_ns, MEASURE, "ns",                                                                                 \
      "sum of their durations: a range lasts from the first start to the last end of the work")                        \
    F(T, F64, std_ns, MEASURE, "ns", "standard deviation; NaN for a single one")                                       \
    F(T, I64, min_ns, MEASURE, "ns", "shortest")                                                                       \
    F(T, I64, max_ns, MEASURE, "ns", "longest")                                                                        \
    F(T, NAME, name, LABEL, "", "its name; marks of steps (ProfilerStep) have rows, too")
TL_TABLE(annotation_device, TL_ANNOTATION_DEVICE_FIELDS);

/* Calls that queue device work, by name. */
#define TL_LAUNCH_FIELDS(F, T)                                                                                         \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "", "1 for the name with the most host_ns, and so on; ties by name")                         \
    F(T, I64, calls, MEASURE, "", "number of calls that queued device work, or that only wait for it")                 \
    F(T, I64, kernels, MEASURE, "",                                                                                    \
      "pieces of device work that they queued; one graph launch queues many; 0: calls that only wait, of which no "    \
      "delays and thresholds are told")                                                                                \
    F(T, I64, host_ns, MEASURE, "ns", "host time in these calls")                                                      \
    F(T, I64, host_max_ns, MEASURE, "ns", "longest")                                                                   \
    F(T, I64, device_ns, MEASURE, "ns", "sum of the durations of that work")                                           \
    F(T, I64, delay_ns, MEASURE, "ns",                                                                                 \
      "launch delays, summed over calls: from the end of a call to the first start of its work, at least 0")           \
    F(T, I64, delay_median_ns, MEASURE, "ns",                                                                          \
      "median delay; of an even number the mean of the middle two, rounded up")                                        \
    F(T, I64, delay_max_ns, MEASURE, "ns", "longest delay")                                                            \
    F(T, I64, short_calls, MEASURE, "",                                                                                \
      "calls within the threshold `runtime` that took longer than all their work: too little work for a launch")       \
    F(T, I64, slow_calls, MEASURE, "", "calls longer than the threshold `runtime`")                                    \
    F(T, I64, late_calls, MEASURE, "", "calls with a delay above the threshold `delay`")                               \
    F(T, I64, step_min, MEASURE, "", "fewest calls in a step; -1: the rank has no steps")                              \
    F(T, I64, step_median, MEASURE, "", "median number of calls in a step (of two the lower); -1: no steps")           \
    F(T, I64, step_max, MEASURE, "", "most calls in a step; -1: no steps")                                             \
    F(T, NAME, name, LABEL, "", "the call of the runtime or driver")
TL_TABLE(launch_row, TL_LAUNCH_FIELDS);

/* Work that waits in a stream: from the start of the call that queued it to the start of the work. */
#define TL_QUEUE_FIELDS(F, T)                                                                                          \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, device, KEY, "", "device; -1: unknown")                                                                  \
    F(T, I32, stream, KEY, "", "device stream; -1: none")                                                              \
    F(T, I64, kernels, MEASURE, "", "device work of the stream")                                                       \
    F(T, I64, wall_ns, MEASURE, "ns", "from the first launch or start to the last end")                                \
    F(T, F64, mean_length, MEASURE, "",                                                                                \
      "mean number of pieces of work that are launched and not started, over wall_ns")                                 \
    F(T, I64, max_length, MEASURE, "", "greatest length; at one instant starts count before launches")                 \
    F(T, I64, median_length, MEASURE, "", "the length is at most this for half of wall_ns")                            \
    F(T, I64, p95_length, MEASURE, "", "the length is at most this for 95 % of wall_ns")                               \
    F(T, I64, empty_ns, MEASURE, "ns", "time of wall_ns with an empty queue")                                          \
    F(T, I64, full_ns, MEASURE, "ns",                                                                                  \
      "time of wall_ns with at least the threshold `full` in the queue: a launch has to wait")
TL_TABLE(queue_row, TL_QUEUE_FIELDS);

/* Copies and memsets by name. */
#define TL_COPY_FIELDS(F, T)                                                                                           \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "", "1 for the name with the most total_ns, and so on; ties by name")                        \
    F(T, ENUM(kind), kind, LABEL, "", "memcpy or memset")                                                              \
    F(T, I64, count, MEASURE, "", "how often it ran")                                                                  \
    F(T, I64, bytes, MEASURE, "byte", "sum of the known sizes")                                                        \
    F(T, I64, total_ns, MEASURE, "ns", "sum of the durations, on all streams")                                         \
    F(T, I64, busy_ns, MEASURE, "ns", "time with at least one running")                                                \
    F(T, I64, unknown, MEASURE, "",                                                                                    \
      "number without a known bandwidth (no bytes, or duration 0), which the next columns leave out")                  \
    F(T, F64, mean_gb_s, MEASURE, "GB/s",                                                                              \
      "mean bandwidth of the others in 10^9 byte/s: sum of bytes / sum of durations")                                  \
    F(T, F64, busy_gb_s, MEASURE, "GB/s",                                                                              \
      "mean bandwidth of all that run at the same time, over the time with at least one")                              \
    F(T, F64, max_gb_s, MEASURE, "GB/s", "greatest bandwidth of all that run at the same time")                        \
    F(T, NAME, name, LABEL, "", "copy or memset")
TL_TABLE(copy_row, TL_COPY_FIELDS);

/* Quantities that change over time, point by point. */
#define TL_SERIES_VALUES(V)                                                                                            \
    V(TL_SERIES_SHORT_GAP, "short_gap", "length of an idle time that is too short for table gap, ns")                  \
    V(TL_SERIES_MEMORY_GIVEN, "memory_given", "size of an allocation, or, negative, of a free, byte")                  \
    V(TL_SERIES_MEMORY_ALLOCATED, "memory_allocated", "allocated memory, byte")                                        \
    V(TL_SERIES_MEMORY_RESERVED, "memory_reserved", "reserved memory, byte")                                           \
    V(TL_SERIES_QUEUE, "queue", "queue length of a stream: pieces of work launched and not started")                   \
    V(TL_SERIES_MEMCPY, "memcpy", "bandwidth of the copies of a name together, GB/s (10^9 byte/s)")                    \
    V(TL_SERIES_MEMSET, "memset", "bandwidth of the memsets of a name together, GB/s (10^9 byte/s)")
typedef enum tl_series_of { TL_SERIES_VALUES(TL_VALUE_NAME) } tl_series_of;
TL_LABELS(series);

#define TL_SERIES_FIELDS(F, T)                                                                                         \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, ENUM(series), what, KEY, "", "the quantity and its unit")                                                     \
    F(T, I32, device, KEY, "", "device; -1: memory of the host, or unknown")                                           \
    F(T, I32, stream, KEY, "", "device stream of a queue; -1: none, and for the other quantities")                     \
    F(T, NAME, name, KEY, "", "copy or memset, in order of texts; none for the other quantities")                      \
    F(T, TIME, time_ns, KEY, "ns",                                                                                     \
      "when the value changed; it holds until the next row of the same quantity, and is 0 before the first. For "      \
      "memory the time of the allocation or free, equal times in the order of the trace")                              \
    F(T, F64, value, MEASURE, "",                                                                                      \
      "the value; memory_given without a recorded size is the change of memory_allocated, 0 for the first; allocated " \
      "and reserved memory are those after the event, without a row if unknown")                                       \
    F(T, I32, step, LABEL, "", "ProfilerStep; -1: none")                                                               \
    F(T, NAME, operator, LABEL, "", "for memory the innermost operator around the event, on its thread")               \
    F(T, NAME, annotation, LABEL, "",                                                                                  \
      "for memory the innermost user annotation around the event, without marks of steps")
TL_TABLE(series_row, TL_SERIES_FIELDS);

#endif
