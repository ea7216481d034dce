/* phase_tables.h - the tables of a result file about phases that were timed without a profiler. */
#ifndef TLMPI_MODEL_PHASE_TABLES_H
#define TLMPI_MODEL_PHASE_TABLES_H

#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/doubt.h"
#include "tlmpi/model/schema.h"

/* Whether a phase contains collectives, judged by the phase's name.  In order of how far collectives level the
 * phase's duration across ranks: NONE not at all, ONLY entirely. */
#define TL_HOLDS_VALUES(V)                                                                                             \
    V(TL_HOLDS_NONE, "none", "the phase needs no other rank")                                                          \
    V(TL_HOLDS_UNKNOWN, "unknown", "the name does not tell")                                                           \
    V(TL_HOLDS_SOME, "some", "collectives, and work of the rank")                                                      \
    V(TL_HOLDS_ONLY, "only", "nothing but collectives")
typedef enum tl_phase_holds { TL_HOLDS_VALUES(TL_VALUE_NAME) } tl_phase_holds;
TL_LABELS(phase_holds);

#define TL_PHASE_ANSWER_VALUES(V)                                                                                      \
    V(TL_PHASE_NONE, "none", "no rank holds the job up")                                                               \
    V(TL_PHASE_STRAGGLER, "straggler", "the others wait for the rank")                                                 \
    V(TL_PHASE_WAITING, "waiting", "the rank is shorter in its other phases, and waits for others in this one")        \
    V(TL_PHASE_LONGER, "longer", "no rank is shown to wait for it")                                                    \
    V(TL_PHASE_OPEN, "open", "the rank waits, or others do: durations alone cannot tell")                              \
    V(TL_PHASE_CHEAP, "cheap", "the cost is below --least-cost")                                                       \
    V(TL_PHASE_ONE_RANK, "one_rank", "there is no rank to compare with")
typedef enum tl_phase_answer { TL_PHASE_ANSWER_VALUES(TL_VALUE_NAME) } tl_phase_answer;
TL_LABELS(phase_answer);

#define TL_PHASE_STEP_FIELDS(F, T)                                                                                     \
    F(T, I32, step, KEY, "", "step, as the records number them")                                                       \
    F(T, NAME, phase, KEY, "", "name of the phase, in order of texts")                                                 \
    F(T, I32, rank, KEY, "", "rank")                                                                                   \
    F(T, I64, duration_ns, MEASURE, "ns", "sum of its records; a step may have several (micro-steps)")                 \
    F(T, I32, records, MEASURE, "", "how many")                                                                        \
    F(T, I64, wait_ns, MEASURE, "ns",                                                                                  \
      "the part that Kineto traces of the same ranks show as exposed waiting for others in the step, subtracted "      \
      "before ranks are compared; -1: not measured")                                                                   \
    F(T, I64, baseline_ns, MEASURE, "ns",                                                                              \
      "median of the ranks in this step; with two ranks the duration on the other one; 0 for a phase that only this "  \
      "rank has, such as a checkpoint")                                                                                \
    F(T, I64, excess_ns, MEASURE, "ns", "duration_ns - wait_ns (if measured) - baseline_ns")
TL_TABLE(phase_step, TL_PHASE_STEP_FIELDS);

#define TL_PHASE_FIELDS(F, T)                                                                                          \
    F(T, I32, rank, KEY, "", "rank")                                                                                   \
    F(T, NAME, phase, KEY, "", "name of the phase, in order of texts")                                                 \
    F(T, ENUM(phase_holds), collectives, LABEL, "",                                                                    \
      "what the name says about collectives in the phase: none (host_to_device, data ...), some (training_step, "      \
      "backward ...), only (all_reduce, barrier ...), unknown")                                                        \
    F(T, I64, steps, MEASURE, "", "steps with a record of it")                                                         \
    F(T, I64, total_ns, MEASURE, "ns", "sum over these steps")                                                         \
    F(T, F64, mean_ns, MEASURE, "ns", "mean of a step")                                                                \
    F(T, I64, min_ns, MEASURE, "ns", "shortest")                                                                       \
    F(T, F64, median_ns, MEASURE, "ns", "median")                                                                      \
    F(T, I64, max_ns, MEASURE, "ns", "longest")                                                                        \
    F(T, I64, excess_ns, MEASURE, "ns", "sum of excess_ns of table phase_step; negative: shorter than on other ranks") \
    F(T, I64, late_steps, MEASURE, "", "steps in which the rank is late: those of its rows in table phase_verdict")    \
    F(T, I64, missing, MEASURE, "", "steps without a record of this rank, although most ranks have one")
TL_TABLE(phase, TL_PHASE_FIELDS);

#define TL_PHASE_VERDICT_FIELDS(F, T)                                                                                  \
    F(T, I32, place, KEY, "", "0: the answer for the job; then the findings, stragglers first, each by cost")          \
    F(T, I32, rank, LABEL, "", "rank; for the job the first straggler, -1: none")                                      \
    F(T, TEXT128, phase, LABEL, "",                                                                                    \
      "phase that is longer than on other ranks; for the job that of the first straggler")                             \
    F(T, ENUM(phase_answer), verdict, MEASURE, "", "what the longer phase means")                                      \
    F(T, I64, excess_ns, MEASURE, "ns",                                                                                \
      "sum of its excess over its peers in its steps; for stragglers the excess over the ranks that are not named")    \
    F(T, F64, share, MEASURE, "",                                                                                      \
      "excess_ns / sum of excess_ns over all rows of the rank: the phase with the largest share is the reason")        \
    F(T, TEXT128, waits_in, MEASURE, "",                                                                               \
      "phase in which the others wait for the rank; for waiting the phase in which the rank is shorter; empty: not "   \
      "shown")                                                                                                         \
    F(T, I32, nwaiters, MEASURE, "",                                                                                   \
      "ranks that are longer there by half of excess_ns, or with that much measured waiting")                          \
    F(T, I64, waited_ns, MEASURE, "ns", "mean excess of these ranks there")                                            \
    F(T, ENUM(pattern), pattern, MEASURE, "", "as in table straggler")                                                 \
    F(T, I32, first_step, MEASURE, "", "first step of the pattern; -1 without one")                                    \
    F(T, I32, last_step, MEASURE, "", "last step of the pattern; -1 without one")                                      \
    F(T, I64, steps_flagged, MEASURE, "", "steps in which it is late")                                                 \
    F(T, I64, steps, MEASURE, "", "steps that were compared")                                                          \
    F(T, F64, z, MEASURE, "", "excess in these steps / the scale of noise")                                            \
    F(T, F64, p_value, MEASURE, "",                                                                                    \
      "probability of a z as large for any rank, phase or set of steps, as in table straggler")                        \
    F(T, I64, cost_ns, MEASURE, "ns",                                                                                  \
      "estimated gain of the job without the excess: the lead of the next rank that is not named, in this phase and "  \
      "up to where the others wait, summed over the steps; for the job that of all stragglers together, where the "    \
      "latest counts in each step")                                                                                    \
    F(T, I64, time_ns, MEASURE, "ns",                                                                                  \
      "length of these steps: the sum of the medians of the phases, so that nested phases count twice; for the job "   \
      "the length of all steps")                                                                                       \
    F(T, ENUM(confidence), confidence, MEASURE, "", "trust in the verdict")                                            \
    F(T, TEXT256, reason, MEASURE, "", "reason for the verdict, and what durations alone cannot tell")
TL_TABLE(phase_verdict, TL_PHASE_VERDICT_FIELDS);

#endif
