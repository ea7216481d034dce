/* tables.h - the tables of a result file, column by column.
 *
 * Conventions of all tables: rank is a traced rank, -1 for the whole job; device is its number in the trace, -1 for all
 * devices of the rank together; step is the number in ProfilerStep#, -1 for the whole trace (in a breakdown) or for
 * none (on an event).
 */
#ifndef TLMPI_MODEL_TABLES_H
#define TLMPI_MODEL_TABLES_H

#include "tlmpi/model/kind.h"
#include "tlmpi/model/schema.h"

/* One row a rank: where its data came from and how far it can be trusted. */
#define TL_STATUS_VALUES(V)                                                                                            \
    V(TL_RANK_OK, "ok", "the trace was read whole")                                                                    \
    V(TL_RANK_DAMAGED, "damaged",                                                                                      \
      "some entries were lost, or the text around them or the compressed stream is damaged: see error")                \
    V(TL_RANK_CUT, "cut", "the file ends too early")                                                                   \
    V(TL_RANK_NO_GPU, "no_gpu_events", "nothing ran on a device")                                                      \
    V(TL_RANK_UNREADABLE, "unreadable", "nothing could be read")
typedef enum tl_rank_status { TL_STATUS_VALUES(TL_VALUE_NAME) } tl_rank_status;
TL_LABELS(rank_status);
TL_LABELS(rank_from);

#define TL_RANK_FIELDS(F, T)                                                                                           \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, ENUM(rank_status), status, LABEL, "", "how much of the trace could be read")                                  \
    F(T, ENUM(rank_from), rank_from, SOURCE, "", "where the rank number comes from")                                   \
    F(T, I32, devices, MEASURE, "", "devices with work in this trace")                                                 \
    F(T, I32, device, MEASURE, "", "its device; -1: none, or several, have work in this trace")                        \
    F(T, I64, intervals, MEASURE, "", "rows of this rank in interval")                                                 \
    F(T, I64, unclassified_ns, MEASURE, "ns",                                                                          \
      "time of kernels that no rule names (counted as compute), summed over streams")                                  \
    F(T, I64, kernel_ns, MEASURE, "ns", "time of all kernels, summed over streams, without copies")                    \
    F(T, I64, no_launch, MEASURE, "", "intervals whose launch is not in the trace")                                    \
    F(T, I64, before_launch, MEASURE, "",                                                                              \
      "intervals that start before the call that launched them, since the clocks of host and device disagree; their "  \
      "delays count as 0")                                                                                             \
    F(T, I64, before_launch_ns, MEASURE, "ns",                                                                         \
      "largest such difference: the offset between the clocks of host and device")                                     \
    F(T, I64, too_long, MEASURE, "",                                                                                   \
      "device work with an impossible end: the next work of its stream ended long before (parameters trace_error, "    \
      "last_work_most); in all tables it lasts as long as such work usually does there, at most until the next work "  \
      "begins, or to the end of the recording")                                                                        \
    F(T, I64, too_long_ns, MEASURE, "ns", "time that was cut off these, summed")                                       \
    F(T, TIME, first_ns, MEASURE, "ns", "first start of device work")                                                  \
    F(T, TIME, last_ns, MEASURE, "ns", "last end of device work")                                                      \
    F(T, I64, base_time_ns, LABEL, "ns", "baseTimeNanoseconds of the trace, already added to its times; 0: none")      \
    F(T, I32, world_size, LABEL, "", "ranks of the job, from distributedInfo; -1: unknown")                            \
    F(T, TEXT64, device_name, LABEL, "", "name of the first device in deviceProperties")                               \
    F(T, TEXT256, libraries, SOURCE, "",                                                                               \
      "versions of PyTorch, CUDA or HIP and its driver, NCCL (or RCCL) and CUPTI, as far as the trace has them")       \
    F(T, TEXT128, host, LABEL, "",                                                                                     \
      "host, from the trace or from the file's name; \"pids A-B\": inferred from consecutive process ids on "          \
      "different devices; empty: unknown")                                                                             \
    F(T, I64, dropped, MEASURE, "", "lost entries of traceEvents")                                                     \
    F(T, I64, repaired, MEASURE, "", "entries that were read after a repair")                                          \
    F(T, I64, untimed, MEASURE, "", "repaired entries without a duration, or with a negative one: it counts as 0")     \
    F(T, I64, first_bad_byte, MEASURE, "byte",                                                                         \
      "offset in the text of the first fault: of a lost or repaired entry, of damage around entries, or of the cut; "  \
      "-1: none")                                                                                                      \
    F(T, I64, events, SOURCE, "", "entries of traceEvents seen")                                                       \
    F(T, I64, kept, SOURCE, "", "entries kept for analysis")                                                           \
    F(T, I64, file_bytes, SOURCE, "byte", "size of the file")                                                          \
    F(T, I64, text_bytes, SOURCE, "byte", "size of its text, decompressed")                                            \
    F(T, I32, duplicates, SOURCE, "",                                                                                  \
      "other traces of the same rank and time, which must be of another job; left out")                                \
    F(T, TEXT256, file, SOURCE, "", "path as given; of a longer one the last bytes after \"...\"")                     \
    F(T, TEXT256, error, SOURCE, "", "the first fault: what was expected, what was found, what was done; empty: none")
