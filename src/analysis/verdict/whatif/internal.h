/* internal.h - the question WHATIF to a rank and its answer, and the job replayed with changes. */
#ifndef ANALYSIS_WHATIF_INTERNAL_H
#define ANALYSIS_WHATIF_INTERNAL_H

#include "tlmpi/analysis/verdict/whatif.h"
#include <math.h>

/* A question is one of these (uint32_t), then the number of changes (size_t), and of each its sort (uint8_t) and its
 * text, 0-terminated.
 *
 *     CHANGED  answered by tl_selected_work, the list of factors of the ports' transfers (double; INFINITY: it is not
 *              selected), and the rank folded with the changes
 *     FINAL    followed by the list of times, ns, at which the meetings of the ports are done with the changes
 *              (INT64_MIN: the port has none); the rank's graph becomes the changed one.  Answered by the list of its
 *              ports, and by that of tl_whatif_beside */
typedef enum tl_whatif_question { TL_WHATIF_CHANGED, TL_WHATIF_FINAL } tl_whatif_question;

/* What changes select on a rank, without the transfers of matched collectives; columns as in table whatif_change. */
typedef struct tl_selected_work {
    int64_t pieces, own_ns, left_ns;
    int64_t unmatched_ns; /* of own_ns: scaled communication that waited for no meeting */
} tl_selected_work;

/* The smallest and the largest factor of a transfer over the ranks of its meeting; INFINITY: a rank does not select the
 * transfer.  The transfer is scaled by `most` if all ranks select it. */
typedef struct tl_scaled_transfer {
    double least, most;
} tl_scaled_transfer;

/* The job, and its last replay. */
typedef struct tl_changed_job {
    const tl_whatif_input *in;
    tl_scaled_transfer *transfers; /* [nmeetings] */
    int64_t *meeting_ns;           /* [nmeetings] end of the meeting */
    int64_t *ends_ns;              /* [nsteps] end of the step */
    int64_t *unsure_ns;            /* [nsteps] by how much its time may be wrong; NULL: not asked for */
} tl_changed_job;

/* whatif.c: replays the job with changes and returns its time in ns; *selected: the selected work of all ranks. */
int64_t tl_whatif_replay(tl_changed_job *job, const tl_whatif_change *changes, size_t n, tl_selected_work *selected);

/* beside.c: adds to step_ns[steps->nsteps] by how much the compute kernels of the step would take longer, as more of
 * them runs beside communication in the replay than in the recording; below 0: less long. */
void tl_whatif_beside(const tl_open_rank *recorded, const tl_open_rank *replayed, const tl_work_class_map *steps,
                      int64_t *step_ns);

/* top.c: fills table whatif_top with at most `top` rows.  path: the critical path of the job as recorded. */
void tl_whatif_find_top(tl_changed_job *job, size_t top, const tl_rank_path *path, tl_table *out);

/* Returns ns times the factor, at most 52 days, which several large factors could exceed. */
static inline int64_t tl_scaled(int64_t ns, double factor)
{
    return factor == 1 ? ns : (int64_t)fmin((double)ns * factor + 0.5, 0x1p52);
}

#endif
