/* pattern_table.h - sequences of device work that recur under the operators of the host. */
#ifndef TLMPI_MODEL_PATTERN_TABLE_H
#define TLMPI_MODEL_PATTERN_TABLE_H

#include "tlmpi/model/schema.h"

/* The device work under an operator is the work that the operator's thread launches between the operator's start and
 * end. */
#define TL_PATTERN_FIELDS(F, T)                                                                                        \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "",                                                                                          \
      "1 for the one with the most device_ns, and so on; of equals that with the most host_ns, or the first by name. " \
      " Beyond 100 only the first of an operator has a row, of up to 1,000 operators")                                 \
    F(T, I64, count, MEASURE, "", "how often the operator launched just this sequence, 2 or more")                     \
    F(T, I64, kernels, MEASURE, "", "kernels, copies and memsets in the sequence, 3 or more")                          \
    F(T, I64, host_ns, MEASURE, "ns",                                                                                  \
      "time of the host in the operator, all times together; one inside another of its name that launches the same "   \
      "counts with it")                                                                                                \
    F(T, I64, device_ns, MEASURE, "ns",                                                                                \
      "sum of the durations of the work.  An operator and what it calls have rows of their own for the same work")     \
    F(T, F64, to_launch_ns, MEASURE, "ns", "mean time from the start of the operator to its first launch")             \
    F(T, F64, to_work_ns, MEASURE, "ns",                                                                               \
      "mean time from the start of that launch to the start of its work, of several pieces the first of the "          \
      "sequence, none of them below 0")                                                                                \
    F(T, F64, share, MEASURE, "", "device_ns / the durations of all device work of the rank")                          \
    F(T, I64, patterns, MEASURE, "", "how many there are on the rank; tlmpi show tells how many of them have no row")  \
    F(T, I64, id, LABEL, "", "of the sequence: the same for the same names in the same order, on all ranks")           \
    F(T, NAME, operator, LABEL, "", "the operator")                                                                    \
    F(T, NAME, sequence, LABEL, "",                                                                                    \
      "the names of the work, shortened, in the order of launches, of one launch in that of device, stream and "       \
      "start; \"x 3\" after one that comes three times in a row; the first of a long one, and how many follow")
TL_TABLE(pattern_row, TL_PATTERN_FIELDS);

#endif
