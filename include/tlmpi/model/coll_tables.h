/* coll_tables.h - the tables of a result file about collectives matched across ranks, column by column.
 *
 * Times are on the job's clock: where a rank's clock was found to be off (table clock, column applied), its times have
 * been shifted; the times in table interval are as the trace has them.
 */
#ifndef TLMPI_MODEL_COLL_TABLES_H
#define TLMPI_MODEL_COLL_TABLES_H

#include "tlmpi/model/kind.h"
#include "tlmpi/model/participant.h"
#include "tlmpi/model/schema.h"

/* Which ranks of a collective are matched. */
#define TL_COLL_STATE_VALUES(V)                                                                                        \
    V(TL_COLL_WHOLE, "whole", "all its ranks")                                                                         \
    V(TL_COLL_PARTIAL, "partial", "all its ranks that have a trace here; ranks without a trace take part, or may")     \
    V(TL_COLL_MISSING, "missing", "a rank that has a trace is missing")                                                \
    V(TL_COLL_UNMATCHED, "unmatched", "one rank alone, although other ranks of the group have a trace")
typedef enum tl_coll_state { TL_COLL_STATE_VALUES(TL_VALUE_NAME) } tl_coll_state;
TL_LABELS(coll_state);

/* The first check of a collective that fails. */
#define TL_SUSPICION_VALUES(V)                                                                                         \
    V(TL_SUSPECT_NOTHING, "no", "everything fits")                                                                     \
    V(TL_SUSPECT_KIND, "kind", "its ranks ran different collectives")                                                  \
    V(TL_SUSPECT_DTYPE, "dtype", "their data types differ")                                                            \
    V(TL_SUSPECT_SIZE, "size", "their sizes differ")                                                                   \
    V(TL_SUSPECT_TWICE, "twice", "a rank takes part twice")                                                            \
    V(TL_SUSPECT_WAIT, "wait", "a rank finished before another arrived")                                               \
    V(TL_SUSPECT_ENDS, "ends", "its ranks did not end together")
typedef enum tl_suspicion { TL_SUSPICION_VALUES(TL_VALUE_NAME) } tl_suspicion;
TL_LABELS(suspicion);

#define TL_SKEW_VALUES(V)                                                                                              \
    V(TL_SKEW_NONE, "none",                                                                                            \
      "one participant, or ranks are missing and at most half of the kernel time is known to be waiting")              \
    V(TL_SKEW_ARRIVAL, "arrival", "more than half of the kernels' time was waiting")                                   \
    V(TL_SKEW_MIXED, "mixed", "in between")                                                                            \
    V(TL_SKEW_TRANSFER, "transfer", "less than a fifth was waiting")                                                   \
    V(TL_SKEW_INCONCLUSIVE, "inconclusive", "arrivals are closer together than clocks can tell")
typedef enum tl_skew_class { TL_SKEW_VALUES(TL_VALUE_NAME) } tl_skew_class;
TL_LABELS(skew_class);

/* Which side of a collective the others waited for, or why that is unknown. */
#define TL_WAIT_STATE_VALUES(V)                                                                                        \
    V(TL_WAIT_NONE, "none", "one participant")                                                                         \
    V(TL_WAIT_LATE_RANK, "late_rank", "ranks waited for late ranks: see table blame")                                  \
    V(TL_WAIT_LATE_SENDER, "late_sender", "the receiver waited for the sender")                                        \
    V(TL_WAIT_LATE_RECEIVER, "late_receiver", "the sender waited for the receiver")                                    \
    V(TL_WAIT_LATE_PARTNER, "late_partner", "of two ranks that both send and receive, one waited")                     \
    V(TL_WAIT_INCONCLUSIVE, "inconclusive", "the clocks cannot tell which rank waited")                                \
    V(TL_WAIT_SUSPECT, "suspect", "the ranks do not fit together: see column suspect")
typedef enum tl_wait_state { TL_WAIT_STATE_VALUES(TL_VALUE_NAME) } tl_wait_state;
TL_LABELS(wait_state);

