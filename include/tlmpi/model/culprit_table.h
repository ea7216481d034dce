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
    V(TL_CULPRIT_SEVERAL, "several", "several ranks, whose repair gains more together than alone")                     \
    V(TL_CULPRIT_UNTRACED, "untraced", "a rank that has no trace")                                                     \
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
    F(T, I32, culprit, KEY, "", "number: by gain_ns, then excess_ns, largest first, of equals the lower rank")         \
    F(T, ENUM(culprit_kind), kind, LABEL, "",                                                                          \
      "rank; host: all ranks of one of several hosts; several: ranks whose joint repair gains at least twice what "    \
      "that of any of them does; untraced: a rank that has no trace, whose gain is the least it can be; link; or, of " \
      "the only row, why nobody is named: none: nobody stands out; "                                                   \
      "inconclusive; unmatched: no collectives could be matched; no_communication; one_rank; no_device_work")          \
    F(T, TEXT1024, ranks, LABEL, "",                                                                                   \
      "the ranks; of a link those at its ends, or where these are not known those among which it is")                  \
    F(T, I32, nranks, LABEL, "", "how many; 0 of a link whose ends are not known, and of nobody")                      \
    F(T, I32, rank, LABEL, "",                                                                                         \
      "the rank; of several the one that alone costs most; of a link one end; of none the one with most excess_ns; "   \
      " of inconclusive the one whose verdict is (table straggler has the reason); -1: none")                          \
    F(T, I32, peer, LABEL, "", "other end of a link; -1: none, or not known")                                          \
    F(T, I32, link, LABEL, "", "its number in table link; -1: it is no link")                                          \
    F(T, TEXT128, host, LABEL, "",                                                                                     \
      "host of the rank, of a link's rank, or of all ranks; empty where there is none, "                               \
      "or all ranks of the job are on it")                                                                             \
    F(T, TEXT128, peer_host, LABEL, "", "host of a link's peer")                                                       \
    F(T, I32, device, LABEL, "", "device of a single rank; -1: not known")                                             \
    F(T, ENUM(pattern), pattern, MEASURE, "", "as in table straggler; of several that of all their steps")             \
    F(T, I32, first_step, MEASURE, "", "first step of the pattern; -1 without one")                                    \
    F(T, I32, last_step, MEASURE, "", "last step of the pattern; -1 without one")                                      \
    F(T, I64, steps_flagged, MEASURE, "", "steps of the pattern in which it stands out; 0 of a link")                  \
    F(T, I64, steps_not_counted, MEASURE, "",                                                                          \
      "steps in which it stands out and that are none of its pattern: in them it costs less, or recordings begin or "  \
      "end; 0 of a link")                                                                                              \
    F(T, F64, share_steps, MEASURE, "", "of `rank`, as in table straggler; none of a link")                            \
    F(T, I64, gain_ns, MEASURE, "ns",                                                                                  \
      "how much less time the job takes without the delay, simulated; -1: not simulated")                              \
    F(T, I64, excess_ns, MEASURE, "ns",                                                                                \
      "time of the rank itself: excess_ns of table blame_step over its flagged steps, of several that of the worst "   \
      "in each; of none: over all steps; of a link its excess_ns")                                                     \
    F(T, I64, cost_ns, MEASURE, "ns",                                                                                  \
      "what it costs: gain_ns; excess_ns where that is not simulated, or where a rank is named though its repair "     \
      "gains nothing, and no others hide it")                                                                          \
    F(T, I64, wall_ns, MEASURE, "ns",                                                                                  \
      "of the window that all ranks have recorded: replayed where that is to be trusted, else measured")               \
    F(T, F64, cost_share, MEASURE, "", "cost_ns / wall_ns")                                                            \
    F(T, I64, step_cost_ns, MEASURE, "ns",                                                                             \
      "gain_ns within the flagged steps, for each; where not simulated the median of excess_ns; 0 of a link")          \
    F(T, I64, step_ns, MEASURE, "ns", "length of these steps in the mean; where not simulated that of the median one") \
    F(T, I64, late_count, MEASURE, "", "collectives in which it, or one of its ranks, came last; 0 of a link")         \
    F(T, I64, blame_ns, MEASURE, "ns", "GPU time: what all others together waited for it, or for those that had")      \
    F(T, I64, indirect_ns, MEASURE, "ns", "of them: others waited for those that waited for it")                       \
    F(T, I64, waited_ns, MEASURE, "ns", "what each of the other ranks waited for it in the mean")                      \
    F(T, I64, nwaiters, MEASURE, "", "ranks that waited for it itself; of groups above 32 ranks at least so many")     \
    F(T, TEXT1024, waiters, LABEL, "", "those of them that are known")                                                 \
    F(T, F64, path_share, MEASURE, "", "its part of the critical path, of a link that of its ends; none: not known")   \
    F(T, F64, p_value, MEASURE, "", "as in table straggler, or link; of several the least")                            \
    F(T, F64, z, MEASURE, "", "as in table straggler, of `rank`, or link")                                             \
    F(T, ENUM(cause), cause, MEASURE, "", "as in table straggler, of `rank`; slow_link of a link")                     \
    F(T, ENUM(cause), largest_cause, MEASURE, "", "as in table straggler, of `rank`; slow_link of a link")             \
    F(T, F64, cause_share, MEASURE, "", "as in table straggler, of `rank`; 1 of a link")                               \
    F(T, I32, same_cause, LABEL, "", "1: it is that of all its ranks")                                                 \
    F(T, TEXT128, place, MEASURE, "", "as in table straggler, of `rank`; empty where none stands out")                 \
    F(T, ENUM(confidence), confidence, MEASURE, "",                                                                    \
      "how sure it is who it is: high without a doubt, medium with one or "                                            \
      "two, low with three, or with a grave one")                                                                      \
    F(T, TEXT256, doubts, MEASURE, "", "what speaks against that")                                                     \
    F(T, ENUM(confidence), cause_confidence, MEASURE, "", "how sure cause and place are")                              \
    F(T, TEXT256, cause_doubts, MEASURE, "", "what speaks against them")                                               \
    F(T, ENUM(confidence), waiting_confidence, MEASURE, "", "how sure it is who waits")                                \
    F(T, TEXT256, waiting_doubts, MEASURE, "", "what speaks against that")                                             \
    F(T, ENUM(confidence), steps_confidence, MEASURE, "", "how sure the pattern is")                                   \
    F(T, TEXT256, steps_doubts, MEASURE, "", "what speaks against it")
TL_TABLE(culprit, TL_CULPRIT_FIELDS);

/* Returns whether the row names a culprit. */
static inline bool tl_is_culprit(const tl_culprit *row)
{
    return row->kind <= TL_CULPRIT_LINK;
}

#endif
