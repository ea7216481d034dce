/* measured_tables.h - measurements that only some traces hold: hardware counters of kernels, memory of devices. */
#ifndef TLMPI_MODEL_MEASURED_TABLES_H
#define TLMPI_MODEL_MEASURED_TABLES_H

#include "tlmpi/model/schema.h"

/* How the operator of a range is known. */
#define TL_COUNTED_BY_VALUES(V)                                                                                        \
    V(TL_COUNTED_BY_KERNEL, "kernel",                                                                                  \
      "equally many kernels as ranges, with the same names: the n-th range belongs to the n-th kernel")                \
    V(TL_COUNTED_BY_LAUNCH, "launch", "equally many launches as ranges, and no kernels")                               \
    V(TL_COUNTED_BY_NOTHING, "unknown", "numbers or names differ: the operator of a range is unknown")                 \
    V(TL_COUNTED_BY_TIME, "sample", "samples of the device over time, which belong to no kernel")
typedef enum tl_counted_by { TL_COUNTED_BY_VALUES(TL_VALUE_NAME) } tl_counted_by;
TL_LABELS(counted_by);

/* Counters of cuda_profiler_range, and of samples (hardware_counters), which belong to no kernel.  The i-th range in
 * time, with a value or not, belongs to the i-th kernel, or the i-th launch, of the rank: the times of ranges are not
 * the times of their kernels.  Where the numbers of ranges and kernels (or launches) differ, nothing tells which kernel
 * a range belongs to. */
#define TL_COUNTER_FIELDS(F, T)                                                                                        \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "", "counters by name; rows of a counter by sum, largest first, ties by name")               \
    F(T, NAME, counter, LABEL, "", "the counter, in its own unit")                                                     \
    F(T, I64, count, MEASURE, "", "ranges, or samples, that have it")                                                  \
    F(T, F64, sum, MEASURE, "", "sum of its values")                                                                   \
    F(T, F64, min, MEASURE, "", "smallest")                                                                            \
    F(T, F64, max, MEASURE, "", "largest")                                                                             \
    F(T, F64, flop, MEASURE, "",                                                                                       \
      "floating-point operations in the sum: two for a fused multiply-add, one for an addition or a multiplication; "  \
      "NaN: the counter does not count such instructions")                                                             \
    F(T, ENUM(counted_by), known_by, LABEL, "", "how the operator is known")                                           \
    F(T, NAME, operator, LABEL, "", "operator of the launch, as in interval; none: no operator, or unknown")           \
    F(T, NAME, kernel, LABEL, "", "name of the range, or of its kernel where the range has none")                      \
    F(T, NAME, stack, LABEL, "",                                                                                       \
      "the operator and the operators around it on its thread, the outermost first, as a > b")
TL_TABLE(counter_row, TL_COUNTER_FIELDS);

/* Memory that allocators reported ("[memory]" events, recorded with profile_memory). */
#define TL_MEMORY_FIELDS(F, T)                                                                                         \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, device, KEY, "", "device, -1: memory of the host")                                                       \
    F(T, I64, events, MEASURE, "", "allocations and frees")                                                            \
    F(T, I64, first_bytes, MEASURE, "byte", "allocated after the first event; -1 here and below: unknown")             \
    F(T, I64, peak_bytes, MEASURE, "byte", "greatest allocated size")                                                  \
    F(T, I64, last_bytes, MEASURE, "byte", "allocated after the last event")                                           \
    F(T, I64, reserved_bytes, MEASURE, "byte",                                                                         \
      "greatest size reserved from the device (allocated, or cached by the allocator)")                                \
    F(T, TIME, peak_ns, MEASURE, "ns", "when the peak was first reached")                                              \
    F(T, I32, peak_step, LABEL, "", "ProfilerStep of the peak; -1: none")                                              \
    F(T, NAME, peak_operator, LABEL, "", "innermost operator around the peak, on its thread")                          \
    F(T, NAME, peak_annotation, LABEL, "",                                                                             \
      "innermost user annotation around the peak, on its thread, without marks of steps")
TL_TABLE(memory_row, TL_MEMORY_FIELDS);

/* The categories of the profiler's memory timeline, in its order, then their total. */
TL_LABELS(memory_category);

/* Beginning, peak and end of each memory timeline, by category. */
#define TL_MEMORY_CATEGORY_FIELDS(F, T)                                                                                \
    F(T, I32, file, KEY, "", "number of the file in table side_file")                                                  \
    F(T, ENUM(memory_category), category, KEY, "", "category of the profiler")                                         \
    F(T, I32, rank, LABEL, "", "rank in the file's name; -1: none")                                                    \
    F(T, I64, first_bytes, MEASURE, "byte", "size at the beginning of the recording")                                  \
    F(T, I64, peak_bytes, MEASURE, "byte", "greatest size")                                                            \
    F(T, I64, at_peak_bytes, MEASURE, "byte", "size at the peak of all categories together")                           \
    F(T, I64, last_bytes, MEASURE, "byte", "size at the end")                                                          \
    F(T, TIME, peak_ns, MEASURE, "ns", "when peak_bytes was first reached")
