/* measured_tables.h - measurements that only some traces hold: hardware counters of kernels, memory of devices. */
#ifndef TLMPI_MODEL_MEASURED_TABLES_H
#define TLMPI_MODEL_MEASURED_TABLES_H

#include "tlmpi/model/schema.h"

/* How the operator of a range is known. */
#define TL_COUNTED_BY_VALUES(V)                                                                                        \
    V(TL_COUNTED_BY_KERNEL, "kernel", "as many kernels as ranges, and of their names: each is the one of its place")   \
    V(TL_COUNTED_BY_LAUNCH, "launch", "as many launches as ranges, and no kernels")                                    \
    V(TL_COUNTED_BY_NOTHING, "unknown", "their numbers or names differ: nothing tells which range is whose")
typedef enum tl_counted_by { TL_COUNTED_BY_VALUES(TL_VALUE_NAME) } tl_counted_by;
TL_LABELS(counted_by);

/* Counters of cuda_profiler_range.  The i-th range in time, with a value or not, belongs to the i-th kernel, or the
 * i-th launch, of the rank: the times of ranges are not the times of their kernels.  Where the numbers of ranges and
 * kernels (or launches) differ, nothing tells which kernel a range belongs to. */
#define TL_COUNTER_FIELDS(F, T)                                                                                        \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, place, KEY, "",                                                                                          \
      "counters by name; of each that with the largest sum first, of equals the first by name")                        \
    F(T, NAME, counter, LABEL, "", "the counter; in its own unit")                                                     \
    F(T, I64, count, MEASURE, "", "ranges that have it")                                                               \
    F(T, F64, sum, MEASURE, "", "sum of its values")                                                                   \
    F(T, F64, min, MEASURE, "", "smallest")                                                                            \
    F(T, F64, max, MEASURE, "", "largest")                                                                             \
    F(T, F64, flop, MEASURE, "",                                                                                       \
      "floating-point operations that the sum stands for: of a fused multiply-add two, of an addition or a "           \
      "multiplication one; NaN: counts no such instructions")                                                          \
    F(T, ENUM(counted_by), known_by, LABEL, "",                                                                        \
      "what tells the operator: kernel, launch; unknown: there are more or fewer ranges than either, or kernels of "   \
      "other names")                                                                                                   \
    F(T, NAME, operator, LABEL, "", "operator of the launch, as in interval; none: there is none, or it is not known") \
    F(T, NAME, kernel, LABEL, "", "name of the range, or of its kernel where the range has none")                      \
    F(T, NAME, stack, LABEL, "", "the operator and those around it on its thread, the outermost first, as a > b")
TL_TABLE(counter_row, TL_COUNTER_FIELDS);

/* Memory that allocators reported ("[memory]" events, recorded with profile_memory). */
#define TL_MEMORY_FIELDS(F, T)                                                                                         \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, device, KEY, "", "device, -1: memory of the host")                                                       \
    F(T, I64, events, MEASURE, "", "times that memory was given or taken back")                                        \
    F(T, I64, first_bytes, MEASURE, "byte", "allocated after the first of them; -1 here and below: not told")          \
    F(T, I64, peak_bytes, MEASURE, "byte", "allocated at most")                                                        \
    F(T, I64, last_bytes, MEASURE, "byte", "allocated as told last")                                                   \
    F(T, I64, reserved_bytes, MEASURE, "byte",                                                                         \
      "reserved of the device at most, for what is allocated and what may be")                                         \
    F(T, TIME, peak_ns, MEASURE, "ns", "when the peak was first reached")                                              \
    F(T, I32, peak_step, LABEL, "", "ProfilerStep in which that was, -1 for none")                                     \
    F(T, NAME, peak_operator, LABEL, "", "innermost operator around it, on its thread")                                \
    F(T, NAME, peak_annotation, LABEL, "", "innermost user annotation around it, on its thread; marks of steps apart")
TL_TABLE(memory_row, TL_MEMORY_FIELDS);

/* The categories of the profiler's memory timeline, in its order, then their total. */
TL_LABELS(memory_category);

