/* culprit_table.h - the table of what delays the job: analysis/culprit decides, report only prints.
 *
 * A culprit is a rank, a host, a link, or several ranks that only gain together.
 */
#ifndef TLMPI_MODEL_CULPRIT_TABLE_H
#define TLMPI_MODEL_CULPRIT_TABLE_H

#include "tlmpi/model/schema.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/doubt.h"
#include <stdbool.h>

/* What the culprit is; or, in the only row of a job without a culprit, why none is named. */
#define TL_CULPRIT_KIND_VALUES(V)                                                                                      \
    V(TL_CULPRIT_RANK, "rank", "one rank")                                                                             \
    V(TL_CULPRIT_HOST, "host", "all ranks of one host")                                                                \
    V(TL_CULPRIT_SEVERAL, "several",                                                                                   \
      "several ranks, whose joint repair gains at least twice as much as that of any one of them")                     \
    V(TL_CULPRIT_UNTRACED, "untraced", "a rank without a trace; its gain is a lower bound")                            \
    V(TL_CULPRIT_LINK, "link", "a link between ranks")                                                                 \
    V(TL_CULPRIT_NONE, "none", "no rank holds the job up")                                                             \
    V(TL_CULPRIT_INCONCLUSIVE, "inconclusive", "the traces do not allow a verdict")                                    \
    V(TL_CULPRIT_UNMATCHED, "unmatched", "no collective could be matched across ranks")                                \
    V(TL_CULPRIT_SILENCE, "no_communication", "the ranks do not communicate in these traces")                          \
    V(TL_CULPRIT_ONE_RANK, "one_rank", "there is one rank")                                                            \
    V(TL_CULPRIT_NO_WORK, "no_device_work", "nothing ran on a device")
typedef enum tl_culprit_kind { TL_CULPRIT_KIND_VALUES(TL_VALUE_NAME) } tl_culprit_kind;
/* "rank", "host", "several", "untraced", "link", "none", "inconclusive", "unmatched", "no_communication", "one_rank",
 * "no_device_work", NULL */
TL_LABELS(culprit_kind);