TL_TABLE(rank, TL_RANK_FIELDS);

/* One row per piece of device work, of every rank. */
#define TL_INTERVAL_FIELDS(F, T)                                                                                       \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, device, KEY, "",                                                                                         \
      "device: from the arguments of the work, else the pid of its track, which is a device in Kineto; else the "      \
      "lowest device of other work in the trace; -1: none, or a wait for any device")                                  \
    F(T, I32, stream, KEY, "", "device stream; -1: none")                                                              \
    F(T, TIME, start_ns, KEY, "ns", "start on the device")                                                             \
    F(T, TIME, end_ns, LABEL, "ns", "end on the device")                                                               \
    F(T, I64, duration_ns, MEASURE, "ns", "end less start")                                                            \
    F(T, ENUM(kind), kind, LABEL, "", "kind of work; sync, a recorded wait, is not work")                              \
    F(T, NAME, name, LABEL, "", "name of the kernel or copy: its row in /names")                                       \
    F(T, I64, correlation, LABEL, "", "correlation id, which joins the interval to its launch; -1: none")              \
    F(T, TIME, launch_ns, LABEL, "ns", "start of the call that queued it; the smallest integer: not in the trace")     \
    F(T, I64, bytes, LABEL, "byte", "bytes copied or set; -1: unknown")                                                \
    F(T, I32, step, LABEL, "",                                                                                         \
      "ProfilerStep of its launch; -1: none. Without a launch in the trace, the step in which it starts, or, if "      \
      "earlier, the step of the launch of the next work of its stream: a stream runs work in the order of launches, "  \
      "and a device may be steps behind its host")                                                                     \
    F(T, NAME, operator, LABEL, "",                                                                                    \
      "operator around its launch: the innermost one that contains the call, to within 1 us of rounding; else the "    \
      "innermost one in which the call begins")                                                                        \
    F(T, NAME, annotation, LABEL, "",                                                                                  \
      "user annotation around its launch, found likewise, without marks of steps; for a launch by a thread without "   \
      "an open annotation, such as those of autograd, the innermost open one of the thread with most annotations")
TL_TABLE(interval, TL_INTERVAL_FIELDS);

/* The steps that are marked on the host: by the profiler, or by the annotations of a server. */
#define TL_STEP_FIELDS(F, T)                                                                                           \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, step, KEY, "",                                                                                           \
      "number in ProfilerStep#; for iterations of a server their index in order of time, from 0")                      \
    F(T, TIME, start_ns, LABEL, "ns", "start of the mark on the host")                                                 \
    F(T, TIME, end_ns, LABEL, "ns",                                                                                    \
      "start of the next mark; for the last step the end of its mark. A number that a thread marks again after "       \
      "another number is left out (column error of table rank): a step has one window")                                \
    F(T, ENUM(serving), serving, LABEL, "", "what an inference server does in this iteration; none: a training step")  \
    F(T, F64, batch_size, LABEL, "", "requests in the iteration, from its annotation; empty: unknown")                 \
    F(T, F64, tokens, LABEL, "", "tokens in the iteration, from its annotation; empty: unknown")
