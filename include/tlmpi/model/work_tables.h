/* work_tables.h - what the work of a rank consists of: kernels by name, operators and annotations of the host. */
#ifndef TLMPI_MODEL_WORK_TABLES_H
#define TLMPI_MODEL_WORK_TABLES_H

#include "tlmpi/model/kind.h"
#include "tlmpi/model/schema.h"

/* Device work by name.  Quantiles are linear between two durations; deviations are of a sample, divided by n - 1. */
#define TL_KERNEL_FIELDS(F, T)                                                                                         \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "", "1 for the name with the most time, and so on; of equals the first by name")             \
    F(T, KIND, kind, LABEL, "", "what it is")                                                                          \
    F(T, I32, unclassified, LABEL, "", "1: a kernel whose name no rule knows, counted as compute")                     \
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

/* The same over ranks. */
#define TL_KERNEL_RANKS_FIELDS(F, T)                                                                                   \
    F(T, I32, place, KEY, "", "1 for the name with the most time, and so on; of equals the first by name")             \
    F(T, KIND, kind, LABEL, "", "what it is")                                                                          \
    F(T, I32, unclassified, LABEL, "", "1: a kernel whose name no rule knows, counted as compute")                     \
    F(T, I32, ranks, MEASURE, "", "ranks that ran it")                                                                 \
    F(T, I64, count, MEASURE, "", "how often they ran it")                                                             \
    F(T, I64, total_ns, MEASURE, "ns", "sum of its durations")                                                         \
    F(T, F64, share, MEASURE, "", "total_ns / the durations of all device work of all ranks")                          \
    F(T, F64, mean_ns, MEASURE, "ns", "mean duration")                                                                 \
    F(T, F64, median_rank_ns, MEASURE, "ns", "median of the ranks' mean durations")                                    \
    F(T, I32, slowest_rank, LABEL, "", "the rank whose mean duration is longest; of equals the lower.  Communication " \
      "takes longest where a rank waits in it: who is waited for is among the fastest")                                \
    F(T, F64, slowest_ns, MEASURE, "ns", "its mean duration")                                                          \
    F(T, I32, fastest_rank, LABEL, "", "the rank whose mean duration is shortest; of equals the lower")                \
    F(T, F64, fastest_ns, MEASURE, "ns", "its mean duration")                                                          \
    F(T, I32, most_rank, LABEL, "", "the rank that ran it most often, of equals the lower; -1: all ran it as often")   \
    F(T, I64, most_count, MEASURE, "", "how often that one did")                                                       \
    F(T, I64, median_count, MEASURE, "", "median of the counts of the ranks that ran it, of two the lower")            \
    F(T, NAME, name, LABEL, "", "kernel, copy or memset")
TL_TABLE(kernel_ranks, TL_KERNEL_RANKS_FIELDS);

/* Operators and annotations of the host, with the device work that they launched.  One that is inside another of its
 * name counts with it: host_ns, device_ns and the like are those of the outer one. */
#define TL_HOST_WORK_FIELDS(F, T)                                                                                      \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "",                                                                                          \
      "1 for the name with the most device_ns, and so on; of equals that with the most host_ns, or the first by name") \
    F(T, I64, count, MEASURE, "", "how often it ran")                                                                  \
    F(T, I64, host_ns, MEASURE, "ns", "time of the host in it, with what it called")                                   \
    F(T, I64, host_self_ns, MEASURE, "ns", "less the time in others of the same sort that it called")                  \
    F(T, F64, mean_ns, MEASURE, "ns", "mean time of one; those inside others of their name count here, too")           \
    F(T, F64, std_ns, MEASURE, "ns", "standard deviation; NaN of a single one")                                        \
    F(T, I64, min_ns, MEASURE, "ns", "shortest")                                                                       \
    F(T, I64, max_ns, MEASURE, "ns", "longest")                                                                        \
    F(T, I64, launches, MEASURE, "", "calls in it that queued device work, with what it called")                       \
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
    F(T, NAME, name, LABEL, "",                                                                                        \
      "its name; none: the rest of the work, launched in none (so often as launches says) or without a launch")
TL_TABLE(operator_row, TL_HOST_WORK_FIELDS);
TL_TABLE(annotation_row, TL_HOST_WORK_FIELDS);

#endif