/* Whether the time of a communication kernel is divided into waiting and transfer, or why it is not. */
#define TL_COMM_DOUBT_VALUES(V)                                                                                        \
    V(TL_COMM_DOUBT_NONE, "none", "waiting and transfer are told apart")                                               \
    V(TL_COMM_DOUBT_UNMATCHED, "unmatched", "no other participant was found")                                          \
    V(TL_COMM_DOUBT_PARTNER, "partner", "it is unknown which ranks send to which")                                     \
    V(TL_COMM_DOUBT_NO_TRACE, "no_trace", "a participant, or a possible one, has no trace here")                       \
    V(TL_COMM_DOUBT_MISSING, "missing", "a rank that has a trace is missing")                                          \
    V(TL_COMM_DOUBT_SUSPECT, "suspect", "the ranks matched do not fit together")                                       \
    V(TL_COMM_DOUBT_CLOCKS, "clocks", "the clocks are too uncertain")
typedef enum tl_comm_doubt { TL_COMM_DOUBT_VALUES(TL_VALUE_NAME) TL_NCOMM_DOUBTS } tl_comm_doubt;
TL_LABELS(comm_doubt);

#define TL_NODES_VALUES(V)                                                                                             \
    V(TL_SPAN_UNKNOWN, "unknown", "hosts are not known")                                                               \
    V(TL_SPAN_INTRA_NODE, "intra_node", "all ranks on one host")                                                       \
    V(TL_SPAN_INTER_NODE, "inter_node", "ranks on several hosts")
typedef enum tl_node_span { TL_NODES_VALUES(TL_VALUE_NAME) } tl_node_span;
TL_LABELS(node_span);
TL_LABELS(match_rule);
TL_LABELS(size_from);

/* The form of parallelism that a process group serves. */
#define TL_PARALLEL_VALUES(V)                                                                                          \
    V(TL_PARALLEL_UNKNOWN, "unknown", "not known")                                                                     \
    V(TL_PARALLEL_WORLD, "world", "all ranks")                                                                         \
    V(TL_PARALLEL_DATA, "data", "data parallel")                                                                       \
    V(TL_PARALLEL_TENSOR, "tensor", "tensor parallel")                                                                 \
    V(TL_PARALLEL_PIPELINE, "pipeline", "pipeline parallel")                                                           \
    V(TL_PARALLEL_EXPERT, "expert", "expert parallel")                                                                 \
    V(TL_PARALLEL_CONTEXT, "context", "context parallel")
typedef enum tl_parallelism { TL_PARALLEL_VALUES(TL_VALUE_NAME) } tl_parallelism;
TL_LABELS(parallelism);