TL_TABLE(step, TL_STEP_FIELDS);

/* The step number of a row for all whole steps, in table breakdown. */
enum { TL_WHOLE_STEPS = -2 };
#define TL_BREAKDOWN_FIELDS(F, T)                                                                                      \
    F(T, I32, rank, KEY, "", "traced rank; -1: sum over all ranks")                                                    \
    F(T, I32, device, KEY, "", "device of a rank with several; -1: sum over the rank's devices")                       \
    F(T, I32, step, KEY, "",                                                                                           \
      "profiler step (work beyond its window in table step is cut off); -1: whole trace; -2: the sum of the steps "    \
      "that are whole on all ranks, if table health leaves some out. A single device has rows for the steps in which " \
      "it worked; none if these rows would outnumber the rank's work, steps and devices together, and 16384")          \
    F(T, I64, wall_ns, MEASURE, "ns",                                                                                  \
      "from the first start to the last end of device work; wall = compute + "                                         \
      "comm_exposed + copy_exposed + idle")                                                                            \
    F(T, I64, busy_ns, MEASURE, "ns", "time with device work running")                                                 \
    F(T, I64, compute_ns, MEASURE, "ns", "time with a compute kernel running")                                         \
    F(T, I64, comm_ns, MEASURE, "ns", "time with communication running")                                               \
    F(T, I64, comm_exposed_ns, MEASURE, "ns",                                                                          \
      "communication without compute: comm_waiting + comm_transfer + comm_unknown; table exposed has it by group")     \
    F(T, I64, comm_waiting_ns, MEASURE, "ns", "the part of it that is known to be waiting for other ranks")            \
    F(T, I64, comm_transfer_ns, MEASURE, "ns", "the part of it in which all participants are known to have arrived")   \
    F(T, I64, comm_unknown_ns, MEASURE, "ns", "the rest: waiting or transfer, unknown which")                          \
    F(T, I64, copy_ns, MEASURE, "ns", "time with a copy or memset running")                                            \
    F(T, I64, copy_exposed_ns, MEASURE, "ns", "copies and memsets without compute or communication")                   \
    F(T, I64, idle_ns, MEASURE, "ns", "wall time without device work")                                                 \
    F(T, F64, flop, MEASURE, "FLOP",                                                                                   \
      "floating-point operations of matrix products, convolutions and attention, as in table operator; NaN for a "     \
      "single device, or if a kernel with the name of such an operation has no operator with recorded shapes")         \
    F(T, F64, peak_ns, MEASURE, "ns",                                                                                  \
      "time that these operations take at the peak rate of the devices; NaN: unknown peak")                            \
    F(T, F64, tflop_per_s, MEASURE, "TFLOP/s", "flop / wall_ns, in 10^12 FLOP/s; for several ranks the mean per rank") \
    F(T, F64, peak_share, MEASURE, "",                                                                                 \
      "peak_ns / wall_ns: the share of the peak that is used (MFU; recomputation for activation checkpoints counts, "  \
      "as in HFU)")
TL_TABLE(breakdown, TL_BREAKDOWN_FIELDS);

/* The range of rows of each rank in a table of events.  Every such table T has one, called T_index. */
#define TL_ROW_INDEX_FIELDS(F, T)                                                                                      \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I64, first_row, MEASURE, "", "number of the rank's first row in the table")                                   \
    F(T, I64, nrows, MEASURE, "", "number of the rank's rows, which are consecutive")
TL_TABLE(row_index, TL_ROW_INDEX_FIELDS);

#endif
