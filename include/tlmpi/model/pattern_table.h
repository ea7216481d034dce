/* pattern_table.h - sequences of device work that recur under the operators of the host. */
#ifndef TLMPI_MODEL_PATTERN_TABLE_H
#define TLMPI_MODEL_PATTERN_TABLE_H

#include "tlmpi/model/schema.h"

/* The device work under an operator is the work that the operator's thread launches between the operator's start and
 * end. */
#define TL_PATTERN_FIELDS(F, T)                                                                                        \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "",                                                                                          \
      "1 for the pattern with the most device_ns, and so on; ties by host_ns, then by name. Beyond place 100 only "    \
      "the first pattern of an operator has a row, for up to 1,000 operators")                                         \
    F(T, I64, count, MEASURE, "", "how often the operator launched exactly this sequence, 2 or more")                  \
    F(T, I64, kernels, MEASURE, "", "kernels, copies and memsets in the sequence, 3 or more")                          \
    F(T, I64, host_ns, MEASURE, "ns",                                                                                  \
      "time of the host in the operator, summed; an operator inside one of the same name with the same sequence "      \
      "counts with the outer one")                                                                                     \
    F(T, I64, device_ns, MEASURE, "ns",                                                                                \
      "sum of the durations of the work; the same work is also in the rows of operators around this one")              \
    F(T, F64, to_launch_ns, MEASURE, "ns", "mean time from the start of the operator to its first launch")             \
    F(T, F64, to_work_ns, MEASURE, "ns",                                                                               \
      "mean time from the start of that launch to the start of its work (the first piece in the sequence), each at "   \
      "least 0")                                                                                                       \
    F(T, F64, share, MEASURE, "", "device_ns / the durations of all device work of the rank")                          \
    F(T, I64, patterns, MEASURE, "", "number of patterns on the rank, with or without a row")                          \
    F(T, I64, id, LABEL, "", "hash of the sequence: equal on all ranks for equal names in equal order")                \
    F(T, NAME, operator, LABEL, "", "the operator")                                                                    \
    F(T, NAME, sequence, LABEL, "",                                                                                    \
      "shortened names of the work in the order of launches (work of one launch by device, stream and start); \"x "    \
      "3\" after a name that is repeated three times; a long sequence is cut, with the number of names left out")
TL_TABLE(pattern_row, TL_PATTERN_FIELDS);

#endif