/* What table quality counts about the matching. */
#define TL_CHECK_VALUES(V)                                                                                             \
    V(TL_CHECK_MATCHED, "collective_matched", "collectives of two or more ranks, complete and not suspect")            \
    V(TL_CHECK_PARTIAL, "collective_partial", "collectives with ranks that have no trace here")                        \
    V(TL_CHECK_MISSING, "collective_missing",                                                                          \
      "collectives without a rank that has a trace: cut recordings, lost events or desynchronised ranks")              \
    V(TL_CHECK_UNMATCHED, "collective_unmatched",                                                                      \
      "collectives of one rank alone, although other ranks of its group have a trace")                                 \
    V(TL_CHECK_KIND, "suspect_kind", "collectives whose ranks ran different ones: left out of verdicts")               \
    V(TL_CHECK_DTYPE, "suspect_dtype", "collectives whose ranks disagree on the type of the elements")                 \
    V(TL_CHECK_SIZE, "suspect_size", "collectives whose ranks disagree on the size of the message")                    \
    V(TL_CHECK_TWICE, "suspect_twice", "collectives in which a rank takes part twice")                                 \
    V(TL_CHECK_WAIT, "suspect_wait", "collectives in which a rank finished before another arrived")                    \
    V(TL_CHECK_ENDS, "suspect_ends", "collectives whose ranks did not end together; worst: how far apart")             \
    V(TL_CHECK_BY_SEQ, "arrival_by_seq", "ranks in collectives, matched by sequence number")                           \
    V(TL_CHECK_BY_LAUNCH, "arrival_by_launch", "ranks in collectives, matched by order of launch in the step")         \
    V(TL_CHECK_BY_ENDTIME, "arrival_by_endtime", "ranks in collectives, matched because they ended together")          \
    V(TL_CHECK_BY_PAIR, "arrival_by_pair", "sends and receives, matched by sender, receiver and order")                \
    V(TL_CHECK_ALONE, "arrival_alone", "ranks in collectives, not matched with another rank")                          \
    V(TL_CHECK_PAST_OWN_END, "wait_past_own_end",                                                                      \
      "arrivals at synchronising collectives whose kernel ended before the last rank arrived; the wait is cut there; " \
      "worst: by how much")                                                                                            \
    V(TL_CHECK_END_TOGETHER, "ends_agree",                                                                             \
      "synchronising collectives whose ranks end together; worst: the largest distance of their ends")                 \
    V(TL_CHECK_INCONCLUSIVE, "inconclusive",                                                                           \
      "matched collectives whose arrivals are closer together than the clocks can tell")                               \
    V(TL_CHECK_CLOCKS, "clocks", "clocks of the job, of ranks; worst: the largest offset found")                       \
    V(TL_CHECK_SHIFTED, "clocks_applied", "ranks whose times were shifted; worst: by how much")                        \
    V(TL_CHECK_UNCHARGED, "wait_inconclusive",                                                                         \
      "ns of waiting where the clocks cannot tell which rank arrived last, charged to no rank; worst: in one "         \
      "collective")                                                                                                    \
    V(TL_CHECK_CHARGED, "wait_late_rank", "ns of waiting for late ranks in collectives: table blame has the ranks")    \
    V(TL_CHECK_LATE_SENDER, "wait_late_sender",                                                                        \
      "ns that receivers waited for their senders, charged to no rank: the schedule of a pipeline causes them")        \
    V(TL_CHECK_LATE_RECEIVER, "wait_late_receiver",                                                                    \
      "ns that senders waited for their receivers, charged to no rank for the same reason")                            \
    V(TL_CHECK_LATE_PARTNER, "wait_late_partner",                                                                      \
      "ns of waiting between two ranks that both send and receive, charged to no rank for the same reason")            \
    V(TL_CHECK_WAIT_SUSPECT, "wait_suspect", "ns of waiting in suspect collectives, charged to no rank")               \
    V(TL_CHECK_UNSTEPPED, "collective_outside_steps",                                                                  \
      "matched collectives launched outside of all ProfilerSteps: not part of the verdict")
typedef enum tl_quality_check { TL_CHECK_VALUES(TL_VALUE_NAME) TL_NCHECKS } tl_quality_check;
TL_LABELS(check);

