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
    V(TL_RANK_DAMAGED, "damaged", "some events were lost; error says which")                                           \
    V(TL_RANK_CUT, "cut", "the file ends too early")                                                                   \
    V(TL_RANK_NO_GPU, "no_gpu_events", "it has no device work")                                                        \
    V(TL_RANK_UNREADABLE, "unreadable", "nothing of it could be read")
typedef enum tl_rank_status { TL_STATUS_VALUES(TL_VALUE_NAME) } tl_rank_status;
TL_LABELS(rank_status);
TL_LABELS(rank_from);

#define TL_RANK_FIELDS(F, T)                                                                                           \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, ENUM(rank_status), status, LABEL, "",                                                                         \
      "ok; damaged: some entries were lost, or the text around them or the compressed "                                \
      "stream is damaged; cut: the file ends early; "                                                                  \
      "no_gpu_events: nothing ran on a device; unreadable: no entry could be read")                                    \
    F(T, ENUM(rank_from), rank_from, SOURCE, "",                                                                       \
      "what named the rank: distributedInfo, the file's name, or its place in order")                                  \
    F(T, I32, devices, MEASURE, "", "devices with work in this trace")                                                 \
    F(T, I32, device, MEASURE, "", "its device; -1 where none or several have work in this trace")                     \
    F(T, I64, intervals, MEASURE, "", "rows of this rank in interval")                                                 \
    F(T, I64, unclassified_ns, MEASURE, "ns",                                                                          \
      "kernel time that no rule named (counted as compute), summed over streams")                                      \
    F(T, I64, kernel_ns, MEASURE, "ns", "kernel time in all, summed over streams; copies not included")                \
    F(T, I64, no_launch, MEASURE, "", "intervals whose launch is not in the trace")                                    \
    F(T, I64, before_launch, MEASURE, "",                                                                              \
      "intervals that seem to start before the call that launched them: the clocks "                                   \
      "of host and device disagree; no delay is taken to be below 0 for it")                                           \
    F(T, I64, before_launch_ns, MEASURE, "ns",                                                                         \
      "by how much at most: so far the device's clock is late against the host's")                                     \
    F(T, I64, too_long, MEASURE, "",                                                                                   \
      "device work with an end that cannot be: the next of its stream has ended long before (parameters overrun, "     \
      "last_work_most); in all tables it ends where that begins, or with the recording")                               \
    F(T, I64, too_long_ns, MEASURE, "ns", "what was cut off it, together")                                             \
    F(T, TIME, first_ns, MEASURE, "ns", "first start of device work")                                                  \
    F(T, TIME, last_ns, MEASURE, "ns", "last end of device work")                                                      \
    F(T, I64, base_time_ns, LABEL, "ns", "baseTimeNanoseconds of the trace, which was added; 0: none")                 \
    F(T, I32, world_size, LABEL, "", "ranks of the job as distributedInfo tells, -1 where it does not")                \
    F(T, TEXT64, device_name, LABEL, "", "name of the first device in deviceProperties")                               \
    F(T, TEXT256, libraries, SOURCE, "",                                                                               \
      "versions that the trace tells of PyTorch, CUDA or HIP and its driver, NCCL (or RCCL) and CUPTI; else empty")    \
    F(T, TEXT128, host, LABEL, "",                                                                                     \
      "host, from the trace or from the file's name; \"pids A-B\": neither tells, but the process ids of these ranks " \
      "follow upon one another, and their devices differ; else empty")                                                 \
    F(T, I64, dropped, MEASURE, "", "entries of traceEvents lost")                                                     \
    F(T, I64, repaired, MEASURE, "", "entries read after a repair")                                                    \
    F(T, I64, untimed, MEASURE, "", "of these, those without a duration, or with one below 0: it counts as 0")         \
    F(T, I64, first_bad_byte, MEASURE, "byte",                                                                         \
      "offset in the text of what is wrong first: with an entry lost or "                                              \
      "repaired, with the text around them, or of the cut; -1 for none")                                               \
    F(T, I64, events, SOURCE, "", "entries of traceEvents seen")                                                       \
    F(T, I64, kept, SOURCE, "", "entries kept for analysis")                                                           \
    F(T, I64, file_bytes, SOURCE, "byte", "size of the file")                                                          \
    F(T, I64, text_bytes, SOURCE, "byte", "size of its text, decompressed")                                            \
    F(T, I32, duplicates, SOURCE, "",                                                                                  \
      "other traces that say they are this rank and were recorded at the same time, so that "                          \
      "they are of another job; left out")                                                                             \
    F(T, TEXT256, file, SOURCE, "", "path as it was given; the end of one longer than 256 bytes, with ... before it")  \
    F(T, TEXT256, error, SOURCE, "", "what was wrong: expected, found, done about it; empty when all is well")
TL_TABLE(rank, TL_RANK_FIELDS);

