/* whatif.h - what the job would have taken if some of it had been otherwise: all ranks' programs, replayed together.
 *
 *     rank 0   [work]---.[ collective ][work]            a collective begins for each rank when its program has come there;
 *     rank 1   [  work  ][ collective ][work]            its transfer begins when the last has begun, and takes what it took
 *
 * First everything is replayed unchanged.  That must give the time that was measured; what it does not is the error of the
 * model, and beyond 5 % there is no answer.  Then with changes:
 *
 *     repaired    a rank's own work and host take no longer than the median of the other ranks of its role, segment by
 *                 segment, its host waits for its device no more often, and it stays in an all-to-all no longer than
 *                 the others; all of it, or what one part (tl_part) has too much of, in some steps or all;
 *                 a wait that others do not ask for is of the part of its call: SYNC, of a copy to the device H2D, of
 *                 cudaFree ALLOCATOR; ranks that are repaired together take no longer than the median of those that
 *                 are not, where their role has two of these
 *     links       transfers take no longer than transfers like them usually do
 *     ideal       work, host and transfers of everybody take what the median takes, longer or shorter
 *
 * gain of a repair = time unchanged - time repaired: wall time, unlike blame, which is rank-seconds.  Waiting in a pipeline
 * is nobody's surplus, so no repair removes it.
 *
 * Ranks of a role are compared between collectives that somebody else takes part in too, by their number in the step.  A
 * rank that did not do in a step what most of its role did is compared by its sums between what they share (`by_sums`); a rank
 * alone in its role with its own other steps (`by_steps`), and by the sums of the step with other roles that compute the
 * same.  A stage as a whole is compared with others by the kernels that they run equally often.
 *
 * Kernels take longer while communication runs beside them (usual/contention.c).  What a rank takes longer for that is no
 * surplus, and where communication lasts for less time, because a late rank is repaired or a link, kernels take less.
 *
 * A rank without a trace takes part with the program of one that does the same, repaired; it comes when that program has
 * come there, unless the end of a collective tells that it came earlier or later.  It is in no scenario, and its own end is
 * not the job's.
 *
 * May use graph and baseline.
 */
#ifndef TLMPI_ANALYSIS_WHATIF_H
#define TLMPI_ANALYSIS_WHATIF_H

#include "tlmpi/analysis/program/graph.h"
#include "tlmpi/model/table.h"

/* What is changed.  { 0 } changes nothing. */
typedef struct tl_scenario {
    const uint8_t *repaired; /* [nranks], not 0: repaired; NULL: nobody */
    uint32_t parts;          /* bits 1 << tl_part of what is repaired; 0: all */
    bool in_steps;           /* only from first_step to last_step */
    int32_t first_step, last_step;
    const uint8_t *links;    /* [ncollectives], not 0: its transfer is repaired; NULL: none */
    const int64_t *cuts_ns;  /* [ncollectives], taken off its transfer, in place of `links`; NULL: nothing */
    bool ideal;              /* everything, but for the ranks marked in `own` */
    const uint8_t *own;      /* [nranks], with `ideal`: keeps its own times; NULL: nobody */
} tl_scenario;

/* Programs, put together.  TL_ENOMEM, TL_EINTERNAL (the input names what is not there); *out is then NULL. */
tl_status tl_whatif_new(const tl_whatif_input *input, tl_whatif **out, tl_error *err);
void tl_whatif_free(tl_whatif *whatif);

const tl_whatif_facts *tl_whatif_facts_of(const tl_whatif *whatif);

/* The job's time under a scenario.  step_ns[nsteps], if not NULL: the time each step takes, from the last end of the step before
 * it to its own; they are not less than 0, and sum to the job's time without what precedes the first.  O(entries). */
int64_t tl_whatif_run(tl_whatif *whatif, const tl_scenario *scenario, int64_t *step_ns);

/* gain_ns, and by step if not NULL: unchanged - scenario. */
int64_t tl_whatif_gain(tl_whatif *whatif, const tl_scenario *scenario, int64_t *step_gain_ns);

/* What each step has of a gain: 0 where it gets longer, and where steps are longer for what earlier ones are shorter, each
 * in proportion, so that they are no more than the job's gain together. */
void tl_gains_to_steps(int64_t *step_gain_ns, size_t nsteps, int64_t gain_ns);

/* One step of a rank by its parts: what it took beyond its peers, where it did; 0 in the other parts.  For choosing whom to
 * repair.  `step` is an index. */
void tl_whatif_surplus(const tl_whatif *whatif, uint32_t rank, size_t step, tl_parts *sum);

/* step_ns[nsteps]: all that a rank took beyond its peers, work and host, in each step; `repaired`: what the last scenario,
 * which repairs it, took off.  O(segments of the rank). */
void tl_whatif_step_surplus(const tl_whatif *whatif, uint32_t rank, bool repaired, int64_t *step_ns);

/* All of it, in all of its time. */
int64_t tl_whatif_all_surplus(const tl_whatif *whatif, uint32_t rank);

/* ------------------------------------------------------------------------------------------------------------- path */

/* The critical path of a job as rows of its table. */

/* Appends the path of the unchanged job to table critical_path, in key order: a row for each activity of all ranks, and of
 * each rank that has any of it.  ranks[nranks] are the numbers of the replay's ranks, with those that have no trace.
 * TL_ENOMEM; TL_EINPUT where the job cannot be replayed. */
tl_status tl_path_find(tl_whatif *whatif, const int32_t *ranks, size_t nranks, tl_table *table, tl_error *err);

#endif
