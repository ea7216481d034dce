/* internal.h - what proc 0 asks a rank about what would be otherwise (WHATIF), and what it answers. */
#ifndef ANALYSIS_WHATIF_INTERNAL_H
#define ANALYSIS_WHATIF_INTERNAL_H

#include "tlmpi/analysis/whatif.h"
#include <math.h>

/* The first uint32_t of a question.
 *
 *     WORK     nothing more; answered by, for each label, the time of its work, ns (int64_t), and the lists of bytes of
 *              its name and operator, 0-terminated
 *     CHANGED  the number of changes, and of each its sort (uint8_t) and the list of bytes of its text; answered by
 *              tl_selected_work, a list of tl_selected_port, and the rank folded
 *     FINAL    a list of the times, ns, of the meetings of its ports with the changes (INT64_MIN: none), then the changes
 *              as in CHANGED; the rank's graph becomes the changed one.  Answered by a list of its ports */
typedef enum tl_whatif_question { TL_WHATIF_WORK, TL_WHATIF_CHANGED, TL_WHATIF_FINAL } tl_whatif_question;

/* What changes select on a rank, without the transfers of matched collectives; as in table `changes`. */
typedef struct tl_selected_work {
    int64_t pieces, own_ns, left_ns;
} tl_selected_work;

/* A port whose transfer is scaled. */
typedef struct tl_selected_port {
    double factor;
    uint32_t port, padding;
} tl_selected_port;

/* The transfer of a meeting, as its members have it scaled. */
typedef struct tl_scaled_transfer {
    double factor; /* the largest of its members */
    uint32_t members, selected;
} tl_scaled_transfer;

/* A job that is replayed with changes. */
typedef struct tl_changed_job {
    const tl_whatif_input *in;
    tl_arena arena;
    tl_folded *changed;            /* [nranks] */
    tl_scaled_transfer *transfers; /* [nmeetings] */
    tl_job_net net;                /* with the changes of the last replay */
    int64_t *done_ns;              /* of its nodes; NULL: there was no replay */
    int64_t *ends_ns;              /* [nsteps] */
} tl_changed_job;

/* whatif.c: a question to all ranks with a graph, as far as it is the same for all. */
void tl_whatif_begin(const tl_changed_job *job, tl_whatif_question question, tl_asked *asked);

/* whatif.c: replays the job with changes; returns its time, ns, and adds what they select. */
int64_t tl_whatif_replay(tl_changed_job *job, const tl_whatif_change *changes, size_t n, tl_selected_work *selected);

/* top.c: fills table `top`. */
void tl_whatif_find_top(tl_changed_job *job, tl_table *out);

/* Returns ns times the factor, at most 52 days: several changes with large factors may select the same work. */
static inline int64_t tl_scaled(int64_t ns, double factor)
{
    return factor == 1 ? ns : (int64_t)fmin((double)ns * factor + 0.5, 0x1p52);
}

#endif