TL_TABLE(memory_category, TL_MEMORY_CATEGORY_FIELDS);

/* Each memory timeline over time. */
#define TL_MEMORY_TIMELINE_FIELDS(F, T)                                                                                \
    F(T, I32, file, KEY, "", "number of the file in table side_file")                                                  \
    F(T, I64, row, KEY, "", "number, from 0, in the order of the file")                                                \
    F(T, TIME, time_ns, LABEL, "ns",                                                                                   \
      "time of the change; memory from before the recording counts from the earliest time")                            \
    F(T, I64, parameter, MEASURE, "byte", "parameters")                                                                \
    F(T, I64, optimizer_state, MEASURE, "byte", "state of the optimizer")                                              \
    F(T, I64, input, MEASURE, "byte", "inputs")                                                                        \
    F(T, I64, temporary, MEASURE, "byte", "temporary memory")                                                          \
    F(T, I64, activation, MEASURE, "byte", "activations")                                                              \
    F(T, I64, gradient, MEASURE, "byte", "gradients")                                                                  \
    F(T, I64, autograd, MEASURE, "byte", "memory that autograd saves")                                                 \
    F(T, I64, unknown, MEASURE, "byte", "memory without a category")                                                   \
    F(T, I64, total, MEASURE, "byte", "all of them")
TL_TABLE(memory_timeline, TL_MEMORY_TIMELINE_FIELDS);

/* Whether a node of an execution trace could be linked to the Kineto trace. */
#define TL_EXECUTION_LINK_VALUES(V)                                                                                    \
    V(TL_EXECUTION_LINKED, "linked", "an event of its id and name is in the trace")                                    \
    V(TL_EXECUTION_FRAME, "frame", "the node is a thread or the process, which have no event")                         \
    V(TL_EXECUTION_NO_EVENT, "no_event", "no event has its id")                                                        \
    V(TL_EXECUTION_OUTSIDE, "outside",                                                                                 \
      "no event has its id, which is outside of the range of all events: from another time")                           \
    V(TL_EXECUTION_OTHER_NAME, "other_name", "the event with its id has another name")                                 \
    V(TL_EXECUTION_SAME_ID, "same_id", "a later node has the same id")                                                 \
    V(TL_EXECUTION_LEFT_OUT, "left_out", "its event is not selected for analysis")
typedef enum tl_execution_link { TL_EXECUTION_LINK_VALUES(TL_VALUE_NAME) } tl_execution_link;
TL_LABELS(execution_link);

/* The nodes of execution traces. */
#define TL_EXECUTION_NODE_FIELDS(F, T)                                                                                 \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, file, KEY, "", "number of the file in table side_file")                                                  \
    F(T, I64, row, KEY, "", "number, from 0, in the order of the file")                                                \
    F(T, I64, id, LABEL, "", "id of the node, as in the file")                                                         \
    F(T, I64, parent, LABEL, "", "id of the node around it; -1: unknown")                                              \
    F(T, I64, rf_id, LABEL, "", "Record function id; below 1: none")                                                   \
    F(T, NAME, name, LABEL, "", "name of the node")                                                                    \
    F(T, NAME, input_shapes, LABEL, "", "shapes of the inputs, as in the file (JSON)")                                 \
    F(T, NAME, input_types, LABEL, "", "types of the inputs, as in the file (JSON)")                                   \
    F(T, ENUM(execution_link), link, LABEL, "", "whether the node is linked to an event of the trace")                 \
    F(T, I64, runs, MEASURE, "", "number of linked events")                                                            \
    F(T, TIME, start_ns, MEASURE, "ns", "start of the first of them")                                                  \
    F(T, I64, host_ns, MEASURE, "ns", "sum of their durations on the host")                                            \
    F(T, I64, kernels_self, MEASURE, "",                                                                               \
      "kernels, copies and memsets launched in them, and in no node inside of them")                                   \
    F(T, I64, kernels, MEASURE, "", "the same including all nodes below it")                                           \
    F(T, I64, device_self_ns, MEASURE, "ns", "sum of the durations of kernels_self")                                   \
    F(T, I64, device_ns, MEASURE, "ns", "sum of the durations of kernels")
TL_TABLE(execution_node, TL_EXECUTION_NODE_FIELDS);

#endif