/* One row per collective, in order of first arrival. */
#define TL_COLLECTIVE_FIELDS(F, T)                                                                                     \
    F(T, I64, collective, KEY, "", "number, in order of first arrival")                                                \
    F(T, I32, group, LABEL, "", "process group: its row in table group")                                               \
    F(T, ENUM(collective), kind, LABEL, "", "all_reduce, all_gather ...; unknown if the trace lacks it")               \
    F(T, I64, seq, LABEL, "", "sequence number in the group, -1 where the trace has none")                             \
    F(T, I32, step, LABEL, "",                                                                                         \
      "ProfilerStep in which most of its ranks launched it; without a majority the step of the lowest rank that has "  \
      "one; -1: none")                                                                                                 \
    F(T, I32, n, MEASURE, "", "ranks matched")                                                                         \
    F(T, ENUM(coll_state), state, LABEL, "", "which of its ranks were matched")                                        \
    F(T, ENUM(suspicion), suspect, LABEL, "", "what does not fit; a suspect collective is not part of the verdict")    \
    F(T, ENUM(match_rule), match_rule, LABEL, "",                                                                      \
      "how its ranks were matched; table arrival has the rule of each rank")                                           \
    F(T, I64, bytes, LABEL, "byte", "size of the message as nccl-tests count it, largest over ranks; -1 when unknown") \
    F(T, ENUM(size_from), size_source, LABEL, "", "where the size comes from")                                         \
    F(T, TIME, s_first_ns, MEASURE, "ns", "first arrival: start of the first kernel")                                  \
    F(T, TIME, s_last_ns, MEASURE, "ns", "last arrival")                                                               \
    F(T, TIME, e_first_ns, MEASURE, "ns", "first end")                                                                 \
    F(T, I64, end_spread_ns, MEASURE, "ns", "last end - first end")                                                    \
    F(T, I64, kernel_sum_ns, MEASURE, "ns", "kernel time, summed over ranks")                                          \
    F(T, I64, wait_sum_ns, MEASURE, "ns", "wait of table arrival, summed over ranks")                                  \
    F(T, I64, transfer_ns, MEASURE, "ns",                                                                              \
      "first end - last arrival, at least 0; for kinds that ranks may leave before all have arrived (all-to-all, "     \
      "broadcast, send ...) the shortest kernel. Unless state is whole, it is an upper bound: it may include waiting " \
      "for the missing ranks")                                                                                         \
    F(T, I32, late_rank, MEASURE, "", "rank that arrived last; ties: the lowest; -1: one rank alone")                  \
    F(T, I64, second_margin_ns, MEASURE, "ns", "last arrival - the one before it")                                     \
    F(T, I64, uncertainty_ns, MEASURE, "ns",                                                                           \
      "uncertainty between the clocks of its ranks; 0: one clock; -1: nothing compares them")                          \
    F(T, ENUM(skew_class), skew_class, MEASURE, "", "whether waiting or transfer takes most of the kernel time")       \
    F(T, ENUM(wait_state), wait_state, MEASURE, "", "which side waited for which")                                     \
    F(T, ENUM(node_span), span, LABEL, "", "whether the ranks of the group (of a pair: both) are on one host")         \
    F(T, F64, busbw_gb_s, MEASURE, "GB/s",                                                                             \
      "bus bandwidth, 10^9 byte/s, where state is whole: bytes / transfer times the factor of nccl-tests")
TL_TABLE(collective_row, TL_COLLECTIVE_FIELDS);

/* One row per rank and collective. */
#define TL_ARRIVAL_FIELDS(F, T)                                                                                        \
    F(T, I64, collective, KEY, "", "number of the collective")                                                         \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, TIME, start_ns, MEASURE, "ns", "arrival: start of its kernel")                                                \
    F(T, TIME, end_ns, MEASURE, "ns", "end of its kernel")                                                             \
    F(T, I64, lead_ns, MEASURE, "ns", "last arrival - own arrival")                                                    \
    F(T, I64, wait_ns, MEASURE, "ns", "the part of lead_ns inside its own kernel: its wait for the last rank")         \
    F(T, I64, tail_ns, MEASURE, "ns", "own end - first end")                                                           \
    F(T, I64, launch_lag_ns, MEASURE, "ns", "own arrival - start of its launch, at least 0; -1 without a launch")      \
    F(T, ENUM(match_rule), match_rule, LABEL, "", "how the rank was matched")                                          \
    F(T, I64, in_bytes, MEASURE, "byte",                                                                               \
      "bytes that the rank put in; -1: unknown; in an all-to-all of experts the bytes sent to them")                   \
    F(T, I64, out_bytes, MEASURE, "byte", "bytes that the rank got out; -1: unknown")                                  \
    F(T, I32, uid, SOURCE, "", "its kernel's place in traceEvents")
TL_TABLE(arrival, TL_ARRIVAL_FIELDS);