/* Beginning, peak and end of each memory timeline, by category. */
#define TL_MEMORY_CATEGORY_FIELDS(F, T)                                                                                \
    F(T, I32, file, KEY, "", "number of the file in table side_file")                                                  \
    F(T, ENUM(memory_category), category, KEY, "", "as the profiler has it")                                           \
    F(T, I32, rank, LABEL, "", "rank that the file's name tells; -1: none")                                            \
    F(T, I64, first_bytes, MEASURE, "byte", "at the beginning: what was there before the recording")                   \
    F(T, I64, peak_bytes, MEASURE, "byte", "at most")                                                                  \
    F(T, I64, at_peak_bytes, MEASURE, "byte", "when all of them together were at most")                                \
    F(T, I64, last_bytes, MEASURE, "byte", "in the end")                                                               \
    F(T, TIME, peak_ns, MEASURE, "ns", "when peak_bytes was first reached")
TL_TABLE(memory_category, TL_MEMORY_CATEGORY_FIELDS);

/* Each memory timeline over time. */
#define TL_MEMORY_TIMELINE_FIELDS(F, T)                                                                                \
    F(T, I32, file, KEY, "", "number of the file in table side_file")                                                  \
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

/* Whether a node of an execution trace could be linked to the Kineto trace. */
#define TL_EXECUTION_LINK_VALUES(V)                                                                                    \
    V(TL_EXECUTION_LINKED, "linked", "an event of its id and name is in the trace")                                    \
    V(TL_EXECUTION_FRAME, "frame", "it stands for a thread or the process, which have no event")                       \
    V(TL_EXECUTION_NO_EVENT, "no_event", "no event has its id")                                                        \
    V(TL_EXECUTION_OUTSIDE, "outside",                                                                                 \
      "no event has its id, which is below or above those of all events: of another time")                             \
    V(TL_EXECUTION_OTHER_NAME, "other_name", "the event with its id has another name")                                 \
    V(TL_EXECUTION_SAME_ID, "same_id", "a later node has the same id")                                                 \
    V(TL_EXECUTION_LEFT_OUT, "left_out", "its event is not among those that are analysed")
typedef enum tl_execution_link { TL_EXECUTION_LINK_VALUES(TL_VALUE_NAME) } tl_execution_link;
TL_LABELS(execution_link);

/* The nodes of execution traces. */
#define TL_EXECUTION_NODE_FIELDS(F, T)                                                                                 \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, file, KEY, "", "number of the file in table side_file")                                                  \
    F(T, I64, row, KEY, "", "number, from 0, in the order of the file")                                                \
    F(T, I64, id, LABEL, "", "of the node, as the file has it")                                                        \
    F(T, I64, parent, LABEL, "", "id of the node around it; -1: not told")                                             \
    F(T, I64, rf_id, LABEL, "", "of its record function; below 1: none")                                               \
    F(T, NAME, name, LABEL, "", "of the node")                                                                         \
    F(T, NAME, input_shapes, LABEL, "", "as the file has them, JSON")                                                  \
    F(T, NAME, input_types, LABEL, "", "likewise")                                                                     \
    F(T, ENUM(execution_link), link, LABEL, "",                                                                        \
      "linked: to an event of the trace; else why not")                                                                \
    F(T, I64, runs, MEASURE, "", "events that are its runs")                                                           \
    F(T, TIME, start_ns, MEASURE, "ns", "when the first of them began")                                                \
    F(T, I64, host_ns, MEASURE, "ns", "how long they took on the host, together")                                      \
    F(T, I64, kernels_self, MEASURE, "", "kernels, copies and memsets launched in them and in no other node within")   \
    F(T, I64, kernels, MEASURE, "", "the same with those of the nodes whose parent it is, theirs, and so on")          \
    F(T, I64, device_self_ns, MEASURE, "ns", "durations of kernels_self, together")                                    \
    F(T, I64, device_ns, MEASURE, "ns", "durations of kernels, together")
TL_TABLE(execution_node, TL_EXECUTION_NODE_FIELDS);

#endif