/* One row per culprit.  Never empty: in a job without a culprit one row gives the reason, and the confidence in it. */
#define TL_CULPRIT_FIELDS(F, T)                                                                                        \
    F(T, I32, culprit, KEY, "", "number: by gain_ns, then excess_ns, largest first; ties: the lower rank")             \
    F(T, ENUM(culprit_kind), kind, LABEL, "",                                                                          \
      "what the culprit is; in the only row of a job without a culprit, why none is named")                            \
    F(T, TEXT1024, ranks, LABEL, "",                                                                                   \
      "the ranks; for a link the ranks at its ends, or, if these are unknown, the ranks that include them")            \
    F(T, I32, nranks, LABEL, "", "number of ranks; 0: none, or a link with unknown ends")                              \
    F(T, I32, rank, LABEL, "",                                                                                         \
      "the rank; for several the rank that alone costs most; for a link one end; for none the rank with the largest "  \
      "excess_ns; for inconclusive the rank with that verdict (table straggler has the reason); -1: none")             \
    F(T, I32, peer, LABEL, "", "other end of a link; -1: none, or unknown")                                            \
    F(T, I32, link, LABEL, "", "number in table link; -1: not a link")                                                 \
    F(T, TEXT128, host, LABEL, "",                                                                                     \
      "host of the rank, of a link's rank, or of all the ranks; empty: unknown, or all ranks of the job are on one "   \
      "host")                                                                                                          \
    F(T, TEXT128, peer_host, LABEL, "", "host of a link's peer")                                                       \
    F(T, I32, device, LABEL, "", "device of a single rank; -1: unknown")                                               \
    F(T, ENUM(pattern), pattern, MEASURE, "",                                                                          \
      "in which steps it delays the job, as in table straggler; for several ranks over all their steps")               \
    F(T, I32, first_step, MEASURE, "", "first step of the pattern; -1 without one")                                    \
    F(T, I32, last_step, MEASURE, "", "last step of the pattern; -1 without one")                                      \
    F(T, I64, steps_flagged, MEASURE, "", "steps of the pattern with a delay; 0 for a link")                           \
    F(T, I64, steps_not_counted, MEASURE, "",                                                                          \
      "steps with a delay outside of the pattern: they cost less, or recordings begin or end in them; 0 for a link")   \
    F(T, F64, share_steps, MEASURE, "", "of `rank`, as in table straggler; none for a link")                           \
    F(T, I64, gain_ns, MEASURE, "ns", "how much shorter the job is without the delay, simulated; -1: not simulated")   \
    F(T, I64, excess_ns, MEASURE, "ns",                                                                                \
      "excess_ns of table blame_step, summed over the flagged steps; for several ranks that of the worst in each "     \
      "step; for none over all steps; for a link excess_ns of table link")                                             \
    F(T, I64, cost_ns, MEASURE, "ns",                                                                                  \
      "cost: gain_ns; excess_ns if not simulated, or if the rank is named although its repair alone gains nothing")    \
    F(T, I64, wall_ns, MEASURE, "ns",                                                                                  \
      "wall time of the window that all ranks have recorded: replayed, or measured if the replay is not reliable")     \
    F(T, F64, cost_share, MEASURE, "", "cost_ns / wall_ns")                                                            \
    F(T, I64, step_cost_ns, MEASURE, "ns",                                                                             \
      "gain_ns in a flagged step, mean; if not simulated the median of excess_ns; 0 for a link")                       \
    F(T, I64, step_ns, MEASURE, "ns", "mean length of these steps; if not simulated their median length")              \
    F(T, I64, late_count, MEASURE, "", "collectives in which it, or one of its ranks, arrived last; 0 for a link")     \
    F(T, I64, blame_ns, MEASURE, "ns",                                                                                 \
      "GPU time: waits of all other ranks for it, or for ranks that had waited for it")                                \
    F(T, I64, indirect_ns, MEASURE, "ns", "the part of blame_ns that is waits for ranks that had waited for it")       \
    F(T, I64, waited_ns, MEASURE, "ns", "mean wait of each of the other ranks for it")                                 \
    F(T, I64, nwaiters, MEASURE, "",                                                                                   \
      "ranks that waited for it directly; with groups of more than 32 ranks a lower bound")                            \
    F(T, TEXT1024, waiters, LABEL, "", "these ranks, as far as they are known")                                        \
    F(T, F64, path_share, MEASURE, "", "its share of the critical path, for a link that of its ends; none: unknown")   \
    F(T, F64, p_value, MEASURE, "", "as in table straggler, or link; for several ranks the smallest")                  \
    F(T, F64, z, MEASURE, "", "as in table straggler, of `rank`, or link")                                             \
    F(T, ENUM(cause), cause, MEASURE, "", "as in table straggler, of `rank`; slow_link for a link")                    \
    F(T, ENUM(cause), largest_cause, MEASURE, "", "as in table straggler, of `rank`; slow_link for a link")            \
    F(T, F64, cause_share, MEASURE, "", "as in table straggler, of `rank`; 1 for a link")                              \
    F(T, I32, same_cause, LABEL, "", "1: all its ranks have this cause")                                               \
    F(T, TEXT128, place, MEASURE, "", "as in table straggler, of `rank`; empty: none stands out")                      \
    F(T, ENUM(confidence), confidence, MEASURE, "",                                                                    \
      "trust in the name: high without a doubt, medium with one or two doubts, low with three, or with a grave one")   \
    F(T, TEXT256, doubts, MEASURE, "", "the doubts")                                                                   \
    F(T, ENUM(confidence), cause_confidence, MEASURE, "", "trust in cause and place")                                  \
    F(T, TEXT256, cause_doubts, MEASURE, "", "the doubts")                                                             \
    F(T, ENUM(confidence), waiting_confidence, MEASURE, "", "trust in the waits")                                      \
    F(T, TEXT256, waiting_doubts, MEASURE, "", "the doubts")                                                           \
    F(T, ENUM(confidence), steps_confidence, MEASURE, "", "trust in the pattern")                                      \
    F(T, TEXT256, steps_doubts, MEASURE, "", "the doubts")
TL_TABLE(culprit, TL_CULPRIT_FIELDS);

/* Returns whether the row names a culprit. */
static inline bool tl_is_culprit(const tl_culprit *row)
{
    return row->kind <= TL_CULPRIT_LINK;
}

#endif