/* One row per process group of the job. */
#define TL_GROUP_FIELDS(F, T)                                                                                          \
    F(T, I32, group, KEY, "", "number: named groups before inferred ones, then by size, largest first")                \
    F(T, TEXT32, name, LABEL, "", "name, as its lowest rank has it")                                                   \
    F(T, TEXT64, description, LABEL, "", "description, as its lowest rank has it")                                     \
    F(T, TEXT128, ranks, LABEL, "",                                                                                    \
      "its ranks (0-24/8 is every eighth); for an inferred group those seen; empty: unknown")                          \
    F(T, I32, size, LABEL, "", "ranks in it, -1 when unknown")                                                         \
    F(T, I32, seen, MEASURE, "", "ranks that have a trace here and use it")                                            \
    F(T, I32, inferred, LABEL, "",                                                                                     \
      "1: inferred, without metadata: ranks whose k-th collectives on the same stream end together")                   \
    F(T, ENUM(parallelism), parallelism, LABEL, "",                                                                    \
      "what it divides among its ranks, from its description; without one, pipeline if it has only sends and "         \
      "receives, world if it has all ranks of the job")                                                                \
    F(T, ENUM(node_span), span, LABEL, "", "whether its ranks are on one host")                                        \
    F(T, I32, hosts, MEASURE, "", "hosts of the ranks seen, -1 when unknown")                                          \
    F(T, I64, collectives, MEASURE, "", "collectives, matched or not")                                                 \
    F(T, I64, pairs, MEASURE, "", "among these: sends and receives, matched by sender and receiver")                   \
    F(T, I64, matched, MEASURE, "", "among these: two or more ranks, complete and not suspect")                        \
    F(T, I64, wait_ns, MEASURE, "ns",                                                                                  \
      "wait, summed over ranks and collectives, without suspect ones; includes waits in collectives with missing "     \
      "ranks")
TL_TABLE(group_row, TL_GROUP_FIELDS);

/* Times and bandwidths of a group's collectives of one kind and size. */
#define TL_BANDWIDTH_FIELDS(F, T)                                                                                      \
    F(T, I32, group, KEY, "", "process group")                                                                         \
    F(T, ENUM(collective), kind, KEY, "", "kind of collective")                                                        \
    F(T, I64, bytes_from, KEY, "byte",                                                                                 \
      "size class: messages of this size up to twice as much; 0; -1 for unknown sizes")                                \
    F(T, ENUM(node_span), span, KEY, "", "whether the ranks are on one host")                                          \
    F(T, I64, collectives, MEASURE, "",                                                                                \
      "collectives of this kind and size with all ranks matched (table collective: state whole, not suspect), in "     \
      "groups of two or more; for others the transfer is unknown")                                                     \
    F(T, I32, ranks, MEASURE, "", "fewest ranks in one of them")                                                       \
    F(T, ENUM(size_from), size_source, LABEL, "", "where the sizes come from; of several sources the last of these")   \
    F(T, I64, bytes, MEASURE, "byte", "sum of the message sizes; -1: unknown")                                         \
    F(T, I64, kernel_ns, MEASURE, "ns", "kernel time, summed over ranks")                                              \
    F(T, I64, wait_ns, MEASURE, "ns", "wait, summed over ranks")                                                       \
    F(T, I64, transfer_ns, MEASURE, "ns", "transfer, summed over collectives")                                         \
    F(T, F64, busbw_gb_s, MEASURE, "GB/s",                                                                             \
      "bus bandwidth, 10^9 byte/s: bytes / transfer_ns times the factor of nccl-tests")
TL_TABLE(bandwidth, TL_BANDWIDTH_FIELDS);

#define TL_COMM_DOUBT_MEANING                                                                                          \
    "why the rest is not told apart: unmatched: no other rank was found that takes part; partner: nothing tells "      \
    "which ranks send to which; no_trace: a rank that takes part, or may, has no trace here; missing: a rank that "    \
    "has a trace is not there; suspect: the ranks do not fit "                                                         \
    "together (table collective); clocks: they leave it open; none: there is no rest"

