/* find.h - who holds the job up: the part of the answers that goes through the charges. */
#ifndef TLMPI_REPORT_ANSWERS_FIND_H
#define TLMPI_REPORT_ANSWERS_FIND_H

#include "tlmpi/report/answers/answers.h"

/* Fills culprits, members and waiters, which tl_answers_free ends; trust, wall, path and losses have been found.
 * TL_ENOMEM. */
tl_status tl_culprits_find(tl_tables *tables, tl_answers *out, tl_error *err);

/* A step of the job, and what a culprit cost in it. */
typedef struct tl_step_cost {
    int32_t step;
    bool flagged, beside; /* in the pattern, and not in it */
    int64_t length_ns;
    int64_t cost_ns;
} tl_step_cost;

/* Zero-initialise; tl_measures_free ends it. */
typedef struct tl_measures {
    tl_tables *tables;
    const tl_answers *answers;
    tl_step_cost *steps; /* [nsteps], ascending by number; one more, for what is in none of them */
    size_t nsteps;
    tl_step_cost *flagged; /* scratch, as many */
    int64_t *waits;        /* [ranks]: by row of table rank: what the rank waited for the culprit measured last */
} tl_measures;

/* The steps of the job.  False when memory is out. */
bool tl_measures_begin(tl_measures *measures);
void tl_measures_free(tl_measures *measures);

/* Fills what a culprit costs, from its members on: steps (of ranks alone), waits and its part of the path.  gain_ns has
 * been found.  Returns the least wait by which a rank counts as one that waits. */
int64_t tl_culprit_measure(tl_measures *measures, tl_culprit *culprit);

/* The row of table rank; NULL: none. */
const tl_rank *tl_rank_row(tl_tables *tables, int32_t rank);

#endif