/* One row per piece of device work, of every rank. */
#define TL_INTERVAL_FIELDS(F, T)                                                                                       \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, device, KEY, "",                                                                                         \
      "device: as the arguments of the work say, or else the process (pid) of its track, which is a device in "        \
      "Kineto; where neither is one, the lowest that other work of the trace has, -1 for none; of a wait for any -1")  \
    F(T, I32, stream, KEY, "", "device stream, -1 for none")                                                           \
    F(T, TIME, start_ns, KEY, "ns", "start on the device")                                                             \
    F(T, TIME, end_ns, LABEL, "ns", "end on the device")                                                               \
    F(T, I64, duration_ns, MEASURE, "ns", "end less start")                                                            \
    F(T, ENUM(kind), kind, LABEL, "",                                                                                  \
      "compute, comm (communication), memcpy, memset; sync: a recorded wait, which is no work")                        \
    F(T, NAME, name, LABEL, "", "name of the kernel or copy: its row in /names")                                       \
    F(T, I64, correlation, LABEL, "", "joins the interval to its launch; -1 for none")                                 \
    F(T, TIME, launch_ns, LABEL, "ns",                                                                                 \
      "start of the call that queued it; the smallest integer when that is not in the "                                \
      "trace")                                                                                                         \
    F(T, I64, bytes, LABEL, "byte", "bytes copied or set, -1 when unknown")                                            \
    F(T, I32, step, LABEL, "",                                                                                         \
      "ProfilerStep in which it was launched, -1 for none; without a launch in the trace that in which it starts, "    \
      "or, where that is earlier, that in which the next work of its stream was launched: work starts in the order "   \
      "in which it is launched, and a device may be steps behind its host")                                            \
    F(T, NAME, operator, LABEL, "",                                                                                    \
      "operator around its launch: the innermost that lasts as long as the call, to within 1 us, to which times may "  \
      "be rounded; where none does, the innermost in which it begins")                                                 \
    F(T, NAME, annotation, LABEL, "",                                                                                  \
      "user annotation around its launch, likewise, marks of steps apart; of a launch by a thread that has none open " \
      "then, as those of autograd, the innermost open one of the thread with the most annotations")
TL_TABLE(interval, TL_INTERVAL_FIELDS);

/* The steps that are marked on the host: by the profiler, or by the annotations of a server. */
#define TL_STEP_FIELDS(F, T)                                                                                           \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I32, step, KEY, "",                                                                                           \
      "number in ProfilerStep#; of iterations of a server their place in order of time, from 0")                       \
    F(T, TIME, start_ns, LABEL, "ns", "start of the mark on the host")                                                 \
    F(T, TIME, end_ns, LABEL, "ns",                                                                                    \
      "start of the next mark; for the last step the end of its own.  A number that a thread marks again after "       \
      "another is left out, as table rank tells: a step has one window")                                               \
    F(T, ENUM(serving), serving, LABEL, "", "what a server does in this iteration; none: a training step")             \
    F(T, F64, batch_size, LABEL, "", "requests in the iteration, as its annotation tells; else empty")                 \
    F(T, F64, tokens, LABEL, "", "tokens that the iteration works on, as its annotation tells; else empty")
TL_TABLE(step, TL_STEP_FIELDS);

/* The step number of a row for all whole steps, in table breakdown. */
enum { TL_WHOLE_STEPS = -2 };
#define TL_BREAKDOWN_FIELDS(F, T)                                                                                      \
    F(T, I32, rank, KEY, "", "traced rank; -1: sum over all ranks")                                                    \
    F(T, I32, device, KEY, "", "-1: sum over the rank's devices; else a device of a rank that has several")            \
    F(T, I32, step, KEY, "",                                                                                           \
      "profiler step, to which work is cut that runs past its bounds (table step); -1: whole trace; -2: the steps "    \
      "that all ranks have whole together, where table health leaves some out. A single device has rows for the "      \
      "steps in which it worked; none where the rank would have more such rows than work, steps and devices "          \
      "together, and more than 16384")                                                                                 \
    F(T, I64, wall_ns, MEASURE, "ns",                                                                                  \
      "from the first start to the last end of device work; wall = compute + "                                         \
      "comm_exposed + copy_exposed + idle")                                                                            \
    F(T, I64, busy_ns, MEASURE, "ns", "time with any device work")                                                     \
    F(T, I64, compute_ns, MEASURE, "ns", "time with a compute kernel running")                                         \
    F(T, I64, comm_ns, MEASURE, "ns", "time with communication running")                                               \
    F(T, I64, comm_exposed_ns, MEASURE, "ns",                                                                          \
      "communication without compute: comm_waiting + comm_transfer + comm_unknown, which table exposed has by group")  \
    F(T, I64, comm_waiting_ns, MEASURE, "ns", "the part of it that is known to be waiting for other ranks")            \
    F(T, I64, comm_transfer_ns, MEASURE, "ns",                                                                         \
      "the part of it in which all ranks that take part are known to have come")                                       \
    F(T, I64, comm_unknown_ns, MEASURE, "ns", "the rest: waiting or transfer")                                         \
    F(T, I64, copy_ns, MEASURE, "ns", "time with a copy or memset running")                                            \
    F(T, I64, copy_exposed_ns, MEASURE, "ns", "copies and memsets without compute or communication")                   \
    F(T, I64, idle_ns, MEASURE, "ns", "wall time without device work")                                                 \
    F(T, F64, flop, MEASURE, "FLOP",                                                                                   \
      "floating-point operations of matrix products, convolutions and attention, as in table operator; NaN where a "   \
      "kernel that by its name does such things is launched by no operator with recorded shapes, and of a single "     \
      "device")                                                                                                        \
    F(T, F64, peak_ns, MEASURE, "ns", "the time that these take at the peak of the devices; NaN where none is known")  \
    F(T, F64, tflop_per_s, MEASURE, "TFLOP/s", "flop / wall_ns, in 10^12 FLOP/s: of several ranks the mean of one")    \
    F(T, F64, peak_share, MEASURE, "",                                                                                 \
      "peak_ns / wall_ns: MFU, the share of the peak that the job uses; what is computed twice (activation "           \
      "checkpoints) counts twice, as in HFU")
TL_TABLE(breakdown, TL_BREAKDOWN_FIELDS);

/* The range of rows of each rank in a table of events.  Every such table T has one, called T_index. */
#define TL_ROW_INDEX_FIELDS(F, T)                                                                                      \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, I64, first_row, MEASURE, "", "number of its first row in the table")                                          \
    F(T, I64, nrows, MEASURE, "", "rows of the rank, one after the other")
TL_TABLE(row_index, TL_ROW_INDEX_FIELDS);

#endif
