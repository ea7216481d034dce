/* phase_tables.h - the tables of a result file about phases that were timed without a profiler. */
#ifndef TLMPI_MODEL_PHASE_TABLES_H
#define TLMPI_MODEL_PHASE_TABLES_H

#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/doubt.h"
#include "tlmpi/model/schema.h"

/* Whether a phase contains collectives, judged by the phase's name.  In order of how far collectives level the
 * phase's duration across ranks: NONE not at all, ONLY entirely. */
#define TL_HOLDS_VALUES(V)                                                                                             \
    V(TL_HOLDS_NONE, "none", "it needs no other rank")                                                                 \
    V(TL_HOLDS_UNKNOWN, "unknown", "the name does not tell")                                                           \
    V(TL_HOLDS_SOME, "some", "collectives, and work of the rank")                                                      \
    V(TL_HOLDS_ONLY, "only", "nothing but collectives")
typedef enum tl_phase_holds { TL_HOLDS_VALUES(TL_VALUE_NAME) } tl_phase_holds;
TL_LABELS(phase_holds);

#define TL_PHASE_ANSWER_VALUES(V)                                                                                      \
    V(TL_PHASE_NONE, "none", "no rank holds the job up")                                                               \
    V(TL_PHASE_STRAGGLER, "straggler", "it holds the others up")                                                       \
    V(TL_PHASE_WAITING, "waiting", "it waits for others")                                                              \
    V(TL_PHASE_LONGER, "longer", "nobody is shown to wait for it")                                                     \
    V(TL_PHASE_OPEN, "open", "it waits, or others do: durations do not tell")                                          \
    V(TL_PHASE_CHEAP, "cheap", "it costs less than --least-cost")                                                      \
    V(TL_PHASE_ONE_RANK, "one_rank", "there is nobody to compare with")
typedef enum tl_phase_answer { TL_PHASE_ANSWER_VALUES(TL_VALUE_NAME) } tl_phase_answer;
TL_LABELS(phase_answer);

#define TL_PHASE_STEP_FIELDS(F, T)                                                                                     \
    F(T, I32, step, KEY, "", "step, as the records number them")                                                       \
    F(T, NAME, phase, KEY, "", "name of the phase, in order of texts")                                                 \
    F(T, I32, rank, KEY, "", "rank")                                                                                   \
    F(T, I64, duration_ns, MEASURE, "ns", "sum of its records, which may be several (micro-steps)")                    \
    F(T, I32, records, MEASURE, "", "how many")                                                                        \
    F(T, I64, wait_ns, MEASURE, "ns",                                                                                  \
      "of that, what Kineto traces of the same ranks show as exposed waiting for others in the step; taken off "       \
      "before ranks are compared; -1: not measured")                                                                   \
    F(T, I64, baseline_ns, MEASURE, "ns",                                                                              \
      "median of the ranks in this step, of two ranks what the other one takes; 0 "                                    \
      "of what this rank alone has, as a checkpoint")                                                                  \
    F(T, I64, excess_ns, MEASURE, "ns", "duration_ns, less the wait where it is measured, - baseline_ns")
TL_TABLE(phase_step, TL_PHASE_STEP_FIELDS);

#define TL_PHASE_FIELDS(F, T)                                                                                          \
    F(T, I32, rank, KEY, "", "rank")                                                                                   \
    F(T, NAME, phase, KEY, "", "name of the phase, in order of texts")                                                 \
    F(T, ENUM(phase_holds), collectives, LABEL, "",                                                                    \
      "what the name says of collectives in it: none (host_to_device, data ...), some (training_step, backward ...), " \
      "only (all_reduce, barrier ...), unknown")                                                                       \
    F(T, I64, steps, MEASURE, "", "steps with a record of it")                                                         \
    F(T, I64, total_ns, MEASURE, "ns", "sum over these steps")                                                         \
    F(T, F64, mean_ns, MEASURE, "ns", "mean of a step")                                                                \
    F(T, I64, min_ns, MEASURE, "ns", "shortest")                                                                       \
    F(T, F64, median_ns, MEASURE, "ns", "median")                                                                      \
    F(T, I64, max_ns, MEASURE, "ns", "longest")                                                                        \
    F(T, I64, excess_ns, MEASURE, "ns",                                                                                \
      "sum of excess_ns of table phase_step: below 0 where it is shorter than on others")                              \
    F(T, I64, late_steps, MEASURE, "", "steps in which it is late: those of its rows in table phase_verdict")          \
    F(T, I64, missing, MEASURE, "", "steps of which most ranks have a record, and this one has none")