/* Exposed communication, split into waiting and transfer. */
#define TL_EXPOSED_FIELDS(F, T)                                                                                        \
    F(T, I32, rank, KEY, "", "traced rank; -1: sum over all ranks, over the groups of one parallelism")                \
    F(T, I32, step, KEY, "", "profiler step, in whose window it lies (table step); -1: whole trace")                   \
    F(T, I32, group, KEY, "", "process group; -1: unknown, or several groups")                                         \
    F(T, ENUM(parallelism), parallelism, KEY, "", "what the group divides among its ranks")                            \
    F(T, ENUM(collective), kind, KEY, "", "kind of collective: what the rank does in it")                              \
    F(T, I64, exposed_ns, MEASURE, "ns",                                                                               \
      "communication without compute; if several kernels communicate at once, it counts for the one that ends last. "  \
      "The rows sum up to comm_exposed_ns of table breakdown")                                                         \
    F(T, I64, waiting_ns, MEASURE, "ns", "the part of it that is known to be waiting for other ranks")                 \
    F(T, I64, transfer_ns, MEASURE, "ns", "the part of it in which all participants are known to have arrived")        \
    F(T, I64, unknown_ns, MEASURE, "ns", "the rest: waiting or transfer, unknown which")                               \
    F(T, ENUM(comm_doubt), unknown_why, LABEL, "", TL_COMM_DOUBT_MEANING "; of several reasons that of most of it")    \
    F(T, F64, share, MEASURE, "", "exposed_ns / wall_ns of the rank, or of the job, in the step (table breakdown)")
TL_TABLE(exposed, TL_EXPOSED_FIELDS);

/* One row per rank: the offset of its clock. */
#define TL_CLOCK_FIELDS(F, T)                                                                                          \
    F(T, I32, rank, KEY, "", "traced rank")                                                                            \
    F(T, TEXT128, host, LABEL, "", "host; empty: unknown")                                                             \
    F(T, I32, clock, LABEL, "", "ranks with the same number share a clock: those of a host, unless they disagree")     \
    F(T, I32, component, LABEL, "",                                                                                    \
      "clocks with the same number can be compared: collectives or messages connect them")                             \
    F(T, I64, offset_ns, MEASURE, "ns",                                                                                \
      "offset of the clock from the median clock of its component, in the middle of the trace, from the ends of "      \
      "collectives and messages")                                                                                      \
    F(T, I64, drift_ppb, MEASURE, "ppb", "drift of the clock in ns per second; 0: none found")                         \
    F(T, I64, step_ns, MEASURE, "ns", "jump of the clock; 0: none found")                                              \
    F(T, I64, sigma_ns, MEASURE, "ns",                                                                                 \
      "uncertainty of the offset: scatter and contradictions of the ends, and a share of the transfers, by which "     \
      "members may differ every time; -1: unknown")                                                                    \
    F(T, I64, anchors, MEASURE, "", "number of ends of collectives and messages that were used")                       \
    F(T, I32, applied, MEASURE, "",                                                                                    \
      "1: the rank's times have been corrected by offset, drift and jump, since they are impossible as recorded, or "  \
      "since its ends differ by more than their scatter")
TL_TABLE(clock, TL_CLOCK_FIELDS);

/* Counts, and worst cases, that tell how far the matching can be trusted. */
#define TL_QUALITY_FIELDS(F, T)                                                                                        \
    F(T, ENUM(check), check, KEY, "", "what was counted")                                                              \
    F(T, I64, count, MEASURE, "", "how many")                                                                          \
    F(T, I64, of, MEASURE, "", "number of cases in which the check was made")                                          \
    F(T, I64, worst_ns, MEASURE, "ns", "the largest, where it is a time; else 0")
TL_TABLE(quality, TL_QUALITY_FIELDS);

#endif
