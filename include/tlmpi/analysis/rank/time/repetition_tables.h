/* repetition_tables.h - how long the device works in each repetition of something: the tables of tlmpi reps. */
#ifndef TLMPI_ANALYSIS_RANK_TIME_REPETITION_TABLES_H
#define TLMPI_ANALYSIS_RANK_TIME_REPETITION_TABLES_H

#include "tlmpi/model/kind.h"
#include "tlmpi/model/schema.h"

/* What is measured of a repetition. */
#define TL_REPETITION_MEASURE_VALUES(V)                                                                                \
    V(TL_REPETITION_KERNEL, "kernel", "kernel_ns, the sum of durations")                                               \
    V(TL_REPETITION_FORWARD, "forward", "forward_ns, those that autograd has not launched")                            \
    V(TL_REPETITION_BACKWARD, "backward", "backward_ns, those that autograd has launched")                             \
    V(TL_REPETITION_BUSY, "busy", "busy_ns, time in which any runs")                                                   \
    V(TL_REPETITION_SPAN, "span", "span_ns, from the first start to the last end")                                     \
    V(TL_REPETITION_BUBBLE, "bubble", "bubble_ns, span less busy")
typedef enum tl_repetition_measure {
    TL_REPETITION_MEASURE_VALUES(TL_VALUE_NAME) TL_NREPETITION_MEASURES
} tl_repetition_measure;
TL_LABELS(repetition_measure);

/* One repetition. */
#define TL_REPETITION_FIELDS(F, T)                                                                                     \
    F(T, I32, variant, KEY, "", "number of the PATH on the command line, from 0")                                      \
    F(T, I32, trace, KEY, "", "number of the trace in it, from 0")                                                     \
    F(T, I32, rep, KEY, "", "number of the repetition in the trace, from 0")                                           \
    F(T, TEXT64, name, LABEL, "", "the annotation or step that it is; the file")                                       \
    F(T, I64, works, MEASURE, "", "kernels, copies and memsets launched in it")                                        \
    F(T, I64, kernel_ns, MEASURE, "ns", "sum of their durations; forward + backward")                                  \
    F(T, I64, forward_ns, MEASURE, "ns", "those of them that autograd has not launched")                               \
    F(T, I64, backward_ns, MEASURE, "ns", "those that it has: within autograd::engine::evaluate_function")             \
    F(T, I64, busy_ns, MEASURE, "ns", "time in which any of them runs: what runs at once counts once")                 \
    F(T, I64, span_ns, MEASURE, "ns", "from their first start to their last end")                                      \
    F(T, I64, bubble_ns, MEASURE, "ns", "span - busy: the time in it in which none of them runs")                      \
    F(T, I64, excluded, MEASURE, "", "works launched in it that are left out (--exclude, --skip)")                     \
    F(T, I64, excluded_ns, MEASURE, "ns", "sum of their durations")
TL_TABLE(repetition, TL_REPETITION_FIELDS);

/* All repetitions of a variant. */
#define TL_REPETITION_STAT_FIELDS(F, T)                                                                                \
    F(T, I32, variant, KEY, "", "number of the PATH on the command line, from 0")                                      \
    F(T, ENUM(repetition_measure), measure, KEY, "", "which column of the repetitions")                                \
    F(T, I64, reps, MEASURE, "", "repetitions")                                                                        \
    F(T, I64, empty, MEASURE, "", "those of them without any work: each counts as 0")                                  \
    F(T, F64, median_ns, MEASURE, "ns", "median")                                                                      \
    F(T, F64, low_ns, MEASURE, "ns", "where the median lies with 95 % confidence: from here ...; none: too few")       \
    F(T, F64, high_ns, MEASURE, "ns", "... to here")                                                                   \
    F(T, F64, mean_ns, MEASURE, "ns", "mean")                                                                          \
    F(T, F64, std_ns, MEASURE, "ns", "standard deviation of these repetitions: divided by n (population)")             \
    F(T, I64, min_ns, MEASURE, "ns", "shortest")                                                                       \
    F(T, I64, max_ns, MEASURE, "ns", "longest")                                                                        \
    F(T, TEXT128, path, LABEL, "", "the PATH")
TL_TABLE(repetition_stat, TL_REPETITION_STAT_FIELDS);

/* A kernel in the repetitions of a variant. */
#define TL_REPETITION_WORK_FIELDS(F, T)                                                                                \
    F(T, I32, variant, KEY, "", "number of the PATH on the command line, from 0")                                      \
    F(T, I32, place, KEY, "", "1 for the name with the largest median, and so on; of equals the first by name")        \
    F(T, ENUM(kind), kind, LABEL, "", "what it is")                                                                    \
    F(T, I64, reps, MEASURE, "", "repetitions in which it ran")                                                        \
    F(T, F64, count, MEASURE, "", "how often it ran in one: median over all, 0 where it did not")                      \
    F(T, F64, median_ns, MEASURE, "ns", "sum of its durations in one: median over all, 0 where it did not run")        \
    F(T, F64, mean_ns, MEASURE, "ns", "likewise the mean: these add up to that of kernel")                             \
    F(T, I64, max_ns, MEASURE, "ns", "likewise the most")                                                              \
    F(T, TEXT256, name, LABEL, "", "kernel, copy or memset")
TL_TABLE(repetition_work, TL_REPETITION_WORK_FIELDS);

/* A variant against the first. */
#define TL_REPETITION_COMPARE_FIELDS(F, T)                                                                             \
    F(T, I32, variant, KEY, "", "number of the PATH on the command line; 0 is what it is compared with")               \
    F(T, ENUM(repetition_measure), measure, KEY, "", "which column of the repetitions")                                \
    F(T, F64, difference_ns, MEASURE, "ns",                                                                            \
      "how much longer it takes: median of the differences between each of its repetitions and each of the first's")   \
    F(T, F64, low_ns, MEASURE, "ns", "with 95 % confidence from here ...; none: too few repetitions")                  \
    F(T, F64, high_ns, MEASURE, "ns", "... to here")                                                                   \
    F(T, F64, ratio, MEASURE, "", "1 + difference / median of the first")                                              \
    F(T, F64, ratio_low, MEASURE, "", "likewise of low ...")                                                           \
    F(T, F64, ratio_high, MEASURE, "", "... and high")                                                                 \
    F(T, TEXT128, path, LABEL, "", "the PATH")
TL_TABLE(repetition_compare, TL_REPETITION_COMPARE_FIELDS);

#endif
