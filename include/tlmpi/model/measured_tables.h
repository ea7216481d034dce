/* measured_tables.h - what some traces have measured: hardware counters of kernels, memory of devices. */
#ifndef TLMPI_MODEL_MEASURED_TABLES_H
#define TLMPI_MODEL_MEASURED_TABLES_H

#include "tlmpi/model/phase_tables.h" /* status of a file that is no trace */
#include "tlmpi/model/schema.h"

/* How the operator of a range is known. */
typedef enum tl_counted_by { TL_COUNTED_BY_KERNEL, TL_COUNTED_BY_LAUNCH, TL_COUNTED_BY_NOTHING } tl_counted_by;
extern const char *const tl_counted_by_labels[]; /* "kernel", "launch", "unknown", NULL */
#define TL_CELL_COUNTED_BY(name)   uint8_t name
#define TL_TYPE_OF_COUNTED_BY      TL_TYPE_ENUM
#define TL_LABELS_OF_COUNTED_BY    tl_counted_by_labels

/* Counters of cuda_profiler_range.  The i-th range in time is the i-th kernel, or the i-th launch, of the rank: the times
 * of ranges are none of their kernels; one without a value counts, too.  Where the numbers differ nothing tells which range
 * is whose. */
#define TL_COUNTER_FIELDS(F, T)                                                                                        \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "", "counters by name; of each that with the largest sum first, of equals the first by name")  \
    F(T, NAME, counter, LABEL, "", "the counter; in its own unit")                                                     \
    F(T, I64, count, MEASURE, "", "ranges that have it")                                                               \
    F(T, F64, sum, MEASURE, "", "sum of its values")                                                                   \
    F(T, F64, min, MEASURE, "", "smallest")                                                                            \
    F(T, F64, mean, MEASURE, "", "mean")                                                                               \
    F(T, F64, max, MEASURE, "", "largest")                                                                             \
    F(T, F64, flop, MEASURE, "",                                                                                       \
      "floating-point operations that the sum stands for: of a fused multiply-add two, of an addition or a "          \
      "multiplication one; NaN: counts no such instructions")                                                          \
    F(T, COUNTED_BY, known_by, LABEL, "",                                                                              \
      "what tells the operator: kernel, launch; unknown: there are more or fewer ranges than either, or kernels of "  \
      "other names")                                                                                                   \
    F(T, NAME, operator, LABEL, "", "operator of the launch, as in interval; none: there is none, or it is not known") \
    F(T, NAME, kernel, LABEL, "", "name of the range, or of its kernel where the range has none")                      \
    F(T, NAME, stack, LABEL, "", "the operator and those around it on its thread, the outermost first, as a > b")
TL_TABLE(counter_row, TL_COUNTER_FIELDS);

/* What allocators told ("[memory]", recorded with profile_memory). */
#define TL_MEMORY_FIELDS(F, T)                                                                                         \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, device, KEY, "", "device, -1: memory of the host")                                                       \
    F(T, I64, events, MEASURE, "", "times that memory was given or taken back")                                        \
    F(T, I64, first_bytes, MEASURE, "byte", "allocated after the first of them; -1 here and below: not told")        \
    F(T, I64, peak_bytes, MEASURE, "byte", "allocated at most")                                                        \
    F(T, I64, last_bytes, MEASURE, "byte", "allocated as told last")                                                   \
    F(T, I64, reserved_bytes, MEASURE, "byte", "reserved of the device at most, for what is allocated and what may be")  \
    F(T, TIME, peak_ns, MEASURE, "ns", "when the peak was first reached")                                              \
    F(T, I32, peak_step, LABEL, "", "ProfilerStep in which that was, -1 for none")                                     \
    F(T, NAME, peak_operator, LABEL, "", "innermost operator around it, on its thread")                               \
    F(T, NAME, peak_annotation, LABEL, "", "innermost user annotation around it, on its thread; marks of steps apart")
TL_TABLE(memory_row, TL_MEMORY_FIELDS);

/* The same, event by event. */
#define TL_MEMORY_SERIES_FIELDS(F, T)                                                                                  \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, device, KEY, "", "device, -1: memory of the host")                                                       \
    F(T, TIME, time_ns, KEY, "ns", "when memory was given or taken back; of equal times in the order of the trace")    \
    F(T, I64, bytes, MEASURE, "byte",                                                                                  \
      "how much was given, or, below 0, taken back; where that is not told by how much allocated_bytes changed, 0 of the " \
      "first")                                                                                                         \
    F(T, I64, allocated_bytes, MEASURE, "byte", "allocated after it; -1: not told")                                    \
    F(T, I64, reserved_bytes, MEASURE, "byte", "reserved of the device after it; -1: not told")                        \
    F(T, I32, step, LABEL, "", "ProfilerStep in which it was, -1 for none")                                            \
    F(T, NAME, operator, LABEL, "", "innermost operator around it, on its thread")                                     \
    F(T, NAME, annotation, LABEL, "", "innermost user annotation around it, on its thread; marks of steps apart")
