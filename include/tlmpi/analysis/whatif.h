/* whatif.h - how long would the job have taken if what a user names were otherwise?
 *
 *     scale        selected work takes its time times a factor.  Of communication that is the transfer, from the last
 *                  arrival on, if it is selected on all ranks that have a trace; waits for other ranks follow from it
 *     remove-sync  a call that waited for the device comes back at once (10 us), if it is known which work released it;
 *                  so do blocking copies, calls that free memory, and pauses in which the host waited without a
 *                  record.  A launch that found the queue full still waits
 *     no-launch-overhead
 *                  the host takes no time between its launches and waits, and work may start the moment it is launched.
 *                  What it does that has a name stays: input, garbage collection, the allocator; and so do its waits
 *     overlap      computing, copies and memsets wait for the selected communication no longer, neither by events nor
 *                  by the order of a stream, but only for what it had waited for on its rank.  Other communication, the
 *                  host, and the other ranks still wait for it
 *
 * A change is a list of conditions, parted by commas, all of which hold for what it selects: KEY=TEXT, KEY!=TEXT,
 * KEY~REGEX, KEY!~REGEX; keys: name, operator, annotation (the innermost ones around the launch), kind, rank, step (of
 * the launch).
 *
 * The replay is that of the verdict (replay.h).  What no edge explains (rest) stays, whatever else is changed, and so
 * do the times of work that was launched before the recording.  May use graph, baseline and replay.
 */
#ifndef TLMPI_ANALYSIS_WHATIF_H
#define TLMPI_ANALYSIS_WHATIF_H

#include "tlmpi/analysis/replay.h"
#include "tlmpi/analysis/whatif/tables.h"

/* Whether the change selects work of the rank, in the steps that it selects.  A label without a name is work of the host,
 * and `kind` its tl_activity_kind. */
bool tl_whatif_selects(const tl_whatif_change *change, int32_t rank, const tl_work_label *label);
bool tl_whatif_selects_step(const tl_whatif_change *change, int32_t step);

typedef struct tl_whatif_input {
    const tl_whatif_options *options;
    tl_job_graph *graph;
    const tl_baseline *baseline;
    const tl_folded *folded;            /* [graph->nranks] unchanged */
    const int64_t *step_ns;             /* [baseline->nsteps] */
    const int32_t *ranks;               /* [graph->nranks] */
    int64_t start_ns, end_ns, error_ns; /* as in tl_findings */
} tl_whatif_input;

/* On proc 0.  Asks WHATIF and PATH.  The graph, there and on the procs that hold the ranks, is afterwards that of
 * the job with all changes. */
void tl_whatif_find(const tl_whatif_input *input, tl_whatif_result *out);

/* ------------------------------------------------------------------------------------------- who holds a rank */

/* Answers WHATIF.  Returns whether the rank's graph has become that of the changed rank: then it is to be opened
 * again. */
bool tl_whatif_answer(const tl_open_rank *rank, const tl_work_class_map *class_map, tl_final_graph *graph, tl_bytes *in,
                      tl_bytes *out);

#endif
