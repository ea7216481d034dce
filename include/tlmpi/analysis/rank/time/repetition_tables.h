/* repetition_tables.h - how long the device works in each repetition of something: the tables of tlmpi reps. */
#ifndef TLMPI_ANALYSIS_RANK_TIME_REPETITION_TABLES_H
#define TLMPI_ANALYSIS_RANK_TIME_REPETITION_TABLES_H

#include "tlmpi/model/kind.h"
#include "tlmpi/model/schema.h"

/* What is measured of a repetition. */
#define TL_REPETITION_MEASURE_VALUES(V)                                                                                \
    V(TL_REPETITION_KERNEL, "kernel", "sum of durations (column kernel_ns)")                                           \
    V(TL_REPETITION_FORWARD, "forward", "durations of work that autograd did not launch (forward_ns)")                 \
    V(TL_REPETITION_BACKWARD, "backward", "durations of work that autograd launched (backward_ns)")                    \
    V(TL_REPETITION_BUSY, "busy", "time in which at least one runs (busy_ns)")                                         \
    V(TL_REPETITION_SPAN, "span", "from the first start to the last end (span_ns)")                                    \
    V(TL_REPETITION_BUBBLE, "bubble", "span less busy (bubble_ns)")
typedef enum tl_repetition_measure {
    TL_REPETITION_MEASURE_VALUES(TL_VALUE_NAME) TL_NREPETITION_MEASURES
} tl_repetition_measure;
TL_LABELS(repetition_measure);

/* One repetition. */
#define TL_REPETITION_FIELDS(F, T)                                                                                     \
    F(T, I32, variant, KEY, "", "number of the PATH on the command line, from 0")                                      \
    F(T, I32, trace, KEY, "", "number of the trace in the variant, from 0")                                            \
    F(T, I32, rep, KEY, "", "number of the repetition in the trace, from 0")                                           \
    F(T, TEXT64, name, LABEL, "", "the annotation or step; else the file")                                             \
    F(T, I64, works, MEASURE, "", "kernels, copies and memsets launched in it")                                        \
    F(T, I64, kernel_ns, MEASURE, "ns", "sum of the durations; forward + backward")                                    \
    F(T, I64, forward_ns, MEASURE, "ns", "durations of work that autograd did not launch")                             \
    F(T, I64, backward_ns, MEASURE, "ns", "durations of work launched within autograd::engine::evaluate_function")     \
    F(T, I64, busy_ns, MEASURE, "ns", "time in which at least one of them runs")                                       \
    F(T, I64, span_ns, MEASURE, "ns", "from their first start to their last end")                                      \
    F(T, I64, bubble_ns, MEASURE, "ns", "span - busy: time of the span in which none of them runs")                    \
    F(T, I64, excluded, MEASURE, "", "works launched in it that are left out (--exclude, --skip)")                     \
    F(T, I64, excluded_ns, MEASURE, "ns", "sum of their durations")
TL_TABLE(repetition, TL_REPETITION_FIELDS);

/* All repetitions of a variant. */
#define TL_REPETITION_STAT_FIELDS(F, T)                                                                                \
    F(T, I32, variant, KEY, "", "number of the PATH on the command line, from 0")                                      \
    F(T, ENUM(repetition_measure), measure, KEY, "", "which column of the repetitions")                                \
    F(T, I64, reps, MEASURE, "", "repetitions")                                                                        \
    F(T, I64, empty, MEASURE, "", "repetitions without any work: each counts as 0")                                    \
    F(T, F64, median_ns, MEASURE, "ns", "median")                                                                      \
    F(T, F64, low_ns, MEASURE, "ns",                                                                                   \
      "lower end of the 95 % confidence interval of the median; none: too few repetitions")                            \
    F(T, F64, high_ns, MEASURE, "ns", "upper end of that interval")                                                    \
    F(T, F64, mean_ns, MEASURE, "ns", "mean")                                                                          \
    F(T, F64, std_ns, MEASURE, "ns", "standard deviation over the repetitions (divided by n)")                         \
    F(T, I64, min_ns, MEASURE, "ns", "shortest")                                                                       \
    F(T, I64, max_ns, MEASURE, "ns", "longest")                                                                        \
    F(T, TEXT128, path, LABEL, "", "the PATH")
TL_TABLE(repetition_stat, TL_REPETITION_STAT_FIELDS);

/* A kernel in the repetitions of a variant. */
#define TL_REPETITION_WORK_FIELDS(F, T)                                                                                \
    F(T, I32, variant, KEY, "", "number of the PATH on the command line, from 0")                                      \
    F(T, I32, place, KEY, "", "1 for the name with the largest median, and so on; ties by name")                       \
    F(T, ENUM(kind), kind, LABEL, "", "what it is")                                                                    \
    F(T, I64, reps, MEASURE, "", "repetitions in which it ran")                                                        \
    F(T, F64, count, MEASURE, "",                                                                                      \
      "how often it ran in a repetition: median over all repetitions, with 0 where it did not run")                    \
    F(T, F64, median_ns, MEASURE, "ns",                                                                                \
      "sum of its durations in a repetition: median over all repetitions, with 0 where it did not run")                \
    F(T, F64, mean_ns, MEASURE, "ns",                                                                                  \
      "mean of that sum over all repetitions; these means add up to the mean of kernel_ns")                            \
    F(T, I64, max_ns, MEASURE, "ns", "maximum of that sum")                                                            \
    F(T, TEXT256, name, LABEL, "", "kernel, copy or memset")
TL_TABLE(repetition_work, TL_REPETITION_WORK_FIELDS);

/* A variant against the first. */
#define TL_REPETITION_COMPARE_FIELDS(F, T)                                                                             \
    F(T, I32, variant, KEY, "", "number of the PATH on the command line; variant 0 is the reference")                  \
    F(T, ENUM(repetition_measure), measure, KEY, "", "which column of the repetitions")                                \
    F(T, F64, difference_ns, MEASURE, "ns",                                                                            \
      "how much longer the variant takes than variant 0: median of the differences of all pairs of repetitions")       \
    F(T, F64, low_ns, MEASURE, "ns", "lower end of its 95 % confidence interval; none: too few repetitions")           \
    F(T, F64, high_ns, MEASURE, "ns", "upper end of that interval")                                                    \
    F(T, F64, ratio, MEASURE, "", "1 + difference_ns / median of variant 0")                                           \
    F(T, F64, ratio_low, MEASURE, "", "1 + low_ns / median of variant 0")                                              \
    F(T, F64, ratio_high, MEASURE, "", "1 + high_ns / median of variant 0")                                            \
    F(T, TEXT128, path, LABEL, "", "the PATH")
TL_TABLE(repetition_compare, TL_REPETITION_COMPARE_FIELDS);

#endif