TL_TABLE(memory_series, TL_MEMORY_SERIES_FIELDS);

/* Categories of the profiler's memory timeline, in its order, and all of them. */
extern const char *const tl_memory_category_labels[]; /* "parameter", "optimizer_state", ... "unknown", "total", NULL */
#define TL_CELL_MEMORY_CATEGORY(name)  uint8_t name
#define TL_TYPE_OF_MEMORY_CATEGORY     TL_TYPE_ENUM
#define TL_LABELS_OF_MEMORY_CATEGORY   tl_memory_category_labels

/* The files of such timelines. */
typedef enum tl_memory_file_status {
    TL_MEMORY_FILE_OK,
    TL_MEMORY_FILE_DAMAGED,
    TL_MEMORY_FILE_CUT,
    TL_MEMORY_FILE_EMPTY,
    TL_MEMORY_FILE_UNREADABLE
} tl_memory_file_status;
extern const char *const tl_memory_file_labels[]; /* "ok", "damaged", "cut", "empty", "unreadable", NULL */
#define TL_CELL_MEMORY_FILE(name) uint8_t name
#define TL_TYPE_OF_MEMORY_FILE    TL_TYPE_ENUM
#define TL_LABELS_OF_MEMORY_FILE  tl_memory_file_labels

#define TL_MEMORY_FILE_FIELDS(F, T)                                                                                    \
    F(T, I32, file, KEY, "", "number, from 0, in order of paths")                                                      \
    F(T, MEMORY_FILE, status, LABEL, "", "whether it was read whole; what is whole before a fault counts")              \
    F(T, I32, rank, LABEL, "", "rank that the file's name tells; -1: none")                                            \
    F(T, I64, entries, MEASURE, "", "times that memory was given, taken back or put into another category")            \
    F(T, TIME, first_ns, MEASURE, "ns", "the earliest time")                                                           \
    F(T, TIME, last_ns, MEASURE, "ns", "the time of the last entry")                                                   \
    F(T, TEXT256, error, LABEL, "", "what is wrong, and at which byte of the text")                                    \
    F(T, TEXT256, path, SOURCE, "", "the end of its path")
TL_TABLE(memory_file, TL_MEMORY_FILE_FIELDS);

/* What they come to. */
#define TL_MEMORY_CATEGORY_FIELDS(F, T)                                                                                \
    F(T, I32, file, KEY, "", "number of the file in table memory_file")                                                \
    F(T, MEMORY_CATEGORY, category, KEY, "", "as the profiler has it")                                                 \
    F(T, I32, rank, LABEL, "", "rank that the file's name tells; -1: none")                                            \
    F(T, I64, first_bytes, MEASURE, "byte", "at the beginning: what was there before the recording")                   \
    F(T, I64, peak_bytes, MEASURE, "byte", "at most")                                                                  \
    F(T, I64, at_peak_bytes, MEASURE, "byte", "when all of them together were at most")                                \
    F(T, I64, last_bytes, MEASURE, "byte", "in the end")                                                               \
    F(T, TIME, peak_ns, MEASURE, "ns", "when peak_bytes was first reached")
TL_TABLE(memory_category, TL_MEMORY_CATEGORY_FIELDS);

/* The same over time. */
#define TL_MEMORY_TIMELINE_FIELDS(F, T)                                                                                \
    F(T, I32, file, KEY, "", "number of the file in table memory_file")                                                \
    F(T, I64, row, KEY, "", "number, from 0, in the order of the file")                                                \
    F(T, TIME, time_ns, LABEL, "ns",                                                                                   \
      "after the changes at this time; what was there before the recording is shown at the earliest")                  \
    F(T, I64, parameter, MEASURE, "byte", "parameters")                                                                \
    F(T, I64, optimizer_state, MEASURE, "byte", "state of the optimizer")                                              \
    F(T, I64, input, MEASURE, "byte", "inputs")                                                                        \
    F(T, I64, temporary, MEASURE, "byte", "what is needed for a while")                                                \
    F(T, I64, activation, MEASURE, "byte", "activations")                                                              \
    F(T, I64, gradient, MEASURE, "byte", "gradients")                                                                  \
    F(T, I64, autograd, MEASURE, "byte", "what autograd keeps of its own")                                             \
    F(T, I64, unknown, MEASURE, "byte", "of no category")                                                              \
    F(T, I64, total, MEASURE, "byte", "all of them")
TL_TABLE(memory_timeline, TL_MEMORY_TIMELINE_FIELDS);

#endif