TL_TABLE(phase, TL_PHASE_FIELDS);

#define TL_PHASE_VERDICT_FIELDS(F, T)                                                                                  \
    F(T, I32, place, KEY, "",                                                                                          \
      "0: the answer for the job; then what was found, stragglers first, what costs most first")                       \
    F(T, I32, rank, LABEL, "", "rank; of the job that of the first straggler, -1 without one")                         \
    F(T, TEXT128, phase, LABEL, "", "phase that takes it longer than others; of the job that of the first straggler")  \
    F(T, ENUM(phase_answer), verdict, MEASURE, "",                                                                     \
      "straggler: it holds the others up; waiting: it is shorter in what it does alone, and waits for others here; "   \
      "longer: nothing that was recorded shows that others wait for it; open: as much shorter in another phase, and "  \
      "durations do not tell which of both is a wait; cheap: it costs less than --least-cost; none: nobody holds the " \
      "job up; one_rank: there is nobody to compare with")                                                             \
    F(T, I64, excess_ns, MEASURE, "ns",                                                                                \
      "what it takes longer than its peers in its steps, together; of stragglers: than the ranks that are not named")  \
    F(T, F64, share, MEASURE, "",                                                                                      \
      "excess_ns / what the rank takes longer in all its rows here: the phase of the largest is why it is late")       \
    F(T, TEXT128, waits_in, MEASURE, "",                                                                               \
      "phase in which the others wait for it; of waiting the phase in which it is shorter; empty: not shown")          \
    F(T, I32, nwaiters, MEASURE, "",                                                                                   \
      "ranks that take longer there by half of excess_ns, or of which so much waiting was measured")                   \
    F(T, I64, waited_ns, MEASURE, "ns", "what those take longer, in the mean")                                         \
    F(T, ENUM(pattern), pattern, MEASURE, "", "as in table straggler")                                                 \
    F(T, I32, first_step, MEASURE, "", "first step of the pattern; -1 without one")                                    \
    F(T, I32, last_step, MEASURE, "", "last step of the pattern; -1 without one")                                      \
    F(T, I64, steps_flagged, MEASURE, "", "steps in which it is late")                                                 \
    F(T, I64, steps, MEASURE, "", "steps that were compared")                                                          \
    F(T, F64, z, MEASURE, "", "its excess in these steps, in scales of noise")                                         \
    F(T, F64, p_value, MEASURE, "",                                                                                    \
      "chance of a z as large in any rank, phase and set of steps, as in table straggler")                             \
    F(T, I64, cost_ns, MEASURE, "ns",                                                                                  \
      "about what the job would gain without its excess: by so much the next rank that is not named is earlier in "    \
      "this phase, and to where the others wait, summed over its steps; of the job: all that are named together, of "  \
      "which in each step the latest counts")                                                                          \
    F(T, I64, time_ns, MEASURE, "ns",                                                                                  \
      "length of these steps: the sum of the phases' medians, so that a phase within another counts twice; of the "    \
      "job, of all steps")                                                                                             \
    F(T, ENUM(confidence), confidence, MEASURE, "", "how sure it is")                                                  \
    F(T, TEXT256, reason, MEASURE, "", "why that is the verdict, and what durations alone cannot tell")
TL_TABLE(phase_verdict, TL_PHASE_VERDICT_FIELDS);

#endif
