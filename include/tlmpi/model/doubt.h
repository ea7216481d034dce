/* doubt.h - confidence in an answer, and the doubts that reduce it.
 *
 * Confidence is high without a doubt, medium with one or two, low with three or with a grave one.
 */
#ifndef TLMPI_MODEL_DOUBT_H
#define TLMPI_MODEL_DOUBT_H

#include "tlmpi/model/schema.h"

#define TL_CONFIDENCE_VALUES(V)                                                                                        \
    V(TL_CONFIDENCE_HIGH, "high", "nothing speaks against it")                                                         \
    V(TL_CONFIDENCE_MEDIUM, "medium", "one or two doubts")                                                             \
    V(TL_CONFIDENCE_LOW, "low", "three doubts, or one that is grave")
typedef enum tl_confidence { TL_CONFIDENCE_VALUES(TL_VALUE_NAME) } tl_confidence;
TL_LABELS(confidence);

/* Reasons to doubt an answer; a set of doubts has the bits 1 << tl_doubt. */
#define TL_DOUBT_VALUES(V)                                                                                             \
    V(TL_DOUBT_ONE_STEP, "one_step", "grave: a single step was recorded, or none")                                     \
    V(TL_DOUBT_FEW_STEPS, "few_steps", "fewer than 5 steps")                                                           \
    V(TL_DOUBT_CHANCE, "chance",                                                                                       \
      "p is not far below the accepted chance of a wrong name, or noise makes the delay uncertain by more than 10 %")  \
    V(TL_DOUBT_ELSEWHERE, "gain_in_other_steps",                                                                       \
      "most of the gain lies in steps that are not flagged, or such steps get longer")                                 \
    V(TL_DOUBT_HARDLY_MATCHED, "hardly_matched",                                                                       \
      "grave: less than half of the collectives are matched, or there are none")                                       \
    V(TL_DOUBT_COMM_UNKNOWN, "communication_unknown",                                                                  \
      "communication that may be waiting or transfer exceeds 10 % of the gain, or 1 % of the wall time")               \
    V(TL_DOUBT_OUTSIDE, "outside_steps",                                                                               \
      "more than 10 % of the collectives are outside of the marked steps; or more than 10 % of the waits for the "     \
      "named ranks are there, or in a first or last step beside flagged ones, so that they may cost more; or no rank " \
      "is named, and more than 10 % of the steps are not whole")                                                       \
    V(TL_DOUBT_CLOCKS, "clocks", "waiting that the clocks leave open may exceed 1 % of the wall time")                 \
    V(TL_DOUBT_HIDDEN, "waits_hidden",                                                                                 \
      "grave: for most of the waiting the clocks leave open which rank was waited for")                                \
    V(TL_DOUBT_MISSING, "ranks_missing", "ranks of the job have no trace")                                             \
    V(TL_DOUBT_DAMAGED, "traces_damaged", "traces are cut or damaged")                                                 \
    V(TL_DOUBT_UNTIMED, "events_without_duration",                                                                     \
      "0.1 % of all events, or of the named ranks' events, have no valid duration")                                    \
    V(TL_DOUBT_SIZES, "sizes_differ",                                                                                  \
      "grave: the traces disagree on the size of the job: they may be of several jobs")                                \
    V(TL_DOUBT_DUPLICATES, "duplicate_ranks", "grave: several traces of the same time claim the same rank")            \
    V(TL_DOUBT_NO_WORK, "ranks_without_device_work", "some traces have no device work")                                \
    V(TL_DOUBT_NO_LAUNCHES, "ranks_without_launches",                                                                  \
      "some traces lack the launches of 10 % of the device work, or of work between other work of its stream in 10 % " \
      "of the steps: what released that work is unknown")                                                              \
    V(TL_DOUBT_LOST, "work_lost", "some traces lack the work of launches: table health")                               \
    V(TL_DOUBT_TAKEN, "unnamed_comm", "kernels count as communication by their behaviour, not by their names")         \
    V(TL_DOUBT_UNMARKED, "steps_unmarked",                                                                             \
      "grave: some ranks have no steps, although others have: ranks without steps are not compared")                   \
    V(TL_DOUBT_FOLLOWING, "steps_of_others",                                                                           \
      "some ranks mark no steps, or number them differently: their steps are taken from ranks with common "            \
      "collectives")                                                                                                   \
    V(TL_DOUBT_NOT_REPLAYED, "not_replayed", "the replay misses the measured time by more than 5 %, or there is none") \
    V(TL_DOUBT_GAIN, "gain_unlike_wait",                                                                               \
      "the lateness is twice the gain, although other ranks waited as long or steps are longer by as much; or the "    \
      "gain is twice the lateness, and other ranks waited")                                                            \
    V(TL_DOUBT_UNEXPLAINED, "unexplained",                                                                             \
      "the unexplained part of the critical path exceeds the gain, or --least-cost")                                   \
    V(TL_DOUBT_EXCESS, "excess",                                                                                       \
      "no rank is named, although one rank, or each rank of a host, has more work than its peers and caused most of "  \
      "the waiting, or is late by 5 % of a step while others wait; or a step takes 5 % longer than others because of " \
      "a rank that does not communicate meanwhile, or because of transfers")                                           \
    V(TL_DOUBT_ENDS, "ends_unknown", "the ranks at the ends of the link are unknown")                                  \
    V(TL_DOUBT_OTHER_STAGES, "other_stages",                                                                           \
      "all ranks of a role are late, or a link without others like it is slow: they are compared with other stages, "  \
      "or with their own other steps")                                                                                 \
    V(TL_DOUBT_HALF, "half_of_ranks",                                                                                  \
      "half of the ranks, all of one host, are late in all steps: only the other half remains as peers")               \
    V(TL_DOUBT_MIXED, "mixed_cause", "no cause has 80 % of the gain")                                                  \
    V(TL_DOUBT_UNKNOWN, "unknown_cause", "grave: nothing in the rank's own time explains the delay")                   \
    V(TL_DOUBT_NO_PLACE, "no_place", "no kernel, operator or annotation stands out")                                   \
    V(TL_DOUBT_CHARGES, "other_charges", "most of the charges in table blame are for other activities of the rank")    \
    V(TL_DOUBT_NO_VERDICT, "no_verdict", "grave: there are no data for a verdict")
typedef enum tl_doubt { TL_DOUBT_VALUES(TL_VALUE_NAME) TL_NDOUBTS } tl_doubt;
TL_LABELS(doubt);

/* Writes a set of doubts as text into a cell of `size` bytes, "few_steps chance", padded with 0; labels that do not fit
 * are omitted. */
void tl_doubts_text(unsigned doubts, char *cell, size_t size);

/* Returns the set of doubts in such a cell; words that are no labels are ignored. */
unsigned tl_doubts_of_text(const char *cell, size_t size);

#endif
